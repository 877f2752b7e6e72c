"""Streaming tables against Spark's own Structured Streaming: a year of flights, one file per step.

Both read the same CSV files in the same engine, one file a micro-batch, aggregate the same and write Parquet
files (ours inside Delta): Spark in append mode with its default state store, ours with everything a streaming
table keeps (state on disk, panes, late rows, step log). They take turns; the first round is not counted.

Usage: ``python -m benchmarks [--files 12] [--rounds 3]``. Writes ``benchmarks/out/streaming.{md,json}``.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from warehouse.engine import Engine

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "sql"))

SCHEMA = (
    "reported TIMESTAMP, scheduled TIMESTAMP, departed TIMESTAMP, carrier STRING, flight INT, tailnum STRING,"
    " origin STRING, dest STRING, dep_delay INT, arr_delay INT, air_time INT, distance INT"
)


@dataclass(frozen=True)
class Case:
    """One aggregation: our text, and Spark's grouping for the same.

    Attributes:
        keys: the group key. window: our clause. peer: Spark's window expression.
    """

    name: str
    keys: str
    window: str
    peer: str


CASES = (
    Case("tumbling 1 h", "origin", "FIXED (departed, SIZE INTERVAL 1 HOUR)", "window(departed, '1 hour')"),
    Case(
        "sliding 24 h / 1 h", "carrier", "SLIDING (departed, SIZE INTERVAL 24 HOURS, EVERY INTERVAL 1 HOUR)",
        "window(departed, '24 hours', '1 hour')",
    ),
    Case("sessions 6 h", "tailnum", "SESSIONS (departed, GAP INTERVAL 6 HOURS)", "session_window(departed, '6 hours')"),
)  # fmt: skip


@dataclass(frozen=True)
class Run:
    """One counted run."""

    case: str
    system: str
    seconds: float
    steps: int
    rows: int


def ours(engine: Engine, case: Case) -> int:
    """Make a streaming table over all files, one a step; return the number of steps."""
    name = "bench"
    list(
        engine.run(
            f"CREATE STREAMING TABLE {name} AS SELECT {case.keys}, count(*) AS flights, avg(dep_delay) AS mean_delay,"
            f" window_start FROM STREAM reports WHERE departed IS NOT NULL GROUP BY {case.keys} WINDOW {case.window}"
        )
    )
    (progress,) = engine.run(f"SELECT step FROM stream_progress('{name}')")
    steps = sum(batch.num_rows for batch in progress.batches)
    list(engine.run(f"DROP STREAMING TABLE {name}"))
    return steps


def peer(engine: Engine, case: Case, landing: Path, place: Path) -> int:
    """Run the same as a native streaming query in append mode; return the number of micro-batches."""
    from pyspark.sql import functions as F

    spark = engine.spark
    reader = spark.readStream.schema(SCHEMA).option("header", "true").option("maxFilesPerTrigger", "1")
    frame = reader.csv(str(landing)).where("departed IS NOT NULL").withWatermark("departed", "2 hours")
    counted = frame.groupBy(F.expr(case.peer).alias("w"), case.keys).agg(
        F.count("*").alias("flights"), F.avg("dep_delay").alias("mean_delay")
    )
    query = (
        counted.select(case.keys, "flights", "mean_delay", "w.start")
        .writeStream.format("parquet")
        .option("path", str(place / "out"))
        .option("checkpointLocation", str(place / "checkpoint"))
        .outputMode("append")
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    batches = len([p for p in query.recentProgress if p["numInputRows"]])
    shutil.rmtree(place)
    return batches


def main(arguments: list[str] | None = None) -> int:
    """Run everything, print the table and write it down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--files", type=int, default=12, choices=(12, 365), help="files, hence steps")
    parser.add_argument("--rounds", type=int, default=3, help="counted rounds; one more goes before them")
    chosen = parser.parse_args(arguments)
    import prepare

    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as scratch_name:
        scratch = Path(scratch_name)
        found = prepare.reports(prepare.package())
        cuts = prepare.monthly_cuts() if chosen.files == 12 else prepare.daily_cuts()
        prepare.write(found, cuts, scratch / "landing")
        rows = found.rows.num_rows
        with Engine.open(scratch / "warehouse") as engine:
            list(
                engine.run(
                    f"CREATE STREAM reports ({SCHEMA}) USING csv OPTIONS (path '{scratch / 'landing'}', header 'true',"
                    " maxFilesPerTrigger '1') WATERMARK departed DELAY OF INTERVAL 2 HOURS"
                )
            )
            for turn in range(chosen.rounds + 1):
                for case in CASES:
                    begun = time.perf_counter()
                    steps = ours(engine, case)
                    between = time.perf_counter()
                    batches = peer(engine, case, scratch / "landing", scratch / "peer")
                    ended = time.perf_counter()
                    timed = (
                        Run(case.name, "warehouse", between - begun, steps, rows),
                        Run(case.name, "Spark", ended - between, batches, rows),
                    )
                    for run in timed:
                        print(f"round {turn} {run.case:20} {run.system:10} {run.seconds:7.2f} s", file=sys.stderr)
                    runs += timed if turn else ()
    report(runs, chosen.files)
    return 0


def report(runs: list[Run], files: int) -> None:
    """Print the medians side by side, and keep them with every run."""
    lines = [
        f"Flights of 2013, {runs[0].rows} rows in {files} files, one file a step; median (least–greatest) of"
        f" {len([r for r in runs if r.case == runs[0].case and r.system == 'Spark'])} rounds in one run.",
        "",
        "| aggregation | warehouse rows/s | Spark rows/s | warehouse s/step | Spark s/step | ours : Spark, rows/s |",
        "|---|---|---|---|---|---|",
    ]
    for case in CASES:
        mine = [r for r in runs if r.case == case.name and r.system == "warehouse"]
        theirs = [r for r in runs if r.case == case.name and r.system == "Spark"]
        ratio = _median(theirs, _seconds) / _median(mine, _seconds)
        lines.append(
            f"| {case.name} | {_median(mine, _rate):,.0f} ({_spread(mine, _rate)}) | {_median(theirs, _rate):,.0f}"
            f" ({_spread(theirs, _rate)}) | {_median(mine, _per_step):.2f} | {_median(theirs, _per_step):.2f}"
            f" | {ratio:.2f} |"
        )
    text = "\n".join(lines)
    print(text)
    out = HERE / "out"
    out.mkdir(exist_ok=True)
    (out / "streaming.md").write_text(text + "\n")
    (out / "streaming.json").write_text(json.dumps([asdict(r) for r in runs], indent=1) + "\n")


def _seconds(run: Run) -> float:
    return run.seconds


def _rate(run: Run) -> float:
    return run.rows / run.seconds


def _per_step(run: Run) -> float:
    return run.seconds / max(1, run.steps)


def _median(runs: list[Run], figure: Callable[[Run], Any]) -> float:
    return statistics.median(figure(r) for r in runs)


def _spread(runs: list[Run], figure: Callable[[Run], Any]) -> str:
    values = sorted(figure(r) for r in runs)
    return f"{values[0]:,.0f}–{values[-1]:,.0f}"


if __name__ == "__main__":
    sys.exit(main())
