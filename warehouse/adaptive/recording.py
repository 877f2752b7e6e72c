"""Listens to what Spark does for one statement: its executions, and the stages and tasks that they took."""

from __future__ import annotations

import secrets
import time
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from warehouse.adaptive.hitters import heavy_hitters
from warehouse.adaptive.observed import Ran, Stage
from warehouse.adaptive.reading import is_aside, ran
from warehouse.adaptive.rules import SOURCES
from warehouse.execution.java_sources import load

NO_EXECUTION = -1
"""The number that stages have which Spark ran outside of any execution that it counts."""


_SUMS = (
    "rows_in", "bytes_in", "shuffle_rows_in", "shuffle_bytes_in", "shuffle_rows_out", "shuffle_bytes_out",
    "spilled_memory", "spilled_disk",
)  # fmt: skip
"""What the recorder adds up for a stage, in its order."""


class Recording:
    """A context manager: what this thread has Spark do within it is recorded.

    Attributes:
        seconds: how long it took, once it is over.
    """

    def __init__(self, spark: SparkSession):
        self._spark, self._context = spark, spark.sparkContext
        self._tag = f"recording-{secrets.token_hex(8)}"
        self._drained: Any = None
        self._around = NO_EXECUTION
        self.seconds = 0.0

    def __enter__(self) -> Recording:
        gateway = self._context._gateway
        recorder = load(gateway, SOURCES, "warehouse.adaptive.Recorder")
        given = gateway.new_array(gateway.jvm.java.lang.Object, 2)
        given[0], given[1] = self._context._jsc.sc(), self._tag
        self._recorder = recorder.getConstructors()[0].newInstance(given)
        self._context.addJobTag(self._tag)
        self._started = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._started
        self._context.removeJobTag(self._tag)
        self._recorder.close()

    def drain(self, frame: DataFrame) -> str:
        """Compute a frame's rows as ever, throw them away where they come out, and say how many they were.

        What a command returned when it ran, such as the number of rows it changed, is said instead.
        """
        execution = frame._jdf.queryExecution()
        if execution.executedPlan().getClass().getSimpleName() == "CommandResultExec":
            return ", ".join(f"{name}: {value}" for row in frame.take(1) for name, value in row.asDict().items())
        self._drained = execution
        self._around = int(self._context.getLocalProperty("spark.sql.execution.id") or NO_EXECUTION)
        return f"rows out: {int(execution.toRdd().count()):,}, thrown away"

    def runs(self) -> list[Ran]:
        """Return what ran, in the order in which it began; without what Delta does to keep its books."""
        limit = self._limit()
        found = [plan for _, plan in sorted(self._executions(), key=lambda one: one[0])]
        if self._drained is not None:
            found.append(self._drained.executedPlan())
        told = (ran(plan, limit, lambda stage, shuffle: heavy_hitters(self._spark, stage, shuffle)) for plan in found)
        return [one for one in told if one is not None]

    def stages(self) -> list[Stage]:
        """Return the stages that had tasks, Delta's own left out, in order."""
        ours = {number for number, _ in self._executions()}
        if self._drained is not None:
            ours.add(self._around)
        stages = []
        for line in self._recorder.stages().splitlines():
            number, execution, *measured = map(int, line.split())
            sums, times = measured[: len(_SUMS)], tuple(measured[len(_SUMS) :])
            if execution in ours:
                stages.append(Stage(number, times=times, **dict(zip(_SUMS, sums, strict=True))))
        return stages

    def _executions(self) -> list[tuple[int, Any]]:
        """Return number and physical plan of the executions that were not about Delta's log."""
        plans = [execution.executedPlan() for execution in self._recorder.executions()]
        return [(n, plan) for n, plan in zip(self._recorder.numbers(), plans, strict=True) if not is_aside(plan)]

    def _limit(self) -> int:
        """Return up to how many bytes adaptive execution broadcasts the side of a join."""
        conf = self._spark._jsparkSession.sessionState().conf()
        entry = self._spark._jvm.org.apache.spark.sql.internal.SQLConf.ADAPTIVE_AUTO_BROADCASTJOIN_THRESHOLD()
        given = conf.getConf(entry)
        return int(given.get() if given.isDefined() else conf.autoBroadcastJoinThreshold())
