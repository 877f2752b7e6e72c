"""EXPLAIN's words about trigger trees: when they fire, what bounds their state, what to beware of."""

from __future__ import annotations

import pytest

from warehouse.dataflow.custom import CustomTrigger
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.triggers import Kind, Node, Own
from warehouse.dataflow.windows import Fixed, Global, Sessions, Sliding
from warehouse.errors import SourceText
from warehouse.language.parser import parse
from warehouse.language.statements import Mode, QueryStatement
from warehouse.planning.explaining.explain import live_windows
from warehouse.planning.windows.firing import fires_lines, tree_lines, trigger_warnings
from warehouse.planning.windows.windowing import Resolve, planned_trigger

MINUTE = 60_000_000
DAY = 1440 * MINUTE
MINUTES = Fixed(MINUTE)


def read(trigger: str) -> tuple[Node, bool]:
    text = f"SELECT count(*) FROM t WINDOW GLOBAL TRIGGER {trigger}"
    statement = parse(SourceText(text))
    assert isinstance(statement, QueryStatement)
    (block,) = statement.query.blocks
    assert block.clauses and block.clauses.trigger
    kinds = iter([Kind.WHEN_AGGREGATE] * 9)
    resolve = Resolve(lambda _: (next(kinds), ""), lambda _: Own(CustomTrigger(), ()))
    return planned_trigger(text, block.clauses.trigger, resolve), block.clauses.trigger.once


def block(trigger: str, window: Fixed | Global = MINUTES, lateness: int | None = DAY) -> WindowedQuery:
    tree, once = read(trigger)
    return WindowedQuery((), window, tree, Mode.ACCUMULATING, lateness, (), None, (), once=once)


@pytest.mark.parametrize(
    ("trigger", "warned"),
    [
        ("AT WATERMARK", []),
        ("AT WATERMARK EARLY EVERY INTERVAL 1 MINUTE LATE EVERY ROW", []),
        ("AT WATERMARK EARLY EVERY 2 ROWS", []),
        ("EVERY ROW", ["early"]),
        ("AT WATERMARK EARLY EVERY ROW", ["early"]),
        ("AFTER INTERVAL 1 MINUTE OR AFTER 1 ROW", ["early"]),
        ("AFTER INTERVAL 1 MINUTE AND EVERY ROW", []),
        ("AFTER 1 ROW THEN AT WATERMARK", []),
        ("AFTER 1 ROW THEN AFTER 1 ROW", ["early"]),
        ("REPEAT NEVER UNTIL EVERY ROW", ["early"]),
        ("ONCE (AT WATERMARK)", ["loses"]),
        ("ONCE (AFTER 1 ROW)", ["loses", "early"]),
        ("ONCE (AFTER INTERVAL 1 MINUTE OR EVERY ROW)", ["loses", "early"]),
        ("ONCE (EVERY ROW AND AT WATERMARK)", ["loses"]),
        ("ONCE (WHEN (count(*) > 3))", ["loses"]),
        ("ONCE (EVERY ROW)", ["idle", "early"]),
        ("ONCE (AT WATERMARK LATE EVERY 5 ROWS)", ["idle"]),
        ("ONCE (REPEAT AFTER 2 ROWS)", ["idle"]),
        ("ONCE (REPEAT AFTER 2 ROWS UNTIL AT WATERMARK)", ["loses"]),
        ("ONCE (AT WATERMARK THEN EVERY 2 ROWS THEN AT WATERMARK)", ["idle"]),
    ],
)
def test_warnings_of_a_tree(trigger: str, warned: list[str]) -> None:
    marks = {"may lose rows": "loses", "changes nothing": "idle", "fires early in each step": "early"}
    found = [next(m for words, m in marks.items() if words in line) for line in trigger_warnings(*read(trigger))]
    assert found == warned


