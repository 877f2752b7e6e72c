"""The semantics of windowed aggregation as a simulator over plain objects: what the engine is judged by.

In: a ``Query`` (where, when, how) and steps of rows, or a ``Replay`` from which the steps follow. Out: panes in order,
late rows, bad rows and the final table ``t``. Written from the definition of the language, whose words the comments
quote; it shares no code and no method with the engine: a window is an object, a trigger is a tree of objects that the
window owns, a session keeps its rows. Nothing is fast and nothing is ever forgotten. The places where the text left a
choice are listed in ``README.md`` beside this file.

Times are whole microseconds since 1970-01-01 UTC; the two ends of time are the two infinities.
"""

from __future__ import annotations

import math
import operator
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Time = float
BEGIN: Time = -math.inf
END: Time = math.inf
SECOND = 1_000_000
MINUTE = 60 * SECOND
DAY = 24 * 60 * MINUTE

# ---------------------------------------------------------------- rows and panes


@dataclass(frozen=True)
class Row:
    """One input row.

    Attributes:
        time: event time, or None.
        arrival: processing time.
        number: its place in the file.
        gap: the value of a GAP expression, where the query has one.
        size: the row's length as UTF-8 JSON.
    """

    key: Any
    time: int | None
    value: int | None
    arrival: int
    number: int = 0
    gap: int | None = None
    size: int = 1


@dataclass(frozen=True)
class Pane:
    """One row of ``panes('t')``."""

    change: Literal["insert", "delete"]
    key: Any
    start: Time
    end: Time
    values: tuple[Any, ...]
    timing: Literal["EARLY", "ON_TIME", "LATE"]
    index: int
    emitted_at: Time
    watermark: Time
    step: int


@dataclass(frozen=True)
class LateRow:
    """One row of ``late_rows('t')``: a row and a window that missed it."""

    row: Row
    start: Time
    end: Time
    why: Literal["LATE", "FINISHED"]
    at: Time


# ---------------------------------------------------------------- what: aggregates and conditions


def _known(rows: Sequence[Row]) -> list[int]:
    return [row.value for row in rows if row.value is not None]


AGGREGATES = {
    "count": len,
    "count_v": lambda rows: len(_known(rows)),
    "sum": lambda rows: sum(_known(rows)) if _known(rows) else None,
    "min": lambda rows: min(_known(rows), default=None),
    "max": lambda rows: max(_known(rows), default=None),
}

OPERATORS = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "<>": operator.ne,
}


@dataclass(frozen=True)
class Condition:
    """``aggregate operator number``; without an aggregate it speaks of one row's value. NULL does not hold."""

    aggregate: str | None
    operator: str
    number: int

    def holds(self, rows: Sequence[Row]) -> bool:
        """Say whether the aggregate of all ``rows``, or any of the rows, satisfies the condition."""
        if self.aggregate is None:
            return any(self._holds(row.value) for row in rows)
        return self._holds(AGGREGATES[self.aggregate](rows))

    def _holds(self, value: int | None) -> bool:
        return value is not None and OPERATORS[self.operator](value, self.number)


# ---------------------------------------------------------------- where: windows

Bounds = tuple[Time, Time]


@dataclass(frozen=True)
class Sliding:
    """A window of ``size`` that starts every ``every``, aligned to 1970-01-01 UTC plus ``offset``."""

    size: int
    every: int
    offset: int = 0

    def assign(self, row: Row) -> list[Bounds]:
        """Return the windows that hold the row, earliest first."""
        assert row.time is not None
        last = row.time - (row.time - self.offset) % self.every
        starts = range(last, row.time - self.size, -self.every)
        return [(start, start + self.size) for start in reversed(starts)]


@dataclass(frozen=True)
class Fixed:
    """Tumbling windows: sliding ones whose period is their size."""

    size: int
    offset: int = 0

    def assign(self, row: Row) -> list[Bounds]:
        """Return the one window that holds the row."""
        return Sliding(self.size, self.size, self.offset).assign(row)


@dataclass(frozen=True)
class Sessions:
    """Rows of one key less than ``gap`` apart; ``gap`` None takes each row's own."""

    gap: int | None

    def assign(self, row: Row) -> list[Bounds]:
        """Return the range into which later rows may fall and still belong to the row's session."""
        assert row.time is not None
        return [(row.time, row.time + self.gap_of(row))]

    def gap_of(self, row: Row) -> int:
        """Return the row's gap, 0 for one that is NULL."""
        return self.gap if self.gap is not None else row.gap or 0


