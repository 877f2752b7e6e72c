"""The feed of each streaming table, which runs its steps, and its sink: one of each, made when it is first needed."""

from __future__ import annotations

import threading
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from warehouse.catalog.entries import StreamEntry, StreamingTableEntry
from warehouse.errors import fail
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.planning.streams.sources import SourceKind, StreamSource
from warehouse.streaming.delta import changes, late_table, widened
from warehouse.streaming.delta.late_table import LateTable
from warehouse.streaming.feeding.checkpoint import newest_planned
from warehouse.streaming.feeding.common import Common
from warehouse.streaming.feeding.feed import Feed
from warehouse.streaming.feeding.pace import Bound
from warehouse.streaming.kafka import sink as kafka_sink
from warehouse.streaming.log import step_log, table_folder
from warehouse.streaming.sources import replay, sources, starting
from warehouse.streaming.steps.parts import Parts
from warehouse.streaming.steps.runner import Runner


class Feeds:
    """Makes feeds and sinks, and keeps them as long as they fit."""

    def __init__(self, common: Common):
        self.common, self.catalog, self.home = common, common.catalog, common.home
        self._feeds: dict[str, Feed] = {}
        self._sinks: dict[str, kafka_sink.Sink] = {}
        self._guard = threading.RLock()

    def of(self, entry: StreamingTableEntry, query: StreamingQuery | None = None) -> Feed:
        """Return the one feed of a table; made anew when something that it reads is another one.

        Args:
            entry: of the table.
            query: its query, where it has been bound already.
        """
        with self._guard:
            known = self._feeds.get(entry.id)
            if known is None or not self._all_stand(known.runner.parts):
                query = query or self.common.bind(entry)
                folder = table_folder(self.home, entry)
                widened.check(self.common.spark, folder, entry, query)
                LateTable.of(query).widen(self.common.spark, folder / late_table.FOLDER)
                known = self._feeds[entry.id] = self._made(entry, query, known)
            return known

    def change(self, entry: StreamingTableEntry, query: StreamingQuery, former: Feed) -> None:
        """Give a table another query, and so another feed."""
        with self._guard:
            self._feeds[entry.id] = self._made(entry, query, former)

    def take_back(self, entry: StreamingTableEntry, former: Feed) -> None:
        """Give a table the feed again that it had before ``change``."""
        with self._guard:
            self._feeds[entry.id] = former

    def forget(self, identity: str) -> None:
        """Let go of the feed and the sink of a table that is gone."""
        with self._guard:
            if feed := self._feeds.pop(identity, None):
                feed.runner.forget()
            self._sinks.pop(identity, None)

    def send(self, entry: StreamingTableEntry) -> None:
        """Send what the table's sink does not have yet, if it has one; also what was left from an earlier run."""
        if kafka_sink.settings(entry) is None:
            return
        with self._guard:
            sink = self._sinks.get(entry.id)
            if sink is None:
                folder = table_folder(self.home, entry)
                sink = self._sinks[entry.id] = kafka_sink.Sink(self.common.spark, folder, entry)
        sink.send()

    def forget_sink(self, entry: StreamingTableEntry) -> None:
        """Let the sink be made anew, by what the entry says now."""
        with self._guard:
            self._sinks.pop(entry.id, None)

    def _all_stand(self, parts: Parts) -> bool:
        return all(self._stands(source, parts.session) for source in parts.query.sources)

    def _stands(self, source: StreamSource, session: SparkSession) -> bool:
        entry = source.entry
        if entry is None:
            return widened.is_as_bound(session, source)
        if isinstance(entry, StreamEntry):
            return self.catalog.streams.get(entry.schema, entry.name) == entry
        return self.catalog.streaming_tables.get(entry.schema, entry.name) == entry

    def _made(self, entry: StreamingTableEntry, bound: StreamingQuery, former: Feed | None) -> Feed:
        if bound.definitions != entry.definitions:
            fail("WAREHOUSE_DEFINITION_CHANGED", table=entry.name)
        common = self.common
        runner = Runner(
            common.spark, self.home, entry, bound, lambda commit: common.report(entry, commit), common.keeper
        )  # fmt: skip
        if former:
            runner.lock = former.runner.lock  # whoever still uses the former one is waited for
            former.runner.forget()
        replays = [source for source in bound.sources if source.bounded]
        recordings = partial(replay.open_recordings, runner.parts.session, replays) if replays else None

        def frames(most: Bound | None) -> list[DataFrame]:
            # the watermark of a table that is read counts for all that it has emitted
            most = None if any(isinstance(s.entry, StreamingTableEntry) for s in bound.sources) else most
            return [self._frame(runner.parts, number, most) for number in range(len(bound.sources))]

        def is_read() -> bool:
            return bool(self.catalog.readers_of(entry.qualified))

        return Feed(runner, frames, lambda: self._upstream(bound), recordings, is_read)

    def _frame(self, parts: Parts, number: int, most: Bound | None) -> DataFrame:
        """Return a source as a streaming frame in the layout of ``streaming.layout``, a step bounded by ``most``."""
        session, source = parts.session, parts.query.sources[number]
        if isinstance(source.entry, StreamEntry):
            note, checkpoint = parts.folder / "starting" / f"{number}.json", parts.folder / "checkpoint"
            entry = starting.settled(session, source.entry, note, lambda: newest_planned(checkpoint) is not None)
            return sources.streaming_frame(session, most.of(entry) if most else entry)
        if source.entry is None:
            return sources.table_frame(session, source.name, most.options("delta", frozenset()) if most else None)
        told = changes.panes_frame if source.kind is SourceKind.PANES else changes.changes_frame
        return told(session, self.home, source)

    def _upstream(self, query: StreamingQuery) -> dict[str, int]:
        """Return the watermarks of the streaming tables that are read, as they stand before their panes are read."""
        found = {}
        for number, source in enumerate(query.sources):
            if source.kind is SourceKind.CHANGES and source.watermark is None:
                assert isinstance(source.entry, StreamingTableEntry)
                log = step_log(self.home, source.entry)
                found[str(number)] = log.undrained(log.last())
        return found
