"""What reads the changes of a streaming table says what a query over the table says, whatever it does with the rows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.soak import soaked
from tests.statements import Rows, refused, rows_in
from warehouse.errors import WarehouseError
from warehouse.streaming.views.view_texts import ViewTexts

HOUR = "GROUP BY k WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR)"


@pytest.fixture
def rows(engine: Any, schema: str, tmp_path: Path) -> Iterator[Rows]:
    """Return what runs statements beside a stream ``m`` of three steps: one row of ``a`` in each."""
    (tmp_path / "m").mkdir()
    for number in (1, 2, 3):
        file = tmp_path / "m" / f"{number}.json"
        file.write_text(json.dumps({"k": "a", "v": number, "ts": f"2024-01-01T00:0{number}:00Z"}) + "\n")
        os.utime(file, (number * 60, number * 60))
    for rows in rows_in(engine, f"readers_{schema}"):
        rows(
            "CREATE STREAM m (k STRING, v INT, ts TIMESTAMP) USING json"
            f" OPTIONS (path '{tmp_path / 'm'}', maxFilesPerTrigger '1') WATERMARK ts DELAY OF INTERVAL 0 SECONDS"
        )
        yield rows


def test_keys_that_differ_by_a_microsecond_are_two(rows: Rows, tmp_path: Path) -> None:
    """What is taken back of one of them is not taken back of the other."""
    (tmp_path / "fine").mkdir()

    def arrive(number: int, *digits: int) -> None:
        lines = "".join(json.dumps({"at": f"2024-01-01T00:00:00.000{d}00Z"}) + "\n" for d in digits)
        (tmp_path / "fine" / f"{number}.json").write_text(lines)

    arrive(1, 1, 2)
    rows(f"CREATE STREAM fine (at TIMESTAMP) USING json OPTIONS (path '{tmp_path / 'fine'}')")
    rows(
        "CREATE STREAMING TABLE instants AS SELECT at, count(*) AS n FROM STREAM fine GROUP BY at TRIGGER EVERY ROW"
        " RETRACTING"
    )
    rows("CREATE STREAMING TABLE passed_on AS SELECT at, n FROM STREAM instants")
    arrive(2, 1)
    rows("REFRESH STREAMING TABLE instants; REFRESH STREAMING TABLE passed_on")
    assert [row["n"] for row in rows("SELECT n FROM passed_on ORDER BY at")] == [2, 1]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            f"SELECT concat('{{', k, '}}') AS k, listagg(CAST(v AS STRING), ',') WITHIN GROUP (ORDER BY -v) AS l"
            f" FROM STREAM m {HOUR}",
            [{"k": "{a}", "l": "3,2,1"}],
        ),
        (
            f"SELECT k, n AS m, m + 1 AS p, m * p AS q FROM (SELECT k, count(*) AS n FROM STREAM m {HOUR})",
            [{"k": "a", "m": 3, "p": 4, "q": 12}],
        ),
        ("SELECT *, k LIKE ANY ('a%', 'b%') AS hit FROM STREAM m WHERE v = 1", [True]),
        (
            "SELECT k AS kind, `1` AS b, count(*) AS n FROM (SELECT k, v > 1 AS `1` FROM STREAM m) GROUP BY `1`, k"
            " TRIGGER EVERY ROW",
            [{"kind": "a", "b": False, "n": 1}, {"kind": "a", "b": True, "n": 2}],
        ),
    ],
)
def test_words_that_look_like_others(rows: Rows, query: str, expected: list[object]) -> None:
    """Braces before WITHIN GROUP, aliases of earlier items, the ANY of a LIKE, a column whose name is a number."""
    rows(f"CREATE STREAMING TABLE alike AS {query}; DRAIN STREAMING TABLE alike")
    found = rows("SELECT * FROM alike ORDER BY ALL")
    assert ([row["hit"] for row in found] if "hit" in query else found) == expected


@pytest.mark.soak
def test_what_repeats_once_repeats_for_its_readers(rows: Rows) -> None:
    """Where a window may have been emitted twice, or may be from now on, nobody adds its panes up."""
    summed = "CREATE STREAMING TABLE summed AS SELECT sum(n) AS n FROM STREAM {} TRIGGER EVERY ROW"
    counts, never_late = f"SELECT k, count(*) AS n FROM STREAM m {HOUR}", "ALLOWED LATENESS INTERVAL 0 SECONDS"
    rows(f"CREATE STREAMING TABLE over_and_over AS {counts} TRIGGER ONCE (EVERY ROW)")
    assert refused(rows, summed.format("over_and_over")).diagnostics[0].condition == "WAREHOUSE_DOUBLE_COUNTING"
    rows(f"CREATE STREAMING TABLE turned AS {counts} TRIGGER EVERY ROW")
    rows(f"CREATE OR REPLACE STREAMING TABLE turned AS {counts} {never_late}")
    assert refused(rows, summed.format("turned")).diagnostics[0].condition == "WAREHOUSE_DOUBLE_COUNTING"
    rows(f"CREATE STREAMING TABLE single AS {counts} {never_late}")
    rows("CREATE STREAMING TABLE passing AS SELECT k, n FROM STREAM single WHERE n > 0")
    rows(f"{summed.format('passing')}; SELECT * FROM summed")
    error = refused(rows, f"CREATE OR REPLACE STREAMING TABLE single AS {counts}")
    assert "passing" in str(error) and "more than once" in str(error)


@pytest.mark.soak
def test_a_delta_table_of_many_files_is_one_step(rows: Rows, tmp_path: Path) -> None:
    """Delta's source takes 1,000 files at a time by itself, and the watermark after them makes the others late."""
    rows("SET spark.sql.files.maxRecordsPerFile = 1")
    try:
        rows("CREATE TABLE many AS SELECT timestamp_seconds(60 * id) AS at FROM range(0, 1010, 1, 1)")
    finally:
        rows("RESET spark.sql.files.maxRecordsPerFile")
    folder = rows("DESCRIBE DETAIL many")[0]["location"].removeprefix("file:")
    rows(f"CREATE STREAM files USING delta OPTIONS (path '{folder}') WATERMARK at DELAY OF INTERVAL 0 SECONDS")
    hours = "SELECT count(*) AS n, window_start FROM STREAM {} WINDOW FIXED (at, SIZE INTERVAL 1 HOUR)"
    rows(f"CREATE STREAMING TABLE of_files AS {hours.format('files')}")
    rows(f"CREATE STREAMING TABLE of_table AS {hours.format('many WATERMARK at DELAY OF INTERVAL 0 SECONDS')}")
    rows("CREATE STREAMING TABLE raw AS SELECT at FROM STREAM files")
    for table in ("of_files", "of_table", "raw"):
        assert [row["rows_in"] for row in rows(f"SELECT rows_in FROM stream_progress('{table}')")] == [1010], table


