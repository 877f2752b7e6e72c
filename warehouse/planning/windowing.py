"""Window and trigger clauses as written, to window and trigger as computed; what cannot be is refused here."""

from __future__ import annotations

from itertools import count

from warehouse.dataflow import times, triggers, windows
from warehouse.dataflow.triggers import Kind, Node
from warehouse.errors import Span, fail
from warehouse.language.statements import (
    After,
    And,
    AtWatermark,
    Every,
    FixedWindow,
    GlobalWindow,
    Interval,
    Never,
    Or,
    Repeat,
    SessionWindow,
    SlidingWindow,
    Then,
    Trigger,
    TriggerClause,
    When,
    WindowSpec,
)

DEFAULT_LATENESS = times.DAY
"""How long after a window's end its rows still count, when nothing is said (DIALECT section 3)."""


def time_of(window: WindowSpec | None) -> Span | None:
    """Return the window's time expression; the GLOBAL window has none."""
    return None if window is None or isinstance(window, GlobalWindow) else window.time


def _length(text: str, interval: Interval, what: str) -> int:
    """Return a length in microseconds; refuses months and what is not positive."""
    if interval.months:
        fail("WAREHOUSE_INTERVAL_NOT_FIXED", interval.span, what=what, value=interval.span.of(text))
    if interval.micros <= 0:
        fail("WAREHOUSE_INTERVAL_NOT_POSITIVE", interval.span, what=what, value=interval.span.of(text))
    return interval.micros


def _offset(text: str, interval: Interval | None) -> int:
    if interval is None:
        return 0
    if interval.months:
        fail("WAREHOUSE_INTERVAL_NOT_FIXED", interval.span, what="OFFSET", value=interval.span.of(text))
    return interval.micros


def planned_window(text: str, window: WindowSpec | None) -> windows.Window:
    """Return the window with its lengths in microseconds.

    Raises:
        WarehouseError: a length is not positive, has months, or EVERY is above SIZE.
    """
    match window:
        case None | GlobalWindow():
            return windows.Global()
        case FixedWindow(size=size, offset=offset, per_key_offset=per_key):
            return windows.Fixed(_length(text, size, "SIZE"), _offset(text, offset), per_key is not None)
        case SlidingWindow(size=size, every=every, offset=offset):
            long, step = _length(text, size, "SIZE"), _length(text, every, "EVERY")
            if step > long:
                fail("WAREHOUSE_EVERY_ABOVE_SIZE", every.span, every=every.span.of(text), size=size.span.of(text))
            return windows.Sliding(long, step, _offset(text, offset))
        case SessionWindow(gap=Interval() as gap):
            return windows.Sessions(_length(text, gap, "GAP"))
        case SessionWindow(gap=Span() as gap):
            fail(
                "WAREHOUSE_NOT_BUILT_YET",
                gap,
                what="a GAP that is an expression of the row",
                example="a constant interval",
            )
    raise AssertionError(window)


def planned_trigger(text: str, clause: TriggerClause | None) -> Node:
    """Return the trigger tree; EARLY and LATE are spelled out as REPEAT, UNTIL and THEN.

    Raises:
        WarehouseError: a unit that is not built yet, or an amount that cannot be.
    """
    if clause is None:
        return Node(Kind.AT_WATERMARK, 0)
    if clause.once:
        fail("WAREHOUSE_NOT_BUILT_YET", clause.span, what="TRIGGER ONCE", example="the trigger without ONCE")
    numbers = count()
    return _node(text, _spelled_out(clause.trigger), numbers)


def _spelled_out(trigger: Trigger) -> Trigger:
    match trigger:
        case AtWatermark(percentile=percentile, early=early, late=late, span=span):
            plain = AtWatermark(percentile, span=span)
            first = Repeat(_spelled_out(early), plain, span) if early else plain
            return Then((first, Repeat(_spelled_out(late), None, span)), span) if late else first
        case Or(parts=parts, span=span):
            return Or(tuple(map(_spelled_out, parts)), span)
        case And(parts=parts, span=span):
            return And(tuple(map(_spelled_out, parts)), span)
        case Then(parts=parts, span=span):
            return Then(tuple(map(_spelled_out, parts)), span)
        case Repeat(body=body, until=until, span=span):
            return Repeat(_spelled_out(body), _spelled_out(until) if until else None, span)
    return trigger


def _node(text: str, trigger: Trigger, numbers: count[int]) -> Node:
    number = next(numbers)
    match trigger:
        case AtWatermark(percentile=None):
            return Node(Kind.AT_WATERMARK, number)
        case AtWatermark(span=span):
            _not_yet(span, "AT WATERMARK PERCENTILE", "AT WATERMARK")
        case Every(interval=Interval() as interval):
            return Node(Kind.EVERY_TIME, number, _length(text, interval, "EVERY"))
        case After(interval=Interval() as interval):
            return Node(Kind.AFTER_TIME, number, _length(text, interval, "AFTER"))
        case Every(rows=int() as rows, span=span):
            return Node(Kind.EVERY_ROWS, number, _rows(rows, span))
        case After(rows=int() as rows, span=span):
            return Node(Kind.AFTER_ROWS, number, _rows(rows, span))
        case Every(span=span) | After(span=span):
            _not_yet(span, "a trigger on BYTES", "ROWS")
        case When(span=span):
            _not_yet(span, "TRIGGER WHEN", "EVERY, AFTER or AT WATERMARK")
        case Never():
            return Node(Kind.NEVER, number)
        case Or(parts=parts):
            return Node(Kind.OR, number, 0, tuple(_node(text, p, numbers) for p in parts))
        case And(parts=parts):
            return Node(Kind.AND, number, 0, tuple(_node(text, p, numbers) for p in parts))
        case Then(parts=parts, span=span):
            if len(parts) >= triggers.MOST_PARTS:
                fail("WAREHOUSE_TRIGGER_TOO_LONG", span, most=triggers.MOST_PARTS - 1)
            return Node(Kind.THEN, number, 0, tuple(_node(text, p, numbers) for p in parts))
        case Repeat(body=body, until=until):
            both = (body,) if until is None else (body, until)
            return Node(Kind.REPEAT, number, 0, tuple(_node(text, p, numbers) for p in both))
    raise AssertionError(trigger)


def _rows(rows: int, span: Span | None) -> int:
    if rows <= 0:
        fail("WAREHOUSE_COUNT_NOT_POSITIVE", span, value=rows)
    return rows


def _not_yet(span: Span | None, what: str, instead: str) -> None:
    fail("WAREHOUSE_NOT_BUILT_YET", span, what=what, example=instead)
