"""Where a query's time goes: its stages and the operators of its plan, with what Spark measured of each."""

from __future__ import annotations

from collections.abc import Callable
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


def _metrics(operator: status.Operator) -> str:
    # Spark renders a sum as two lines, "total (min, med, max …)" and the figures
    told = ((name, value.splitlines()[-1].partition(" (")[0]) for name, value in operator.metrics)
    return "; ".join(f"{name}: {value}" for name, value in told if value.strip("0. msB"))


def _collections(spark: Any) -> int:
    """Return the milliseconds that the JVM has collected garbage so far."""
    beans = spark._jvm.java.lang.management.ManagementFactory.getGarbageCollectorMXBeans()
    return sum(bean.getCollectionTime() for bean in beans)
