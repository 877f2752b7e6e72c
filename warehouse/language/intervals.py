"""Interval literals, by Spark's rules: ``INTERVAL 30 MINUTES``, ``'1 02:00' DAY TO MINUTE``, ``'30 minutes'``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from warehouse.errors import fail
from warehouse.language.cursor import Cursor, close_to
from warehouse.language.literals import string_value
from warehouse.language.statements import Interval
from warehouse.language.tokens import Kind

SECOND = 1_000_000
_MICROS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": SECOND,
    "MINUTE": 60 * SECOND,
    "HOUR": 3_600 * SECOND,
    "DAY": 86_400 * SECOND,
    "WEEK": 7 * 86_400 * SECOND,
}
_MONTHS = {"MONTH": 1, "YEAR": 12}
UNITS = frozenset(word for unit in (*_MICROS, *_MONTHS) for word in (unit, unit + "S"))

_VALUE = re.compile(r"\s*([+-]?)\s*(\d*)(?:\.(\d*))?\s*")
_PAIR = re.compile(r"\s*([+-]?)\s*(\d*)(?:\.(\d*))?\s+([A-Za-z]+)(?=\s|$)\s*")
_FIELDS = ("DAY", "HOUR", "MINUTE", "SECOND")
_YEAR_MONTH = re.compile(r"\s*([+-]?)(\d+)-(\d+)\s*")


@dataclass(frozen=True)
class _Length:
    """An interval's length without its place."""

    micros: int = 0
    months: int = 0

    def plus(self, other: _Length) -> _Length:
        return _Length(self.micros + other.micros, self.months + other.months)

    def negated(self) -> _Length:
        return _Length(-self.micros, -self.months)


def interval(cursor: Cursor, clause: str, example: str) -> Interval:
    """Return the interval at the cursor, or fail saying that ``clause`` needs one."""
    found = interval_at(cursor)
    if found is not None:
        return found
    bare = cursor.token.kind is Kind.NUMBER
    if bare and cursor.peek().upper in UNITS:
        fail(
            "WAREHOUSE_INTERVAL_WORD_MISSING",
            cursor.span(cursor.at, cursor.at + 2),
            clause=clause,
            written=cursor.span(cursor.at, cursor.at + 2).of(cursor.source.text),
        )
    if bare:
        fail("WAREHOUSE_INTERVAL_UNIT_MISSING", cursor.here(), clause=clause, written=cursor.token.text)
    cursor.fail_expecting("an interval", clause, example)


def interval_at(cursor: Cursor) -> Interval | None:
    """Return the interval literal that starts at the cursor and move behind it; None when none starts here.

    Raises:
        WarehouseError: one starts here, and Spark would not take it.
    """
    first = cursor.at
    if cursor.token.kind is Kind.STRING:
        return _placed(cursor, first, _from_text(cursor.string("INTERVAL", "")))
    if cursor.token.upper != "INTERVAL":
        return None
    signed = cursor.peek().upper in ("+", "-")
    value = cursor.peek(2 if signed else 1)
    if value.kind not in (Kind.STRING, Kind.NUMBER):
        return None
    cursor.take()
    if value.kind is Kind.STRING and not signed and cursor.peek().upper not in UNITS:
        written = cursor.string("INTERVAL", "")
        if (
            cursor.token.kind is Kind.WORD
            and (unit := close_to(cursor.token, sorted(UNITS)))
            and not _from_text(written)
        ):
            fail("WAREHOUSE_INTERVAL_UNIT", cursor.here(), found=cursor.token.text, meant=unit)
        return _placed(cursor, first, _from_text(written))
    length: _Length | None = _Length()
    while _value_here(cursor):
        part = _unit_value(cursor)
        length = length.plus(part) if length is not None and part is not None else None
    return _placed(cursor, first, length)


def text_length(text: str) -> tuple[int, int] | None:
    """Return (micros, months) of an interval written as text (``'1 day 2 hours'``), or None.

    Example:
        >>> text_length("interval 1 hour -30 minutes")
        (1800000000, 0)
    """
    length = _from_text(text)
    return (length.micros, length.months) if length is not None else None


def _placed(cursor: Cursor, first: int, length: _Length | None) -> Interval:
    span = cursor.span(first)
    if length is None:
        fail("WAREHOUSE_INTERVAL_INVALID", span, written=" ".join(span.of(cursor.source.text).split()))
    return Interval(length.micros, length.months, span)


def _value_here(cursor: Cursor) -> bool:
    """Say whether a value stands here, and a unit after it (after the first pair, anything else ends it)."""
    ahead = 1 if cursor.token.upper in ("+", "-") else 0
    value, unit = cursor.peek(ahead), cursor.peek(ahead + 1)
    if value.kind not in (Kind.STRING, Kind.NUMBER):
        return False
    return unit.upper in UNITS or cursor.tokens[cursor.at - 1].upper == "INTERVAL"


