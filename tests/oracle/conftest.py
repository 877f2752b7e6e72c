"""All programs run on the one engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.oracle.harness import Rig

if TYPE_CHECKING:
    from warehouse.engine import Engine


@pytest.fixture(scope="session")
def rig(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Rig:
    """Return the engine with a folder for the programs' data."""
    return Rig(engine, tmp_path_factory.mktemp("oracle"))
