"""From a stream's entry with USING kafka to rows: which reader, what it is told, and the values parsed.

Both readers give the columns of Spark's connector; what is done with them is the same for both.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from warehouse.catalog.entries import Column, StreamEntry
from warehouse.errors import fail
from warehouse.planning.streams.kafka import HEADERS, OF_RECORD, OPTIONS, RECORD
from warehouse.streaming.kafka import avro_values, java_client
from warehouse.streaming.kafka import client as kafka_client
from warehouse.streaming.kafka.offsets import LOST, Marks, Place, nested, starting_offsets
from warehouse.streaming.layout import BAD, OFFSETS_LOST, POSITION, WHY, broken, quoted, schema_of

CONNECTOR = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
_OURS = frozenset({"value.format", "value.schema", "reader"})


def reader_for(spark: SparkSession) -> str:
    """Return which reader a new stream gets: Spark's connector where its jars are, else the one without jars."""
    jvm: Any = spark._jvm
    return "spark" if jvm.org.apache.spark.util.Utils.classIsLoadable(CONNECTOR) else "python"


def settled(spark: SparkSession, options: Mapping[str, str], old: StreamEntry | None) -> dict[str, str]:
    """Return the options that are filled in when a stream is made, and then stay, also in the one that replaces it.

    The two readers write different offsets into a checkpoint, so a jar that comes or goes later changes nothing.

    Args:
        spark: the session.
        options: those given.
        old: the stream that is replaced, or None.
    """
    given = {name.lower() for name in options}
    kept = old.option("reader") if old is not None and old.format == "kafka" else None
    out = {} if "reader" in given else {"reader": kept or reader_for(spark)}
    return out if "startingoffsets" in given else out | {"startingOffsets": "earliest"}


def value_format(options: Mapping[str, str]) -> str:
    """Return what the values are: ``json``, ``avro``, ``string``, or ``binary`` where the options are silent."""
    return next((value.lower() for name, value in options.items() if name.lower() == "value.format"), "binary")


# ---------------------------------------------------------------- columns


def known_columns(entry: StreamEntry) -> tuple[Column, ...] | None:
    """Return the columns that records have by themselves; None where only a column list can tell, as for JSON.

    Raises:
        WarehouseError: ``value.schema`` cannot be used.
    """
    match value_format(dict(entry.options)):
        case "json":
            return None
        case "avro":
            return avro_values.columns(entry.option("value.schema") or "")
        case "string":
            record = tuple(Column("value", "string") if c.name == "value" else c for c in RECORD)
        case _:
            record = RECORD
    return (*record, HEADERS) if (entry.option("includeHeaders") or "").lower() == "true" else record


def misfit(column: Column, known: tuple[Column, ...] | None) -> str | None:
    """Return what a declared column should be instead, as text, or None where it is right.

    Args:
        column: as declared.
        known: what ``known_columns`` returned.
    """
    name = column.name.lower()
    is_record = known is not None and any(c.name == "topic" for c in known)
    if name in OF_RECORD and not is_record:
        types = OF_RECORD[name][1]
        return None if column.type in types else f"{name} {' or '.join(types)}"
    if known is None or any(c.name.lower() == name and c.type == column.type for c in known):
        return None
    listed = ", ".join(f"{c.name} {c.type}" for c in known)
    return f"one of {listed}" + ("; or say value.format 'json' to have the value parsed" if is_record else "")


def _of_value(entry: StreamEntry) -> list[Column]:
    """Return the columns that come out of the value."""
    return [c for c in entry.columns if c.name.lower() not in OF_RECORD]


# ---------------------------------------------------------------- rows


def streaming_frame(spark: SparkSession, entry: StreamEntry) -> DataFrame:
    """Return a streaming DataFrame of the stream's columns, ``BAD`` and ``POSITION`` (and ``WHY``, with our reader).

    Raises:
        WarehouseError: the broker does not answer or refuses, or the reader's package is not there.
    """
    options = told(spark, entry)
    name = "kafka" if by_spark(entry) else register(spark)
    try:
        records = spark.readStream.format(name).options(**options).load()
    except PySparkException as error:
        reason = str(error).split("\n")[0]
        fail("WAREHOUSE_STREAM_NOT_STREAMABLE", source="kafka", reason=reason)
    return laid_out(entry, records)


