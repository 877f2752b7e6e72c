"""The model against Apache Beam's trigger driver, on what both have; what differs is shown one by one.

Beam is no dependency: ``pip install -e '.[beam]'`` into an environment of its own, then
``pytest tests/oracle/test_beam.py``. ``BEAM_PROGRAMS`` says how many.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.oracle.model import (
    END,
    SECOND,
    After,
    And,
    AtWatermark,
    Every,
    Fixed,
    Global,
    Model,
    Never,
    Or,
    Pane,
    Query,
    Repeat,
    Replay,
    Row,
    Sessions,
    Sliding,
    Then,
    Time,
    Trigger,
    Window,
    WindowSpec,
    replay,
)

pytest.importorskip("apache_beam", reason="install the extra 'beam'")

from tests.oracle.beam import replay_on_beam

PROGRAMS = int(os.environ.get("BEAM_PROGRAMS", "3000"))
SEED = int(os.environ.get("ORACLE_SEED", "0"))
GRAIN = 5 * SECOND


class Comparable(Model):
    """The model without what Beam's Python driver leaves to its runners, and a note of what it does otherwise.

    It emits nothing when a window closes. ``early_again`` says that a session that the watermark had passed
    grew beyond it, or was taken in by one that ends beyond it.
    """

    early_again = False

    def _look_at(self, window: Window, before: Time, after: Time, clock: Time, drain: bool) -> None:
        query, self.query = self.query, replace(self.query, lateness=END)
        super()._look_at(window, before, after, clock, drain)
        self.query = query

    def _merge(self, key: Any, start: Time, end: Time, members: Sequence[Any], before: Time, clock: Time) -> None:
        old = [member for member in members if isinstance(member, Window)]
        self.early_again |= any(window.end <= before < end for window in old)
        super()._merge(key, start, end, members, before, clock)


@pytest.fixture(autouse=True)
def comparable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.oracle.model.Model", Comparable)


def _count(random: Random) -> Trigger:
    return After(rows=random.choice([1, 1, 2, 2, 3]))


def _finishes(random: Random, depth: int) -> Trigger:
    """Return a trigger that is finished whenever it fires, so that Beam's counts start again with ours."""
    if depth == 0 or random.random() < 0.3:
        return AtWatermark() if random.random() < 0.3 else _count(random)
    kind = random.choice([Or, And])
    return kind([_finishes(random, depth - 1) for _ in range(random.choice([2, 2, 3]))])


def _trigger(random: Random, sessions: bool) -> Trigger:
    roll = random.random()
    if roll < 0.4:
        early = _finishes(random, 1) if random.random() < 0.7 else None
        if early is not None and not sessions and random.random() < 0.3:
            early = After(interval=random.choice([3, 7, 13, 21]) * SECOND)
        late = _finishes(random, 1) if random.random() < 0.7 else None
        return AtWatermark(early, late)
    if roll < 0.5 and not sessions:
        return After(interval=random.choice([3, 7, 13, 21]) * SECOND)
    if roll < 0.6:
        return Every(rows=random.choice([1, 2, 3]))
    if roll < 0.7:
        return Repeat(_finishes(random, 1), AtWatermark())
    if roll < 0.85 and not sessions:
        return Then([_finishes(random, 1), *(_count(random) for _ in range(random.choice([1, 2])))])
    return _finishes(random, 3)


def _program(seed: int) -> tuple[Query, Replay]:
    """Draw a program of the common part; rows, watermark and timers have instants of their own."""
    random = Random(f"beam {seed}")
    choices: list[WindowSpec] = [
        Fixed(random.choice([2, 3]) * GRAIN, random.choice([0, SECOND])),
        Sliding(3 * GRAIN, random.choice([1, 2]) * GRAIN),
        Sessions(random.choice([1, 2]) * GRAIN),
        Sessions(2 * GRAIN),
        Global(),
    ]
    window = random.choice(choices)
    sessions = isinstance(window, Sessions)
    query = Query(
        window,
        _trigger(random, sessions),
        once=not sessions and random.random() < 0.25,
        mode=random.choice(["DISCARDING", "ACCUMULATING"]),
        lateness=random.choice([0, GRAIN, 2 * GRAIN, END, END]),
    )
    span = random.choice([2, 4, 8])
    rows = tuple(
        Row(
            random.choice(["a", "b", None]),
            GRAIN * random.randint(1, span) + random.choice([0, 0, 0, SECOND, -1]),
            random.choice([None, *range(-3, 9)]),
            10 * SECOND * random.randint(1, 8),
            number,
        )
        for number in range(random.randint(1, 20))
    )
    at = sorted(random.sample(range(1, 9), random.choice([1, 2, 3])))
    to = sorted(GRAIN * random.randint(1, span + 3) for _ in at)
    moves = tuple((10 * SECOND * when + 5 * SECOND, mark) for when, mark in zip(at, to, strict=True))
    return query, Replay(rows, watermark=moves)


def _order(pane: Pane) -> tuple[Any, ...]:
    return (pane.emitted_at, str(pane.key), pane.start, pane.end, pane.index)


def _panes(panes: Sequence[Pane]) -> list[Pane]:
    return sorted((replace(pane, step=0) for pane in panes), key=_order)


