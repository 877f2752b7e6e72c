"""What all tests share: golden files, rewritten by ``--update-goldens``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="write what came out as what is expected")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return ``check(name, text)``: ``text`` equals the file ``name`` in the folder ``goldens`` beside the test."""
    folder = Path(request.path).parent / "goldens"

    def check(name: str, text: str) -> None:
        file = folder / name
        if request.config.getoption("--update-goldens"):
            folder.mkdir(exist_ok=True)
            file.write_bytes(text.encode())
        assert text == file.read_bytes().decode()

    return check
