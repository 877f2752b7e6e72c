"""What a new stream is, asked of Spark and of the files: options, path, columns and watermark; nothing is changed."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NoReturn

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import NullType, StructType

from warehouse.catalog.entries import Column, Pairs, StreamEntry, qualified, quote_name
from warehouse.catalog.here import here
from warehouse.errors import Diagnostic, WarehouseError, fail
from warehouse.execution.spark_errors import translate
from warehouse.planning.streams import streams
from warehouse.planning.streams.streams import FILE_FORMATS, RECORD_FORMATS, WITH_PATH, StreamPlan, column_names
from warehouse.streaming.kafka import reading as kafka
from warehouse.streaming.sources import replay, sources
from warehouse.streaming.sources.paths import check_path, literal_path, path_exists
from warehouse.streaming.sources.sources import first_line


def described(spark: SparkSession, plan: StreamPlan, old: StreamEntry | None) -> StreamEntry:
    """Return the entry of the stream that ``plan`` makes, after asking Spark and the files. Changes nothing.

    Args:
        spark: the session.
        plan: of the statement.
        old: the stream that it replaces, or None.

    Raises:
        WarehouseError: the source, its path, its columns or the watermark are not there or do not fit.
    """
    statement = plan.statement
    _check_source(spark, plan)
    options = _options(spark, plan, old)
    draft = StreamEntry(
        plan.schema,
        plan.name,
        (),
        plan.format,
        options,
        None,
        statement.watermark.delay.micros if statement.watermark else None,
        statement.idle_timeout.micros if statement.idle_timeout else None,
        statement.on_error_fail,
        statement.comment,
        statement.properties,
        statement.source.text,
        datetime.now(UTC).isoformat(timespec="seconds"),
        inferred=statement.columns is None,
    )
    entry = replace(draft, columns=_columns(spark, plan, draft))
    _check_header(spark, plan, entry)
    entry = replace(entry, watermark_column=_watermark(spark, plan, entry))
    try:
        if plan.format == "replay":
            _check_replay(plan, entry)
            check_path(spark, entry)
        else:
            sources.streaming_frame(spark, entry)
    except WarehouseError as error:
        raise _at(error, plan) from error
    return entry


def _at(error: WarehouseError, plan: StreamPlan) -> WarehouseError:
    """Return an error without a place as one at the path, or where else its source is named."""
    return WarehouseError(*(_with_span(d, plan) for d in error.diagnostics))


def _with_span(found: Diagnostic, plan: StreamPlan) -> Diagnostic:
    return found if found.span else replace(found, span=plan.place)


def _check_source(spark: SparkSession, plan: StreamPlan) -> None:
    """Refuse a source that Spark does not find."""
    if plan.format in streams.FORMATS and plan.format != "avro":
        return
    session: Any = spark._jsparkSession
    jvm: Any = spark._jvm
    try:
        jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource(
            plan.format, session.sessionState().conf()
        )
    except Exception:
        if not session.sessionState().dataSourceManager().dataSourceExists(plan.format):
            raise WarehouseError(streams.unknown_format(plan.statement)) from None


def _options(spark: SparkSession, plan: StreamPlan, old: StreamEntry | None) -> Pairs:
    """Return the options as they are kept: paths absolute, a recording's format and the time zone filled in."""
    kept = dict(plan.statement.options)
    by_name = {key.lower(): key for key in kept}
    if plan.format in WITH_PATH:
        key = by_name["path"]
        kept[key] = _path(spark, plan, kept[key])
        if plan.format == "replay":
            kept[by_name.get("format", "format")] = plan.recorded or _recorded_format(plan, kept[key])
            if "watermark" in by_name and kept[by_name["watermark"]].strip().lower() not in ("none", "complete"):
                kept[by_name["watermark"]] = os.path.abspath(os.path.join(here(), kept[by_name["watermark"]]))
    parsed = kept.get(by_name.get("format", "format")) if plan.format == "replay" else plan.format
    if plan.format == "kafka":
        kept |= kafka.settled(spark, kept, old)
        parsed = kafka.value_format(kept)
    if (parsed in RECORD_FORMATS or plan.format == "replay") and "timezone" not in by_name:
        # Else the same file would mean other instants once the session's time zone is set anew.
        kept["timeZone"] = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    return tuple(kept.items())


def _path(spark: SparkSession, plan: StreamPlan, written: str) -> str:
    """Return the path as it is kept: absolute. Whether it is a pattern is decided when it is scanned."""
    written = re.sub(r"^file:(//)?(?=/)", "", written, flags=re.IGNORECASE)
    remote = re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", written)
    path = shown = written if remote else os.path.abspath(os.path.join(here(), written))
    if not remote and not os.path.exists(path):  # a pattern: the current folder's own name is no part of it
        path = os.path.abspath(os.path.join(literal_path(here()), written))
    try:
        there = path_exists(spark, path)
        advice = "" if there else _far(shown) if remote else _near(shown)
    except Exception as error:
        there, advice = False, first_line(getattr(error, "java_exception", error))
    if not there:
        name = qualified(plan.schema, plan.name)
        fail("WAREHOUSE_STREAM_PATH_NOT_FOUND", plan.span_of("path"), path=shown, name=name, advice=advice)
    if (plan.recorded or plan.format) == "delta" and not remote and not os.path.isdir(os.path.join(path, "_delta_log")):
        fail("WAREHOUSE_STREAM_NOT_DELTA", plan.span_of("path"), path=path)
    return path


