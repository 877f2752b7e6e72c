"""One engine for all programs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.oracle.harness import Rig


@pytest.fixture(scope="session")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """Return an engine on a folder of its own."""
    from warehouse.engine import Engine

    folder = tmp_path_factory.mktemp("oracle")
    with Engine.open(folder / "warehouse") as engine:
        yield Rig(engine, folder / "data")
