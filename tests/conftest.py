"""What all tests share: golden files, rewritten by ``--update-goldens``, and one engine for the whole run."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from warehouse.engine import Engine

# No test leaves an engine behind in the background, but those that are about it.
os.environ["WAREHOUSE_ENGINE"] = "embedded"

# Most of what a process that a test starts does is done a few times, and much of what the tests' own engines do: to
# compile it once, and quickly, costs less than to compile it again when it is hot. (An engine takes no
# JDK_JAVA_OPTIONS from its environment.)
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")


# Spark hands rows to Python at a port that the first to come uses up. Where brokers and servers come and go beside it
# that may be somebody who looks for one of them. (No default: Java keeps the name of each such socket until it ends.)
UNDISTURBED = {"spark.python.unix.domain.socket.enabled": "true"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-goldens", action="store_true", help="write what came out as what is expected")


LONGEST = ("streaming", "recovery", "storage", "adaptive", "ml", "sql")
"""The folders of the files that take longest."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the longest files begin first, lest one worker be left with one; leave out what is for ``make soak``."""
    folders = {item: item.path.relative_to(Path(__file__).parent).parts[0] for item in items}
    items.sort(key=lambda item: LONGEST.index(folders[item]) if folders[item] in LONGEST else len(LONGEST))
    if not os.environ.get("SOAK"):
        for item in items:
            if item.get_closest_marker("soak"):
                item.add_marker(pytest.mark.skip(reason="SOAK=1 runs it: make soak"))


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


SCHEMAS = count(1)


@pytest.fixture
def schema(engine: Engine) -> Iterator[str]:
    """Return the name of an empty schema, the current one; what is made in it stays: dropping it takes seconds."""
    name = f"schema_{next(SCHEMAS)}"
    list(engine.run(f"CREATE SCHEMA {name}; USE {name}"))
    yield name
    list(engine.run("USE default"))


@pytest.fixture(scope="session")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Return the one engine of this test run: starting a JVM for each test would take longer than the tests."""
    from tests import connector
    from warehouse.engine import Engine

    settings = UNDISTURBED | connector.settings()
    with Engine.open(tmp_path_factory.mktemp("engine") / "warehouse", settings) as started:
        ENGINES.append(started)
        yield started
        ENGINES.remove(started)


ENGINES: list[Engine] = []
"""The one engine, once it is there."""


@pytest.fixture(autouse=True)
def left_at_rest() -> Iterator[None]:
    """Let nothing run on, and no fault wait, that a test which failed has left behind."""
    yield
    if faults := sys.modules.get("warehouse.streaming.faults"):
        faults.arm(None)
    for started in ENGINES:
        if started.tables.running._runs:
            for entry in started.catalog.streaming_tables.all():
                started.tables.running.stop(entry, quiet=True)


@pytest.fixture(scope="session")
def shipped(engine: Engine) -> None:
    """Wait until tasks have the classes that are for them: the first engine of all compiles these beside its work."""
    until = time.monotonic() + 300
    while True:
        engine._shared.begin(engine.spark)
        if engine.layouts._gathers and not engine._shared._to_ship:
            return
        assert time.monotonic() < until
        time.sleep(0.2)
