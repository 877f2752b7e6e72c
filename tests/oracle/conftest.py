"""One engine for all programs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.oracle.harness import Rig


@pytest.fixture(scope="session")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """Return an engine on a folder of its own."""
    module = pytest.importorskip("warehouse.engine")
    folder = tmp_path_factory.mktemp("oracle")
    engine = module.Engine.open(folder / "warehouse")
    yield Rig(engine, folder / "data")
    close = getattr(engine, "close", None)
    if close is not None:
        close()
