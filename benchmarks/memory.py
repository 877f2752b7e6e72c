"""A table of which memory holds none, a quarter, half, three quarters or all: what a scan of it costs, and of a part.

Shark's paper asks that this goes gradually. The heap is the same throughout; the share of it that may hold tables
(``spark.memory.fraction``) is chosen by what the table takes, an engine for each, and what is really in memory is
asked of those who hold it, before and after the runs. Beside it the same rows as files; the answers are compared with
those that the files gave at first. Then two such tables where one has room: which of them is in memory after each
statement.

Usage: ``python -m benchmarks memory [--rows 6000000] [--rounds 6]``. Writes ``benchmarks/out/memory.{md,json,svg}``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks import answers, arguments, protocol, report
from benchmarks.systems import Warehouse, opened

HEAP = "4g"
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
LEAST = 64 << 20
"""Queries work in what tables may be kept in, too: with less than this they could not."""
RESERVED = 300 << 20
"""What Spark takes off the heap before it applies the fraction."""
DAYS = 100
ROWS = """
SELECT id AS event, date_add(DATE'2026-01-01', CAST(id DIV {day} AS INT)) AS day,
  concat('/page/', pmod(xxhash64(id), 100000)) AS url, pmod(xxhash64(id, 1), 1000000) AS visitor,
  CAST(pmod(xxhash64(id, 2), 100000) AS DECIMAL(12, 2)) / 100 AS price,
  CAST(pmod(xxhash64(id, 3), 1000) AS INT) AS seconds, concat('c', pmod(xxhash64(id, 4), 200)) AS country,
  sha2(CAST(id AS STRING), 256) AS token
