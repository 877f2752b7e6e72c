"""What has arrived at the sources of a streaming table, as the micro-batches of Structured Streaming.

Every Spark source and its offset log serve as they are: a micro-batch that was begun is offered again after a crash,
under its number and with the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeGuard

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from warehouse.catalog.entries import StreamEntry
from warehouse.execution import callbacks
from warehouse.execution.micro_batches import StandingQuery, query_of_all
from warehouse.execution.types import type_text
from warehouse.planning.streams.sources import StreamSource
from warehouse.planning.streams.streams import FILE_FORMATS
from warehouse.streaming.feeding.checkpoint import forget_aged, forget_unplanned
from warehouse.streaming.feeding.pace import Bound
from warehouse.streaming.kafka import lost
from warehouse.streaming.kafka import reading as kafka
from warehouse.streaming.kafka.offsets import is_behind
from warehouse.streaming.layout import quoted

Frames = Callable[[Bound | None], list[DataFrame]]
Take = Callable[[list[DataFrame], int], None]


class _Failed(Exception):
    """What Spark is told of a step that failed."""


class Arrivals:
    """Offers micro-batches, each as one frame per source and a number; one caller at a time.

    Args:
        sources: of the table.
        frames: opens the streaming frames of the sources, of which a micro-batch takes no more than a bound.
        checkpoint: the folder in which Spark notes what was offered.
    """

    def __init__(self, sources: tuple[StreamSource, ...], frames: Frames, checkpoint: Path):
        self.frames, self.checkpoint = frames, checkpoint
        self._count = len(sources)
        self._ages = {n: age for n, s in enumerate(sources) if (age := _file_age(s))}
        entries = [source.entry for source in sources]
        self.can_stay = all(isinstance(entry, StreamEntry) and entry.format == "kafka" for entry in entries)
        """Whether ``look`` may be used: for sources that are slow to open, and tell how much more they have."""
        self._connected = {n: s.entry for n, s in enumerate(sources) if _is_connected(s.entry)}
        self._session: SparkSession | None = None
        self._standing: StandingQuery | None = None
        self._bound: Bound | None = None
        self._take: Take | None = None
        self._offered = False
        self._failure: BaseException | None = None
        self._callers: set[tuple[Any, int]] = set()
        """Gateway and port by which the query's thread called."""

    def all(self, take: Take, bound: Bound | None) -> None:
        """Offer all that is there now to ``take``.

        Raises:
            BaseException: what ``take`` raised, or Spark.
        """
        self.close()
        self._mend()
        with self._taking(take):
            query = query_of_all(self._tagged(bound), str(self.checkpoint), self._offer)
            try:
                query.awaitTermination()
            finally:
                query.stop()
                self._hang_up()

    def look(self, take: Take, bound: Bound | None) -> bool:
        """Offer the next micro-batch to ``take``, if there is one; return whether there was more than it holds.

        What reads the sources stays open for the next look, until ``close``.

        Raises:
            BaseException: what ``take`` raised, or Spark; it is closed then.
        """
        if self._bound != bound:
            self.close()
        with self._taking(take):
            try:
                if self._standing is None or not self._standing.look():
                    self._standing = self._stand(bound)
            except BaseException:
                self.close()
                raise
        return self._offered and any(is_behind(*offsets) for offsets in self._standing.last_batch())

    def close(self) -> None:
        """Close what ``look`` has left open."""
        if self._standing:
            self._standing.close()
            self._standing = None
            self._hang_up()

    def _hang_up(self) -> None:
        """End the connections of a query that was stopped."""
        while self._callers:
            callbacks.hang_up(*self._callers.pop())

    def _stand(self, bound: Bound | None) -> StandingQuery:
        self._mend()
        self._bound = bound
        return StandingQuery(self._tagged(bound), str(self.checkpoint), self._offer)

    def _mend(self) -> None:
        """Put the checkpoint right before it is read."""
        forget_unplanned(self.checkpoint)
        for number, age in self._ages.items():
            forget_aged(self.checkpoint, number, age)

    @contextmanager
    def _taking(self, take: Take) -> Iterator[None]:
        self._take, self._offered, self._failure = take, False, None
        try:
            yield
        except PySparkException as error:
            failure = self._failure or error
            raise self._explained(failure) or failure from None
        finally:
            self._take = None

    def _offer(self, batch: DataFrame, number: int) -> None:
        assert self._take
        self._offered = True
        gateway: Any = batch.sparkSession.sparkContext._gateway
        if port := callbacks.caller(gateway):
            self._callers.add((gateway, port))
        try:
            self._take(self._with_gaps(self._split(batch), number), number)
        except BaseException as error:
            self._failure = error
            raise _Failed from error  # Spark waits for ever for an answer other than a result or an Exception

    def _tagged(self, bound: Bound | None) -> DataFrame:
        """Return all sources as one streaming frame, each in a struct column of its own."""
        frames = self.frames(bound)
        self._session = frames[0].sparkSession
        lost.check_topics(self._session, self._connected, self.checkpoint)
        if len(frames) == 1:
            return frames[0]
        kinds = [type_text(frame.schema) for frame in frames]
        tagged = None
        for number, frame in enumerate(frames):
            one = frame.select(
                F.lit(number).alias("__w_source"),
                *(
                    (F.struct(*map(quoted, f.columns)) if other == number else F.lit(None).cast(kinds[other])).alias(
                        f"__w_s{other}"
                    )
                    for other, f in enumerate(frames)
                ),
            )
            tagged = one if tagged is None else tagged.unionByName(one)
        assert tagged is not None
        return tagged

    def _split(self, batch: DataFrame) -> list[DataFrame]:
        if self._count == 1:
            return [batch]
        return [batch.where(F.col("__w_source") == number).select(f"__w_s{number}.*") for number in range(self._count)]

    def _explained(self, failure: BaseException) -> BaseException | None:
        if self._session is None or not self._connected:
            return None
        return lost.explained(failure, self._session, self._connected, self.checkpoint)

    def _with_gaps(self, frames: list[DataFrame], batch: int) -> list[DataFrame]:
        """Return frames with rows for the records that Spark's connector passes over since they are gone."""
        assert self._session
        for number, entry in self._connected.items():
            if lost.passes_over(entry):
                gone = lost.gaps(self._session, entry, self.checkpoint, number, batch)
                if gone is not None:
                    frames[number] = frames[number].unionByName(gone, allowMissingColumns=True)
        return frames


def _is_connected(entry: object) -> TypeGuard[StreamEntry]:
    """Say whether Spark's own connector of Kafka reads a source."""
    return isinstance(entry, StreamEntry) and entry.format == "kafka" and kafka.by_spark(entry)


def _file_age(source: StreamSource) -> str | None:
    """Return the ``maxFileAge`` of a source of files, None where it has none, or may disregard it."""
    entry = source.entry
    if not isinstance(entry, StreamEntry) or entry.format not in FILE_FORMATS:
        return None
    return None if (entry.option("latestFirst") or "").lower() == "true" else entry.option("maxFileAge")