def batch_view(spark: SparkSession, entry: StreamEntry) -> str:
    """Return the name of a temporary view of all good records that the topics hold when it is read.

    Under ON ERROR FAIL a query over it fails at the first broken one.
    """
    options = told(spark, entry, once=True)
    name = "kafka" if by_spark(entry) else register(spark)
    rows = laid_out(entry, spark.read.format(name).options(**options).load())
    good = F.col(BAD).isNull()
    if entry.fail_on_error:
        good = F.when(good, True).otherwise(F.expr(broken(entry, POSITION)).cast("boolean"))
    view = f"__w_kafka_{hashlib.sha256(entry.qualified.lower().encode()).hexdigest()[:16]}"
    rows.where(good).select(*(quoted(c.name) for c in entry.columns)).createOrReplaceTempView(view)
    return view


def register(spark: SparkSession) -> str:
    """Make our reader known to a session; return its name.

    Spark looks for rivals of the name in the thread's active session, which may be another one that knows it too.
    """
    from warehouse.streaming.kafka.source import NAME, KafkaSource

    session: Any = spark._jsparkSession
    if not session.sessionState().dataSourceManager().dataSourceExists(NAME):
        jvm: Any = spark._jvm
        sessions = jvm.org.apache.spark.sql.classic.SparkSession
        before = sessions.getActiveSession()
        sessions.setActiveSession(session)
        try:
            spark.dataSource.register(KafkaSource)
        finally:
            if before.isDefined():
                sessions.setActiveSession(before.get())
            else:
                sessions.clearActiveSession()
    return NAME


def by_spark(entry: StreamEntry) -> bool:
    """Say whether Spark's connector reads a stream."""
    return (entry.option("reader") or "").lower() == "spark"


def lowered(entry: StreamEntry) -> dict[str, str]:
    """Return a stream's options, names in lower case."""
    return {name.lower(): value for name, value in entry.options}


def broker(spark: SparkSession, entry: StreamEntry) -> kafka_client.Broker | java_client.Broker:
    """Return what answers questions about the stream's topics, by the client of its reader.

    Raises:
        WarehouseError: the client refuses its settings, or is not there.
    """
    if by_spark(entry):
        if reader_for(spark) != "spark":
            fail("WAREHOUSE_KAFKA_CONNECTOR", version=pyspark.__version__)
        return java_client.Broker(spark, dict(entry.options))
    kafka_client.require()
    return kafka_client.Broker(kafka_client.configuration(dict(entry.options)))


def told(spark: SparkSession, entry: StreamEntry, once: bool = False) -> dict[str, str]:
    """Return the options that the reader gets, after asking the broker: a query would only fail after minutes.

    Args:
        spark: the session.
        entry: the stream.
        once: to read all that is there, and not to read on.

    Raises:
        WarehouseError: the broker does not answer, or refuses.
    """
    names = {name.lower() for name in OPTIONS} - _OURS
    options = {k: v for k, v in lowered(entry).items() if k in names or k.startswith("kafka.")}
    if any(column.name.lower() == "_headers" for column in entry.columns):
        options["includeheaders"] = "true"
    if once:
        options.pop("maxoffsetspertrigger", None)
        if options.get("startingoffsets", "").strip().lower() == "latest":
            del options["startingoffsets"]
    asked = broker(spark, entry)
    there = asked.partitions()
    if not by_spark(entry):
        return options
    if options.get("startingoffsets", "").strip().startswith("{"):
        options["startingoffsets"] = _each_start(options, asked.marks(_chosen(options, there)), once)
    if once:  # what is gone by now is not asked for
        options["failondataloss"] = "false"
    return _as_the_connector_reads(options)


def _as_the_connector_reads(options: dict[str, str]) -> dict[str, str]:
    """Return options that say to Spark's connector what those given say to us: topics, and settings of the client."""
    given = {"isolation.level": "read_committed"} | java_client.settings(options)
    out = {name: value for name, value in options.items() if not name.startswith("kafka.")}
    if topics := out.pop("subscribe", None):  # only a pattern may be for topics that are not there
        out["subscribepattern"] = "|".join(re.sub(r"([^\w-])", r"\\\1", t.strip()) for t in topics.split(","))
    if pattern := out.get("subscribepattern"):  # which it looks for anywhere in a name
        out["subscribepattern"] = f"^(?:{pattern})$"
    return out | {f"kafka.{name}": value for name, value in given.items()}