FROM range(0, {rows}, 1, {partitions})"""
QUERIES = {
    "all of it": "SELECT count(*) AS n, sum(length(url)) AS urls, max(visitor) AS visitor, sum(price) AS price,"
    " sum(seconds) AS seconds, max(token) AS token FROM {}",
    "two columns": "SELECT country, count(*) AS n, sum(seconds) AS seconds FROM {} GROUP BY country ORDER BY country",
    "three days": "SELECT count(*) AS n, sum(length(url)) AS urls, max(visitor) AS visitor FROM {}"
    " WHERE day BETWEEN DATE'2026-02-18' AND DATE'2026-02-20'",
}
SYSTEMS = {"memory": "kept", "files": "plain"}


@dataclass(frozen=True)
class Loaded:
    """The tables ``kept`` and ``plain``, made.

    Attributes:
        bytes: what ``kept`` takes where all of it is in memory.
        heap: what the engine may use of its heap.
        expected: the answers that the files give, by query.
    """

    bytes: int
    heap: int
    expected: Mapping[str, pa.Table]

    def fraction(self, room: int) -> str:
        """Return the setting that leaves so many bytes for tables and queries."""
        return f"{room / (self.heap - RESERVED):.6f}"


@dataclass(frozen=True)
class Held:
    """What memory held after something: bytes in memory and on disk, by table."""

    after: str
    memory: Mapping[str, int]
    disk: Mapping[str, int]


@contextmanager
def engine(folder: Path, heap: str, fraction: str) -> Iterator[Warehouse]:
    """Within this there is an engine on a folder, with so much of its heap for tables."""
    with opened(Warehouse.open(folder, {"memory": heap, "spark.memory.fraction": fraction})) as system:
        yield system


def load(folder: Path, rows: int) -> Loaded:
    """Make the tables in an engine that has room for them."""
    with engine(folder, HEAP, "0.7") as system:
        return made(system, rows, 40)


def made(system: Warehouse, rows: int, partitions: int) -> Loaded:
    """Make the tables.

    Raises:
        ValueError: not all of ``kept`` is in memory, so that nobody knows what it takes there.
    """
    system.run(f"CREATE TABLE plain AS {ROWS.format(day=max(rows // DAYS, 1), rows=rows, partitions=partitions)}")
    system.run("CREATE TABLE kept TBLPROPERTIES ('cache' = 'true') AS SELECT * FROM plain")
    memory, disk = held(system, "kept")
    if disk:
        raise ValueError(f"{rows:,} rows do not fit into memory: choose fewer")
    heap = int(system.spark._jvm.java.lang.Runtime.getRuntime().maxMemory())
    return Loaded(memory, heap, {name: system.run(text.format("plain")) for name, text in QUERIES.items()})


def held(system: Warehouse, table: str) -> tuple[int, int]:
    """Return how many bytes of a table are in memory and on disk.

    ``cache_stats`` says the same, but reads all of the table, which then is what was used last.
    """
    spark: Any = system.spark
    manager = spark._jsparkSession.sharedState().cacheManager()
    found = manager.lookupCachedData(spark.table(table)._jdf)
    if found.isEmpty():
        return 0, 0
    batches = found.get().cachedRepresentation().cacheBuilder().cachedColumnBuffers()
    master = spark._jvm.org.apache.spark.SparkEnv.get().blockManager().master()
    memory = disk = 0
    for partition in range(batches.getNumPartitions()):
        block = spark._jvm.org.apache.spark.storage.RDDBlockId(batches.id(), partition)
        holders = master.getBlockStatus(block, True).valuesIterator()
        while holders.hasNext():
            status = holders.next()
            memory, disk = memory + status.memSize(), disk + status.diskSize()
    return memory, disk


def note(system: Warehouse, after: str, *tables: str) -> Held:
    """Return what memory holds of some tables."""
    found = {table: held(system, table) for table in tables}
    return Held(after, {t: memory for t, (memory, _) in found.items()}, {t: disk for t, (_, disk) in found.items()})


def scanned(folder: Path, loaded: Loaded, share: float, rounds: int) -> tuple[list[protocol.Run], list[Held]]:
    """Time the queries where a share of the table has room in memory; return what it held before and after, too."""
    room = max(int(loaded.bytes * share * (1.15 if share == 1 else 1)), LEAST)
    with engine(folder, HEAP, loaded.fraction(room)) as system:
        system.run("SELECT count(*) FROM kept")
        before = note(system, f"{share:.0%}: loaded", "kept")
        runs = protocol.turns(
            {
                (f"{query}, {share:.0%}", name): lambda text=text, table=table: system.run(text.format(table))
                for query, text in QUERIES.items() for name, table in SYSTEMS.items()
            },
            rounds, system.process,
            lambda case, answer: _wrong(loaded.expected, case.rpartition(", ")[0], answer),
        )  # fmt: skip
        return runs, [before, note(system, f"{share:.0%}: scanned", "kept")]


def rivals(system: Warehouse, expected: Mapping[str, pa.Table]) -> list[Held]:
    """Let two tables that do not both fit take turns; return what memory held of each after each.

    Raises:
        WrongAnswer: an answer was not the expected one.
    """
    seen = []
    query = "all of it"
    system.run("CACHE LAZY TABLE plain")
    for table in ("kept", "plain", "kept", "kept", "plain"):
        if wrong := _wrong(expected, query, system.run(QUERIES[query].format(table))):
            raise protocol.WrongAnswer(f"{table}: {wrong}")
        seen.append(note(system, f"{table} is read", "kept", "plain"))
    return seen


def _wrong(expected: Mapping[str, pa.Table], query: str, answer: pa.Table) -> str | None:
    return answers.difference(QUERIES[query].format("plain"), answer, expected[query])


def main(given: list[str]) -> int:
    """Run everything, print the tables and write them down."""
    parser = arguments.parser("memory", __doc__)
    parser.add_argument("--rows", type=int, default=6_000_000)
    chosen = parser.parse_args(given)
    runs: list[protocol.Run] = []
    seen: dict[float, list[Held]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        loaded = load(folder, chosen.rows)
        for share in SHARES:
            its, seen[share] = scanned(folder, loaded, share, chosen.rounds)
            runs += its
        with engine(folder, HEAP, loaded.fraction(int(loaded.bytes * 1.25))) as system:
            turns = rivals(system, loaded.expected)
    text = "\n\n".join((
        f"{chosen.rows:,} rows that take {loaded.bytes / 2**20:,.0f} MB in memory: the median (least–greatest) of"
        f" {chosen.rounds - 1} runs; {protocol.machine()}.",
        "What is in memory of the table, of what there was room for:",
        report.table(["room", "once loaded", "in the end", "on disk in the end, MB"], [
            [f"{share:.0%}", *(f"{h.memory['kept'] / loaded.bytes:.0%}" for h in both),
             f"{both[-1].disk['kept'] / 2**20:,.0f}"]
            for share, both in seen.items()
        ]),
        "Seconds by the clock:", protocol.compared(runs, "memory"),
        "Seconds in which cores were busy:", protocol.compared(runs, "memory", "cpu"),
        "Two tables where there is room for one and a quarter, and what of each is in memory:",
        report.table(["", "kept", "plain"], [
            [h.after, *(f"{h.memory[t] / loaded.bytes:.0%}" for t in ("kept", "plain"))] for h in turns
        ]),
    ))  # fmt: skip
    report.keep("memory", text, {"bytes": loaded.bytes, "runs": runs, "held": seen, "turns": turns})
    protocol.picture("memory", f"{chosen.rows:,} rows, of which memory holds a share", runs)
    return 0
