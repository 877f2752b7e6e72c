"""A suite of streaming queries in our SQL: as streaming tables, as batches over the same events, and in its peers.

Each text of a suite's ``queries`` runs as it stands over streams, a file of each kind of event a step, until the
streaming table is drained; and, without its STREAM and as views, over tables of the same events. Both must give the
same rows. Where Spark's own Structured Streaming can do the same it runs beside ours, in append mode to Parquet with
the state store of its default, and with RocksDB where the query has state: the texts of ``spark`` where its words are
others, else ours. Flink SQL (``benchmarks.flink``), where it is installed, runs the texts of ``flink`` in a process of
its own, durably, over the same events in two files a kind (``benchmarks.streaming`` tells why); it must write as many
rows as we do.
"""

from __future__ import annotations

import math
import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import arguments, files, flink, protocol, report
from benchmarks.streaming import OURS, STORES
from benchmarks.systems import Warehouse

BATCH, SPARK = "batch", "Spark"
SYSTEMS = (OURS, *STORES, *((flink.DURABLE,) if flink.PYTHON.exists() else ()), BATCH)
_CREATED = re.compile(r"^CREATE STREAMING TABLE (\w+) AS\n(.*?);$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One SELECT of a query: over the events, or over the block before."""

    name: str
    select: str


@dataclass(frozen=True)
class Suite:
    """Queries and the events they are over.

    Attributes:
        name: of the benchmark. told: what it is, in a line. folder: of ``queries``, ``spark`` and ``flink``.
        schemas: by each kind of event its columns, one of them ``at``.
        write: writes the events as Parquet into a folder, in a folder for each kind: so many of them, in so many files
            of each kind, in the order of time.
        delay: of the watermark. tables: by their names the queries that make the tables which events are joined to.
    """

    name: str
    told: str
    folder: Path
    schemas: Mapping[str, str]
    write: Callable[[Any, Path, int, int], None]
    delay: str
    tables: Mapping[str, str]

    def queries(self, dialect: str = "queries") -> dict[str, tuple[Block, ...]]:
        """Return the blocks of each query by its name; the last block is the answer."""
        found = {
            file.stem: tuple(Block(*found.groups()) for found in _CREATED.finditer(file.read_text("utf-8")))
            for file in (self.folder / dialect).glob("*.sql")
        }
        return {name: found[name] for name in sorted(found, key=lambda name: (len(name), name))}

    def peers(self, store: str) -> dict[str, tuple[Block, ...]]:
        """Return the queries as Spark can run them natively with a state store: those without state as they are.

        What has no state runs with the default store alone.
        """
        plain = {
            name: blocks
            for name, blocks in self.queries().items()
            if len(blocks) == 1 and not re.search(r"GROUP BY|WINDOW", blocks[0].select)
        }
        texts = plain | self.queries("spark")
        return {name: text for name, text in texts.items() if store == SPARK or text != plain.get(name)}


def prepare(suite: Suite, system: Warehouse, folder: Path, count: int, files: int, streams: str = "default") -> None:
    """Write the events, so many of all kinds in so many files of each, and ``declare`` them, a file a step."""
    suite.write(system.spark, folder, count, files)
    declare(suite, system, folder, streams)


def declare(suite: Suite, system: Warehouse, folder: Path, streams: str = "default", each: int = 1) -> None:
    """Make streams of the events' files in one schema, tables in another, and the suite's tables in both.

    Args:
        suite: whose.
        system: ours.
        folder: of the files.
        streams: the schema of the streams, which is current.
        each: files of a kind that a step reads.
    """
    batch = _batch(streams)
    system.run(f"CREATE SCHEMA {batch}")
    for kind, columns in suite.schemas.items():
        system.run(
            f"CREATE STREAM {kind} ({columns}) USING parquet"
            f" OPTIONS (path '{folder / kind}', maxFilesPerTrigger '{each}')"
            f" WATERMARK at DELAY OF INTERVAL {suite.delay}"
        )
        system.run(f"CREATE VIEW {batch}.{kind} AS SELECT * FROM parquet.`{folder / kind}`")
    for schema in (streams, batch):
        for table, select in suite.tables.items():
            system.run(f"CREATE TABLE {schema}.{table} AS {select}")


def streamed(system: Warehouse, blocks: tuple[Block, ...]) -> None:
    """Make the streaming tables of a query, each over all events there are, and close all their windows."""
    for block in blocks:
        system.run(f"CREATE STREAMING TABLE {block.name} AS {block.select}")
        system.run(f"DRAIN STREAMING TABLE {block.name}")


def batched(system: Warehouse, blocks: tuple[Block, ...], streams: str = "default") -> None:
    """Compute the same over tables, into a table of their schema."""
    system.run(f"USE {_batch(streams)}")
    for block in blocks:
        made = "TABLE" if block is blocks[-1] else "VIEW"
        system.run(f"CREATE {made} {block.name} AS {_over_tables(block)}")
    system.run(f"USE {streams}")


def difference(system: Warehouse, blocks: tuple[Block, ...], streams: str = "default") -> tuple[int, int]:
    """Return how many rows the streaming table has, and how many are in it or in the batch's answer alone."""
    stream, batch = (f"SELECT * FROM {schema}.{blocks[-1].name}" for schema in (streams, _batch(streams)))
    either = f"({stream} EXCEPT ALL {batch}) UNION ALL ({batch} EXCEPT ALL {stream})"
    told = system.run(f"SELECT (SELECT count(*) FROM ({stream})) AS rows, (SELECT count(*) FROM ({either})) AS odd")
    return told["rows"][0].as_py(), told["odd"][0].as_py()


def dropped(system: Warehouse, blocks: tuple[Block, ...], streams: str = "default") -> None:
    """Take a query's tables and views away."""
    for block in reversed(blocks):
        system.run(f"DROP STREAMING TABLE {block.name}")
        system.run(f"DROP {'TABLE' if block is blocks[-1] else 'VIEW'} {_batch(streams)}.{block.name}")


def native(
    suite: Suite, system: Warehouse, blocks: tuple[Block, ...], folder: Path, place: Path, store: str = SPARK
) -> None:
    """Run a query in Spark's own Structured Streaming with a state store, into Parquet files in ``place``.

    Raises:
        pyspark.errors.PySparkException: Spark cannot run it.
    """
    spark: Any = system.spark.newSession()
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", STORES[store])
    for kind, columns in suite.schemas.items():
        frame = spark.readStream.schema(columns).option("maxFilesPerTrigger", "1").parquet(str(folder / kind))
        frame.withWatermark("at", suite.delay).createOrReplaceTempView(kind)
    for block in blocks:
        spark.sql(_over_tables(block)).createOrReplaceTempView(block.name)
    written = spark.table(blocks[-1].name).writeStream.format("parquet").outputMode("append")
    options = {"path": str(place / "out"), "checkpointLocation": str(place / "checkpoint")}
    written.options(**options).trigger(availableNow=True).start().awaitTermination()
    shutil.rmtree(place)


def sources(suite: Suite, system: Warehouse, folder: Path, place: Path) -> dict[str, flink.Source]:
    """Write the events of a folder's files, and the suite's tables, as Flink reads them; return them by their names.

    Each kind of event has two files in ``place``, of the even rows and the odd ones, each in the order of time.
    """
    found = {}
    for kind, columns in suite.schemas.items():
        ordered = system.spark.read.parquet(str(folder / kind)).coalesce(1).sortWithinPartitions("at")
        numbered = ordered.selectExpr("*", "monotonically_increasing_id() AS number")
        for half in range(2):
            files.write(numbered.where(f"number % 2 = {half}").drop("number"), place / kind / f"{half}.parquet")
        found[kind] = flink.Source.events(place / kind, columns, suite.delay)
    for table, select in suite.tables.items():
        frame = system.spark.sql(select)
        files.write(frame.coalesce(1), place / table / "0.parquet")
        columns = ", ".join(f"{field.name} {field.dataType.simpleString()}" for field in frame.schema)
        found[table] = flink.Source.lookup(place / table, columns)
    return found


def in_flink(
    process: flink.Flink, over: Mapping[str, flink.Source], blocks: tuple[Block, ...], place: Path
) -> tuple[float, int]:
    """Run a query in Flink; return its seconds, and how many rows it wrote."""
    *views, answer = blocks
    seconds = process.run(over, answer.select, flink.DURABLE, place, {view.name: view.select for view in views})
    rows = flink.written(place)
    flink.clear(place)
    return seconds, rows


def main(suite: Suite, argv: list[str] | None = None) -> int:
    """Run everything, compare, print the table and write it down; return 1 where an answer was wrong."""
    parser = arguments.parser(suite.name, suite.told)
    parser.add_argument("--events", type=int, default=1_000_000, help="of all kinds together")
    parser.add_argument("--files", type=int, default=5, help="of each kind; a step each")
    parser.add_argument("--only", default="", help="only the queries whose name matches this pattern")
    parser.add_argument(
        "--systems", default="|".join(SYSTEMS), help=f"whom to run, separated by bars; {OURS} and {BATCH} always run"
    )
    parser.set_defaults(rounds=2)
    chosen = parser.parse_args(argv)
    if unknown := set(chosen.systems.split("|")) - set(SYSTEMS):
        parser.error(f"there are {', '.join(SYSTEMS)}, and not {', '.join(unknown)}")
    systems = [who for who in SYSTEMS if who in (OURS, BATCH, *chosen.systems.split("|"))]
    asked = {name: blocks for name, blocks in suite.queries().items() if re.fullmatch(chosen.only or ".*", name)}
    runs, answers, wrote = list[protocol.Run](), dict[str, tuple[int, int]](), dict[str, int]()
    with (
        tempfile.TemporaryDirectory() as scratch,
        flink.Flink() if flink.DURABLE in systems else nullcontext() as process,
    ):
        folder, place = Path(scratch, "events"), Path(scratch, "peer")
        folder.mkdir()
        system = Warehouse.open(Path(scratch, "warehouse"))
        prepare(suite, system, folder, chosen.events, chosen.files)
        over = sources(suite, system, folder, Path(scratch, "flink")) if process else {}
        for turn in range(chosen.rounds):
            for name, blocks in asked.items():
                acts = {OURS: lambda b=blocks: streamed(system, b), BATCH: lambda b=blocks: batched(system, b)}
                for store in STORES:
                    if store in systems and (peer := suite.peers(store).get(name)):
                        acts[store] = lambda b=peer, s=store: native(suite, system, b, folder, place, s)
                for who, act in acts.items():
                    runs.append(protocol.timed(act, name, who, turn, system.process))
                    print(runs[-1], flush=True)
                answers[name] = difference(system, blocks)
                if process and (peer := suite.queries("flink").get(name)):
                    busy = protocol.cpu_seconds(process.jvm)
                    seconds, rows = in_flink(process, over, peer, place)
                    busy = protocol.cpu_seconds(process.jvm) - busy
                    runs.append(protocol.Run(name, flink.DURABLE, turn, seconds, busy))
                    print(runs[-1], flush=True)
                    if rows != answers[name][0]:
                        wrote[name] = rows
                dropped(system, blocks)
        system.close()
    report.keep(suite.name, told(runs, answers, chosen.events, systems, wrote), runs)
    took = {
        who: [spread.median if (spread := protocol.counted(runs, name, who)) else math.nan for name in answers]
        for who in systems
    }
    report.bars(suite.name, f"{chosen.events:,} events", list(answers), took)
    return int(any(odd for _, odd in answers.values()))


def told(
    runs: list[protocol.Run],
    answers: dict[str, tuple[int, int]],
    count: int,
    systems: list[str],
    wrote: Mapping[str, int],
) -> str:
    """Return the table: what each query made, thousands of events a second, and ours in multiples of the peers'.

    Args:
        runs: of all. answers: by query its rows, and those in which streams and tables differ.
        count: of the events. systems: who ran. wrote: the rows of Flink's where there were not as many.
    """
    lines, counted = [], 0
    peers = [who for who in systems if who not in (OURS, BATCH)]
    for name, (rows, odd) in answers.items():
        spans = {who: protocol.counted(runs, name, who) for who in systems}
        counted = len([r for r in runs if r.turn and (r.case, r.system) == (name, OURS)])
        shown = {who: _rates(count, span) if span else "–" for who, span in spans.items()}
        if name in wrote:
            shown[flink.DURABLE] += f", rows: {wrote[name]:,}"
        mine = spans[OURS]
        multiples = [f"{span.median / mine.median:.2f}" if mine and (span := spans[who]) else "–" for who in peers]
        lines.append([name, f"{rows:,}", "yes" if not odd else f"NO: {odd:,} rows", *shown.values(), *multiples])
    header = ["query", "rows", "as the batch", f"{OURS}, k events/s", *systems[1:], *(f"× {who}" for who in peers)]
    return f"{count:,} events; the median (least–greatest) of {counted} rounds.\n\n{report.table(header, lines)}"


def _rates(count: int, spent: protocol.Spread) -> str:
    """Return thousands of events a second."""
    median, least, greatest = (count / s / 1_000 for s in (spent.median, spent.greatest, spent.least))
    return f"{median:,.0f} ({least:,.0f}–{greatest:,.0f})"


def _batch(streams: str) -> str:
    """Return the schema of the tables beside the streams of another."""
    return f"{streams}_batch"


def _over_tables(block: Block) -> str:
    return re.sub(r"\bSTREAM (?=\w)", "", block.select)
