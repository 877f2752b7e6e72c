"""A step of a streaming table with windows: rows grouped, merged with what is kept, panes out, state kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from enum import Enum, auto
from functools import partial

from pyspark.sql import DataFrame

from warehouse.dataflow import merging, partials
from warehouse.dataflow.outcome import forgets
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.state_columns import state_types
from warehouse.dataflow.times import BEGINNING, END, Clock
from warehouse.execution.relations import Relations
from warehouse.language.statements import Mode
from warehouse.streaming.log import Commit, Intent
from warehouse.streaming.state.hot import SMALL_PART
from warehouse.streaming.state.slices import Bounds, Folder
from warehouse.streaming.state.state import State
from warehouse.streaming.steps import late
from warehouse.streaming.steps.grouping import MOST_HELD, NO_ROWS, Arrived, Grouped, gathered, grouped, held, tell
from warehouse.streaming.steps.inputs import size_of
from warehouse.streaming.steps.lags import Lags
from warehouse.streaming.steps.outcome import Made, Outcome
from warehouse.streaming.steps.parts import Parts
from warehouse.streaming.steps.rolling import is_little, rolled_up
from warehouse.streaming.steps.tuning import Tuning, are_few

FEW_WINDOWS, MUCH_STATE = 5_000, 50_000
"""A step of few rows that hit few windows of little state is interpreted, not compiled, by one task a stage."""

LITTLE_STATE = 1 << 23
"""Bytes, as files, of a state whose rows may be held: where windows keep the rows themselves, a few can be long."""


class Manner(Enum):
    """How a step goes about its work. What comes out is the same."""

    FEW = auto()
    """The few rows are grouped and held in this process, then merged with the state, by one task, all interpreted."""
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
        size: see ``are_few``.
    """
    of_state = 0 if query.slicing else last.window_rows  # slices are not read with the rows
    if last.groups <= MOST_HELD and of_state <= MUCH_STATE and are_few(intent, last, size):
        return Manner.FEW
    return Manner.AT_ONCE if of_state <= last.rows and partials.comes_in_pieces(query) else Manner.STAGED


@dataclass(frozen=True)
class Read:
    """What a step of windows knows once its rows are grouped.

    Attributes:
        new: the rows, grouped.
        watermarks, lags, arrived: as the commit record will have them.
        clock: the step's, with the watermark that the rows bring.
        small: little is to be merged: it is interpreted, by one task.
        few: so many rows of what comes of it are held in this process; 0 where they may be many, or long.
    """

    new: Grouped
    watermarks: dict[str, int]
    lags: Lags
    arrived: dict[str, int]
    clock: Clock
    small: bool
    few: int


@dataclass(frozen=True)
class Fired:
    """What came of the windows that a step looked at.

    Attributes:
        made: their panes and their state, written.
        state, batch: the relations of kept and of new partial results that were merged, where they were.
        added: the slices that were written, where the query keeps slices.
    """

    made: Made
    state: str | None = None
    batch: str | None = None
    added: Folder | None = None