def test_random_programs() -> None:
    """Windows, values, timing, index, instant and watermark of every pane are Beam's."""
    compared = emitted = late = 0
    for seed in range(SEED, SEED + PROGRAMS):
        query, source = _program(seed)
        model = replay(query, source)
        assert isinstance(model, Comparable)
        if model.early_again:
            continue  # see test_a_session_that_grows_beyond_the_watermark
        assert _panes(model.panes) == _panes(replay_on_beam(query, source)), (seed, query, source)
        compared, emitted, late = compared + 1, emitted + len(model.panes), late + len(model.late)
    print(f"{compared} programs, {emitted} panes, {late} late rows")
    assert compared > PROGRAMS * 0.8
    assert late > PROGRAMS / 20


# ---------------------------------------------------------------- what Beam's driver does otherwise


def _both(query: Query, rows: Sequence[tuple[float, int]], moves: Sequence[tuple[int, float]]) -> tuple[Any, Any]:
    """Return (instant, start, end, rows, timing) of each pane from the model and from Beam.

    ``rows`` are (event time, arrival), ``moves`` (instant, watermark), all in seconds.
    """
    source = Replay(
        tuple(Row("a", int(time * SECOND), 1, at * SECOND, number) for number, (time, at) in enumerate(rows)),
        watermark=tuple((at * SECOND, int(mark * SECOND)) for at, mark in moves),
    )

    def brief(panes: Sequence[Pane]) -> list[tuple[Any, ...]]:
        return [
            (p.emitted_at // SECOND, p.start / SECOND, p.end / SECOND, p.values[0], p.timing) for p in _panes(panes)
        ]

    return brief(replay(query, source).panes), brief(replay_on_beam(query, source))


TEN = Fixed(10 * SECOND)
SESSIONS = Sessions(10 * SECOND)


def test_a_session_that_grows_beyond_the_watermark() -> None:
    """Here it is early again; in Beam's Python driver what was late stays so."""
    query = Query(SESSIONS, AtWatermark(Every(rows=2), After(rows=1)))
    ours, theirs = _both(query, [(0, 10), (5, 30)], [(15, 12)])
    assert ours == [(15, 0, 10, 1, "ON_TIME")]
    assert theirs == [(15, 0, 10, 1, "ON_TIME"), (30, 0, 15, 2, "EARLY")]


def test_merged_sessions_and_then() -> None:
    """Here the least advanced part wins; Beam takes the furthest."""
    query = Query(SESSIONS, Then([After(rows=2), After(rows=9)]), once=True)
    ours, theirs = _both(query, [(0, 10), (0, 20), (12, 30), (6, 40)], [(95, 0)])
    assert ours == [(20, 0, 10, 2, "EARLY"), (40, 0, 22, 4, "EARLY")]
    assert theirs == ours[:1]


def test_counts_of_the_other_parts() -> None:
    """Here every count runs from the window's last pane; in Beam a part counts on while its neighbour fires."""
    query = Query(Global(), Or([Every(rows=2), After(rows=3)]))
    ours, theirs = _both(query, [(0, at) for at in range(10, 60, 10)], [(95, 0)])
    assert [pane[0] for pane in ours] == [20, 40]
    assert [pane[0] for pane in theirs] == [20, 30, 50]


def test_and_with_a_part_that_goes_on() -> None:
    """Here AND is finished when a part that fires is; in Beam when all parts are."""
    query = Query(Global(), And([Every(rows=1), After(rows=2)]), once=True)
    ours, theirs = _both(query, [(0, at) for at in range(10, 50, 10)], [(95, 0)])
    assert [pane[0] for pane in ours] == [20]
    assert [pane[0] for pane in theirs] == [20, 30, 40]


def test_silent_firing_of_a_later_part() -> None:
    """Here the watermark moves a THEN on without a new row; Beam sets that timer when the next row comes."""
    query = Query(TEN, Then([After(rows=1), AtWatermark(), After(rows=3)]), once=True)
    ours, theirs = _both(query, [(1, 10), (2, 20)], [(15, 10)])
    assert [pane[0] for pane in ours] == [10]
    assert [pane[0] for pane in theirs] == [10, 20]


def test_rows_and_watermark_in_one_step() -> None:
    """Here a step is one pane; Beam's bundle fires for its rows, then for the watermark.

    So the random programs give rows, watermark and timers instants of their own.
    """
    query = Query(TEN, Then([After(rows=1), After(rows=1)]))
    model = Model(query)
    model.step([Row("a", 1, 1, 0, 0), Row("a", 2, 1, 0, 1)], 0, 20 * SECOND)
    assert len(model.panes) == 1


def test_the_last_pane_of_a_window() -> None:
    """Here a window that closes emits what it had not; Beam's Python driver leaves that to its runners."""
    source = Replay((Row("a", 0, 1, 0, 0),), watermark=((5 * SECOND, 20 * SECOND),))
    query = Query(TEN, Never(), lateness=0)
    assert not replay_on_beam(query, source)
    assert not replay(query, source).panes  # ``Comparable``, which leaves it out too
    model = Model(query)
    model.step(source.rows, 0)
    model.step([], 5 * SECOND, 20 * SECOND)
    assert [pane.timing for pane in model.panes] == ["ON_TIME"]


def test_a_row_exactly_as_late_as_allowed() -> None:
    """Here it is late, in Beam just not; ``replay_on_beam`` allows a microsecond less."""
    query = Query(TEN, lateness=5 * SECOND)
    assert _both(query, [(1, 10), (2, 20)], [(15, 15)]) == ([(15, 0, 10, 1, "ON_TIME")],) * 2
    assert _both(query, [(1, 10), (2, 20)], [(15, 14)])[1][-1] == (20, 0, 10, 2, "LATE")
