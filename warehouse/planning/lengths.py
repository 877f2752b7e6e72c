"""Lengths of time: an interval as written in, microseconds out, or a refusal; and microseconds in words."""

from __future__ import annotations

from warehouse.errors import fail
from warehouse.language.statements import Interval

_UNITS = (("day", 86_400_000_000), ("hour", 3_600_000_000), ("minute", 60_000_000), ("second", 1_000_000))


def length_or_zero(text: str, interval: Interval, what: str) -> int:
    """Return a length in microseconds; refuses months and what is negative."""
    if not interval.months and interval.micros < 0:
        fail("WAREHOUSE_INTERVAL_NEGATIVE", interval.span, what=what, value=interval.span.of(text))
    return fixed(text, interval, what)


def fixed(text: str, interval: Interval, what: str) -> int:
    """Return an interval in microseconds; refuses months."""
    if interval.months:
        fail("WAREHOUSE_INTERVAL_NOT_FIXED", interval.span, what=what, value=interval.span.of(text))
    return interval.micros


def length(text: str, interval: Interval, what: str) -> int:
    """Return a length in microseconds; refuses months and what is not positive."""
    micros = fixed(text, interval, what)
    if micros <= 0:
        fail("WAREHOUSE_INTERVAL_NOT_POSITIVE", interval.span, what=what, value=interval.span.of(text))
    return micros


def duration(micros: int) -> str:
    """Return a length of time in words that an interval literal takes.

    Example:
        >>> duration(90_000_000), duration(0), duration(1_500)
        ('1 minute 30 seconds', '0 seconds', '0.0015 seconds')
    """
    parts = []
    for unit, length in _UNITS[:-1]:
        count, micros = divmod(micros, length)
        if count:
            parts.append(f"{count} {unit}{'s' if count > 1 else ''}")
    if micros or not parts:
        seconds = f"{micros / 1_000_000:.6f}".rstrip("0").rstrip(".")
        parts.append(f"{seconds} second{'' if micros == 1_000_000 else 's'}")
    return " ".join(parts)
