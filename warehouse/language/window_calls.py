"""Table functions that assign windows: ``TUMBLE(TABLE t, DESCRIPTOR(ts), size)``, ``HOP``, ``SESSION``.

Arguments stand in order or by name (``DATA => …, TIMECOL => …, SIZE => …``). The names of the functions are soft:
without a DESCRIPTOR, or a TABLE and an interval, a call is one of Spark's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from warehouse.errors import Span, fail
from warehouse.language.cursor import Cursor, close_to, fail_misspelt
from warehouse.language.intervals import interval, whole_interval
from warehouse.language.statements import FixedWindow, Interval, SessionWindow, SlidingWindow, WindowCall
from warehouse.language.tokens import Kind

ARGUMENTS = {
    "TUMBLE": ("DATA", "TIMECOL", "SIZE", "OFFSET"),
    "HOP": ("DATA", "TIMECOL", "EVERY", "SIZE", "OFFSET"),
    "SESSION": ("DATA", "TIMECOL", "GAP"),
}
_SAME = {"SLIDE": "EVERY"}
EXAMPLES = {
    "TUMBLE": "TUMBLE(TABLE t, DESCRIPTOR(event_time), INTERVAL 10 MINUTES)",
    "HOP": "HOP(TABLE t, DESCRIPTOR(event_time), INTERVAL 10 MINUTES, INTERVAL 1 HOUR)",
    "SESSION": "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(event_time), INTERVAL 30 MINUTES)",
}


@dataclass(frozen=True)
class _Argument:
    """The tokens of one argument: from index ``first`` up to, not including, ``end``."""

    first: int
    end: int


def window_call_here(cursor: Cursor) -> bool:
    """Say whether a table function of ours stands at the cursor, bare or in ``TABLE( … )``."""
    at = cursor.at
    if cursor.sees("TABLE", "("):
        cursor.at += 2
        whole = cursor.closing(at + 1) == cursor.closing(cursor.at + 1) + 1
        found = whole and _bare_call_here(cursor)
        cursor.at = at
        return found
    return _bare_call_here(cursor)


def _bare_call_here(cursor: Cursor) -> bool:
    if cursor.token.upper not in ARGUMENTS or cursor.peek().upper != "(":
        return False
    first, end = cursor.at + 2, cursor.closing(cursor.at + 1)
    starts = [a.first for a in _split(cursor, first, end)]
    words = [cursor.tokens[i + 2 if cursor.tokens[i + 1].upper == "=>" else i].upper for i in starts]
    described = any(w == "DESCRIPTOR" for w in words)
    return described or (words[:1] == ["TABLE"] and "INTERVAL" in words[1:])


def _split(cursor: Cursor, first: int, end: int) -> list[_Argument]:
    """Return the stretches between the commas outside brackets."""
    out, start, index = [], first, first
    while index < end:
        token = cursor.tokens[index]
        if token.upper == "(":
            index = min(cursor.closing(index), end - 1)
        elif token.upper == ",":
            out.append(_Argument(start, index))
            start = index + 1
        index += 1
    return [*out, _Argument(start, end)] if start < end or out else []


def window_call(cursor: Cursor, relation: Callable[[int], None]) -> WindowCall:
    """Return the call at the cursor, without an alias, and move behind it.

    Args:
        cursor: stands where ``window_call_here``.
        relation: reads the relation at the cursor, up to the index it is given.

    Raises:
        WarehouseError: an argument is missing, unknown, doubled or not what it should be.
    """
    start = cursor.at
    wrapped = cursor.accept("TABLE", "(")
    function = cursor.take().upper
    close = cursor.closing(cursor.at)
    if cursor.tokens[close].kind is Kind.END:
        fail("WAREHOUSE_UNCLOSED", cursor.here(), clause=function, example=EXAMPLES[function])
    call = cursor.span(cursor.at - 1, close + 1)
    arguments = _arguments(cursor, function, call, cursor.at + 1, close)
    read, partition = _data(cursor, function, arguments["DATA"], relation)
    time = _descriptor(cursor, function, arguments["TIMECOL"])
    lengths = {name: _length(cursor, function, name, a) for name, a in arguments.items() if name not in _NOT_LENGTHS}
    cursor.at = close + 1 + wrapped
    span = cursor.span(start)
    offset = lengths.get("OFFSET")
    if function == "SESSION":
        return WindowCall(span, function, read, SessionWindow(time, lengths["GAP"], call), partition)
    size = _fixed(lengths["SIZE"])
    shift = _fixed(offset) if offset else None
    if function == "HOP":
        return WindowCall(span, function, read, SlidingWindow(time, size, _fixed(lengths["EVERY"]), shift, call))
    return WindowCall(span, function, read, FixedWindow(time, size, shift, None, call))


_NOT_LENGTHS = ("DATA", "TIMECOL")


def _fixed(value: Interval | Span) -> Interval:
    assert isinstance(value, Interval)
    return value


def _arguments(cursor: Cursor, function: str, call: Span, first: int, end: int) -> dict[str, _Argument]:
    """Return the arguments by name; the commas of an unbracketed PARTITION BY belong to DATA."""
    known = ARGUMENTS[function]
    found: dict[str, _Argument] = {}
    for part in _split(cursor, first, end):
        word = cursor.tokens[part.first]
        if word.is_name and cursor.tokens[part.first + 1].upper == "=>":
            name = _SAME.get(word.upper, word.upper)
            if name not in known:
                _no_argument(cursor, function, part.first, [k for k in known if k not in found])
            if name in found:
                fail("WAREHOUSE_CLAUSE_TWICE", word.span, clause=name)
            found[name] = _Argument(part.first + 2, part.end)
        elif list(found) == ["DATA"] and word.upper != "DESCRIPTOR" and _is_partitioned(cursor, found["DATA"]):
            found["DATA"] = _Argument(found["DATA"].first, part.end)
        else:
            missing = [k for k in known if k not in found]
            if not missing:
                _no_argument(cursor, function, part.first, [])
            found[missing[0]] = part
    for name in known:
        if name not in found and name != "OFFSET":
            fail(
                "WAREHOUSE_WINDOW_CALL_MISSING", call, function=function, argument=_title(name),
                example=EXAMPLES[function],
            )  # fmt: skip
    return found


def _title(name: str) -> str:
    return {"DATA": "table", "TIMECOL": "DESCRIPTOR(column)"}.get(name, name)


def _no_argument(cursor: Cursor, function: str, at: int, left: list[str]) -> NoReturn:
    word, example = cursor.tokens[at], EXAMPLES[function]
    if meant := close_to(word, left):
        fail_misspelt(word, meant, function, example)
    fail(
        "WAREHOUSE_WINDOW_CALL_ARGUMENT", word.span, function=function, found=word.text,
        arguments=", ".join(ARGUMENTS[function]), example=example,
    )  # fmt: skip


# ---------------------------------------------------------------- the table


def _partition_at(cursor: Cursor, data: _Argument) -> int | None:
    """Return the index of PARTITION BY outside brackets, or None."""
    index = data.first
    while index < data.end:
        if cursor.tokens[index].upper == "(":
            index = cursor.closing(index)
        elif cursor.tokens[index].upper == "PARTITION" and cursor.tokens[index + 1].upper == "BY":
            return index
        index += 1
    return None


def _is_partitioned(cursor: Cursor, data: _Argument) -> bool:
    return _partition_at(cursor, data) is not None


def _data(
    cursor: Cursor, function: str, data: _Argument, relation: Callable[[int], None]
) -> tuple[Span, tuple[Span, ...]]:
    """Return the words of the relation in ``[TABLE] relation [PARTITION BY keys]``, and the keys."""
    example = EXAMPLES[function]
    at = _partition_at(cursor, data)
    end = data.end if at is None else at
    cursor.at = data.first
    cursor.accept("TABLE")
    first = cursor.at
    if cursor.at >= end or not (cursor.token.is_name or cursor.token.upper == "("):
        cursor.fail_expecting("TABLE and a name", function, example)
    relation(end)
    if cursor.at < end:
        cursor.fail_expecting("a comma", function, example)
    read = cursor.span(first, end)
    if at is None:
        return read, ()
    cursor.at = at
    if function != "SESSION":
        fail("WAREHOUSE_PARTITION_NOT_SESSION", cursor.span(at, data.end), function=function)
    keys = _Argument(at + 2, data.end)
    if cursor.tokens[keys.first].upper == "(" and cursor.closing(keys.first) == keys.end - 1:
        keys = _Argument(keys.first + 1, keys.end - 1)
    listed = _split(cursor, keys.first, keys.end)
    if not listed or any(a.first >= a.end for a in listed):
        cursor.at = keys.end
        cursor.fail_expecting("a column", "PARTITION BY", example)
    return read, tuple(cursor.span(a.first, a.end) for a in listed)


def refuse_watermark(cursor: Cursor, call: WindowCall) -> NoReturn:
    """Fail because a WATERMARK stands behind the call and not behind the stream in it."""
    fail("WAREHOUSE_WATERMARK_BEHIND_CALL", cursor.here(), function=call.function)


# ---------------------------------------------------------------- time and lengths


def _descriptor(cursor: Cursor, function: str, argument: _Argument) -> Span:
    """Return what stands in ``DESCRIPTOR( … )``."""
    first, last = argument.first, argument.end - 1
    whole = cursor.tokens[first].upper == "DESCRIPTOR" and cursor.tokens[first + 1].upper == "("
    if not whole or cursor.closing(first + 1) != last:
        span, example = cursor.span(first, argument.end), EXAMPLES[function]
        column = span.of(cursor.source.text)
        instead = f"DESCRIPTOR({column})" if last == first and cursor.tokens[first].is_name else "DESCRIPTOR(column)"
        fail("WAREHOUSE_WINDOW_CALL_TIME", span, function=function, instead=instead, example=example)
    columns = _split(cursor, first + 2, last)
    if len(columns) != 1 or columns[0].first >= columns[0].end:
        fail(
            "WAREHOUSE_WINDOW_CALL_TIME", cursor.span(first, argument.end), function=function,
            instead="DESCRIPTOR(column)", example=EXAMPLES[function],
        )  # fmt: skip
    return cursor.span(first + 2, last)


def _length(cursor: Cursor, function: str, name: str, argument: _Argument) -> Interval | Span:
    """Return an interval; a GAP may be an expression of the row."""
    cursor.at = argument.first
    if name == "GAP" and not _literal_here(cursor, argument):
        return cursor.span(argument.first, argument.end)
    value = interval(cursor, f"{name} of {function}", EXAMPLES[function])
    if cursor.at < argument.end:
        cursor.fail_expecting("a comma or )", function, EXAMPLES[function])
    return value


def _literal_here(cursor: Cursor, argument: _Argument) -> bool:
    """Say whether an interval literal is all there is, or one is wanted: nothing, a bare number."""
    at = cursor.at
    bare = cursor.token.kind is Kind.NUMBER and argument.end == at + 1
    found = argument.first >= argument.end or bare or whole_interval(cursor, argument.end) is not None
    cursor.at = at
    return found


# ---------------------------------------------------------------- Spark's functions of GROUP BY

FUNCTIONS = {"WINDOW": "window(event_time, '10 minutes')", "SESSION_WINDOW": "session_window(event_time, '30 minutes')"}


def grouping_window(cursor: Cursor, first: int, end: int) -> FixedWindow | SlidingWindow | SessionWindow:
    """Return the window that ``window(ts, size[, every[, offset]])`` or ``session_window(ts, gap)`` means.

    Args:
        cursor: the tokens; its place is kept.
        first: the index of the function's name.
        end: the index behind the closing bracket.

    Raises:
        WarehouseError: an argument is missing, too many, or no interval.
    """
    at = cursor.at
    word = cursor.tokens[first].upper
    name, example, span = word.lower(), FUNCTIONS[word], cursor.span(first, end)
    parts = _split(cursor, first + 2, end - 1)
    names = ("GAP",) if word == "SESSION_WINDOW" else ("SIZE", "EVERY", "OFFSET")
    if len(parts) < 2 or parts[1].first >= parts[1].end:
        fail("WAREHOUSE_WINDOW_CALL_MISSING", span, function=name, argument=names[0], example=example)
    if len(parts) > len(names) + 1:
        place = cursor.span(parts[len(names) + 1].first, parts[-1].end)
        fail(
            "WAREHOUSE_WINDOW_CALL_ARGUMENT", place, function=name, found=place.of(cursor.source.text),
            arguments=", ".join(("a time", *names)), example=example,
        )  # fmt: skip
    time = cursor.span(parts[0].first, parts[0].end)
    lengths: list[Interval | Span] = []
    for what, part in zip(names, parts[1:], strict=False):
        cursor.at = part.first
        if what == "GAP" and not _literal_here(cursor, part):
            lengths.append(cursor.span(part.first, part.end))
            continue
        lengths.append(interval(cursor, name, example))
        if cursor.at < part.end:
            cursor.fail_expecting("a comma or )", name, example)
    cursor.at = at
    if word == "SESSION_WINDOW":
        return SessionWindow(time, lengths[0], span)
    size, every, offset = (*map(_fixed, lengths), None, None)[:3]
    assert size is not None
    if every is None or (every.micros, every.months) == (size.micros, size.months):
        return FixedWindow(time, size, offset, None, span)
    return SlidingWindow(time, size, every, offset, span)
