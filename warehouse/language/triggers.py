"""The trigger grammar: when a window's content is emitted.

``trigger := any (THEN any)*``, ``any := all (OR all)*``, ``all := unit (AND unit)*``; EARLY, LATE and UNTIL take
one unit and belong to the nearest AT WATERMARK or REPEAT. A unit may be one of the user's own: ``name (argument, …)``.
"""

from __future__ import annotations

from collections.abc import Callable

from warehouse.errors import Span, fail
from warehouse.language.cursor import Cursor, close_to, fail_misspelt
from warehouse.language.expressions import arguments
from warehouse.language.intervals import UNITS, interval
from warehouse.language.keywords import BEFORE_BRACKET, NEVER_ALIAS, TAILS
from warehouse.language.statements import (
    After,
    And,
    AtWatermark,
    Every,
    Interval,
    Never,
    Or,
    OwnTrigger,
    Repeat,
    Then,
    Trigger,
    TriggerClause,
    When,
)
from warehouse.language.tokens import Kind

UNIT_STARTS = ("AT", "EVERY", "AFTER", "WHEN", "REPEAT", "NEVER", "ONCE")
_EXAMPLE = "TRIGGER AT WATERMARK EARLY EVERY INTERVAL 1 MINUTE"
_AMOUNTS = ("ROW", "ROWS", "BYTES")


_CONNECTIVES = frozenset(["AND", "OR", "THEN", "EARLY", "LATE", "UNTIL"])


def own_unit_at(cursor: Cursor, at: int) -> bool:
    """Say whether a unit of the user's own, a name before a bracket, stands at the token ``at``."""
    word, after = cursor.tokens[at], cursor.tokens[min(at + 1, len(cursor.tokens) - 1)]
    taken = NEVER_ALIAS | TAILS | BEFORE_BRACKET | _CONNECTIVES | {"WATERMARK"}
    return word.is_name and after.upper == "(" and word.upper not in taken


def trigger_clause(cursor: Cursor) -> TriggerClause:
    """Return the clause at the cursor, which stands on TRIGGER."""
    first = cursor.at
    try:
        return _trigger(cursor, first)
    except RecursionError:
        fail("WAREHOUSE_TRIGGER_TOO_DEEP", cursor.tokens[first].span)


def _trigger(cursor: Cursor, first: int) -> TriggerClause:
    cursor.take()
    if cursor.accept("ONCE"):
        cursor.expect("(", "TRIGGER ONCE", "TRIGGER ONCE (AT WATERMARK)")
        inner = _then(cursor)
        cursor.expect(")", "TRIGGER ONCE", "TRIGGER ONCE (AT WATERMARK)")
        return TriggerClause(inner, True, cursor.span(first))
    inner = _then(cursor)
    return TriggerClause(inner, False, cursor.span(first))


def _then(cursor: Cursor) -> Trigger:
    return _list(cursor, "THEN", lambda c: _list(c, "OR", lambda d: _list(d, "AND", _unit, And), Or), Then)


def _list(
    cursor: Cursor,
    word: str,
    part: Callable[[Cursor], Trigger],
    node: Callable[[tuple[Trigger, ...], Span], Trigger],
) -> Trigger:
    first = cursor.at
    parts = [part(cursor)]
    while cursor.accept(word):
        parts.append(part(cursor))
    return parts[0] if len(parts) == 1 else node(tuple(parts), cursor.span(first))


def _unit(cursor: Cursor) -> Trigger:
    first = cursor.at
    if cursor.accept("AT"):
        return _at_watermark(cursor, first)
    if cursor.accept("EVERY"):
        if cursor.token.upper in ("ROW", "ROWS"):
            cursor.take()
            return Every(rows=1, span=cursor.span(first))
        rows, size = _amount(cursor, "EVERY", "EVERY 100 ROWS")
        if rows is not None or size is not None:
            return Every(rows=rows, bytes=size, span=cursor.span(first))
        return Every(interval=_length(cursor, "EVERY"), span=cursor.span(first))
    if cursor.accept("AFTER"):
        rows, size = _amount(cursor, "AFTER", "AFTER 100 ROWS")
        if rows is not None or size is not None:
            return After(rows=rows, bytes=size, span=cursor.span(first))
        return After(interval=_length(cursor, "AFTER"), span=cursor.span(first))
    if cursor.accept("WHEN"):
        if cursor.token.upper != "(":
            cursor.expect("(", "WHEN", "WHEN (count(*) >= 100)")
        condition = cursor.skip_brackets()
        if not condition.of(cursor.source.text).strip():
            fail(
                "WAREHOUSE_EXPECTED",
                condition,
                expected="a condition",
                found="')'",
                clause="WHEN",
                example="WHEN (count(*) >= 100)",
            )
        return When(condition, cursor.span(first))
    if cursor.accept("REPEAT"):
        body = _unit(cursor)
        until = _unit(cursor) if cursor.accept("UNTIL") else None
        return Repeat(body, until, cursor.span(first))
    if cursor.accept("NEVER"):
        return Never(cursor.span(first))
    if cursor.accept("("):
        inner = _then(cursor)
        cursor.expect(")", "TRIGGER", "TRIGGER REPEAT (AFTER 10 ROWS OR AFTER INTERVAL 1 MINUTE)")
        return inner
    if cursor.sees("ONCE"):
        fail("WAREHOUSE_ONCE_MISPLACED", cursor.here())
    if own_unit_at(cursor, cursor.at):
        name = cursor.take()
        given = arguments(cursor, f"TRIGGER {name.text}", f"TRIGGER {name.text} (100)")
        return OwnTrigger(name.span, given, cursor.span(first))
    return _no_unit(cursor)


