"""Streaming tables that run on: a backlog is read in bounded steps, and nothing of it is lost or counted twice."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.statements import Rows
from warehouse.streaming.feeding import pace

KEYS, FILES, EACH = 3, 24, 50


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.fixture
def backlog(rows: Rows, tmp_path: Path) -> int:
    """Make a stream ``s`` of files that wait; return the bytes of one."""
    folder = tmp_path / "in"
    folder.mkdir()
    rows(
        f"CREATE STREAM s (k INT, v INT, at TIMESTAMP) USING json OPTIONS (path '{folder}')"
        " WATERMARK at DELAY OF INTERVAL 0 SECONDS"
    )
    rows(
        "CREATE STREAMING TABLE t AS SELECT k, count(*) AS n, sum(v) AS total FROM STREAM s GROUP BY k"
        " WINDOW FIXED (at, SIZE INTERVAL 1 HOUR)"
    )
    for number in range(FILES):
        lines = (
            json.dumps({"k": i % KEYS, "v": 10 + number, "at": f"2024-05-01T12:{number:02}:{i:02}Z"})
            for i in range(EACH)
        )
        (folder / f"{number:02}.json").write_text("\n".join(lines))
    return (folder / "00.json").stat().st_size


def test_a_backlog_is_read_without_rest_in_steps_that_grow_while_they_are_quick(
    backlog: int, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "BYTES", backlog)
    rows("START STREAMING TABLE t EVERY INTERVAL 1 HOUR")
    wait_until(lambda: rows("SELECT sum(rows_in) AS n FROM stream_progress('t')")[0]["n"] == FILES * EACH)
    rows("STOP STREAMING TABLE t; DRAIN STREAMING TABLE t")
    steps = [row["rows_in"] for row in rows("SELECT rows_in FROM stream_progress('t') ORDER BY step") if row["rows_in"]]
    assert [taken // EACH for taken in steps] == [8, 8, 8]
    assert rows("SELECT sum(n) AS n, sum(total) AS total FROM t") == [
        {"n": FILES * EACH, "total": EACH * sum(range(10, 10 + FILES))}
    ]


def test_a_step_that_takes_too_long_is_followed_by_smaller_ones(
    backlog: int, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "BYTES", backlog)
    monkeypatch.setattr(pace, "LONGEST", 1e-6)
    rows("START STREAMING TABLE t")
    wait_until(lambda: rows("SELECT sum(rows_in) AS n FROM stream_progress('t')")[0]["n"] == FILES * EACH)
    rows("STOP STREAMING TABLE t")
    steps = [row["rows_in"] for row in rows("SELECT rows_in FROM stream_progress('t') ORDER BY step") if row["rows_in"]]
    # the step after a new bound had been planned under the old one
    assert [taken // EACH for taken in steps] == [8, 8, 4, 2, 1, 1]


def test_create_and_refresh_read_all_in_one_step(backlog: int, rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "BYTES", backlog)
    rows("REFRESH STREAMING TABLE t")
    assert rows("SELECT sum(rows_in) AS n, count(*) AS steps FROM stream_progress('t') WHERE rows_in > 0") == [
        {"n": FILES * EACH, "steps": 1}
    ]


def test_a_users_own_bound_is_the_only_one(
    backlog: int, rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pace, "BYTES", backlog)
    rows(
        f"CREATE STREAM own (k INT, v INT, at TIMESTAMP) USING json OPTIONS (path '{tmp_path / 'in'}',"
        " maxFilesPerTrigger '12')"
    )
    rows("CREATE STREAMING TABLE o AS SELECT k, v FROM STREAM own WHERE k < 0")
    for number in range(FILES):
        (tmp_path / "in" / f"more{number}.json").write_text((tmp_path / "in" / "00.json").read_text())
    rows("START STREAMING TABLE o")
    wait_until(lambda: rows("SELECT sum(rows_in) AS n FROM stream_progress('o')")[0]["n"] == 2 * FILES * EACH)
    rows("STOP STREAMING TABLE o")
    taken = rows("SELECT DISTINCT rows_in FROM stream_progress('o') WHERE rows_in > 0")
    assert taken == [{"rows_in": 12 * EACH}]