@dataclass(frozen=True)
class Global:
    """One window over all event time; it needs no timestamp."""

    def assign(self, row: Row) -> list[Bounds]:
        """Return all of time."""
        return [(BEGIN, END)]


WindowSpec = Fixed | Sliding | Sessions | Global

# ---------------------------------------------------------------- when: triggers


@dataclass(frozen=True)
class Look:
    """What a trigger sees of its window when it is looked at.

    Attributes:
        fresh: the rows since the window's last pane.
        content: the rows that the next pane would hold.
    """

    fresh: Sequence[Row]
    content: Sequence[Row]
    end: Time
    watermark: Time
    clock: Time


class Trigger:
    """A node of a trigger tree. Every window owns a copy of the tree; only THEN remembers anything.

    A node never stays finished: who holds it repeats it (the root, REPEAT), moves past it (THEN) or is
    finished with it (OR, AND).
    """

    def ready(self, look: Look) -> bool:
        """Say whether the node would fire."""
        raise NotImplementedError

    def fire(self, look: Look) -> bool:
        """Fire (the node is ready) and say whether it is finished with that."""
        raise NotImplementedError

    def children(self) -> list[Trigger]:
        """Return the node's children."""
        return []

    def restart(self) -> None:
        """Start again from the beginning."""
        for part in self.children():
            part.restart()

    def join(self, others: Sequence[Any]) -> None:
        """Take in the same node of the sessions that merge into this one."""
        for position, part in enumerate(self.children()):
            part.join([other.children()[position] for other in others])

    def deadlines(self, first: int) -> Iterator[int]:
        """Yield the processing times at which a unit falls due when the first new row arrived at ``first``."""
        for part in self.children():
            yield from part.deadlines(first)


@dataclass
class AtWatermark(Trigger):
    """``AT WATERMARK``; with EARLY or LATE it stands for a larger tree (see ``grow``)."""

    early: Trigger | None = None
    late: Trigger | None = None

    def ready(self, look: Look) -> bool:
        return look.watermark >= look.end

    def fire(self, look: Look) -> bool:
        return True


@dataclass
class _Amount(Trigger):
    """EVERY or AFTER: an interval, a number of rows, or of bytes. Exactly one is set."""

    interval: int | None = None
    rows: int | None = None
    bytes: int | None = None

    def due(self, first: int) -> int:
        raise NotImplementedError

    def ready(self, look: Look) -> bool:
        if not look.fresh:
            return False
        if self.rows is not None:
            return len(look.fresh) >= self.rows
        if self.bytes is not None:
            return sum(row.size for row in look.fresh) >= self.bytes
        return look.clock >= self.due(min(row.arrival for row in look.fresh))

    def deadlines(self, first: int) -> Iterator[int]:
        if self.interval is not None:
            yield self.due(first)


