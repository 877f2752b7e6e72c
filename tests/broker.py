"""A Kafka broker on loopback for tests: its jars are fetched once and kept, its data is thrown away."""

from __future__ import annotations

import json
import logging
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

VERSION = "4.2.0"
_POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>warehouse</groupId><artifactId>broker</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{VERSION}</version></dependency>
  </dependencies>
</project>
"""
_PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
log.dirs={folder}/log
auto.create.topics.enable=false
log.retention.ms=-1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
"""


@dataclass(frozen=True)
class Broker:
    """A running broker."""

    servers: str

    @cached_property
    def admin(self) -> Any:
        from confluent_kafka.admin import AdminClient

        return AdminClient({"bootstrap.servers": self.servers}, logger=logging.Logger("quiet"))

    def answers(self) -> bool:
        """Say whether it tells its topics before long."""
        from confluent_kafka import KafkaException

        try:
            return bool(self.admin.list_topics(timeout=5).brokers)
        except KafkaException:
            return False

    def topic(self, name: str, partitions: int = 1) -> str:
        from confluent_kafka.admin import NewTopic

        for done in self.admin.create_topics([NewTopic(name, partitions, 1)]).values():
            done.result()
        return name

    def partitions(self, topic: str, count: int) -> None:
        from confluent_kafka.admin import NewPartitions

        for done in self.admin.create_partitions([NewPartitions(topic, count)]).values():
            done.result()

    def forget(self, topic: str, before: int, partition: int = 0) -> None:
        """Remove the records before an offset, as retention does."""
        from confluent_kafka import TopicPartition

        for done in self.admin.delete_records([TopicPartition(topic, partition, before)]).values():
            done.result()

    def drop(self, topic: str) -> None:
        for done in self.admin.delete_topics([topic]).values():
            done.result()
        deadline = time.monotonic() + 120
        while topic in self.admin.list_topics(timeout=5).topics:
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def send(self, topic: str, *values: Any, partition: int = 0, **fields: Any) -> None:
        """Send records; what is neither bytes nor None is written as JSON."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.servers})
        for value in values:
            producer.produce(topic, _bytes(value), partition=partition, **fields)
        assert producer.flush(120) == 0

    def transaction(self, topic: str, *values: Any, commit: bool = True) -> None:
        """Send records in a transaction, and commit or abort it."""
        from confluent_kafka import Producer

        producer = Producer({"bootstrap.servers": self.servers, "transactional.id": f"{topic}-{time.monotonic_ns()}"})
        producer.init_transactions()
        producer.begin_transaction()
        for value in values:
            producer.produce(topic, _bytes(value), partition=0)
        producer.flush(120)
        (producer.commit_transaction if commit else producer.abort_transaction)()
        self.settle(topic)

    def settle(self, topic: str) -> None:
        """Wait until no transaction is open in partition 0: a commit returns before its mark is written."""
        from confluent_kafka import IsolationLevel, TopicPartition
        from confluent_kafka.admin import OffsetSpec

        asked = {TopicPartition(topic, 0): OffsetSpec.latest()}
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            ends = set()
            for level in (IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED):
                for answer in self.admin.list_offsets(asked, isolation_level=level).values():
                    ends.add(answer.result().offset)
            if len(ends) == 1:
                return
            time.sleep(0.05)
        raise TimeoutError(f"a transaction stays open in {topic}")


def _bytes(value: Any) -> bytes | None:
    return value if value is None or isinstance(value, bytes) else json.dumps(value).encode()


@contextmanager
def running() -> Iterator[Broker]:
    """Start a broker of one node; skip the test where its jars cannot be had."""
    classes = f"{_jars()}/*"
    folder = Path(tempfile.mkdtemp(prefix="warehouse-kafka-"))
    ports = dict(zip(("port", "controller"), _free_ports(2), strict=True))
    properties = folder / "server.properties"
    properties.write_text(_PROPERTIES.format(folder=folder, **ports))
    java = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classes]
    identity = "d2FyZWhvdXNlLXRlc3RzMQ"
    told = [*java, "-Xmx100m", "kafka.tools.StorageTool", "format", "-t", identity, "-c", str(properties)]
    subprocess.run(told, check=True, capture_output=True)
    with (folder / "output").open("wb") as output:
        command = [*java, "-Xmx350m", "kafka.Kafka", str(properties)]
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    try:
        broker = Broker(f"127.0.0.1:{ports['port']}")
        _await(process, ports["port"], broker, folder / "output")
        yield broker
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _await(process: subprocess.Popen[bytes], port: int, broker: Broker, output: Path) -> None:
    """Wait until the broker answers: its port is open before that."""
    deadline = time.monotonic() + 180
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as tried:
            opened = tried.connect_ex(("127.0.0.1", port)) == 0
        if opened and broker.answers():
            return
        time.sleep(0.05)
    raise RuntimeError(f"the broker did not start: {output.read_text(errors='replace')[-2000:]}")


def _free_ports(count: int) -> list[int]:
    """Return ports that nobody listens at and that the system gives nobody by itself.

    Those that it gives out are what Spark waits at for one connection of its own Python: who asks there whether the
    broker is up yet would be taken for that.
    """
    free = (port for port in random.sample(range(20_000, 32_000), 1_000) if _is_free(port))
    return list(islice(free, count))


def _is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _jars() -> Path:
    """Return the folder of the broker's jars, kept beside those of the warehouse."""
    if sys.prefix != sys.base_prefix:
        home = Path(sys.prefix) / "share" / "warehouse"
    else:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "warehouse"
    final = home / f"kafka_2.13-{VERSION}"
    if final.is_dir():
        return final
    maven = shutil.which("mvn")
    if maven is None or shutil.which("java") is None:
        pytest.skip("a Kafka broker needs Java, and Maven to fetch it")
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home) as scratch:
        (Path(scratch) / "pom.xml").write_text(_POM)
        command = [maven, "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={scratch}/jars"]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"the jars of a Kafka broker could not be fetched: {done.stdout[-500:]}")
        if not final.exists():
            (Path(scratch) / "jars").rename(final)
    return final