@pytest.mark.soak
def test_rows_that_were_replaced_go_through_conditions_joins_and_views_too(rows: Rows) -> None:
    rows(f"CREATE STREAMING TABLE total AS SELECT k, sum(v) AS n FROM STREAM m {HOUR} TRIGGER EVERY ROW")
    rows("CREATE TABLE names AS SELECT 'a' AS k, 'Ada' AS name")
    queries = {
        "filtered": "SELECT k, n FROM STREAM total WHERE n >= 1",
        "joined": "SELECT name, n FROM STREAM total JOIN names USING (k)",
        "exploded": "SELECT k, each FROM STREAM total LATERAL VIEW explode(sequence(1, n)) AS each",
        "computed": "SELECT k, n, n + 1 AS next FROM STREAM total",
    }
    for name, query in queries.items():
        rows(f"CREATE STREAMING TABLE {name} AS {query}")
        expected = rows(query.replace("STREAM ", "") + " ORDER BY ALL")
        assert expected and rows(f"SELECT * FROM {name} ORDER BY ALL") == expected, name
    rows("CREATE STREAMING TABLE on_top AS SELECT n * 10 AS tens FROM STREAM filtered WHERE n <> 3")
    assert rows("SELECT * FROM on_top") == [{"tens": 60}]
    told = rows("SELECT n, next, _change_type AS c FROM panes('computed')")
    assert [(r["n"], r["next"], r["c"]) for r in told] == [
        (1, 2, "insert"), (1, 2, "delete"), (3, 4, "insert"), (3, 4, "delete"), (6, 7, "insert"),
    ]  # fmt: skip


