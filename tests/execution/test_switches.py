"""The warehouse's own switches are settings that Spark knows, and holds to their type."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

import warehouse
from tests.statements import refused, rows_of
from warehouse.engine import Engine
from warehouse.execution.switches import OF_CLIENTS, SWITCHES


def test_every_switch_that_is_looked_at_is_known() -> None:
    sources = Path(warehouse.__file__).parent.glob("*/java/**/*.java")
    named = {name for file in sources for name in re.findall(r'"(warehouse\.[\w.]+)"', file.read_text())}
    marks = {"warehouse.written", "warehouse.likely"}
    assert named == OF_CLIENTS.union(SWITCHES, marks)


def test_what_clients_set_is_known(engine: Engine) -> None:
    for name in sorted(OF_CLIENTS):
        assert rows_of(engine, f"SET {name} = true")[0]["value"] == "true"
        rows_of(engine, f"RESET {name}")


def test_they_are_on_or_off(engine: Engine) -> None:
    assert rows_of(engine, "SET warehouse.pruning = false")[0]["value"] == "false"
    (told,) = refused(partial(rows_of, engine), "SET warehouse.pruning = banana").diagnostics
    assert told.condition == "INVALID_CONF_VALUE.TYPE_MISMATCH" and told.span is not None
    rows_of(engine, "RESET warehouse.pruning")
    (said,) = [row for row in rows_of(engine, "SET -v") if row["key"] == "warehouse.pruning"]
    assert said["value"] == "true" and said["meaning"] == SWITCHES["warehouse.pruning"]


@pytest.mark.parametrize(
    ("statement", "words", "advice"),
    [
        ("SET warehouse.prunning = false", "warehouse.prunning", "did you mean warehouse.pruning?"),
        ("set -- ours\n  Warehouse.Join.Fused=false", "Warehouse.Join.Fused", "did you mean warehouse.join.fused?"),
        ("RESET warehouse.elephants", "warehouse.elephants", "SET -v lists"),
        ("SET warehouse.elephants", "warehouse.elephants", "SET -v lists"),
    ],
)
def test_there_are_no_others(engine: Engine, statement: str, words: str, advice: str) -> None:
    """Spark keeps whatever it is told, under any name."""
    error = refused(partial(rows_of, engine), statement)
    (told,) = error.diagnostics
    assert told.condition == "WAREHOUSE_SWITCH_UNKNOWN" and told.span is not None
    assert told.span.of(statement) == words and advice in str(error)
