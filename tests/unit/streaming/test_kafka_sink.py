"""What a sink asks of a broker whose coordinator is not there yet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from warehouse.errors import WarehouseError
from warehouse.streaming.kafka import sink as kafka_sink
from warehouse.streaming.log import START, StepLog

kafka = pytest.importorskip("confluent_kafka")


class Group:
    """A consumer whose group's offset is 7, once it has said other things."""

    def __init__(self, *codes: int):
        self.codes = list(codes)

    def committed(self, places, timeout):
        if self.codes:
            raise kafka.KafkaException(kafka.KafkaError(self.codes.pop(0)))
        return [kafka.TopicPartition(places[0].topic, 0, 7)]


def test_a_topic_that_has_later_steps_than_the_folder_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of a copy, or a backup brought back, no step would be sent until there are as many."""
    given = {kafka_sink.SERVERS: "nowhere:1", kafka_sink.TOPIC: "t"}
    monkeypatch.setattr(kafka_sink, "settings", lambda entry: given)
    monkeypatch.setattr(kafka_sink.Sink, "_open", lambda self: setattr(self, "_sent", 7))
    StepLog(tmp_path).commit(replace(START, step=6))
    entry: Any = SimpleNamespace(revision=0, id="t-1")
    session = SimpleNamespace(conf=SimpleNamespace(set=lambda name, value: None))
    spark: Any = SimpleNamespace(newSession=lambda: session)
    with pytest.raises(WarehouseError) as raised:
        kafka_sink.Sink(spark, tmp_path, entry).send()
    assert raised.value.condition == "WAREHOUSE_STEP_LOG_DAMAGED" and "step 7" in str(raised.value)


def test_a_coordinator_that_is_not_there_yet_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_sink, "_AGAIN", 0)
    error = kafka.KafkaError
    assert kafka_sink.committed(Group(error.NOT_COORDINATOR, error.COORDINATOR_LOAD_IN_PROGRESS), "t") == 7
    with pytest.raises(kafka.KafkaException):
        kafka_sink.committed(Group(error.GROUP_AUTHORIZATION_FAILED), "t")
    monkeypatch.setattr(kafka_sink, "_PATIENCE", -1.0)
    with pytest.raises(kafka.KafkaException):
        kafka_sink.committed(Group(error.NOT_COORDINATOR), "t")