@pytest.mark.soak
@pytest.mark.parametrize(
    "grouped", ["GROUP BY nullif(k, 'a') WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR)", "WINDOW GLOBAL"]
)
def test_rows_are_replaced_by_their_windows_and_keys_though_these_are_null(rows: Rows, grouped: str) -> None:
    rows(f"CREATE STREAMING TABLE total AS SELECT sum(v) AS n FROM STREAM m {grouped} TRIGGER EVERY ROW")
    rows("CREATE STREAMING TABLE doubled AS SELECT n * 2 AS n FROM STREAM total WHERE n <> 3")
    told = rows("SELECT n, _change_type AS c, _step AS s FROM panes('doubled')")
    assert [(r["n"], r["c"]) for r in told] == [(2, "insert"), (2, "delete"), (12, "insert")]


def test_the_changes_of_a_retracting_table_are_passed_on_in_order(rows: Rows) -> None:
    rows(f"CREATE STREAMING TABLE total AS SELECT k, sum(v) AS n FROM STREAM m {HOUR} TRIGGER EVERY ROW RETRACTING")
    rows("CREATE STREAMING TABLE passed AS SELECT n FROM STREAM total")
    told = rows("SELECT n, _change_type AS c FROM panes('passed')")
    assert [(r["n"], r["c"]) for r in told] == [
        (1, "insert"), (1, "delete"), (3, "insert"), (3, "delete"), (6, "insert"),
    ]  # fmt: skip


@pytest.mark.soak
def test_distinct_rows_are_emitted_once(rows: Rows) -> None:
    rows("CREATE STREAMING TABLE keys AS SELECT DISTINCT k FROM STREAM m")
    assert rows("SELECT k, _pane_index AS i FROM panes('keys')") == [{"k": "a", "i": 0}]
    rows("CREATE STREAMING TABLE how_many AS SELECT count(*) AS n FROM STREAM keys WINDOW GLOBAL TRIGGER EVERY ROW")
    assert rows("SELECT n FROM how_many") == [{"n": 1}]


@pytest.mark.soak
def test_parentheses_around_a_query_change_nothing(rows: Rows) -> None:
    rows("CREATE STREAMING TABLE one AS (SELECT k, v FROM STREAM m)")
    rows("CREATE STREAMING TABLE two AS WITH c AS (SELECT 1 AS x) ((SELECT k, v FROM STREAM m JOIN c ON v > x))")
    rows("CREATE STREAMING TABLE three AS (SELECT v FROM STREAM m) UNION ALL (SELECT v * 2 FROM STREAM m)")
    assert rows("SELECT v FROM one ORDER BY v") == [{"v": 1}, {"v": 2}, {"v": 3}]
    assert rows("SELECT v FROM two ORDER BY v") == [{"v": 2}, {"v": 3}]
    assert [r["v"] for r in rows("SELECT v FROM three ORDER BY v")] == [1, 2, 2, 3, 4, 6]


@pytest.mark.parametrize(
    ("query", "condition", "at"),
    [
        ("VALUES (1)", "WAREHOUSE_STREAMING_TABLE_WITHOUT_STREAM", "VALUES (1)"),
        ("TABLE STREAM m", "WAREHOUSE_NOT_BUILT_YET", "STREAM m"),
        ("FROM STREAM m |> WHERE v > 1 |> SELECT v", "WAREHOUSE_NOT_BUILT_YET", "STREAM m"),
        ("SELECT * FROM (SELECT k, v FROM STREAM m) PIVOT (sum(v) FOR k IN ('a'))", "WAREHOUSE_NOT_BUILT_YET", "PIVOT"),
        (
            "SELECT v FROM STREAM m QUALIFY row_number() OVER (ORDER BY v) = 1",
            "WAREHOUSE_WINDOW_FUNCTION_OVER_STREAM", "QUALIFY row_number() OVER (ORDER BY v) = 1",
        ),
        (
            "SELECT v FROM (SELECT v FROM STREAM m WHERE v > 1 QUALIFY rank() OVER (ORDER BY v) = 1)",
            "WAREHOUSE_WINDOW_FUNCTION_OVER_STREAM", "QUALIFY rank() OVER (ORDER BY v) = 1",
        ),
        ("SELECT sum(v) AS n FROM STREAM m TRIGGER AT WATERMARK LATE EVERY ROW", "WAREHOUSE_UNBOUNDED_AGGREGATE", None),
        ("SELECT sum(v) AS n FROM STREAM m TRIGGER AT WATERMARK THEN EVERY ROW", "WAREHOUSE_UNBOUNDED_AGGREGATE", None),
        ("SELECT sum(v) AS n FROM STREAM m TRIGGER AT WATERMARK AND EVERY ROW", "WAREHOUSE_UNBOUNDED_AGGREGATE", None),
        (
            "SELECT v FROM STREAM m WITH ('maxFilesPerTrigger' = '2')",
            "WAREHOUSE_STREAM_OPTIONS_IN_QUERY", "WITH ('maxFilesPerTrigger' = '2')",
        ),
    ],
)  # fmt: skip
def test_what_would_never_be_right_is_refused(rows: Rows, query: str, condition: str, at: str | None) -> None:
    error = refused(rows, f"CREATE STREAMING TABLE x AS {query}")
    assert error.condition == condition
    place = error.diagnostics[0].span
    assert place and (at is None or place.of(f"CREATE STREAMING TABLE x AS {query}") == at)


