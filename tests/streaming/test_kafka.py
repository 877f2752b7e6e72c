"""Streams from Kafka, with a broker on loopback: what is read, once, and what is said of what is not there."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from tests import broker as brokers
from tests import connector
from tests.soak import soaked
from tests.statements import Rows
from tests.streaming.test_pace import wait_until
from warehouse.errors import WarehouseError
from warehouse.streaming import faults
from warehouse.streaming.kafka import client as kafka_client
from warehouse.streaming.kafka import sink as kafka_sink

ALL = os.environ.get("ORACLE_ALL") == "1"

pytest.importorskip("confluent_kafka")

NUMBERS = count(1)


@pytest.fixture(scope="module")
def broker() -> Iterator[brokers.Broker]:
    with brokers.running() as started:
        yield started


@pytest.fixture
def topic(broker: brokers.Broker) -> str:
    return broker.topic(f"topic{next(NUMBERS)}")


@pytest.fixture(params=["python", "spark"])
def reader(request: pytest.FixtureRequest) -> str:
    if request.param not in connector.readers():
        pytest.skip("the jars of Spark's connector could not be fetched")
    return request.param


@pytest.fixture
def made(broker: brokers.Broker, rows: Rows, reader: str) -> Callable[..., None]:
    """Return ``made(columns, options)``: the stream ``k`` with these."""

    def make(columns: str, replace: bool = False, **options: str) -> None:
        given = {"kafka.bootstrap.servers": broker.servers, "reader": reader}
        given |= {k.replace("_", "."): v for k, v in options.items()}
        listed = ", ".join(f"{name} '{value}'" for name, value in given.items())
        rows(f"CREATE {'OR REPLACE ' if replace else ''}STREAM k {columns} USING kafka OPTIONS ({listed})")

    return make


def values(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in found]


def test_json_with_broken_values_in_bounded_steps(broker, topic, made, rows):
    broker.send(topic, {"a": 1}, {"a": "no"}, b"nonsense", [{"a": 2}, {"a": 3}], b"", None, {"a": 4}, key="x")
    made("(a INT, _key STRING, _offset BIGINT)", subscribe=topic, value_format="json", maxOffsetsPerTrigger="3")
    rows("CREATE STREAMING TABLE t AS SELECT a, _key, _offset AS at FROM STREAM k")
    assert values(rows("SELECT * FROM t ORDER BY at")) == [(1, "x", 0), (None, "x", 5), (4, "x", 6)]
    assert values(rows("SELECT _record, _why, _position FROM bad_rows('k') ORDER BY _position")) == [
        ('{"a": "no"}', "NOT_PARSED", f"{topic}-0@1"),
        ("nonsense", "NOT_PARSED", f"{topic}-0@2"),
        ('[{"a": 2}, {"a": 3}]', "NOT_PARSED", f"{topic}-0@3"),
        ("", "NOT_PARSED", f"{topic}-0@4"),
    ]
    assert values(rows("SELECT a, _offset FROM STREAM k WHERE a IS NOT NULL ORDER BY _offset")) == [(1, 0), (4, 6)]
    assert values(rows("SELECT count(*) FROM STREAM k")) == [(3,)]
    assert values(rows("SELECT step, rows_in, bad FROM stream_progress('t')")) == [(1, 3, 2), (2, 3, 2), (3, 1, 0)]


@pytest.mark.parametrize("reader", ["spark", soaked("python")], indirect=True)
def test_records_as_they_are_and_a_topic_that_comes_late(broker, made, rows):
    late = f"late{next(NUMBERS)}"
    made("", subscribePattern=f"{late[:-1]}[{late[-1]}]", includeHeaders="true")
    rows("CREATE STREAMING TABLE t AS SELECT * FROM STREAM k")
    assert rows("SELECT * FROM t") == []
    broker.send(broker.topic(late), b"\x00\xff", key=b"k", headers=[("h", b"1"), ("h", None)], timestamp=1_000)
    rows("REFRESH STREAMING TABLE t")
    headers = [{"key": "h", "value": b"1"}, {"key": "h", "value": None}]
    (found,) = rows("SELECT * EXCEPT (timestamp), unix_millis(timestamp) AS at FROM t")
    assert tuple(found.values()) == (b"k", b"\x00\xff", late, 0, 0, 0, headers, 1_000)
    rows("REFRESH STREAMING TABLE t")
    assert len(rows("SELECT * FROM t")) == 1


@pytest.mark.parametrize("reader", ["python", soaked("spark")], indirect=True)
def test_avro(broker, topic, made, rows):
    from fastavro import parse_schema, schemaless_writer

    schema = """{"type":"record","name":"Play","fields":[{"name":"player","type":"string"},
        {"name":"score","type":["null","int"]},{"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},
        {"name":"tags","type":{"type":"array","items":"string"}}]}"""
    play = {"player": "ann", "score": 3, "at": 1_000, "tags": ["x"]}
    out = io.BytesIO()
    schemaless_writer(out, parse_schema(json.loads(schema)), play)
    broker.send(topic, out.getvalue(), out.getvalue()[:-2], out.getvalue() + b"more")
    made("", subscribe=topic, value_format="avro", value_schema=schema)
    rows("CREATE STREAMING TABLE t AS SELECT player, score, unix_millis(at) AS at, tags FROM STREAM k")
    assert rows("SELECT * FROM t") == [play]
    positions = values(rows("SELECT _position FROM bad_rows('k') ORDER BY _position"))
    assert positions == [(f"{topic}-0@1",), (f"{topic}-0@2",)]


@pytest.mark.skipif(not ALL, reason="ORACLE_ALL=1 takes all that a broker can do")
def test_partitions_added_while_it_runs_are_read_from_their_first_record(broker, topic, made, rows):
    broker.send(topic, {"a": 1})
    made("(a INT)", subscribe=topic, value_format="json", startingOffsets="latest")
    rows("CREATE STREAMING TABLE t AS SELECT a FROM STREAM k")
    broker.partitions(topic, 2)
    broker.send(topic, {"a": 2}, partition=1)
    broker.send(topic, {"a": 3})
    rows("REFRESH STREAMING TABLE t")
    assert values(rows("SELECT a FROM t ORDER BY a")) == [(2,), (3,)]


@pytest.mark.soak
def test_a_step_that_fails_is_run_again_with_the_same_records(broker, topic, made, rows):
    broker.send(topic, {"a": 1}, {"a": 2})
    made("(a INT, _partition INT)", subscribe=topic, value_format="json", startingOffsets="earliest")
    rows("CREATE STREAMING TABLE t AS SELECT a FROM STREAM k WHERE a > 0")
    broker.send(topic, {"a": 3})
    for boundary in ("intent", "panes"):
        faults.arm(boundary, _fail)
        with pytest.raises(ZeroDivisionError):
            rows("REFRESH STREAMING TABLE t")
        broker.send(topic, {"a": 4})
    rows("REFRESH STREAMING TABLE t")
    assert values(rows("SELECT a FROM t ORDER BY a")) == [(1,), (2,), (3,), (4,), (4,)]
    assert values(rows("SELECT rows_in FROM stream_progress('t')")) == [(2,), (1,), (2,)]


@pytest.mark.soak
def test_what_runs_on_asks_the_broker_for_more_through_one_query(broker, topic, made, rows, engine):
    """Whatever else reads the topics for the table in between, or takes the place of what is read."""
    active = engine.spark._jsparkSession.sharedState().activeStreamingQueries()
    broker.send(topic, *({"a": number} for number in range(10)))
    made("(a INT)", subscribe=topic, value_format="json", maxOffsetsPerTrigger="4")
    rows("CREATE STREAMING TABLE t AS SELECT a FROM STREAM k WHERE a < 0")
    broker.send(topic, *({"a": -number - 1} for number in range(10)))

    def until(count: int) -> None:
        wait_until(lambda: values(rows("SELECT count(*) FROM t")) == [(count,)])

    rows("START STREAMING TABLE t EVERY INTERVAL 1 SECOND")
    until(10)
    (standing,) = (query.runId().toString() for query in active.values())
    broker.send(topic, {"a": -11})
    until(11)
    assert [query.runId().toString() for query in active.values()] == [standing]
    broker.send(topic, {"a": -12})
    rows("REFRESH STREAMING TABLE t")
    until(12)
    broker.partitions(topic, 2)
    broker.send(topic, {"a": -13}, partition=1)
    until(13)
    assert values(rows("SELECT rows_in FROM stream_progress('t') WHERE step > 3 LIMIT 3")) == [(4,), (4,), (2,)]
    made("(a INT)", replace=True, subscribe=topic, value_format="json")
    broker.send(topic, {"a": -14})
    until(14)
    rows("STOP STREAMING TABLE t")
    assert active.isEmpty()
    broker.send(topic, {"a": -15})
    rows("REFRESH STREAMING TABLE t")
    assert values(rows("SELECT a FROM t ORDER BY a DESC")) == [(-number,) for number in range(1, 16)]


@pytest.mark.soak
def test_what_runs_on_and_fails_says_why_and_takes_the_same_records_when_it_is_started_again(broker, topic, made, rows):
    broker.send(topic, {"a": 1})
    made("(a INT)", subscribe=topic, value_format="json")
    rows("CREATE STREAMING TABLE t AS SELECT k, 10 DIV a AS b FROM (SELECT 1 AS k, a FROM STREAM k)")
    rows("START STREAMING TABLE t EVERY INTERVAL 1 SECOND")
    broker.send(topic, {"a": 2})
    wait_until(lambda: values(rows("SELECT count(*) FROM t")) == [(2,)])
    # When its rows show, a step has yet to be committed.
    wait_until(lambda: values(rows("SELECT sum(rows_in) FROM stream_progress('t')")) == [(2,)])
    faults.arm("panes", _fail)
    broker.send(topic, {"a": 5})
    wait_until(lambda: values(rows("SELECT count(*) FROM t")) == [(3,)])
    with pytest.raises(ZeroDivisionError):
        rows("STOP STREAMING TABLE t")
    rows("START STREAMING TABLE t EVERY INTERVAL 1 SECOND")
    broker.send(topic, {"a": 10})
    wait_until(lambda: values(rows("SELECT count(*) FROM t")) == [(4,)])
    rows("STOP STREAMING TABLE t")
    assert values(rows("SELECT b FROM t ORDER BY b")) == [(1,), (2,), (5,), (10,)]


def _fail() -> None:
    raise ZeroDivisionError


@pytest.mark.skipif(not ALL, reason="ORACLE_ALL=1 takes all that a broker can do")
def test_of_transactions_the_committed_ones_are_read(broker, topic, made, rows):
    broker.transaction(topic, {"a": 1})
    broker.transaction(topic, {"a": 2}, {"a": 3}, commit=False)
    made("(a INT)", subscribe=topic, value_format="json")
    rows("CREATE STREAMING TABLE t AS SELECT a FROM STREAM k")
    assert values(rows("SELECT a FROM t")) == [(1,)]
    broker.transaction(topic, {"a": 4})
    rows("REFRESH STREAMING TABLE t")
    assert values(rows("SELECT a FROM t ORDER BY a")) == [(1,), (4,)]


def test_offsets_that_are_lost(broker, topic, made, rows):
    options = {"subscribe": topic, "value_format": "json"}
    broker.send(topic, {"a": 1})
    made("(a INT)", **options)
    rows("CREATE STREAMING TABLE t AS SELECT a FROM STREAM k")
    broker.send(topic, {"a": 2}, {"a": 3}, {"a": 4})
    broker.forget(topic, before=3)
    with pytest.raises(WarehouseError) as error:
        rows("REFRESH STREAMING TABLE t")
    said = f"Records of {topic} were removed from Kafka before they were read ({topic}-0: 1 to 2). SQLSTATE: 58030"
    assert str(error.value).startswith(f"[WAREHOUSE_KAFKA_OFFSETS_LOST] {said} (line 1")
    assert "\nhint: CREATE OR REPLACE the stream with failOnDataLoss 'false'" in str(error.value)
    made("(a INT)", replace=True, failOnDataLoss="false", **options)
    rows("REFRESH STREAMING TABLE t")
    assert values(rows("SELECT a FROM t ORDER BY a")) == [(1,), (4,)]
    assert values(rows("SELECT _record, _why, _position FROM bad_rows('k')")) == [
        ("lost: offsets 1 to 2", "OFFSETS_LOST", f"{topic}-0@1")
    ]


@pytest.mark.skipif(not ALL, reason="ORACLE_ALL=1 takes all that a broker can do")
@pytest.mark.parametrize("goes_on", [False, True])
def test_topics_that_go_or_are_made_again(broker, topic, made, rows, goes_on):
    other, options = broker.topic(f"{topic}-other"), {"value_format": "json", "failOnDataLoss": str(not goes_on)}
    gone, again = f"{other}-0: everything after 1", f"{other}-0: everything after 0"
    broker.send(topic, {"a": 1})
    broker.send(other, {"a": 2}, {"a": 3})
    made("(a INT)", subscribe=f"{topic},{other},{topic}-none", **options)
    rows("CREATE STREAMING TABLE t AS SELECT a FROM STREAM k")
    broker.drop(other)
    broker.send(topic, {"a": 4})
    if goes_on:
        rows("REFRESH STREAMING TABLE t")
    else:
        with pytest.raises(WarehouseError, match=rf"KAFKA_OFFSETS_LOST\].*\({gone}\)"):
            rows("REFRESH STREAMING TABLE t")
    broker.topic(other)
    broker.send(other, {"a": 5})
    if not goes_on:
        with pytest.raises(WarehouseError, match=rf"KAFKA_OFFSETS_LOST\].*\({again}\)"):
            rows("REFRESH STREAMING TABLE t")
        assert rows("SELECT * FROM bad_rows('k')") == []
        made("(a INT)", replace=True, subscribe=f"{topic},{other}", **options | {"failOnDataLoss": "false"})
    rows("REFRESH STREAMING TABLE t")
    broker.send(other, {"a": 6})
    rows("REFRESH STREAMING TABLE t")
    assert values(rows("SELECT a FROM t ORDER BY a")) == [(a,) for a in (1, 2, 3, 4, *([5] if goes_on else []), 6)]
    told = values(rows("SELECT _record, _why, _position FROM bad_rows('k')"))
    at = 2 if goes_on else 1
    assert told == [("lost: the topic was made again", "OFFSETS_LOST", f"{other}-0@{at}")]


@pytest.mark.skipif(not ALL, reason="ORACLE_ALL=1 takes all that a broker can do")
def test_two_streams_of_which_one_passes_over_what_is_lost(broker, topic, reader, rows):
    topics = {"k": topic, "m": broker.topic(f"{topic}-other", 2)}
    for name, fails in (("k", "true"), ("m", "false")):
        told = f"kafka.bootstrap.servers '{broker.servers}', subscribe '{topics[name]}', reader '{reader}'"
        rows(
            f"CREATE STREAM {name} (a INT) USING kafka OPTIONS ({told}, value.format 'json', failOnDataLoss '{fails}')"
        )
        broker.send(topics[name], {"a": 1})
    rows("CREATE STREAMING TABLE t AS SELECT a, 'k' AS s FROM STREAM k UNION ALL SELECT a, 'm' FROM STREAM m")
    for offset in (1, 2):
        broker.send(topics["m"], {"a": 2}, {"a": 3}, partition=1)
        broker.forget(topics["m"], before=2 * offset - 1, partition=1)
        broker.send(topic, {"a": 2}, {"a": 3})
        if offset == 2:
            broker.forget(topic, before=4)
            with pytest.raises(WarehouseError, match=rf"KAFKA_OFFSETS_LOST\].* of {topic} .*\({topic}-0: 3 to 3\)"):
                rows("REFRESH STREAMING TABLE t")
        else:
            rows("REFRESH STREAMING TABLE t")
    assert values(rows("SELECT s, a FROM t ORDER BY s, a")) == [("k", a) for a in (1, 2, 3)] + [("m", 1), ("m", 3)]
    assert values(rows("SELECT _record, _position FROM bad_rows('m')")) == [
        ("lost: offsets 0 to 0", f"{topic}-other-1@0")
    ]


@pytest.mark.skipif(not ALL, reason="ORACLE_ALL=1 takes all that a broker can do")
def test_where_a_table_and_a_query_start(broker, topic, made, rows):
    broker.partitions(topic, 3)
    for partition in range(3):
        broker.send(topic, *({"a": 10 * partition + number} for number in range(4)), partition=partition)
    broker.send(broker.topic(f"{topic}-more"), {"a": 100})
    broker.forget(topic, before=2, partition=1)
    starts = json.dumps({topic: {"0": 3, "2": -1}, "none": {"0": 5}})
    made("(a INT)", subscribePattern=topic, value_format="json", startingOffsets=starts)
    rows("CREATE STREAMING TABLE t AS SELECT a FROM STREAM k")
    broker.send(topic, {"a": 24}, partition=2)
    rows("REFRESH STREAMING TABLE t")
    for relation in ("t", "STREAM k"):
        expected = [(3,), (12,), (13,), (24,)] if relation == "t" else [(3,), (12,), (13,)]
        assert values(rows(f"SELECT a FROM {relation} ORDER BY a")) == expected
    starts = json.dumps({topic: {"1": 0}})
    made("(a INT)", replace=True, subscribe=topic, value_format="json", startingOffsets=starts)
    assert values(rows("SELECT count(*), min(a) FILTER (WHERE a >= 10) FROM STREAM k")) == [(11, 12)]
    with pytest.raises(WarehouseError, match=rf"KAFKA_OFFSETS_LOST\].*\({topic}-1: 0 to 1\)"):
        rows("CREATE STREAMING TABLE u AS SELECT a FROM STREAM k; REFRESH STREAMING TABLE u")


def test_records_that_go_while_a_step_is_read(broker, topic):
    config = kafka_client.configuration({"kafka.bootstrap.servers": broker.servers})
    broker.send(topic, *range(6))
    broker.forget(topic, before=4)
    found: list[int] = []
    for begin, end, read in ((0, 6, [4, 5]), (0, 5, [4]), (0, 3, [])):
        taken = kafka_client.messages(config, (topic, 0), begin, end, 120, found.append)
        assert [m.offset() for some in taken for m in some] == read
    assert found == [4, 4, 4]


@pytest.mark.soak
def test_panes_are_sent_on_once_whatever_fails(broker, topic, made, rows, monkeypatch):
    sent = broker.topic(f"{topic}-sent")
    broker.send(topic, {"team": "red", "n": 1}, {"team": "blue", "n": 5})
    made("(team STRING, n INT)", subscribe=topic, value_format="json")
    given = {"kafka.bootstrap.servers": broker.servers, "kafka.topic": sent, "kafka.sasl.password": "open sesame"}
    properties = ", ".join(f"'{name}' = '{value}'" for name, value in given.items())
    query = "SELECT team, sum(n) AS total FROM STREAM k GROUP BY team WINDOW GLOBAL TRIGGER REPEAT EVERY ROW RETRACTING"
    rows(f"CREATE STREAMING TABLE t TBLPROPERTIES ({properties}) AS {query}")
    first = [('["blue"]', "insert", 5), ('["red"]', "insert", 1)]
    assert sorted(received(broker, sent)) == first
    broker.send(topic, {"team": "red", "n": 2})
    with monkeypatch.context() as patched, pytest.raises(ZeroDivisionError):
        patched.setattr(kafka_sink.Sink, "_note", lambda *_: _fail())  # when it was sent
        rows("REFRESH STREAMING TABLE t")
    second = [('["red"]', "delete", 1), ('["red"]', "insert", 3)]
    assert received(broker, sent)[2:] == second
    broker.send(topic, {"team": "red", "n": 4})
    with monkeypatch.context() as patched, pytest.raises(ZeroDivisionError):
        patched.setattr(kafka_sink.Sink, "_note", lambda *_: _fail())
        patched.setattr(kafka_sink.Sink, "_produce", lambda *_: _fail())  # in the middle of a transaction
        rows("REFRESH STREAMING TABLE t")
    rows.args[0].tables.feeds._sinks.clear()  # as in a new process
    rows("REFRESH STREAMING TABLE t")
    assert received(broker, sent)[4:] == [('["red"]', "delete", 3), ('["red"]', "insert", 7)]
    changed = query.replace("AS total", "AS total, sum(n) * 2 AS twice")  # its state is carried over
    rows(f"CREATE OR REPLACE STREAMING TABLE t TBLPROPERTIES ({properties}) AS {changed}")
    broker.send(topic, {"team": "blue", "n": 1})
    rows("REFRESH STREAMING TABLE t")
    assert received(broker, sent)[6:] == [('["blue"]', "delete", 5), ('["blue"]', "insert", 6)]
    assert "sesame" not in str(rows("DESCRIBE EXTENDED STREAMING TABLE t"))
    with pytest.raises(WarehouseError, match="KAFKA_TOPIC_NOT_FOUND"):
        rows(f"CREATE STREAMING TABLE u TBLPROPERTIES ({properties.replace('-sent', '-none')}) AS {query}")


def received(broker: brokers.Broker, topic: str) -> list[tuple[str, str, int]]:
    """Return key, change and total of the records that are committed in a topic of one partition."""
    config = kafka_client.configuration({"kafka.bootstrap.servers": broker.servers})
    broker.settle(topic)
    marks = kafka_client.Broker(config).marks([(topic, 0)])
    lists = kafka_client.messages(config, (topic, 0), 0, marks.latest[topic, 0], 120, lambda first: None)
    taken = [(m.key().decode(), json.loads(m.value())) for some in lists for m in some]
    return [(key, value["_change_type"], value["total"]) for key, value in taken]


@pytest.mark.soak
def test_a_broker_that_does_not_answer_and_one_that_refuses_its_settings(made, reader):
    why = {"python": "Connection refused", "spark": "Timed out"}[reader]
    with pytest.raises(WarehouseError, match=rf"KAFKA_UNREACHABLE.*127.0.0.1:1 .*{why}"):
        made("", kafka_bootstrap_servers="127.0.0.1:1", subscribe="t")
    with pytest.raises(WarehouseError, match=r'KAFKA_CONFIGURATION.*"kafkaesque"'):
        made("", subscribe="t", kafka_kafkaesque="1")


def test_secrets_are_shown_to_nobody(engine, rows, made):
    made("", subscribe="t", kafka_sasl_password="open sesame")
    described = rows("DESCRIBE EXTENDED STREAM k") + rows("EXPLAIN EXTENDED SELECT * FROM STREAM k")
    assert "kafka.sasl.password=***" in str(described)
    with pytest.raises(WarehouseError) as error:
        made("", replace=True, subscribe="t", kafka_sasl_passwort="open sesame")
    assert "kafka.sasl.password?" in str(error.value)
    logged = [file.read_text(errors="replace") for file in (engine.folder / "logs").rglob("*") if file.is_file()]
    assert logged
    assert not [text for text in (str(described), str(error.value), *logged) if "sesame" in text]
