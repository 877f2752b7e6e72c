"""Streaming tables against Spark's own Structured Streaming and Flink SQL on the same events.

Four million events over a hundred thousand keys, a million a micro-batch, as Parquet files; one aggregation each:
tumbling, sessions, sliding by a minute, and sliding by an hour over a day. All write what closed windows hold: Spark
in append mode to Parquet files, with the state store of its default (on the heap, written to its checkpoint) and with
RocksDB, on the same files in the same process; ours as a streaming table with all that it keeps (state on disk, panes
in Delta, late rows, step log). Flink (``benchmarks.flink``), where it is installed, runs in a process of its own with
its state in RocksDB, checkpoints and Parquet files, and, for comparison, with nothing kept at all. It reads the same
rows in two files, the even ones and the odd ones: its two readers take several files in any order, and what then
comes late it drops. They take turns; the first round is not counted. Every run must have counted every row.

``--profile`` adds a round of ours and of Spark's that tells what the stages of a step cost.

Usage: ``python -m benchmarks [streaming] [--rows 4000000] [--steps 4] [--rounds 3] [--only PATTERN] [--systems a|b]
[--profile]``. Writes ``benchmarks/out/streaming.{md,json,svg}``, and ``streaming_profile.{md,json}``.
"""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import files, flink
from benchmarks.profile import of_steps
from benchmarks.protocol import WrongAnswer
from benchmarks.report import bars, keep
from warehouse.engine import Engine

SCHEMA, DELAY = "key BIGINT, value INT, at TIMESTAMP", "10 seconds"
STORES = {
    "Spark": "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider",
    "Spark, RocksDB": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
}
OURS = "warehouse"
SYSTEMS = (OURS, *STORES, *(flink.SYSTEMS if flink.PYTHON.exists() else ()))


@dataclass(frozen=True)
class Case:
    """One aggregation: our clause, Spark's grouping and Flink's table function for the same, and its events.

    Attributes:
        window: our clause. peer: Spark's window expression. flink: Flink's function over the table ``events``.
        keys: how many keys there are. minutes: event time that all events span. share: of the rows asked for, how
            many are used, since Spark copies rows per window. copies: in how many windows a row is.
    """

    name: str
    window: str
    peer: str
    flink: str
    keys: int = 100_000
    minutes: int = 60
    share: float = 1.0
    copies: int = 1


