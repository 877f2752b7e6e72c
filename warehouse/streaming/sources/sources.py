"""From a stream's entry to rows: as a streaming DataFrame, and as SQL text over all that has arrived.

Both give the same rows and the same verdict on each record, because both parse every column of it: Spark
parses only the columns a query needs, and a record that is broken elsewhere would then pass. ``whole`` is a
condition that holds for every row, needs every column, and that the optimizer cannot see through.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from typing import Any

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from warehouse.catalog.entries import HIDDEN_SCHEMA, Column, StreamEntry, quote_name
from warehouse.catalog.store import file_stem
from warehouse.errors import fail
from warehouse.execution.types import type_text
from warehouse.language.literals import string_literal
from warehouse.planning.streams.streams import (
    FILE_FORMATS,
    FILE_STREAM_OPTIONS,
    RECORD_FORMATS,
    RESERVED_PREFIX,
)
from warehouse.streaming.delta.delta_tables import UNBOUNDED
from warehouse.streaming.kafka import reading as kafka
from warehouse.streaming.layout import BAD, OFFSETS_LOST, POSITION, WHY, broken, quoted, schema_of
from warehouse.streaming.sources import paths

ARRIVAL = f"{RESERVED_PREFIX}arrival"
"""BIGINT: processing time in microseconds."""

OWN_SCHEMA_FORMATS = frozenset({"delta", "rate", "rate-micro-batch", "socket"})
"""Sources that know their columns and take no others."""

_SELECTING = ("excludeRegex", "startingVersion", "startingTimestamp", "readChangeFeed")
"""Options by which a stream of a Delta table has other rows than the table."""

_BOUNDING = frozenset({"maxfilespertrigger", "maxbytespertrigger"})
"""Options of the user's own that bound what a stream of a Delta table takes at a time."""

# Spark forgets files older than a week before the newest one: a file copied with its old date would be skipped.
_FOR_EVER = "3650000d"


# ---------------------------------------------------------------- rows as they come


def streaming_frame(spark: SparkSession, entry: StreamEntry) -> DataFrame:
    """Return a streaming DataFrame of the stream's columns, ``BAD`` and ``POSITION``.

    Raises:
        WarehouseError: the path is gone, or Spark cannot read the source as a stream.
    """
    if entry.format == "kafka":
        return kafka.streaming_frame(spark, entry)
    paths.check_path(spark, entry)
    paths.check_file_names(entry)
    try:
        reader = spark.readStream.format(entry.format).options(**reader_options(entry))
        if _passes_schema(entry):
            reader = reader.schema(parsed_schema(entry))
        return _laid_out(entry, reader.load())
    except (PySparkException, AnalysisException) as error:
        fail("WAREHOUSE_STREAM_NOT_STREAMABLE", source=entry.format, reason=first_line(error))


def table_frame(spark: SparkSession, table: str, options: dict[str, str] | None = None) -> DataFrame:
    """Return a streaming DataFrame of a Delta table's columns, ``BAD`` and ``POSITION`` (both NULL).

    Args:
        spark: the session.
        table: the table's name as SQL text.
        options: options of Delta's streaming source, such as ``startingVersion``.
    """
    frame = spark.readStream.options(**(options or UNBOUNDED)).table(table)
    return frame.withColumn(BAD, _null_text()).withColumn(POSITION, _null_text())


def batch_frame(spark: SparkSession, entry: StreamEntry, source: str) -> DataFrame:
    """Return all rows of the stream's files, read as format ``source``, in the layout of ``streaming_frame``."""
    reader = spark.read.format(source).options(**reader_options(entry, source))
    if source != "delta":
        reader = reader.schema(parsed_schema(entry, source))
    return _laid_out(entry, reader.load(), source)


def arrives_at(entry: StreamEntry) -> str:
    """Return SQL for the time at which a row of a replay arrives."""
    return f"CAST({quoted(entry.option('arrival') or '')} AS TIMESTAMP)"


def refuse_bad(entry: StreamEntry, rows: DataFrame) -> None:
    """Fail with the first broken record of ``rows``, if there is one and the stream says FAIL."""
    if not entry.fail_on_error or entry.format not in RECORD_FORMATS | {"replay", "kafka"}:
        return
    bad = F.col(BAD).isNotNull()
    if WHY in rows.columns:  # what is gone is for failOnDataLoss to fail on
        bad &= ~F.col(WHY).eqNullSafe(OFFSETS_LOST)
    broken = rows.where(bad).select(POSITION, BAD).orderBy(POSITION, BAD).limit(1).collect()
    for position, record in broken:
        fail("WAREHOUSE_BAD_RECORD", name=entry.qualified, file=position or entry.format, record=shortened(record))