@pytest.mark.parametrize(
    ("trigger", "lines"),
    [
        (
            "AT WATERMARK EARLY EVERY INTERVAL 1 MINUTE LATE EVERY ROW",
            [
                "before window_end: at each full minute of processing time while there are new rows",
                "at window_end:     when the watermark reaches it, if anything is new",
                "late rows:         in each step that brings rows",
                "at window_end + 1 day: what was not emitted yet",
            ],
        ),
        (
            "AT WATERMARK AND (AFTER 10 ROWS OR AFTER INTERVAL 5 MINUTES)",
            [
                "before window_end: not",
                "at window_end:     when the watermark reaches it, if due then: when 10 rows have come since the last"
                " pane or 5 minutes after the first new row arrived",
                "late rows:         when 10 rows have come since the last pane or 5 minutes after the first new row"
                " arrived",
                "at window_end + 1 day: what was not emitted yet",
            ],
        ),
        (
            "AFTER 2 ROWS THEN AT WATERMARK",
            [
                "before window_end: when 2 rows have come since the last pane, then not before the watermark",
                "at window_end:     when the watermark reaches it, if due then: when 2 rows have come since the last"
                " pane, then in the step that brings rows",
                "late rows:         when 2 rows have come since the last pane, then in the step that brings rows",
                "at window_end + 1 day: what was not emitted yet",
            ],
        ),
        (
            "ONCE (AT WATERMARK PERCENTILE 99)",
            [
                "before window_end: when a watermark that trusts 99 % of recent rows reaches it",
                "at window_end:     when the watermark reaches it, if anything is new",
                "late rows:         to late_rows (the first ones of a window: in the step that brings rows)",
                "at window_end + 1 day: what was not emitted yet",
            ],
        ),
        (
            "EVERY 5 BYTES OR WHEN (max(v) = 'x')",
            [
                "when 5 bytes have come since the last pane or when (max(v) = 'x') holds for what the pane would show,"
                " before window_end and after it",
                "at window_end + 1 day: what was not emitted yet",
            ],
        ),
    ],
)
def test_when_a_window_fires(trigger: str, lines: list[str]) -> None:
    assert list(fires_lines(block(trigger), True)) == lines


def test_when_nothing_reaches_the_end_of_a_window() -> None:
    early = "AT WATERMARK EARLY EVERY 2 ROWS"
    wanted = ["when 2 rows have come since the last pane", "at DRAIN, what was not emitted yet"]
    assert list(fires_lines(block(early, Global()), True)) == wanted
    assert list(fires_lines(block(early), False)) == wanted
    assert list(fires_lines(block("AT WATERMARK", lateness=None), True))[-1] == "at DRAIN: what was not emitted yet"
    assert list(fires_lines(block("AT WATERMARK", lateness=0), True)) == [
        "before window_end: not",
        "at window_end:     when the watermark reaches it, if anything is new",
        "at window_end: what was not emitted yet",
    ]


def test_a_nested_tree_is_indented() -> None:
    tree, _ = read("AT WATERMARK EARLY (EVERY 2 ROWS OR NEVER) LATE EVERY ROW")
    assert list(tree_lines(tree)) == [
        "THEN", "  REPEAT … UNTIL", "    OR", "      EVERY 2 ROWS", "      NEVER", "    AT WATERMARK", "  REPEAT",
        "    EVERY 1 ROW",
    ]  # fmt: skip


@pytest.mark.parametrize("window", [Fixed(7), Fixed(10), Sliding(10, 3), Sliding(9, 3), Sessions(4)], ids=str)
@pytest.mark.parametrize("behind", [0, 1, 5, 12, 30])
def test_no_more_windows_live_than_said_and_no_fewer(window: Fixed | Sliding | Sessions, behind: int) -> None:
    """Every unit of time has a row, or rows lie so that sessions are as many as can be; each newest row is tried."""
    live = []
    for newest in range(100, 130):
        times = range(newest, newest - 90, -1)
        match window:
            case Fixed(size):
                bounds = {(t // size * size, t // size * size + size) for t in times}
            case Sliding(size, every):
                bounds = {(s, s + size) for t in times for s in range(t - size + 1, t + 1) if s % every == 0}
            case Sessions(gap):
                bounds = {(t, t + gap) for t in times[::gap]}
        known = window.gap if isinstance(window, Sessions) and window.gap else 0
        live.append(len([end for _, end in bounds if end + known > newest - behind]))
    assert max(live) == live_windows(window, behind)
