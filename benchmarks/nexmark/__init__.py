"""Nexmark's queries over its auction site (``benchmarks.suite``). Two streams that meet are grouped together.

Of the suite's queries are missing q6, q9, q19 and q20 (bids ranked or joined one by one without a window; Flink's q6
fails too), q10 (files by partition: what q0 is) and q12 (windows of processing time).

Flink runs all but q4 and q18: their answers stand until the next bid, which Flink says with updates, and its Parquet
sink takes none. In q13 it joins bids to the table as of their time, lest it keep them all as it does in other joins.

Usage: ``python -m benchmarks nexmark [--events 1000000] [--files 5] [--rounds 2] [--only PATTERN] [--systems a|b]``.
Writes ``benchmarks/out/nexmark.{md,json,svg}``.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import suite
from benchmarks.nexmark import events

SUITE = suite.Suite(
    name="nexmark",
    told="Nexmark's queries as streams, as batches, natively in Spark and in Flink.",
    folder=Path(__file__).parent,
    schemas=events.SCHEMAS,
    write=events.write,
    delay="4 seconds",
    tables={"side": "SELECT id AS key, concat('value ', id) AS value FROM range(10000)"},
)


def main(argv: list[str] | None = None) -> int:
    """Run the suite."""
    return suite.main(SUITE, argv)
