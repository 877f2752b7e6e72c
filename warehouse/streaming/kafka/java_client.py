"""Kafka's Java client, which comes with Spark's connector: what a table that is read by that asks a broker.

It runs in the engine's JVM, takes the settings that the connector takes, and needs no package of Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from warehouse.errors import fail
from warehouse.streaming.kafka.client import PATIENCE, RENAMED, of_client
from warehouse.streaming.kafka.offsets import Marks, Offsets, Place

_PEM = {"ssl.truststore.location": "ssl.truststore.type", "ssl.truststore.certificates": "ssl.truststore.type",
        "ssl.keystore.certificate.chain": "ssl.keystore.type"}  # fmt: skip
"""Settings that librdkafka takes in PEM alone, and where Java is told so."""

_LOGIN = 'org.apache.kafka.common.security.{} required username="{}" password="{}";'

_SOON = {name: str(int(PATIENCE * 1000)) for name in ("request.timeout.ms", "default.api.timeout.ms")}


def settings(options: Mapping[str, str]) -> dict[str, str]:
    """Return the client's settings for the options ``kafka.*``, those by librdkafka's names by Java's.

    Example:
        >>> settings({"kafka.bootstrap.servers": "b:9092", "kafka.ssl.ca.location": "ca.pem"})["ssl.truststore.type"]
        'PEM'
    """
    names, out = {theirs: java for java, theirs in RENAMED.items()} | {"sasl.mechanisms": "sasl.mechanism"}, {}
    for name, value in of_client(options).items():
        java = names.get(name, name)
        out[java] = value
        if name in names and java in _PEM:
            out.setdefault(_PEM[java], "PEM")
    user, password = (out.pop(f"sasl.{name}", None) for name in ("username", "password"))
    if user is not None or password is not None:
        scram = out.get("sasl.mechanism", "").upper().startswith("SCRAM")
        module = "scram.ScramLoginModule" if scram else "plain.PlainLoginModule"
        out.setdefault("sasl.jaas.config", _LOGIN.format(module, _in_quotes(user), _in_quotes(password)))
    return out


def _in_quotes(value: str | None) -> str:
    return (value or "").replace("\\", r"\\").replace('"', r"\"")


class Broker:
    """Answers questions about topics, with a connection for each, as ``client.Broker`` does.

    Args:
        spark: a session of an engine that has the connector.
        options: those of a stream.

    Raises:
        WarehouseError: the client knows no such setting.
    """

    def __init__(self, spark: SparkSession, options: Mapping[str, str]):
        assert spark._jvm
        self._apache: Any = spark._jvm.org.apache.kafka
        self._java: Any = spark._jvm.java
        given = settings(options)
        known = set(self._apache.clients.consumer.ConsumerConfig.configNames())
        for name in sorted(given.keys() - known):
            fail("WAREHOUSE_KAFKA_CONFIGURATION", reason=f'No such configuration property: "{name}"')
        asking = set(self._apache.clients.admin.AdminClientConfig.configNames())
        self._settings = {name: value for name, value in given.items() if name in asking} | _SOON
        self._servers = given["bootstrap.servers"]
        self._isolated = given.get("isolation.level") != "read_uncommitted"

    def partitions(self) -> dict[str, list[int]]:
        """Return the partitions of all topics."""
        with self._asking() as admin:
            found = admin.describeTopics(admin.listTopics().names().get()).allTopicNames().get()
            return {name: sorted(p.partition() for p in found[name].partitions()) for name in found}

    def marks(self, places: list[Place]) -> Marks:
        """Return the first offset of each partition and the one after its last committed record."""
        which = self._apache.clients.admin.OffsetSpec
        with self._asking() as admin:
            return Marks(*(self._offsets(admin, places, spec) for spec in (which.earliest(), which.latest())))

    def _offsets(self, admin: Any, places: list[Place], which: Any) -> Offsets:
        levels = self._apache.common.IsolationLevel
        level = levels.READ_COMMITTED if self._isolated else levels.READ_UNCOMMITTED
        asked = {place: self._apache.common.TopicPartition(*place) for place in places}
        questions = self._java.util.HashMap()
        for partition in asked.values():
            questions.put(partition, which)
        answers = admin.listOffsets(questions, self._apache.clients.admin.ListOffsetsOptions(level)).all().get()
        return {place: answers.get(partition).offset() for place, partition in asked.items()}

    @contextmanager
    def _asking(self) -> Iterator[Any]:
        properties = self._java.util.Properties()
        for name, value in self._settings.items():
            properties.put(name, value)
        try:
            admin = self._apache.clients.admin.AdminClient.create(properties)
        except Py4JJavaError as error:
            fail("WAREHOUSE_KAFKA_CONFIGURATION", reason=_reason(error))
        try:
            yield admin
        except Py4JJavaError as error:
            fail("WAREHOUSE_KAFKA_UNREACHABLE", servers=self._servers, reason=_reason(error))
        finally:
            admin.close(self._java.time.Duration.ZERO)


def _reason(error: Py4JJavaError) -> str:
    """Return what the innermost of Java's errors says."""
    java = error.java_exception
    while java.getCause() is not None:
        java = java.getCause()
    return str(java.getMessage() or java.getClass().getSimpleName()).rstrip(".")
