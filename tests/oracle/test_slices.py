"""Windows kept as slices give what the model does: rolled up by folding, by sweeping, compiled or not.

By default a handful of statements; ``ORACLE_ALL=1`` runs more.
"""

from __future__ import annotations

import os
from dataclasses import replace
from random import Random

import pytest

from tests.oracle.harness import Rig
from tests.oracle.model import DAY, END, SECOND, AtWatermark, Fixed, Sliding, WindowSpec
from tests.oracle.programs import GRAIN, random_wide_program
from tests.oracle.text import Program
from warehouse.dataflow import slices
from warehouse.streaming.state import slices as kept
from warehouse.streaming.steps import windowed

ALL = bool(os.environ.get("ORACLE_ALL"))
SEED = int(os.environ.get("ORACLE_SEED", "1"))
SEEDS = range(SEED, SEED + int(os.environ.get("ORACLE_PROGRAMS", "40" if ALL else "1")))
SCENARIOS = 30 if ALL else 6
WINDOWS: tuple[WindowSpec, ...] = (
    Fixed(2 * GRAIN),
    Fixed(GRAIN, SECOND),
    Sliding(2 * GRAIN, GRAIN),
    Sliding(4 * GRAIN, GRAIN, SECOND),
    Sliding(3 * GRAIN, 2 * GRAIN),
    Sliding(3 * GRAIN, 7 * SECOND, 2 * SECOND),
    Sliding(24 * GRAIN, GRAIN),
)


def sliced_program(seed: int) -> Program:
    """Return a wide program whose windows fire at the watermark alone."""
    random = Random(f"sliced {seed}")
    program = random_wide_program(seed, SCENARIOS)
    lateness = random.choice([0, 0, GRAIN, 3 * GRAIN, DAY, END])
    query = replace(
        program.query, window=random.choice(WINDOWS), trigger=AtWatermark(), once=False, lateness=lateness
    )  # fmt: skip
    source = program.source
    if source.watermark == "complete":
        source = replace(source, watermark="none")
    return replace(program, query=query, source=source)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("how", ["folded", "swept", "compiled"] if ALL else ["swept"])
def test_slices(how: str, seed: int, rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Panes, late rows and ``t`` are those of the model."""
    monkeypatch.setattr(slices, "FOLDED", 1 << 60 if how == "folded" else 0)
    monkeypatch.setattr(kept, "MOST_FOLDERS", seed % 3)
    if how == "compiled":
        monkeypatch.setattr(windowed, "MUCH_STATE", -1)
    program = sliced_program(seed)
    problems = rig.check(program)
    assert not problems, "\n" + rig.report(program, problems)
