"""Our clauses of a query block: WINDOW, TRIGGER, the mode, ALLOWED LATENESS, in this order."""

from __future__ import annotations

from itertools import pairwise
from typing import NoReturn

from warehouse.errors import Span, fail
from warehouse.language.cursor import Cursor, close_to, fail_misspelt
from warehouse.language.expressions import arguments, walk
from warehouse.language.intervals import interval, interval_at, whole_interval
from warehouse.language.keywords import BEFORE_BRACKET, NEVER_ALIAS, TAILS
from warehouse.language.statements import (
    Clauses,
    FixedWindow,
    GlobalWindow,
    Interval,
    Lateness,
    Mode,
    OwnWindow,
    SessionWindow,
    SlidingWindow,
    WindowSpec,
)
from warehouse.language.tokens import Kind
from warehouse.language.triggers import UNIT_STARTS, own_unit_at, trigger_clause

MODES = ("DISCARDING", "ACCUMULATING", "RETRACTING")
KINDS = ("FIXED", "SLIDING", "SESSIONS", "GLOBAL")
EXAMPLES = {
    "FIXED": "WINDOW FIXED (event_time, SIZE INTERVAL 10 MINUTES)",
    "SLIDING": "WINDOW SLIDING (event_time, SIZE INTERVAL 1 HOUR, EVERY INTERVAL 10 MINUTES)",
    "SESSIONS": "WINDOW SESSIONS (event_time, GAP INTERVAL 30 MINUTES)",
    "GLOBAL": "WINDOW GLOBAL",
}
_OTHER_NAMES = {"TUMBLING": "FIXED", "TUMBLE": "FIXED", "HOPPING": "SLIDING", "HOP": "SLIDING", "SESSION": "SESSIONS"}
_OPTIONS = {"FIXED": ("SIZE", "OFFSET"), "SLIDING": ("SIZE", "EVERY", "OFFSET"), "SESSIONS": ("GAP",)}
_ORDER = {"WINDOW": 0, "TRIGGER": 1, "MODE": 2, "LATENESS": 3}


def clause_here(cursor: Cursor, alias_possible: bool) -> str | None:
    """Return which clause of ours starts at the cursor (WINDOW, TRIGGER, MODE, LATENESS), or None.

    ``alias_possible``: a relation or a select item stands before the cursor that could still take the word as
    its alias; then what Spark accepts stays Spark's.
    """
    word, after = cursor.token.upper, cursor.peek()
    if word == "WINDOW":
        return "WINDOW" if _window_here(cursor) else None
    if word == "TRIGGER":
        if not alias_possible or after.upper in UNIT_STARTS or own_unit_at(cursor, cursor.at + 1):
            return "TRIGGER"
        return "TRIGGER" if after.upper == "(" and not _names_only(cursor, cursor.at + 1) else None
    if word in MODES:
        if not alias_possible:
            return "MODE"
        cursor.at += 1
        more = cursor.sees("AND") or (cursor.sees_any(("WINDOW", "TRIGGER", "ALLOWED")) and clause_here(cursor, True))
        cursor.at -= 1
        return "MODE" if more else None
    if word == "ALLOWED":
        return "LATENESS" if after.upper == "LATENESS" or not alias_possible else None
    return None


def _window_here(cursor: Cursor) -> bool:
    kind, after = cursor.peek(1), cursor.peek(2)
    if kind.upper in KINDS:
        return after.upper != "AS" and (kind.upper == "GLOBAL" or after.upper == "(" or after.kind is not Kind.END)
    return kind.is_name and after.upper == "(" and kind.upper not in NEVER_ALIAS | TAILS | BEFORE_BRACKET


def _names_only(cursor: Cursor, bracket: int) -> bool:
    """Say whether the bracket holds nothing but names and commas, as the column aliases of a relation do."""
    inner = cursor.tokens[bracket + 1 : cursor.closing(bracket)]
    return bool(inner) and all(t.is_name if i % 2 == 0 else t.upper == "," for i, t in enumerate(inner))


def clauses(cursor: Cursor, continued: bool = False) -> Clauses:
    """Return the clauses at the cursor, which stands on the first of them, and move behind the last one.

    Args:
        cursor: the place.
        continued: others of the same block stand before, so that a mode or a lateness does not stand alone.

    Raises:
        WarehouseError: a clause is malformed, doubled or out of order, or a mode or a lateness stands alone.
    """
    first = cursor.at
    window: WindowSpec | None = None
    trigger = mode = mode_span = lateness = None
    seen: list[str] = []
    while (kind := clause_here(cursor, False)) is not None:
        start = cursor.at
        _check_order(cursor, kind, seen)
        match kind:
            case "WINDOW":
                window = window_spec(cursor)
            case "TRIGGER":
                trigger = trigger_clause(cursor)
            case "MODE":
                mode, mode_span = _mode(cursor)
            case _:
                lateness = _lateness(cursor)
        seen.append(kind)
        if kind in ("MODE", "LATENESS") and window is None and trigger is None and not continued:
            if _later(cursor):
                fail("WAREHOUSE_CLAUSE_ORDER", cursor.span(start), clause=_title(kind), other="WINDOW and TRIGGER")
            fail(
                "WAREHOUSE_CLAUSE_ALONE",
                cursor.span(start),
                clause=_title(kind),
                written=_words(cursor, start),
            )
    return Clauses(window, trigger, mode, mode_span, lateness, cursor.span(first))


