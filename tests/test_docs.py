"""The page that teaches windows shows what the figures' scripts promise, and what the oracle runs them for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "windows.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"<!-- (figure_\w+) -->\n```text\n(.*?)\n```", PAGE, re.DOTALL)


@pytest.mark.parametrize(("name", "shown"), SHOWN, ids=[name for name, _ in SHOWN])
def test_panes_on_the_page_are_those_of_the_script(name: str, shown: str) -> None:
    script = (ROOT / "tests" / "sql" / "figures" / f"{name}.sql").read_text(encoding="utf-8")
    promised = re.search(r"-- expect panes\n((?:--   .*\n)+)", script)
    assert promised is not None
    assert [line.removeprefix("--   ").rstrip() for line in promised[1].splitlines()] == shown.splitlines()


def test_the_page_shows_figures() -> None:
    assert len(SHOWN) >= 6
