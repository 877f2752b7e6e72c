"""Tables that the catalog has told of once: no questions to its database for each table of each statement."""

from __future__ import annotations

from pyspark.sql import SparkSession

from warehouse.catalog.entries import HIDDEN_SCHEMA
from warehouse.execution import java_sources
from warehouse.execution.local_files import SOURCES


def install(spark: SparkSession) -> None:
    """Let a session and all that come from it remember tables until something changes; before it has done anything.

    Lists of schemas leave out the hidden one, whoever asks.
    """
    java = java_sources.load(spark.sparkContext._gateway, SOURCES, "warehouse.execution.KnownTables").newInstance()
    java.install(spark._jsparkSession, HIDDEN_SCHEMA)
