"""A plan of Spark's that has run, read out of the JVM into values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from warehouse.adaptive.observed import HeavyHitter, Join, Operator, Ran, Read, Shuffle
from warehouse.adaptive.quantities import duration, size

_TRANSPARENT = frozenset([
    "AdaptiveSparkPlanExec", "BroadcastQueryStageExec", "ColumnarToRowExec", "InputAdapter", "LikelySmall",
    "ResultQueryStageExec", "RunFirst", "ShuffleQueryStageExec", "TableCacheQueryStageExec", "WholeStageCodegenExec",
])  # fmt: skip
"""Nodes that pass rows on and mean nothing to a reader."""

_JOINS = {
    "SortMergeJoinExec": "SortMergeJoin", "ShuffledHashJoinExec": "ShuffledHashJoin",
    "FusedHashJoin": "ShuffledHashJoin", "BroadcastHashJoinExec": "BroadcastHashJoin",
}  # fmt: skip
"""The algorithms of joins, by their Java classes."""

_ROWS = ("numOutputRows", "shuffleRecordsWritten")
_SHOWN = ("numFiles", "filesSize", "dataSize", "shuffleBytesWritten", "spillSize")
_UNSHOWN_TIMES = ("metadataTime", "localMergedBlocksFetchTime", "remoteReqsDuration", "remoteMergedReqsDuration")
_EXPRESSION_ID = re.compile(r"#\d+L?")
_NOISE = re.compile(r",? ?(ENSURE_REQUIREMENTS|REPARTITION_BY_\w+|\[plan_id=\d+\]|\[id=\])|, false, (false|0)$")
_LONGEST_DETAIL = 160
_ASIDE = re.compile(r"_delta_log|Delta Table State|commitInfo#|deletionVector#|CommandResult")


def is_aside(plan: Any) -> bool:
    """Say whether a plan only reads what Delta notes about a table, or hands on what a command returned."""
    return _ASIDE.search(plan.toString()) is not None


def ran(plan: Any, limit: int, hitters: Callable[[Any, Shuffle], tuple[HeavyHitter, ...]]) -> Ran | None:
    """Return what became of a physical plan of Spark's; None when there is nothing but a command around others.

    Args:
        plan: Java's ``SparkPlan``.
        limit: the bytes up to which a join's side is broadcast.
        hitters: gives the heavy hitters of a shuffle, from its Java stage and what is known of it.
    """
    adaptive = _kind(plan) == "AdaptiveSparkPlanExec"
    final = plan.executedPlan() if adaptive else plan
    if not adaptive and not list(_children(final)) and not _metrics(final):
        return None
    stages = {int(s.mapStats().get().shuffleId()): s for s in sorted(_shuffle_stages(final), key=lambda s: -s.id())}
    numbers = {shuffle: number for number, shuffle in enumerate(sorted(stages, key=lambda s: stages[s].id()), 1)}
    return Ran(
        _operator(final, numbers),
        tuple(_joins(plan.initialPlan())) if adaptive else (),
        tuple(_joins(final)),
        tuple(_shuffle(stages[shuffle], number, hitters) for shuffle, number in numbers.items()),
        tuple(_reads(final, numbers)),
        limit,
        adaptive,
    )


# ------------------------------------------------------------------ Java's nodes


def _kind(node: Any) -> str:
    return node.getClass().getSimpleName()


def _each(values: Any) -> Iterator[Any]:
    iterator = values.iterator()
    while iterator.hasNext():
        yield iterator.next()


def _children(node: Any) -> Iterator[Any]:
    """Yield what stands below a node, the plans inside stages, caches left out, and those of subqueries."""
    match _kind(node):
        case "AdaptiveSparkPlanExec":
            yield node.executedPlan()
        case "ShuffleQueryStageExec" | "BroadcastQueryStageExec" | "ResultQueryStageExec" | "TableCacheQueryStageExec":
            yield node.plan()
        case "OtherSide":
            pass
        case _:
            yield from _each(node.children())
            yield from _each(node.subqueries())


def _below(node: Any) -> Iterator[Any]:
    yield node
    for child in _children(node):
        yield from _below(child)


def _metrics(node: Any) -> dict[str, tuple[str, str, int]]:
    """Return the metrics of a node that were taken: name to what Spark calls it, its type and its value."""
    found = {}
    for entry in _each(node.metrics()):
        metric = entry._2()
        value = int(metric.value())
        if value > 0 or (entry._1() in _ROWS and value == 0):
            label = metric.name().get() if metric.name().isDefined() else entry._1()
            found[entry._1()] = (label, metric.metricType(), value)
    return found


def _plain(text: str) -> str:
    return _EXPRESSION_ID.sub("", text)


# ------------------------------------------------------------------ operators


def _operator(node: Any, numbers: dict[int, int], shuffle: int | None = None) -> Operator:
    kind = _kind(node)
    if kind in _TRANSPARENT:
        inner = _operator(next(_children(node)), numbers, _number(node, numbers) or shuffle)
        took = _metrics(node).get("pipelineTime")
        if took is None:
            return inner
        return replace(inner, measures=(*inner.measures, ("time of its tasks", duration(took[2]))))
    metrics = _metrics(node)
    rows = next((metrics[name][2] for name in _ROWS if name in metrics), None)
    name = node.nodeName().strip()
    if kind == "ReusedExchangeExec":
        name = "The rows once more of"
    if shuffle:
        name = name.replace("Exchange", "").strip() + f" Shuffle {shuffle}"
    return Operator(
        name.strip(), _detail(node, kind, numbers), rows, tuple(_measures(metrics)),
        tuple(_operator(child, numbers) for child in _children(node)),
    )  # fmt: skip


def _number(node: Any, numbers: dict[int, int]) -> int | None:
    """Return the number of the shuffle whose stage a node is."""
    if _kind(node) != "ShuffleQueryStageExec" or not node.mapStats().isDefined():
        return None
    return numbers.get(int(node.mapStats().get().shuffleId()))


def _detail(node: Any, kind: str, numbers: dict[int, int]) -> str:
    match kind:
        case "BroadcastExchangeExec" | "ReusedExchangeExec":
            return ""
        case "AQEShuffleReadExec":
            read = _read(node, numbers)
            return read.text if read else ""
        case "FileSourceScanExec" | "PartitionedScan" | "MemoryScan":
            told = _plain(node.simpleString(1000))
            pushed = re.search(r"PushedFilters: \[(.+?)\], ReadSchema", told)
            pruned = re.search(r"partitions read: \d+ of \d+", told)
            columns = ", ".join(_plain(column.toString()) for column in _each(node.output()))
            found = [f"[{columns}]", f"pushed: {pushed[1]}" if pushed else "", pruned[0] if pruned else ""]
            return " ".join(filter(None, found))
    told = _plain(node.simpleString(25))
    detail = re.sub(r"^\*?(\(\d+\) )?" + re.escape(node.nodeName().strip()), "", told).strip()
    detail = _NOISE.sub("", detail).strip()
    return detail if len(detail) <= _LONGEST_DETAIL else detail[: _LONGEST_DETAIL - 1] + "…"


def _measures(metrics: dict[str, tuple[str, str, int]]) -> Iterator[tuple[str, str]]:
    for name, (label, kind, value) in metrics.items():
        if name == "numFiles":
            yield "files", f"{value:,}"
        elif kind == "size" and name in _SHOWN:
            yield label, size(value)
        elif kind in ("timing", "nsTiming") and name not in _UNSHOWN_TIMES and name != "pipelineTime":
            milliseconds = value / 1e6 if kind == "nsTiming" else value
            if milliseconds >= 1:
                yield label, duration(milliseconds)


# ------------------------------------------------------------------ joins


def _joins(root: Any) -> Iterator[Join]:
    for node in _below(root):
        kind = _kind(node)
        if kind not in _JOINS:
            continue
        keys = list(zip(_each(node.leftKeys()), _each(node.rightKeys()), strict=True))
        type_ = _type(node.joinType())
        stages = [_shuffle_below(side) for side in (node.left(), node.right())]
        first = [side is not None and _kind(side.shuffle().child()) == "LikelySmall" for side in stages]
        yield Join(
            f"{type_} {[(a.toString(), b.toString()) for a, b in keys]}",
            f"{type_} join on {' and '.join(f'{_named(a)} = {_named(b)}' for a, b in keys)}",
            _JOINS[kind],
            (_size(stages[0]), _size(stages[1])),
            first.index(True) if True in first else None,
            None if kind == "SortMergeJoinExec" else int(node.buildSide().toString() == "BuildRight"),
        )


def _type(of_join: Any) -> str:
    """Return a join's type as SQL has it, which has no name for that which EXISTS in an OR comes to."""
    return "existence" if _kind(of_join) == "ExistenceJoin" else of_join.sql().lower()


