"""Kafka without a broker: which offsets a step has, what the client is told, which reader is taken."""

from types import SimpleNamespace as Made
from typing import Any

import pytest

from warehouse.catalog.entries import Column
from warehouse.errors import WarehouseError, is_secret
from warehouse.streaming.kafka import avro_values, java_client
from warehouse.streaming.kafka import client as kafka_client
from warehouse.streaming.kafka import reading as kafka
from warehouse.streaming.kafka.client import Subscription
from warehouse.streaming.kafka.offsets import Lost, Marks, Step, bounded, next_step

A, B, C = ("a", 0), ("a", 1), ("b-c", 0)


def marks(**of: tuple[int, int]) -> Marks:
    places = {"A": A, "B": B, "C": C}
    return Marks({places[n]: m[0] for n, m in of.items()}, {places[n]: m[1] for n, m in of.items()})


def test_a_step_reads_on_and_takes_up_what_was_added():
    assert next_step({A: 3}, marks(A=(0, 5), B=(0, 2)), None) == Step({A: 3, B: 0}, {A: 5, B: 2})
    assert next_step({}, marks(), None) == Step({}, {})


@pytest.mark.parametrize(
    ("start", "there", "lost"),
    [
        ({A: 3}, marks(A=(4, 5)), Lost(A, 3, 4)),
        ({A: 3}, marks(A=(0, 2)), Lost(A, 2, 2)),
        ({A: 3}, marks(A=(3, 3), B=(7, 9)), Lost(B, 0, 7)),
        ({A: 3, C: 2}, marks(A=(3, 3)), Lost(C, 2, 2)),
    ],
    ids=["removed", "made again", "removed before it was seen", "gone"],
)
def test_what_is_lost_is_passed_over_and_told(start, there, lost):
    step = next_step(start, there, None)
    assert step.lost == (lost,)
    assert all(there.earliest[p] <= step.begin[p] <= step.end[p] <= there.latest[p] for p in there.latest)
    assert next_step(step.end, there, None).lost == ()


@pytest.mark.parametrize("most", [0, 1, 2, 5, 16, 17, 18, None])
def test_a_bounded_step_has_as_many_offsets_as_it_may_and_the_rest_comes_after(most):
    begin, latest = {A: 0, B: 10, C: 5}, {A: 10, B: 11, C: 11}
    end = bounded(begin, latest, most)
    assert sum(end.values()) - sum(begin.values()) == min(17, 17 if most is None else most)
    assert all(begin[p] <= end[p] <= latest[p] for p in begin)


def test_a_step_comes_back_from_the_log_as_it_was():
    step = Step({A: 1, C: 0}, {A: 2, C: 7}, (Lost(A, 0, 1), Lost(C, 5, 5)))
    assert Step.from_json(step.as_json()) == step
    assert "lost" not in Step({A: 1}, {A: 1}).as_json()


def test_a_step_that_is_run_again_reads_what_its_end_says_whatever_its_start_is_now():
    """Spark's log holds no start of the first step: it asks again where to start, and that may have moved."""
    from warehouse.streaming.kafka.source import KafkaReader

    reader = KafkaReader({"kafka.bootstrap.servers": "h:1", "subscribe": "a"}, None)  # type: ignore[arg-type]
    first = Step({A: 1}, {A: 1}).as_json()
    end = Step({A: 1, B: 0}, {A: 4, B: 0}).as_json()
    moved = Step({A: 3}, {A: 3}).as_json()
    for start in (first, moved):
        assert [(r.place, r.begin, r.end) for r in reader.partitions(start, end)] == [(A, 1, 4)]  # type: ignore[attr-defined]
    assert reader.partitions(end, end) == []


def test_a_worker_knows_the_columns_of_a_record_as_the_planner_does():
    from warehouse.planning.streams.kafka import HEADERS, RECORD
    from warehouse.streaming.kafka import source as kafka_source

    assert kafka_source.RAW.lower() == ", ".join(f"{c.name} {c.type}" for c in RECORD).lower()
    assert kafka_source.HEADERS.lower().replace(": ", ":").replace(", ", ",") == f"headers {HEADERS.type}"


def test_where_a_stream_starts():
    from warehouse.streaming.kafka.offsets import starting_offsets

    there = marks(A=(2, 9), B=(0, 4))
    assert starting_offsets("earliest", there) == there.earliest
    assert starting_offsets("latest", there) == there.latest
    assert starting_offsets('{"a": {"0": -1}}', there) == {A: 9, B: 0}
    assert starting_offsets('{"a": {"0": 5, "1": -2}}', there) == {A: 5, B: 0}


