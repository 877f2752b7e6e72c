"""What a step costs beside how much state has piled up: small steps against few and many keys.

One aggregation over windows of an hour, of an hour that emit early too (whose rows each step merges with the state), or
of a day by the hour. A first file opens a window for every key, then come files of equal size over random keys of them,
one a step, which close nothing: what is measured is to find, change and keep the state. Ours is a streaming table; the
peers are native streaming queries with either state store, which write what closes to Parquet. All read the same files.
The peers have no more than a million keys, unless told: of ten million the first step of Spark's default store did not
end in 6 GB. Ours reports a step's own seconds (``stream_progress``), theirs the micro-batch's ``triggerExecution``.
Both leave out the process's start, and the first two steps after the large one are not counted.

Usage: ``python -m benchmarks state [--keys 100000,1000000] [--rows 1000,10000,100000] [--steps 12]
[--window early|sliding] [--systems a|b] [--peer-keys 1000000]``. Writes ``benchmarks/out/state.{md,json,svg}``, of the
other windows ``state_early`` and ``state_sliding``.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks import files
from benchmarks.report import bars, keep
from benchmarks.streaming import OURS, SCHEMA, STORES
from warehouse.engine import Engine

SYSTEMS = (OURS, *STORES)
WINDOWS = {
    "fixed": ("FIXED (at, SIZE INTERVAL 1 HOUR)", ("1 hour", "1 hour")),
    "early": (
        "FIXED (at, SIZE INTERVAL 1 HOUR) TRIGGER AT WATERMARK EARLY AFTER 1000000 ROWS",
        ("1 hour", "1 hour"),
    ),
    "sliding": ("SLIDING (at, SIZE INTERVAL 24 HOURS, EVERY INTERVAL 1 HOUR)", ("24 hours", "1 hour")),
}
"""Our clause, and Spark's lengths for the same."""

WARM = 2
"""Steps after the one that makes the state which are not counted."""


@dataclass(frozen=True)
class Run:
    """The counted steps of one system: ``rows`` rows each, against windows of so many ``keys``; their seconds."""

    system: str
    keys: int
    rows: int
    seconds: tuple[float, ...]


def write(engine: Engine, folder: Path, keys: int, rows: int, steps: int) -> None:
    """Write the file that makes the state, and those of the steps."""
    at = "timestamp_micros(1767225600000000L + pmod(xxhash64(id, {}), 3000000000L))"
    listed = [("id AS key", keys, 0)] + [
        (f"pmod(xxhash64(id, 7), {keys}L) AS key", rows, n) for n in range(1, steps + 1)
    ]
    for key, count, number in listed:
        events = engine.spark.range(number * 10**8, number * 10**8 + count, 1, 1).selectExpr(
            key, "CAST(pmod(id, 1000) AS INT) AS value", f"{at.format(number)} AS at"
        )
        files.write(events, folder / f"{number:03}.parquet")


def ours(engine: Engine, stream: str, window: str) -> list[float]:
    """Return the seconds of each step of a streaming table."""
    list(
        engine.run(
            "CREATE STREAMING TABLE bench AS SELECT key, count(*) AS n, sum(value) AS total, max(value) AS most"
            f" FROM STREAM {stream} GROUP BY key WINDOW {WINDOWS[window][0]}"
        )
    )
    (progress,) = engine.run("SELECT seconds FROM stream_progress('bench') ORDER BY step")
    seconds = [row["seconds"] for batch in progress.batches for row in batch.to_pylist()]
    list(engine.run("DROP STREAMING TABLE bench"))
    return seconds


def peer(engine: Engine, folder: Path, place: Path, store: str, window: str) -> list[float]:
    """Return the seconds of each micro-batch of a native query."""
    from pyspark.sql import functions as F

    spark = engine.spark.newSession()
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", store)
    spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", "1000")
    frame = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", "1").parquet(str(folder))
    counted = (
        frame.withWatermark("at", "1 hour")
        .groupBy(F.window("at", *WINDOWS[window][1]).alias("w"), "key")
        .agg(F.count("*").alias("n"), F.sum("value").alias("total"), F.max("value").alias("most"))
    )
    query = (
        counted.writeStream.format("parquet").option("path", str(place / "out"))
        .option("checkpointLocation", str(place / "checkpoint")).outputMode("append").trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()
    return [p["durationMs"]["triggerExecution"] / 1000 for p in query.recentProgress if p["numInputRows"]]


def main(arguments: list[str] | None = None) -> int:
    """Run everything, print the table and write it down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks state", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--keys", default="100000,1000000", help="how many windows the state holds")
    parser.add_argument("--rows", default="1000,10000,100000", help="rows of a step")
    parser.add_argument("--steps", type=int, default=12, help="steps after the one that makes the state")
    parser.add_argument("--window", default="fixed", choices=WINDOWS, help="see above")
    parser.add_argument("--systems", default="|".join(SYSTEMS), help="whom to run, separated by bars")
    parser.add_argument("--peer-keys", type=int, default=1_000_000, help="the most keys that the peers have")
    chosen = parser.parse_args(arguments)
    sizes, steps = [int(n) for n in chosen.keys.split(",")], [int(n) for n in chosen.rows.split(",")]
    systems = chosen.systems.split("|")
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as scratch_name:
        scratch = Path(scratch_name)
        with Engine.open(scratch / "warehouse") as engine:
            for keys in sizes:
                for rows in steps:
                    folder = scratch / f"events_{keys}_{rows}"
                    write(engine, folder, keys, rows, chosen.steps)
                    list(
                        engine.run(
                            f"CREATE STREAM {folder.name} ({SCHEMA}) USING parquet OPTIONS (path '{folder}',"
                            " maxFilesPerTrigger '1') WATERMARK at DELAY OF INTERVAL 1 HOUR"
                        )
                    )
                    for system in systems:
                        if system == OURS:
                            found = ours(engine, folder.name, chosen.window)
                        elif keys > chosen.peer_keys:
                            continue
                        else:
                            place = scratch / f"{folder.name}_{len(runs)}"
                            found = peer(engine, folder, place, STORES[system], chosen.window)
                        runs.append(Run(system, keys, rows, tuple(found[1 + WARM :])))
                        print(runs[-1], file=sys.stderr, flush=True)
    report(runs, systems, "state" if chosen.window == "fixed" else f"state_{chosen.window}")
    return 0


def report(runs: list[Run], systems: list[str], name: str) -> None:
    """Print the medians side by side, and keep them with every run."""
    lines = [
        f"Seconds of a step: the median (least–greatest) of {len(runs[0].seconds)} in one run.",
        "",
        f"| keys in the state | rows a step | {' | '.join(systems)} |",
        "|---" * (2 + len(systems)) + "|",
    ]
    cases = list(dict.fromkeys((run.keys, run.rows) for run in runs))
    found = {(run.keys, run.rows, run.system): run.seconds for run in runs}
    for keys, rows in cases:
        each = [found.get((keys, rows, system)) for system in systems]
        told = [f"{statistics.median(its):.2f} ({min(its):.2f}–{max(its):.2f})" if its else "–" for its in each]
        lines.append(f"| {' | '.join((f'{keys:,}', f'{rows:,}', *told))} |")
    keep(name, "\n".join(lines), runs)
    took = {s: [statistics.median(found.get((*case, s), (math.nan,))) for case in cases] for s in systems}
    bars(name, "a step", [f"{rows // 1_000} k\n{keys:,}" for keys, rows in cases], took)


if __name__ == "__main__":
    sys.exit(main())
