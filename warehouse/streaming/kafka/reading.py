"""From a stream's entry with USING kafka to rows: which reader, what it is told, and the values parsed.

Both readers give the columns of Spark's connector; what is done with them is the same for both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from warehouse.catalog.entries import Column, StreamEntry
from warehouse.errors import fail
from warehouse.planning.streams.kafka import HEADERS, OF_RECORD, OPTIONS, RECORD
from warehouse.streaming.kafka import avro_values
from warehouse.streaming.kafka import client as kafka_client
from warehouse.streaming.kafka.offsets import LOST
from warehouse.streaming.layout import BAD, OFFSETS_LOST, POSITION, WHY, broken, quoted, schema_of

CONNECTOR = "org.apache.spark.sql.kafka010.KafkaSourceProvider"
_OURS = frozenset({"value.format", "value.schema", "reader"})


def reader_for(spark: SparkSession) -> str:
    """Return which reader a new stream gets: Spark's connector where its jars are, else the one without jars."""
    jvm: Any = spark._jvm
    return "spark" if jvm.org.apache.spark.util.Utils.classIsLoadable(CONNECTOR) else "python"


def settled(spark: SparkSession, options: Mapping[str, str]) -> dict[str, str]:
    """Return the options that are filled in when a stream is made, and then stay.

    The two readers write different offsets into a checkpoint, so a jar that comes or goes later changes nothing.
    """
    given = {name.lower() for name in options}
    out = {} if "reader" in given else {"reader": reader_for(spark)}
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
    options = told(entry)
    check_broker(entry, options)
    name = "kafka" if entry.option("reader") == "spark" else register(spark)
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
    options = told(entry)
    check_broker(entry, options)
    once = {k: v for k, v in options.items() if k.lower() != "maxoffsetspertrigger"}
    if (entry.option("startingOffsets") or "").lower() == "latest":
        once = {k: v for k, v in once.items() if k.lower() != "startingoffsets"}
    name = "kafka" if entry.option("reader") == "spark" else register(spark)
    rows = laid_out(entry, spark.read.format(name).options(**once).load())
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


def told(entry: StreamEntry) -> dict[str, str]:
    """Return the options that the reader gets."""
    names = {name.lower() for name in OPTIONS} - _OURS
    options = {k: v for k, v in entry.options if k.lower() in names or k.lower().startswith("kafka.")}
    if any(column.name.lower() == "_headers" for column in entry.columns):
        options = {k: v for k, v in options.items() if k.lower() != "includeheaders"} | {"includeHeaders": "true"}
    if entry.option("reader") == "spark":
        given = {name.lower() for name in options}
        if "kafka.isolation.level" not in given:
            options["kafka.isolation.level"] = "read_committed"
    return options


def check_broker(entry: StreamEntry, options: Mapping[str, str]) -> None:
    """Fail soon and clearly when the broker does not answer: a query would only say so after minutes."""
    if entry.option("reader") == "spark" and find_spec("confluent_kafka") is None:
        return
    kafka_client.require()
    kafka_client.Broker(kafka_client.configuration(options)).partitions()


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
