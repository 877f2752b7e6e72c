"""The Kafka client of Python (librdkafka): its configuration from Spark's option names, and what it asks a broker.

Used in the driver and in Spark's Python workers; knows nothing of Spark. It prints nothing: what librdkafka has
to say comes back in the errors.
"""

from __future__ import annotations

import json
import logging
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NoReturn

from warehouse.errors import fail
from warehouse.streaming.kafka.offsets import Marks, Offsets, Place

PATIENCE = 5.0
"""Seconds to wait for a broker's answer."""

_FIRST, _MOST, _BYTES = 500, 10_000, 16_000_000
"""Messages that are asked for at first, at most, and about how many bytes of them at once."""

RENAMED = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "request.timeout.ms": "socket.timeout.ms",
    "ssl.truststore.location": "ssl.ca.location",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
}
"""Java's names of settings, which are Spark's, and librdkafka's for the same."""

JAVA_ONLY = frozenset({
    "max.poll.records", "default.api.timeout.ms", "ssl.truststore.type", "ssl.keystore.type",
    "ssl.truststore.password", "client.dns.lookup.timeout.ms", "metric.reporters", "exclude.internal.topics",
})  # fmt: skip
"""Settings of the Java client that have no counterpart and change no result."""

_QUIET = logging.Logger("warehouse.kafka")  # stands alone: nothing that is said to it goes anywhere
_QUIET.addHandler(logging.NullHandler())


@dataclass(frozen=True)
class Subscription:
    """Which partitions are read: of the named topics, of topics whose whole name matches, or just those given."""

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    places: tuple[Place, ...] = ()

    def chosen(self, there: Mapping[str, list[int]]) -> list[Place]:
        """Return the partitions to read among those that are there."""
        if self.places:
            return [place for place in self.places if place[1] in there.get(place[0], ())]
        names = sorted(there)
        if self.pattern is not None:
            names = [name for name in names if re.fullmatch(self.pattern, name)]
        else:
            names = [name for name in names if name in self.topics]
        return [(name, number) for name in names for number in sorted(there[name])]

    def __str__(self) -> str:
        if self.places:
            return ", ".join(f"{topic}-{partition}" for topic, partition in self.places)
        return self.pattern if self.pattern is not None else ", ".join(self.topics)


def subscription(options: Mapping[str, str]) -> Subscription:
    """Return what ``options`` (names in lower case) subscribe to."""
    if "assign" in options:
        given = json.loads(options["assign"])
        return Subscription(places=tuple((t, int(n)) for t, numbers in sorted(given.items()) for n in sorted(numbers)))
    if "subscribepattern" in options:
        return Subscription(pattern=options["subscribepattern"])
    return Subscription(tuple(name.strip() for name in options["subscribe"].split(",")))


