"""Time inside the step: microseconds since 1970-01-01 UTC as BIGINT, with two sentinels for the ends of time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

BEGINNING = -(2**60)
"""The beginning of time: where a watermark starts, and the start of the GLOBAL window."""

END = 2**60
"""The end of time: where DRAIN moves the watermark, and the end of the GLOBAL window."""

SECOND = 1_000_000
DAY = 86_400 * SECOND
LAST_TIMESTAMP = "TIMESTAMP'9999-12-31 23:59:59.999999 UTC'"


@dataclass(frozen=True)
class Clock:
    """All a step may know about time; logged before the step runs, so that it repeats exactly.

    Attributes:
        step: the step's number.
        now: processing time, microseconds.
        before, after: the watermark before and after the step's rows.
        drain: the step moves the watermark to the end of time for good.
        complete: every step starts at the beginning of time and runs to its end (replay of micro-batches).
        faster: per percentage of AT WATERMARK PERCENTILE, its watermark after the step.
    """

    step: int
    now: int
    before: int
    after: int
    drain: bool = False
    complete: bool = False
    faster: Mapping[float, int] = field(default_factory=dict)


def plus(column: str, micros: int | None) -> str:
    """Return SQL for ``column`` + ``micros``, never beyond the end of time; None stands for an unbounded length."""
    if micros is None:
        return f"{END}L"
    return f"least({column} + {micros}L, {END}L)" if micros else column


def bound_timestamp(column: str) -> str:
    """Return SQL for a window bound as TIMESTAMP, NULL at either end of time (the GLOBAL window)."""
    return f"CASE WHEN abs({column}) < {END}L THEN timestamp_micros({column}) END"


def watermark_timestamp(micros: int) -> str:
    """Return a SQL literal for a watermark: NULL at the beginning of time, year 9999 at its end."""
    if micros <= BEGINNING:
        return "CAST(NULL AS TIMESTAMP)"
    return LAST_TIMESTAMP if micros >= END else f"timestamp_micros({micros}L)"
