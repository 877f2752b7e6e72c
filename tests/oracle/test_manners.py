"""On the engine no result depends on the manner in which a step goes about its work.

The small steps of the other tests are all interpreted. Here they are compiled and staged, or merged with the state at
once, as large ones are; with ``ORACLE_ALL=1`` those of more programs.
"""

from __future__ import annotations

import os

import pytest

from tests.oracle.harness import Rig
from tests.oracle.programs import random_wide_program
from warehouse.dataflow import partials
from warehouse.dataflow.query import WindowedQuery
from warehouse.streaming.state import state
from warehouse.streaming.steps import grouping, windowed
from warehouse.streaming.steps.windowed import Manner

ALL = bool(os.environ.get("ORACLE_ALL"))
SEEDS = (3, 7, 13, 21, 29, 34, 38, 55) if ALL else (38,)
SCENARIOS = 20 if ALL else 5


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("how", [Manner.STAGED, Manner.AT_ONCE])
def test_manners(how: Manner, seed: int, rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Panes, late rows and ``t`` are those of the model."""
    ran = []

    def chosen(query: WindowedQuery, *_: object) -> Manner:
        ran.append(how if partials.comes_in_pieces(query) else Manner.STAGED)
        return ran[-1]

    monkeypatch.setattr(windowed, "manner", chosen)
    assert not rig.check(random_wide_program(seed, SCENARIOS))
    assert how in ran or ALL  # what needs whole windows is staged


@pytest.mark.parametrize("seed", SEEDS)
def test_few_rows_that_come_to_much(seed: int, rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not held, but grouped again as many; nor are windows, which are merged again as many."""
    monkeypatch.setattr(grouping, "MOST_HELD", 1)
    monkeypatch.setattr(windowed, "SMALL_PART", 1)
    assert not rig.check(random_wide_program(seed, SCENARIOS))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("in_memory", [1_000_000, -1])
def test_of_a_large_base_what_rows_hit_is_read(
    in_memory: int, seed: int, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a base of more rows is read, so is each here, from memory or by the hashes of files; each step makes one."""
    monkeypatch.setattr(state, "SMALL_BASE", 0)
    monkeypatch.setattr(state, "MOST_ROWS", in_memory)
    monkeypatch.setattr(state, "MOST_DELTAS", 0)
    monkeypatch.setattr(windowed, "manner", lambda *_: Manner.STAGED)
    assert not rig.check(random_wide_program(seed, SCENARIOS))
