"""The page on how tables are kept is real: its statements run, and what it shows of them is what comes out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.pages import check_page, shown
from warehouse.engine import Engine, WarehouseError

PAGE = Path(__file__).parents[2] / "docs" / "storage.md"


def short(plan: str) -> str:
    """Return the first line of a scan without what differs each time."""
    line = next(line for line in plan.splitlines() if "FileScan" in line or "Scan In-memory" in line)
    line = re.sub(r"Location: .*?, (?=PartitionFilters)", "… ", line.strip())
    return re.sub(r"#\d+", "", re.sub(r"\bschema_\d+\.", "", line)) + "\n"


@pytest.mark.soak
def test_the_page_is_real(engine: Engine, schema: str, request: pytest.FixtureRequest) -> None:
    def answered(sql: str) -> str:
        try:
            return shown(engine, sql, short)
        except WarehouseError as error:
            return error.render() + "\n"

    check_page(request, PAGE, 8, answered)
