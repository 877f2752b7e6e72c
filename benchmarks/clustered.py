"""What a selection on a clustered column reads, beside the scan of everything, from disk.

A log of events in the order of time, as logs are: a day is asked for, by the day and by a column that grows with it,
and the same by a predicate that says the same and cannot be used to leave partitions out. ``tasks`` are those that
read files; where EXPLAIN says ``partitions read: k of n`` that line is shown beside them.

Usage: ``python -m benchmarks clustered [--rows 20000000] [--partitions 100] [--rounds 6]``. Writes
``benchmarks/out/clustered.{md,json}``.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from benchmarks import answers, arguments, protocol, report, status
from benchmarks.systems import HEAP, Warehouse, opened

DAYS = 100
TOLD = "SELECT count(*) AS n, sum(length(url)) AS total, max(visitor) AS most FROM events WHERE {}"
PREDICATES = {
    "one day": {"pruned": "day = DATE'2026-02-19'", "whole": "date_add(day, length(url) * 0) = DATE'2026-02-19'"},
    "a correlated range": {
        "pruned": "event BETWEEN {low} AND {high}", "whole": "event + length(url) * 0 BETWEEN {low} AND {high}",
    },
}  # fmt: skip
WAYS = ("pruned", "whole")


def load(system: Warehouse, rows: int, partitions: int) -> None:
    """Make the log: as many files as partitions, each a stretch of time."""
    system.run(
        f"CREATE TABLE events AS SELECT id AS event, date_add(DATE'2026-01-01', CAST(id DIV {rows // DAYS} AS INT))"
        " AS day, concat('/page/', pmod(xxhash64(id), 100000)) AS url, pmod(xxhash64(id, 1), 1000000) AS visitor"
        f" FROM range(0, {rows}, 1, {partitions})"
    )


def main(given: list[str]) -> int:
    """Run everything, print the tables and write them down."""
    parser = arguments.parser("clustered", __doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--partitions", type=int, default=100)
    chosen = parser.parse_args(given)
    low = chosen.rows // 2
    queries = {
        (case, way): TOLD.format(text.format(low=low, high=low + chosen.rows // DAYS))
        for case, texts in PREDICATES.items() for way, text in texts.items()
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, opened(Warehouse.open(Path(folder), {"memory": HEAP})) as system:
        load(system, chosen.rows, chosen.partitions)
        expected = {case: system.run(queries[case, "whole"]) for case in PREDICATES}
        acts = {key: lambda text=text: system.run(text) for key, text in queries.items()}
        runs = protocol.turns(
            acts, chosen.rounds, system.process,
            lambda case, answer: answers.difference(queries[case, "whole"], answer, expected[case]),
        )  # fmt: skip
        lines = []
        for (case, way), text in queries.items():
            with status.watched(system.spark) as seen:
                system.run(text)
            reading = [s for s in seen.stages if s.rows_read]
            told = re.search(r"partitions read: \d+ of \d+", "\n".join(map(str, system.run(f"EXPLAIN {text}")[0])))
            lines.append([
                case, way, sum(len(s.tasks) for s in reading), f"{sum(s.rows_read for s in reading):,}",
                told.group() if told else "",
            ])  # fmt: skip
    text = "\n\n".join((
        f"{chosen.rows:,} events in {chosen.partitions} partitions: the median (least–greatest) of"
        f" {chosen.rounds - 1} runs; {protocol.machine()}.",
        "Seconds by the clock:", protocol.compared(runs, "pruned"),
        "Seconds in which cores were busy:", protocol.compared(runs, "pruned", "cpu"),
        report.table(["", "", "tasks that read", "rows read", "EXPLAIN"], lines),
    ))  # fmt: skip
    report.keep("clustered", text, {"runs": runs, "read": lines})
    return 0
