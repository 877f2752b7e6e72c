"""Windows kept as slices give what the model does: rolled up by folding, by sweeping, compiled or not.

By default a handful of statements; ``ORACLE_ALL=1`` runs more.
"""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

import pytest

from tests.oracle.harness import Rig
from tests.oracle.model import BEGIN, DAY, END, SECOND, AtWatermark, Fixed, Sliding, WindowSpec
from tests.oracle.programs import EVENTS, GRAIN, random_wide_program
from tests.oracle.text import Program
from warehouse.dataflow import slices
from warehouse.streaming.state import slices as kept
from warehouse.streaming.steps import windowed

ALL = bool(os.environ.get("ORACLE_ALL"))
SEED = int(os.environ.get("ORACLE_SEED", "1"))
SEEDS = range(SEED, SEED + int(os.environ.get("ORACLE_PROGRAMS", "40" if ALL else "1")))
SCENARIOS = 30 if ALL else 6
SPARSE = 12
"""By so much rows are further apart than others: a grain is a minute then."""
WINDOWS: tuple[WindowSpec, ...] = (
    Fixed(2 * GRAIN),
    Fixed(GRAIN, SECOND),
    Sliding(2 * GRAIN, GRAIN),
    Sliding(4 * GRAIN, GRAIN, SECOND),
    Sliding(3 * GRAIN, 2 * GRAIN),
    Sliding(3 * GRAIN, 7 * SECOND, 2 * SECOND),
    Sliding(24 * GRAIN, GRAIN),
)


def sliced_program(seed: int, scenarios: int = SCENARIOS) -> Program:
    """Return a wide program whose windows fire at the watermark alone."""
    random = Random(f"sliced {seed}")
    program = random_wide_program(seed, scenarios)
    lateness = random.choice([0, 0, GRAIN, 3 * GRAIN, DAY, END])
    query = replace(
        program.query, window=random.choice(WINDOWS), trigger=AtWatermark(), once=False, lateness=lateness
    )  # fmt: skip
    source = program.source
    if source.watermark == "complete":
        source = replace(source, watermark="none")
    return replace(program, query=query, source=source)


def sparse_program(seed: int) -> Program:
    """Return a program of two scenarios whose rows are so far apart that most windows are empty."""
    program = sliced_program(seed, 2)

    def apart(time: int) -> int:
        return time if time in (BEGIN, END) else EVENTS + (time - EVENTS) * SPARSE

    source = program.source
    rows = tuple(row if row.time is None else replace(row, time=apart(row.time)) for row in source.rows)
    moves = source.watermark
    if isinstance(moves, tuple):
        moves = tuple((at, apart(to)) for at, to in moves)
    return replace(program, source=replace(source, rows=rows, watermark=moves))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("how", ["folded", "swept", "compiled"] if ALL else ["swept"])
def test_slices(how: str, seed: int, rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Panes, late rows and ``t`` are those of the model."""
    monkeypatch.setattr(slices, "FOLDED", 1 << 60 if how == "folded" else 0)
    monkeypatch.setattr(kept, "MOST_FOLDERS", seed % 3)
    if how == "compiled":
        monkeypatch.setattr(windowed, "MUCH_STATE", -1)
    check(rig, sliced_program(seed))


@pytest.mark.parametrize("seed", range(SEED, SEED + 6 * len(SEEDS)) if ALL else (18,))
def test_slices_far_apart(seed: int, rig: Rig) -> None:
    """The same where windows fire that no slice is near, or that rows of the step alone fall into."""
    check(rig, sparse_program(seed))


def check(rig: Rig, program: Program) -> None:
    problems = rig.check(program)
    assert not problems, "\n" + rig.report(program, problems)
