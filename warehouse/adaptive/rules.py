"""What Spark's adaptive execution is given, in Java: a join's two sides in order or in place, no shuffle twice.

Sources: *An Architecture for Fast and General Data Processing on Large Clusters* (Zaharia), 3.4.4 and 3.5.3, "static +
adaptive"; Spark's ``AdaptiveSparkPlanExec``, which starts a shuffle when all stages below it have ended.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from warehouse.execution import java_sources
from warehouse.execution.java_sources import keep, load

SOURCES = Path(__file__).parent / "java"
_INJECTION = "warehouse.adaptive.Injection"
_IN_TASKS = "warehouse/adaptive/tasks"
"""The package whose classes run in tasks."""


def compiled(gateway: Any, ahead: Callable[[Any], None]) -> Future[Any]:
    """Return what gives sessions the rules, once they are compiled; that is done while Spark starts.

    Args:
        gateway: of the JVM.
        ahead: what is compiled after it, for later.
    """
    workers = ThreadPoolExecutor(1, thread_name_prefix="adaptive-rules")
    try:
        rules = workers.submit(lambda: load(gateway, SOURCES, _INJECTION).newInstance())
        workers.submit(ahead, gateway)
        workers.submit(keep, gateway, SOURCES)
        return rules
    finally:
        workers.shutdown(wait=False)


def give(gateway: Any, session: Any) -> None:
    """Give the rules to a Java session that has done nothing yet, and so to all that come from it."""
    load(gateway, SOURCES, _INJECTION).newInstance().into(session.extensions())


def ship(spark: SparkSession) -> bool:
    """Give tasks the classes that are for them; joins do without until then.

    Returns:
        whether they have them: in the first engine of all these are compiled a while after the first statement.
    """
    shipped = java_sources.ship(spark, SOURCES, _IN_TASKS)
    if shipped:
        load(spark.sparkContext._gateway, SOURCES, _INJECTION).newInstance().shipped()
    return shipped
