from __future__ import annotations

from collections.abc import Callable

import pytest

from warehouse.errors import SourceText, Span
from warehouse.language import parse
from warehouse.language.statements import (
    After,
    And,
    AtWatermark,
    Clauses,
    Every,
    FixedWindow,
    GlobalWindow,
    Interval,
    Mode,
    Never,
    Or,
    QueryStatement,
    Repeat,
    SessionWindow,
    SlidingWindow,
    Then,
    Trigger,
    When,
)

HEAD = "SELECT k, count(*) FROM t GROUP BY k "


def clauses(text: str) -> Clauses:
    found = parse(SourceText(HEAD + text))
    assert isinstance(found, QueryStatement)
    (block,) = found.query.blocks
    assert block.clauses is not None and block.clauses.span == Span(len(HEAD), len(HEAD + text))
    return block.clauses


def show(node: Trigger, text: str) -> str:
    """Return a trigger with a bracket around every node, spelled from its fields alone."""
    inner: Callable[[Trigger], str] = lambda n: show(n, text)  # noqa: E731
    match node:
        case Then(parts) | Or(parts) | And(parts):
            return f"[{f' {type(node).__name__} '.join(map(inner, parts))}]"
        case AtWatermark(percentile, early, late):
            out = "AW" + (f" {percentile:g}" if percentile is not None else "")
            return f"({out}{f' E {inner(early)}' if early else ''}{f' L {inner(late)}' if late else ''})"
        case Every(length, rows, size) | After(length, rows, size):
            amount = length.span.of(text) if length else f"{rows}R" if rows is not None else f"{size}B"
            return f"{type(node).__name__} {amount}"
        case When(condition):
            return f"When {condition.of(text)}"
        case Repeat(body, until):
            return f"(Repeat {inner(body)}{f' Until {inner(until)}' if until else ''})"
        case Never():
            return "Never"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AT WATERMARK", "(AW)"),
        ("AT WATERMARK PERCENTILE 99.5", "(AW 99.5)"),
        ("AT WATERMARK EARLY EVERY 2 ROWS LATE EVERY ROW", "(AW E Every 2R L Every 1R)"),
        ("AT WATERMARK LATE AFTER '1 day'", "(AW L After '1 day')"),
        ("AT WATERMARK EARLY AT WATERMARK PERCENTILE 90 LATE NEVER", "(AW E (AW 90 L Never))"),
        ("AT WATERMARK EARLY (AT WATERMARK PERCENTILE 90) LATE NEVER", "(AW E (AW 90) L Never)"),
        ("AT WATERMARK EARLY EVERY 1 ROW OR NEVER", "[(AW E Every 1R) Or Never]"),
        ("EVERY INTERVAL '1 02' DAY TO HOUR", "Every INTERVAL '1 02' DAY TO HOUR"),
        ("EVERY 10 BYTES", "Every 10B"),
        ("AFTER 3 ROWS", "After 3R"),
        ("WHEN (count(*) > 1 AND (a OR b))", "When count(*) > 1 AND (a OR b)"),
        ("NEVER", "Never"),
        ("NEVER THEN NEVER OR NEVER AND NEVER", "[Never Then [Never Or [Never And Never]]]"),
        ("NEVER AND NEVER OR NEVER THEN NEVER", "[[[Never And Never] Or Never] Then Never]"),
        ("NEVER OR NEVER OR NEVER", "[Never Or Never Or Never]"),
        ("(NEVER OR NEVER) AND NEVER", "[[Never Or Never] And Never]"),
        ("REPEAT AFTER 2 ROWS", "(Repeat After 2R)"),
        ("REPEAT AFTER 2 ROWS UNTIL AT WATERMARK THEN NEVER", "[(Repeat After 2R Until (AW)) Then Never]"),
        ("REPEAT (AFTER 2 ROWS THEN NEVER) UNTIL NEVER", "(Repeat [After 2R Then Never] Until Never)"),
        ("REPEAT REPEAT NEVER UNTIL NEVER UNTIL NEVER", "(Repeat (Repeat Never Until Never) Until Never)"),
    ],
)
def test_triggers(text: str, expected: str) -> None:
    clause = f"TRIGGER {text}"
    found = clauses(clause).trigger
    assert found is not None and not found.once and found.span.of(HEAD + clause) == clause
    assert show(found.trigger, HEAD + clause) == expected
    once = clauses(f"TRIGGER ONCE ({text})").trigger
    assert once is not None and once.once
    assert show(once.trigger, f"{HEAD}TRIGGER ONCE ({text})") == expected


