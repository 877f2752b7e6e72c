"""Which manner a step is run in."""

from __future__ import annotations

from dataclasses import replace

from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.triggers import Kind, Node
from warehouse.dataflow.windows import Fixed, Sessions, Sliding
from warehouse.language.statements import Mode
from warehouse.streaming.log import START, Commit, Intent
from warehouse.streaming.steps import windowed
from warehouse.streaming.steps.grouping import MOST_HELD
from warehouse.streaming.steps.tuning import FEW_BYTES, FEW_ROWS
from warehouse.streaming.steps.windowed import MUCH_STATE, Manner

QUERY = WindowedQuery((), Fixed(60), Node(Kind.EVERY_ROWS, 0, 2), Mode.ACCUMULATING, 0, (), None, ())
INTENT = Intent(2, 1, 0, 0)


def manner(query: WindowedQuery, intent: Intent, last: Commit, size: int = 1 << 60) -> Manner:
    return windowed.manner(query, intent, last, lambda: size)


def last(rows: int, state: int) -> Commit:
    return Commit(1, 0, 0, 0, 0, rows=rows, base_rows=state // 2, delta_rows=state - state // 2)


def test_it_follows_from_the_last_step() -> None:
    assert manner(QUERY, Intent(1, 0, 0, 0), START) is Manner.AT_ONCE  # a source that does not know its size
    assert manner(QUERY, INTENT, last(FEW_ROWS, MUCH_STATE)) is Manner.FEW
    assert manner(QUERY, INTENT, last(FEW_ROWS, MUCH_STATE + 1)) is Manner.STAGED
    assert manner(QUERY, INTENT, last(10 * MUCH_STATE, 10 * MUCH_STATE)) is Manner.AT_ONCE
    assert manner(QUERY, INTENT, last(10 * MUCH_STATE, 10 * MUCH_STATE + 1)) is Manner.STAGED
    assert manner(QUERY, Intent(2, None, 0, 0), START) is Manner.FEW  # a replay's steps are small


def test_where_the_last_one_had_no_rows_the_source_tells() -> None:
    assert manner(QUERY, Intent(1, 0, 0, 0), START, FEW_BYTES) is Manner.FEW
    assert manner(QUERY, Intent(1, 0, 0, 0), START, FEW_BYTES + 1) is Manner.AT_ONCE
    assert manner(QUERY, INTENT, last(0, MUCH_STATE + 1), FEW_BYTES) is Manner.STAGED
    assert manner(QUERY, INTENT, last(FEW_ROWS + 1, 0), 0) is Manner.AT_ONCE


def test_what_needs_whole_windows_is_staged() -> None:
    many = last(10 * MUCH_STATE, 0)
    then = Node(Kind.THEN, 0, parts=(Node(Kind.AFTER_ROWS, 1, 2), Node(Kind.AT_WATERMARK, 2)))
    assert manner(replace(QUERY, window=Sessions(60)), INTENT, many) is Manner.AT_ONCE
    assert manner(replace(QUERY, window=Sliding(60, 20), trigger=then), INTENT, many) is Manner.AT_ONCE
    assert manner(replace(QUERY, window=Sessions(60), trigger=then), INTENT, many) is Manner.STAGED
    assert manner(replace(QUERY, once=True), INTENT, many) is Manner.STAGED
    assert manner(replace(QUERY, retracted=True), INTENT, many) is Manner.STAGED


def test_few_rows_that_come_to_much_are_not_held() -> None:
    assert manner(QUERY, INTENT, replace(last(FEW_ROWS, 0), groups=MOST_HELD)) is Manner.FEW
    assert manner(QUERY, INTENT, replace(last(FEW_ROWS, 0), groups=MOST_HELD + 1)) is Manner.AT_ONCE


def test_rows_that_are_added_to_slices_do_not_meet_the_state() -> None:
    sliced = replace(QUERY, trigger=Node(Kind.AT_WATERMARK, 0))
    assert manner(sliced, INTENT, last(FEW_ROWS, 10 * MUCH_STATE)) is Manner.FEW
    assert manner(sliced, INTENT, last(10 * MUCH_STATE, 0)) is Manner.STAGED
