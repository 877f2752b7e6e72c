"""The warehouse's own switches are settings that Spark knows, and holds to their type."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import warehouse
from tests.statements import rows_of
from warehouse.engine import Engine
from warehouse.errors import WarehouseError
from warehouse.execution.switches import SWITCHES


def test_every_switch_that_is_looked_at_is_known() -> None:
    sources = Path(warehouse.__file__).parent.glob("*/java/**/*.java")
    named = {name for file in sources for name in re.findall(r'"(warehouse\.[\w.]+)"', file.read_text())}
    assert named - set(SWITCHES) == {
        "warehouse.listing.hive", "warehouse.rows.arrow",  # a session's own
        "warehouse.written", "warehouse.likely",  # marks
    }  # fmt: skip
    assert set(SWITCHES) <= named


def test_they_are_on_or_off(engine: Engine) -> None:
    assert rows_of(engine, "SET warehouse.pruning = false")[0]["value"] == "false"
    with pytest.raises(WarehouseError) as refused:
        rows_of(engine, "SET warehouse.pruning = banana")
    (told,) = refused.value.diagnostics
    assert told.condition == "INVALID_CONF_VALUE.TYPE_MISMATCH" and told.span is not None
    rows_of(engine, "RESET warehouse.pruning")
    (said,) = [row for row in rows_of(engine, "SET -v") if row["key"] == "warehouse.pruning"]
    assert said["value"] == "true" and said["meaning"] == SWITCHES["warehouse.pruning"]
