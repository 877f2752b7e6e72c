"""How long it takes to be back: a process is killed in the middle of a step, and another one goes on.

A first file opens a window of an hour for every key, then comes a file of a thousand rows a step; every second row of
a window emits it. After three of these the process dies by ``kill -9`` while it takes the next. What is told: seconds
from the new process's start until its engine is open, and until the first step that was missing is committed, hence
its panes can be read. The peer is Spark's own streaming aggregation in update mode, its store on the heap and its
results appended to Parquet. Every process is new, so that the start of Python and of a JVM is in the figures; the
first round, which fills the caches of files, is not counted.

Usage: ``python -m benchmarks recovery [--keys 100000,1000000] [--rounds 4] [--systems a|b]``. Writes
``benchmarks/out/recovery.{md,json}``.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import report, state
from benchmarks.arguments import parser
from benchmarks.protocol import Spread
from benchmarks.streaming import OURS, SCHEMA, STORES
from warehouse.engine import Engine

SPARK = "Spark"
SYSTEMS = (OURS, SPARK)
ROWS, STEPS = 1_000, 4
"""Of a small step; how many of them, the last of which is died in."""
INTO_THE_STEP = 0.3
"""Seconds from that step's file to death."""


@dataclass(frozen=True)
class Run:
    """One recovery with so many ``keys`` of state: seconds until the engine was open, and until the step was done."""

    system: str
    keys: int
    opened: float
    stepped: float


def lived(system: str, folder: Path) -> None:
    """Take a step for each file there is and each that comes; print a line when open, and after each step."""
    with Engine.open(folder / "warehouse", {"memory": "6g"}) as engine:
        print("open", flush=True)
        for step in _our_steps(engine, folder) if system == OURS else _its_steps(engine, folder):
            print("step", step, flush=True)


def _our_steps(engine: Engine, folder: Path) -> Iterator[int]:
    if not list(engine.catalog.streams.all()):
        list(
            engine.run(
                f"CREATE STREAM events ({SCHEMA}) USING parquet OPTIONS (path '{folder / 'events'}',"
                " maxFilesPerTrigger '1') WATERMARK at DELAY OF INTERVAL 1 HOUR;"
                "CREATE STREAMING TABLE counted AS SELECT key, count(*) AS n, sum(value) AS total, max(value) AS most"
                " FROM STREAM events GROUP BY key WINDOW FIXED (at, SIZE INTERVAL 1 HOUR)"
                " TRIGGER AT WATERMARK EARLY EVERY 2 ROWS"
            )
        )
    while True:
        list(engine.run("REFRESH STREAMING TABLE counted"))
        (progress,) = engine.run("SELECT max(step) AS step FROM stream_progress('counted')")
        yield next(row["step"] for batch in progress.batches for row in batch.to_pylist())


def _its_steps(engine: Engine, folder: Path) -> Iterator[int]:
    from pyspark.sql import functions as F

    spark = engine.spark.newSession()
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", STORES[SPARK])
    spark.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")  # a file a micro-batch
    done = 0

    def keep(batch: object, number: int) -> None:
        nonlocal done
        batch.write.mode("append").parquet(str(folder / "out"))
        done = number + 1

    while True:
        frame = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", "1").parquet(str(folder / "events"))
        counted = (
            frame.withWatermark("at", "1 hour")
            .groupBy(F.window("at", "1 hour").alias("w"), "key")
            .agg(F.count("*").alias("n"), F.sum("value").alias("total"), F.max("value").alias("most"))
        )
        written = counted.writeStream.foreachBatch(keep).outputMode("update").trigger(availableNow=True)
        written.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()
        yield done


def killed(system: str, keys: int, files: Path, folder: Path) -> Run:
    """Let a process take steps, kill it in the midst of one, and return how long the next one took to be back."""
    (folder / "events").mkdir(parents=True)
    waiting = sorted(files.glob("*.parquet"))

    def arrive(count: int) -> None:
        for file in waiting[:count]:
            draft = folder / file.name
            draft.write_bytes(file.read_bytes())
            draft.rename(folder / "events" / file.name)
        del waiting[:count]

    def started() -> tuple[subprocess.Popen[str], Iterator[str]]:
        command = [sys.executable, "-m", "benchmarks.recovery", system, str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert process.stdout
        return process, (line.strip() for line in process.stdout)

    arrive(1)
    process, lines = started()
    for number in range(1, STEPS + 1):
        _await(lines, f"step {number}")
        arrive(1)
    time.sleep(INTO_THE_STEP)
    process.send_signal(signal.SIGKILL)
    process.wait()
    begun = time.perf_counter()
    process, lines = started()
    _await(lines, "open")
    opened = time.perf_counter() - begun
    _await(lines, f"step {STEPS + 1}")
    run = Run(system, keys, opened, time.perf_counter() - begun)
    process.kill()
    process.wait()
    return run


def _await(lines: Iterator[str], wanted: str) -> None:
    for line in lines:
        if line == wanted:
            return
    raise RuntimeError(f"the process ended before its {wanted!r}")


def main(argv: list[str] | None = None) -> int:
    """Run everything, print the table and write it down."""
    asked = parser("recovery", __doc__)
    asked.add_argument("--keys", default="100000,1000000", help="how many windows the state holds")
    asked.add_argument("--systems", default="|".join(SYSTEMS), help="whom to run, separated by bars")
    asked.set_defaults(rounds=4)
    chosen = asked.parse_args(argv)
    sizes = [int(n) for n in chosen.keys.split(",")]
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        with Engine.open(scratch / "warehouse") as engine:
            for keys in sizes:
                state.write(engine, scratch / f"events{keys}", keys, ROWS, STEPS)
        for turn in range(chosen.rounds):
            for keys in sizes:
                for system in chosen.systems.split("|"):
                    with tempfile.TemporaryDirectory(dir=scratch) as folder:
                        run = killed(system, keys, scratch / f"events{keys}", Path(folder))
                    print(f"round {turn} {run}", file=sys.stderr, flush=True)
                    runs += [run] if turn else []
    header = ["keys", "system", "engine open", "first step that was missing"]
    cases = dict.fromkeys((run.keys, run.system) for run in runs)
    lines = [[f"{k:,}", s, *(_spread(runs, k, s, measure) for measure in ("opened", "stepped"))] for k, s in cases]
    told = f"Seconds from the new process's start: the median (least–greatest) of {chosen.rounds - 1}."
    report.keep("recovery", f"{told}\n\n{report.table(header, lines)}", runs)
    return 0


def _spread(runs: list[Run], keys: int, system: str, measure: str) -> Spread:
    return Spread.of(getattr(run, measure) for run in runs if (run.keys, run.system) == (keys, system))


if __name__ == "__main__":
    lived(sys.argv[1], Path(sys.argv[2]))
