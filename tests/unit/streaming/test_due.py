"""What is due of a large base is looked for wherever the record of the last step does not rule it out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from warehouse.dataflow.times import Clock
from warehouse.streaming.log import START, Commit
from warehouse.streaming.state import state

CLOCK = Clock(2, now=500, before=100, after=200)
NOTHING = replace(START, due_windows=None, due_clock=None)


@pytest.mark.parametrize(
    ("last", "clock", "due"),
    [
        (NOTHING, CLOCK, False),
        (replace(NOTHING, due_windows=200), CLOCK, True),
        (replace(NOTHING, due_windows=201), CLOCK, False),
        (replace(NOTHING, due_clock=500), CLOCK, True),
        (replace(NOTHING, due_clock=501), CLOCK, False),
        (NOTHING, replace(CLOCK, faster={50.0: 300}), True),
        (Commit(1, None, 0, 0, 0), CLOCK, True),  # a record that does not tell
    ],
)
def test_what_may_be_due(last: Commit, clock: Clock, due: bool) -> None:
    assert state._may_be_due(last, clock) is due
