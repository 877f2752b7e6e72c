"""The page on machine learning is real: its statements run, and what it shows of them is what comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import PAIRS, filled, shown
from warehouse.engine import Engine

PAGE = Path(__file__).parents[2] / "docs" / "generate.md"


@pytest.mark.soak
def test_the_page_is_real(engine: Engine, schema: str, request: pytest.FixtureRequest) -> None:
    whole = PAGE.read_text(encoding="utf-8")
    assert sum(found[2] is not None for found in PAIRS.finditer(whole)) == 5
    page = filled(PAGE, lambda sql: shown(engine, sql, lambda plan: plan.partition("\n== Input ==")[0]))
    if request.config.getoption("--update-goldens"):
        PAGE.write_text(page, encoding="utf-8")
    else:
        assert page == whole