def test_what_cannot_be_read_is_pointed_at(rows: Rows, tmp_path: Path) -> None:
    rows("CREATE TABLE names AS SELECT 'a' AS k, 'Ada' AS name; CREATE VIEW called AS SELECT name FROM names")
    rows("CREATE STREAM ticks (timestamp TIMESTAMP, value BIGINT) USING rate")
    rows("CREATE FUNCTION thrice(x INT) RETURNS INT RETURN x * 3")
    rows("CREATE STREAMING TABLE tripled AS SELECT thrice(v) AS v FROM STREAM m; DROP FUNCTION thrice")
    (tmp_path / "m" / "4.json").write_text('{"k": "a", "v": 4, "ts": "2024-01-01T00:04:00Z"}\n')
    for text, condition, words, said in (
        ("REFRESH STREAMING TABLE tripled", "UNRESOLVED_ROUTINE", "tripled", "CREATE OR REPLACE STREAMING TABLE"),
        ("CREATE STREAMING TABLE x AS SELECT name FROM STREAM called", "WAREHOUSE_STREAM_OF_VIEW", "called",
         "OR REPLACE VIEW called"),
        ("SELECT count(*) FROM STREAM ticks", "WAREHOUSE_STREAM_NO_BATCH", "ticks", "FROM STREAM"),
        ("DESCRIBE STREAMING TABLE x.y", "WAREHOUSE_STREAMING_TABLE_NOT_FOUND", "x.y", "no streaming table x.y"),
        ("INSERT INTO names VALUES ('b', 'Bob', 1)", "DELTA_METADATA_MISMATCH", "", "INSERT WITH SCHEMA EVOLUTION"),
    ):  # fmt: skip
        error = refused(rows, text)
        (told,) = error.diagnostics
        assert told.condition == condition and said in error.render()
        assert (told.span.of(text) if told.span else "") == words


def test_acts_are_explained_in_words(rows: Rows, tmp_path: Path) -> None:
    made = (
        f"CREATE STREAM s (k INT, ts TIMESTAMP) USING json OPTIONS (path '{tmp_path}')"
        " WATERMARK ts DELAY OF INTERVAL 1 MINUTE IDLE TIMEOUT INTERVAL 5 MINUTES ON ERROR FAIL"
    )
    told = {
        made: "make stream s\nsource: json\nwatermark: ts delayed by 1 minute\nidle timeout: 5 minutes\n"
        "records that do not parse: stop the step",
        "DROP STREAM m": "drop stream m; what it reads stays",
        "SHOW STREAMING TABLES": "list streaming tables",
        "DESCRIBE STREAM m": "tell about stream m",
    }
    for statement, words in told.items():
        assert "\n".join(row["plan"] for row in rows(f"EXPLAIN {statement}")).strip() == words
    (told_of, *_) = rows("EXPLAIN SELECT count(*) FROM STREAM m WINDOW GLOBAL TRIGGER EVERY ROW")
    assert "\nlate:   never\n" in told_of["plan"]
    assert rows("SHOW STREAMS LIKE 's'") == []