def test_fixed() -> None:
    text = "WINDOW FIXED (date_trunc('hour', ts), SIZE INTERVAL 1 HOUR, OFFSET '5 minutes')"
    window = clauses(text).window
    assert isinstance(window, FixedWindow)
    assert window.time.of(HEAD + text) == "date_trunc('hour', ts)"
    assert window.size.micros == 3_600_000_000
    assert isinstance(window.offset, Interval) and window.offset.micros == 300_000_000 and window.per_key_offset is None
    assert window.span.of(HEAD + text) == text


def test_offset_per_key() -> None:
    text = "WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR, OFFSET PER KEY)"
    window = clauses(text).window
    assert isinstance(window, FixedWindow) and window.offset is None and window.per_key_offset is not None
    assert window.per_key_offset.of(HEAD + text) == "PER KEY"


def test_sliding() -> None:
    window = clauses("WINDOW SLIDING (ts, SIZE INTERVAL 1 HOUR, EVERY INTERVAL 10 MINUTES)").window
    assert isinstance(window, SlidingWindow) and window.offset is None
    assert (window.size.micros, window.every.micros) == (3_600_000_000, 600_000_000)


@pytest.mark.parametrize(
    "gap", ["CASE WHEN a THEN INTERVAL 1 DAY ELSE b END", "INTERVAL 1 DAY * x", "make_interval(1, 2)", "c"]
)
def test_a_gap_may_be_an_expression(gap: str) -> None:
    text = f"WINDOW SESSIONS (ts, GAP {gap})"
    window = clauses(text).window
    assert isinstance(window, SessionWindow) and isinstance(window.gap, Span) and window.gap.of(HEAD + text) == gap


def test_sessions_and_global() -> None:
    window = clauses("WINDOW SESSIONS (ts, GAP INTERVAL '30' MINUTE)").window
    assert isinstance(window, SessionWindow) and isinstance(window.gap, Interval)
    text = "WINDOW GLOBAL"
    assert clauses(text).window == GlobalWindow(Span(len(HEAD), len(HEAD + text)))


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("DISCARDING", Mode.DISCARDING),
        ("ACCUMULATING", Mode.ACCUMULATING),
        ("RETRACTING", Mode.RETRACTING),
        ("ACCUMULATING AND RETRACTING", Mode.RETRACTING),
    ],
)
def test_modes(text: str, mode: Mode) -> None:
    found = clauses(f"TRIGGER NEVER {text}")
    assert found.mode is mode and found.mode_span is not None
    assert found.mode_span.of(f"{HEAD}TRIGGER NEVER {text}") == text


def test_lateness() -> None:
    bounded = clauses("WINDOW GLOBAL ALLOWED LATENESS INTERVAL 1 DAY").lateness
    assert bounded is not None and bounded.interval is not None and bounded.interval.micros == 86_400_000_000
    unbounded = clauses("WINDOW GLOBAL ALLOWED LATENESS UNBOUNDED").lateness
    assert unbounded is not None and unbounded.interval is None


def test_what_is_left_out_is_none() -> None:
    found = clauses("TRIGGER NEVER")
    assert (found.window, found.mode, found.mode_span, found.lateness) == (None, None, None, None)
