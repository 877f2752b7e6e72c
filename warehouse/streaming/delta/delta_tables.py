"""Delta tables that steps append to: made, known by their path, given columns and wider types.

Sources: https://docs.delta.io/latest/table-properties.html, https://docs.delta.io/latest/delta-type-widening.html.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from pyspark.sql import SparkSession

from warehouse.catalog.entries import Column, needs_mapping, quote_name
from warehouse.language.literals import string_literal

RETAINED = 1.0
"""Hours for which commits stay, and files that a compaction replaced, for whoever reads an older version."""

UNBOUNDED = {"maxFilesPerTrigger": str(2**31 - 9)}
"""Options with which Delta's streaming source takes all that is there: by default it takes 1,000 files at a time.

Source: https://docs.delta.io/latest/delta-streaming.html#limit-input-rate, ``DeltaSource.AdmissionLimits``.
"""


def relation(folder: Path) -> str:
    """Return a Delta table as a relation of SQL text."""
    return "delta.`" + str(folder).replace("`", "``") + "`"


def create(
    spark: SparkSession, folder: Path, schema: str, names: tuple[str, ...], times: tuple[str, ...] = (),
    step: str = "_step",
) -> None:  # fmt: skip
    """Create an empty Delta table whose files are told apart by their steps and times.

    Delta's statistics cost a step something for every value, and those of other columns would tell no files apart.

    Args:
        spark: the session.
        folder: where.
        schema: DDL of its columns.
        names: the user's column names; one that Parquet refuses turns column mapping on.
        times: those of points in time.
        step: the column that numbers steps.
    """
    known = ",".join([step, *map(quote_name, times)])
    properties = {"delta.dataSkippingStatsColumns": known, **kept_up()}
    if any(map(needs_mapping, names)):
        properties["delta.columnMapping.mode"] = "name"
    listed = ", ".join(f"'{key}' = {string_literal(value)}" for key, value in properties.items())
    clear(folder)
    spark.sql(f"CREATE TABLE {relation(folder)} ({schema}) USING delta TBLPROPERTIES ({listed})")


def kept_up() -> dict[str, str]:
    """Return the properties of a Delta table that ``upkeep`` tends.

    Files that were replaced may go soon, and commits write no checkpoint, for which a step would have to wait: upkeep
    writes one sooner.
    """
    retained = f"interval {round(RETAINED * 3600)} seconds"
    return {"delta.deletedFileRetentionDuration": retained, "delta.checkpointInterval": "1000"}


def exists(folder: Path) -> bool:
    """Say whether there is a Delta table."""
    return (folder / "_delta_log").is_dir() and any((folder / "_delta_log").glob("*.json"))


def clear(folder: Path) -> None:
    """Remove what an attempt to create a Delta table left, killed or out of disk before its first commit.

    Delta takes the place for taken. A table that is there stays.
    """
    if not exists(folder):
        shutil.rmtree(folder, ignore_errors=True)


def let_types_widen(spark: SparkSession, folder: Path) -> None:
    """Let the columns of a Delta table get wider types; only where needed: not all tools read it then."""
    spark.sql(f"ALTER TABLE {relation(folder)} SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')")


def widen(spark: SparkSession, folder: Path, columns: tuple[Column, ...]) -> None:
    """Give a Delta table the columns, or fields of them, that it does not have yet.

    They hold NULL in the rows that are there, and for whoever does not know of them.
    """
    if columns:
        there = spark.read.format("delta").load(str(folder)).where("false")
        names = {c.name.lower() for c in columns}
        # beside the others: of columns of type VOID alone there is no file
        others = (quote_name(name) for name in there.columns if name.lower() not in names)
        added = (f"CAST(NULL AS {c.type}) AS {quote_name(c.name)}" for c in columns)
        frame = there.selectExpr(*others, *added)
        frame.write.format("delta").mode("append").option("mergeSchema", "true").save(str(folder))
