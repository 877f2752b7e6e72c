"""Rows set aside: one Delta table per stream that had any, at ``<folder>/streams/<schema>.<name>/bad_rows``.

Each step of a streaming table appends its bad rows under its own transaction, so that a step that is run
again writes nothing twice. Two streaming tables over one stream both meet its broken records; the relation
shows each of them once, with the first reader that met it. Rows that a query could not use (its timestamp is
NULL, say) are shown per streaming table.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path

from delta.tables import DeltaTable
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from warehouse.catalog.entries import Column, StreamingTableEntry, quote_name
from warehouse.catalog.store import file_stem
from warehouse.language.fragments import of
from warehouse.planning.context import Analyzer
from warehouse.planning.streams.streams import empty_relation
from warehouse.streaming.delta import delta_tables, upkeep
from warehouse.streaming.layout import BAD, POSITION, WHY, free_name, quoted, schema_of

NOT_PARSED = "NOT_PARSED"
TIME_IS_NULL = "TIME_IS_NULL"
TIME_OUT_OF_RANGE = "TIME_OUT_OF_RANGE"
GAP_NOT_POSITIVE = "GAP_NOT_POSITIVE"
NO_WINDOW = "NO_WINDOW"

_READER = "__w_reader"
_ANY_NAME = ("delta.columnMapping.mode", "name")
"""What lets a Delta table have names that its Parquet files could not; only where needed: not all tools read it."""

ADDED = (
    Column("_record", "string"),
    Column("_why", "string"),
    Column("_at", "timestamp"),
    Column("_position", "string"),
    Column("_table", "string"),
)
"""What ``bad_rows('s')`` has besides the columns of the source, where these have other names."""
_OF_READER = Column(_READER, "string")


def table_path(folder: Path, schema: str, name: str) -> Path:
    """Return where the bad rows of a stream (or of a table read as one) are kept."""
    return folder / "streams" / file_stem(schema, name) / "bad_rows"


def widen(spark: SparkSession, folder: Path, schema: str, name: str, columns: Sequence[Column]) -> None:
    """Add the columns that the table, if there is one, does not have yet; nothing is lost."""
    if not exists(folder, schema, name):
        return
    path, wanted = str(table_path(folder, schema, name)), schema_of(_stored(columns))
    known = {field.name.lower() for field in spark.read.format("delta").load(path).schema.fields}
    if not {field.name.lower() for field in wanted.fields} <= known:
        if _odd(columns):
            key, value = _ANY_NAME
            spark.sql(f"ALTER TABLE delta.{quoted(path)} SET TBLPROPERTIES ('{key}' = '{value}')")
        spark.createDataFrame([], wanted).write.format("delta").mode("append").option("mergeSchema", "true").save(path)


def _create(spark: SparkSession, folder: Path, schema: str, name: str, columns: Sequence[Column]) -> None:
    """Make the table, which comes with the first bad row."""
    path = table_path(folder, schema, name)
    with upkeep.guard(path):  # of several streaming tables one makes it
        if exists(folder, schema, name):
            return
        delta_tables.clear(path)
        builder = DeltaTable.createIfNotExists(spark).location(str(path)).addColumns(schema_of(_stored(columns)))
        for key, value in (*delta_tables.kept_up().items(), *((_ANY_NAME,) if _odd(columns) else ())):
            builder = builder.property(key, value)
        builder.execute()


def _odd(columns: Sequence[Column]) -> bool:
    """Say whether Parquet refuses the name of a column, or of a field, which a type quotes then."""
    return any(re.search(r"[ ,;{}()\n\t=]", c.name) or "`" in c.type for c in columns)


def exists(folder: Path, schema: str, name: str) -> bool:
    """Say whether the table is there."""
    return delta_tables.exists(table_path(folder, schema, name))


def append(
    spark: SparkSession,
    folder: Path,
    source: tuple[str, str, Sequence[Column]],
    reader: StreamingTableEntry,
    transaction: tuple[int, int],
    rows: DataFrame,
    at: str,
) -> None:
    """Keep the bad rows of one step of ``reader``; a second call for the same step changes nothing.

    Args:
        spark: the session.
        folder: the warehouse folder.
        source: schema, name and columns of what is read.
        reader: the streaming table.
        transaction: the number of the source in the reader's query, and the step's.
        rows: the source's columns, ``BAD`` (the record's text, may be NULL), ``POSITION``, and ``WHY``.
        at: SQL over ``rows`` for the processing time, a TIMESTAMP.
    """
    schema, name, columns = source
    why = F.col(WHY) if WHY in rows.columns else F.lit(NOT_PARSED)
    added = (F.col(BAD), why, F.expr(at), F.col(POSITION), F.lit(reader.qualified))
    kept = rows.select(
        *(F.col(quoted(c.name)).alias(c.name) for c in columns),
        *(value.alias(c.name) for value, c in zip(added, _added(columns), strict=True)),
        F.lit(reader.id).alias(_READER),
    )
    if not exists(folder, schema, name):
        _create(spark, folder, schema, name, columns)
    writer = kept.write.format("delta").mode("append").option("mergeSchema", "true")
    number, step = transaction
    application = f"bad_rows/{reader.id}" + (f"/{number}" if number else "")
    writer = writer.option("txnAppId", application).option("txnVersion", str(step))
    path = table_path(folder, schema, name)
    try:
        writer.save(str(path))
    except AnalysisException as error:
        if error.getCondition() != "DELTA_FAILED_TO_MERGE_FIELDS":
            raise
        with upkeep.guard(path):  # a column of what is read has got a wider type
            delta_tables.let_types_widen(spark, path)
        writer.save(str(path))


def relation(folder: Path, schema: str, name: str, columns: Sequence[Column]) -> str:
    """Return SQL text of the relation ``bad_rows('…')``: the source's columns and ``ADDED``."""
    added = _added(columns)
    if not exists(folder, schema, name):
        return empty_relation((*columns, *added))
    shown = ", ".join(quote_name(c.name) for c in (*columns, *added))
    record, why, at, position, _ = (c.name for c in added)
    kept = delta_tables.relation(table_path(folder, schema, name))
    # The n-th time a reader met a record is the same meeting as the n-th time another reader did.
    nth = f"row_number() OVER (PARTITION BY {_READER}, {position}, {record}, {why} ORDER BY {at})"
    first = f"row_number() OVER (PARTITION BY {position}, {record}, {why}, __w_nth ORDER BY {at}, {_READER})"
    return (
        f"(SELECT {shown} FROM (SELECT *, {first} AS __w_first FROM (SELECT *, {nth} AS __w_nth FROM {kept})) "
        f"WHERE {why} IS DISTINCT FROM '{NOT_PARSED}' OR __w_first = 1)"
    )