def test_who_is_read_is_pointed_at(rows: Rows) -> None:
    rows("CREATE STREAMING TABLE below AS SELECT v FROM STREAM m")
    rows("CREATE STREAMING TABLE above AS SELECT v FROM STREAM below")
    error = refused(rows, "DROP STREAMING TABLE below")
    assert error.condition == "WAREHOUSE_STREAMING_TABLE_HAS_READERS" and "^^^^^" in error.render()


@pytest.mark.parametrize(
    "trigger",
    ["AT WATERMARK EARLY EVERY ROW", soaked("EVERY ROW THEN AT WATERMARK"), soaked("AT WATERMARK OR EVERY ROW")],
)
def test_what_can_fire_before_the_end_is_not(rows: Rows, trigger: str) -> None:
    rows("CREATE STREAMING TABLE x AS SELECT qualify.v AS n FROM STREAM m AS qualify WHERE v = 2")
    assert rows("SELECT n FROM x") == [{"n": 2}]
    rows(f"CREATE OR REPLACE STREAMING TABLE x AS SELECT sum(v) AS n FROM STREAM m TRIGGER {trigger}")
    assert rows("SELECT n FROM x") == [{"n": 6}]


@pytest.mark.soak
def test_what_a_watermark_is_of_can_be_a_column(rows: Rows) -> None:
    marked = "STREAM m WATERMARK ts + INTERVAL 1 HOUR AS later DELAY OF INTERVAL 0 SECONDS"
    queries = {
        "plain": f"SELECT v, later FROM {marked} AS m WHERE hour(later) = 1",
        "all_of_it": f"SELECT * FROM {marked}",
        "windows": f"SELECT k, count(*) AS n, window_start AS s, max(m.later) AS l FROM {marked} GROUP BY k"
        " WINDOW FIXED (later, SIZE INTERVAL 1 MINUTE)",
    }
    for name, query in queries.items():
        rows(f"CREATE STREAMING TABLE {name} AS {query}; DRAIN STREAMING TABLE {name}")
        expected = rows(f"SELECT * FROM ({query}) ORDER BY ALL")
        assert len(expected) == 3 and rows(f"SELECT * FROM {name} ORDER BY ALL") == expected, name
    assert list(rows("SELECT * FROM all_of_it")[0]) == ["k", "v", "ts", "later"]
    assert rows("SELECT min(_watermark) AS w FROM panes('windows')")[0]["w"].hour == 1


@pytest.mark.soak
def test_a_recursive_query_beside_a_stream(rows: Rows) -> None:
    numbers = "WITH RECURSIVE few AS (SELECT 2 AS least), r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3)"
    queries = {
        "plain": f"{numbers} SELECT k, v, n FROM STREAM m JOIN r ON n >= v, few WHERE v >= least",
        "windows": f"{numbers} SELECT n, count(*) AS c, sum(v) AS s FROM STREAM m JOIN r ON r.n >= v GROUP BY n"
        " WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR) TRIGGER EVERY ROW",
    }
    for name, query in queries.items():
        rows(f"CREATE STREAMING TABLE {name} AS {query}")
        assert rows(f"SELECT * FROM {name} ORDER BY ALL") == rows(query + " ORDER BY ALL"), name
    assert rows("SELECT n, c, s FROM windows ORDER BY n") == [
        {"n": 1, "c": 1, "s": 1}, {"n": 2, "c": 2, "s": 3}, {"n": 3, "c": 3, "s": 6},
    ]  # fmt: skip


def test_no_table_recurses_over_a_stream(rows: Rows) -> None:
    query = "WITH RECURSIVE r(v) AS (SELECT v FROM STREAM m UNION ALL SELECT v + 1 FROM r WHERE v < 3) SELECT v FROM r"
    assert [row["v"] for row in rows(query + " ORDER BY v")] == [1, 2, 2, 3, 3, 3]
    for windows in ("", " GROUP BY v WINDOW FIXED (timestamp_seconds(v), SIZE INTERVAL 1 HOUR)"):
        statement = f"CREATE STREAMING TABLE deep AS {query}{windows}"
        with pytest.raises(WarehouseError) as caught:
            rows(statement)
        (told,) = caught.value.diagnostics
        assert told.condition == "WAREHOUSE_RECURSIVE_STREAM"
        assert told.span and statement[told.span.start :].startswith("r WHERE")