def _words(cursor: Cursor, start: int) -> str:
    return " ".join(cursor.span(start).of(cursor.source.text).split())


def _later(cursor: Cursor) -> bool:
    return clause_here(cursor, False) in ("WINDOW", "TRIGGER")


def _title(kind: str) -> str:
    return {"MODE": "The mode", "LATENESS": "ALLOWED LATENESS"}.get(kind, kind)


def _check_order(cursor: Cursor, kind: str, seen: list[str]) -> None:
    here = cursor.here()
    if kind in seen:
        fail("WAREHOUSE_CLAUSE_TWICE", here, clause=_title(kind))
    later = [s for s in seen if _ORDER[s] > _ORDER[kind]]
    if later:
        fail(
            "WAREHOUSE_CLAUSE_ORDER",
            here,
            clause=_title(later[0]),
            other="the mode" if kind == "MODE" else _title(kind),
        )


# ---------------------------------------------------------------- WINDOW


def window_spec(cursor: Cursor) -> WindowSpec:
    """Return the window at the cursor, which stands on WINDOW."""
    first = cursor.at
    cursor.take()
    word = cursor.token
    kind = word.upper
    if kind not in KINDS:
        if word.is_name and cursor.peek().upper == "(" and not _means_ours(cursor):
            return _own_window(cursor, first)
        meant = close_to(word, KINDS) or _OTHER_NAMES.get(kind) or "FIXED"
        fail("WAREHOUSE_WINDOW_KIND", word.span, found=word.text, meant=meant, example=EXAMPLES[meant])
    cursor.take()
    if kind == "GLOBAL":
        return GlobalWindow(cursor.span(first))
    example = EXAMPLES[kind]
    cursor.expect("(", f"WINDOW {kind}", example)
    close = cursor.closing(cursor.at - 1)
    if cursor.tokens[close].kind is Kind.END:
        fail("WAREHOUSE_UNCLOSED", cursor.tokens[cursor.at - 1].span, clause=f"WINDOW {kind}", example=example)
    time = _time(cursor, close, kind)
    options: dict[str, Interval | Span] = {}
    while cursor.at < close:
        _option(cursor, close, kind, options)
    cursor.take()
    for needed in _OPTIONS[kind]:
        if needed not in options and needed != "OFFSET":
            fail("WAREHOUSE_WINDOW_OPTION_MISSING", cursor.span(first), option=needed, kind=kind, example=example)
    span = cursor.span(first)
    offset = options.get("OFFSET")
    if kind == "SESSIONS":
        return SessionWindow(time, options["GAP"], span)
    size = _as_interval(options["SIZE"])
    if kind == "SLIDING":
        return SlidingWindow(
            time, size, _as_interval(options["EVERY"]), offset if isinstance(offset, Interval) else None, span
        )
    if isinstance(offset, Span):
        return FixedWindow(time, size, None, offset, span)
    return FixedWindow(time, size, offset, None, span)


def _means_ours(cursor: Cursor) -> bool:
    """Say whether the unknown kind of window at the cursor is one of ours under another name, or has its options."""
    kind = cursor.token
    inner = cursor.tokens[cursor.at + 2 : cursor.closing(cursor.at + 1)]
    options = any(t.upper in ("SIZE", "EVERY", "GAP") and b.upper == "," for b, t in pairwise(inner))
    meant = close_to(kind, KINDS)
    misspelt = meant is not None and abs(len(kind.text) - len(meant)) < 4
    return kind.upper in _OTHER_NAMES or (options and misspelt)


def _own_window(cursor: Cursor, first: int) -> OwnWindow:
    """Return a window of the user's own, whose name is at the cursor."""
    word = cursor.take()
    example = f"WINDOW {word.text} (event_time, INTERVAL 1 HOUR)"
    given = arguments(cursor, f"WINDOW {word.text}", example)
    if not given:
        fail("WAREHOUSE_WINDOW_TIME_MISSING", cursor.tokens[cursor.at - 1].span, kind=word.text, example=example)
    return OwnWindow(word.span, given[0], given[1:], cursor.span(first))


