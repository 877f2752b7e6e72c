"""What GENERATE costs beside MLlib: logistic regression on a million rows of ten features, from a cached table.

The statement and the program written by hand take turns in one process, on the same cached data, with the same
parameters: ``VectorAssembler`` and ``LogisticRegression`` on ``spark.table``, and then the same with what they make
stored. By the clock, and in the seconds that the JVM kept cores busy, which other work on the machine disturbs less.
Both learn the same coefficients, or the run fails.

Usage: ``python -m benchmarks generate [--rows 1000000] [--iterations 10] [--rounds 5]``. Writes
``benchmarks/out/generate.{md,json}``.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.protocol import cpu_seconds
from benchmarks.report import keep
from benchmarks.systems import process_of
from warehouse.engine import Engine

FEATURES = 10


@dataclass(frozen=True)
class Run:
    """One run of one way."""

    way: str
    stored: bool
    seconds: float
    cpu: float


class Contest:
    """The two ways, on one engine."""

    def __init__(self, engine: Engine, folder: Path, rows: int, iterations: int):
        self.engine, self.spark, self.folder, self.iterations = engine, engine.spark, folder, iterations
        self.process = process_of(engine.spark)
        features = ", ".join(f"randn({i}) AS x{i}" for i in range(FEATURES))
        total = " + ".join(f"{(-1) ** i * (i + 1) / 10} * x{i}" for i in range(FEATURES))
        text = (
            f"CREATE TABLE points AS SELECT *, CAST({total} + randn(99) > 0 AS INT) AS y"
            f" FROM (SELECT {features} FROM range(0, {rows}, 1, 4)); CACHE TABLE points"
        )
        list(engine.run(text))
        self.learnt: dict[str, Any] = {}

    def by_hand(self, stored: bool) -> None:
        """Run the program."""
        from pyspark.ml import Pipeline
        from pyspark.ml.classification import LogisticRegression
        from pyspark.ml.feature import VectorAssembler

        assembler = VectorAssembler(inputCols=[f"x{i}" for i in range(FEATURES)], outputCol="features")
        regression = LogisticRegression(labelCol="y", maxIter=self.iterations, tol=0.0)
        model = Pipeline(stages=[assembler, regression]).fit(self.spark.table("points"))
        self.learnt["by hand"] = str(model.stages[-1].coefficients)
        if stored:
            model.write().overwrite().save(str(self.folder / "model"))
        else:
            model.transform(self.spark.table("points")).write.format("noop").mode("overwrite").save()

    def by_statement(self, stored: bool) -> None:
        """Run the statement."""
        call = f"GENERATE ML LogisticRegression(points, label => 'y', max_iter => {self.iterations}, tol => 0)"
        if stored:
            list(self.engine.run(f"{call} AS OR REPLACE MODEL learnt"))
            described = self.engine.catalog.models.get("default", "learnt")
            assert described
            self.learnt["statement"] = dict(described.newest.facts)["Coefficients"]
            return
        (source,) = self.engine.split(call)
        frame, release = self.engine.begin(source)
        frame.write.format("noop").mode("overwrite").save()
        release()

    def run(self, way: str, stored: bool) -> Run:
        """Run one way once."""
        act: Callable[[bool], None] = {"by hand": self.by_hand, "statement": self.by_statement}[way]
        started, before = time.monotonic(), cpu_seconds(self.process)
        act(stored)
        return Run(way, stored, time.monotonic() - started, cpu_seconds(self.process) - before)


def report(runs: list[Run], rounds: int) -> str:
    """Return the table: medians, and the median over the rounds of statement to program in the same round."""
    lines = ["| | by hand | statement | ratio | CPU by hand | CPU statement | ratio |", "|---|---|---|---|---|---|---|"]
    for stored in (False, True):
        mine = [r for r in runs if r.stored == stored]
        hand, ours = ([r for r in mine if r.way == way] for way in ("by hand", "statement"))
        cells = []
        for measure in ("seconds", "cpu"):
            one, other = [getattr(r, measure) for r in hand], [getattr(r, measure) for r in ours]
            ratio = statistics.median(b / a for a, b in zip(one, other, strict=True))
            cells.append(f"{statistics.median(one):.2f} | {statistics.median(other):.2f} | {ratio:.2f}")
        what = "AS MODEL, and saved" if stored else "rows with predictions, thrown away"
        lines.append(f"| {what} | {' | '.join(cells)} |")
    return "\n".join([f"{rounds} counted rounds after one warm-up, medians", "", *lines])


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="benchmarks generate", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as folder, Engine.open(Path(folder) / "warehouse") as engine:
        contest = Contest(engine, Path(folder), options.rows, options.iterations)
        for turn in range(options.rounds + 1):
            ways = ("by hand", "statement") if turn % 2 else ("statement", "by hand")
            for stored in (False, True):
                for way in ways:
                    run = contest.run(way, stored)
                    print(
                        f"round {turn} {way:10} stored={stored} {run.seconds:.2f} s, CPU {run.cpu:.2f} s",
                        file=sys.stderr,
                    )
                    runs += [run] if turn else []
        assert contest.learnt["by hand"] == contest.learnt["statement"], contest.learnt
    keep("generate", report(runs, options.rounds), runs)
    return 0