@pytest.mark.soak
def test_a_view_that_a_script_has_replaced_stays_replaced(rows: Rows) -> None:
    rows(f"CREATE STREAMING TABLE total AS SELECT k, sum(v) AS n FROM STREAM m {HOUR} TRIGGER EVERY ROW")
    for name in ("a", "b", "c", "d"):
        rows(f"CREATE VIEW {name} AS SELECT step AS x FROM stream_progress('total')")
    rows("CREATE VIEW over_a AS SELECT x, 'over' AS y FROM a JOIN (SELECT 1 FROM stream_progress('total')) ON true")
    rows("BEGIN CREATE OR REPLACE VIEW a AS SELECT 'script' AS x; DROP VIEW d; END")
    rows("EXECUTE IMMEDIATE 'ALTER VIEW b AS SELECT ''immediate'' AS x'")
    assert "script" in str(rows("SHOW CREATE TABLE a"))
    rows("REFRESH STREAMING TABLE total FULL; REFRESH STREAMING TABLE total FULL")
    assert rows("SELECT * FROM a UNION ALL SELECT * FROM b") == [{"x": "script"}, {"x": "immediate"}]
    assert {row["x"] for row in rows("SELECT * FROM over_a")} == {"script"}
    assert {row["x"] for row in rows("SELECT * FROM c")} == {1, 2, 3}
    assert refused(rows, "SELECT * FROM d").condition == "TABLE_OR_VIEW_NOT_FOUND"
    rows("CREATE STREAM d USING rate")
    rows("CREATE OR REPLACE VIEW a AS SELECT step AS x FROM stream_progress('total')")
    rows("REFRESH STREAMING TABLE total FULL")
    assert {row["x"] for row in rows("SELECT * FROM over_a")} == {1, 2, 3}


