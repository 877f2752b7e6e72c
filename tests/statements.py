"""Statements run on an engine, their rows as dicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Rows = Callable[[str], list[dict[str, Any]]]


def rows_of(engine: Any, text: str) -> list[dict[str, Any]]:
    """Run statements, each consumed; return the rows of the last one."""
    found: list[dict[str, Any]] = []
    for result in engine.run(text):
        found = [row for batch in result.batches for row in batch.to_pylist()]
    return found
