"""The streaming tables of a warehouse: made, refreshed, drained, started, stopped, dropped.

The catalog's entry is the truth. A table is made in the order folder, entry, view, first steps; when anything
fails, what there is so far is removed again, and what a killed process left is swept at the next start
(``mend``). A table that takes the place of another, or of itself, is filled before the entry names it: there is
always the old one or the new one. The old one's folder goes last, so one that no entry names tells ``mend``
that views or bad rows may be left over.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession

from warehouse.catalog.entries import StreamEntry, StreamingTableEntry, quote_name
from warehouse.catalog.store import Catalog
from warehouse.dataflow.carry import Carry
from warehouse.dataflow.times import BEGINNING, END
from warehouse.errors import SourceText, WarehouseError, fail
from warehouse.execution.session import enter
from warehouse.execution.spark_errors import RAISED, is_disk_full, translate
from warehouse.language.literals import string_literal
from warehouse.planning.sources import SourceKind, StreamSource
from warehouse.planning.streaming_query import StreamingQuery
from warehouse.streaming import bad_rows, changes, faults, kafka_sink, late_table, panes, replay, sources, widened
from warehouse.streaming.carrying import carried, widen
from warehouse.streaming.feed import Feed
from warehouse.streaming.late_table import LateTable
from warehouse.streaming.log import Commit, step_log, table_folder
from warehouse.streaming.pace import Bound, Pacer
from warehouse.streaming.parts import Parts
from warehouse.streaming.placement import Keeper, placement
from warehouse.streaming.runner import Runner

Report = Callable[[StreamingTableEntry, Commit], None]


class Binder(Protocol):
    """Returns the bound query of an entry; its names are looked up in ``catalog``, or in the one there is."""

    def __call__(self, entry: StreamingTableEntry, catalog: Catalog | None = None) -> StreamingQuery:
        """Return the query."""


READERS_END = 60.0
"""Seconds for which the files of a table that was built again stay for queries that read them when it was."""

_CHANGING = "changing"
"""File in a table's folder while its entry changes."""


@dataclass
class _Background:
    """A streaming table that runs on: its thread, the bell that stops it, its pace, and what went wrong."""

    thread: threading.Thread
    stop: threading.Event
    every: int | None
    failure: list[BaseException]