def _laid_out(entry: StreamEntry, frame: DataFrame, source: str | None = None) -> DataFrame:
    """Return the columns of the layout, with every column of each record parsed."""
    source = source or entry.format
    bad = F.col(BAD) if source in RECORD_FORMATS else _null_text()
    position = F.col("_metadata.file_path") if source in FILE_FORMATS else _null_text()
    if source in RECORD_FORMATS:
        frame = frame.where(whole(entry.columns))
    columns = [F.col(quoted(c.name)).alias(c.name) for c in entry.columns]
    return frame.select(*columns, bad.alias(BAD), position.alias(POSITION))


def _null_text() -> Any:
    return F.lit(None).cast(StringType())


def whole(columns: Iterable[Column]) -> str:
    """Return a condition that holds for every row and needs every column (see the module's docstring).

    A sum of null tests, or a comparison with the smallest integer, is folded away by Spark 4.2 in some query.
    Only two columns stand in one test: where columns get aliases, Spark writes each condition down anew for every
    subset of its columns, which for one condition with all of them is beyond any memory.
    """
    tests = [f"isnull({quoted(c.name)})" for c in columns]
    pairs = (", ".join(tests[first : first + 2]) for first in range(0, len(tests), 2))
    return " AND ".join(f"pmod(hash({pair}), 2) < 2" for pair in pairs)