class Windowed:
    """Computes the steps of one streaming table whose query has windows."""

    def __init__(self, parts: Parts, query: WindowedQuery, state: State, tuning: Tuning):
        self.parts, self.query, self.state, self.tuning = parts, query, state, tuning

    def computed(self, intent: Intent, last: Commit, frames: list[DataFrame] | None, kept: ExitStack) -> Commit:
        """Do everything of a step but commit it: see ``Runner.run``."""
        parts, relations = self.parts, self.parts.relations(frames)
        read = self._read(intent, last, frames, relations, kept)
        fired = self._fired(intent, last, read, relations)
        refused = late.finished(relations, self.query, fired.state, fired.batch, read.clock)
        finished = late.keep(relations, parts.appends, parts.query, read.new.late, refused, intent, read.clock)
        bad = parts.set_aside(frames, relations, intent, read.new.seen, {"__w_rows": read.new.untimed})
        record = self._recorded(intent, last, read, fired, finished=finished, bad=bad)
        if self.state.slices:
            record = self.state.slices.added(record, fired.added)
        few = read.few if record.window_rows + record.slice_rows <= read.few else 0
        self.tuning.tune(relations.session, few > 0)
        record = self.state.compacted(relations.session, record, intent.drain, few)
        return self.state.listed(record, last)

    def _read(
        self, intent: Intent, last: Commit, frames: list[DataFrame] | None, relations: Relations, kept: ExitStack
    ) -> Read:
        """Group the rows of a step, and see how far the watermark comes with them."""
        how = manner(self.query, intent, last, partial(size_of, frames or []))
        self.tuning.tune(relations.session, how is Manner.FEW)
        new, thin = NO_ROWS, last.rows < 2 * last.groups
        arrived = None
        if frames:
            hit = partial(self._hit, relations, intent, last)
            arrived = Arrived(self.parts.inputs, relations, self.parts.folder, intent, frames, kept, hit)
        if arrived and how is Manner.AT_ONCE:
            known = self._seen(relations, self.state.all(relations.session, last))
            new = gathered(arrived, known, thin)
        elif arrived:
            new = self._held(arrived, thin) if how is Manner.FEW else grouped(arrived, thin)
        watermarks, after = self.parts.watermarks(intent, last, new.seen)
        lags = Lags(**last.lags)
        if new.lags:
            lags = lags.with_rows(self.query.percentiles, new.lags)
        faster = lags.watermarks(self.query.percentiles)
        small = new.windows <= FEW_WINDOWS and is_little(self.state, last, new, after, MUCH_STATE)
        since = self.state.slices.known_until(last) if self.state.slices else BEGINNING
        clock = Clock(
            intent.step, intent.now, intent.before, after, intent.drain, intent.complete, faster, not small, since
        )
        little = new.held and last.panes <= SMALL_PART and last.state_bytes <= LITTLE_STATE
        few = SMALL_PART if small and little else 0
        arrivals = self.parts.arrived(intent, last, new.seen)
        return Read(new, watermarks, lags, arrivals, clock, small, few)

    def _held(self, arrived: Arrived, thin: bool) -> Grouped:
        """Group rows that are few by what the last step was like; as many, where they turn out to be."""
        few = held(arrived)
        if few is None:
            self.tuning.tune(arrived.relations.session, False)
        return few or grouped(arrived, thin)

    def _fired(self, intent: Intent, last: Commit, read: Read, relations: Relations) -> Fired:
        """Merge what came with what is kept of the windows it touches or that are due; write their panes and state."""
        new, clock = read.new, read.clock
        tell(relations, clock)
        self.tuning.tune(relations.session, read.small)
        if new.gathered:
            known = merging.with_strays(self.query, "__w_windows", "__w_state" if new.strays else None)
            windows = merging.touched(f"({known})", clock, at_once=read.small)
            found = self._outcome(relations, intent, read, windows, forgets(self.query, clock, new.bounds[1]))
            return Fired(found.written())
        if self.state.slices:
            rolled = rolled_up(relations, self.state, self.state.slices, last, new, clock, read.few)
            if not rolled.windows:
                return Fired(Made(), added=rolled.added)
            found = self._outcome(relations, intent, read, rolled.windows, apart=rolled.momentary)
            return Fired(found.emitted() if rolled.momentary else found.written(), added=rolled.added)
        state = self._seen(relations, self.state.touched(relations.session, last, clock, new.few, new.bounds))
        batch = "__w_batch" if new.windows else None
        if not (state or batch):
            return Fired(Made())
        standing = state or (self._nothing(relations) if read.few else None)
        windows = merging.merged(self.query, standing, batch, clock, at_once=read.small)
        return Fired(self._outcome(relations, intent, read, windows).written(), state, batch)

    def _recorded(self, intent: Intent, last: Commit, read: Read, fired: Fired, finished: int, bad: int) -> Commit:
        """Say what a step did, and all that the next one needs but where slices and a new base lie."""
        new, made = read.new, fired.made
        reached = BEGINNING if intent.complete and not intent.drain else read.clock.after
        waiting = self.state.slices.due(new.bounds[0], reached) if self.state.slices else None
        return Commit(
            step=intent.step, batch=intent.batch if intent.batch is not None else last.batch, now=intent.now,
            before=intent.before, after=reached,
            watermarks=read.watermarks, drained=last.drained or intent.drain,
            base=last.base,
            deltas=(*last.deltas, *((self.state.delta_name(intent.step),) if made.kept else ())),
            base_rows=last.base_rows, delta_rows=last.delta_rows + made.kept,
            slices=last.slices, slice_rows=last.slice_rows, unfired=last.unfired,
            due_watermark=_least(_still(last.due_watermark, reached), made.due_wm, waiting),
            due_windows=_least(_still(last.due_windows, reached), made.due_wm),
            due_clock=_least(_still(last.due_clock, intent.now), made.due_at),
            rows=sum(s.rows for s in new.seen), groups=new.windows - (last.window_rows if new.gathered else 0),
            late=new.late, finished=finished, bad=bad, lateness=new.lateness,
            panes=made.shown, early=made.early, on_time=made.on_time, behind=made.behind,
            withdrawn=made.gone if self.query.mode is Mode.RETRACTING else 0,
            arrived=read.arrived, lags=asdict(read.lags) if self.query.percentiles else {},
        )  # fmt: skip

    def _outcome(self, relations: Relations, intent: Intent, read: Read, windows: str, apart: bool = False) -> Outcome:
        return Outcome(relations, self.state, self.parts.appends, intent, read.clock, windows, read.few, apart)

    def _hit(
        self, relations: Relations, intent: Intent, last: Commit, hits: DataFrame | None, bounds: Bounds
    ) -> DataFrame | None:
        """Return the state that some windows hit, before the watermark moves."""
        now = Clock(intent.step, intent.now, intent.before, intent.before)
        return self.state.touched(relations.session, last, now, hits, bounds)

    def _seen(self, relations: Relations, state: DataFrame | None) -> str | None:
        """Make the relation of the state that a step reads; return its name, None without state."""
        if state is not None:
            relations.put("__w_state", state)
        return None if state is None else "__w_state"

    def _nothing(self, relations: Relations) -> str:
        """Make the relation of a state without rows: over it a first step's texts are those of the steps after it."""
        relations.put_nothing("__w_state", state_types(self.query))
        return "__w_state"


def _least(*values: int | None) -> int | None:
    return min((value for value in values if value is not None), default=None)


def _still(due: int | None, reached: int) -> int | None:
    """Return the next due after ``reached`` as far as one due tells: once it has passed, the rest may be due any time.

    Whoever needs it more exactly asks ``Runner.dues``; most steps are followed by rows and nobody does.
    """
    return due if due is None or due > reached else min(reached + 1, END)