def _unit_value(cursor: Cursor) -> _Length | None:
    """Return the length of ``[sign] value UNIT [TO UNIT]``; None when Spark would not take it."""
    negative = cursor.token.upper == "-"
    if cursor.token.upper in ("+", "-"):
        cursor.take()
    literal = cursor.take()
    if cursor.token.upper not in UNITS:
        unit = close_to(cursor.token, sorted(UNITS))
        if unit:
            fail("WAREHOUSE_INTERVAL_UNIT", cursor.here(), found=cursor.token.text, meant=unit)
        fail("WAREHOUSE_INTERVAL_UNIT_MISSING", literal.span, clause="INTERVAL", written=literal.text)
    written = string_value(literal.text) if literal.kind is Kind.STRING else literal.text
    unit = _singular(cursor.take().upper)
    if cursor.token.upper == "TO" and _singular(cursor.peek().upper) in (*_FIELDS, *_MONTHS):
        cursor.take()
        length = _from_range(written, unit, _singular(cursor.take().upper))
    else:
        length = _from_value(written, unit)
    return length.negated() if length is not None and negative else length


def _singular(word: str) -> str:
    return word.removesuffix("S")


def _from_value(text: str, unit: str) -> _Length | None:
    match = _VALUE.fullmatch(text)
    return _of(match[1], match[2], match[3], unit) if match else None


def _from_text(text: str) -> _Length | None:
    text = re.sub(r"^\s*interval\s", "", text, flags=re.IGNORECASE)
    length, position = _Length(), 0
    while position < len(text):
        match = _PAIR.match(text, position)
        part = _of(match[1], match[2], match[3], match[4]) if match else None
        if match is None or part is None:
            return None
        length, position = length.plus(part), match.end()
    return length if text.strip() else None


def _of(sign: str, whole: str, fraction: str | None, unit: str) -> _Length | None:
    """Return the length of one value and unit; only seconds take a fraction, cut off below a microsecond."""
    unit = unit.upper()
    unit = _singular(unit) if unit in UNITS else unit
    if not (whole or fraction) or (fraction is not None and unit != "SECOND"):
        return None
    factor = -1 if sign == "-" else 1
    if unit in _MONTHS:
        return _Length(months=factor * int(whole) * _MONTHS[unit])
    if unit not in _MICROS:
        return None
    below = int((fraction or "").ljust(6, "0")[:6] or 0)
    return _Length(micros=factor * (int(whole or 0) * _MICROS[unit] + below))


def _from_range(text: str, first: str, last: str) -> _Length | None:
    """Return the length of a value with several fields (``1 02:00`` DAY TO MINUTE)."""
    if (first, last) == ("YEAR", "MONTH"):
        match = _YEAR_MONTH.fullmatch(text)
        if not match or int(match.group(3)) > 11:
            return None
        months = int(match.group(2)) * 12 + int(match.group(3))
        return _Length(months=-months if match.group(1) == "-" else months)
    if first not in _FIELDS or last not in _FIELDS or _FIELDS.index(first) >= _FIELDS.index(last):
        return None
    fields = _FIELDS[_FIELDS.index(first) : _FIELDS.index(last) + 1]
    pattern = r"\s*([+-]?)(\d+)"
    for before, field in pairwise(fields):
        pattern += (
            (r"\s+" if before == "DAY" else ":") + r"(\d{1,2})" + (r"(?:\.(\d{1,9}))?" if field == "SECOND" else "")
        )
    match = re.fullmatch(pattern + r"\s*", text)
    if not match:
        return None
    sign, *numbers = match.groups()
    fraction = numbers.pop() if last == "SECOND" else None
    values = [int(n) for n in numbers]
    if any(v > (23 if f == "HOUR" else 59) for f, v in zip(fields[1:], values[1:], strict=True)):
        return None
    micros = sum(v * _MICROS[f] for f, v in zip(fields, values, strict=True))
    micros += int((fraction or "").ljust(6, "0")[:6])
    return _Length(micros=-micros if sign == "-" else micros)


def whole_interval(cursor: Cursor, last: int) -> Interval | None:
    """Return the interval literal that covers exactly the tokens from the cursor to index ``last``, or None."""
    first = cursor.at
    starts = cursor.token.kind is Kind.STRING or cursor.token.upper == "INTERVAL"
    found = interval_at(cursor) if starts else None
    if found is not None and cursor.at == last:
        return found
    cursor.at = first
    return None
