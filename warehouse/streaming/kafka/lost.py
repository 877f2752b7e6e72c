"""Records that Kafka has removed before Spark's connector read them, told as our own reader tells of them.

The connector says that something is gone, or passes it over. What that is follows from where the table stands, by its
checkpoint, and from what the broker has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from warehouse.catalog.entries import StreamEntry
from warehouse.errors import WarehouseError, diagnostic
from warehouse.execution.spark_errors import chain
from warehouse.language.literals import string_literal
from warehouse.planning.streams.kafka import HEADERS, RECORD
from warehouse.streaming.kafka import client as kafka_client
from warehouse.streaming.kafka import reading
from warehouse.streaming.kafka.offsets import LOST, Lost, Marks, Offsets, flat, next_step

_LOSS = "Some data may have been lost because they are not available in Kafka any more"
_REFUSAL = re.compile(r"org\.apache\.kafka\.common\.errors\.(\w+): ([^\n]*)")


def explained(
    error: BaseException, spark: SparkSession, entries: dict[int, StreamEntry], checkpoint: Path
) -> WarehouseError | None:
    """Return an error of the connector as one of ours; None for any other error.

    Args:
        error: what came out of a step.
        spark: a session.
        entries: the streams that the connector reads, by the number of the source.
        checkpoint: the folder in which Spark notes what was read.
    """
    said = "\n".join(map(str, chain(error)))
    failing = {number: entry for number, entry in entries.items() if not passes_over(entry)}
    if failing and _LOSS in said:
        told = {number: _since(spark, entry, checkpoint, number) for number, entry in failing.items()}
        number = next((number for number, lost in told.items() if lost), min(failing))
        return _error(failing[number], told[number])
    if refusal := _REFUSAL.search(said):
        servers = entries[min(entries)].option("kafka.bootstrap.servers")
        reason = f"{refusal[1].removesuffix('Exception')}: {refusal[2]}".rstrip(".")
        return WarehouseError(diagnostic("WAREHOUSE_KAFKA_UNREACHABLE", servers=servers, reason=reason))
    return None


def check_topics(spark: SparkSession, entries: dict[int, StreamEntry], checkpoint: Path) -> None:
    """Fail where a topic that was read is gone, which the connector takes for one without new records.

    Raises:
        WarehouseError: one is, of a stream that is to fail then.
    """
    for number, entry in entries.items():
        if not passes_over(entry) and (begin := _stands(checkpoint, number)):
            gone = sorted(begin.keys() - reading.places(spark, entry))
            if gone:
                raise _error(entry, tuple(Lost(place, begin[place], begin[place]) for place in gone))


def passes_over(entry: StreamEntry) -> bool:
    """Say whether a stream goes on behind records that are gone."""
    return (entry.option("failOnDataLoss") or "").lower() == "false"


def gaps(spark: SparkSession, entry: StreamEntry, checkpoint: Path, number: int, batch: int) -> DataFrame | None:
    """Return a row for each range of a micro-batch's offsets that is gone, in the layout of ``reading``, if any is.

    Args:
        spark: the session.
        entry: the stream.
        checkpoint: see ``explained``.
        number: of the source.
        batch: the number of the micro-batch, which is planned.
    """
    end = _planned(checkpoint, number, batch)
    earliest = reading.marks(spark, entry).earliest
    known = Marks({place: min(earliest.get(place, at), at) for place, at in end.items()}, end)
    begin = _planned(checkpoint, number, batch - 1) if batch else _initial(checkpoint, number)
    lost = next_step(begin, known, None).lost
    return reading.laid_out(entry, spark.sql(_rows(lost))) if lost else None


def _error(entry: StreamEntry, lost: tuple[Lost, ...]) -> WarehouseError:
    topics = str(kafka_client.subscription(reading.lowered(entry)))
    told = "; ".join(map(str, lost)) or "which ones is not known any more"
    return WarehouseError(diagnostic("WAREHOUSE_KAFKA_OFFSETS_LOST", topics=topics, lost=told))


def _since(spark: SparkSession, entry: StreamEntry, checkpoint: Path, number: int) -> tuple[Lost, ...]:
    """Return what is gone of the records after the last micro-batch that was committed."""
    begin = _stands(checkpoint, number) or _initial(checkpoint, number)
    return next_step(begin, reading.marks(spark, entry), None).lost


def _stands(checkpoint: Path, number: int) -> Offsets:
    """Return where the last micro-batch ends that was committed; nothing where none was."""
    committed = max((int(f.name) for f in (checkpoint / "commits").glob("*") if f.name.isdigit()), default=None)
    return {} if committed is None else _planned(checkpoint, number, committed)


def _planned(checkpoint: Path, number: int, batch: int) -> Offsets:
    """Return where a micro-batch ends."""
    line = (checkpoint / "offsets" / str(batch)).read_text().splitlines()[2 + number]
    return flat(json.loads(line)) if line.startswith("{") else {}


def _initial(checkpoint: Path, number: int) -> Offsets:
    """Return where the first micro-batch begins; the connector notes it behind a zero byte and a version."""
    file = checkpoint / "sources" / str(number) / "0"
    return flat(json.loads(file.read_text().partition("\n")[2])) if file.exists() else {}


def _rows(lost: tuple[Lost, ...]) -> str:
    """Return SQL for records that stand for lost ones, with the columns of the connector and ``LOST``."""

    def values() -> Iterator[str]:
        for one in lost:
            topic, partition = one.place
            yield f"({string_literal(topic)}, {partition}, {one.first}L, {one.end}L)"

    told = ("topic", "partition", "offset")
    listed = (c.name if c.name in told else f"CAST(NULL AS {c.type}) AS {c.name}" for c in (*RECORD, HEADERS))
    named = f"lost(topic, partition, offset, {LOST})"
    return f"SELECT {', '.join(listed)}, {LOST} FROM VALUES {', '.join(values())} AS {named}"
