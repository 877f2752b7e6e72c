"""What stood after a past step, and the stream beside its own history."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.statements import Rows
from warehouse.engine import Engine
from warehouse.errors import WarehouseError


def write(folder: Path, *lines: tuple[str, int, str]) -> None:
    folder.mkdir(exist_ok=True)
    text = "".join(json.dumps({"p": p, "d": d, "ts": f"2024-05-{at}:00Z"}) + "\n" for p, d, at in lines)
    (folder / f"{len(list(folder.iterdir()))}.json").write_text(text)


def stream(rows: Rows, folder: Path) -> None:
    rows(
        f"CREATE STREAM s (p STRING, d INT, ts TIMESTAMP) USING json OPTIONS (path '{folder}')"
        " WATERMARK ts DELAY OF INTERVAL 1 MINUTE"
    )


def test_as_of_step(rows: Rows, engine: Engine, schema: str, tmp_path: Path) -> None:
    """Of t, its panes, late rows and state; beside the present in one query; where it is not kept, that is said."""
    write(tmp_path / "in", ("a", 1, "01T12:00"), ("a", 2, "01T12:30"), ("b", 4, "01T13:30"))
    stream(rows, tmp_path / "in")
    rows(
        "CREATE STREAMING TABLE t AS SELECT p, sum(d) AS d, hour(window_start) AS h FROM STREAM s GROUP BY p"
        " WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR) TRIGGER EVERY ROW RETRACTING ALLOWED LATENESS INTERVAL 0 SECONDS"
    )
    asked = {
        "t": "SELECT * FROM {} ORDER BY ALL",
        "panes('t')": "SELECT * FROM {}",
        "stream_state('t')": "SELECT p, window_start, partials, panes FROM {} ORDER BY ALL",
        "late_rows('t')": "SELECT p, d FROM {}",
    }
    stood = []
    for lines in ((("a", 8, "01T13:10"), ("b", 16, "01T13:40")), (("c", 32, "02T12:00"), ("a", 64, "01T12:10")), ()):
        stood.append({what: rows(text.format(what)) for what, text in asked.items()})
        if lines:
            write(tmp_path / "in", *lines)
            rows("REFRESH STREAMING TABLE t")
    assert [len(then["panes('t')"]) for then in stood] == sorted({len(then["panes('t')"]) for then in stood})
    for step, then in enumerate(stood, 1):
        for what, text in asked.items():
            assert rows(text.format(f"{what} AS OF STEP {step}")) == then[what], (what, step)
    changed = rows(
        "SELECT now.p, now.d - was.d AS more FROM t AS now JOIN t AS OF STEP 1 AS was USING (p, h) ORDER BY ALL"
    )
    assert changed == [{"p": "a", "more": 0}, {"p": "b", "more": 16}]
    assert rows("SELECT max(t.d) AS d FROM t AS OF STEP 1") == [{"d": 4}]
    assert len(rows("SELECT * FROM stream_progress('t') AS OF STEP 2")) == 2
    entry = engine.catalog.streaming_tables.get(schema, "t")
    assert entry
    shutil.rmtree(engine.folder / "streaming" / entry.id / "state" / "delta-000000001")
    for text, condition in (
        ("SELECT * FROM t AS OF STEP 9", "WAREHOUSE_STEP_UNKNOWN"),
        ("SELECT * FROM stream_state('t') AS OF STEP 1", "WAREHOUSE_STEP_NOT_KEPT"),
        ("SELECT * FROM bad_rows('s') AS OF STEP 1", "WAREHOUSE_NO_STEPS"),
        ("SELECT * FROM s AS OF STEP 1", "WAREHOUSE_STREAMING_TABLE_NOT_FOUND"),
        ("SELECT * FROM t AS OF STEP -1", "WAREHOUSE_STEP_NUMBER"),
        ("SELECT * FROM STREAM t AS OF STEP 1", "WAREHOUSE_STEP_OF_STREAM"),
    ):
        with pytest.raises(WarehouseError, match=condition):
            rows(text)


def test_a_stream_beside_its_history(rows: Rows, tmp_path: Path) -> None:
    """Each row beside the same hour of the ten days before it: ad hoc, and as it arrives."""
    write(tmp_path / "in", *(("a", day, f"{day:02}T12:30") for day in range(1, 13)))
    stream(rows, tmp_path / "in")
    rows(
        "CREATE STREAMING TABLE hourly AS SELECT p, sum(d) AS d, window_start AS hour FROM STREAM s GROUP BY p"
        " WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR)"
    )
    beside = (
        "FROM STREAM s JOIN hourly AS h ON h.p = s.p AND hour(h.hour) = hour(s.ts)"
        " AND h.hour < date_trunc('DAY', s.ts) AND h.hour >= date_trunc('DAY', s.ts) - INTERVAL 10 DAYS"
    )
    usual = f"SELECT s.d, avg(h.d) AS usual {beside} WHERE s.ts >= '2024-05-12' GROUP BY s.d"
    assert rows(usual) == [{"d": 12, "usual": 6.5}]
    rows(f"CREATE STREAMING TABLE compared AS SELECT s.ts, s.d, h.hour, h.d AS was {beside}")
    write(tmp_path / "in", ("a", 13, "13T12:45"))
    rows("REFRESH STREAMING TABLE hourly; REFRESH STREAMING TABLE compared")
    found = rows("SELECT d, avg(was) AS usual FROM compared WHERE ts >= '2024-05-13' GROUP BY d")
    assert found == [{"d": 13, "usual": 7.5}]
