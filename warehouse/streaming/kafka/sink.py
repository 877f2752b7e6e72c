"""What a streaming table emits, sent on to Kafka: the panes of a step in one transaction, each step once.

A table with the properties ``kafka.topic`` and ``kafka.bootstrap.servers`` has a sink. Steps are sent after they are
committed. The number of the step is committed with its records, as the offset of a consumer group that nobody reads
with; so whoever is killed when, the next run finds where to go on. A file beside the step log says the same, for
when the broker has forgotten the group, and spares asking it where there is nothing to send.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.catalog.store import write_atomically
from warehouse.errors import SourceText, Span, WarehouseError, fail
from warehouse.language.parser import parse
from warehouse.language.statements import CreateStreamingTable
from warehouse.planning.streams.kafka import SERVERS
from warehouse.planning.streams.options import key_span
from warehouse.planning.streams.sources import PANE_COLUMNS
from warehouse.streaming import faults
from warehouse.streaming.delta import panes
from warehouse.streaming.kafka import client as kafka_client
from warehouse.streaming.layout import quoted
from warehouse.streaming.log import StepLog

TOPIC = "kafka.topic"
MARK = "sent"
"""The file that holds the number of the last step whose records are in Kafka."""

_PATIENCE, _AGAIN = 30.0, 0.2
_LONGEST = 600_000  # milliseconds that a transaction may last; brokers allow 900,000 unless told otherwise


def settings(entry: StreamingTableEntry) -> dict[str, str] | None:
    """Return the properties ``kafka.…`` of a table, names in lower case; None where it has no sink.

    Raises:
        WarehouseError: one of the two that a sink needs is missing.
    """
    given = {name.lower(): value for name, value in entry.properties if name.lower().startswith("kafka.")}
    for needed in (TOPIC, SERVERS):
        if given and not given.get(needed):
            fail("WAREHOUSE_KAFKA_SINK_PROPERTY", _place(entry, next(iter(given))), property=needed)
    return given or None


def _place(entry: StreamingTableEntry, name: str) -> Span | None:
    """Return where a property stands in the statement that made a table."""
    statement = parse(SourceText(entry.text))
    assert isinstance(statement, CreateStreamingTable)
    places = (value for key, value in statement.property_spans if key.lower() == name)
    return next((key_span(statement, value) for value in places), None)


def check(entry: StreamingTableEntry) -> None:
    """Refuse a table whose sink has no broker or no topic."""
    given = settings(entry)
    if given is None:
        return
    kafka_client.require()
    try:
        partitions = kafka_client.Broker(_configuration(given)).partitions()
    except WarehouseError as error:
        raise error.placed_at(_place(entry, SERVERS)) from None
    if given[TOPIC] not in partitions:
        fail("WAREHOUSE_KAFKA_TOPIC_NOT_FOUND", _place(entry, TOPIC), topic=given[TOPIC], servers=given[SERVERS])


class Sink:
    """Sends the steps of one table, in one thread at a time.

    Args:
        spark: the session.
        folder: the table's.
        entry: the table, which has a sink.
    """

    def __init__(self, spark: SparkSession, folder: Path, entry: StreamingTableEntry):
        given = settings(entry)
        assert given is not None
        self.folder, self.entry, self.topic = folder, entry, given[TOPIC]
        self.config = _configuration(given)
        self.session = spark.newSession()
        self.session.conf.set("spark.sql.session.timeZone", "UTC")
        self._producer: Any = None
        self._group: Any = None
        self._sent = 0
        self._lock = threading.Lock()

    def send(self) -> None:
        """Send the committed steps that are not in Kafka yet."""
        with self._lock:
            self._send_new()

    def _send_new(self) -> None:
        from confluent_kafka import KafkaException

        log, mark = StepLog(self.folder, self.entry.revision), self.folder / MARK
        last, noted = log.last().step, int(mark.read_text()) if mark.exists() else 0
        if noted >= last:
            return
        try:
            self._open()
            if self._sent > last:  # the folder is a copy, or an older one brought back
                reason = f"step {self._sent} was sent to Kafka, and the newest here is {last}"
                fail("WAREHOUSE_STEP_LOG_DAMAGED", folder=self.folder.name, file=MARK, reason=reason)
            done = max(noted, self._sent)
            for record in reversed(log.recent(last - done)):
                if record.step > done and (record.panes or record.withdrawn):
                    self._send(record.step)
            self._note(last)
        except BaseException as error:
            self._producer = None  # the next one makes an end of what this one left open
            if isinstance(error, KafkaException):
                _failed(str(self.config["bootstrap.servers"]), error)
            raise

    def _open(self) -> None:
        """Get a producer, and where it is new, the number of the last step that is in Kafka."""
        if self._producer is not None:
            return
        name = f"warehouse-{self.entry.id}"
        ours = {"transactional.id": name, "transaction.timeout.ms": _LONGEST, "linger.ms": 5}
        producer = kafka_client.producer(self.config | ours)
        producer.init_transactions(_PATIENCE)  # a transaction that was left open is aborted here
        self._group = kafka_client.consumer(self.config | {"group.id": name, "isolation.level": "read_committed"})
        self._sent, self._producer = max(self._sent, committed(self._group, self.topic)), producer

    def _send(self, step: int) -> None:
        """Send one step's records and its number, all or none."""
        from confluent_kafka import TopicPartition

        self._producer.begin_transaction()
        for row in self._records(step).toLocalIterator():
            key = None if row["key"] is None else json.dumps(list(row["key"]), default=str, ensure_ascii=False)
            self._produce(key, row["value"])
        faults.passed("produced")
        place = [TopicPartition(self.topic, 0, step)]
        self._producer.send_offsets_to_transaction(place, self._group.consumer_group_metadata(), _PATIENCE)
        self._producer.commit_transaction(_LONGEST / 1000)
        faults.passed("sent")
        self._sent = step

    def _produce(self, key: str | None, value: str) -> None:
        while True:
            try:
                self._producer.produce(self.topic, value, key)
                return
            except BufferError:
                self._producer.poll(1)

    def _records(self, step: int) -> DataFrame:
        """Return key and value of the step's records; of one key in the order in which they hold."""
        stored = self.session.read.format("delta").load(str(self.folder / "panes"))
        rows = stored.where((F.col("_step") == step) & (F.col("_change_type") != "superseded"))
        names = [quoted(c.name) for c in (*self.entry.columns, *PANE_COLUMNS)]
        value = F.to_json(F.struct(*names), {"ignoreNullFields": "false"})
        has_key = self.entry.keyed and not self.entry.stateless
        key = F.col("__w_key") if has_key else F.lit(None).cast("struct<k0:string>")
        return rows.orderBy(*map(F.expr, panes.ORDER), "_change_type").select(key.alias("key"), value.alias("value"))

    def _note(self, step: int) -> None:
        write_atomically(self.folder / MARK, str(step))
        faults.passed("noted")


def committed(group: Any, topic: str) -> int:
    """Return the offset that a consumer's group has in partition 0, below 0 where it has none.

    A broker that has just started, or become the group's coordinator, says so for a while: it is asked again.
    """
    from confluent_kafka import KafkaError, KafkaException, TopicPartition

    soon = (
        KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.COORDINATOR_NOT_AVAILABLE,
    )  # fmt: skip
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            (place,) = group.committed([TopicPartition(topic, 0)], timeout=_PATIENCE)
            return place.offset
        except KafkaException as error:
            if error.args[0].code() not in soon or time.monotonic() > deadline:
                raise
            time.sleep(_AGAIN)


def _configuration(given: dict[str, str]) -> dict[str, Any]:
    return kafka_client.configuration({name: value for name, value in given.items() if name != TOPIC})


def _failed(servers: str, error: Any) -> NoReturn:
    fail("WAREHOUSE_KAFKA_UNREACHABLE", servers=servers, reason=error.args[0].str())