def of_client(options: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a client, ``kafka.*`` among a stream's options, as they are named there."""
    return {name[6:].lower(): value for name, value in options.items() if name.lower().startswith("kafka.")}


def configuration(options: Mapping[str, str]) -> dict[str, Any]:
    """Return librdkafka's configuration for the options ``kafka.*``.

    Example:
        >>> configuration({"kafka.bootstrap.servers": "b:9092", "subscribe": "t"})["bootstrap.servers"]
        'b:9092'
    """
    given = of_client(options)
    jaas = given.pop("sasl.jaas.config", None)
    if jaas is not None:
        given |= {f"sasl.{key}": value for key, value in re.findall(r'(username|password)\s*=\s*"([^"]*)"', jaas)}
    pem = given.get("ssl.truststore.type", "").upper() == "PEM"
    if "ssl.truststore.location" in given and not pem:
        hint = "a certificate file in PEM: kafka.ssl.truststore.type 'PEM', or kafka.ssl.ca.location"
        fail("WAREHOUSE_STREAM_OPTION_VALUE", option="kafka.ssl.truststore.location",
             value=given["ssl.truststore.location"], wanted=hint)  # fmt: skip
    out = {RENAMED.get(name, name): value for name, value in given.items() if name not in JAVA_ONLY}
    return {"isolation.level": "read_committed"} | out


class Broker:
    """A connection that answers questions about topics; of one thread."""

    def __init__(self, config: Mapping[str, Any]):
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        self._said: list[str] = []
        self._servers = str(config.get("bootstrap.servers"))
        self._isolated = config["isolation.level"] != "read_uncommitted"
        try:
            self._admin = AdminClient(dict(config) | {"error_cb": self._hear}, logger=_QUIET)
        except KafkaException as error:
            refused(error)

    def partitions(self) -> dict[str, list[int]]:
        """Return the partitions of all topics."""
        from confluent_kafka import KafkaException

        try:
            found = self._admin.list_topics(timeout=PATIENCE)
        except KafkaException as error:
            self._fail(error)
        broken = [f"topic {t.topic}: {t.error.str()}" for t in found.topics.values() if t.error is not None]
        if broken:
            fail("WAREHOUSE_KAFKA_UNREACHABLE", servers=self._servers, reason=broken[0])
        return {name: sorted(topic.partitions) for name, topic in found.topics.items()}

    def marks(self, places: list[Place]) -> Marks:
        """Return the first offset of each partition and the one after its last committed record."""
        from confluent_kafka.admin import OffsetSpec

        return Marks(self._offsets(places, OffsetSpec.earliest()), self._offsets(places, OffsetSpec.latest()))

    def _offsets(self, places: list[Place], which: Any) -> Offsets:
        from confluent_kafka import IsolationLevel, KafkaException, TopicPartition

        if not places:
            return {}
        level = IsolationLevel.READ_COMMITTED if self._isolated else IsolationLevel.READ_UNCOMMITTED
        asked = {TopicPartition(*place): which for place in places}
        answers = self._admin.list_offsets(asked, isolation_level=level, request_timeout=PATIENCE)
        try:
            return {(at.topic, at.partition): answer.result().offset for at, answer in answers.items()}
        except KafkaException as error:
            self._fail(error)

    def _hear(self, error: Any) -> None:
        self._said.append(error.str())

    def _fail(self, error: Any) -> NoReturn:
        self._admin.poll(0.1)
        told = [said for said in self._said if "brokers are down" not in said]
        fail("WAREHOUSE_KAFKA_UNREACHABLE", servers=self._servers, reason=(told or [error.args[0].str()])[-1])


def consumer(config: Mapping[str, Any]) -> Any:
    """Return a consumer that is in no group, commits nothing and stops at the end of a partition."""
    from confluent_kafka import Consumer, KafkaException

    ours = {
        "group.id": f"warehouse-{uuid.uuid4()}",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",
    }
    try:
        return Consumer(ours | dict(config), logger=_QUIET)
    except KafkaException as error:
        refused(error)


def producer(config: Mapping[str, Any]) -> Any:
    """Return a producer."""
    from confluent_kafka import KafkaException, Producer

    try:
        return Producer({k: v for k, v in config.items() if k != "isolation.level"}, logger=_QUIET)
    except KafkaException as error:
        refused(error)


def require() -> None:
    """Fail where the client's package is not installed."""
    if find_spec("confluent_kafka") is None:
        fail("WAREHOUSE_KAFKA_PACKAGE", package="confluent-kafka")


def refused(error: Any) -> NoReturn:
    """Fail with librdkafka's refusal of its configuration."""
    fail("WAREHOUSE_KAFKA_CONFIGURATION", reason=error.args[0].str().rstrip("."))


def messages(
    config: Mapping[str, Any], place: Place, begin: int, end: int, patience: float, on_lost: Callable[[int], None]
) -> Iterator[list[Any]]:
    """Yield lists of the messages of a partition with offsets from ``begin`` up to, and without, ``end``.

    Offsets without a message (the marks of transactions, records that were aborted or compacted) are passed over.

    Args:
        config: what ``configuration`` returned.
        place: the partition.
        begin: the first offset.
        end: where to stop; it need not be the offset of a message.
        patience: seconds without progress after which the read fails.
        on_lost: called with the first offset there is when ``begin`` is no longer there; returning means: go on.
    """
    reader = consumer(config)
    try:
        yield from _messages(reader, str(config["bootstrap.servers"]), place, begin, end, patience, on_lost)
    finally:
        reader.close()


def _messages(
    reader: Any, servers: str, place: Place, begin: int, end: int, patience: float, on_lost: Callable[[int], None]
) -> Iterator[list[Any]]:
    from confluent_kafka import KafkaError, TopicPartition

    topic, partition = place
    reader.assign([TopicPartition(topic, partition, begin)])
    at, heard, count = begin, time.monotonic(), _FIRST
    while at < end:
        taken, done = [], False
        for message in reader.consume(min(count, end - at), timeout=0.5):
            error = message.error()
            if error is None:
                if message.offset() >= end:
                    done = True
                    break
                taken.append(message)
                at = message.offset() + 1
            elif error.code() == KafkaError._PARTITION_EOF:
                done = done or message.offset() >= end
            elif error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
                first = reader.get_watermark_offsets(TopicPartition(topic, partition), timeout=PATIENCE)[0]
                on_lost(first)
                at = max(first, at)
                if at < end:
                    reader.assign([TopicPartition(topic, partition, at)])
                break
            elif error.fatal() or not error.retriable():
                reason = f"{topic}-{partition} at offset {at}: {error.str()}"
                fail("WAREHOUSE_KAFKA_UNREACHABLE", servers=servers, reason=reason)
        if taken:
            yield taken
            size = sum(len(message.value() or b"") for message in taken) // len(taken) + 1
            count = max(1, min(_MOST, _BYTES // size))
        if done:
            return
        if taken or at >= end:
            heard = time.monotonic()
        elif time.monotonic() - heard > patience:
            reason = f"nothing came of {topic}-{partition} from offset {at} to {end - 1} in {patience:g} seconds"
            fail("WAREHOUSE_KAFKA_UNREACHABLE", servers=servers, reason=reason)