def test_a_view_that_a_kill_left_half_replaced_is_the_new_one(
    rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows(f"CREATE STREAMING TABLE total AS SELECT k, sum(v) AS n FROM STREAM m {HOUR} TRIGGER EVERY ROW")
    rows("CREATE VIEW v AS SELECT 1 AS x FROM stream_progress('total')")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(ViewTexts, "remember", killed)
        rows("CREATE OR REPLACE VIEW v AS SELECT rows_in FROM stream_progress('total')")
    assert refused(rows, "CREATE OR REPLACE VIEW v AS SELECT nope FROM stream_progress('total')")
    (tmp_path / "m" / "4.json").write_text('{"k": "a", "v": 4, "ts": "2024-01-01T00:04:00Z"}\n')
    rows("REFRESH STREAMING TABLE total")
    assert rows("SELECT * FROM v") == [{"rows_in": 1}] * 4


def test_a_view_whose_name_a_statement_leaves_alone_goes_on(rows: Rows, tmp_path: Path) -> None:
    rows(f"CREATE STREAMING TABLE total AS SELECT k, sum(v) AS n FROM STREAM m {HOUR} TRIGGER EVERY ROW")
    for name in ("v", "w", "x"):
        rows(f"CREATE VIEW {name} AS SELECT rows_in FROM stream_progress('total')")
    rows("CREATE VIEW IF NOT EXISTS v AS SELECT 1 AS one")
    rows("CREATE VIEW IF NOT EXISTS w AS SELECT step FROM stream_progress('total')")
    rows("CREATE TEMP VIEW x AS SELECT 1 AS one; DROP VIEW x; ALTER VIEW w RENAME TO y")
    (tmp_path / "m" / "4.json").write_text('{"k": "a", "v": 4, "ts": "2024-01-01T00:04:00Z"}\n')
    rows("REFRESH STREAMING TABLE total")
    assert [rows(f"SELECT * FROM {name}") for name in ("v", "x", "y")] == [[{"rows_in": 1}] * 4] * 3
    rows("DROP VIEW v; CREATE STREAM v USING rate")
    assert refused(rows, "SELECT * FROM w").condition == "TABLE_OR_VIEW_NOT_FOUND"


def test_a_window_that_never_fires_is_emitted_when_it_closes(rows: Rows) -> None:
    query = f"SELECT k, sum(v) AS n FROM STREAM m {HOUR} TRIGGER NEVER"
    rows(f"CREATE STREAMING TABLE silent AS {query}")
    assert rows("SELECT * FROM silent") == []
    rows("DRAIN STREAMING TABLE silent")
    assert rows("SELECT n, _pane_index FROM panes('silent')") == [{"n": 6, "_pane_index": 0}]
    assert rows("SELECT * FROM silent") == rows(query) == [{"k": "a", "n": 6}]
    error = refused(rows, "CREATE STREAMING TABLE x AS SELECT sum(v) AS n FROM STREAM m TRIGGER NEVER")
    assert error.condition == "WAREHOUSE_UNBOUNDED_AGGREGATE"


def test_what_is_called_stream_may_be_a_table(rows: Rows) -> None:
    described = rows("DESCRIBE STREAM m")
    rows("CREATE TABLE stream (m INT COMMENT 'of a table'); CREATE TABLE generator (kmeans INT)")
    assert {"info_name": "comment", "info_value": "of a table"} in rows("DESCRIBE stream m")
    assert {"info_name": "col_name", "info_value": "kmeans"} in rows("DESCRIBE generator kmeans")
    rows("DROP TABLE stream")
    assert rows("DESCRIBE STREAM m") == described


@pytest.mark.soak
def test_views_say_what_their_query_says_now(rows: Rows) -> None:
    table = f"STREAMING TABLE total AS SELECT k, sum(v) AS n FROM STREAM m {HOUR} TRIGGER EVERY ROW"
    rows(f"CREATE {table}; CREATE TABLE plain AS SELECT 1 AS one")
    rows("CREATE VIEW steps (number COMMENT 'of the step') AS SELECT step FROM stream_progress('total')")
    rows("CREATE TEMP VIEW live AS SELECT k, changed_in_step FROM stream_state('total')")
    rows("CREATE VIEW over_both AS SELECT count(*) AS n FROM steps JOIN (SELECT * FROM panes('total')) ON number > 0")
    rows("CREATE TEMP VIEW many AS SELECT count(*) > 0 AS some FROM partition_stats('plain')")
    assert rows("SELECT * FROM steps") == [{"number": 1}, {"number": 2}, {"number": 3}]
    rows("DROP STREAMING TABLE total")
    error = refused(rows, "SELECT * FROM over_both")
    assert error.condition == "WAREHOUSE_VIEW_BROKEN"
    assert "The view over_both can no longer be read: There is no streaming table total" in error.render()
    home = rows("SELECT current_schema() AS name")[0]["name"]
    rows(f"CREATE {table}; USE default")
    try:
        rows(f"REFRESH STREAMING TABLE {home}.total FULL")
        own = "WITH live AS (SELECT * FROM live) SELECT * FROM live"  # inside, the name is the view's
        assert rows(own) == [{"k": "a", "changed_in_step": 3}]
        assert rows(f"SELECT * FROM {home}.over_both") == rows(f"SELECT count(*) * 3 AS n FROM panes('{home}.total')")
        assert rows("SELECT * FROM many") == [{"some": True}]
        rows(f"ALTER VIEW {home}.steps RENAME TO {home}.numbers; REFRESH STREAMING TABLE {home}.total FULL")
        assert rows(f"SELECT count(number) AS n FROM {home}.numbers") == [{"n": 3}]
        assert "of the step" in str(rows(f"DESCRIBE {home}.numbers"))
        rows(f"/* {'said before ' * 9} */ DROP VIEW live; REFRESH STREAMING TABLE {home}.total FULL")
        assert refused(rows, "SELECT * FROM live").condition == "TABLE_OR_VIEW_NOT_FOUND"
    finally:
        rows("DROP VIEW IF EXISTS live; DROP VIEW many")
    assert refused(rows, "CREATE VIEW v AS SELECT * FROM cache_stats('plain')").condition == "WAREHOUSE_STATS_IN_VIEW"
    text = f"CREATE FUNCTION f() RETURNS TABLE RETURN SELECT step FROM stream_progress('{home}.total')"
    assert refused(rows, text).condition == "WAREHOUSE_RELATION_IN_FUNCTION"