class StreamingTables:
    """Acts on streaming tables.

    Args:
        bind: returns the bound query of an entry, for tables that exist already.
        report: is told of every step.
        keeper: is told of the panes that are distributed.
    """

    def __init__(self, spark: SparkSession, catalog: Catalog, home: Path, bind: Binder, report: Report, keeper: Keeper):
        self.spark, self.catalog, self.home, self.bind, self.report = spark, catalog, home, bind, report
        self.keeper = keeper
        self._feeds: dict[str, Feed] = {}
        self._sinks: dict[str, kafka_sink.Sink] = {}
        self._guard = threading.RLock()
        self._running: dict[str, _Background] = {}
        self._switch_of_runs = threading.Lock()
        """Held by START and STOP while they look at what runs and change it, never while they wait for a step."""
        self._leaving = set[Path]()

    # ------------------------------------------------------------------ making and dropping

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
        with self._stopped(old):
            return self._made(entry, query, old)

    @contextmanager
    def _stopped(self, entry: StreamingTableEntry) -> Iterator[None]:
        """Let a table that runs in the background rest; what has its name then runs on at the same pace."""
        running = self._running.get(entry.id) if self.is_running(entry) else None
        self.stop(entry, quiet=True)
        try:
            yield
        finally:
            if running:
                self.start(self._current(entry), running.every)

    def _made(self, entry: StreamingTableEntry, query: StreamingQuery, old: StreamingTableEntry | None) -> list[Commit]:
        try:
            self._make_folder(table_folder(self.home, entry), query)
            faults.passed("folder")
            if old is None:
                self._install(entry)
            commits = list(self._feed(entry, query).refresh())
            faults.passed("filled")
            if old is not None:
                self._install(entry)
        except BaseException:
            with suppress(Exception):  # what could not be undone is swept at the next start
                self._undo(entry, old)
            raise
        if old is not None:
            self._discard(old.id, READERS_END)
        self._send(entry)
        return commits

    def change(
        self, entry: StreamingTableEntry, query: StreamingQuery, old: StreamingTableEntry, carry: Carry | None
    ) -> list[Commit]:
        """Give a streaming table another query, its state and panes kept, and read what is there.

        The entry is the one write that counts: before it, the table goes on as it was; what was written for the new
        query by then is not looked at.

        Args:
            entry: the new entry, with the old one's id.
            query: its query.
            old: the entry that it takes the place of.
            carry: how the state becomes the new query's, None without state.

        Raises:
            WarehouseError: a step failed. If it was the first of the new query, and nothing of it can be seen yet,
                the table is as it was.
        """
        kafka_sink.check(entry)
        with self._stopped(old):
            former = self._feed(old, None)
            self._end_begun(former, old)
            readers = [r for r in self.catalog.readers_of(old.qualified) if r.id != old.id]
            with ExitStack() as held:
                for feed in [former, *(self._feed(r, None) for r in sorted(readers, key=lambda r: r.id))]:
                    held.enter_context(feed.runner.lock)
                entry, query = self._carried(former, entry, query, old, carry)
                for reader in readers:
                    self._widen_late_rows(reader, old, entry)
                self._switch(entry)
                widened.check(self.spark, former.runner.parts.folder, entry, query)
                with self._guard:
                    self._feeds[entry.id] = self._new_feed(entry, query, former)
            try:
                commits = list(self._feed(entry, query).refresh())
            except BaseException:
                with suppress(Exception):
                    self._take_back(former, entry, old)
                raise
            self._send(entry)
            return commits

    def _end_begun(self, former: Feed, old: StreamingTableEntry) -> None:
        """End a step that the former query began; where it cannot, forget it, as long as nothing of it can be seen.

        The rows of a step that is forgotten are read by the new query's first.

        Raises:
            WarehouseError: it fails, and some of its panes or rows are there already, or the disk is full.
        """
        if former.log.intent(former.log.last().step + 1) is None:
            return
        try:
            list(former.refresh())
        except (*RAISED, WarehouseError) as error:
            begun = former.log.last().step + 1
            if is_disk_full(error) or self._shows(former, begun):
                told = translate(error, SourceText(old.text)).diagnostics
                raise WarehouseError(*(replace(d, span=None) for d in told)) from None
            former.log.forget(begun)

    def _shows(self, feed: Feed, step: int) -> bool:
        """Say whether anything of a step that was begun can be seen: state, panes, or late rows; bad rows come last."""
        state, parts = feed.runner.state, feed.runner.parts
        if state and state.is_whole(state.delta_name(step)):
            return True
        kinds = (kind for kind in ("panes", late_table.FOLDER) if panes.exists(parts.folder / kind))
        return any(not parts.appends.of_step(kind, step).isEmpty() for kind in kinds)

    def _carried(
        self, former: Feed, entry: StreamingTableEntry, query: StreamingQuery, old: StreamingTableEntry,
        carry: Carry | None,
    ) -> tuple[StreamingTableEntry, StreamingQuery]:  # fmt: skip
        """Prepare panes and state for the new query; return entry and query with what was found."""
        parts, known = former.runner.parts, {c.name.lower() for c in (*old.former, *old.columns)}
        added = tuple(c for c in entry.columns if c.name.lower() not in known)
        widen(parts.session, parts.folder / "panes", added)
        faults.passed("widened")
        place = placement(entry, query.windowed, self.keeper)
        if place and entry.distribution != old.distribution:
            place.spread(parts.session, parts.folder / "panes")
            faults.passed("spread")
        entry = replace(entry, closed=_closed(former.log.last(), old, carry))
        if query.windowed:
            query = replace(query, windowed=replace(query.windowed, closed=entry.closed))
        if carry and not carry.is_idle and former.log.last().step:
            entry = replace(entry, revision=old.revision + 1)
            assert former.runner.state
            carried(parts.session, former.runner.state, step_log(self.home, entry), carry, former.log.last())
            faults.passed("carried")
        return entry, query

    def _widen_late_rows(
        self, reader: StreamingTableEntry, old: StreamingTableEntry, entry: StreamingTableEntry
    ) -> None:
        """Give the late rows that a reader keeps of a table the columns that the table gets."""
        folder = table_folder(self.home, reader) / late_table.FOLDER
        if old.columns == entry.columns or not panes.exists(folder):
            return
        after = self.catalog.draft()
        after.put_streaming_table(entry)
        LateTable.of(self.bind(reader, after)).widen(self.spark, folder)

    def _switch(self, entry: StreamingTableEntry) -> None:
        """Put ``entry`` in its former one's place; a view that a killed process left as it was is known by the mark."""
        mark = table_folder(self.home, entry) / _CHANGING
        mark.touch()
        self._install(entry)
        mark.unlink()
        with self._guard:
            self._sinks.pop(entry.id, None)

    def _take_back(self, former: Feed, entry: StreamingTableEntry, old: StreamingTableEntry) -> None:
        """Bring back the former query where no step of the new one has been written."""
        log = step_log(self.home, entry)
        since = former.log.last().step + (entry.revision > old.revision)
        begun = log.last().step + 1
        if log.last().step > since or self._shows(former, begun):
            return
        log.forget(begun)
        self._switch(old)
        with self._guard:
            self._feeds[old.id] = former

    def _undo(self, entry: StreamingTableEntry, old: StreamingTableEntry | None) -> None:
        """Bring back what there was before ``entry`` was to be made."""
        if old is None:
            self._forget(entry)
        elif self.catalog.streaming_table(entry.schema, entry.name) != old:
            self._install(old)
        self._discard(entry.id)

    def _make_folder(self, folder: Path, query: StreamingQuery) -> None:
        block = query.windowed
        names = tuple(c.name for c in query.columns)
        keys = block.keys if block else ("string",)
        times = tuple(c.name for c in query.columns if c.type in ("timestamp", "timestamp_ntz", "date"))
        panes.create(self.spark, folder / "panes", panes.pane_schema(query.columns, keys), names, times)

    def _install(self, entry: StreamingTableEntry) -> None:
        """Write the entry and the view, in this order: a missing view is made again by ``mend``."""
        self.catalog.put_streaming_table(entry)
        faults.passed("entry")
        self._make_view(entry)
        faults.passed("view")

    def _forget(self, entry: StreamingTableEntry) -> None:
        """Remove the view and the entry, in this order: a view that no entry knows would stand in the way."""
        self.spark.sql(f"DROP VIEW IF EXISTS {entry.qualified}")
        faults.passed("view_dropped")
        self.catalog.drop_streaming_table(entry.schema, entry.name)
        faults.passed("entry_dropped")

    def _make_view(self, entry: StreamingTableEntry) -> None:
        query = panes.latest(table_folder(self.home, entry) / "panes", entry)
        comment = f" COMMENT {string_literal(entry.comment)}" if entry.comment else ""
        self.spark.sql(f"CREATE OR REPLACE VIEW {entry.qualified}{comment} AS {query}")

    def mend(self, moved: bool) -> None:
        """Sweep what a killed process left half made; write the views anew when the folder was moved."""
        for entry in self.catalog.streaming_tables():
            if entry.distribution:
                self.keeper.open(table_folder(self.home, entry) / "panes")
        known = {e.id for e in self.catalog.streaming_tables()}
        left_over = [f.name for f in (self.home / "streaming").glob("*") if f.name not in known]
        for entry in self.catalog.streaming_tables():
            mark = table_folder(self.home, entry) / _CHANGING
            if moved or left_over or mark.exists() or not self.spark.catalog.tableExists(entry.qualified):
                self.spark.sql(f"CREATE SCHEMA IF NOT EXISTS {quote_name(entry.schema)}")  # dropped with its views
                self._make_view(entry)
            mark.unlink(missing_ok=True)
        for stream in self.catalog.streams():
            sources.ensure_relation(self.spark, stream)
        faults.passed("views_mended")
        for identity in left_over:
            self._discard(identity)

    def drop(self, entry: StreamingTableEntry) -> None:
        """Drop a streaming table with its panes and state; its sources stay.

        Raises:
            WarehouseError: other streaming tables read it.
        """
        self._refuse_readers(entry)
        self.stop(entry, quiet=True)
        self._forget(entry)
        self._discard(entry.id)
        bad_rows.drop(self.home, entry.schema, entry.name)

    def _discard(self, identity: str, after: float = 0) -> None:
        """Remove the bad rows and the folder of a table that no entry names any more, in this order.

        Args:
            identity: of the table.
            after: seconds until the folder goes, which those who read it now may need; it does when the engine closes.
        """
        with self._guard:
            if feed := self._feeds.pop(identity, None):
                feed.runner.forget()
            self._sinks.pop(identity, None)
        bad_rows.forget_reader(self.spark, self.home, identity)
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

    # ------------------------------------------------------------------ steps

    def refresh(self, entry: StreamingTableEntry, full: bool = False, drain: bool = False) -> list[Commit]:
        """Run the steps for what has arrived; ``full`` starts again from nothing, ``drain`` closes every window."""
        if full:
            anew = replace(entry, id=_renewed(entry.id), revision=0, closed=None, key_order=(), former=())
            query = self.bind(anew)
            return self.create(replace(anew, definitions=query.definitions), query, entry)
        feed = self._feed(entry, None)
        commits = list(feed.drain() if drain else feed.refresh())
        feed.look()
        self._send(entry)
        return commits

    def _send(self, entry: StreamingTableEntry) -> None:
        """Send what the table's sink does not have yet, if it has one; also what was left from an earlier run."""
        if kafka_sink.settings(entry) is None:
            return
        with self._guard:
            sink = self._sinks.get(entry.id)
            if sink is None:
                folder = table_folder(self.home, entry)
                sink = self._sinks[entry.id] = kafka_sink.Sink(self.spark, folder, entry)
        sink.send()

    def _current(self, entry: StreamingTableEntry) -> StreamingTableEntry:
        """Return the entry that the catalog has under the same name now."""
        return self.catalog.streaming_table(entry.schema, entry.name) or entry

    def _feed(self, entry: StreamingTableEntry, query: StreamingQuery | None) -> Feed:
        """Return the one feed of a table; made anew when something that it reads is another one."""
        with self._guard:
            known = self._feeds.get(entry.id)
            if known is None or not self._all_stand(known.runner.parts):
                query = query or self.bind(entry)
                folder = table_folder(self.home, entry)
                widened.check(self.spark, folder, entry, query)
                LateTable.of(query).widen(self.spark, folder / late_table.FOLDER)
                known = self._feeds[entry.id] = self._new_feed(entry, query, known)
            return known

    def _all_stand(self, parts: Parts) -> bool:
        return all(self._stands(source, parts.session) for source in parts.query.sources)

    def _stands(self, source: StreamSource, session: SparkSession) -> bool:
        entry = source.entry
        if entry is None:
            return widened.is_as_bound(session, source)
        if isinstance(entry, StreamEntry):
            return self.catalog.stream(entry.schema, entry.name) == entry
        return self.catalog.streaming_table(entry.schema, entry.name) == entry

    def _new_feed(self, entry: StreamingTableEntry, bound: StreamingQuery, former: Feed | None) -> Feed:
        if bound.definitions != entry.definitions:
            fail("WAREHOUSE_DEFINITION_CHANGED", table=entry.name)
        runner = Runner(self.spark, self.home, entry, bound, lambda commit: self.report(entry, commit), self.keeper)
        if former:
            runner.lock = former.runner.lock  # whoever still uses the former one is waited for
            former.runner.forget()
        replays = [s.entry for s in bound.sources if isinstance(s.entry, StreamEntry) and s.bounded]
        recordings = partial(replay.open_recordings, runner.parts.session, replays) if replays else None

        def frames(most: Bound | None) -> list[DataFrame]:
            # the watermark of a table that is read counts for all that it has emitted
            most = None if any(isinstance(s.entry, StreamingTableEntry) for s in bound.sources) else most
            return [self._frame(runner.parts.session, s, most) for s in bound.sources]

        return Feed(runner, frames, lambda: self._upstream(bound), recordings)

    def _frame(self, session: SparkSession, source: StreamSource, most: Bound | None) -> DataFrame:
        """Return a source as a streaming frame in the layout of ``streaming.sources``, a step bounded by ``most``."""
        if isinstance(source.entry, StreamEntry):
            return sources.streaming_frame(session, most.of(source.entry) if most else source.entry)
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

    # ------------------------------------------------------------------ running on

    def start(self, entry: StreamingTableEntry, every: int | None) -> bool:
        """Run a streaming table in the background; say whether it was not running yet."""
        bell, failure = threading.Event(), list[BaseException]()
        pacer = Pacer(every / 1e6 if every else None, bell)

        def run() -> None:
            enter(self.spark)
            try:
                self._run_on(entry, pacer)
            except BaseException as error:
                failure.append(error)

        thread = threading.Thread(target=run, name=f"warehouse-{entry.name}", daemon=True)
        with self._switch_of_runs:
            if self.is_running(entry):
                return False
            thread.start()
            self._running[entry.id] = _Background(thread, bell, every, failure)
        return True

    def _run_on(self, entry: StreamingTableEntry, pacer: Pacer) -> None:
        """Refresh a table at a pace until it is stopped; its sources stay open in between."""
        with ThreadPoolExecutor(max_workers=1) as meanwhile, ExitStack() as opened:
            feed = None
            while not pacer.stop.is_set():
                begun, before = time.monotonic(), feed
                feed = self._feed(entry, None)
                if feed is not before:
                    opened.close()
                    opened.callback(feed.close)
                commits = list(feed.refresh(pacer.halts, pacer.pace.bound, meanwhile))
                feed.look()
                self._send(entry)
                pacer.rest(commits, time.monotonic() - begun)

    def stop(self, entry: StreamingTableEntry, quiet: bool = False) -> bool:
        """Stop a background run after its current step; say whether there was one.

        Raises:
            BaseException: what stopped it before, unless ``quiet``.
        """
        with self._switch_of_runs:
            background = self._running.pop(entry.id, None)
        if background is None:
            return False
        background.stop.set()
        background.thread.join()
        if background.failure and not quiet:
            raise background.failure[0]
        return True

    def is_running(self, entry: StreamingTableEntry) -> bool:
        """Say whether the table runs in the background of this process."""
        found = self._running.get(entry.id)
        return found is not None and found.thread.is_alive()

    def interval(self, entry: StreamingTableEntry) -> int | None:
        """Return the microseconds between steps of a table that runs in the background; None where it chooses them."""
        found = self._running.get(entry.id)
        return found.every if found else None

    def failure(self, entry: StreamingTableEntry) -> BaseException | None:
        """Return what has ended the table's run in the background, None if nothing has, or if STOP has told it."""
        found = self._running.get(entry.id)
        return found.failure[0] if found and found.failure else None

    def close(self) -> None:
        """Stop everything that runs, and remove what was replaced."""
        for entry in self.catalog.streaming_tables():
            self.stop(entry, quiet=True)
        for folder in list(self._leaving):
            self._remove(folder)


def _closed(last: Commit, old: StreamingTableEntry, carry: Carry | None) -> int | None:
    """Return up to where windows are closed for good, since rows were late sooner under the old query."""
    if carry is None or carry.same_bounds or carry.old.lateness is None or last.step == 0:
        return old.closed
    longer = carry.new.lateness is None or carry.new.lateness > carry.old.lateness
    if not longer:
        return old.closed
    reached = END if last.drained else max(BEGINNING, last.after - carry.old.lateness)
    return reached if old.closed is None else max(reached, old.closed)


def _renewed(identity: str) -> str:
    """Return a new folder name for a table that starts again."""
    import secrets

    return identity.rpartition("-")[0] + "-" + secrets.token_hex(4)


__all__ = ["Iterator", "StreamingTables"]