def _at_watermark(cursor: Cursor, first: int) -> AtWatermark:
    cursor.expect("WATERMARK", "AT WATERMARK", _EXAMPLE)
    percentile = None
    if cursor.accept("PERCENTILE"):
        token = cursor.token
        if token.kind is not Kind.NUMBER:
            cursor.fail_expecting("a number", "PERCENTILE", "AT WATERMARK PERCENTILE 99.5")
        percentile = _decimal(token.text)
        if percentile is None or not 0 < percentile < 100:
            fail("WAREHOUSE_PERCENTILE_RANGE", token.span, written=token.text)
        cursor.take()
    early = _unit(cursor) if cursor.accept("EARLY") else None
    late = _unit(cursor) if cursor.accept("LATE") else None
    if late is not None and early is None and cursor.token.upper == "EARLY":
        fail("WAREHOUSE_EARLY_AFTER_LATE", cursor.here())
    return AtWatermark(percentile, early, late, cursor.span(first))


def _amount(cursor: Cursor, clause: str, example: str) -> tuple[int | None, int | None]:
    """Return (rows, bytes) of ``n ROWS`` or ``n BYTES``; (None, None) when an interval should stand here."""
    negative = cursor.token.upper == "-" and cursor.peek().kind is Kind.NUMBER
    number, unit = (cursor.peek(1), cursor.peek(2)) if negative else (cursor.token, cursor.peek())
    if number.kind is not Kind.NUMBER:
        return None, None
    if unit.upper not in _AMOUNTS:
        meant = close_to(unit, _AMOUNTS)
        if meant:
            fail_misspelt(unit, meant, clause, example)
        return None, None
    if negative or not number.text.isdecimal() or int(number.text) == 0:
        fail(
            "WAREHOUSE_COUNT_INVALID",
            Span(cursor.token.start, number.end),
            clause=clause,
            unit=unit.upper,
            example=example,
        )
    cursor.at += 2
    count = int(number.text)
    return (None, count) if unit.upper == "BYTES" else (count, None)


def _length(cursor: Cursor, clause: str) -> Interval:
    """Return the interval of EVERY or AFTER, where no number of rows or bytes stands."""
    token = cursor.token
    if token.kind is Kind.NUMBER and cursor.peek().upper not in UNITS:
        fail("WAREHOUSE_COUNT_UNIT_MISSING", token.span, clause=clause, written=token.text)
    if token.kind not in (Kind.NUMBER, Kind.STRING) and token.upper != "INTERVAL":
        cursor.fail_expecting("an interval or a number of rows or bytes", clause, f"{clause} INTERVAL 1 MINUTE")
    return interval(cursor, clause, f"{clause} INTERVAL 1 MINUTE")


def _decimal(text: str) -> float | None:
    try:
        return float(text.rstrip("dDfFbBlLsSyY"))
    except ValueError:
        return None


def _no_unit(cursor: Cursor) -> Trigger:
    if cursor.token.upper == "WATERMARK":
        fail(
            "WAREHOUSE_EXPECTED",
            cursor.here(),
            expected="AT",
            found="'WATERMARK'",
            clause="TRIGGER",
            example="TRIGGER AT WATERMARK",
        )
    meant = close_to(cursor.token, UNIT_STARTS)
    if meant and not cursor.sees_any(tuple(_CONNECTIVES)):
        fail_misspelt(cursor.token, meant, "TRIGGER", _EXAMPLE)
    cursor.fail_expecting("a trigger", "TRIGGER", _EXAMPLE)
