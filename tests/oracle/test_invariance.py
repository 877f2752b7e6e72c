"""On the engine no result depends on how the rows were cut into steps, spread over partitions, or ordered.

Each run is held to the model, which knows nothing of partitions and takes a step's rows as a set; so the runs
agree with each other too. They run with ``ORACLE_ALL=1``, on the compiled plans that large steps get.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from tests.oracle.batch import batch_answer
from tests.oracle.harness import Rig
from tests.oracle.model import END, MINUTE, SECOND
from tests.oracle.outcome import by_text, window_line
from tests.oracle.programs import random_wide_program
from tests.oracle.text import Program
from warehouse.streaming.steps import tuning, windowed

ALL = bool(os.environ.get("ORACLE_ALL"))
SEEDS = (7, 13, 29, 38)
SPREAD = (7, 29)
"""Programs whose files tell over how many partitions a step ran; of 13 one writes two files, of 38 eight write one."""
pytestmark = pytest.mark.skipif(not ALL, reason="a quarter of an hour: ORACLE_ALL=1")
SCENARIOS = 20


@pytest.fixture
def partitions(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Return ``use(number)``: every stage of a step runs over so many partitions, and writes so many state files."""
    name = "spark.sql.shuffle.partitions"
    before = rig.rows(f"SET {name}")[0]["value"]

    def use(number: int) -> None:
        for where, limit in ((tuning, "FEW_ROWS"), (windowed, "FEW_WINDOWS"), (windowed, "MUCH_STATE")):
            monkeypatch.setattr(where, limit, -1)  # no step is a small one, for which one task does
        rig.rows(f"SET {name} = {number}")

    yield use
    rig.rows(f"SET {name} = {before}")


def _state_files(rig: Rig) -> int:
    """Return over how many files a step of the table made last has spread its state, at most."""
    newest = max((rig.engine.folder / "streaming").iterdir(), key=lambda folder: folder.stat().st_mtime)
    return max(len(list(step.glob("*.parquet"))) for step in (newest / "state").iterdir())


def _backwards(program: Program) -> Program:
    """Return the program with its rows in the opposite order in the file; each arrives when it did."""
    return replace(program, source=replace(program.source, rows=tuple(reversed(program.source.rows))))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("number", [1, 3, 8])
def test_partitions(seed: int, number: int, rig: Rig, partitions: Callable[[int], None]) -> None:
    """Panes, late rows and ``t`` are the same over one, three and eight partitions."""
    partitions(number)
    program = random_wide_program(seed, SCENARIOS)
    assert not rig.check(program)
    if seed in SPREAD:
        assert (_state_files(rig) > 1) == (number > 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_order_of_rows_in_a_step(seed: int, rig: Rig) -> None:
    """Panes, late rows and ``t`` are the same with the rows of each step in the opposite order."""
    assert not rig.check(_backwards(random_wide_program(seed, SCENARIOS)))


@pytest.mark.parametrize("seed", SEEDS)
def test_step_cuts(seed: int, rig: Rig) -> None:
    """With nothing late, the drained table is the batch answer, however the rows were cut into steps."""
    program = random_wide_program(seed, SCENARIOS)
    query = replace(program.query, lateness=END, once=False, mode="RETRACTING")
    program = replace(program, query=query, drain=True)
    answer = batch_answer(query, program.grouped_rows())
    wanted = by_text([window_line(program, name, values) for name, values in answer.items()])
    for step in (None, 10 * SECOND, 60 * MINUTE):
        assert rig.outcome(replace(program, source=replace(program.source, step=step))).t == wanted