def forget_reader(spark: SparkSession, folder: Path, reader: str) -> None:
    """Drop what the streaming table with the id ``reader`` set aside, as when it is dropped or starts again."""
    its = F.col(_READER) == reader
    tables = sorted(filter(delta_tables.exists, folder.glob("streams/*/bad_rows")))
    if not tables:
        return
    found = (spark.read.format("delta").load(str(t)).where(its).select(F.lit(str(t))) for t in tables)
    for row in reduce(DataFrame.union, found).distinct().collect():
        with upkeep.guard(Path(row[0])):
            DeltaTable.forPath(spark, row[0]).delete(its)


def drop(folder: Path, schema: str, name: str) -> None:
    """Remove the stream's folder with all its bad rows."""
    shutil.rmtree(table_path(folder, schema, name).parent, ignore_errors=True)


def of_table(
    folder: Path, schema: str, name: str, columns: tuple[Column, ...], analyzer: Analyzer
) -> tuple[Column, ...]:
    """Return the columns of what was set aside of a table's rows, those that it has gone by; ``columns`` before any.

    Readers of a streaming table's panes see more than its columns, and a plain table may have got some since.
    """
    if not exists(folder, schema, name):
        return columns
    ours = {column.name for column in (*_added(columns), _OF_READER)}
    kept = analyzer.columns(of(f"SELECT * FROM {delta_tables.relation(table_path(folder, schema, name))}"))
    return tuple(column for column in kept if column.name not in ours)


def _added(columns: Sequence[Column]) -> tuple[Column, ...]:
    """Return ``ADDED``, with underscores in front of the names that the source's columns have."""
    taken = {column.name.lower() for column in columns}
    return tuple(replace(column, name=free_name(column.name, taken)) for column in ADDED)


def _stored(columns: Sequence[Column]) -> tuple[Column, ...]:
    return (*columns, *_added(columns), _OF_READER)