def _far(path: str) -> str:
    """Return what to do about a path on another file system that does not exist."""
    return f"{path.partition(':')[0]} can be reached, and has no such file or folder"


def _near(path: str) -> str:
    """Return what to do about a local path that does not exist."""
    parent = os.path.dirname(path)
    while not os.path.isdir(parent):
        path, parent = parent, os.path.dirname(parent)
    meant = streams.close_to(os.path.basename(path), os.listdir(parent), 0.6)
    if meant:
        return f"did you mean {os.path.join(parent, meant)}?"
    return f"{parent} exists and has no {os.path.basename(path)}. Relative paths start at the current folder."


def _recorded_format(plan: StreamPlan, path: str) -> str:
    """Return what a recording is, by its path."""
    if os.path.isdir(os.path.join(path, "_delta_log")):
        return "delta"
    names = [path]
    if os.path.isdir(path):
        names = sorted(n for n in os.listdir(path) if not n.startswith((".", "_")))
    plain = re.sub(r"\.(gz|bz2|zst|lz4|snappy|deflate)$", "", names[0].lower()) if names else ""
    endings = {
        ".csv": "csv",
        ".json": "json",
        ".jsonl": "json",
        ".ndjson": "json",
        ".parquet": "parquet",
        ".orc": "orc",
    }
    found = endings.get(os.path.splitext(plain)[1])
    return found or fail("WAREHOUSE_REPLAY_FORMAT_UNKNOWN", plan.span_of("path"), path=path)


# ---------------------------------------------------------------- columns


def _columns(spark: SparkSession, plan: StreamPlan, draft: StreamEntry) -> tuple[Column, ...]:
    """Return the stream's columns: declared and fit for the source, or the source's own."""
    declared = _declared(spark, plan) if plan.statement.columns is not None else None
    source = draft.parsed_format
    if source == "kafka":
        return _kafka_columns(plan, draft, declared)
    if declared is not None and source not in sources.OWN_SCHEMA_FORMATS:
        return declared
    known = _known(spark, plan, draft, source)
    if declared is None:
        for column in known:
            if streams.is_reserved(column.name):
                fail("WAREHOUSE_STREAM_COLUMN_RESERVED", plan.statement.format_span, column=column.name)
        return known
    types = {column.name.lower(): column.type for column in known}
    spans = column_names(plan.statement)
    for column, (_, span) in zip(declared, spans, strict=False):
        if types.get(column.name.lower()) != column.type:
            listed = ", ".join(f"{quote_name(c.name)} {c.type}" for c in known)
            wanted = {"source": source, "column": column.name, "type": column.type, "known": listed}
            fail("WAREHOUSE_STREAM_COLUMNS_DIFFER", span, **wanted)
    return declared


def _kafka_columns(plan: StreamPlan, draft: StreamEntry, declared: tuple[Column, ...] | None) -> tuple[Column, ...]:
    """Return the columns of a stream from Kafka: declared and to be had, or those of its records."""
    known = kafka.known_columns(draft)
    if declared is None:
        return known or ()
    spans = column_names(plan.statement)
    for column, (_, span) in zip(declared, spans, strict=False):
        wanted = kafka.misfit(column, known)
        if wanted:
            named = {"column": column.name, "type": column.type, "wanted": wanted}
            fail("WAREHOUSE_KAFKA_COLUMN", span, **named)
    return declared


def _declared(spark: SparkSession, plan: StreamPlan) -> tuple[Column, ...]:
    """Return the column list as Spark reads it, its mistakes pointing into the user's text."""
    statement = plan.statement
    assert statement.columns is not None
    try:
        schema = sources.parse_columns(spark, statement.columns.of(statement.source.text))
    except PySparkException as error:
        place = re.search(r"\(line (\d+), pos (\d+)\)", str(error))
        span = streams.column_place(statement, int(place[1]), int(place[2])) if place else statement.columns
        fail("WAREHOUSE_STREAM_COLUMNS", span, reason=first_line(error).removesuffix(".") + ".")
    spans = column_names(statement)
    for index, field in enumerate(schema.fields):
        if not field.nullable:
            span = spans[index][1] if index < len(spans) else statement.columns
            fail("WAREHOUSE_STREAM_COLUMN_CONSTRAINT", span, column=quote_name(field.name))
    return sources.columns_of(schema)