def marks(spark: SparkSession, entry: StreamEntry) -> Marks:
    """Return what the broker has of a stream's partitions."""
    asked = broker(spark, entry)
    return asked.marks(_chosen(lowered(entry), asked.partitions()))


def places(spark: SparkSession, entry: StreamEntry) -> list[Place]:
    """Return the partitions that a stream has now."""
    return _chosen(lowered(entry), broker(spark, entry).partitions())


def _chosen(options: Mapping[str, str], there: Mapping[str, list[int]]) -> list[Place]:
    return kafka_client.subscription(options).chosen(there)


def _each_start(options: Mapping[str, str], there: Marks, once: bool) -> str:
    """Return ``startingOffsets`` that name each partition, as the connector needs them; once, of what is there."""
    begin = starting_offsets(options["startingoffsets"], there)
    if once:
        begin = {place: min(max(at, there.earliest[place]), there.latest[place]) for place, at in begin.items()}
    return json.dumps(nested(begin))


def laid_out(entry: StreamEntry, records: DataFrame) -> DataFrame:
    """Return records, in the columns of Spark's connector, as the layout of every source."""
    lost = F.col(LOST).isNotNull() if LOST in records.columns else None
    form = value_format(dict(entry.options))
    columns, bad = {}, F.lit(None).cast("string")
    if form in ("json", "avro") and _of_value(entry):
        parse = _json if form == "json" else _avro
        records, bad = parse(entry, records)
        columns = {c.name: F.col("__w_value").getField(c.name) for c in _of_value(entry)}
    if form in ("json", "avro"):
        for column in entry.columns:
            if column.name.lower() in OF_RECORD:
                columns[column.name] = F.col(OF_RECORD[column.name.lower()][0]).cast(column.type)
    else:
        columns = {c.name: F.col(quoted(c.name)).cast(c.type) for c in entry.columns}
    hidden = [F.format_string("%s-%d@%d", "topic", "partition", "offset").alias(POSITION)]
    if lost is not None:
        gone = F.concat(F.lit("lost: offsets "), F.col("offset"), F.lit(" to "), F.col(LOST) - 1)
        bad = F.when(lost, F.when(F.col(LOST) > F.col("offset"), gone).otherwise("lost: the topic was made again"))\
            .otherwise(bad)  # fmt: skip
        columns = {name: F.when(~lost, value) for name, value in columns.items()}
        hidden.append(F.when(lost, F.lit(OFFSETS_LOST)).alias(WHY))
    return records.select(*(value.alias(name) for name, value in columns.items()), bad.alias(BAD), *hidden).select(
        *(quoted(c.name) for c in entry.columns), BAD, POSITION, *([WHY] if lost is not None else [])
    )


def _json(entry: StreamEntry, records: DataFrame) -> tuple[DataFrame, SparkColumn]:
    """Return records with their values parsed as ``__w_value``, and the text of those that are no JSON record.

    One message is one record: an array would be several, of which Spark took the first.
    """
    ours = {name.lower() for name in OPTIONS}
    options = {k: v for k, v in entry.options if k.lower() not in ours and not k.lower().startswith("kafka.")}
    options |= {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": BAD}
    schema = StructType([*schema_of(_of_value(entry)).fields, StructField(BAD, StringType())])
    text = F.col("value").cast("string")
    parsed = F.col("__w_value")
    bad = F.when(F.ltrim(text).startswith("[") | (parsed.isNull() & text.isNotNull()), text)
    return records.withColumn("__w_value", F.from_json(text, schema, options)), bad.otherwise(parsed.getField(BAD))


def _avro(entry: StreamEntry, records: DataFrame) -> tuple[DataFrame, SparkColumn]:
    """Return records with their values decoded as ``__w_value``, and those that do not decode, in base 64."""
    schema = entry.option("value.schema") or ""
    decode = avro_values.decoder(schema, schema_of(avro_values.columns(schema)), BAD)
    parsed = records.withColumn("__w_value", decode(F.col("value")))
    return parsed, F.when(F.col("__w_value").getField(BAD), F.base64("value"))
