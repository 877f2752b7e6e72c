"""The tour in the README is real: its commands run, and what it shows is what comes out."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.pages import check_page, shown

if TYPE_CHECKING:
    from warehouse.engine import Engine

README = Path(__file__).parent.parent / "README.md"


def test_the_tour_is_real(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    list(engine.run("CREATE SCHEMA IF NOT EXISTS tour; USE tour"))

    def shell(commands: str) -> None:
        subprocess.run(["bash", "-euc", commands], check=True, cwd=tmp_path)

    try:
        check_page(request, README, 4, lambda sql: shown(engine, sql), section="## Five minutes", shell=shell)
    finally:
        list(engine.run("USE default"))
