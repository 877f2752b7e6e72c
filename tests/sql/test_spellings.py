"""All spellings of a window mean the same: pane for pane, over a table, over a stream and in a streaming table."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from tests.soak import soaked
from tests.statements import Rows, rows_of
from warehouse.errors import WarehouseError

PLAYS = [
    ("red", 5.1, "12:00:27"),
    ("red", 7.3, "12:02:25"),
    ("blue", 3.7, "12:03:40"),
    ("red", 4.9, "12:03:55"),
    (None, 0.2, "12:05:00"),
    ("blue", 3.3, "12:05:10"),
    ("red", 8.1, None),
    ("red", 1.7, "12:01:26"),
]
"""The last four are a file of their own, the older one, read first; 12:02:25 and 12:03:55 are 90 s apart."""


@pytest.fixture(scope="module")
def rows(engine: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rows]:
    run = partial(rows_of, engine)
    folder = tmp_path_factory.mktemp("spellings")
    for number, part in enumerate((PLAYS[:4], PLAYS[4:])):
        lines = (
            json.dumps({"n": number * 4 + i, "k": k, "x": x, "ts": at and f"2024-05-01T{at}Z"})
            for i, (k, x, at) in enumerate(part)
        )
        file = folder / f"{number}.json"
        file.write_text("\n".join(lines) + "\n")
        os.utime(file, (-number, -number))  # files are read in the order of their times, in any order where they agree
    run(
        "CREATE SCHEMA spellings; USE spellings;"
        f"CREATE STREAM s (n INT, k STRING, x DOUBLE, ts TIMESTAMP) USING json OPTIONS (path '{folder}',"
        " maxFilesPerTrigger '1') WATERMARK ts DELAY OF INTERVAL 10 SECONDS;"
        "CREATE TABLE t USING delta AS SELECT * FROM STREAM s;"
        "CREATE TABLE cities USING delta AS SELECT * FROM VALUES ('red', 'Rome'), ('blue', 'Bonn') AS v(k, city)"
    )
    yield run
    run("USE default")


SPELLINGS = {
    "fixed": (
        "FROM {s} GROUP BY k WINDOW FIXED (ts, SIZE INTERVAL 2 MINUTES, OFFSET INTERVAL 30 SECONDS)",
        "FROM TUMBLE({s}, DESCRIPTOR(ts), '2 minutes', '30 seconds') GROUP BY k, window_start, window_end",
        "FROM {s} GROUP BY k, window(ts, '2 minutes', '2 minutes', '30 seconds')",
    ),
    "sliding": (
        "FROM {s} GROUP BY k WINDOW SLIDING (ts, SIZE INTERVAL 3 MINUTES, EVERY INTERVAL 2 MINUTES)",
        "FROM TABLE(HOP(DATA => {s}, TIMECOL => DESCRIPTOR(ts), SLIDE => '2 minutes', SIZE => '3 minutes'))"
        " GROUP BY ALL",
        "FROM {s} GROUP BY k, window(ts, '3 minutes', '2 minutes')",
    ),
    "sessions": (
        "FROM {s} GROUP BY k WINDOW SESSIONS (ts, GAP INTERVAL 90 SECONDS)",
        "FROM SESSION({s} PARTITION BY k, DESCRIPTOR(ts), '90 seconds') GROUP BY k, window_start, window_end",
        "FROM {s} GROUP BY k, session_window(ts, '90 seconds')",
    ),
}
SELECT = "SELECT k, sum(x) AS v, count(*) AS c, window_start, window_end "


def spelled(kind: str, source: str, table: str = "") -> list[str]:
    """Return the query in all spellings; a table function wants the keyword TABLE before a table."""
    clause, call, function = SPELLINGS[kind]
    return [SELECT + part.format(s=s) for part, s in ((clause, source), (call, table + source), (function, source))]


@pytest.mark.parametrize("kind", ["fixed", soaked("sliding"), soaked("sessions")])
def test_spellings_agree_over_a_table_and_a_stream(rows: Rows, kind: str) -> None:
    order = " ORDER BY window_start, window_end, k"
    clause, call, function = spelled(kind, "t", "TABLE ")
    expected = rows(clause + order)
    assert len(expected) > 4 and {r["k"] for r in expected} == {None, "red", "blue"}
    assert rows(call + order) == expected
    assert rows(function + " TRIGGER EVERY 1 ROW" + order) == expected
    for query in spelled(kind, "STREAM s"):
        assert rows(query + order) == expected, query


def test_exactly_a_gap_apart_is_two_sessions_in_ours_and_one_in_sparks(rows: Rows) -> None:
    grouped = "GROUP BY k, session_window(ts, '90 seconds') HAVING k = 'red' ORDER BY session_window.start"
    ours = rows(f"SELECT session_window.start AS b, count(*) AS c FROM STREAM s {grouped}")
    theirs = rows(f"SELECT session_window.start AS b, count(*) AS c FROM t {grouped}")
    assert [r["c"] for r in ours] == [3, 1] and [r["c"] for r in theirs] == [4]


@pytest.mark.parametrize("kind", SPELLINGS if os.environ.get("ORACLE_ALL") else [])
def test_spellings_agree_pane_for_pane(rows: Rows, kind: str) -> None:
    clauses = "TRIGGER AT WATERMARK EARLY EVERY ROW LATE EVERY ROW RETRACTING ALLOWED LATENESS INTERVAL 1 HOUR"
    shown = "k, v, c, window_start, window_end, _change_type, _pane_timing, _pane_index, _step"
    panes = []
    clause, _, function = spelled(kind, "STREAM s")
    for name, query in (("by_clause", clause), ("by_function", function)):
        rows(f"CREATE STREAMING TABLE {name} AS {query} {clauses}")
        panes.append(sorted(rows(f"SELECT {shown} FROM panes('{name}')"), key=str))
        rows(f"DROP STREAMING TABLE {name}")
    assert {p["_pane_timing"] for p in panes[0]} == {"EARLY", "ON_TIME", "LATE"}
    assert panes[1] == panes[0]


@pytest.mark.parametrize("kind", SPELLINGS)
def test_a_table_function_runs_the_steps_of_the_clause(rows: Rows, kind: str) -> None:
    clause, call, _ = spelled(kind, "STREAM s")
    texts = [rows(f"EXPLAIN REWRITE CREATE STREAMING TABLE e AS {query}") for query in (clause, call)]
    assert texts[0] == texts[1]


def test_the_struct_of_a_grouping_function(rows: Rows) -> None:
    found = rows(
        "SELECT window(ts, '2 minutes') AS w, w.start, date_format(window.end, 'HH:mm') AS e, window_time(w) AS last,"
        " count(*) AS c FROM STREAM s GROUP BY w HAVING w.start < '2024-05-01 12:04:00' ORDER BY window.start DESC"
    )
    assert [(r["start"].minute, r["e"], r["c"]) for r in found] == [(2, "12:04", 3), (0, "12:02", 2)]
    assert found[0]["w"] == {"start": found[0]["start"], "end": datetime(2024, 5, 1, 12, 4, tzinfo=UTC)}
    assert found[0]["last"] == datetime(2024, 5, 1, 12, 3, 59, 999_999, tzinfo=UTC)


# ------------------------------------------------------------------ windows without aggregates


def bounds(found: list[dict[str, Any]]) -> list[tuple[int, str, str]]:
    return [(r["n"], f"{r['window_start']:%M:%S}", f"{r['window_end']:%M:%S}") for r in found]


def test_every_row_comes_with_each_of_its_windows(rows: Rows) -> None:
    window = "WINDOW SLIDING (ts, SIZE INTERVAL 3 MINUTES, EVERY INTERVAL 2 MINUTES)"
    found = rows(f"SELECT * FROM t WHERE n < 3 {window} ORDER BY n, window_start")
    assert list(found[0]) == ["n", "k", "x", "ts", "window_start", "window_end"]
    assert bounds(found) == [
        (0, "58:00", "01:00"),
        (0, "00:00", "03:00"),
        (1, "00:00", "03:00"),
        (1, "02:00", "05:00"),
        (2, "02:00", "05:00"),
    ]
    hop = "FROM HOP(TABLE t, DESCRIPTOR(ts), INTERVAL 2 MINUTES, INTERVAL 3 MINUTES)"
    assert rows(f"SELECT * {hop} AS w WHERE w.n < 3 ORDER BY n, w.window_start") == found
    assert rows("SELECT n FROM t WINDOW GLOBAL ORDER BY n") == [{"n": n} for n in range(8)]


def test_a_session_spans_all_rows_or_those_of_a_key(rows: Rows) -> None:
    found = rows("SELECT * FROM STREAM s AS a WINDOW SESSIONS (a.ts, GAP INTERVAL 60 SECONDS)")
    assert sorted(bounds(found)) == [
        (0, "00:27", "03:25"),
        (1, "00:27", "03:25"),
        (2, "03:40", "04:55"),
        (3, "03:40", "04:55"),
        (4, "05:00", "06:10"),
        (5, "05:00", "06:10"),
        (7, "00:27", "03:25"),
    ]
    by_key = rows("SELECT * FROM SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL 90 SECONDS) ORDER BY n")
    session = {n: (start, end) for n, start, end in bounds(by_key)}
    assert session[0] == session[1] == session[7] == ("00:27", "03:55")
    assert session[2] == ("03:40", "05:10") and session[3] == ("03:55", "05:25") and 6 not in session


@pytest.mark.soak
def test_assignment_in_a_streaming_table_is_the_batch_answer_and_loses_no_row(rows: Rows) -> None:
    hop = "HOP((SELECT * FROM STREAM s WHERE n > 0), DESCRIPTOR(ts), '2 minutes', '3 minutes') AS w"
    query = (
        f"SELECT n, city, w.window_start FROM {hop} JOIN spellings.cities AS c ON w.k = c.k"
        " UNION ALL SELECT n, k, window_end FROM STREAM s WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR)"
    )
    rows(f"CREATE STREAMING TABLE assigned AS {query}")
    expected = rows(query)
    assert len(expected) > 12 and sorted(rows("SELECT * FROM assigned"), key=str) == sorted(expected, key=str)
    bad = rows("SELECT n, _why FROM bad_rows('s') WHERE _table = 'spellings.assigned'")
    assert bad == [{"n": 6, "_why": "TIME_IS_NULL"}] * 2
    rows("DROP STREAMING TABLE assigned")


@pytest.mark.soak
def test_distinct_windows_in_a_streaming_table(rows: Rows) -> None:
    query = "SELECT DISTINCT k, window_start FROM STREAM s WINDOW FIXED (ts, SIZE INTERVAL 2 MINUTES)"
    rows(f"CREATE STREAMING TABLE once AS {query}")
    assert sorted(rows("SELECT * FROM once"), key=str) == sorted(rows(query), key=str)
    rows("DROP STREAMING TABLE once")


def test_show_create_gives_the_statement_back(rows: Rows) -> None:
    made = {
        "seen": "CREATE VIEW seen AS SELECT k, count(*) AS n FROM t GROUP BY k WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR)",
        "told": "CREATE STREAMING TABLE told AS SELECT k, 'it''s' AS what FROM STREAM s",
        "kept": "CREATE STREAM kept USING rate TBLPROPERTIES ('my.password' = 'x')",
    }
    for name, text in made.items():
        rows(text)
        assert rows(f"SHOW CREATE TABLE {name}") == [{"createtab_stmt": text.replace("'x'", "'*'")}]
    assert (
        "AS SELECT 1 AS x" in rows("CREATE VIEW other AS SELECT 1 AS x; SHOW CREATE TABLE other")[0]["createtab_stmt"]
    )
    rows("DROP STREAM kept; DROP STREAMING TABLE told; DROP VIEW seen; DROP VIEW other")


def test_explain_says_what_was_understood(rows: Rows) -> None:
    (told,) = rows("EXPLAIN SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL 2 MINUTES)")
    assert "== Window assignment ==\nwhere:  FIXED, SIZE 2 minutes\n" in told["plan"]
    for over in ("t", "STREAM s"):
        (told,) = rows(f"EXPLAIN SELECT count(*) AS n FROM {over} WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR)")
        assert "how many are live" in told["plan"] or "at most" in told["plan"]
    (told,) = rows(f"EXPLAIN {spelled('sessions', 'STREAM s')[2]}")
    assert "where:  SESSIONS, GAP 1 minute 30 seconds\n" in told["plan"]


@pytest.mark.parametrize("delay", [soaked("'10 seconds'"), soaked("INTERVAL '10 seconds'"), "INTERVAL 10 SECONDS"])
def test_a_watermark_of_what_is_no_stream(rows: Rows, delay: str) -> None:
    rows("CREATE STREAMING TABLE IF NOT EXISTS every_row AS SELECT n, k, x, ts FROM STREAM s")
    block = "GROUP BY k WINDOW FIXED (ts, SIZE INTERVAL 2 MINUTES)"
    for relation in ("t", "(SELECT * FROM t)", "panes('every_row')"):
        told = rows(f"SELECT k, count(*) AS n FROM {relation} WATERMARK ts DELAY OF {delay} AS r {block} ORDER BY ALL")
        assert told == rows(f"SELECT k, count(*) AS n FROM {relation} {block} ORDER BY ALL"), relation
    assert rows(f"SELECT count(*) AS n FROM t WATERMARK ts DELAY OF {delay}") == [{"n": 8}]


@pytest.mark.parametrize(
    "block",
    [
        "FROM t GROUP BY k {} TRIGGER EVERY ROW",
        "FROM t GROUP BY k {} WINDOW FIXED (ts, SIZE INTERVAL 2 MINUTES)",
        "FROM STREAM s GROUP BY k, window(ts, '2 minutes') {}",
    ],
)
def test_a_named_window_beside_clauses_of_ours(rows: Rows, block: str) -> None:
    inline = rows(f"SELECT k, rank() OVER (ORDER BY sum(n), k) AS r {block.format('')} ORDER BY ALL")
    counted = f"SELECT k, n / sum(n) OVER () AS share FROM (SELECT k, count(*) AS n {block.format('')}) ORDER BY ALL"
    shares = rows(f"SELECT k, count(*) / sum(count(*)) OVER () AS share {block.format('')} ORDER BY ALL")
    assert shares == rows(counted)
    named = block.format("WINDOW w AS (ORDER BY sum(n), k), other AS w")
    assert rows(f"SELECT k, rank() OVER w AS r {named} ORDER BY ALL") == inline
    assert rows(f"SELECT k, rank() OVER other AS r {named} ORDER BY ALL") == inline
    with pytest.raises(WarehouseError) as caught:
        rows(f"SELECT k, rank() OVER w AS r {block.format('WINDOW w AS (ORDER BY sum(nope))')}")
    assert "nope" in caught.value.render().splitlines()[2] and "^^^^" in caught.value.render()