def shortened(text: str, most: int = 200) -> str:
    """Return ``text`` on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


# ---------------------------------------------------------------- rows that have arrived, as SQL text


def batch_relation(entry: StreamEntry) -> str:
    """Return SQL text of a relation with the stream's columns over all that has arrived.

    Broken records are left out, and of a replay those that never arrive; under ON ERROR FAIL the query fails at the
    first one. The text stays valid as long as the stream exists, so it may stand in a view.

    Raises:
        WarehouseError: the source keeps nothing, or the stream has an option that only a streaming table can follow.
    """
    source = entry.parsed_format
    columns = ", ".join(quote_name(c.name) for c in entry.columns)
    arrives = f"{arrives_at(entry)} IS NOT NULL" if entry.format == "replay" else "true"
    if source == "delta":
        return f"(SELECT {columns} FROM {_delta_relation(entry)} WHERE {arrives})"
    if source not in FILE_FORMATS:
        fail("WAREHOUSE_STREAM_NO_BATCH", name=entry.qualified, source=entry.format)
    table = hidden_table(entry.schema, entry.name)
    if source not in RECORD_FORMATS:
        return f"(SELECT {columns} FROM {table} WHERE {arrives})"
    good = f"{BAD} IS NULL AND {arrives}"
    if entry.fail_on_error:
        good = f"CASE WHEN {good} THEN true ELSE CAST({broken(entry, '_metadata.file_path')} AS BOOLEAN) END"
    return f"(SELECT {columns} FROM {table} WHERE {whole(entry.columns)} AND {good})"


def _delta_relation(entry: StreamEntry) -> str:
    """Return SQL of the rows that a stream of a Delta table, made now, would begin with."""
    path, version, moment = (entry.option(o) or "" for o in ("path", "startingVersion", "startingTimestamp"))
    feed = (entry.option("readChangeFeed") or "").lower() == "true"
    begin = version if version.isdecimal() else string_literal(moment) if moment and not version else None
    excluding = entry.option("excludeRegex") is not None
    if feed and begin and not excluding:
        return f"table_changes_by_path({string_literal(path)}, {begin})"
    if feed or (entry.format == "delta" and (version or moment or excluding)):
        option = next(o for o in _SELECTING if entry.option(o) is not None)
        fail("WAREHOUSE_STREAM_OPTION_NO_BATCH", name=entry.qualified, option=option)
    return f"delta.{quoted(path)}"


def hidden_table(schema: str, name: str) -> str:
    """Return the name of the external table that stands for a stream in batch queries.

    Example:
        >>> hidden_table("default", "Plays")
        'warehouse_streams.default__plays'
    """
    plain = f"{schema}__{name}".lower()
    if re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*__[a-z0-9]+(_[a-z0-9]+)*", plain) and len(plain) < 100:
        return f"{HIDDEN_SCHEMA}.{plain}"
    mark = hashlib.sha256(file_stem(schema, name).encode()).hexdigest()[:12]
    readable = re.sub(r"_+", "_", re.sub(r"[^a-z0-9]", "_", plain))[:80].strip("_")
    return f"{HIDDEN_SCHEMA}.{readable}___{mark}"


def create_relation(spark: SparkSession, entry: StreamEntry) -> None:
    """Make what ``batch_relation`` names, in place of what is there."""
    drop_relation(spark, entry)
    source = entry.parsed_format
    if source not in FILE_FORMATS:
        return
    spark.sql(f"CREATE DATABASE IF NOT EXISTS {HIDDEN_SCHEMA} COMMENT 'What streams hold, for batch queries'")
    # The API, and not SQL text: options are data, and how a string literal is read is a setting.
    spark.catalog.createTable(
        hidden_table(entry.schema, entry.name),
        source=source,
        schema=parsed_schema(entry, source),
        **_table_options(entry, source),
    )


def ensure_relation(spark: SparkSession, entry: StreamEntry) -> None:
    """Make what ``batch_relation`` names if it is missing, as after a crash in CREATE STREAM."""
    source = entry.parsed_format
    if source in FILE_FORMATS and not spark.catalog.tableExists(hidden_table(entry.schema, entry.name)):
        create_relation(spark, entry)


def drop_relation(spark: SparkSession, entry: StreamEntry) -> None:
    """Remove what ``create_relation`` made. The files stay."""
    spark.sql(f"DROP TABLE IF EXISTS {hidden_table(entry.schema, entry.name)}")


def _table_options(entry: StreamEntry, source: str) -> dict[str, str]:
    """Return the options of the hidden table: those that say how files are read."""
    taking_up = {o.lower() for o in FILE_STREAM_OPTIONS}
    return {k: v for k, v in reader_options(entry, source).items() if k.lower() not in taking_up}


# ---------------------------------------------------------------- schemas and options


def reader_options(entry: StreamEntry, source: str | None = None) -> dict[str, str]:
    """Return the options Spark's reader gets: the user's, and where they are silent, ours."""
    source = source or entry.format
    ours = {"arrival", "step", "watermark", "format"} if entry.format == "replay" else set()
    options = {key: value for key, value in entry.options if key.lower() not in ours}
    given = {key.lower(): value for key, value in options.items()}
    if source in RECORD_FORMATS:
        options |= {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": BAD}
    if source == "csv" and given.get("header", "").lower() == "true" and "enforceschema" not in given:
        options["enforceSchema"] = "false"  # columns that stand in another order are an error, not other values
    if source == "delta" and not _BOUNDING & set(given):
        options |= UNBOUNDED
    if entry.format in FILE_FORMATS and "maxfileage" not in given:
        options["maxFileAge"] = _FOR_EVER
    if source in FILE_FORMATS:
        key = next(key for key in options if key.lower() == "path")
        options[key], base = paths.scanned(options[key])
        if base and "basepath" not in given and "recursivefilelookup" not in given:
            options["basePath"] = base
    return options


def _passes_schema(entry: StreamEntry) -> bool:
    """Say whether the reader is told the columns: always for files, else where the user declared them."""
    return entry.format in FILE_FORMATS or (entry.format not in OWN_SCHEMA_FORMATS and not entry.inferred)


def parsed_schema(entry: StreamEntry, source: str | None = None) -> StructType:
    """Return the schema the files are parsed with: the columns, and one for the text of broken records."""
    fields = schema_of(entry.columns).fields
    if (source or entry.format) in RECORD_FORMATS:
        fields = [*fields, StructField(BAD, StringType())]
    return StructType(fields)


def columns_of(schema: StructType) -> tuple[Column, ...]:
    """Return a Spark schema as columns; our own are left out."""
    fields = [f for f in schema.fields if not f.name.startswith(RESERVED_PREFIX)]
    return tuple(Column(f.name, type_text(f.dataType), f.metadata.get("comment")) for f in fields)


def parse_columns(spark: SparkSession, text: str) -> StructType:
    """Return the schema that a column list declares, by Spark's own parser."""
    parser = spark._jsparkSession.sessionState().sqlParser()
    return StructType.fromJson(json.loads(parser.parseTableSchema(text).json()))


def first_line(error: BaseException) -> str:
    """Return the first line of Spark's message without its condition."""
    line = str(error).strip().split("\n")[0]
    return re.sub(r"^\[[A-Z0-9_.]+\]\s*|\s*SQLSTATE: \w+.*$", "", line).strip()
