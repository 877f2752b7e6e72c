"""Points of the Dataflow Model that no figure shows, on the engine (``tests/checklist.md`` has them all)."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from tests.statements import Rows

AT = "2024-05-01T12:00:00Z"
PAPER = Path(__file__).parents[1] / "data" / "paper.json"


def test_windows_of_a_batch(rows: Rows) -> None:
    """No clause is the global window; a period of the size is FIXED; n windows are n rows. [points 1, 3, 12, 39]"""
    rows(
        "CREATE STREAM s (seq INT, key STRING, value INT, event_time TIMESTAMP, processing_time TIMESTAMP)"
        f" USING replay OPTIONS (path '{PAPER}', format 'json', arrival 'processing_time', watermark 'none');"
        " CREATE TABLE t AS SELECT * FROM STREAM s"
    )

    def windowed(source: str, window: str) -> list[dict[str, Any]]:
        return rows(f"SELECT sum(value) AS value, count(*) AS n, window_start FROM {source} WINDOW {window} ORDER BY 3")

    for source in ("STREAM s", "t"):
        assert rows(f"SELECT sum(value) AS value FROM {source}") == [{"value": 51}]
        fixed = windowed(source, "FIXED (event_time, SIZE INTERVAL 2 MINUTES)")
        assert [row["value"] for row in fixed] == [14, 22, 3, 12]
    assert [row["value"] for row in windowed("t", "GLOBAL")] == [51]
    assert fixed == windowed("t", "SLIDING (event_time, SIZE INTERVAL 2 MINUTES, EVERY INTERVAL 2 MINUTES)")
    copies = windowed("t", "SLIDING (event_time, SIZE INTERVAL 3 MINUTES, EVERY INTERVAL 1 MINUTE)")
    assert sum(row["n"] for row in copies) == 30


def test_time_of_arrival_is_never_late(rows: Rows) -> None:
    """Rows stamped on arrival have a perfect watermark: processing-time windows, nothing late. [point 36]"""
    rows(
        "CREATE STREAM s (seq INT, key STRING, value INT, event_time TIMESTAMP, processing_time TIMESTAMP)"
        f" USING replay OPTIONS (path '{PAPER}', format 'json', arrival 'processing_time', step '2 minutes')"
        " WATERMARK processing_time DELAY OF INTERVAL 0 SECONDS;"
        " CREATE STREAMING TABLE t AS SELECT sum(value) AS value, window_start FROM STREAM s"
        " WINDOW FIXED (processing_time, SIZE INTERVAL 1 MINUTE) DISCARDING ALLOWED LATENESS INTERVAL 0 SECONDS;"
        " DRAIN STREAMING TABLE t"
    )
    assert [row["value"] for row in rows("SELECT * FROM t ORDER BY window_start")] == [12, 10, 11, 18]
    assert rows("SELECT * FROM late_rows('t')") == []


def test_the_watermark_propagates_and_never_goes_back(rows: Rows, tmp_path: Path) -> None:
    """A reader waits for its table's watermark; a timestamp that is set back makes a row late. [points 33, 35]"""

    def arrive(number: int, *minutes: tuple[str, int]) -> None:
        lines = (json.dumps({"p": p, "ts": f"2024-05-01T12:{minute:02}:00Z"}) + "\n" for p, minute in minutes)
        (tmp_path / f"{number}.json").write_text("".join(lines))

    arrive(0, ("a", 0), ("a", 12), ("a", 59))
    moved = "SELECT p, CASE WHEN p = 'back' THEN ts - INTERVAL 1 HOUR ELSE ts END AS at FROM STREAM s"
    rows(
        f"CREATE STREAM s (p STRING, ts TIMESTAMP) USING json OPTIONS (path '{tmp_path}')"
        " WATERMARK ts DELAY OF INTERVAL 20 MINUTES;"
        f" CREATE STREAMING TABLE inner_one AS SELECT count(*) AS n, window_start AS at FROM ({moved})"
        " WINDOW FIXED (at, SIZE INTERVAL 10 MINUTES) TRIGGER EVERY 1 ROW RETRACTING"
        " ALLOWED LATENESS INTERVAL 10 MINUTES;"
        " CREATE STREAMING TABLE outer_one AS SELECT sum(n) AS n, minute(window_start) AS since"
        " FROM STREAM inner_one WINDOW FIXED (at, SIZE INTERVAL 20 MINUTES)"
    )
    progress = (
        "SELECT minute(watermark) AS watermark, skew_seconds FROM stream_progress('{}') ORDER BY step DESC LIMIT 1"
    )
    assert rows("SELECT * FROM outer_one") == [{"n": 2, "since": 0}]  # [40, 60) waits, though inner_one has emitted it
    (inner,) = rows(progress.format("inner_one"))
    assert inner["watermark"] == rows(progress.format("outer_one"))[0]["watermark"] == 39
    assert inner["skew_seconds"] > 0

    arrive(1, ("a", 41), ("back", 58), ("a", 35))
    rows("REFRESH STREAMING TABLE inner_one")
    assert rows(progress.format("inner_one"))[0]["watermark"] == 39
    assert rows("SELECT p, _why FROM late_rows('inner_one')") == [{"p": "back", "_why": "LATE"}]
    assert rows("SELECT sum(n) AS n FROM inner_one") == [{"n": 5}]


def test_approximate_values_are_taken_back_as_they_were_emitted(rows: Rows, tmp_path: Path) -> None:
    """A withdrawal repeats the pane that was emitted; it is not computed again. [points 28, 32]"""
    chance = random.Random(0)

    def arrive(number: int) -> None:
        lines = ({"k": chance.choice("ab"), "v": chance.random() * 10**number, "at": AT} for _ in range(2_000))
        (tmp_path / f"{number}.json").write_text("".join(json.dumps(line) + "\n" for line in lines))

    arrive(0)
    rows(
        f"CREATE STREAM s (k STRING, v DOUBLE, at TIMESTAMP) USING json OPTIONS (path '{tmp_path}');"
        "CREATE STREAMING TABLE t AS SELECT k, approx_percentile(v, 0.5, 20) AS middle, approx_count_distinct(v) AS n,"
        " sum(v) AS s, avg(v) AS mean FROM STREAM s GROUP BY k TRIGGER EVERY ROW RETRACTING"
    )
    for number in (1, 2):
        arrive(number)
        rows("REFRESH STREAMING TABLE t")
    values = "SELECT _pane_index AS pane, k, middle, n, s, mean FROM panes('t')"
    inserted, deleted = (rows(f"{values} WHERE _change_type = '{kind}'") for kind in ("insert", "delete"))
    assert len(inserted) == 6 and len({row["middle"] for row in inserted}) == 6
    taken_back = [row for row in inserted if row["pane"] < 2]
    assert sorted(deleted, key=str) == sorted(taken_back, key=str)
