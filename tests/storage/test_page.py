"""The page on how tables are kept is real: its statements run, and what it shows of them is what comes out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.pages import PAIRS, filled, shown
from warehouse.engine import Engine, WarehouseError

PAGE = Path(__file__).parents[2] / "docs" / "storage.md"


def short(plan: str) -> str:
    """Return the first line of a scan without what differs each time."""
    line = next(line for line in plan.splitlines() if "FileScan" in line or "Scan In-memory" in line)
    line = re.sub(r"Location: .*?, (?=PartitionFilters)", "… ", line.strip())
    return re.sub(r"#\d+", "", re.sub(r"\bschema_\d+\.", "", line)) + "\n"


@pytest.mark.soak
def test_the_page_is_real(engine: Engine, schema: str, request: pytest.FixtureRequest) -> None:
    whole = PAGE.read_text(encoding="utf-8")
    assert sum(found[2] is not None for found in PAIRS.finditer(whole)) == 8

    def answered(sql: str) -> str:
        try:
            return shown(engine, sql, short)
        except WarehouseError as error:
            return error.render() + "\n"

    page = filled(PAGE, answered)
    if request.config.getoption("--update-goldens"):
        PAGE.write_text(page, encoding="utf-8")
    else:
        assert page == whole
