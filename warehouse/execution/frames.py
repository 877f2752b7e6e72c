"""Rows under SQL texts, in one call to the JVM where PySpark's columns take ten for each of them.

A small step of a streaming table is fast enough for hundreds of calls to be a quarter of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from warehouse.execution import java_sources
from warehouse.execution.local_files import SOURCES


class Measured:
    """Rows of which figures are taken while they pass by, in the one pass that uses them.

    Args:
        rows: a frame.
        measures: SQL aggregates by the names of the figures.

    Attributes:
        frame: the rows; use these.
    """

    def __init__(self, rows: DataFrame, measures: Mapping[str, str]):
        self._rows, self._measures, self._java = rows, measures, _java(rows)
        self._watch = self._java.watch()
        self.frame = DataFrame(self._java.observed(rows._jdf, self._watch, _named(measures)), rows.sparkSession)

    def figures(self) -> dict[str, Any]:
        """Return the figures by name, once ``frame`` was used in an action that succeeded.

        Where the optimizer saw that the action needs none of the rows (after a drain all of them may be late), it
        left the measuring out as well. Then the rows are read for it.
        """
        told = self._java.told(self._watch)
        return figures(self._rows, self._measures) if told is None else json.loads(told)


def figures(rows: DataFrame, measures: Mapping[str, str]) -> dict[str, Any]:
    """Return figures of rows, by SQL aggregates: numbers, arrays of numbers or None, by name."""
    found: dict[str, Any] = json.loads(_java(rows).figures(rows._jdf, _named(measures)))
    return found


def selected(rows: DataFrame, *texts: str) -> DataFrame:
    """Return the columns that SQL expressions compute of ``rows``, as ``selectExpr`` does."""
    return DataFrame(_java(rows).selected(rows._jdf, _SEPARATOR.join(texts)), rows.sparkSession)


def united(spark: SparkSession, frames: Sequence[DataFrame]) -> DataFrame:
    """Return the rows of frames with the same columns as a frame of ``spark``, which need not be their session."""
    return DataFrame(_java_of(spark).united(spark._jsparkSession, [frame._jdf for frame in frames]), spark)


_SEPARATOR = "\0"


def _named(measures: Mapping[str, str]) -> str:
    return _SEPARATOR.join(f"{sql} AS {name}" for name, sql in measures.items())


_LOADED = "_warehouse_frames"


def _java(rows: DataFrame) -> Any:
    return _java_of(rows.sparkSession)


def _java_of(spark: SparkSession) -> Any:
    """Return the one object of the JVM that does it all."""
    gateway: Any = spark.sparkContext._gateway
    if _LOADED not in gateway.__dict__:  # not hasattr: Py4J has an answer for every name
        gateway.__dict__[_LOADED] = java_sources.load(gateway, SOURCES, "warehouse.execution.Frames").newInstance()
    return gateway.__dict__[_LOADED]
