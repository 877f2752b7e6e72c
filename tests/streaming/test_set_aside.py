"""Rows on which a query's own expressions fail are set aside, wherever they lie, and can be asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.statements import rows_of
from warehouse.engine import Engine


@pytest.mark.soak
def test_a_bad_row_in_the_first_of_several_partitions(engine: Engine, schema: str) -> None:
    values = ("('a', 1)", "('z', 0)", "('b', 2)", "('y', 0), ('c', 4)")
    written = ";".join(f"INSERT INTO s VALUES {value}" for value in values)
    rows_of(engine, f"CREATE TABLE s (k STRING, v INT); {written}")
    rows_of(engine, "CREATE STREAMING TABLE t AS SELECT k, 4 DIV v AS x FROM STREAM s")
    rows_of(engine, "CREATE STREAMING TABLE n AS SELECT sum(4 DIV v) AS x FROM STREAM s TRIGGER EVERY ROW")
    assert rows_of(engine, "SELECT * FROM t ORDER BY k") == [
        {"k": k, "x": x} for k, x in zip("abc", (4, 2, 1), strict=True)
    ]
    assert rows_of(engine, "SELECT * FROM n") == [{"x": 7}]
    bad = rows_of(engine, "SELECT k, _why, _table FROM bad_rows('s') ORDER BY k, _table")
    assert [(b["k"], b["_why"], b["_table"].rpartition(".")[2]) for b in bad] == [
        (k, "DIVIDE_BY_ZERO", table) for k in "yz" for table in "nt"
    ]


@pytest.mark.soak
def test_where_a_join_sends_the_rows_to_all_tasks(engine: Engine, schema: str, tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text("".join(json.dumps({"k": k, "v": v}) + "\n" for k, v in (("a", 1), ("b", 0))))
    rows_of(engine, f"CREATE STREAM s (k STRING, v INT) USING json OPTIONS (path '{tmp_path}')")
    rows_of(engine, "CREATE TABLE names AS SELECT * FROM VALUES ('a', 1), ('b', 0) AS t(k, z)")
    rows_of(engine, "CREATE STREAMING TABLE t AS SELECT k, z FROM STREAM s JOIN names USING (k) WHERE 10 / v > 1")
    assert rows_of(engine, "SELECT * FROM t") == [{"k": "a", "z": 1}]
    assert rows_of(engine, "SELECT k, _why FROM bad_rows('s')") == [{"k": "b", "_why": "DIVIDE_BY_ZERO"}]


@pytest.mark.soak
def test_of_a_stream_that_is_read_twice(engine: Engine, schema: str) -> None:
    """Each way of reading it has rows of its own on which it fails."""
    rows_of(engine, "CREATE TABLE s (k STRING, v INT); INSERT INTO s VALUES ('a', 0), ('b', 1), ('c', 2)")
    query = "SELECT k, 10 DIV v AS x FROM STREAM s UNION ALL SELECT k, 10 DIV (v - 1) AS x FROM STREAM s"
    rows_of(engine, f"CREATE STREAMING TABLE t AS {query}")
    assert [row["x"] for row in rows_of(engine, "SELECT x FROM t ORDER BY x")] == [-10, 5, 10, 10]
    assert [row["k"] for row in rows_of(engine, "SELECT k FROM bad_rows('s') ORDER BY k")] == ["a", "b"]


def test_of_the_rows_of_another_streaming_table(engine: Engine, schema: str) -> None:
    rows_of(
        engine,
        "CREATE TABLE s (k STRING, v INT); INSERT INTO s VALUES ('a', 1), ('z', 0);"
        "CREATE STREAMING TABLE most AS SELECT k, max(v) AS v FROM STREAM s GROUP BY k TRIGGER EVERY ROW RETRACTING",
    )
    assert rows_of(engine, "SELECT * FROM bad_rows('most')") == []
    failing = "CASE WHEN v = 0 THEN raise_error('nothing') ELSE 10 DIV v END"
    rows_of(engine, f"CREATE STREAMING TABLE t AS SELECT k, {failing} AS x FROM STREAM most")
    assert rows_of(engine, "SELECT * FROM t") == [{"k": "a", "x": 10}]
    bad = [{"k": "z", "v": 0, "_why": "USER_RAISED_EXCEPTION"}]
    assert rows_of(engine, "SELECT k, v, _why FROM bad_rows('most')") == bad
    rows_of(
        engine,
        "DROP STREAMING TABLE t; DROP STREAMING TABLE most;"
        "CREATE STREAMING TABLE most AS SELECT max(v) AS most FROM STREAM s TRIGGER EVERY ROW RETRACTING",
    )
    assert rows_of(engine, "SELECT most, _why FROM bad_rows('most')") == []


@pytest.mark.soak
def test_of_records_with_many_columns(engine: Engine, schema: str, tmp_path: Path) -> None:
    good = {f"c{i}": i for i in range(60)}
    (tmp_path / "rows.json").write_text("\n".join(json.dumps(row) for row in (good, {**good, "c59": "no"})))
    columns = ", ".join(f"{name} INT" for name in good)
    rows_of(engine, f"CREATE STREAM s ({columns}) USING json OPTIONS (path '{tmp_path}')")
    assert rows_of(engine, "SELECT * FROM STREAM s") == [good]
    assert rows_of(engine, "SELECT c0 FROM STREAM s") == [{"c0": 0}]
    rows_of(engine, "CREATE STREAMING TABLE n AS SELECT c0 FROM STREAM s")
    assert rows_of(engine, "SELECT * FROM n") == [{"c0": 0}]
    assert [json.loads(b["_record"])["c59"] for b in rows_of(engine, "SELECT * FROM bad_rows('s')")] == ["no"]
    rows_of(engine, "CREATE STREAMING TABLE t AS SELECT * FROM STREAM s")
    assert rows_of(engine, "SELECT * FROM t") == [good]


@pytest.mark.soak
def test_of_rows_beyond_the_ends_of_time(engine: Engine, schema: str) -> None:
    moments = {1: (1 << 60) - 3600_000_000, 2: 1 << 60, 3: (1 << 63) - 1, 4: -(1 << 63), 5: 0, 6: 1 << 59}
    values = ", ".join(f"({v}, timestamp_micros({micros}))" for v, micros in moments.items() if v != 4)
    rows_of(engine, f"CREATE TABLE s (v INT, ts TIMESTAMP); INSERT INTO s VALUES {values}")
    rows_of(engine, "INSERT INTO s VALUES (4, timestamp_micros(-9223372036854775807 - 1))")
    hourly = (
        "SELECT v, year(window_start) AS y FROM STREAM s WATERMARK ts DELAY OF INTERVAL 0 SECONDS"
        " GROUP BY v WINDOW {} (ts, {})"
    )
    fixed = hourly.format("FIXED", "SIZE INTERVAL 1 HOUR")
    rows_of(engine, f"CREATE STREAMING TABLE t AS {fixed}; DRAIN STREAMING TABLE t")
    counted = [{"v": 5, "y": 1970}, {"v": 6, "y": 20237}]
    assert rows_of(engine, "SELECT * FROM t ORDER BY v") == rows_of(engine, f"{fixed} ORDER BY v") == counted
    bad = rows_of(engine, "SELECT v, _why FROM bad_rows('s') ORDER BY v")
    assert bad == [{"v": v, "_why": "TIME_OUT_OF_RANGE"} for v in (1, 2, 3, 4)]
    sessions = hourly.format("SESSIONS", "GAP INTERVAL 1 HOUR * v")
    assert [r["v"] for r in rows_of(engine, f"{sessions} ORDER BY v")] == [1, 5, 6]
    for window in ("FIXED (ts, SIZE", "SESSIONS (ts, GAP"):
        alone = f"SELECT v FROM STREAM s WINDOW {window} INTERVAL 1 HOUR)"
        assert [r["v"] for r in rows_of(engine, f"{alone} ORDER BY v")] == [5, 6]
    rows_of(engine, "CREATE STREAMING TABLE u AS SELECT v FROM STREAM s WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR)")
    assert rows_of(engine, "SELECT v, _why FROM bad_rows('s') WHERE _table LIKE '%.u' ORDER BY v") == bad
