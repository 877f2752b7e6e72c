from __future__ import annotations

from collections.abc import Callable

import pytest

from warehouse.catalog.entries import Column, StreamEntry


@pytest.fixture
def entry() -> Callable[..., StreamEntry]:
    """Return ``entry(option=value, …)``: a replay stream with these options."""

    def make(**options: str) -> StreamEntry:
        columns = (Column("player", "string"), Column("arrived", "timestamp"))
        pairs = tuple(options.items())
        return StreamEntry(
            "default", "plays", columns, "replay", pairs, None, None, None, False, None, (), "CREATE", "2024-01-01"
        )  # fmt: skip

    return make
