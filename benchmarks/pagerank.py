"""PageRank in SQL, a table a round: seconds and shuffled bytes, with links that stay where they are and without.

``links`` is distributed by its source and kept in memory, the ranks of each round are co-partitioned with it: a round
joins the two where they lie and shuffles what pages give to each other, once. Beside it the same statements on plain
tables, with the links in memory and on disk. Every way gives the ranks that a loop in Python gives. The paper's
example of what keeps its partitioning (Zaharia, 2.6.1 of the dissertation).

Usage: ``python -m benchmarks pagerank [--pages 200000] [--links 10] [--rounds 6]``, of which the first is not counted.
Writes ``benchmarks/out/pagerank.{md,json}``.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa

from benchmarks import arguments, protocol, report, status
from benchmarks.systems import HEAP, Warehouse, opened

WAYS = {"co-partitioned, memory": (True, True), "plain, memory": (False, True), "plain": (False, False)}
KEPT, GIVEN = 0.15, 0.85


def links(pages: int, each: int, together: bool, cached: bool) -> str:
    """Return the statement that makes the links: a ring through all pages, and others, many of them to few pages."""
    other = f"CAST(pow(pmod(xxhash64(page, n), 1000003) / 1000003D, 3) * {pages} AS BIGINT)"
    properties = "TBLPROPERTIES ('cache' = 'true') " if cached else ""
    return (
        f"CREATE TABLE links {properties}AS SELECT source, destination, 1D / count(*) OVER (PARTITION BY source) AS"
        f" share FROM (SELECT page AS source, if(n = 0, (page + 1) % {pages}, {other}) AS destination"
        f" FROM (SELECT id DIV {each} AS page, id % {each} AS n FROM range(0, {pages * each}, 1, 4)))"
        + (" DISTRIBUTE BY source" if together else "")
    )


def first(together: bool) -> str:
    """Return the statement that gives each page the rank 1."""
    properties, clause = clauses(together)
    return f"CREATE TABLE ranks_0 {properties}AS SELECT DISTINCT source AS page, 1D AS rank FROM links{clause}"


def query(number: int) -> str:
    """Return the query for the ranks after so many rounds."""
    return (
        f"SELECT destination AS page, {KEPT}D + {GIVEN}D * sum(rank * share) AS rank"
        f" FROM links JOIN ranks_{number - 1} ON source = page GROUP BY destination"
    )


def step(number: int, together: bool) -> str:
    """Return the statement of a round."""
    properties, clause = clauses(together)
    return f"CREATE TABLE ranks_{number} {properties}AS {query(number)}{clause}"


def clauses(together: bool) -> tuple[str, str]:
    """Return what a table of ranks says of its properties, and of where its rows are."""
    return ("TBLPROPERTIES ('copartition' = 'links') ", " DISTRIBUTE BY page") if together else ("", "")


def reference(graph: Iterable[tuple[int, int]], rounds: int) -> dict[int, float]:
    """Return the ranks of pages after so many rounds over links from page to page, by a loop."""
    edges = list(graph)
    leaving: dict[int, int] = {}
    for source, _ in edges:
        leaving[source] = leaving.get(source, 0) + 1
    ranks = dict.fromkeys(leaving, 1.0)
    for _ in range(rounds):
        given: dict[int, float] = {}
        for source, destination in edges:
            given[destination] = given.get(destination, 0.0) + ranks[source] / leaving[source]
        ranks = {page: KEPT + GIVEN * sum_of for page, sum_of in given.items()}
    return ranks


def wrong(found: pa.Table, expected: dict[int, float]) -> str | None:
    """Say what is wrong with a table of ranks; nothing if each page has its own."""
    mine = dict(zip(found["page"].to_pylist(), found["rank"].to_pylist(), strict=True))
    if mine.keys() != expected.keys():
        return f"{len(mine)} pages instead of {len(expected)}"
    page = next((p for p, rank in expected.items() if not math.isclose(mine[p], rank, rel_tol=1e-9)), None)
    return page if page is None else f"page {page} has {mine[page]} instead of {expected[page]}"


def main(given: list[str]) -> int:
    """Run everything, print the tables and write them down."""
    parser = arguments.parser("pagerank", __doc__)
    parser.add_argument("--pages", type=int, default=200_000)
    parser.add_argument("--links", type=int, default=10, help="of each page")
    chosen = parser.parse_args(given)
    settings = {"memory": HEAP, "spark.sql.autoBroadcastJoinThreshold": "-1"}
    with tempfile.TemporaryDirectory() as folder, opened(Warehouse.open(Path(folder), settings)) as system:
        for number, (together, cached) in enumerate(WAYS.values()):
            system.run(f"CREATE SCHEMA way{number}; USE way{number}")
            system.run(links(chosen.pages, chosen.links, together, cached))
            system.run(first(together))
        done = dict.fromkeys(WAYS, 0)
        shuffled: dict[str, list[int]] = {way: [] for way in WAYS}

        def ranked(number: int, way: str) -> None:
            system.run(f"USE way{number}")
            done[way] += 1
            with status.watched(system.spark) as seen:
                system.run(step(done[way], WAYS[way][0]))
            shuffled[way].append(seen.shuffled)

        acts = {("a round", way): lambda n=n, way=way: ranked(n, way) for n, way in enumerate(WAYS)}
        runs = protocol.turns(acts, chosen.rounds, system.process)
        graph = system.run("SELECT source, destination FROM links")
        expected = reference(
            zip(graph["source"].to_pylist(), graph["destination"].to_pylist(), strict=True), chosen.rounds
        )
        for number, way in enumerate(WAYS):
            if told := wrong(system.run(f"SELECT page, rank FROM way{number}.ranks_{chosen.rounds}"), expected):
                raise protocol.WrongAnswer(f"{way}: {told}")
    lines = [[way, *(f"{size / 1e6:.1f}" for size in sizes)] for way, sizes in shuffled.items()]
    text = "\n\n".join((
        f"PageRank over {chosen.pages:,} pages with {chosen.links} links each: the median (least–greatest) of"
        f" {chosen.rounds - 1} rounds; {protocol.machine()}.",
        "Seconds by the clock:", protocol.compared(runs, next(iter(WAYS))),
        "Seconds in which cores were busy:", protocol.compared(runs, next(iter(WAYS)), "cpu"),
        "MB shuffled in each round, the first one too:",
        report.table(["", *(f"round {number + 1}" for number in range(chosen.rounds))], lines),
    ))  # fmt: skip
    report.keep("pagerank", text, {"runs": runs, "shuffled": shuffled})
    return 0
