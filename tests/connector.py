"""Spark's own connector of Kafka, for engines of tests: fetched once, as ``spark.jars.packages`` has it fetched."""

from __future__ import annotations

from functools import cache

import pyspark

from warehouse.errors import WarehouseError
from warehouse.execution import jars

PACKAGE = jars.Package("org.apache.spark", "spark-sql-kafka-0-10_2.13", pyspark.__version__)


@cache
def settings() -> dict[str, str]:
    """Return settings by which an engine has the connector; none where it cannot be fetched."""
    try:
        jars.ensure((PACKAGE,))
    except WarehouseError:
        return {}
    return {"spark.jars.packages": str(PACKAGE)}


def readers() -> tuple[str, ...]:
    """Return the readers of Kafka that there are."""
    return ("python", "spark") if settings() else ("python",)
