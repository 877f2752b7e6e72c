"""A streaming table gets another query and keeps its state and its panes: CREATE OR REPLACE that continues."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import replace

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.dataflow.carry import Carry
from warehouse.dataflow.times import BEGINNING, END
from warehouse.errors import SourceText, WarehouseError
from warehouse.execution.spark_errors import RAISED, is_disk_full, translate
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.streaming import faults
from warehouse.streaming.delta import delta_tables, late_table, widened
from warehouse.streaming.delta.late_table import LateTable
from warehouse.streaming.delta.placement import placement
from warehouse.streaming.feeding.common import Common
from warehouse.streaming.feeding.feed import Feed
from warehouse.streaming.feeding.feeds import Feeds
from warehouse.streaming.feeding.running import Running
from warehouse.streaming.kafka import sink as kafka_sink
from warehouse.streaming.log import Commit, StepLog, step_log, table_folder
from warehouse.streaming.steps.runner import Runner
from warehouse.streaming.tables.carrying import carried
from warehouse.streaming.tables.installing import Installation


class Changing:
    """Gives streaming tables other queries."""

    def __init__(self, common: Common, installation: Installation, feeds: Feeds, running: Running):
        self.common, self.catalog, self.home = common, common.catalog, common.home
        self.installation, self.feeds, self.running = installation, feeds, running

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
        with self.running.resting(old):
            former = self.feeds.of(old)
            self._end_begun(former, old)
            readers = [r for r in self.catalog.readers_of(old.qualified) if r.id != old.id]
            with ExitStack() as held:
                # in one order, whichever of related tables are changed at the same time
                for table in sorted([old, *readers], key=lambda table: table.id):
                    held.enter_context((former if table is old else self.feeds.of(table)).runner.lock)
                entry, query = self._carried(former, entry, query, old, carry)
                for reader in readers:
                    self._widen_late_rows(reader, old, entry)
                self._switch(entry)
                widened.check(self.common.spark, former.runner.parts.folder, entry, query)
                self.feeds.change(entry, query, former)
            try:
                commits = list(self.feeds.of(entry, query).refresh())
            except BaseException:
                with suppress(Exception):
                    self._take_back(former, entry, old)
                raise
            self.feeds.send(entry)
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
            self._forget(former.runner, former.log, begun)

    def _shows(self, feed: Feed, step: int) -> bool:
        """Say whether anything of a step that was begun can be seen: state, panes, or late rows; bad rows come last."""
        state, parts = feed.runner.state, feed.runner.parts
        if state and state.is_whole(state.delta_name(step)):
            return True
        kinds = (kind for kind in ("panes", late_table.FOLDER) if delta_tables.exists(parts.folder / kind))
        return any(not parts.appends.of_step(kind, step).isEmpty() for kind in kinds)

    def _forget(self, runner: Runner, log: StepLog, begun: int) -> None:
        """Forget a step that was begun, so that the next one of that number, of either query, begins anew."""
        if runner.state:
            runner.state.discard(begun)
        log.forget(begun)

    def _carried(
        self, former: Feed, entry: StreamingTableEntry, query: StreamingQuery, old: StreamingTableEntry,
        carry: Carry | None,
    ) -> tuple[StreamingTableEntry, StreamingQuery]:  # fmt: skip
        """Prepare panes and state for the new query; return entry and query with what was found."""
        parts, known = former.runner.parts, {c.name.lower() for c in (*old.former, *old.columns)}
        added = tuple(c for c in entry.columns if c.name.lower() not in known)
        delta_tables.widen(parts.session, parts.folder / "panes", added)
        faults.passed("widened")
        place = placement(entry, query.windowed, self.common.keeper)
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
        if old.columns == entry.columns or not delta_tables.exists(folder):
            return
        after = self.catalog.draft()
        after.streaming_tables.put(entry)
        LateTable.of(self.common.bind(reader, after)).widen(self.common.spark, folder)

    def _switch(self, entry: StreamingTableEntry) -> None:
        """Put ``entry`` in its former one's place; what it says of a sink holds from now on."""
        self.installation.switch(entry)
        self.feeds.forget_sink(entry)

    def _take_back(self, former: Feed, entry: StreamingTableEntry, old: StreamingTableEntry) -> None:
        """Bring back the former query where no step of the new one has been written."""
        log = step_log(self.home, entry)
        since = former.log.last().step + (entry.revision > old.revision)
        begun = log.last().step + 1
        if log.last().step > since or self._shows(former, begun):
            return
        self._forget(former.runner, log, begun)
        self._switch(old)
        self.feeds.take_back(old, former)


def _closed(last: Commit, old: StreamingTableEntry, carry: Carry | None) -> int | None:
    """Return up to where windows are closed for good, since rows were late sooner under the old query."""
    if carry is None or carry.same_bounds or carry.old.lateness is None or last.step == 0:
        return old.closed
    longer = carry.new.lateness is None or carry.new.lateness > carry.old.lateness
    if not longer:
        return old.closed
    reached = END if last.drained else max(BEGINNING, last.after - carry.old.lateness)
    return reached if old.closed is None else max(reached, old.closed)
