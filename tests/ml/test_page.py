"""The page on machine learning is real: its statements run, and what it shows of them is what comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import check_page, shown
from warehouse.engine import Engine

PAGE = Path(__file__).parents[2] / "docs" / "generate.md"


@pytest.mark.soak
def test_the_page_is_real(engine: Engine, schema: str, request: pytest.FixtureRequest) -> None:

    def answered(sql: str) -> str:
        return shown(engine, sql, lambda plan: plan.partition("\n== Input ==")[0])

    check_page(request, PAGE, 5, answered)