CASES = (
    Case(
        "tumbling 60 s", "FIXED (at, SIZE INTERVAL 60 SECONDS)", "window(at, '60 seconds')",
        "TUMBLE(TABLE events, DESCRIPTOR(`at`), INTERVAL '60' SECOND)",
    ),
    Case(
        "sessions 30 s", "SESSIONS (at, GAP INTERVAL 30 SECONDS)", "session_window(at, '30 seconds')",
        "SESSION(TABLE events PARTITION BY `key`, DESCRIPTOR(`at`), INTERVAL '30' SECOND)",
    ),
    Case(
        "sliding 10 min / 1 min", "SLIDING (at, SIZE INTERVAL 10 MINUTES, EVERY INTERVAL 1 MINUTE)",
        "window(at, '10 minutes', '1 minute')",
        "HOP(TABLE events, DESCRIPTOR(`at`), INTERVAL '1' MINUTE, INTERVAL '10' MINUTE)", share=0.25, copies=10,
    ),
    Case(
        "sliding 24 h / 1 h", "SLIDING (at, SIZE INTERVAL 24 HOURS, EVERY INTERVAL 1 HOUR)",
        "window(at, '24 hours', '1 hour')",
        "HOP(TABLE events, DESCRIPTOR(`at`), INTERVAL '1' HOUR, INTERVAL '24' HOUR)",
        keys=1_000, minutes=4 * 24 * 60, copies=24,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Run:
    """One counted run: ``rows`` rows in so many ``steps`` took ``seconds``, and gave so many ``panes``."""

    case: str
    system: str
    seconds: float
    steps: int
    rows: int
    panes: int


def write(engine: Engine, folder: Path, case: Case, rows: int, parts: Sequence[range]) -> None:
    """Write a case's events, a file for each part of their numbers, in the order of time but for ten seconds.

    Args:
        rows: how many events all parts have: they span the case's time.
    """
    span = case.minutes * 60_000_000
    for number, part in enumerate(parts):
        events = engine.spark.range(part.start, part.stop, part.step, 1).selectExpr(
            f"pmod(xxhash64(id), {case.keys}L) AS key",
            "CAST(pmod(xxhash64(id, 1), 1000) AS INT) AS value",
            f"timestamp_micros(CAST(id * {span / rows!r}D AS BIGINT) + pmod(xxhash64(id, 2), 10000000)) AS at",
        )
        files.write(events, folder / f"{number:03}.parquet")


def ours(engine: Engine, case: Case, stream: str) -> tuple[int, int]:
    """Make a streaming table over all files, one a step; return the number of steps and of panes."""
    list(
        engine.run(
            "CREATE STREAMING TABLE bench AS SELECT key, count(*) AS n, sum(value) AS total, max(value) AS most,"
            f" window_start FROM STREAM {stream} GROUP BY key WINDOW {case.window} ALLOWED LATENESS INTERVAL 0 SECONDS"
        )
    )
    (progress,) = engine.run("SELECT panes FROM stream_progress('bench')")
    panes = [row["panes"] for batch in progress.batches for row in batch.to_pylist()]
    list(engine.run("DROP STREAMING TABLE bench"))
    return len(panes), sum(panes)


def peer(engine: Engine, case: Case, landing: Path, place: Path, store: str) -> tuple[int, int]:
    """Run the same as a native streaming query in append mode; return the micro-batches with rows, and rows written."""
    from pyspark.sql import functions as F

    spark = engine.spark.newSession()
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", store)
    frame = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", "1").parquet(str(landing))
    counted = (
        frame.withWatermark("at", DELAY)
        .groupBy(F.expr(case.peer).alias("w"), "key")
        .agg(F.count("*").alias("n"), F.sum("value").alias("total"), F.max("value").alias("most"))
    )
    query = (
        counted.select("key", "n", "total", "most", "w.start")
        .writeStream.format("parquet")
        .option("path", str(place / "out"))
        .option("checkpointLocation", str(place / "checkpoint"))
        .outputMode("append")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    batches = len([p for p in query.recentProgress if p["numInputRows"]])
    written = spark.read.parquet(str(place / "out")).count()
    shutil.rmtree(place)
    return batches, written


def in_flink(
    engine: Engine, process: flink.Flink, case: Case, rows: int, landing: Path, place: Path, system: str
) -> tuple[float, int]:
    """Run the same in Flink; return its seconds, and the rows written, none where nothing is kept.

    Raises:
        WrongAnswer: not every row was counted.
    """
    select = f"""SELECT `key`, count(*) AS n, sum(CAST(`value` AS BIGINT)) AS total, max(`value`) AS most, window_start
        FROM TABLE({case.flink}) GROUP BY `key`, window_start, window_end"""
    seconds = process.run({"events": flink.Source.events(landing, SCHEMA, DELAY)}, select, system, place)
    if system == flink.HEAP:
        return seconds, 0
    panes, counted = engine.spark.read.parquet(str(place / "out")).selectExpr("count(*)", "sum(n)").first()
    flink.clear(place)
    if counted != rows * case.copies:
        raise WrongAnswer(f"{case.name}, {system}: {counted} rows were counted, not {rows * case.copies}")
    return seconds, panes


def main(arguments: list[str] | None = None) -> int:
    """Run everything, print the table and write it down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks streaming", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=4_000_000, help="events")
    parser.add_argument("--steps", type=int, default=4, help="files, a micro-batch each")
    parser.add_argument("--rounds", type=int, default=3, help="counted rounds; one more goes before them")
    parser.add_argument("--only", default="", help="only the aggregations whose name matches this pattern")
    parser.add_argument("--systems", default="|".join(SYSTEMS), help="whom to run, separated by bars")
    parser.add_argument("--profile", action="store_true", help="tell what the stages of a step cost")
    chosen = parser.parse_args(arguments)
    cases = [case for case in CASES if re.search(chosen.only, case.name)]
    systems = chosen.systems.split("|")
    runs: list[Run] = []
    with (
        tempfile.TemporaryDirectory() as scratch_name,
        Engine.open(Path(scratch_name, "warehouse")) as engine,
        flink.Flink() if set(systems) & set(flink.SYSTEMS) else nullcontext() as process,
    ):
        scratch = Path(scratch_name)
        rows = {case: int(chosen.rows * case.share) // chosen.steps * chosen.steps for case in cases}
        for number, case in enumerate(cases):
            landing, count = scratch / f"events{number}", rows[case]
            steps = [range(n, n + count // chosen.steps) for n in range(0, count, count // chosen.steps)]
            write(engine, landing, case, count, steps)
            if process:
                write(engine, scratch / f"halves{number}", case, count, [range(0, count, 2), range(1, count, 2)])
            list(
                engine.run(
                    f"CREATE STREAM events{number} ({SCHEMA}) USING parquet OPTIONS (path '{landing}',"
                    f" maxFilesPerTrigger '1') WATERMARK at DELAY OF INTERVAL {DELAY}"
                )
            )
        for turn in range(chosen.rounds + 1):
            for number, case in enumerate(cases):
                for system in systems:
                    begun, landing = time.perf_counter(), scratch / f"events{number}"
                    if system == OURS:
                        steps_taken, panes = ours(engine, case, landing.name)
                        seconds = time.perf_counter() - begun
                    elif system in STORES:
                        steps_taken, panes = peer(engine, case, landing, scratch / "peer", STORES[system])
                        seconds = time.perf_counter() - begun
                    else:
                        halves, steps_taken = scratch / f"halves{number}", 0
                        seconds, panes = in_flink(engine, process, case, rows[case], halves, scratch / "peer", system)
                    run = Run(case.name, system, seconds, steps_taken, rows[case], panes)
                    print(f"round {turn} {run}", file=sys.stderr, flush=True)
                    runs += [run] if turn else []
        if chosen.profile:
            profiled(engine, scratch, cases, systems)
    report(runs, cases, systems)
    return 0


def profiled(engine: Engine, scratch: Path, cases: list[Case], systems: list[str]) -> None:
    """Run each case once more, ours and Spark's, and keep a table of what the stages of a step cost."""
    tables: dict[str, str] = {}
    for number, case in enumerate(cases):
        landing = scratch / f"events{number}"
        for system in systems:
            if system == OURS:
                act = partial(ours, engine, case, landing.name)
            elif system in STORES:
                act = partial(peer, engine, case, landing, scratch / "peer", STORES[system])
            else:
                continue
            tables[f"{case.name}, {system}"] = of_steps(engine.spark, lambda act=act: act()[0])
    told = "\n\n".join(f"{name}:\n\n{table}" for name, table in tables.items())
    keep("streaming_profile", told, tables)


def report(runs: list[Run], cases: list[Case], systems: list[str]) -> None:
    """Print the medians side by side, and keep them with every run."""
    rounds = len([r for r in runs if r.case == cases[0].name and r.system == systems[0]])
    peers = [s for s in systems if s != OURS]
    lines = [
        f"Rows per second: the median (least–greatest) of {rounds} rounds in one run, and ours in multiples of theirs.",
        "",
        f"| aggregation | rows | panes | {' | '.join(systems)} | {' | '.join(f'× {s}' for s in peers)} |",
        "|---" * (3 + len(systems) + len(peers)) + "|",
    ]
    for case in cases:
        mine = {s: [r.rows / r.seconds for r in runs if (r.case, r.system) == (case.name, s)] for s in systems}
        (example, *_) = [r for r in runs if r.case == case.name]
        rates = [f"{statistics.median(v):,.0f} ({min(v):,.0f}–{max(v):,.0f})" for v in mine.values()]
        multiples = [f"{statistics.median(mine[OURS]) / statistics.median(mine[s]):.2f}" for s in peers]
        cells = [case.name, f"{example.rows:,}", f"{example.panes:,}", *rates, *multiples]
        lines.append(f"| {' | '.join(cells)} |")
    keep("streaming", "\n".join(lines), runs)
    took = {
        system: [
            statistics.median(r.seconds / r.rows * 1e6 for r in runs if (r.case, r.system) == (case.name, system))
            for case in cases
        ]
        for system in systems
    }
    bars("streaming", "a million rows", [case.name for case in cases], took)


if __name__ == "__main__":
    sys.exit(main())
