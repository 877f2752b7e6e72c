"""Rows under SQL texts, in one call to the JVM where PySpark's columns take ten for each of them.

A small step of a streaming table is fast enough for hundreds of calls to be a quarter of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from warehouse.execution import java_sources
from warehouse.execution.local_files import SOURCES

Watched = Callable[[Any, str], Any]
"""Makes rows, as Java knows them, that an observation, the first argument, watches for what the second one says."""

Figures = Callable[[DataFrame, Mapping[str, str]], dict[str, Any]]
"""Reads rows for figures of them, by SQL aggregates."""


class Measured:
    """Rows of which figures are taken while they pass by, in the one pass that uses them.

    Args:
        spark: the session of the rows.
        measures: SQL aggregates by the names of the figures.
        watched: makes the rows.
        read: reads them, should nothing have passed by.

    Attributes:
        frame: the rows; use these.
    """

    def __init__(self, spark: SparkSession, measures: Mapping[str, str], watched: Watched, read: Figures):
        self._measures, self._read, self._java = measures, read, _java_of(spark)
        self._watch = self._java.watch()
        self.frame = DataFrame(watched(self._watch, named(measures, SEPARATOR)), spark)

    def figures(self) -> dict[str, Any]:
        """Return the figures by name, once ``frame`` was used in an action that succeeded.

        Where the optimizer saw that the action needs none of the rows (after a drain all of them may be late), it
        left the measuring out as well. Then the rows are read for it.
        """
        told = self._java.told(self._watch)
        return self._read(self.frame, self._measures) if told is None else parsed(told)


def measured(rows: DataFrame, measures: Mapping[str, str]) -> Measured:
    """Return rows with figures, SQL aggregates by name, that are taken as they pass by."""
    java = _java(rows)
    return Measured(rows.sparkSession, measures, lambda watch, texts: java.observed(rows._jdf, watch, texts), figures)


def figures(rows: DataFrame, measures: Mapping[str, str]) -> dict[str, Any]:
    """Return figures of rows, by SQL aggregates: numbers, arrays of numbers or None, by name."""
    return parsed(_java(rows).figures(rows._jdf, named(measures, SEPARATOR)))


def parsed(told: str) -> dict[str, Any]:
    """Return the figures that are told as a JSON object."""
    found: dict[str, Any] = json.loads(told)
    return found


def selected(rows: DataFrame, *texts: str) -> DataFrame:
    """Return the columns that SQL expressions compute of ``rows``, as ``selectExpr`` does."""
    return DataFrame(_java(rows).selected(rows._jdf, SEPARATOR.join(texts)), rows.sparkSession)


def alike(rows: DataFrame, wanted: DataFrame, number: str) -> DataFrame:
    """Return the rows of which a number is what it is of one of the few ``wanted`` rows, which are read at once.

    Args:
        rows: many.
        wanted: few.
        number: SQL for a BIGINT that is never NULL, such as a hash, of either.
    """
    return DataFrame(_java(rows).alike(rows._jdf, wanted._jdf, number), rows.sparkSession)


def ship(spark: SparkSession) -> bool:
    """Give tasks the classes that are for them; ``alike`` does without until then.

    Returns:
        whether they have them: in the first engine of all these are compiled a while after the first statement.
    """
    shipped = java_sources.ship(spark, SOURCES, _IN_TASKS)
    if shipped:
        _java_of(spark).shipped()
    return shipped


class Folders:
    """Folders of Parquet files with the same columns, which are looked up in the files just once."""

    def __init__(self) -> None:
        self._schema: Any = None

    def read(self, spark: SparkSession, *paths: str) -> DataFrame:
        """Return the rows of some of the folders."""
        rows = _java_of(spark).parquet(spark._jsparkSession, SEPARATOR.join(paths), self._schema)
        self._schema = self._schema or rows.schema()
        return DataFrame(rows, spark)


def united(spark: SparkSession, frames: Sequence[DataFrame]) -> DataFrame:
    """Return the rows of frames with the same columns as a frame of ``spark``, which need not be their session."""
    return DataFrame(_java_of(spark).united(spark._jsparkSession, [frame._jdf for frame in frames]), spark)


def held(rows: DataFrame, most: int) -> DataFrame | None:
    """Return what rows come to now, kept in this process: what reads them starts no task for it.

    Returns:
        None where they are more than so many.
    """
    found = _java(rows).held(rows._jdf, most)
    return None if found is None else DataFrame(found, rows.sparkSession)


def write(rows: DataFrame, folder: str) -> None:
    """Write rows that are ``held`` to a folder of Parquet files, in the place of what was there."""
    _java(rows).write(rows._jdf, folder)


def append(rows: DataFrame, folder: Path) -> None:
    """Append rows to the Delta table in a folder, all or none, each task one file at most."""
    _java(rows).append(rows._jdf, str(folder))


SEPARATOR = "\0"


def named(measures: Mapping[str, str], separator: str) -> str:
    """Return SQL aggregates with their names."""
    return separator.join(f"{sql} AS {name}" for name, sql in measures.items())


_LOADED = "_warehouse_frames"
_IN_TASKS = "warehouse/execution/tasks"
"""The package whose classes run in tasks."""


def _java(rows: DataFrame) -> Any:
    return _java_of(rows.sparkSession)


def _java_of(spark: SparkSession) -> Any:
    """Return the one object of the JVM that does it all."""
    gateway: Any = spark.sparkContext._gateway
    if _LOADED not in gateway.__dict__:  # not hasattr: Py4J has an answer for every name
        gateway.__dict__[_LOADED] = java_sources.load(gateway, SOURCES, "warehouse.execution.Frames").newInstance()
    return gateway.__dict__[_LOADED]
