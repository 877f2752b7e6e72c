"""The same programs on Apache Beam's own pure-Python trigger driver, for the part of the algebra that both have.

In: a ``Query`` and a ``Replay``. Out: panes of the model's kind, with what Beam does differently by design taken
out (``README.md`` lists it): a firing with nothing new is no pane here, and a row exactly as late as is allowed
is too late. Beam must be installed (extra ``beam``); nothing of the engine is used.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from apache_beam.transforms import trigger as beam
from apache_beam.transforms import window as windows
from apache_beam.transforms.core import Windowing
from apache_beam.transforms.timeutil import TimeDomain
from apache_beam.utils.timestamp import MIN_TIMESTAMP, Duration, Timestamp
from apache_beam.utils.windowed_value import PaneInfoTiming

from tests.oracle.model import (
    AGGREGATES,
    BEGIN,
    END,
    SECOND,
    After,
    And,
    AtWatermark,
    Every,
    Fixed,
    Global,
    Never,
    Or,
    Pane,
    Query,
    Repeat,
    Replay,
    Row,
    Sessions,
    Sliding,
    Then,
    Time,
    Trigger,
)


def trigger_of(trigger: Trigger) -> Any:
    """Return Beam's trigger of the same meaning.

    Raises:
        TypeError: Beam has none.
    """
    match trigger:
        case AtWatermark(early, late):
            return beam.AfterWatermark(early and trigger_of(early), late and trigger_of(late))
        case Every(interval=None, rows=int(rows)):
            return beam.Repeatedly(beam.AfterCount(rows))
        case After(interval=None, rows=int(rows)):
            return beam.AfterCount(rows)
        case After(interval=int(length)):
            return beam.AfterProcessingTime(length // SECOND)
        case Or(parts):
            return beam.AfterAny(*map(trigger_of, parts))
        case And(parts):
            return beam.AfterAll(*map(trigger_of, parts))
        case Then(parts):
            return beam.AfterEach(*map(trigger_of, parts))
        case Repeat(body, until):
            forever = beam.Repeatedly(trigger_of(body))
            return forever if until is None else beam.OrFinally(forever, trigger_of(until))
        case Never():
            return beam._Never()
    raise TypeError(trigger)


def window_of(window: Fixed | Sliding | Sessions | Global) -> Any:
    """Return Beam's window function."""

    def length(micros: int) -> Any:
        return Duration(micros=micros)

    match window:
        case Fixed(size, offset):
            return windows.FixedWindows(length(size), Timestamp(micros=offset))
        case Sliding(size, every, offset):
            return windows.SlidingWindows(length(size), length(every), Timestamp(micros=offset))
        case Sessions(int(gap)):
            return windows.Sessions(length(gap))
        case Global():
            return windows.GlobalWindows()
    raise TypeError(window)


@dataclass
class _Clock:
    now: int = 0

    def time(self) -> float:
        """Return the processing time in seconds, which is how Beam asks."""
        return self.now / SECOND


@dataclass
class _OneKey:
    """Beam's driver for one key, fed by events in order of processing time."""

    query: Query
    key: Any
    panes: list[Pane] = field(default_factory=list)
    watermark: Any = MIN_TIMESTAMP

    def __post_init__(self) -> None:
        query, self.clock, self.state = self.query, _Clock(), beam.InMemoryUnmergedState()
        root = trigger_of(query.trigger)
        mode = beam.AccumulationMode.DISCARDING if query.mode == "DISCARDING" else beam.AccumulationMode.ACCUMULATING
        self.assign = window_of(query.window)
        windowing = Windowing(self.assign, root if query.once else beam.Repeatedly(root), mode)
        self.driver = beam.create_trigger_driver(windowing, clock=self.clock)
        # Beam takes a row that is exactly as late as allowed; Duration cannot be infinite.
        self.driver.allowed_lateness = Duration(micros=10**15 if query.lateness == END else int(query.lateness) - 1)
        self._seen: dict[Any, int] = defaultdict(int)
        self._shown: dict[Any, int] = defaultdict(int)

    def rows(self, rows: list[Row], now: int) -> None:
        """Take a bundle of rows."""
        self.clock.now = now
        values = []
        for row in rows:
            at = Timestamp(micros=row.time)
            assigned = self.assign.assign(windows.WindowFn.AssignContext(at, row))
            values.append(windows.WindowedValue(row, at, assigned))
        self._take(self.driver.process_elements(self.state, values, self.watermark, self.watermark))

    def move(self, watermark: Time, now: int) -> None:
        """Move the watermark."""
        self.clock.now = now
        self.watermark = max(self.watermark, Timestamp(micros=int(watermark)))
        while due := self.state.get_timers(True, self.watermark, -1)[0]:
            for window, (name, domain, _, _) in due:
                self._take(self.driver.process_timer(window, name, domain, self.watermark, self.state, self.watermark))

    def next_timer(self) -> int | None:
        """Return when the next processing-time timer is due, in microseconds."""
        due = [
            round(at * SECOND)
            for timers in self.state.timers.values()
            for (_, domain, _), at in timers.items()
            if domain == TimeDomain.REAL_TIME
        ]
        return min(due, default=None)

    def timers(self, now: int) -> None:
        """Run the processing-time timers due at ``now``."""
        self.clock.now = now
        for window, named in list(self.state.timers.items()):
            for (name, domain, tag), at in list(named.items()):
                if domain == TimeDomain.REAL_TIME and round(at * SECOND) <= now:
                    self.state.clear_timer(window, name, domain, tag)
                    # Beam takes a timer's own time for the watermark unless told; panes are timed by it.
                    out = list(self.driver.process_timer(window, name, domain, self.watermark, self.state))
                    self._take(out)

    def _take(self, output: Any) -> None:
        for value in output:
            (window,) = value.windows
            rows: list[Row] = list(value.value)
            before = 0 if self.query.mode == "DISCARDING" else self._seen[window]
            self._seen[window] = len(rows)
            if len(rows) == before:
                continue  # a firing with nothing new: a pane for Beam
            everything = isinstance(self.query.window, Global)
            self.panes.append(
                Pane(
                    "insert",
                    self.key,
                    BEGIN if everything else window.start.micros,
                    END if everything else window.end.micros,
                    tuple(AGGREGATES[name](rows) for name in self.query.select),
                    PaneInfoTiming.to_string(value.pane_info.timing),
                    self._shown[window],
                    self.clock.now,
                    BEGIN if self.watermark == MIN_TIMESTAMP else self.watermark.micros,
                    0,
                )
            )
            self._shown[window] += 1


def replay_on_beam(query: Query, source: Replay) -> list[Pane]:
    """Return the panes that Beam's driver emits, without ``step``, in order of processing time.

    Rows, moves of the watermark and timers must fall on different instants.
    """
    assert isinstance(source.watermark, tuple)
    panes: list[Pane] = []
    moves = dict(source.watermark)
    instants = sorted({row.arrival for row in source.rows} | moves.keys())
    assert not {row.arrival for row in source.rows} & moves.keys()
    for key in dict.fromkeys(row.key for row in source.rows):
        one = _OneKey(query, key)
        for instant in [*instants, END]:
            while (due := one.next_timer()) is not None and due < instant:
                one.timers(due)
            if instant in moves:
                one.move(moves[int(instant)], int(instant))
            elif instant != END:
                one.rows([row for row in source.rows if row.arrival == instant and row.key == key], int(instant))
        panes += one.panes
    return sorted(panes, key=lambda pane: pane.emitted_at)
