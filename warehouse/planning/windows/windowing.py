"""Window and trigger clauses as written, to window and trigger as computed; what cannot be is refused here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from warehouse.dataflow import times, windows
from warehouse.dataflow.triggers import Kind, Node, Own
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
    OwnTrigger,
    Repeat,
    SessionWindow,
    SlidingWindow,
    Then,
    Trigger,
    TriggerClause,
    When,
    WindowSpec,
)
from warehouse.planning.lengths import fixed, length

OurWindow = FixedWindow | SlidingWindow | SessionWindow | GlobalWindow
"""The kinds of windows that need no definition."""

DEFAULT_LATENESS = times.DAY
"""How long after a window's end its rows still count, when nothing is said."""
MOST_WINDOWS = 10_000_000
"""How many windows a row may be in: more than these take minutes, and are found out by Spark at last."""


def time_of(window: WindowSpec | None) -> Span | None:
    """Return the window's time expression; the GLOBAL window has none."""
    return None if window is None or isinstance(window, GlobalWindow) else window.time


def _offset(text: str, interval: Interval | None) -> int:
    return fixed(text, interval, "OFFSET") if interval else 0


def planned_window(text: str, window: OurWindow | None) -> windows.Window:
    """Return one of our kinds of windows with its lengths in microseconds.

    Raises:
        WarehouseError: a length is not positive, has months, or EVERY is above SIZE, or a tiny part of it.
    """
    match window:
        case None | GlobalWindow():
            return windows.Global()
        case FixedWindow(size=size, offset=offset, per_key_offset=per_key):
            return windows.Fixed(length(text, size, "SIZE"), _offset(text, offset), per_key is not None)
        case SlidingWindow(size=size, every=every, offset=offset):
            long, step = length(text, size, "SIZE"), length(text, every, "EVERY")
            if step > long:
                fail("WAREHOUSE_EVERY_ABOVE_SIZE", every.span, every=every.span.of(text), size=size.span.of(text))
            if (count := -(-long // step)) > MOST_WINDOWS:
                fail("WAREHOUSE_WINDOWS_TOO_MANY", every.span, count=f"{count:,}", most=f"{MOST_WINDOWS:,}")
            return windows.Sliding(long, step, _offset(text, offset))
        case SessionWindow(gap=Interval() as gap):
            return windows.Sessions(length(text, gap, "GAP"))
        case SessionWindow():
            return windows.Sessions(None)
    raise AssertionError(window)


@dataclass(frozen=True)
class Resolve:
    """What the expressions of a trigger mean.

    Attributes:
        condition: returns what kind of condition a WHEN has, and its SQL as ``triggers.Node`` wants it.
        own: returns what defines a unit of the user's own, with its arguments.
    """

    condition: Callable[[When], tuple[Kind, str]]
    own: Callable[[OwnTrigger], Own]


def leaves(trigger: Trigger | None) -> Iterator[Trigger]:
    """Yield the units of a trigger that have no units inside, as written; AT WATERMARK is one beside its own."""
    inside = _parts(trigger)
    if trigger is not None and (not inside or isinstance(trigger, AtWatermark)):
        yield trigger
    for part in inside:
        yield from leaves(part)


def _parts(trigger: Trigger | None) -> tuple[Trigger, ...]:
    """Return the units that stand inside one."""
    match trigger:
        case AtWatermark(early=early, late=late):
            return tuple(part for part in (early, late) if part is not None)
        case Or(parts=parts) | And(parts=parts) | Then(parts=parts):
            return parts
        case Repeat(body=body, until=until):
            return (body,) if until is None else (body, until)
    return ()


def planned_trigger(text: str, clause: TriggerClause | None, resolve: Resolve) -> Node:
    """Return the trigger tree; EARLY and LATE are spelled out as REPEAT, UNTIL and THEN.

    Raises:
        WarehouseError: an amount that cannot be, or a unit that can never fire.
    """
    if clause is None:
        return Node(Kind.AT_WATERMARK, 0)
    if not isinstance(clause.trigger, Never):
        _refuse_dead(text, clause.trigger)
    return _node(text, _spelled_out(clause.trigger), count(), resolve)


def _can_fire(trigger: Trigger) -> bool:
    """Say whether there is any input on which the trigger fires."""
    match trigger:
        case Never():
            return False
        case And(parts=parts):
            return all(map(_can_fire, parts))
        case Or(parts=parts):
            return any(map(_can_fire, parts))
        case Then(parts=parts):
            return _can_fire(parts[0])
        case Repeat(body=body, until=until):
            return _can_fire(body) or (until is not None and _can_fire(until))
    return True


def _refuse_dead(text: str, trigger: Trigger) -> None:
    """Refuse what can never fire, but for a NEVER that stands beside something that can, or alone."""
    if not _can_fire(trigger):
        fail("WAREHOUSE_TRIGGER_NEVER_FIRES", trigger.span, written=trigger.span.of(text) if trigger.span else "")
    for part in _parts(trigger):
        if not isinstance(part, Never):
            _refuse_dead(text, part)


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


def _node(text: str, trigger: Trigger, numbers: count[int], resolve: Resolve) -> Node:
    number = next(numbers)

    def nodes(parts: Iterable[Trigger]) -> tuple[Node, ...]:
        return tuple(_node(text, part, numbers, resolve) for part in parts)

    match trigger:
        case AtWatermark(percentile=None):
            return Node(Kind.AT_WATERMARK, number)
        case AtWatermark(percentile=float() as percent):
            return Node(Kind.AT_PERCENTILE, number, percent=percent)
        case Every(interval=Interval() as interval):
            return Node(Kind.EVERY_TIME, number, length(text, interval, "EVERY"))
        case After(interval=Interval() as interval):
            return Node(Kind.AFTER_TIME, number, length(text, interval, "AFTER"))
        case Every(rows=int() as rows, span=span):
            return Node(Kind.EVERY_ROWS, number, _rows(rows, span))
        case After(rows=int() as rows, span=span):
            return Node(Kind.AFTER_ROWS, number, _rows(rows, span))
        case Every(bytes=int() as size):
            return Node(Kind.EVERY_BYTES, number, size)
        case After(bytes=int() as size):
            return Node(Kind.AFTER_BYTES, number, size)
        case When(condition=place):
            kind, sql = resolve.condition(trigger)
            return Node(kind, number, condition=sql, written=place.of(text).strip())
        case OwnTrigger(span=span):
            return Node(Kind.CUSTOM, number, own=resolve.own(trigger), written=" ".join(span.of(text).split()))
        case Never():
            return Node(Kind.NEVER, number)
        case Or(parts=parts):
            return Node(Kind.OR, number, 0, nodes(parts))
        case And(parts=parts):
            return Node(Kind.AND, number, 0, nodes(parts))
        case Then(parts=parts):
            return Node(Kind.THEN, number, 0, nodes(parts))
        case Repeat(body=body, until=until):
            return Node(Kind.REPEAT, number, 0, nodes((body,) if until is None else (body, until)))
    raise AssertionError(trigger)


def _rows(rows: int, span: Span | None) -> int:
    if rows <= 0:
        fail("WAREHOUSE_COUNT_NOT_POSITIVE", span, value=rows)
    return rows
