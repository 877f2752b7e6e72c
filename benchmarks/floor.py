"""What a step costs that has hardly any rows, with the upkeep that follows every 64th of them.

A file of a few rows is a step: rows that pass, and counts of each minute, of a stream with a watermark. Ours is a
streaming table, whose panes are a Delta table; the peer is a native streaming query that appends to a Delta table as
well, after each hundredth commit with a checkpoint. Both read the same files, one after the other, in one process, and
shuffle into one partition where rows are few. The first half of the steps is not counted.

Two figures of each: a step's own seconds, the median (``stream_progress``, and the micro-batch's ``triggerExecution``),
and the seconds from one step's beginning to the next one's, the mean, in which what is done between steps counts.

Usage: ``python -m benchmarks floor [--rows 100] [--steps 300]``. Writes ``benchmarks/out/floor.{md,json}``.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks import files
from benchmarks.report import keep, table
from benchmarks.streaming import OURS, SCHEMA
from warehouse.engine import Engine

PEER = "Spark, to Delta"
COUNTS = "key, count(*) AS n FROM STREAM events GROUP BY key WINDOW FIXED (at, SIZE INTERVAL 1 MINUTE)"
QUERIES = {"rows that pass": "key, value, at FROM STREAM events", "counts, each minute": COUNTS}


@dataclass(frozen=True)
class Run:
    """The counted steps of one system: each one's own seconds, and all from the first one's beginning to the last's."""

    query: str
    system: str
    own: tuple[float, ...]
    lasted: float

    @property
    def figures(self) -> tuple[float, float]:
        """Return a step's own seconds, the median, and those from one to the next, the mean."""
        return statistics.median(self.own), self.lasted / (len(self.own) - 1)


def run_of(query: str, system: str, steps: list[tuple[datetime, float]]) -> Run:
    """Return the later half of steps, each with when it began and how many seconds it took."""
    counted = steps[len(steps) // 2 :]
    return Run(query, system, tuple(s for _, s in counted), (counted[-1][0] - counted[0][0]).total_seconds())


def write(engine: Engine, folder: Path, rows: int, steps: int) -> None:
    """Write a file a step, of a second of time each."""
    for number in range(steps):
        events = engine.spark.range(number * rows, (number + 1) * rows, 1, 1).selectExpr(
            "pmod(xxhash64(id), 1000) AS key", "CAST(pmod(id, 1000) AS INT) AS value",
            f"timestamp_micros({1767225600 + number}000000L + pmod(xxhash64(id, 7), 1000000L)) AS at",
        )  # fmt: skip
        files.write(events, folder / f"{number:05}.parquet")


def ours(engine: Engine, query: str) -> Run:
    """Run a query as a streaming table."""
    list(engine.run(f"CREATE STREAMING TABLE floor AS SELECT {QUERIES[query]}"))
    (progress,) = engine.run("SELECT emitted_at, seconds FROM stream_progress('floor') ORDER BY step")
    steps = [(row["emitted_at"], row["seconds"]) for batch in progress.batches for row in batch.to_pylist()]
    list(engine.run("DROP STREAMING TABLE floor"))
    return run_of(query, OURS, steps)


def peer(engine: Engine, folder: Path, place: Path, query: str) -> Run:
    """Run the same query as a native one."""
    from pyspark.sql import functions as F

    spark = engine.spark.newSession()
    spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", "100000")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    rows: Any = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", "1").parquet(str(folder))
    if QUERIES[query] == COUNTS:
        windows = rows.withWatermark("at", "10 seconds").groupBy(F.window("at", "1 minute"), "key")
        rows = windows.agg(F.count("*").alias("n")).select("key", "n", "window.start", "window.end")
    running = (
        rows.writeStream.format("delta").option("checkpointLocation", str(place / "checkpoint"))
        .outputMode("append").trigger(availableNow=True).start(str(place / "out"))
    )  # fmt: skip
    running.awaitTermination()
    progress = [p for p in running.recentProgress if p["numInputRows"]]
    steps = [(datetime.fromisoformat(p["timestamp"]), p["durationMs"]["triggerExecution"] / 1000) for p in progress]
    return run_of(query, PEER, steps)


def main(arguments: list[str] | None = None) -> int:
    """Run everything, print the table and write it down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks floor", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=100, help="rows of a step")
    parser.add_argument("--steps", type=int, default=300)
    chosen = parser.parse_args(arguments)
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as scratch_name:
        scratch = Path(scratch_name)
        with Engine.open(scratch / "warehouse") as engine:
            folder = scratch / "events"
            write(engine, folder, chosen.rows, chosen.steps)
            stream = f"CREATE STREAM events ({SCHEMA}) USING parquet OPTIONS (path '{folder}', maxFilesPerTrigger '1')"
            list(engine.run(f"{stream} WATERMARK at DELAY OF INTERVAL 10 SECONDS"))
            for query in QUERIES:
                for run in (ours(engine, query), peer(engine, folder, scratch / query.split()[0], query)):
                    runs.append(run)
                    print(query, run.system, *(f"{figure:.3f}" for figure in run.figures), file=sys.stderr, flush=True)
    lines = []
    for mine, theirs in zip(runs[::2], runs[1::2], strict=True):
        (step, period), (their_step, their_period) = mine.figures, theirs.figures
        seconds = (f"{figure:.2f}" for figure in (step, their_step, period, their_period))
        lines.append([mine.query, *seconds, f"{period / their_period:.2f}"])
    told = f"Steps of {chosen.rows:,} rows, the later half of {chosen.steps}; seconds."
    header = ["query", "a step", f"a step, {PEER}", "from one to the next", f"the same, {PEER}", "ratio"]
    keep("floor", f"{told}\n\n{table(header, lines)}", runs)
    return 0