def _as_interval(value: Interval | Span) -> Interval:
    assert isinstance(value, Interval)
    return value


def _time(cursor: Cursor, close: int, kind: str) -> Span:
    """Return the time expression, the first argument of a window."""
    token, after = cursor.token, cursor.peek()
    names_option = token.upper in ("SIZE", "EVERY", "OFFSET", "GAP") and after.upper not in (",", ".", ")", "(")
    if cursor.at == close or names_option or interval_like(cursor):
        fail("WAREHOUSE_WINDOW_TIME_MISSING", token.span, kind=kind, example=EXAMPLES[kind])
    first = cursor.at
    walk(cursor, close, lambda c: c.token.upper in ("SIZE", "EVERY", "OFFSET", "GAP"), commas=False)
    if cursor.at < close and cursor.token.upper != ",":
        fail(
            "WAREHOUSE_EXPECTED",
            cursor.here(),
            expected="a comma",
            found=f"'{cursor.token.text}'",
            clause=f"WINDOW {kind}",
            example=EXAMPLES[kind],
        )
    return cursor.span(first)


def interval_like(cursor: Cursor) -> bool:
    """Say whether an interval literal stands at the cursor (which stays)."""
    at = cursor.at
    if cursor.token.upper != "INTERVAL":
        return False
    try:
        return interval_at(cursor) is not None
    finally:
        cursor.at = at


def _option(cursor: Cursor, close: int, kind: str, options: dict[str, Interval | Span]) -> None:
    """Read one ``, OPTION value`` into ``options``."""
    example, known = EXAMPLES[kind], _OPTIONS[kind]
    cursor.expect(",", f"WINDOW {kind}", example)
    word = cursor.token
    if word.upper not in known:
        _no_option(cursor, kind, [o for o in known if o not in options])
    if word.upper in options:
        fail("WAREHOUSE_CLAUSE_TWICE", word.span, clause=word.upper)
    cursor.take()
    first = cursor.at
    if word.upper == "OFFSET" and cursor.sees("PER", "KEY"):
        if kind != "FIXED":
            fail("WAREHOUSE_PER_KEY_NOT_FIXED", cursor.span(first, first + 2), kind=kind)
        cursor.at += 2
        options["OFFSET"] = cursor.span(first)
    elif word.upper == "GAP" and (literal := whole_interval(cursor, close)) is None:
        if cursor.at == close or cursor.token.kind is Kind.NUMBER:
            interval(cursor, "GAP", example)
        walk(cursor, close, lambda c: False, commas=False)
        options["GAP"] = cursor.span(first)
    elif word.upper == "GAP":
        assert literal is not None
        options["GAP"] = literal
    else:
        options[word.upper] = interval(cursor, word.upper, example)
    if cursor.at < close and cursor.token.upper != ",":
        cursor.fail_expecting("a comma or )", f"WINDOW {kind}", example)


def _no_option(cursor: Cursor, kind: str, left: list[str]) -> NoReturn:
    word = cursor.token
    example = EXAMPLES[kind]
    meant = close_to(word, left)
    if meant:
        fail_misspelt(word, meant, f"WINDOW {kind}", example)
    if left and (word.kind in (Kind.STRING, Kind.NUMBER) or word.upper == "INTERVAL"):
        fail("WAREHOUSE_WINDOW_OPTION_MISSING", word.span, option=left[0], kind=kind, example=example)
    found = word.text or "the end"
    fail(
        "WAREHOUSE_WINDOW_OPTION",
        word.span,
        found=found,
        kind=kind,
        options=" and ".join(_OPTIONS[kind]),
        example=example,
    )


# ---------------------------------------------------------------- mode and lateness


def _mode(cursor: Cursor) -> tuple[Mode, Span]:
    first = cursor.at
    word = cursor.take().upper
    if cursor.token.upper == "AND":
        if word != "ACCUMULATING" or cursor.peek().upper != "RETRACTING":
            fail("WAREHOUSE_MODE_COMBINATION", cursor.span(first, cursor.at + 2))
        cursor.at += 2
        word = "RETRACTING"
    return Mode[word], cursor.span(first)


def _lateness(cursor: Cursor) -> Lateness:
    first = cursor.at
    example = "ALLOWED LATENESS INTERVAL 1 HOUR"
    cursor.take()
    cursor.expect("LATENESS", "ALLOWED LATENESS", example)
    if cursor.accept("UNBOUNDED"):
        return Lateness(None, cursor.span(first))
    if meant := close_to(cursor.token, ["UNBOUNDED"]):
        fail_misspelt(cursor.token, meant, "ALLOWED LATENESS", "ALLOWED LATENESS UNBOUNDED")
    length = interval(cursor, "ALLOWED LATENESS", example)
    return Lateness(length, cursor.span(first))
