"""The threads in which Spark's queries call Python end with the queries."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.statements import Rows, rows_in


@pytest.fixture(scope="module")
def rows(engine: Any) -> Iterator[Rows]:
    yield from rows_in(engine, "callbacks")


@pytest.mark.soak
def test_steps_leave_no_thread_behind(rows: Rows, tmp_path: Path) -> None:
    rows(f"CREATE STREAM letters (k STRING) USING json OPTIONS (path '{tmp_path}')")
    rows("CREATE STREAMING TABLE kept AS SELECT k FROM STREAM letters")
    known = set[threading.Thread]()
    for letter in "abcd":
        (tmp_path / f"{letter}.json").write_text(json.dumps({"k": letter}) + "\n")
        rows("REFRESH STREAMING TABLE kept")
        known = known or set(threading.enumerate())  # after the first one, which starts what listens for callbacks
    assert rows("SELECT k FROM kept ORDER BY k") == [{"k": letter} for letter in "abcd"]
    left = set(threading.enumerate()) - known
    deadline = time.monotonic() + 120
    # One may stay: the JVM's finalizer, when it collects its first proxy of Python's, calls by a connection of its own.
    while sum(thread.is_alive() for thread in left) > 1:
        assert time.monotonic() < deadline
        time.sleep(0.05)
