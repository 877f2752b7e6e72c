"""What a sink asks of a broker whose coordinator is not there yet."""

from __future__ import annotations

import pytest

from warehouse.streaming.kafka import sink as kafka_sink

kafka = pytest.importorskip("confluent_kafka")


class Group:
    """A consumer whose group's offset is 7, once it has said other things."""

    def __init__(self, *codes: int):
        self.codes = list(codes)

    def committed(self, places, timeout):
        if self.codes:
            raise kafka.KafkaException(kafka.KafkaError(self.codes.pop(0)))
        return [kafka.TopicPartition(places[0].topic, 0, 7)]


def test_a_coordinator_that_is_not_there_yet_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_sink, "_AGAIN", 0)
    error = kafka.KafkaError
    assert kafka_sink.committed(Group(error.NOT_COORDINATOR, error.COORDINATOR_LOAD_IN_PROGRESS), "t") == 7
    with pytest.raises(kafka.KafkaException):
        kafka_sink.committed(Group(error.GROUP_AUTHORIZATION_FAILED), "t")
    monkeypatch.setattr(kafka_sink, "_PATIENCE", -1.0)
    with pytest.raises(kafka.KafkaException):
        kafka_sink.committed(Group(error.NOT_COORDINATOR), "t")
