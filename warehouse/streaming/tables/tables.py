"""The streaming tables of a warehouse: made, refreshed, drained, dropped.

The catalog's entry is the truth. A table is made in the order folder, entry, view, first steps; when anything
fails, what there is so far is removed again, and what a killed process left is swept at the next start
(``mend``). A table that takes the place of another, or of itself, is filled before the entry names it: there is
always the old one or the new one. The old one's folder goes last, so one that no entry names tells ``mend``
that views or bad rows may be left over.
"""

from __future__ import annotations

import secrets
import shutil
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from warehouse.catalog.entries import StreamingTableEntry, quote_name
from warehouse.errors import fail
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.streaming import faults
from warehouse.streaming.delta import bad_rows, delta_tables, panes
from warehouse.streaming.feeding.common import Common
from warehouse.streaming.feeding.feeds import Feeds
from warehouse.streaming.feeding.running import Running
from warehouse.streaming.kafka import sink as kafka_sink
from warehouse.streaming.log import Commit, table_folder
from warehouse.streaming.sources import sources
from warehouse.streaming.tables.changing import Changing
from warehouse.streaming.tables.installing import Installation

READERS_END = 60.0
"""Seconds for which the files of a table that was built again stay for queries that read them when it was."""


class StreamingTables:
    """Acts on streaming tables."""

    def __init__(self, common: Common):
        self.common, self.catalog, self.home = common, common.catalog, common.home
        self.installation, self.feeds = Installation(common), Feeds(common)
        self.running = Running(common, self.feeds)
        self.changing = Changing(common, self.installation, self.feeds, self.running)
        self._leaving = set[Path]()

    def create(
        self, entry: StreamingTableEntry, query: StreamingQuery, old: StreamingTableEntry | None
    ) -> list[Commit]:
        """Make a streaming table and read what is there.

        Raises:
            WarehouseError: the first steps failed; then nothing of the table is left.
        """
        kafka_sink.check(entry)
        if old is None:
            return self._made(entry, query, None)
        self._refuse_readers(old)
        with self.running.resting(old):
            return self._made(entry, query, old)

    def _made(self, entry: StreamingTableEntry, query: StreamingQuery, old: StreamingTableEntry | None) -> list[Commit]:
        try:
            self._make_folder(table_folder(self.home, entry), query)
            faults.passed("folder")
            if old is None:
                self.installation.install(entry)
            commits = list(self.feeds.of(entry, query).refresh())
            faults.passed("filled")
            if old is not None:
                self.installation.install(entry)
        except BaseException:
            with suppress(Exception):  # what could not be undone is swept at the next start
                self._undo(entry, old)
            raise
        if old is not None:
            self._discard(old.id, READERS_END)
        self.feeds.send(entry)
        return commits

    def _undo(self, entry: StreamingTableEntry, old: StreamingTableEntry | None) -> None:
        """Bring back what there was before ``entry`` was to be made."""
        if old is None:
            self.installation.forget(entry)
        elif self.catalog.streaming_tables.get(entry.schema, entry.name) != old:
            self.installation.install(old)
        self._discard(entry.id)

    def _make_folder(self, folder: Path, query: StreamingQuery) -> None:
        block = query.windowed
        names = tuple(c.name for c in query.columns)
        keys = block.keys if block else ("string",)
        times = tuple(c.name for c in query.columns if c.type in ("timestamp", "timestamp_ntz", "date"))
        delta_tables.create(self.common.spark, folder / "panes", panes.pane_schema(query.columns, keys), names, times)

    def mend(self, moved: bool) -> None:
        """Sweep what a killed process left half made; write the views anew when the folder was moved."""
        spark = self.common.spark
        for entry in self.catalog.streaming_tables.all():
            if entry.distribution:
                self.common.keeper.open(table_folder(self.home, entry) / "panes")
        known = {e.id for e in self.catalog.streaming_tables.all()}
        left_over = [f.name for f in (self.home / "streaming").glob("*") if f.name not in known]
        for entry in self.catalog.streaming_tables.all():
            mark = self.installation.mark(entry)
            if moved or left_over or mark.exists() or not spark.catalog.tableExists(entry.qualified):
                spark.sql(f"CREATE SCHEMA IF NOT EXISTS {quote_name(entry.schema)}")  # dropped with its views
                self.installation.make_view(entry)
            mark.unlink(missing_ok=True)
        for stream in self.catalog.streams.all():
            sources.ensure_relation(spark, stream)
        faults.passed("views_mended")
        for identity in left_over:
            self._discard(identity)

    def drop(self, entry: StreamingTableEntry) -> None:
        """Drop a streaming table with its panes and state; its sources stay.

        Raises:
            WarehouseError: other streaming tables read it.
        """
        self._refuse_readers(entry)
        self.running.stop(entry, quiet=True)
        self.installation.forget(entry)
        self._discard(entry.id)
        bad_rows.drop(self.home, entry.schema, entry.name)

    def _discard(self, identity: str, after: float = 0) -> None:
        """Remove the bad rows and the folder of a table that no entry names any more, in this order.

        Args:
            identity: of the table.
            after: seconds until the folder goes, which those who read it now may need; it does when the engine closes.
        """
        self.feeds.forget(identity)
        bad_rows.forget_reader(self.common.spark, self.home, identity)
        faults.passed("bad_rows_forgotten")
        folder = self.home / "streaming" / identity
        if not after:
            shutil.rmtree(folder, ignore_errors=True)
            return
        self._leaving.add(folder)
        timer = threading.Timer(after, self._remove, (folder,))
        timer.daemon = True
        timer.start()

    def _remove(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self._leaving.discard(folder)

    def _refuse_readers(self, entry: StreamingTableEntry) -> None:
        readers = [r.qualified for r in self.catalog.readers_of(entry.qualified) if r.id != entry.id]
        if readers:
            fail("WAREHOUSE_STREAMING_TABLE_HAS_READERS", name=entry.name, readers=", ".join(readers))

    def refresh(self, entry: StreamingTableEntry, full: bool = False, drain: bool = False) -> list[Commit]:
        """Run the steps for what has arrived; ``full`` starts again from nothing, ``drain`` closes every window."""
        if full:
            anew = replace(entry, id=_renewed(entry.id), revision=0, closed=None, key_order=(), former=())
            query = self.common.bind(anew)
            return self.create(replace(anew, definitions=query.definitions), query, entry)
        feed = self.feeds.of(entry)
        commits = list(feed.drain() if drain else feed.refresh())
        feed.look()
        self.feeds.send(entry)
        return commits

    def close(self) -> None:
        """Stop everything that runs, and remove what was replaced."""
        for entry in self.catalog.streaming_tables.all():
            self.running.stop(entry, quiet=True)
        for folder in list(self._leaving):
            self._remove(folder)


def _renewed(identity: str) -> str:
    """Return a new folder name for a table that starts again."""
    return identity.rpartition("-")[0] + "-" + secrets.token_hex(4)
