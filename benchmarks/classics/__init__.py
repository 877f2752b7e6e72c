"""Grep, WordCount and TopK of the D-Streams paper, and Yahoo's advertisements (``benchmarks.suite``).

Zaharia's dissertation (4.6): Grep counts matching lines, WordCount the words of the last thirty seconds, TopK the most
frequent of them; windows slide by ten seconds here. Yahoo's: views only, looked up in a table, counted per campaign in
ten seconds.

Flink runs all four. It looks Yahoo's campaigns up as of a view's time, since a view keeps its time in no other join.

Usage: ``python -m benchmarks classics [--events 1000000] [--files 5] [--rounds 2] [--only PATTERN] [--systems a|b]``.
Writes ``benchmarks/out/classics.{md,json,svg}``.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import suite
from benchmarks.classics import events

SUITE = suite.Suite(
    name="classics",
    told="Grep, WordCount, TopK and Yahoo's advertisements as streams, as batches, natively in Spark and in Flink.",
    folder=Path(__file__).parent,
    schemas=events.SCHEMAS,
    write=events.write,
    delay="4 seconds",
    tables={
        "campaigns": f"SELECT CAST(id AS INT) AS advertisement, id % {events.CAMPAIGNS} AS campaign"
        f" FROM range({events.ADVERTISEMENTS})"
    },
)


def main(argv: list[str] | None = None) -> int:
    """Run the suite."""
    return suite.main(SUITE, argv)
