"""What all tests share: golden files, rewritten by ``--update-goldens``, and one engine for the whole run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from warehouse.engine import Engine

SHORT_LIVED = "-XX:TieredStopAtLevel=1"
"""For a JVM that lives for minutes the optimizing compiler costs more time than it saves."""


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


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Return the one engine of this test run: starting a JVM for each test would take longer than the tests."""
    from warehouse.engine import Engine

    before = os.environ.get("JAVA_TOOL_OPTIONS")
    os.environ["JAVA_TOOL_OPTIONS"] = SHORT_LIVED
    try:
        started = Engine.open(tmp_path_factory.mktemp("engine") / "warehouse")
    finally:
        if before is None:
            del os.environ["JAVA_TOOL_OPTIONS"]
        else:
            os.environ["JAVA_TOOL_OPTIONS"] = before
    with started:
        yield started
