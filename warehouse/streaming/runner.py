"""Runs the steps of one streaming table: rows in, windows merged, panes out, each exactly once.

A step writes in this order: intent, state delta, panes, late and bad rows, commit record. Whatever is killed
when, the next run finds the newest commit record, repeats the step that has none under its logged clock, and
writes nothing twice.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import asdict, replace
from enum import Enum, auto
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.dataflow import merging, partials
from warehouse.dataflow.outcome import forgets
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.times import BEGINNING, END, Clock
from warehouse.errors import fail
from warehouse.execution.frames import figures
from warehouse.execution.relations import Plans, Relations
from warehouse.execution.spark_errors import RAISED
from warehouse.language.statements import Mode
from warehouse.planning.streaming_query import StreamingQuery
from warehouse.streaming import changes, faults, joined, late, panes, rejected, upkeep
from warehouse.streaming.appends import Appends
from warehouse.streaming.grouping import NO_ROWS, Arrived, gathered, grouped, tell
from warehouse.streaming.inputs import NOTHING, Inputs, Seen, looked_at, rows_seen, size_of
from warehouse.streaming.lags import Lags
from warehouse.streaming.log import Commit, Intent, StepLog, table_folder
from warehouse.streaming.outcome import Made, Outcome
from warehouse.streaming.placement import Keeper, placement
from warehouse.streaming.rolling import is_little, rolled_up
from warehouse.streaming.state import State

Report = Callable[[Commit], None]

FEW_ROWS, FEW_WINDOWS, MUCH_STATE = 20_000, 5_000, 50_000
"""A step of few rows that hit few windows of little state is interpreted, not compiled, by one task a stage."""
FEW_BYTES = 64 * 1024
"""Of a source that tells its size no more than these are few rows, whatever the format."""


class Manner(Enum):
    """How a step goes about its work. What comes out is the same."""

    FEW = auto()
    """The few rows are grouped, then merged with the state by one task, all of it interpreted."""
    STAGED = auto()
    """The rows are grouped, and what they came to tells which part of the state to read."""
    AT_ONCE = auto()
    """Rows and all of the state, which is less than they are, are grouped together."""


def manner(query: WindowedQuery, intent: Intent, last: Commit, size: Callable[[], int]) -> Manner:
    """Choose how a step is run before its rows are looked at: from what the last one was like.

    Args:
        query: the streaming table's.
        intent: the step's.
        last: the commit before.
        size: tells about how many bytes the rows of the step are; asked where the last one had none.
    """
    of_state = 0 if query.slicing else last.window_rows  # slices are not read with the rows
    replayed = intent.batch is None  # whose steps are small
    few = last.rows <= FEW_ROWS if last.rows or replayed else size() <= FEW_BYTES
    if few and of_state <= MUCH_STATE:
        return Manner.FEW
    return Manner.AT_ONCE if of_state <= last.rows and partials.comes_in_pieces(query) else Manner.STAGED


SETTINGS = {
    # every stage of a small step would become a job of its own (FACTS: 10 to 20 % of a step)
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # what is stored lives for one step, and finding the best scheme for each column takes longer than it saves
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
}
"""What a step's session differs in from a user's: no user's SET can change what a step computes."""


