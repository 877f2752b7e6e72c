"""Statements run on an engine, their rows as dicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from warehouse.errors import WarehouseError

Rows = Callable[[str], list[dict[str, Any]]]


def rows_of(engine: Any, text: str) -> list[dict[str, Any]]:
    """Run statements, each consumed; return the rows of the last one."""
    found: list[dict[str, Any]] = []
    for result in engine.run(text):
        found = [row for batch in result.batches for row in batch.to_pylist()]
    return found


def refused(rows: Rows, text: str) -> WarehouseError:
    """Run statements of which one is refused; return the error."""
    with pytest.raises(WarehouseError) as caught:
        rows(text)
    return caught.value


def rows_in(engine: Any, schema: str) -> Iterator[Rows]:
    """Yield ``rows(statements)`` in a new schema, as a fixture does; the default one is current again afterwards."""
    rows = partial(rows_of, engine)
    rows(f"CREATE SCHEMA {schema}; USE {schema}")
    yield rows
    rows("USE default")


def rows_shuffled(engine: Any, schema: str) -> Iterator[Rows]:
    """Yield as ``rows_in`` does; meanwhile no side of a join is small enough to be broadcast."""
    setting = "spark.sql.autoBroadcastJoinThreshold"
    before = engine.spark.conf.get(setting)
    engine.spark.conf.set(setting, "-1")
    yield from rows_in(engine, schema)
    engine.spark.conf.set(setting, before)