def _known(spark: SparkSession, plan: StreamPlan, draft: StreamEntry, source: str) -> tuple[Column, ...]:
    """Return the columns that the source itself names."""
    try:
        if source in FILE_FORMATS or plan.format == "replay":
            options = sources.reader_options(draft, source)
            schema = spark.read.format(source).options(**options).load().schema
        else:
            schema = spark.readStream.format(source).options(**sources.reader_options(draft)).load().schema
    except Exception as error:
        _unknown(plan, translate(error, plan.statement.source).diagnostics[0].message.partition("\n")[0])
    known = sources.columns_of(_without_void(schema))
    return known or _unknown(plan, f"No record in it is {source.upper()} with a column.")


def _unknown(plan: StreamPlan, reason: str) -> NoReturn:
    """Refuse a stream whose columns are not declared, and cannot be told."""
    place, name = plan.statement.name.span, qualified(plan.schema, plan.name)
    fail("WAREHOUSE_STREAM_COLUMNS_UNKNOWN", place, name=name, reason=reason, source=plan.format)


def _without_void(schema: StructType) -> StructType:
    return StructType([f for f in schema.fields if not isinstance(f.dataType, NullType)])


def _check_header(spark: SparkSession, plan: StreamPlan, entry: StreamEntry) -> None:
    """Refuse CSV files whose first line is a header that nobody announced, or that names other columns."""
    source = entry.parsed_format
    header = (entry.option("header") or "").lower()
    if (
        source != "csv"
        or entry.inferred
        or header == "false"
        or (entry.option("enforceSchema") or "").lower() == "true"
    ):
        return
    options = sources.reader_options(entry, "csv") | {"header": "true", "inferSchema": "false"}
    try:
        found = [n for n in spark.read.format("csv").options(**options).load().columns if n != sources.BAD]
        text = {"path": options[next(k for k in options if k.lower() == "path")]}
        partitions = spark.read.format("text").options(**text).load().columns[1:]
    except Exception:
        return  # there is no file yet
    first = [n.strip() for n in found if n not in partitions]
    if not any(first):
        return  # nothing is in it yet
    known = {p.lower() for p in partitions}
    declared = [c.name for c in entry.columns if c.name.lower() not in known]
    same = [n.lower() for n in first] == [n.lower() for n in declared]
    name = qualified(plan.schema, plan.name)
    if header != "true" and first and {n.lower() for n in first} <= {n.lower() for n in declared}:
        advice = "OPTIONS (header 'true') takes it as the header, header 'false' as a record."
        wrong = "a list of its columns and not a record"
    elif header == "true" and not same:
        advice = f"Declare the columns as the files have them: ({', '.join(map(quote_name, first))})."
        wrong = "not the declared columns"
    else:
        return
    fail(
        "WAREHOUSE_STREAM_HEADER", plan.span_of("header"), name=name, header=",".join(first), wrong=wrong, advice=advice
    )


# ---------------------------------------------------------------- watermark and arrival


def _watermark(spark: SparkSession, plan: StreamPlan, entry: StreamEntry) -> str | None:
    """Return the watermark's expression, checked: a TIMESTAMP over the stream's columns."""
    if plan.watermark_column is None or plan.statement.watermark is None:
        return None
    span, written = plan.statement.watermark.column, plan.watermark_column
    listed = ", ".join(c.name for c in entry.columns)
    try:
        schema = spark.sql(f"SELECT {written} FROM {streams.empty_relation(entry.columns)}").schema
    except PySparkException as error:
        reason = first_line(error)
        fail("WAREHOUSE_STREAM_WATERMARK_COLUMN", span, written=written, reason=reason, columns=listed)
    kind = schema.fields[0].dataType.simpleString()
    streams.check_watermark_type(kind, span, plan.statement.source.text)
    return f"CAST({written} AS TIMESTAMP)" if kind == "timestamp_ntz" else written


def _check_replay(plan: StreamPlan, entry: StreamEntry) -> None:
    """Refuse a replay whose arrival is no timestamp of its rows, or whose watermark cannot be read."""
    arrival = entry.option("arrival") or ""
    column = next((c for c in entry.columns if c.name.lower() == arrival.lower()), None)
    if column is None or column.type not in ("timestamp", "timestamp_ntz"):
        wrong = f"which is {column.type.upper()}" if column else "which is none of its columns"
        named = {"name": entry.qualified, "arrival": arrival, "wrong": wrong}
        listed = ", ".join(f"{c.name} {c.type}" for c in entry.columns)
        fail("WAREHOUSE_REPLAY_ARRIVAL", plan.span_of("arrival"), **named, columns=listed)
    try:
        replay.watermark_option(entry)
    except WarehouseError as error:
        found = error.diagnostics[0]
        span = plan.span_of("watermark")
        raise WarehouseError(Diagnostic(found.condition, found.message, found.sqlstate, span, found.hint)) from error
