"""What ``USING kafka`` takes: options with Spark's names, a few of our own, and the columns of a record."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from warehouse.catalog.entries import Column
from warehouse.errors import Diagnostic, diagnostic, is_secret
from warehouse.language.statements import CreateStream
from warehouse.planning.streams.options import close_to, key_span, option, option_span

SERVERS = "kafka.bootstrap.servers"
SUBSCRIPTIONS = ("subscribe", "subscribePattern", "assign")
OPTIONS = (
    *(SERVERS, *SUBSCRIPTIONS, "startingOffsets", "maxOffsetsPerTrigger", "failOnDataLoss", "includeHeaders"),
    *("kafkaConsumer.pollTimeoutMs", "value.format", "value.schema", "reader"),
)
VALUE_FORMATS = ("json", "avro", "string")
READERS = ("spark", "python")
"""Spark's own connector, and ours, which needs no jar; CREATE STREAM settles which one a stream has."""

RECORD = (
    Column("key", "binary"),
    Column("value", "binary"),
    Column("topic", "string"),
    Column("partition", "int"),
    Column("offset", "bigint"),
    Column("timestamp", "timestamp"),
    Column("timestampType", "int"),
)
HEADERS = Column("headers", "array<struct<key:string,value:binary>>")
"""The columns of a record, as Spark's connector names them; headers are there where ``includeHeaders`` says so."""

OF_RECORD: dict[str, tuple[str, tuple[str, ...]]] = {
    "_key": ("key", ("string", "binary")),
    "_topic": ("topic", ("string",)),
    "_partition": ("partition", ("int",)),
    "_offset": ("offset", ("bigint",)),
    "_timestamp": ("timestamp", ("timestamp",)),
    "_headers": ("headers", (HEADERS.type,)),
}
"""Names that a column list may have beside those of the value: which column of the record, and as what types."""

_OURS = frozenset({
    "kafka.auto.offset.reset", "kafka.enable.auto.commit", "kafka.enable.partition.eof", "kafka.interceptor.classes",
    "kafka.key.deserializer", "kafka.value.deserializer", "kafka.key.serializer", "kafka.value.serializer",
    "kafka.enable.auto.offset.store",
})  # fmt: skip
_CLIENT = (
    SERVERS,
    *("kafka.client.id", "kafka.client.rack", "kafka.group.id", "kafka.isolation.level", "kafka.request.timeout.ms"),
    *("kafka.fetch.min.bytes", "kafka.fetch.max.bytes", "kafka.fetch.max.wait.ms", "kafka.max.partition.fetch.bytes"),
    *("kafka.security.protocol", "kafka.sasl.mechanism", "kafka.sasl.jaas.config", "kafka.sasl.username"),
    *("kafka.sasl.password", "kafka.ssl.ca.location", "kafka.ssl.certificate.location", "kafka.ssl.key.location"),
    *("kafka.ssl.key.password", "kafka.ssl.keystore.location", "kafka.ssl.keystore.password"),
    *("kafka.ssl.truststore.location", "kafka.ssl.truststore.type", "kafka.ssl.truststore.password"),
    "kafka.ssl.endpoint.identification.algorithm",
)
"""Settings of the client that a misspelt one is compared with; any other is passed on to it, too."""


def check(statement: CreateStream, json_options: tuple[str, ...]) -> Iterator[Diagnostic]:
    """Yield what is wrong with the options of a stream from Kafka.

    Args:
        statement: it has USING kafka.
        json_options: the names of Spark's options for JSON, which are good where the values are JSON.
    """
    yield from _check_names(statement, json_options)
    yield from _check_needed(statement)
    yield from _check_values(statement)


def _check_names(statement: CreateStream, json_options: tuple[str, ...]) -> Iterator[Diagnostic]:
    reads_json = (option(statement, "value.format") or "").lower() == "json"
    known = (*OPTIONS, *(json_options if reads_json else ()))
    for key, value_span in statement.option_spans:
        span, low = key_span(statement, value_span), key.lower()
        if low in _OURS:
            yield diagnostic("WAREHOUSE_KAFKA_OPTION_OURS", span, option=key)
        elif low.startswith("kafka."):
            meant = close_to(key, _CLIENT, 0.9)
            if meant and low != meant:
                advice = f"did you mean {meant}?"
                yield diagnostic("WAREHOUSE_STREAM_OPTION_UNKNOWN", span, option=key, source="kafka", advice=advice)
        elif low not in {k.lower() for k in known}:
            meant = close_to(key, known, 0.7)
            advice = f"did you mean {meant}?" if meant else f"it has {', '.join(OPTIONS)}, and kafka.… of the client."
            yield diagnostic("WAREHOUSE_STREAM_OPTION_UNKNOWN", span, option=key, source="kafka", advice=advice)


