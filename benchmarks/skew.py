"""One key with half of all rows: how much longer the longest task of a join runs than the one in the middle.

A table in which every second row has the same key is joined with one that has each key once, by a shuffle; the rest
spreads over many keys. *Split*: adaptive execution cuts the partition of the popular key into several tasks.
*Whole*: it does not, and one task has half the work.

Usage: ``python -m benchmarks skew [--rows 8000000] [--partitions 16] [--rounds 6]``. Writes
``benchmarks/out/skew.{md,json}``.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import arguments, protocol, report, status
from benchmarks.systems import HEAP, Warehouse, opened

KEYS = 200_000
HEAVY = 7
WAYS = {"split": "true", "whole": "false"}
ALWAYS = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "4MB",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "4MB",
}
"""What makes tens of megabytes behave as the defaults (256 MB, 64 MB) make gigabytes behave."""

JOIN = "SELECT sum(hash(a.payload, b.name)) AS total, count(*) AS n FROM many a JOIN each b ON a.key = b.key"


def load(system: Warehouse, rows: int) -> None:
    """Make the two tables."""
    system.run(
        f"CREATE TABLE many AS SELECT IF(id % 2 = 0, {HEAVY}L, pmod(xxhash64(id), {KEYS}L)) AS key,"
        f" md5(CAST(id AS STRING)) AS payload FROM range(0, {rows}, 1, 4)"
    )
    system.run(f"CREATE TABLE each AS SELECT id AS key, concat('name ', id) AS name FROM range(0, {KEYS}, 1, 4)")


def main(given: list[str]) -> int:
    """Run everything, print the tables and write them down."""
    parser = arguments.parser("skew", __doc__)
    parser.add_argument("--rows", type=int, default=8_000_000)
    parser.add_argument("--partitions", type=int, default=16, help="of the shuffle")
    chosen = parser.parse_args(given)
    settings = {"memory": HEAP, "spark.sql.shuffle.partitions": str(chosen.partitions), **ALWAYS}
    with tempfile.TemporaryDirectory() as folder, opened(Warehouse.open(Path(folder), settings)) as system:
        load(system, chosen.rows)
        totals: list[Any] = []
        tasks: dict[str, list[tuple[float, ...]]] = {way: [] for way in WAYS}

        def asked(way: str) -> None:
            system.spark.conf.set("spark.sql.adaptive.skewJoin.enabled", WAYS[way])
            with status.watched(system.spark) as seen:
                totals.append(system.run(JOIN).to_pylist())
            # the stage that joins is the one that reads most of what was shuffled: the longest without a table
            joining = max((s for s in seen.stages if not s.rows_read), key=lambda s: sum(s.tasks))
            tasks[way].append(joining.tasks)

        acts = {("join", way): lambda way=way: asked(way) for way in WAYS}
        runs = protocol.turns(acts, chosen.rounds, system.process)
        if any(total != totals[0] for total in totals):
            raise protocol.WrongAnswer(f"the runs give {totals}")
    lines = []
    for way, counted in ((way, taken[1:]) for way, taken in tasks.items()):
        longest = protocol.Spread.of(max(t) for t in counted)
        middle = protocol.Spread.of(statistics.median(t) for t in counted)
        ratio = protocol.Spread.of(max(t) / max(statistics.median(t), 1e-3) for t in counted)
        lines.append([way, len(counted[-1]), longest, middle, ratio])
    text = "\n\n".join((
        f"{chosen.rows:,} rows, half of them with one key, {chosen.partitions} partitions: the median (least–greatest)"
        f" of {chosen.rounds - 1} runs; {protocol.machine()}.",
        report.table(["", "tasks", "longest task, s", "task in the middle, s", "ratio"], lines),
        "Seconds by the clock:", protocol.compared(runs, "split"),
    ))  # fmt: skip
    report.keep("skew", text, {"runs": runs, "tasks": tasks})
    return 0
