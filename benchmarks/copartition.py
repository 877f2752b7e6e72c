"""lineitem ⋈ orders of TPC-H, distributed alike and not: time, shuffled bytes and the plan's exchanges.

The same rows twice, made by statements of ours: ``DISTRIBUTE BY`` the order's key with ``'copartition'`` for the
partner, and without. The joins are read from disk and from memory, and from disk with no broadcast; every way gives
the same rows.

Usage: ``python -m benchmarks copartition [--scale 1] [--rounds 6] [--scratch FOLDER]``. Writes
``benchmarks/out/copartition.{md,json}``.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from benchmarks import arguments, protocol, report, ways
from benchmarks.systems import HEAP, Duck, Warehouse, opened
from benchmarks.tpch import data

QUERIES = {
    "join": "SELECT count(*) AS n, sum(l_quantity) AS quantity, sum(o_totalprice) AS price"
    " FROM lineitem JOIN orders ON l_orderkey = o_orderkey",
    "join and regroup": "SELECT count(*) AS n, max(total) AS most FROM (SELECT l_orderkey, sum(l_quantity) AS total"
    " FROM lineitem JOIN orders ON l_orderkey = o_orderkey GROUP BY l_orderkey)",
}
WAYS = {
    "co-partitioned, memory": (True, True), "co-partitioned, disk": (True, False),
    "memory": (False, True), "disk": (False, False), "disk, no broadcast": (False, False),
}  # fmt: skip
SETTINGS = {"disk, no broadcast": ways.NO_BROADCAST}


def load(system: Warehouse, files: Mapping[str, Path]) -> None:
    """Make the two tables in every way, each way in a schema of its own."""
    for number, (together, cached) in enumerate(WAYS.values()):
        system.run(f"CREATE SCHEMA way{number}")
        for name, key in (("lineitem", "l_orderkey"), ("orders", "o_orderkey")):
            partner = f"'copartition' = 'way{number}.lineitem'" if together and name == "orders" else ""
            told = ", ".join(p for p in ("'cache' = 'true'" if cached else "", partner) if p)
            system.run(
                f"CREATE TABLE way{number}.{name}{f' TBLPROPERTIES ({told})' if told else ''}"
                f" AS SELECT * FROM parquet.`{files[name]}`{f' DISTRIBUTE BY {key}' if together else ''}"
            )


def main(given: list[str]) -> int:
    """Run everything, print the tables and write them down."""
    parser = arguments.parser("copartition", __doc__, keeps_data=True)
    parser.add_argument("--scale", type=float, default=1.0, help="scale factor")
    chosen = parser.parse_args(given)
    files = data.files(chosen.scratch, chosen.scale)
    with opened(Duck(files)) as duck:
        expected = {case: duck.run(text) for case, text in QUERIES.items()}
    folder = chosen.scratch / "copartition-warehouse"
    shutil.rmtree(folder, ignore_errors=True)
    with opened(Warehouse.open(folder, {"memory": HEAP})) as system:
        load(system, files)
        runs, watched = ways.timed(system, QUERIES, tuple(WAYS), expected, chosen.rounds, SETTINGS)
        lines = []
        for (case, way), seen in watched.items():
            exchanges = sum(o.name == "Exchange" and "hashpartitioning" in o.description for o in seen.operators)
            lines.append([case, way, exchanges, f"{seen.shuffled:,}"])
    text = "\n\n".join((
        f"lineitem ⋈ orders at scale factor {chosen.scale:g}: the median (least–greatest) of {chosen.rounds - 1} runs;"
        f" {protocol.machine()}.",
        "Seconds by the clock:", protocol.compared(runs, next(iter(WAYS))),
        "Seconds in which cores were busy:", protocol.compared(runs, next(iter(WAYS)), "cpu"),
        report.table(["", "", "exchanges by a hash", "bytes shuffled"], lines),
    ))  # fmt: skip
    report.keep("copartition", text, {"runs": runs, "seen": lines})
    protocol.picture("copartition", f"lineitem and orders at scale factor {chosen.scale:g}", runs)
    return 0
