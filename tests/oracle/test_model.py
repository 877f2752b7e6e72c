"""The model against the paper, against the batch answer, and against the corners of DIALECT's exact rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.outcome import broken_promises, of_model
from tests.oracle.text import read

TESTS = Path(__file__).parents[1]
FIGURES = sorted((TESTS / "sql" / "figures").glob("*.sql"))


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)
def test_figure(path: Path) -> None:
    """Paper 000, figures 6 to 14 and section 8.1: values, windows, order, timings, emission times."""
    program = read(path.read_text(), TESTS / "data")
    assert not broken_promises(program.expected, of_model(program))