def _named(key: Any) -> str:
    return re.sub(r"\b(spark_catalog\.)?(default\.)?", "", key.sql().replace("`", ""))


def _shuffle_below(side: Any) -> Any:
    """Return the stage by which one side of a join was shuffled, whatever works on its rows after that; or None."""
    node = side
    while True:
        if _kind(node) == "ShuffleQueryStageExec":
            return node
        below = list(_children(node))
        if len(below) != 1:
            return None
        node = below[0]


def _size(stage: Any) -> int | None:
    return None if stage is None else int(stage.getRuntimeStatistics().sizeInBytes())


# ------------------------------------------------------------------ shuffles


def _shuffle_stages(root: Any) -> Iterator[Any]:
    """Yield the stages of a plan that are shuffles; one whose rows are used again is there several times."""
    for node in _below(root):
        if _kind(node) == "ShuffleQueryStageExec" and node.mapStats().isDefined():
            yield node


def _shuffle(stage: Any, number: int, hitters: Callable[[Any, Shuffle], tuple[HeavyHitter, ...]]) -> Shuffle:
    exchange = stage.shuffle()
    metrics = _metrics(exchange)
    partitioning = exchange.outputPartitioning()
    by = ""
    if _kind(partitioning) == "HashPartitioning":
        by = ", ".join(_plain(key.toString()) for key in _each(partitioning.expressions()))
    elif _kind(partitioning) == "RangePartitioning":
        by = "ranges of " + ", ".join(_plain(key.toString()) for key in _each(partitioning.ordering()))
    elif _kind(partitioning) == "RoundRobinPartitioning":
        by = "turns"
    told = Shuffle(
        number, by, metrics.get("shuffleRecordsWritten", ("", "", 0))[2], _size(stage) or 0,
        tuple(int(size) for size in stage.mapStats().get().bytesByPartitionId()),
    )  # fmt: skip
    return replace(told, heavy=hitters(stage, told))


def _reads(root: Any, numbers: dict[int, int]) -> Iterator[Read]:
    for node in _below(root):
        if _kind(node) == "AQEShuffleReadExec":
            read = _read(node, numbers)
            if read is not None:
                yield read


def _read(node: Any, numbers: dict[int, int]) -> Read | None:
    """Return how a shuffle was read, or None where nothing had been shuffled."""
    stage = next((n for n in _below(node.child()) if _kind(n) == "ShuffleQueryStageExec"), None)
    number = _number(stage, numbers) if stage is not None else None
    if stage is None or number is None:
        return None
    specs = list(_each(node.partitionSpecs()))
    parts = [spec.reducerIndex() for spec in specs if _kind(spec) == "PartialReducerPartitionSpec"]
    whole = [spec for spec in specs if _kind(spec) == "CoalescedPartitionSpec"]
    coalesced = [spec for spec in whole if spec.endReducerIndex() - spec.startReducerIndex() > 1]
    return Read(
        number, len(stage.mapStats().get().bytesByPartitionId()), len(specs), bool(node.isLocalRead()),
        (len(set(parts)), len(parts)) if parts else None, len(coalesced),
    )  # fmt: skip
