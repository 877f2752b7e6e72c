"""What loading costs: CREATE TABLE … AS with what we gather and arrange, beside a plain write of the same rows.

The rows are TPC-H's lineitem, from a Parquet file. *Parquet* is ``DataFrame.write.parquet``, *Delta* the same in
Delta's format without statistics, *Delta, clustered* after a shuffle on the key, which is what DISTRIBUTE BY costs at
least; then our statements: plain, distributed, and distributed and kept in memory. All take turns on one engine and
write to new places; the ratio is to the plain write.

Usage: ``python -m benchmarks loading [--scale 1] [--rounds 6] [--scratch FOLDER]``. Writes
``benchmarks/out/loading.{md,json}``.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable

from benchmarks import arguments, protocol, report
from benchmarks.systems import HEAP, Warehouse, opened
from benchmarks.tpch import data

PLAIN = "Parquet"
STATISTICS = "spark.databricks.delta.stats.collect"
STATEMENTS = {
    "CREATE TABLE": "CREATE TABLE loaded AS SELECT * FROM parquet.`{path}`",
    "… DISTRIBUTE BY": "CREATE TABLE loaded AS SELECT * FROM parquet.`{path}` DISTRIBUTE BY l_orderkey",
    "… DISTRIBUTE BY, cache": "CREATE TABLE loaded TBLPROPERTIES ('cache' = 'true') AS"
    " SELECT * FROM parquet.`{path}` DISTRIBUTE BY l_orderkey",
}


def main(given: list[str]) -> int:
    """Run everything, print the tables and write them down."""
    parser = arguments.parser("loading", __doc__, keeps_data=True)
    parser.add_argument("--scale", type=float, default=1.0, help="scale factor of TPC-H")
    chosen = parser.parse_args(given)
    source = data.files(chosen.scratch, chosen.scale)["lineitem"]
    folder = chosen.scratch / "loading-warehouse"
    shutil.rmtree(folder, ignore_errors=True)
    with opened(Warehouse.open(folder, {"memory": HEAP})) as system:
        spark, place = system.spark, folder / "plain"

        def written(kind: str, clustered: bool) -> None:
            spark.conf.set(STATISTICS, "false")
            frame = spark.read.parquet(str(source))
            frame = frame.repartition("l_orderkey") if clustered else frame
            frame.write.format(kind).save(str(place))
            spark.conf.unset(STATISTICS)

        writes = {PLAIN: ("parquet", False), "Delta": ("delta", False), "Delta, clustered": ("delta", True)}
        acts: dict[tuple[str, str], Callable[[], object]] = {
            ("lineitem", name): lambda kind=kind, clustered=clustered: written(kind, clustered)
            for name, (kind, clustered) in writes.items()
        }
        for name, text in STATEMENTS.items():
            acts["lineitem", name] = lambda text=text: system.run(text.format(path=source))
        runs = []
        for turn in range(chosen.rounds):
            for key, act in acts.items():
                runs.append(protocol.timed(act, *key, turn, system.process))
                shutil.rmtree(place, ignore_errors=True)
                system.run("DROP TABLE IF EXISTS loaded")
    lines = []
    for _, name in acts:
        cells: list[object] = [name]
        for measure in ("seconds", "cpu"):
            own, plain = (protocol.counted(runs, "lineitem", system, measure) for system in (name, PLAIN))
            assert own and plain
            cells += [own, f"{own.median / max(plain.median, 0.01):.2f}"]
        lines.append(cells)
    text = "\n\n".join((
        f"lineitem at scale factor {chosen.scale:g}, loaded: the median (least–greatest) of {chosen.rounds - 1} runs;"
        f" {protocol.machine()}.",
        report.table(["", "seconds", f": {PLAIN}", "CPU seconds", f": {PLAIN}"], lines),
    ))  # fmt: skip
    report.keep("loading", text, runs)
    return 0
