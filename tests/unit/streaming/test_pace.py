"""The pace of a table that runs on, against costs that are made up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from warehouse.catalog.entries import StreamEntry
from warehouse.streaming.feeding.pace import BEGINNING_LEVEL, BYTES, MOST, ROWS, Bound, Pace, Pacer
from warehouse.streaming.log import Commit


def settled(pace: Pace, fixed: float, per_row: float) -> Pace:
    """Return the pace once a backlog without end has been worked at, where a step costs this many seconds."""
    for _ in range(50):
        pace = pace.stepped(fixed + per_row * pace.bound.rows, more=True)
    return pace


@pytest.mark.parametrize("per_row", [1e-6, 1e-5, 1e-4])
@pytest.mark.parametrize("every", [2.0, 10.0, None])
def test_a_bound_is_found_that_fits_and_stays(every: float | None, per_row: float) -> None:
    found = settled(Pace(every), 0.4, per_row)
    fits = every or 10.0
    cost = 0.4 + per_row * found.bound.rows
    assert cost <= fits or found.level == 0
    assert cost >= fits / 3 or found.level == MOST
    assert settled(found, 0.4, per_row) == found


def test_a_step_that_costs_more_than_its_interval_whatever_it_takes_is_small_but_not_nothing() -> None:
    assert settled(Pace(0.1), 0.4, 0).bound == Bound(ROWS, BYTES)


@pytest.mark.parametrize("seconds", [0.1, 20.0])
def test_without_a_backlog_the_bound_stays(seconds: float) -> None:
    """It was not what made the step short or long."""
    assert Pace(10.0).stepped(seconds, more=False).level == BEGINNING_LEVEL


def test_steps_begin_at_the_interval() -> None:
    assert Pace(5.0).rest(2.0) == 3.0
    assert Pace(5.0).rest(7.0) == 0.0


def test_an_interval_is_found() -> None:
    """Room is left beside steps, and who waits for rows looks less and less often."""
    assert Pace().rest(8.0) == pytest.approx(2.0)
    assert Pace().rest(0.01) == 0.1
    pace, rests = Pace(), []
    for _ in range(6):
        pace = pace.rested()
        rests.append(pace.rest(0.05))
    assert rests == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
    assert pace.stepped(0.2, more=False).rest(0.2) == 0.1


def test_a_look_ends_when_the_bound_changes_or_it_is_stopped() -> None:
    stop = threading.Event()
    pacer = Pacer(3.0, stop)
    step = Commit(step=1, batch=0, now=0, before=0, after=0, seconds=2.0)
    assert not pacer.halts(None)
    assert not pacer.halts(step)
    assert pacer.halts(replace(step, seconds=4.0))
    pacer.rest([step], 10.0)  # at once: there is more
    assert not pacer.halts(None)
    assert pacer.pace.level == BEGINNING_LEVEL - 1
    stop.set()
    assert pacer.halts(None)


def test_what_readers_are_told(entry: Callable[..., StreamEntry]) -> None:
    bound = Bound(10, 20)
    files, kafka, rate = (replace(entry(path="x"), format=source) for source in ("json", "kafka", "rate"))
    assert dict(bound.of(files).options) == {"path": "x", "maxBytesPerTrigger": "20"}
    assert dict(bound.of(kafka).options) == {"path": "x", "maxOffsetsPerTrigger": "10"}
    own = replace(files, options=(("MAXFILESPERTRIGGER", "1"),))
    assert bound.of(own) == own
    assert bound.of(rate) == rate
    assert bound.of(entry()) == entry()
