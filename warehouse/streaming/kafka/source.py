"""Kafka for Spark without a jar: a Python data source over ``confluent-kafka`` that yields Arrow batches.

Spark's offset log says which offsets a micro-batch has, and ``kafka_offsets`` makes them whole; reading is a
function of them alone. Option names are those of Spark's own connector.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from warehouse.errors import fail
from warehouse.streaming.kafka import client as kafka_client
from warehouse.streaming.kafka.offsets import LOST, Lost, Marks, Place, Step, next_step, starting_offsets

NAME = "warehouse_kafka"
RAW = "key BINARY, value BINARY, topic STRING, partition INT, offset BIGINT, timestamp TIMESTAMP, timestampType INT"
HEADERS = "headers ARRAY<STRUCT<key: STRING, value: BINARY>>"
"""The columns of Spark's connector; a test holds them to ``planning.streams.kafka``, which a worker need not load."""


class KafkaSource(DataSource):
    """``spark.readStream.format("warehouse_kafka")``."""

    @classmethod
    def name(cls) -> str:
        """Return the name Spark knows it by."""
        return NAME

    def schema(self) -> str:
        """Return the columns of Spark's connector, and ``LOST``."""
        headers = f", {HEADERS}" if _lowered(self.options).get("includeheaders", "").lower() == "true" else ""
        return f"{RAW}{headers}, {LOST} BIGINT"

    def streamReader(self, schema: StructType) -> KafkaReader:  # noqa: N802 (Spark's name)
        """Return what reads the stream."""
        return KafkaReader(_lowered(self.options), schema)

    def reader(self, schema: StructType) -> KafkaBatch:
        """Return what reads all that is there."""
        return KafkaBatch(_lowered(self.options), schema)


@dataclass(frozen=True)
class Range(InputPartition):
    """The records of one partition in one micro-batch, and those before them that are lost."""

    place: Place
    begin: int
    end: int
    lost: Lost | None = None


class Records:
    """What reading once and reading on have in common.

    Args:
        options: names in lower case.
        schema: what ``KafkaSource.schema`` told.
    """

    def __init__(self, options: dict[str, str], schema: StructType):
        self.options, self.schema = options, schema
        self.config = kafka_client.configuration(options)
        self.subscription = kafka_client.subscription(options)
        self.loss_fails = options.get("failondataloss", "true").lower() != "false"
        self.patience = int(options.get("kafkaconsumer.polltimeoutms", 60_000)) / 1000
        self._broker: kafka_client.Broker | None = None

    def _marks(self) -> Marks:
        if self._broker is None:
            self._broker = kafka_client.Broker(self.config)
        return self._broker.marks(self.subscription.chosen(self._broker.partitions()))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the records of a range."""
        assert isinstance(partition, Range)
        lost = [partition.lost] if partition.lost else []

        def on_lost(first: int) -> None:
            found = Lost(partition.place, partition.begin, min(first, partition.end))
            if self.loss_fails:
                fail("WAREHOUSE_KAFKA_OFFSETS_LOST", topics=str(self.subscription), lost=str(found))
            lost.append(found)

        arrow = to_arrow_schema(self.schema, timezone="UTC")
        if partition.begin < partition.end:
            for taken in kafka_client.messages(
                self.config, partition.place, partition.begin, partition.end, self.patience, on_lost
            ):
                yield record_batch(taken, partition.place, arrow)
        for one in lost:
            yield _lost_row(one, arrow)


class KafkaReader(Records, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads on, from micro-batch to micro-batch."""

    _target: Marks | None = None
    _there = Marks({}, {})

    # ------------------------------------------------------------------ which offsets

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        """Return where the first step starts, as ``startingOffsets`` says; the default is the earliest."""
        start = starting_offsets(self.options.get("startingoffsets", "earliest"), self._target or self._marks())
        return Step(start, start).as_json()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 (Spark's name)
        """Return ``maxOffsetsPerTrigger``."""
        most = self.options.get("maxoffsetspertrigger")
        return ReadMaxRows(int(most)) if most else ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 (Spark's name)
        """Note what there is: this query reads up to it."""
        self._target = self._marks()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """Return the offsets of the next step; ``start`` itself when there is nothing new."""
        before = Step.from_json(start)
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        self._there = self._target or self._marks()
        step = next_step(before.end, self._there, most)
        if step.lost and self.loss_fails:
            told = "; ".join(str(lost) for lost in step.lost)
            fail("WAREHOUSE_KAFKA_OFFSETS_LOST", topics=str(self.subscription), lost=told)
        return start if step.end == before.end and not step.lost else step.as_json()

    def reportLatestOffset(self) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        """Return the offsets up to which the last step could have gone."""
        return Step(self._there.latest, self._there.latest).as_json()

    # ------------------------------------------------------------------ reading

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Return one range per partition that has something between the offsets."""
        if start == end:
            return []
        step = Step.from_json(end)
        lost = {one.place: one for one in step.lost}
        ranges = [Range(p, step.begin[p], step.end[p], lost.pop(p, None)) for p in sorted(step.end)]
        gone = [Range(p, one.end, one.end, one) for p, one in sorted(lost.items())]
        return [one for one in (*ranges, *gone) if one.begin < one.end or one.lost]


class KafkaBatch(Records, DataSourceReader):
    """Reads all that the partitions hold now, from ``startingOffsets`` if these are given one by one."""

    def partitions(self) -> Sequence[InputPartition]:
        """Return one range per partition that holds something."""
        marks = self._marks()
        start = starting_offsets(self.options.get("startingoffsets", "earliest"), marks)
        ranges = [Range(p, max(start[p], marks.earliest[p]), marks.latest[p]) for p in sorted(marks.latest)]
        return [one for one in ranges if one.begin < one.end]


def record_batch(taken: list[Any], place: Place, schema: pa.Schema) -> pa.RecordBatch:
    """Return messages of one partition as a batch of ``schema``."""
    topic, partition = place
    count = len(taken)
    stamps = [message.timestamp() for message in taken]
    columns: dict[str, Any] = {
        "key": [message.key() for message in taken],
        "value": [message.value() for message in taken],
        "topic": pa.repeat(topic, count),
        "partition": pa.repeat(pa.scalar(partition, pa.int32()), count),
        "offset": [message.offset() for message in taken],
        "timestamp": [at * 1000 if kind else None for kind, at in stamps],
        "timestampType": [kind - 1 for kind, _ in stamps],
        LOST: pa.nulls(count, pa.int64()),
    }
    if "headers" in schema.names:
        columns["headers"] = [
            [{"key": key, "value": value} for key, value in headers] if (headers := message.headers()) else None
            for message in taken
        ]
    return pa.RecordBatch.from_arrays([_as(columns[f.name], f.type) for f in schema], schema=schema)


def _lost_row(lost: Lost, schema: pa.Schema) -> pa.RecordBatch:
    """Return the row that stands for lost records."""
    topic, partition = lost.place
    known = {"topic": topic, "partition": partition, "offset": lost.first, LOST: lost.end}
    return pa.RecordBatch.from_arrays([_as([known.get(f.name)], f.type) for f in schema], schema=schema)


def _as(values: Any, kind: pa.DataType) -> pa.Array:
    return values if isinstance(values, pa.Array) else pa.array(values, kind)


def _lowered(options: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in options.items()}