def test_what_is_subscribed_to():
    there = {"a": [0, 1], "ab": [0], "b-c": [0]}
    assert Subscription(topics=("a", "none")).chosen(there) == [A, B]
    assert Subscription(pattern="a|b.*").chosen(there) == [A, B, C]
    assert Subscription(places=(B, ("a", 7))).chosen(there) == [B]
    assert kafka_client.subscription({"assign": '{"a": [1, 0]}'}).places == (A, B)


def test_spark_names_of_settings_become_those_of_the_client():
    jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";'
    told = kafka_client.configuration(
        {"kafka.bootstrap.servers": "h:1", "kafka.sasl.jaas.config": jaas, "kafka.fetch.max.wait.ms": "7"}
    )
    assert told == {
        "bootstrap.servers": "h:1", "isolation.level": "read_committed", "fetch.wait.max.ms": "7",
        "sasl.username": "u", "sasl.password": "p",
    }  # fmt: skip


def test_names_of_settings_are_those_of_either_client():
    given = {"ssl.ca.location": "ca.pem", "fetch.wait.max.ms": "7", "sasl.username": "u", "sasl.password": 'p"\\',
             "sasl.mechanism": "SCRAM-SHA-512"}  # fmt: skip
    assert java_client.settings({f"kafka.{name}": value for name, value in given.items()}) == {
        "ssl.truststore.location": "ca.pem", "ssl.truststore.type": "PEM", "fetch.max.wait.ms": "7",
        "sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule"
        r' required username="u" password="p\"\\";',
    }  # fmt: skip
    own = {"kafka.ssl.truststore.location": "trust.jks", "kafka.ssl.truststore.type": "JKS"}
    assert java_client.settings(own) == {"ssl.truststore.location": "trust.jks", "ssl.truststore.type": "JKS"}


@pytest.mark.parametrize(("there", "reader"), [(True, "spark"), (False, "python")])
def test_sparks_own_connector_is_taken_where_its_jars_are(there, reader):
    utils = Made(classIsLoadable=lambda name: there and name == kafka.CONNECTOR)
    jvm = Made(org=Made(apache=Made(spark=Made(util=Made(Utils=utils)))))
    spark: Any = Made(_jvm=jvm)
    assert kafka.settled(spark, {}, None) == {"reader": reader, "startingOffsets": "earliest"}
    assert kafka.settled(spark, {"Reader": "python", "startingoffsets": "latest"}, None) == {}
    old: Any = Made(format="kafka", option={"reader": "python"}.get)
    assert kafka.settled(spark, {}, old)["reader"] == "python"
    if not there:
        stream: Any = Made(option={"reader": "Spark"}.get, options=())
        with pytest.raises(WarehouseError, match="KAFKA_CONNECTOR"):
            kafka.broker(spark, stream)


def test_avro_types():
    fields = [
        {"name": "n", "type": {"type": "record", "name": "N", "fields": [{"name": "x", "type": "int"}]}},
        {"name": "again", "type": ["null", {"type": "array", "items": "N"}]},
        {"name": "money", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "m", "type": {"type": "map", "values": ["int", "long"]}},
        {"name": "e", "type": {"type": "enum", "name": "E", "symbols": ["X"]}},
    ]
    found = avro_values.columns(str({"type": "record", "name": "R", "fields": fields}).replace("'", '"'))
    assert found == (
        Column("n", "struct<x:int>"),
        Column("again", "array<struct<x:int>>"),
        Column("money", "decimal(9,2)"),
        Column("m", "map<string,bigint>"),
        Column("e", "string"),
    )
    for broken in (
        "{",
        '"int"',
        '{"type": "record", "name": "R", "fields": [{"name": "a", "type": ["int", "string"]}]}',
    ):
        with pytest.raises(WarehouseError, match="KAFKA_AVRO_SCHEMA"):
            avro_values.columns(broken)


def test_what_is_a_secret():
    for name in ("kafka.sasl.password", "kafka.sasl.jaas.config", "kafka.ssl.key.pem", "kafka.sasl.passwd", "apiToken"):
        assert is_secret(name)
    for name in ("subscribe", "kafka.ssl.keystore.location", "header", "value.format"):
        assert not is_secret(name)