class Runner:
    """Runs steps of one streaming table; one step at a time, whoever asks."""

    def __init__(
        self, spark: SparkSession, home: Path, entry: StreamingTableEntry, query: StreamingQuery, report: Report,
        keeper: Keeper,
    ):  # fmt: skip
        self.home, self.folder = home, table_folder(home, entry)
        self.entry, self.query, self.report = entry, query, report
        self.log = StepLog(self.folder, entry.revision)
        self.state = State(self.folder / "state", query.windowed) if query.windowed else None
        self.lock = threading.Lock()
        self.meanwhile: Executor | None = None
        """Does what need not be done when the next step begins; None: it is done before."""
        self.partitions = spark.conf.get("spark.sql.shuffle.partitions")
        self.session = spark.newSession()
        for key, value in {**SETTINGS, **upkeep.SETTINGS}.items():
            self.session.conf.set(key, value)
        if spark.catalog.databaseExists(entry.current):
            self.session.catalog.setCurrentDatabase(entry.current)
        self.plans = Plans(self.session)
        self.inputs = Inputs(query, self.plans)
        self.appends = Appends(self.session, self.folder, placement(entry, query.windowed, keeper))

    # ------------------------------------------------------------------ one step

    def run(self, intent: Intent, frames: list[DataFrame] | None) -> Commit:
        """Run one step and commit it.

        Args:
            intent: recorded before; its clock is the only time the step sees.
            frames: per source the rows of the step in the layout of ``streaming.sources``; None: no rows.
        """
        started = time.monotonic()
        last = self.log.last()
        if table := joined.changed(self.folder, self.query.joined, last.step > 0) if self.query.joined else None:
            fail("WAREHOUSE_JOINED_TABLE_CHANGED", table=table, name=self.entry.name)
        if frames:
            frames = [changes.restored(f, self.home, s) for f, s in zip(frames, self.query.sources, strict=True)]
        with ExitStack() as kept:
            try:
                record = self._computed(intent, last, frames, kept)
            except RAISED as error:
                again = replace(intent, repeated=True)
                record = self._computed(again, last, self.inputs.without_poison(error, frames), kept)
        record = replace(record, seconds=round(time.monotonic() - started, 3))
        self.log.commit(record)
        faults.passed("commit")
        if self.state:
            self.state.clean(self.log.recent())
            faults.passed("cleaned")
        aside = rejected.folders(self.query, self.entry, self.home)
        follow = partial(upkeep.after, self.session, self.folder, last, record, self.appends.placement, aside)
        if self.meanwhile:
            self.meanwhile.submit(follow)
        else:
            follow()
        self.report(record)
        return record

    def _computed(self, intent: Intent, last: Commit, frames: list[DataFrame] | None, kept: ExitStack) -> Commit:
        """Do everything of a step but commit it."""
        if self.query.windowed is None:
            return self._stateless(intent, last, frames)
        return self._windowed(self.query.windowed, intent, last, frames, kept)

    def _windowed(
        self, query: WindowedQuery, intent: Intent, last: Commit, frames: list[DataFrame] | None, kept: ExitStack
    ) -> Commit:
        assert self.state
        session = frames[0].sparkSession if frames else self.session
        relations = self.plans.relations(session)
        how = manner(query, intent, last, partial(size_of, frames or []))
        self._tune(session, how is Manner.FEW)
        new = NO_ROWS
        thin, of_state = last.rows < 2 * last.groups, last.window_rows
        arrived = Arrived(self.inputs, relations, self.folder, intent, frames, kept) if frames else None
        if arrived and how is Manner.AT_ONCE:
            known = self._seen(relations, self.state.all(session, last))
            new = gathered(arrived, known, thin)
        elif arrived:
            new = grouped(arrived, how is not Manner.FEW, thin)
        watermarks, after = self.watermarks(intent, last, new.seen)
        lags = Lags(**last.lags)
        if new.lags:
            lags = lags.with_rows(query.percentiles, new.lags)
        faster = lags.watermarks(query.percentiles)
        small = new.windows <= FEW_WINDOWS and is_little(self.state, last, new, after, MUCH_STATE)
        since = self.state.slices.known_until(last) if self.state.slices else BEGINNING
        clock = Clock(
            intent.step, intent.now, intent.before, after, intent.drain, intent.complete, faster, not small, since
        )
        tell(relations, clock)
        self._tune(session, small)
        state = batch = added = None
        made = Made()
        if new.gathered:
            known = merging.with_strays(query, "__w_windows", "__w_state" if new.strays else None)
            windows = merging.touched(f"({known})", clock, at_once=small)
            made = self._outcome(relations, intent, clock, windows, forgets(query, clock, new.bounds[1])).written()
        elif self.state.slices:
            rolled = rolled_up(relations, self.state, self.state.slices, last, new, clock)
            added = rolled.added
            if rolled.windows:
                found = self._outcome(relations, intent, clock, rolled.windows, apart=rolled.momentary)
                made = found.emitted() if rolled.momentary else found.written()
        else:
            state = self._seen(relations, self.state.touched(session, last, clock, new.few, new.bounds))
            batch = "__w_batch" if new.windows else None
            if state or batch:
                windows = merging.merged(query, state, batch, clock, at_once=small)
                made = self._outcome(relations, intent, clock, windows).written()
        refused = late.finished(relations, query, state, batch, clock)
        finished = late.keep(relations, self.appends, self.query, new.late, refused, intent, clock)
        bad = self._rejected(frames, relations, intent, new.seen, {"__w_rows": new.untimed})
        reached = BEGINNING if intent.complete and not intent.drain else after
        waiting = self.state.slices.due(new.bounds[0], reached) if self.state.slices else None
        record = Commit(
            step=intent.step, batch=intent.batch if intent.batch is not None else last.batch, now=intent.now,
            before=intent.before, after=reached,
            watermarks=watermarks, drained=last.drained or intent.drain,
            base=last.base,
            deltas=(*last.deltas, *((self.state.delta_name(intent.step),) if made.kept else ())),
            base_rows=last.base_rows, delta_rows=last.delta_rows + made.kept,
            slices=last.slices, slice_rows=last.slice_rows, unfired=last.unfired,
            due_watermark=_least(_still(last.due_watermark, reached), made.due_wm, waiting),
            due_windows=_least(_still(last.due_windows, reached), made.due_wm),
            due_clock=_least(_still(last.due_clock, intent.now), made.due_at),
            rows=sum(s.rows for s in new.seen), groups=new.windows - (of_state if new.gathered else 0), late=new.late,
            finished=finished, bad=bad, lateness=new.lateness,
            panes=made.shown, early=made.early, on_time=made.on_time, behind=made.behind,
            withdrawn=made.gone if query.mode is Mode.RETRACTING else 0,
            arrived=intent.now if frames is not None else last.arrived, lags=asdict(lags) if query.percentiles else {},
        )  # fmt: skip
        if self.state.slices:
            record = self.state.slices.added(record, added)
        self._tune(session, False)
        record = self.state.compacted(session, record, intent.drain)
        return self.state.listed(record, last)

    def _outcome(
        self, relations: Relations, intent: Intent, clock: Clock, windows: str, apart: bool = False
    ) -> Outcome:
        assert self.state
        return Outcome(relations, self.state, self.appends, intent, clock, windows, apart)

    def _seen(self, relations: Relations, state: DataFrame | None) -> str | None:
        """Make the relation of the state that a step reads; return its name, None without state."""
        if state is not None:
            relations.put("__w_state", state)
        return None if state is None else "__w_state"

    def _stateless(self, intent: Intent, last: Commit, frames: list[DataFrame] | None) -> Commit:
        made = {"insert": 0, "delete": 0}
        relations = self.plans.relations(frames[0].sparkSession if frames else self.session)
        marked = any(source.watermark for source in self.query.sources)
        seen = self._looked_at(frames) if marked else []  # ahead, as each row tells the watermark after its step
        watermarks, after = self.watermarks(intent, last, seen)
        if frames is not None:
            clock = Clock(intent.step, intent.now, intent.before, after, intent.drain, intent.complete)
            tell(relations, clock)
            observed = self.inputs.make(relations, frames, clock.reading().now)
            relations.put("__w_input", relations.sql(self.query.input.text))
            counts = {kind: f"count_if(_change_type = '{kind}')" for kind in made}
            emitted = relations.measured(
                panes.passed_on(self.query.columns, "__w_input", self.query.reads_changes, clock), counts
            )
            if self.appends.append(emitted.frame, "panes", intent):
                made = emitted.figures()
                seen = seen or [rows_seen(rows) for rows in observed]
            else:
                made = figures(self.appends.of_step("panes", intent.step), counts)
                seen = seen or self._looked_at(frames)
        bad = self._rejected(frames, relations, intent, seen, {})
        return Commit(
            step=intent.step, batch=intent.batch if intent.batch is not None else last.batch, now=intent.now,
            before=intent.before, after=after, watermarks=watermarks, drained=last.drained or intent.drain,
            rows=sum(s.rows for s in seen), finished=0, bad=bad, panes=made["insert"], withdrawn=made["delete"],
            arrived=intent.now if frames is not None else last.arrived,
        )  # fmt: skip

    def pass_by(self, intent: Intent, last: Commit) -> Commit:
        """Commit a step in which only the clock and the watermark move and nothing is due."""
        watermarks, after = self.watermarks(intent, last, [])
        record = last.idle(
            step=intent.step, now=intent.now, before=intent.before,
            after=BEGINNING if intent.complete else after, watermarks=watermarks,
        )  # fmt: skip
        self.log.commit(record)
        return record

    def forget(self) -> None:
        """Let go of what is in memory of the state; a step that still comes reads it again."""
        if self.state:
            self.state.hot.keep(())

    # ------------------------------------------------------------------ parts of a step

    def watermarks(self, intent: Intent, last: Commit, seen: list[Seen]) -> tuple[dict[str, int], int]:
        """Return the watermark of each source, and the query's after the step: the least, and never going back."""
        if intent.complete:
            return {}, END
        found: dict[str, int] = {}
        for number, source in enumerate(self.query.sources):
            its = seen[number] if seen else NOTHING
            candidates = [last.watermarks.get(str(number), BEGINNING), intent.given.get(str(number), BEGINNING)]
            if source.watermark and its.high is not None and str(number) not in intent.given:
                candidates.append(its.high - source.watermark[1])
            found[str(number)] = max(candidates)
        after = max(intent.before, min(found.values(), default=BEGINNING))
        return found, END if intent.drain else after

    def _looked_at(self, frames: list[DataFrame] | None) -> list[Seen]:
        """Return what a pass over the rows of a step, before any other, finds of each source."""
        return [looked_at(*each) for each in zip(frames, self.query.sources, strict=True)] if frames else []

    def _rejected(
        self, frames: list[DataFrame] | None, relations: Relations, intent: Intent, seen: list[Seen],
        untimed: dict[str, int],
    ) -> int:  # fmt: skip
        """Set aside the bad rows of a step, those in the relations ``untimed`` among them; return how many."""
        if frames is None:
            return 0
        untimed = untimed | rejected.unassigned(self.query, relations)
        return rejected.keep(self.query, self.entry, self.home, intent, frames, relations, seen, untimed)

    def dues(self, last: Commit) -> Commit:
        """Return ``last`` with the dues that are known no better than "from now on" looked up in the state."""
        if self.state is None or (last.due_watermark != last.after + 1 and last.due_clock != last.now + 1):
            return last
        return self.state.with_dues(self.session, last)

    def _tune(self, session: SparkSession, small: bool) -> None:
        """Choose how plans run: for few rows, compiling code and starting tasks cost more than they save."""
        session.conf.set("spark.sql.codegen.wholeStage", str(not small).lower())
        session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN" if small else "FALLBACK")
        session.conf.set("spark.sql.shuffle.partitions", "1" if small else self.partitions)


def _least(*values: int | None) -> int | None:
    return min((value for value in values if value is not None), default=None)


def _still(due: int | None, reached: int) -> int | None:
    """Return the next due after ``reached`` as far as one due tells: once it has passed, the rest may be due any time.

    Whoever needs it more exactly asks ``Runner.dues``; most steps are followed by rows and nobody does.
    """
    return due if due is None or due > reached else min(reached + 1, END)
