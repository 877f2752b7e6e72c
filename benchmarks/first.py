"""What can be told of a table without reading all of it: its size, bounds, first rows, and the first of an order.

A log of events in the order of time. ``count(*)`` and the bounds are in what a table's log says of its files; some
rows are in any file; the first rows of an order that the files follow are in few of them, those of another order may
be in any. Beside the same questions over the same rows as Parquet files, with the tasks that read and what they read.
The answers of both are the same; of ``LIMIT`` alone, which promises no rows in particular, their number is.

Usage: ``python -m benchmarks first [--rows 20000000] [--partitions 100] [--rounds 6]``. Writes
``benchmarks/out/first.{md,json}``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa

from benchmarks import answers, arguments, clustered, protocol, report, status
from benchmarks.systems import HEAP, Warehouse, opened

SOME = "some rows"
QUERIES = {
    "rows": "SELECT count(*) AS n FROM {}",
    "bounds": "SELECT min(event) AS first, max(event) AS last, min(day) AS since FROM {}",
    SOME: "SELECT event, day, url, visitor FROM {} LIMIT 1000",
    "some rows of a day": "SELECT event, url FROM {} WHERE day = DATE'2026-02-19' ORDER BY event LIMIT 100",
    "the last ones": "SELECT event, url FROM {} ORDER BY event DESC LIMIT 100",
    "the first of another order": "SELECT visitor, event FROM {} ORDER BY visitor DESC, event LIMIT 100",
}
WAYS = {"table": "events", "Parquet files": "plain"}


def main(given: list[str]) -> int:
    """Run everything, print the tables and write them down."""
    parser = arguments.parser("first", __doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--partitions", type=int, default=100)
    chosen = parser.parse_args(given)
    with (
        tempfile.TemporaryDirectory() as folder,
        opened(Warehouse.open(Path(folder) / "w", {"memory": HEAP})) as system,
    ):
        clustered.load(system, chosen.rows, chosen.partitions)
        files = Path(folder) / "files"
        system.spark.table("events").write.parquet(str(files))
        system.run(f"CREATE VIEW plain AS SELECT * FROM parquet.`{files}`")
        texts = {(case, way): text.format(name) for case, text in QUERIES.items() for way, name in WAYS.items()}
        expected = {case: system.run(texts[case, "Parquet files"]) for case in QUERIES}

        def differs(case: str, answer: pa.Table) -> str | None:
            if case == SOME:
                return None if answer.num_rows == expected[case].num_rows else f"{answer.num_rows} rows"
            return answers.difference(texts[case, "table"], answer, expected[case])

        acts = {key: lambda text=text: system.run(text) for key, text in texts.items()}
        runs = protocol.turns(acts, chosen.rounds, system.process, differs)
        lines = []
        for (case, way), text in texts.items():
            with status.watched(system.spark) as seen:
                system.run(text)
            lines.append([
                case, way, seen.tasks, f"{sum(s.rows_read for s in seen.reading):,}",
                f"{sum(s.read for s in seen.reading) / 1e6:.1f}",
            ])  # fmt: skip
    text = "\n\n".join((
        f"{chosen.rows:,} events in {chosen.partitions} partitions: the median (least–greatest) of"
        f" {chosen.rounds - 1} runs; {protocol.machine()}.",
        "Seconds by the clock:", protocol.compared(runs, "table"),
        "Seconds in which cores were busy:", protocol.compared(runs, "table", "cpu"),
        report.table(["", "", "tasks", "rows read", "MB read"], lines),
    ))  # fmt: skip
    report.keep("first", text, {"runs": runs, "read": lines})
    return 0