def _check_needed(statement: CreateStream) -> Iterator[Diagnostic]:
    misspelt = any(close_to(key, (SERVERS,), 0.9) for key, _ in statement.option_spans)
    if not option(statement, SERVERS) and not misspelt:
        example = f"{SERVERS} 'localhost:9092'"
        yield diagnostic("WAREHOUSE_KAFKA_OPTION_MISSING", statement.format_span, option=SERVERS, example=example)
    given = [name for name in SUBSCRIPTIONS if option(statement, name)]
    if not given:
        named = {"option": ", ".join(SUBSCRIPTIONS[:-1]) + f" or {SUBSCRIPTIONS[-1]}", "example": "subscribe 'plays'"}
        yield diagnostic("WAREHOUSE_KAFKA_OPTION_MISSING", statement.format_span, **named)
    for name in given[1:]:
        yield diagnostic("WAREHOUSE_KAFKA_SUBSCRIPTIONS", option_span(statement, name), first=given[0], second=name)
    form = (option(statement, "value.format") or "").lower()
    if form == "json" and statement.columns is None:
        name, reason = statement.name.last, "JSON does not declare its columns."
        named = {"name": name, "reason": reason, "source": "kafka"}
        yield diagnostic("WAREHOUSE_STREAM_COLUMNS_UNKNOWN", statement.format_span, **named)
    schema = option(statement, "value.schema")
    if form == "avro" and schema is None:
        example = """value.schema '{"type":"record","name":"Play","fields":[{"name":"player","type":"string"}]}'"""
        span = option_span(statement, "value.format")
        yield diagnostic("WAREHOUSE_KAFKA_OPTION_MISSING", span, option="value.schema", example=example)
    if form != "avro" and schema is not None:
        example = "value.format 'avro'"
        span = option_span(statement, "value.schema")
        yield diagnostic("WAREHOUSE_KAFKA_OPTION_MISSING", span, option="value.format 'avro'", example=example)


def _check_values(statement: CreateStream) -> Iterator[Diagnostic]:
    words = {
        "failOnDataLoss": ("true", "false"), "includeHeaders": ("true", "false"), "value.format": VALUE_FORMATS,
        "reader": READERS,
    }  # fmt: skip
    wrong: list[tuple[str, str]] = []
    for name, allowed in words.items():
        value = option(statement, name)
        if value is not None and value.lower() not in allowed:
            wrong.append((name, " or ".join(f"'{word}'" for word in allowed)))
    starting = option(statement, "startingOffsets")
    if starting is not None and starting.strip().lower() not in ("earliest", "latest") and not _is_offsets(starting):
        wrong.append(("startingOffsets", """'earliest', 'latest' or JSON: {"topic": {"0": 5, "1": -2}}"""))
    assigned = option(statement, "assign")
    if assigned and not _is_assignment(assigned):
        wrong.append(("assign", """JSON: {"topic": [0, 1]}"""))
    pattern = option(statement, "subscribePattern")
    if pattern and not _is_pattern(pattern):
        wrong.append(("subscribePattern", "a regular expression that matches whole names of topics"))
    patience = option(statement, "kafkaConsumer.pollTimeoutMs")
    if patience is not None and not (patience.isdecimal() and int(patience) > 0):
        wrong.append(("kafkaConsumer.pollTimeoutMs", "a number of milliseconds above 0"))
    for name, wanted in wrong:
        value = "***" if is_secret(name) else option(statement, name)
        span = option_span(statement, name)
        yield diagnostic("WAREHOUSE_STREAM_OPTION_VALUE", span, option=name, value=value, wanted=wanted)


def _is_offsets(text: str) -> bool:
    given = _json(text)
    return isinstance(given, dict) and all(
        isinstance(numbers, dict) and all(n.isdecimal() and type(at) is int and at >= -2 for n, at in numbers.items())
        for numbers in given.values()
    )


def _is_assignment(text: str) -> bool:
    given = _json(text)
    return isinstance(given, dict) and all(
        isinstance(numbers, list) and all(type(n) is int and n >= 0 for n in numbers) for numbers in given.values()
    )


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except re.error:
        return False
    return True
