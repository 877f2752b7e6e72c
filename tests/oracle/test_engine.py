"""The engine against the model: SQL files (figures, transcripts) and random programs, pane for pane.

``ORACLE_PROGRAMS=10000 ORACLE_SEED=0 pytest tests/oracle/test_engine.py`` runs more of them. A program is a pair
of a statement and a scenario: ``ORACLE_SCENARIOS`` of them share a statement, its steps and its watermark.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.oracle import programs
from tests.oracle.harness import TESTS, Rig
from tests.oracle.programs import random_program, random_wide_program

LEVEL = os.environ.get("ORACLE_LEVEL", "full")
SCENARIOS = int(os.environ.get("ORACLE_SCENARIOS", programs.SCENARIOS))
PROGRAMS = int(os.environ.get("ORACLE_PROGRAMS", SCENARIOS))
SEED = int(os.environ.get("ORACLE_SEED", "7"))
SCRIPTS = sorted((TESTS / "sql" / "figures").glob("*.sql")) + sorted((TESTS / "transcripts").glob("*.sql"))
QUICK = "figure_06"
"""What runs by default, some seconds; ``ORACLE_ALL=1`` runs every script."""
if not os.environ.get("ORACLE_ALL"):
    SCRIPTS = [path for path in SCRIPTS if path.stem == QUICK]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_script(path: Path, rig: Rig) -> None:
    """A SQL file gives what it promises, and everything else that the model says."""
    assert not rig.check_file(path)


@pytest.mark.parametrize("seed", range(SEED, SEED + PROGRAMS // SCENARIOS))
def test_random_programs(seed: int, rig: Rig) -> None:
    """One statement over many scenarios gives the model's panes, late rows, bad rows and final table for each."""
    program = random_wide_program(seed, SCENARIOS)
    problems = rig.check(program)
    assert not problems, "\n" + rig.report(program, problems)


@pytest.mark.parametrize("seed", range(SEED, SEED + PROGRAMS // 500))
def test_random_program(seed: int, rig: Rig) -> None:
    """So does a statement over one, whose text can do without GROUP BY."""
    program = random_program(seed, LEVEL)  # type: ignore[arg-type]
    problems = rig.check(program)
    assert not problems, "\n" + rig.report(program, problems)
