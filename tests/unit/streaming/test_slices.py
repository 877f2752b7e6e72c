"""When windows of slices fire, which folders go and which are folded; without Spark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from warehouse.dataflow.aggregates.calls import Call
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.times import BEGINNING, END
from warehouse.dataflow.triggers import Kind, Node
from warehouse.dataflow.windows import Custom, Fixed, Sliding, Window
from warehouse.language.statements import Mode
from warehouse.streaming.log import START
from warehouse.streaming.state.slices import Slices, _newest


def query(window: Window) -> WindowedQuery:
    count = Call("count", (), False, None, "bigint")
    return WindowedQuery((), window, Node(Kind.AT_WATERMARK, 0), Mode.ACCUMULATING, 0, (count,), None, ())


def slices(window: Window) -> Slices:
    return Slices(Path("state"), query(window))


WINDOWS = (Fixed(10), Fixed(10, 3), Sliding(10, 5), Sliding(12, 5, 1), Sliding(10, 10), Sliding(7, 3, 2))


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_firing_and_due_are_those_of_the_grid(window: Window) -> None:
    """For every slice and watermark, by looking at each window in turn."""
    kept = slices(window)
    grid = kept.window
    windows = [(s, s + grid.size) for s in range(-60 + grid.offset, 100, grid.every)]
    starts = [at for at in range(0, 30) if (at - grid.offset) % grid.slice == 0]
    for at in starts:
        holding = [(s, e) for s, e in windows if s <= at < e]
        assert all(at + grid.slice <= e for _, e in holding)
        assert grid.end_of_first(at) == holding[0][1]
        assert grid.end_of_last(at) == holding[-1][1]
        bounds = (at, at + grid.slice)
        for before in range(-5, 50):
            ahead = [e for _, e in holding if e > before]
            due = kept.due(at, before)
            assert due == ahead[0] if ahead else due == before + 1
            for after in (before, before + 1, before + 9, before + 40):
                ends = [e for _, e in holding if before < e <= after]
                assert kept.firing(START, bounds, before, after) == len(ends)
    assert kept.firing(START, (None, None), BEGINNING, END) == 0
    assert kept.due(0, END) is None
    assert kept.due(None, 5) is None


def test_folders_go_with_their_last_window() -> None:
    kept = slices(Sliding(10, 5))
    commit = replace(START, step=3, after=14, slices={"slices-000000001": [4, 0, 0], "slices-000000002": [5, 0, 5]})
    commit = kept.added(commit, [7, 5, 20])
    assert commit.slices == {"slices-000000002": [5, 0, 5], "slices-000000003": [7, 5, 20]}
    assert commit.slice_rows == 12
    assert kept.added(replace(commit, step=4, after=30), None).slices == {}


@pytest.mark.parametrize(
    ("rows", "folded"),
    [
        ([10] * 11, 11),
        ([1000, *[10] * 10], 10),
        ([1000, 300, *[10] * 10], 10),
        ([1000, 150, *[10] * 10], 11),
        ([300, 150, *[10] * 10], 12),
        ([5, 1000], 2),
    ],
)
def test_what_has_piled_up_is_not_folded_for_every_little(rows: list[int], folded: int) -> None:
    folders = {f"slices-{number}": [count, 0, 0] for number, count in enumerate(rows)}
    assert list(_newest(folders)) == list(folders)[-folded:]


def test_what_is_not_kept_as_slices() -> None:
    """A window or a trigger at which something else than adding happens before the watermark passes."""
    assert query(Fixed(10, 3)).slicing == Sliding(10, 10, 3)
    assert query(Fixed(10, per_key=True)).slicing is None
    assert query(Sliding(5, 10)).slicing is None
    assert query(Custom("own", None)).slicing is None
    plain = query(Sliding(10, 5))
    assert plain.slicing == Sliding(10, 5)
    for other in ({"once": True}, {"retracted": True}, {"complete": True}, {"trigger": Node(Kind.EVERY_ROWS, 0, 1)}):
        assert replace(plain, **other).slicing is None
