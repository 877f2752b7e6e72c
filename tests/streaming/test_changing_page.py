"""The page on changes is real: its statements run, and what it shows of them is what comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import check_page, shown
from tests.statements import Rows
from warehouse.engine import Engine

PAGE = Path(__file__).parents[2] / "docs" / "changing.md"
PLAYS = """
{"team": "red",  "score": 5, "at": "2024-05-01T12:00:27Z"}
{"team": "red",  "score": 7, "at": "2024-05-01T12:02:25Z"}
{"team": "blue", "score": 3, "at": "2024-05-01T12:03:40Z"}
"""


def verdict(plan: str) -> str:
    """Return the first part of an EXPLAIN."""
    return plan.partition("== Streaming table ==")[0]


@pytest.mark.soak
def test_the_page_is_real(
    engine: Engine, rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plays").mkdir()
    (tmp_path / "plays" / "1.json").write_text(PLAYS.lstrip())
    schema = rows("SELECT current_schema() AS s")[0]["s"]

    def in_default(sql: str) -> str:
        return shown(engine, sql, verdict).replace(f"{schema}.", "default.").replace(str(tmp_path), "/data")

    check_page(request, PAGE, 5, in_default)