@dataclass
class Every(_Amount):
    """Goes on: "at the first multiple of i … at or after the arrival of the first new row"."""

    def due(self, first: int) -> int:
        assert self.interval is not None
        return -(-first // self.interval) * self.interval

    def fire(self, look: Look) -> bool:
        return False


@dataclass
class After(_Amount):
    """Fires once: "i of processing time after the first row of the pane arrived"."""

    def due(self, first: int) -> int:
        assert self.interval is not None
        return first + self.interval

    def fire(self, look: Look) -> bool:
        return True


@dataclass
class When(Trigger):
    """With an aggregate: "what the next pane would hold"; without: a new row for which it holds."""

    condition: Condition

    def ready(self, look: Look) -> bool:
        rows = look.fresh if self.condition.aggregate is None else look.content
        return bool(look.fresh) and self.condition.holds(rows)

    def fire(self, look: Look) -> bool:
        return True


@dataclass
class Never(Trigger):
    """Never fires."""

    def ready(self, look: Look) -> bool:
        return False


@dataclass
class _Several(Trigger):
    parts: list[Trigger]

    def children(self) -> list[Trigger]:
        return self.parts


@dataclass
class Or(_Several):
    """Any part; "finished when a part that fires is finished"."""

    def ready(self, look: Look) -> bool:
        return any(part.ready(look) for part in self.parts)

    def fire(self, look: Look) -> bool:
        finished = [part.fire(look) for part in self.parts if part.ready(look)]
        return any(finished)


@dataclass
class And(_Several):
    """All parts, all due at once."""

    def ready(self, look: Look) -> bool:
        return all(part.ready(look) for part in self.parts)

    def fire(self, look: Look) -> bool:
        finished = [part.fire(look) for part in self.parts]
        return any(finished)


@dataclass
class Then(_Several):
    """One part after the other, "the next looked at from the next step on"."""

    active: int = 0

    def ready(self, look: Look) -> bool:
        return self.parts[self.active].ready(look)

    def fire(self, look: Look) -> bool:
        part = self.parts[self.active]
        if not part.fire(look):
            return False
        part.restart()
        self.active += 1
        return self.active == len(self.parts)

    def restart(self) -> None:
        super().restart()
        self.active = 0

    def join(self, others: Sequence[Then]) -> None:
        """The least advanced wins; what its active part remembers comes from those that stand there too."""
        members = [self, *others]
        least = min(member.active for member in members)
        there = [member.parts[least] for member in members if member.active == least]
        there[0].join(there[1:])
        for part in self.parts[least + 1 :]:
            part.restart()
        self.active, self.parts[least] = least, there[0]


@dataclass
class Repeat(Trigger):
    """``body`` again and again until ``until`` fires; "both in one step are one pane"."""

    body: Trigger
    until: Trigger | None = None

    def children(self) -> list[Trigger]:
        return [self.body] if self.until is None else [self.body, self.until]

    def ready(self, look: Look) -> bool:
        return any(part.ready(look) for part in self.children())

    def fire(self, look: Look) -> bool:
        if self.until is not None and self.until.ready(look):
            return True
        if self.body.fire(look):
            self.body.restart()
        return False


def grow(trigger: Trigger) -> Trigger:
    """Return a window's own copy of a trigger, ``AT WATERMARK EARLY e LATE l`` written out."""
    match trigger:
        case AtWatermark(early, late):
            passed: Trigger = AtWatermark()
            if early is not None:
                passed = Repeat(grow(early), passed)
            return passed if late is None else Then([passed, Repeat(grow(late))])
        case Or(parts) | And(parts) | Then(parts):
            return type(trigger)([grow(part) for part in parts])
        case Repeat(body, until):
            return Repeat(grow(body), None if until is None else grow(until))
        case _:
            return deepcopy(trigger)


# ---------------------------------------------------------------- the query and its windows

Mode = Literal["DISCARDING", "ACCUMULATING", "RETRACTING"]


@dataclass(frozen=True)
class Query:
    """What, where, when and how.

    Attributes:
        once: TRIGGER ONCE ( … ).
        lateness: ALLOWED LATENESS; ``END`` is UNBOUNDED.
        select: names of ``AGGREGATES``.
    """

    window: WindowSpec = Global()
    trigger: Trigger = field(default_factory=AtWatermark)
    once: bool = False
    mode: Mode = "ACCUMULATING"
    lateness: Time = DAY
    having: Condition | None = None
    select: tuple[str, ...] = ("count", "sum")


@dataclass
class Window:
    """One window of one key.

    Attributes:
        rows: all of its rows. fresh: those since its last pane.
        standing: the panes that its next pane replaces.
        finished: its trigger is through, under ONCE.
        swallowed: a session that another has taken in.
    """

    key: Any
    start: Time
    end: Time
    trigger: Trigger
    rows: list[Row] = field(default_factory=list)
    fresh: list[Row] = field(default_factory=list)
    standing: list[Pane] = field(default_factory=list)
    finished: bool = False
    swallowed: bool = False

    def add(self, rows: Sequence[Row]) -> None:
        """Take in new rows."""
        self.rows.extend(rows)
        self.fresh.extend(rows)


class Model:
    """A streaming table: feed it steps, read ``panes``, ``late``, ``bad`` and ``table()``.

    Args:
        complete: each step starts at the beginning of time and ends at its end (replay's ``'complete'``).
    """

    def __init__(self, query: Query, complete: bool = False) -> None:
        self.query = query
        self.complete = complete
        self.windows: list[Window] = []
        self.panes: list[Pane] = []
        self.late: list[LateRow] = []
        self.bad: list[Row] = []
        self.watermark: Time = BEGIN
        self.steps = 0
        self._emitted: Counter[tuple[Any, Time, Time]] = Counter()

    # ------------------------------------------------------------ the step

    def step(self, rows: Sequence[Row], clock: Time, watermark: Time = BEGIN, drain: bool = False) -> None:
        """Take one step: "rows, then the watermark, then triggers, then closing"."""
        before = self.watermark
        after = END if drain or self.complete else max(before, watermark)
        assign = self._join_sessions if isinstance(self.query.window, Sessions) else self._join_windows
        assign([row for row in rows if self._is_good(row)], before, clock)
        for window in self.windows:
            self._look_at(window, before, after, clock, drain)
        if drain or not self.complete:
            self.watermark = after
        self.steps += 1

    def _is_good(self, row: Row) -> bool:
        match self.query.window:
            case Global():
                good = True
            case Sessions() as sessions:
                good = row.time is not None and sessions.gap_of(row) > 0
            case _:
                good = row.time is not None
        if not good:
            self.bad.append(row)
        return good

    def _in_time(self, row: Row, bounds: Bounds, before: Time, clock: Time) -> bool:
        """Say whether a row may still enter a window; if not it is kept aside."""
        if bounds[1] + self.query.lateness > before:
            return True
        self.late.append(LateRow(row, *bounds, "LATE", clock))
        return False

    def _join_windows(self, rows: Sequence[Row], before: Time, clock: Time) -> None:
        found = {(window.key, window.start, window.end): window for window in self.windows}
        for row in rows:
            for bounds in self.query.window.assign(row):
                if not self._in_time(row, bounds, before, clock):
                    continue
                name = (row.key, *bounds)
                if name not in found:
                    found[name] = Window(*name, grow(self.query.trigger))
                    self.windows.append(found[name])
                if found[name].finished:
                    self.late.append(LateRow(row, *bounds, "FINISHED", clock))
                else:
                    found[name].add([row])

    # ------------------------------------------------------------ sessions

    def _join_sessions(self, rows: Sequence[Row], before: Time, clock: Time) -> None:
        """Merge the new rows' own windows with the sessions they overlap.

        No session is forgotten here. That it is known for one GAP after it closed, and no longer, cannot be
        seen from outside: a row in time starts at or after the end of any session forgotten by then.
        """
        pieces: dict[Any, list[tuple[Time, Time, Row | Window]]] = defaultdict(list)
        for row in rows:
            (bounds,) = self.query.window.assign(row)
            if self._in_time(row, bounds, before, clock):
                pieces[row.key].append((*bounds, row))
        for window in self.windows:
            if window.key in pieces:
                pieces[window.key].append((window.start, window.end, window))
        for key, group in pieces.items():
            for start, end, members in _clusters(group):
                self._merge(key, start, end, members, before, clock)
        self.windows = [window for window in self.windows if not window.swallowed]

    def _merge(
        self, key: Any, start: Time, end: Time, members: Sequence[Row | Window], before: Time, clock: Time
    ) -> None:
        new = [member for member in members if isinstance(member, Row)]
        old = [member for member in members if isinstance(member, Window)]
        if not new:
            return
        # "A session that grows beyond the watermark is early again": what it was before has no say.
        heard = [window for window in old if not window.end <= before < end]
        if heard and all(window.finished for window in heard):
            self.late.extend(LateRow(row, start, end, "FINISHED", clock) for row in new)
            return
        triggers = [window.trigger for window in heard if not window.finished]
        merged = Window(key, start, end, triggers[0] if triggers else grow(self.query.trigger))
        merged.trigger.join(triggers[1:])
        for window in old:
            merged.rows += window.rows
            merged.fresh += window.fresh
            merged.standing += window.standing
            window.swallowed = True
        merged.add(new)
        self.windows.append(merged)

    # ------------------------------------------------------------ triggers, closing, panes

    def _look_at(self, window: Window, before: Time, after: Time, clock: Time, drain: bool) -> None:
        reached = before < window.end <= after and not self.complete
        look = Look(window.fresh, self._content(window), window.end, after, clock)
        fires = bool(window.fresh or reached) and not window.finished and window.trigger.ready(look)
        if fires and window.trigger.fire(look):
            window.trigger.restart()
            window.finished = self.query.once
        closes = window.end + self.query.lateness <= after and (drain or not self.complete)
        if window.fresh and (fires or closes):
            timing: Any = "EARLY" if after < window.end else "ON_TIME" if before < window.end else "LATE"
            self._emit(window, timing, clock, after)

    def _content(self, window: Window) -> list[Row]:
        return window.fresh if self.query.mode == "DISCARDING" else window.rows

    def _emit(self, window: Window, timing: Any, clock: Time, watermark: Time) -> None:
        content = self._content(window)
        values = tuple(AGGREGATES[name](content) for name in self.query.select)
        name = (window.key, window.start, window.end)
        pane = Pane("insert", *name, values, timing, self._emitted[name], clock, watermark, self.steps)
        self._emitted[name] += 1
        if self.query.mode == "RETRACTING":
            for old in window.standing:
                self.panes.append(replace(old, change="delete", emitted_at=clock, watermark=watermark, step=self.steps))
        shown = self.query.having is None or self.query.having.holds(content)
        window.standing = [pane] if shown else []
        self.panes += window.standing
        window.fresh = []

    # ------------------------------------------------------------ what can be asked

    def table(self) -> list[Pane]:
        """Return ``t``: the latest pane of every window that exists; under DISCARDING all panes."""
        if self.query.mode == "DISCARDING":
            return list(self.panes)
        return [pane for window in self.windows for pane in window.standing]

    def next_timer(self, clock: Time) -> int | None:
        """Return the next processing time after ``clock`` at which some unit falls due."""
        due = [
            deadline
            for window in self.windows
            if window.fresh and not window.finished
            for deadline in window.trigger.deadlines(min(row.arrival for row in window.fresh))
            if deadline > clock
        ]
        return min(due, default=None)


def _clusters(pieces: Sequence[tuple[Time, Time, Any]]) -> Iterator[tuple[Time, Time, list[Any]]]:
    """Yield the unions of intervals that overlap; touching ends do not."""
    cluster: list[Any] = []
    start = end = BEGIN
    for left, right, what in sorted(pieces, key=lambda piece: piece[:2]):
        if cluster and left >= end:
            yield start, end, cluster
            cluster = []
        if not cluster:
            start, end = left, right
        end = max(end, right)
        cluster.append(what)
    if cluster:
        yield start, end, cluster


# ---------------------------------------------------------------- replay: which steps there are


@dataclass(frozen=True)
class Replay:
    """A recorded stream with its own clock (``USING replay``).

    Attributes:
        step: None for ``'arrival'``, else the length of a micro-batch.
        watermark: ``'none'``, ``'complete'``, the CSV's (processing time, watermark) pairs, or the delay of
            the stream's WATERMARK clause.
    """

    rows: tuple[Row, ...]
    step: int | None = None
    watermark: Literal["none", "complete"] | tuple[tuple[int, int], ...] | int = "none"

    def watermark_at(self, clock: Time) -> Time:
        """Return the watermark after a step at ``clock``."""
        match self.watermark:
            case str():
                return BEGIN
            case int(delay):
                times = [row.time for row in self.rows if row.arrival <= clock and row.time is not None]
                return max(times, default=BEGIN) - delay
            case moves:
                return max((to for at, to in moves if at <= clock), default=BEGIN)


def replay(query: Query, source: Replay, drain: bool = False) -> Model:
    """Run a query over a recorded stream until no row, watermark move or timer is left, then DRAIN if asked."""
    model = Model(query, complete=source.watermark == "complete")
    moves = source.watermark if isinstance(source.watermark, tuple) else ()
    events = {row.arrival for row in source.rows} | {at for at, _ in moves}
    clock: Time = BEGIN
    while True:
        timer = model.next_timer(clock)
        ahead = [at for at in events if at > clock] + ([] if timer is None else [timer])
        if not ahead:
            break
        now = min(ahead)
        if source.step is not None:
            now = -(-now // source.step) * source.step
        rows = [row for row in source.rows if clock < row.arrival <= now]
        model.step(rows, now, source.watermark_at(now))
        clock = now
    if drain:
        model.step([], clock, END, drain=True)
    return model
