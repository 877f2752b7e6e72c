"""The four queries of Pavlo et al., as Shark ran them: in memory, on disk, co-partitioned, and without us.

As in Zaharia's dissertation (3.5.2). One engine has the two tables five times: co-partitioned on the page's address
and kept in memory, co-partitioned on disk, kept in memory, in memory with nothing sent to all tasks, so that a join
shuffles both sides, and on disk; then the Parquet files that all were loaded from, read in place. The ways take turns
on the same engine, and with peers that have the same files (``benchmarks.peers``). Every answer is compared with
DuckDB's, and it is told how many bytes were shuffled.

Usage: ``python -m benchmarks pavlo [--scale 2] [--rounds 6] [--only PATTERN] [--by-date]
[--peers "newcomer,tuned,…"] [--scratch FOLDER]``. At scale 1 there are 180,000 pages and 1,550,000 visits; the
paper's clusters had 10,000 times as many. Writes ``benchmarks/out/pavlo.{md,json,svg}``.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from benchmarks import arguments, peers, protocol, report, ways
from benchmarks.pavlo import data
from benchmarks.systems import HEAP, Duck, Warehouse, opened

LEAST_RANK = 5_000
"""X of the selection: about 7.5 % of the pages rank higher."""

QUERIES = {
    "selection": f"SELECT pageURL, pageRank FROM rankings WHERE pageRank > {LEAST_RANK}",
    "aggregation, many groups": "SELECT sourceIP, SUM(adRevenue) FROM uservisits GROUP BY sourceIP",
    "aggregation, few groups": "SELECT SUBSTR(sourceIP, 1, 7), SUM(adRevenue) FROM uservisits"
    " GROUP BY SUBSTR(sourceIP, 1, 7)",
    "join": "SELECT sourceIP, AVG(pageRank), SUM(adRevenue) AS totalRevenue FROM rankings AS R, uservisits AS UV"
    " WHERE R.pageURL = UV.destURL AND UV.visitDate BETWEEN Date('2000-01-15') AND Date('2000-01-22')"
    " GROUP BY UV.sourceIP",
}
"""The paper's texts. Its join says ``SELECT INTO Temp``; the rows come back here instead."""

WAYS = {
    "co-partitioned, memory": ("'cache' = 'true'", True),
    "co-partitioned, disk": ("", True),
    "memory": ("'cache' = 'true'", False),
    "memory, no broadcast": ("'cache' = 'true'", False),
    "disk": ("", False),
}
SETTINGS = {"memory, no broadcast": ways.NO_BROADCAST}
PLAIN = "Parquet files"


def load(system: Warehouse, files: dict[str, Path], by_date: bool) -> None:
    """Make the tables of every way, each in a schema of its own, and views of the files."""
    order = {"uservisits": " SORT BY visitDate"} if by_date else {}
    for number, (cached, together) in enumerate(WAYS.values()):
        system.run(f"CREATE SCHEMA way{number}")
        spread = {"rankings": " DISTRIBUTE BY pageURL", "uservisits": " DISTRIBUTE BY destURL"} if together else {}
        for name, folder in files.items():
            partner = f"'copartition' = 'way{number}.rankings'" if together and name == "uservisits" else ""
            told = ", ".join(p for p in (cached, partner) if p)
            system.run(
                f"CREATE TABLE way{number}.{name}{f' TBLPROPERTIES ({told})' if told else ''}"
                f" AS SELECT * FROM parquet.`{folder}`{spread.get(name, '')}{order.get(name, '')}"
            )
    system.run(f"CREATE SCHEMA way{len(WAYS)}")
    for name, folder in files.items():
        system.run(f"CREATE VIEW way{len(WAYS)}.{name} AS SELECT * FROM parquet.`{folder}`")


def main(given: list[str]) -> int:
    """Run everything, print the tables and write them down."""
    parser = arguments.parser("pavlo", __doc__, keeps_data=True)
    parser.add_argument("--scale", type=float, default=2.0, help="1 is 180,000 pages and 1,550,000 visits")
    parser.add_argument("--only", default="", help="only the queries whose name matches this pattern")
    parser.add_argument("--by-date", action="store_true", help="in all tables visits lie by date in each partition")
    arguments.add_peers(parser)
    chosen = parser.parse_args(given)
    queries = {name: text for name, text in QUERIES.items() if re.search(chosen.only, name)}
    if not queries:
        parser.error(f"no query is called like {chosen.only}; there are {', '.join(QUERIES)}")
    shutil.rmtree(chosen.scratch / "pavlo-warehouse", ignore_errors=True)
    with opened(Warehouse.open(chosen.scratch / "pavlo-warehouse", {"memory": HEAP})) as system:
        files = data.write(system.spark, chosen.scratch, chosen.scale)
        load(system, files, chosen.by_date)
        every = {name: folder / "*.parquet" for name, folder in files.items()}
        with opened(Duck(every)) as duck:
            expected = {name: duck.run(text) for name, text in queries.items()}
        names = (*WAYS, PLAIN)
        beside = {name: peers.apart(peers.peer, name, every, queries, expected) for name in chosen.peers}
        runs, seen = ways.timed(system, queries, names, expected, chosen.rounds, SETTINGS, beside)
    shuffled = {query: {way: seen[query, way].shuffled for way in names} for query in queries}
    sizes = report.table(["", *names], [[q, *(f"{n / 1e6:.1f}" for n in by.values())] for q, by in shuffled.items()])
    text = "\n\n".join((
        f"Pavlo et al. at scale {chosen.scale:g}{', visits by date' if chosen.by_date else ''}: the median"
        f" (least–greatest) of {chosen.rounds - 1} runs;"
        f" {protocol.machine()}. Every answer equals DuckDB's.",
        "Seconds by the clock:", protocol.compared(runs, names[0]),
        "Seconds in which cores were busy:", protocol.compared(runs, names[0], "cpu"),
        "Megabytes shuffled:", sizes,
    ))  # fmt: skip
    report.keep("pavlo", text, {"scale": chosen.scale, "runs": runs, "shuffled": shuffled})
    protocol.picture("pavlo", f"Pavlo et al. at scale {chosen.scale:g}", runs)
    return 0
