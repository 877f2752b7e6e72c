"""Where the time of a query, or of a stream's steps, goes: stages and operators, with what Spark measured of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from benchmarks import protocol, report, status
from benchmarks.systems import process_of


def profile(spark: Any, act: Callable[[], object], warm: int = 3) -> str:
    """Return tables of what ran, after some runs that are not looked at.

    The operators of a codegen stage have no times of their own; the stage has, and scans, sorts, exchanges and
    broadcasts have theirs. Times of operators are sums over their tasks.
    """
    for _ in range(warm):
        act()
    process = process_of(spark)
    collected = _collections(spark)
    with status.watched(spark) as seen:
        run = protocol.timed(act, "profile", "", 0, process)
    pauses = (_collections(spark) - collected) / 1000
    total = sum(sum(s.tasks) for s in seen.stages)
    stages = report.table(
        ["stage", "tasks", "seconds of all tasks", "longest", "MB read", "rows read", "MB shuffled"],
        [
            [s.number, len(s.tasks), f"{sum(s.tasks):.2f}", f"{max(s.tasks, default=0):.2f}", f"{s.read / 1e6:.1f}",
             f"{s.rows_read:,}", f"{s.shuffled / 1e6:.1f}"]
            for s in seen.stages
        ],
    )  # fmt: skip
    told = [o for o in seen.operators if o.metrics]
    operators = report.table(["operator", "what Spark measured"], [[o.name, _metrics(o)] for o in told])
    return "\n\n".join((
        f"{run.seconds:.2f} s by the clock, {run.cpu:.2f} s of busy cores, {total:.2f} s in tasks,"
        f" {pauses:.2f} s collecting garbage; {seen.shuffled / 1e6:.1f} MB shuffled by {seen.tasks} tasks",
        stages, operators, *seen.plans[-1:],
    ))  # fmt: skip


def of_steps(spark: Any, act: Callable[[], int]) -> str:
    """Return a table of what an act of many steps, which it returns the number of, came to in each of them.

    Stages that are made of the same operators are a line. "No task" is the time in which none of Spark's tasks ran:
    planning, compiling, commits, and starting jobs. Stages overlap, so that a step may take less than they do.
    """
    process = process_of(spark)
    counts: list[int] = []
    with status.watched(spark) as seen:
        run = protocol.timed(lambda: counts.append(act()), "profile", "", 0, process)
    steps = counts[0]
    parts: dict[str, list[status.Stage]] = {}
    for stage in seen.stages:
        parts.setdefault(_made_of(stage), []).append(stage)

    def line(name: str, stages: Iterable[status.Stage]) -> list[str]:
        its = list(stages)
        figures = [sum(sum(s.tasks) for s in its), sum(s.cpu for s in its), covered(s.ran for s in its)]
        counted = [sum(s.rows_read for s in its), sum(s.rows_shuffled for s in its)]
        return [
            name, f"{len(its) / steps:.1f}", f"{sum(len(s.tasks) for s in its) / steps:.1f}",
            *(f"{f / steps:.2f}" for f in figures), *(f"{c / steps:,.0f}" for c in counted),
            f"{sum(s.shuffled for s in its) / steps / 1e6:.1f}",
        ]  # fmt: skip

    dearest = sorted(parts.items(), key=lambda part: -sum(s.cpu for s in part[1]))
    large = [(name, its) for name, its in dearest if sum(s.cpu for s in its) / steps >= SMALL]
    small = [s for name, its in dearest[len(large) :] for s in its]
    lines = [line(name, its) for name, its in large]
    lines += [line("all smaller ones", small)] if small else []
    idle = run.seconds - covered(s.ran for s in seen.stages)
    lines += [
        line("**all stages**", seen.stages),
        ["no task", "", "", "", "", f"{idle / steps:.2f}", *[""] * 3],
        ["**a step**", "", "", "", f"{run.cpu / steps:.2f}", f"{run.seconds / steps:.2f}", *[""] * 3],
    ]
    header = ["stages of", "stages", "tasks", "task s", "CPU s", "clock s", "rows read", "shuffled", "MB shuffled"]
    return report.table(header, lines)


def of_queries(spark: Any, acts: Mapping[str, Callable[[], object]], warm: int = 3) -> str:
    """Return a table of what queries came to, one a line, each after some runs that are not looked at.

    "No task" is the time in which none of Spark's tasks ran: what a query costs at any size, such as planning and
    starting jobs. The dearest stage is told by what it does, with its share of all seconds of cores that tasks used.
    """
    lines = []
    for name, act in acts.items():
        for _ in range(warm):
            act()
        with status.watched(spark) as seen:
            run = protocol.timed(act, "profile", "", 0, process_of(spark))
        ran = covered(s.ran for s in seen.stages)
        used = sum(s.cpu for s in seen.stages)
        dearest = max(seen.stages, key=lambda s: s.cpu, default=None)
        share = f"{dearest.cpu / used:.0%} {_does(dearest)}" if dearest and used else ""
        lines.append([
            name, f"{run.seconds:.2f}", f"{run.seconds - ran:.2f}", len(seen.stages), seen.tasks, f"{used:.2f}",
            f"{seen.shuffled / 1e6:.1f}", share,
        ])  # fmt: skip
    header = ["query", "clock s", "no task s", "stages", "tasks", "CPU s of tasks", "MB shuffled"]
    return report.table([*header, "the dearest stage"], lines)


SMALL = 0.03
"""CPU seconds a step below which stages are told together."""


def _does(stage: status.Stage) -> str:
    """Return what a stage scans and does, without how tables in memory were read when they were put there."""
    made = _made_of(stage).replace("spark_catalog.", "").split(" → ")
    from_memory = any(o.startswith("Scan In-memory") for o in made)
    hidden = ("mapPartitionsInternal", *(("Scan parquet",) if from_memory else ()))
    return ", ".join(o for o in made if not o.startswith(hidden))


def _made_of(stage: status.Stage) -> str:
    """Return the operators of a stage, without those that tell nothing and those said just before."""
    telling = [o for o in stage.operators if not o.startswith(("WholeStageCodegen", "CollectMetrics"))]
    once = [o for before, o in zip(("", *telling), telling, strict=False) if o != before]
    return " → ".join(once) or stage.name.partition(" at ")[0]


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """Return how long at least one of the spans lasted."""
    total, reached = 0.0, -math.inf
    for begin, end in sorted(spans):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def _metrics(operator: status.Operator) -> str:
    # Spark renders a sum as two lines, "total (min, med, max …)" and the figures
    told = ((name, value.splitlines()[-1].partition(" (")[0]) for name, value in operator.metrics)
    return "; ".join(f"{name}: {value}" for name, value in told if value.strip("0. msB"))


def _collections(spark: Any) -> int:
    """Return the milliseconds that the JVM has collected garbage so far."""
    beans = spark._jvm.java.lang.management.ManagementFactory.getGarbageCollectorMXBeans()
    return sum(bean.getCollectionTime() for bean in beans)
