"""An endpoint on the shared engine, and its clients: the JDBC driver in the engine's own JVM, and PyHive."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from warehouse.engine import Engine
from warehouse.server.endpoint import Endpoint
from warehouse.server.options import Options


@dataclass
class Failure:
    """What a client is told of a mistake."""

    text: str
    state: str | None


class Jdbc:
    """A JDBC connection, and what comes over it as Python values."""

    def __init__(self, view: Any, url: str, user: str = "ada", password: str = "", **properties: str):
        view.java.lang.Class.forName("org.apache.hive.jdbc.HiveDriver")
        given = view.java.util.Properties()
        for name, value in {"user": user, "password": password, **properties}.items():
            given.setProperty(name, value)
        self.connection = view.java.sql.DriverManager.getConnection(url, given)
        self.statement = self.connection.createStatement()

    def run(self, text: str) -> list[list[Any]]:
        """Run a statement and return its rows."""
        self.statement.execute(text)
        found = self.statement.getResultSet()
        return [] if found is None else self.rows(found)

    def columns(self) -> list[tuple[str, str]]:
        """Return names and types of the last result."""
        told = self.statement.getResultSet().getMetaData()
        count = told.getColumnCount()
        return [(told.getColumnName(i), told.getColumnTypeName(i)) for i in range(1, count + 1)]

    def rows(self, found: Any) -> list[list[Any]]:
        """Return what a result set holds, as text."""
        count = found.getMetaData().getColumnCount()
        out = []
        while found.next():
            out.append([found.getString(i) for i in range(1, count + 1)])
        return out

    def fails(self, text: str) -> Failure:
        """Run a statement that fails."""
        from py4j.protocol import Py4JJavaError

        with pytest.raises(Py4JJavaError) as caught:
            self.run(text)
        error = caught.value.java_exception
        return Failure(error.getMessage(), error.getSQLState())

    def close(self) -> None:
        self.connection.close()


@pytest.fixture(scope="session")
def endpoint(engine: Engine) -> Iterator[Endpoint]:
    with Endpoint(engine, Options(port=0, http_port=0, idle_session=3600)) as started:
        yield started


@pytest.fixture(scope="session")
def view(engine: Engine) -> Any:
    return engine.spark._jvm


@pytest.fixture
def jdbc(endpoint: Endpoint, view: Any) -> Iterator[Jdbc]:
    with closing(Jdbc(view, f"jdbc:hive2://127.0.0.1:{endpoint.port}/default")) as client:
        yield client


@pytest.fixture
def pyhive(endpoint: Endpoint) -> Iterator[Callable[..., Any]]:
    """Return what opens a PyHive connection, closed at the end."""
    from pyhive import hive

    opened: list[Any] = []

    def connect(user: str = "ada", **given: Any) -> Any:
        opened.append(hive.connect("127.0.0.1", given.pop("port", endpoint.port), username=user, **given))
        return opened[-1]

    yield connect
    for connection in opened:
        with suppress(Exception):  # closed, or cut, by the test
            connection.close()


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Path]:
    """Stand in an empty folder: relative paths of streams start there."""
    before = Path.cwd()
    os.chdir(tmp_path)
    yield tmp_path
    os.chdir(before)
