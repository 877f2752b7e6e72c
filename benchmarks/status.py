"""What Spark's status store knows of work that has been done: bytes, tasks, and the operators of a plan.

The store is fed by an asynchronous listener; ``watched`` waits until it has heard all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Stage:
    """A stage that ran.

    Attributes:
        name: what started it. tasks: the seconds each task ran. cpu: seconds of a core that they used.
        read: bytes from tables or the cache. shuffled: bytes written for a shuffle. rows_shuffled: rows of these.
        ran: when it began and ended, in seconds.
        operators: those of its plan that Spark names apart, from the leaves up.
    """

    number: int
    name: str
    tasks: tuple[float, ...]
    read: int
    rows_read: int
    shuffled: int
    rows_shuffled: int
    cpu: float
    ran: tuple[float, float]
    operators: tuple[str, ...]


@dataclass(frozen=True)
class Operator:
    """An operator of a plan as it ended, with its metrics by name, in Spark's own rendering."""

    name: str
    description: str
    metrics: tuple[tuple[str, str], ...]


@dataclass
class Watched:
    """What ran while it was watched; filled in at the end."""

    stages: tuple[Stage, ...] = ()
    operators: tuple[Operator, ...] = ()
    plans: list[str] = field(default_factory=list)

    @property
    def shuffled(self) -> int:
        """Return the bytes that all stages wrote for shuffles."""
        return sum(s.shuffled for s in self.stages)

    @property
    def reading(self) -> list[Stage]:
        """Return the stages that read from tables or the cache."""
        return [s for s in self.stages if s.read]

    @property
    def tasks(self) -> int:
        """Return how many tasks ran."""
        return sum(len(s.tasks) for s in self.stages)


@contextmanager
def watched(spark: Any) -> Iterator[Watched]:
    """Take note of what Spark runs meanwhile."""
    store = spark.sparkContext._jsc.sc().statusStore()
    sql = spark._jsparkSession.sharedState().statusStore()
    _wait(spark)
    stage = max((s.stageId() for s in _stages(spark, store)), default=-1)
    execution = max((e.executionId() for e in _items(sql.executionsList())), default=-1)
    seen = Watched()
    yield seen
    _wait(spark)
    ran = sorted((s for s in _stages(spark, store) if s.stageId() > stage), key=lambda s: s.stageId())
    seen.stages = tuple(_stage(store, s) for s in ran if s.status().toString() == "COMPLETE")
    for each in sorted(_items(sql.executionsList()), key=lambda e: e.executionId()):
        if each.executionId() > execution:
            seen.plans.append(each.physicalPlanDescription())
            seen.operators += _operators(sql, each.executionId())


def _stage(store: Any, stage: Any) -> Stage:
    tasks = _items(store.taskList(stage.stageId(), stage.attemptId(), 100_000))
    seconds = tuple(t.taskMetrics().get().executorRunTime() / 1000 for t in tasks if t.taskMetrics().isDefined())
    return Stage(
        stage.stageId(), stage.name(), seconds, stage.inputBytes(), stage.inputRecords(),
        stage.shuffleWriteBytes(), stage.shuffleWriteRecords(), stage.executorCpuTime() / 1e9,
        tuple(moment.get().getTime() / 1000 for moment in (stage.submissionTime(),
        stage.completionTime())), _scopes(store.operationGraphForStage(stage.stageId()).rootCluster()),
    )  # fmt: skip


def _scopes(cluster: Any) -> tuple[str, ...]:
    """Return the names of the clusters in one, those around others before them."""
    inner = _items(cluster.childClusters())
    return tuple(name.strip() for each in inner for name in (each.name(), *_scopes(each)))


def _operators(sql: Any, execution: int) -> tuple[Operator, ...]:
    values = sql.executionMetrics(execution)
    out = []
    for node in _items(sql.planGraph(execution).allNodes()):
        told = ((m.name(), values.get(m.accumulatorId())) for m in _items(node.metrics()))
        out.append(Operator(node.name(), node.desc(), tuple((n, v.get()) for n, v in told if v.isDefined())))
    return tuple(out)


def _stages(spark: Any, store: Any) -> list[Any]:
    """Return all stages that the store still has; its arguments have defaults in Scala alone."""
    defaults = [getattr(store, f"stageList$default${number}")() for number in range(2, 6)]
    return _items(store.stageList(spark._jvm.java.util.ArrayList(), *defaults))


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(n) for n in range(sequence.size())]


def _wait(spark: Any) -> None:
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(120_000)
