"""Watermarks that move without rows: of a source that has none for long, and of a table for those who read it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.soak import soaked
from tests.statements import Rows, rows_in
from warehouse.streaming import faults
from warehouse.streaming.feeding import feed

START = datetime(2024, 1, 1, tzinfo=UTC)
HOUR = "WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR) ALLOWED LATENESS INTERVAL 0 SECONDS"
HOURS = f"SELECT count(*) AS n FROM STREAM {{}} {HOUR}"


class Killed(Exception):
    """What a test raises where the process would have died."""


@pytest.fixture
def rows(engine: Any, schema: str) -> Iterator[Rows]:
    yield from rows_in(engine, f"idle_{schema}")


class Clock:
    """The steps' clock, in minutes after the start of the day."""

    def __init__(self) -> None:
        self.minutes = 0.0

    def now(self) -> int:
        return int((START + timedelta(minutes=self.minutes)).timestamp()) * 1_000_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(feed, "now", found.now)
    return found


class Source:
    """A stream of timestamps that is idle after five minutes, and its files."""

    def __init__(self, rows: Rows, folder: Path, name: str):
        self.folder, self.files = folder / name, 0
        self.folder.mkdir()
        rows(
            f"CREATE STREAM {name} (ts TIMESTAMP) USING json OPTIONS (path '{self.folder}')"
            " WATERMARK ts DELAY OF INTERVAL 0 SECONDS IDLE TIMEOUT INTERVAL 5 MINUTES"
        )

    def arrive(self, *minutes: float) -> None:
        self.files += 1
        lines = (json.dumps({"ts": (START + timedelta(minutes=m)).isoformat()}) + "\n" for m in minutes)
        (self.folder / f"{self.files}.json").write_text("".join(lines))


def test_one_source_of_two_is_idle(rows: Rows, clock: Clock, tmp_path: Path) -> None:
    """A source that goes on does not keep up the watermark of one that has stopped, nor is it moved with it."""
    live, idle = Source(rows, tmp_path, "live"), Source(rows, tmp_path, "idle")
    clock.minutes = 60
    live.arrive(51)
    idle.arrive(52)
    both = "(SELECT ts FROM STREAM live UNION ALL SELECT ts FROM STREAM idle)"
    rows(f"CREATE STREAMING TABLE tens AS SELECT count(*) AS n FROM {both} WINDOW FIXED (ts, SIZE INTERVAL 10 MINUTES)")
    clock.minutes = 64
    live.arrive(59.5)
    rows("REFRESH STREAMING TABLE tens")
    assert rows("SELECT n FROM tens") == []
    clock.minutes = 65
    live.arrive(59.75)
    rows("REFRESH STREAMING TABLE tens")
    assert rows("SELECT n FROM tens") == []
    live.arrive(61)
    rows("REFRESH STREAMING TABLE tens")
    assert rows("SELECT n FROM tens") == [{"n": 4}]


@pytest.mark.parametrize(
    ("between", "records"),
    [
        soaked("SELECT ts FROM STREAM marked", 2),
        (
            "SELECT window_start AS ts, count(*) AS n FROM STREAM marked"
            " WINDOW FIXED (ts, SIZE INTERVAL 1 MINUTE) RETRACTING",
            3,
        ),
    ],
    ids=["rows", "windows"],
)
def test_readers_are_told_of_it(rows: Rows, clock: Clock, tmp_path: Path, between: str, records: int) -> None:
    """The watermark of a table reaches who reads it though nothing of the table itself is due; one record says it."""
    source = Source(rows, tmp_path, "marked")
    source.arrive(51)
    clock.minutes = 53
    rows(f"CREATE STREAMING TABLE between AS {between}")
    rows(f"CREATE STREAMING TABLE hours AS {HOURS.format('between')}")
    for clock.minutes, shown in ((58, []), (59, []), (59.5, []), (63, [{"n": 1}])):
        rows("REFRESH STREAMING TABLE between; REFRESH STREAMING TABLE hours")
        assert rows("SELECT n FROM hours") == shown
    assert rows("SELECT count(*) AS n FROM stream_progress('between')") == [{"n": records}]


def test_rows_that_were_planned_before_are_not_judged_by_what_came_after(
    rows: Rows, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Source(rows, tmp_path, "marked")
    source.arrive(1)
    rows("CREATE STREAMING TABLE upstream AS SELECT ts FROM STREAM marked")
    rows(f"CREATE STREAMING TABLE hours AS {HOURS.format('upstream')}")
    source.arrive(30)
    rows("REFRESH STREAMING TABLE upstream")

    def passed(point: str) -> None:
        if point == "offered":
            raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(faults, "passed", passed)
        rows("REFRESH STREAMING TABLE hours")
    source.arrive(40, 120)
    rows("REFRESH STREAMING TABLE upstream; REFRESH STREAMING TABLE hours")
    assert rows("SELECT n FROM hours") == [{"n": 3}]
    assert rows("SELECT count(*) AS n FROM late_rows('hours')") == [{"n": 0}]
