"""Streaming tables over a folder: what their queries may be made of, and what ONCE and faster watermarks do."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.soak import soaked
from tests.statements import Rows
from warehouse.errors import WarehouseError
from warehouse.streaming.state.state import State

Arrive = Callable[..., None]


@pytest.fixture
def arrive(tmp_path: Path) -> Arrive:
    """Return ``arrive(stream, row, …)``: writes a file of rows (name, number, minute) into a stream's folder."""
    files = iter(range(100))

    def write(stream: str, *lines: tuple[str, int, int]) -> None:
        (tmp_path / stream).mkdir(exist_ok=True)
        text = (json.dumps({"p": p, "d": d, "ts": f"2024-05-01T12:{m:02}:00Z"}) + "\n" for p, d, m in lines)
        (tmp_path / stream / f"{next(files)}.json").write_text("".join(text))

    return write


def stream(rows: Rows, folder: Path, name: str) -> None:
    rows(
        f"CREATE STREAM {name} (p STRING, d INT, ts TIMESTAMP) USING json OPTIONS (path '{folder / name}')"
        " WATERMARK ts DELAY OF INTERVAL 20 MINUTES"
    )


@pytest.mark.soak
def test_union_all_of_streams(rows: Rows, arrive: Arrive, tmp_path: Path) -> None:
    """As it is, in a subquery under an aggregation, and in a common table expression."""
    for name in ("one", "two"):
        arrive(name, (name, 1, 0), ("both", 2, 30))
        stream(rows, tmp_path, name)
    union = "SELECT p, d, ts FROM STREAM one UNION /* of both */ ALL SELECT p, d * 10, ts FROM STREAM two"
    rows(f"CREATE STREAMING TABLE plain AS {union}")
    assert [(r["p"], r["d"]) for r in rows("SELECT * FROM plain ORDER BY d")] == [
        ("one", 1), ("both", 2), ("two", 10), ("both", 20),
    ]  # fmt: skip
    grouped = (
        f"SELECT p, sum(d) AS d FROM ({union}) GROUP BY p WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR) TRIGGER EVERY ROW"
    )
    rows(f"CREATE STREAMING TABLE grouped AS {grouped}")
    rows(
        f"CREATE STREAMING TABLE named AS WITH u AS ({union}) SELECT p, sum(d) AS d FROM u GROUP BY p TRIGGER EVERY ROW"
    )
    expected = [{"p": "both", "d": 22}, {"p": "one", "d": 1}, {"p": "two", "d": 10}]
    assert rows("SELECT * FROM grouped ORDER BY p") == expected
    assert rows("SELECT * FROM named ORDER BY p") == expected
    assert rows(f"{grouped} ORDER BY p") == expected


@pytest.mark.soak
def test_columns_may_have_the_names_that_a_step_uses(rows: Rows, arrive: Arrive, tmp_path: Path) -> None:
    arrive("s", ("a", 1, 0), ("a", 2, 1))
    stream(rows, tmp_path, "s")
    names = [
        "p", "g", "f", "r", "ws", "we", "idx", "out", "step", "emit", "shown", "k", "n", "base", "hit", "CURRENT_d",
    ]  # fmt: skip
    keys = ", ".join(f"concat(p, '{name}') AS {name}" for name in names)
    for mode in ("ACCUMULATING", "DISCARDING", "RETRACTING"):
        rows(
            f"CREATE STREAMING TABLE t_{mode} AS SELECT {keys}, sum(d) AS d, min(ts) AS ts, window_start AS `window`"
            f" FROM STREAM s GROUP BY ALL WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR) TRIGGER EVERY ROW {mode}"
        )
    arrive("s", ("a", 4, 2))
    for mode, expected in (("ACCUMULATING", [7]), ("DISCARDING", [3, 4]), ("RETRACTING", [7])):
        rows(f"REFRESH STREAMING TABLE t_{mode}")
        found = rows(f"SELECT * FROM t_{mode} ORDER BY d")
        assert [row["d"] for row in found] == expected
        assert all(row[name] == f"a{name}" for row in found for name in names)


@pytest.mark.soak
def test_once_keeps_what_comes_too_late_for_it(rows: Rows, arrive: Arrive, tmp_path: Path) -> None:
    arrive("s", ("a", 1, 0))
    stream(rows, tmp_path, "s")
    rows(
        "CREATE STREAMING TABLE t AS SELECT p, sum(d) AS d FROM STREAM s GROUP BY p"
        " WINDOW SLIDING (ts, SIZE INTERVAL 20 MINUTES, EVERY INTERVAL 10 MINUTES) TRIGGER ONCE (AFTER 1 ROW)"
    )
    assert len(rows("SELECT * FROM t")) == 2
    arrive("s", ("a", 2, 3), ("b", 5, 4), ("a", 7, 12))
    rows("REFRESH STREAMING TABLE t")
    assert sorted((r["p"], r["d"]) for r in rows("SELECT * FROM t")) == [
        ("a", 1),
        ("a", 1),
        ("a", 7),
        ("b", 5),
        ("b", 5),
    ]
    late = rows("SELECT d, _why, minute(window_start) AS since FROM late_rows('t') ORDER BY d, since")
    assert late == [
        {"d": 2, "_why": "FINISHED", "since": 0}, {"d": 2, "_why": "FINISHED", "since": 50},
        {"d": 7, "_why": "FINISHED", "since": 0},
    ]  # fmt: skip
    for act in ("CREATE STREAMING TABLE u AS ", ""):
        warned = rows(
            f"EXPLAIN {act}SELECT p, sum(d) AS d FROM STREAM s GROUP BY p"
            " WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR) TRIGGER ONCE (AFTER 1 ROW)"
        )
        assert "warning: TRIGGER ONCE may lose rows" in warned[0]["plan"]


@pytest.mark.soak
@pytest.mark.parametrize(
    "multiplied",
    [
        "STREAM s LATERAL VIEW explode(array(d, d + 1)) AS x",
        soaked("STREAM s JOIN VALUES (0), (1) AS v (more) ON v.more < d"),
        soaked(
            "(SELECT ts, explode(array(d, d + 1)) AS x FROM STREAM s"
            " UNION ALL SELECT ts, d AS x FROM STREAM none WHERE d > 0)"
        ),
    ],
)
def test_a_row_that_becomes_several_is_late_once(rows: Rows, arrive: Arrive, tmp_path: Path, multiplied: str) -> None:
    """Once per window missed; two equal rows are two, also where ts is NULL and they are bad."""
    arrive("s", ("a", 1, 50), ("b", 1, 41))
    arrive("none", ("a", 0, 50))
    stream(rows, tmp_path, "s")
    stream(rows, tmp_path, "none")
    tables = {
        "t": "WINDOW SLIDING (if(minute(ts) = 59, NULL, ts), SIZE '20 minutes', EVERY '10 minutes')"
        " ALLOWED LATENESS '0 seconds'",
        "once": "WINDOW FIXED (ts, SIZE '10 minutes') TRIGGER ONCE (AFTER 1 ROW)",
    }
    for name, clauses in tables.items():
        rows(f"CREATE STREAMING TABLE {name} AS SELECT count(*) AS n FROM {multiplied} {clauses}")
    arrive("s", ("a", 8, 12), ("a", 8, 12), ("c", 9, 1), ("d", 7, 59), ("e", 3, 44), ("d", 7, 59))
    for name in tables:
        rows(f"REFRESH STREAMING TABLE {name}")
    missed = "count(*) AS n, count(DISTINCT window_start) AS windows"
    assert rows(f"SELECT _why, {missed} FROM late_rows('t') GROUP BY ALL") == [{"_why": "LATE", "n": 6, "windows": 3}]
    assert rows(f"SELECT _why, {missed} FROM late_rows('once') GROUP BY ALL") == [
        {"_why": "FINISHED", "n": 3, "windows": 2}
    ]
    told = "SELECT late, finished, bad FROM stream_progress('{}') ORDER BY step DESC LIMIT 1"
    assert rows(told.format("t")) == [{"late": 3, "finished": 0, "bad": 2}]
    assert rows(told.format("once")) == [{"late": 0, "finished": 3, "bad": 0}]
    assert rows("SELECT p, d, _why FROM bad_rows('s')") == [{"p": "d", "d": 7, "_why": "TIME_IS_NULL"}] * 2


def test_percentile_fires_before_the_watermark_and_never_after_it(rows: Rows, arrive: Arrive, tmp_path: Path) -> None:
    """Half of the rows are five minutes behind the newest or less: at minute 46, what ends at 40 seems complete."""
    arrive("s", ("a", 1, 5), *(("a", 1, minute) for minute in range(36, 47)))
    stream(rows, tmp_path, "s")
    for name, trigger in (("faster", "AT WATERMARK PERCENTILE 50"), ("full", "AT WATERMARK")):
        rows(
            f"CREATE STREAMING TABLE {name} AS SELECT sum(d) AS d, minute(window_start) AS since FROM STREAM s"
            f" WINDOW FIXED (ts, SIZE INTERVAL 10 MINUTES) TRIGGER {trigger}"
        )
    timed = "SELECT since, d, _pane_timing AS timing FROM panes('{}') ORDER BY _step, since"
    assert rows(timed.format("full")) == [{"since": 0, "d": 1, "timing": "ON_TIME"}]
    assert rows(timed.format("faster")) == [
        {"since": 0, "d": 1, "timing": "ON_TIME"}, {"since": 30, "d": 4, "timing": "EARLY"},
    ]  # fmt: skip
    arrive("s", ("a", 1, 31), ("a", 1, 59))
    for name in ("faster", "full"):
        rows(f"REFRESH STREAMING TABLE {name}; DRAIN STREAMING TABLE {name}")
        final = rows(f"SELECT since, d FROM {name} ORDER BY since")
        assert final == [{"since": 0, "d": 1}, {"since": 30, "d": 5}, {"since": 40, "d": 7}, {"since": 50, "d": 1}]


@pytest.mark.soak
def test_percentile_never_goes_back(rows: Rows, tmp_path: Path) -> None:
    """A row an hour late makes its watermark wait longer from now on; what it has passed it has passed, also for it."""
    lines = ["a,1,00:00:00,00:00:01", "a,2,01:00:00,01:00:01", "b,4,00:00:00,01:00:02"]
    day = (
        ",".join([k, v, *(f"2024-05-01 {time}" for time in times)])
        for k, v, *times in (line.split(",") for line in lines)
    )
    (tmp_path / "rows.csv").write_text("\n".join(["k,v,ts,arr", *day]))
    rows(
        "CREATE STREAM s (k STRING, v INT, ts TIMESTAMP, arr TIMESTAMP) USING replay"
        f" OPTIONS (path '{tmp_path / 'rows.csv'}', header 'true', arrival 'arr')"
        " WATERMARK ts DELAY OF INTERVAL 2 HOURS;"
        "CREATE STREAMING TABLE t AS SELECT k, sum(v) AS v FROM STREAM s GROUP BY k"
        " WINDOW FIXED (ts, SIZE INTERVAL 30 MINUTES) TRIGGER AT WATERMARK PERCENTILE 50"
    )
    fired = rows("SELECT k, v, date_format(_emitted_at, 'HH:mm:ss') AS at FROM panes('t') ORDER BY k")
    assert fired == [{"k": "a", "v": 1, "at": "01:00:01"}, {"k": "b", "v": 4, "at": "01:00:02"}]


def test_every_and_after_bytes_count_the_rows_as_json(rows: Rows, arrive: Arrive, tmp_path: Path) -> None:
    """Each row is {"p":"a","d":1,"ts":"2024-05-01T12:00:00.000Z"}: 47 bytes."""
    arrive("s", ("a", 1, 0), ("a", 1, 1))
    stream(rows, tmp_path, "s")
    for name, trigger in (("within", "EVERY 95 BYTES"), ("reached", "AFTER 94 BYTES")):
        rows(f"CREATE STREAMING TABLE {name} AS SELECT p, sum(d) AS d FROM STREAM s GROUP BY p TRIGGER {trigger}")
    assert rows("SELECT * FROM within") == []
    assert rows("SELECT * FROM reached") == [{"p": "a", "d": 2}]
    arrive("s", ("a", 1, 2))
    rows("REFRESH STREAMING TABLE within")
    assert rows("SELECT * FROM within") == [{"p": "a", "d": 3}]


def test_offset_per_key_shifts_each_key_by_a_phase_of_its_own(rows: Rows, arrive: Arrive, tmp_path: Path) -> None:
    arrive("s", *((key, 1, minute) for key in "abcdefgh" for minute in (0, 20, 40)))
    stream(rows, tmp_path, "s")
    query = (
        "SELECT p, sum(d) AS d, window_start, window_end FROM STREAM s GROUP BY p"
        " WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR, OFFSET PER KEY)"
    )
    rows(f"CREATE STREAMING TABLE t AS {query}; DRAIN STREAMING TABLE t")
    found = rows("SELECT * FROM t ORDER BY ALL")
    assert found == rows(f"{query} ORDER BY ALL")
    assert len({row["window_start"].minute for row in found}) > 4
    assert all((row["window_end"] - row["window_start"]).total_seconds() == 3600 for row in found)


@pytest.mark.parametrize("kept", [{3, 4, 5}, soaked({0, 1, 2})], ids=["some", "others"])
def test_common_table_expressions_and_views_around_and_inside(
    rows: Rows, arrive: Arrive, tmp_path: Path, kept: set[int]
) -> None:
    """The same answer ad hoc and as a streaming table, wherever the stream and the clauses stand."""
    arrive("s", ("a", 1, 0), ("a", 2, 1), ("b", 4, 2))
    stream(rows, tmp_path, "s")
    rows(
        "CREATE VIEW hourly AS WITH every AS (SELECT * FROM STREAM s) SELECT p, sum(d) AS d FROM every GROUP BY p"
        " WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR)"
    )
    window = "WINDOW FIXED (at, SIZE INTERVAL 1 HOUR)"
    for number, query in enumerate(
        (
            f"WITH named (p, d, at) AS (SELECT * FROM STREAM s) SELECT p, sum(d) AS d FROM named GROUP BY p {window}",
            f"WITH one AS (SELECT p, d, ts AS at FROM STREAM s), two AS (SELECT * FROM one WHERE d > 0)"
            f" SELECT x.p, sum(x.d) AS d FROM two AS x GROUP BY x.p {window}",
            f"SELECT p, sum(d) AS d FROM (SELECT p, d, ts FROM STREAM s) AS q (p, d, at) GROUP BY p {window}",
            "WITH known (p, long) AS (SELECT * FROM VALUES ('a', 'a'), ('b', 'b')) SELECT long AS p, sum(d) AS d"
            " FROM STREAM s JOIN known USING (p) GROUP BY long WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR)",
            f"WITH w AS (SELECT p, sum(d) AS d FROM (SELECT *, ts AS at FROM STREAM s) GROUP BY p {window})"
            " SELECT p, d FROM w WHERE d > 0",
            "SELECT * FROM hourly",
        )
    ):
        expected = [{"p": "a", "d": 3}, {"p": "b", "d": 4}]
        assert sorted(rows(query), key=str) == expected, query
        if number in kept:
            rows(f"CREATE STREAMING TABLE t{number} AS {query}; DRAIN STREAMING TABLE t{number}")
            assert rows(f"SELECT * FROM t{number} ORDER BY p") == expected, query


WINDOW = "WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR)"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT p, d FROM STREAM s WHERE d IN (SELECT d FROM wanted)", [("a", 1), ("b", 4)]),
        soaked(
            "SELECT p, d, (SELECT max(d) FROM wanted) AS most FROM STREAM s WHERE d > 1", [("a", 2, 4), ("b", 4, 4)]
        ),
        soaked(
            "SELECT p, d FROM STREAM s WHERE d = 2"
            " UNION ALL SELECT p, d FROM STREAM s WHERE d NOT IN (SELECT d FROM wanted)",
            [("a", 2), ("a", 2)],
        ),
        soaked(
            "SELECT p, count(*) AS n FROM STREAM s WHERE EXISTS (SELECT 1 FROM wanted AS w WHERE w.d = s.d)"
            f" GROUP BY p {WINDOW}",
            [("a", 1), ("b", 1)],
        ),
        (
            f"SELECT p, sum(d) + (SELECT max(d) FROM wanted) AS n FROM STREAM s GROUP BY p {WINDOW}",
            [("a", 7), ("b", 8)],
        ),
        soaked(
            f"SELECT p, sum(d) AS n FROM STREAM s GROUP BY p HAVING sum(d) >= (SELECT max(d) FROM wanted) {WINDOW}",
            [("b", 4)],
        ),
    ],
    ids=["in", "selected", "in a branch", "exists", "beside an aggregate", "having"],
)
def test_subqueries_over_tables(
    rows: Rows, arrive: Arrive, tmp_path: Path, query: str, expected: list[tuple[Any, ...]]
) -> None:
    """What a subquery aggregates is not the block's, and it is no branch of a UNION ALL; ad hoc as in a table."""
    arrive("s", ("a", 1, 0), ("a", 2, 1), ("b", 4, 2))
    stream(rows, tmp_path, "s")
    rows("CREATE TABLE wanted AS SELECT * FROM VALUES (1), (4) AS v (d)")
    rows(f"CREATE STREAMING TABLE t AS {query}; DRAIN STREAMING TABLE t")
    for asked in (query, "SELECT * FROM t"):
        assert sorted(tuple(row.values()) for row in rows(asked)) == expected


@pytest.mark.soak
def test_a_schema_goes_with_what_it_holds(rows: Rows, arrive: Arrive, tmp_path: Path) -> None:
    """Not without CASCADE, and not while a streaming table of another schema reads some of it."""
    arrive("s", ("a", 1, 0))
    rows("CREATE SCHEMA leaving; USE leaving")
    stream(rows, tmp_path, "s")
    rows("CREATE STREAMING TABLE one AS SELECT p FROM STREAM s; CREATE STREAMING TABLE two AS SELECT p FROM STREAM one")
    rows("USE default; CREATE STREAMING TABLE stays AS SELECT p FROM STREAM leaving.two")
    for statement, condition in (
        ("DROP SCHEMA leaving", "WAREHOUSE_SCHEMA_NOT_EMPTY"),
        ("DROP SCHEMA leaving CASCADE", "WAREHOUSE_SCHEMA_IS_READ"),
    ):
        with pytest.raises(WarehouseError) as caught:
            rows(statement)
        assert caught.value.diagnostics[0].condition == condition
    rows("DROP STREAMING TABLE stays; DROP SCHEMA IF EXISTS leaving CASCADE; CREATE SCHEMA leaving; USE leaving")
    assert rows("SHOW STREAMS") == rows("SHOW STREAMING TABLES") == []
    rows("USE default; DROP SCHEMA leaving")


def test_files_noted_by_the_source_alone_are_a_step_of_their_own(
    engine: Any, schema: str, rows: Rows, arrive: Arrive, tmp_path: Path
) -> None:
    """Spark notes a file before the micro-batch that reads it; a kill in between must not join two micro-batches."""
    arrive("s", ("a", 1, 0))
    rows(
        f"CREATE STREAM s (p STRING, d INT, ts TIMESTAMP) USING json OPTIONS (path '{tmp_path / 's'}',"
        " maxFilesPerTrigger '1'); CREATE STREAMING TABLE t AS SELECT p, d FROM STREAM s"
    )
    arrive("s", ("b", 2, 0))
    entry = engine.catalog.streaming_tables.get(schema, "t")
    log = engine.folder / "streaming" / entry.id / "checkpoint" / "sources" / "0"
    noted = {"path": (tmp_path / "s" / "1.json").as_uri(), "timestamp": 1, "batchId": 1}
    (log / "1").write_text("v1\n" + json.dumps(noted))
    arrive("s", ("c", 3, 0))
    rows("REFRESH STREAMING TABLE t")
    found = rows("SELECT p, _step FROM panes('t') ORDER BY p")
    assert [(r["p"], r["_step"]) for r in found] == [("a", 1), ("b", 2), ("c", 3)]


def test_names_without_a_schema_are_those_of_the_schema_it_was_made_in(
    engine: Any, schema: str, rows: Rows, arrive: Arrive, tmp_path: Path
) -> None:
    """Also when a table of the same name is in the schema that is current later, and the process is another one."""
    arrive("s", ("a", 1, 0))
    stream(rows, tmp_path, "s")
    rows("CREATE TABLE names AS SELECT 'a' AS p, 'Ada' AS name")
    rows("CREATE STREAMING TABLE t AS SELECT n.name, s.d FROM STREAM s JOIN names AS n ON n.p = s.p")
    rows("CREATE SCHEMA elsewhere; USE elsewhere; CREATE TABLE names AS SELECT 'a' AS p, 9 AS name")
    arrive("s", ("a", 2, 0))
    engine.tables.feeds._feeds.clear()
    rows(f"REFRESH STREAMING TABLE {schema}.t")
    found = rows(f"SELECT * FROM {schema}.t ORDER BY d")
    assert [(r["name"], r["d"]) for r in found] == [("Ada", 1), ("Ada", 2)]


@pytest.mark.soak
def test_rows_that_come_after_a_drain_are_late_however_few(rows: Rows, arrive: Arrive, tmp_path: Path) -> None:
    """Where all are late the optimizer may see that none is needed, and what counts them goes with it."""
    arrive("plays", ("a", 1, 0), ("b", 2, 30))
    stream(rows, tmp_path, "plays")
    for name, trigger in (
        ("early", " TRIGGER AT WATERMARK EARLY EVERY ROW ALLOWED LATENESS UNBOUNDED"),
        ("slices", ""),
    ):
        window = f"WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR){trigger}"
        rows(f"CREATE STREAMING TABLE {name} AS SELECT p, sum(d) AS d FROM STREAM plays GROUP BY p {window}")
        rows(f"DRAIN STREAMING TABLE {name}")
    for late in (1, 2):
        arrive("plays", ("a", 5, 1))
        for name in ("early", "slices"):
            rows(f"REFRESH STREAMING TABLE {name}")
            assert rows(f"SELECT * FROM {name} ORDER BY p") == [{"p": "a", "d": 1}, {"p": "b", "d": 2}]
            assert rows(f"SELECT count(*) AS n FROM late_rows('{name}')") == [{"n": late}]
            told = rows(
                "SELECT sum(late) AS late, sum(rows_in) AS n, max_by(state_rows, step) AS kept, max(state_rows) AS most"
                f" FROM stream_progress('{name}')"
            )
            assert told == [{"late": late, "n": 2 + late, "kept": 0, "most": 2}]


@pytest.mark.soak
def test_a_view_is_what_it_was_until_the_table_is_replaced(rows: Rows) -> None:
    made = "STREAMING TABLE t AS SELECT k, sum(v) AS v FROM seen GROUP BY k TRIGGER EVERY ROW"
    rows(
        "CREATE TABLE s AS SELECT 'a' AS k, 1 AS v; CREATE VIEW seen AS SELECT k, v FROM STREAM s;"
        f"CREATE {made}; CREATE OR REPLACE VIEW seen AS SELECT k, v * 10 AS v FROM STREAM s"
    )
    rows("REFRESH STREAMING TABLE t FULL")  # binds its query anew, as a new process does
    assert rows("SELECT v FROM t") == [{"v": 1}]
    rows(f"CREATE OR REPLACE {made}; DROP VIEW seen; REFRESH STREAMING TABLE t FULL")
    assert rows("SELECT v FROM t") == [{"v": 10}]


@pytest.mark.parametrize(
    "stream",
    ["s WATERMARK s.at {}", "s WATERMARK p.at {} AS p", "s WATERMARK greatest(`S`.at, p.at - INTERVAL 1 DAY) {} AS p"],
)
def test_a_watermark_may_say_which_relation_its_column_is_of(rows: Rows, stream: str) -> None:
    rows(
        "CREATE TABLE s (at TIMESTAMP);"
        "INSERT INTO s VALUES (TIMESTAMP'2024-01-01 09:00:00'), (TIMESTAMP'2024-01-01 10:30:00');"
        "CREATE STREAMING TABLE total AS"
        f" SELECT count(*) AS n FROM STREAM {stream.format('DELAY OF INTERVAL 1 MINUTE')}"
        " WINDOW FIXED (at, SIZE INTERVAL 1 HOUR)"
    )
    assert rows("SELECT n FROM total") == [{"n": 1}]


@pytest.mark.soak
def test_columns_that_a_source_gets_later_and_columns_of_our_names(rows: Rows) -> None:
    """They are none of what was made before, as of a view, but of late rows; names that are taken get underscores."""
    rows(
        "CREATE TABLE s (k STRING, _why STRING, _step INT, at TIMESTAMP);"
        "INSERT INTO s VALUES ('a', 'w', 7, TIMESTAMP'2024-01-01 09:00:00'), ('b', 'x', 8, NULL);"
        "CREATE STREAMING TABLE total AS SELECT count(*) AS n FROM STREAM s WATERMARK at DELAY OF INTERVAL 0 SECONDS"
        " WINDOW FIXED (at, SIZE INTERVAL 1 HOUR) ALLOWED LATENESS INTERVAL 0 SECONDS;"
        "CREATE STREAMING TABLE star AS SELECT * EXCEPT (_step) FROM STREAM s;"
        "CREATE STREAMING TABLE each AS SELECT DISTINCT * EXCEPT (_step) FROM STREAM s;"
        "INSERT INTO s VALUES ('c', 'y', 9, TIMESTAMP'2024-01-01 07:00:00'); REFRESH STREAMING TABLE total;"
        "ALTER TABLE s ADD COLUMN later STRING"
    )
    assert rows("SELECT k, _step, __why FROM late_rows('total')") == [{"k": "c", "_step": 9, "__why": "LATE"}]
    rows("INSERT INTO s VALUES ('d', 'z', 10, TIMESTAMP'2024-01-01 06:00:00', 'new')")
    rows("REFRESH STREAMING TABLE total; REFRESH STREAMING TABLE star")
    late = "SELECT k, _why, _step, later, __why FROM late_rows('total') {} ORDER BY k"
    found = [tuple(row.values()) for row in rows(late.format(""))]
    assert found == [("c", "y", 9, None, "LATE"), ("d", "z", 10, "new", "LATE")]
    assert [row["k"] for row in rows(late.format("AS OF STEP 2"))] == ["c"]
    bad = rows("SELECT k, _why, __why FROM bad_rows('s')")
    assert bad == [{"k": "b", "_why": "x", "__why": "TIME_IS_NULL"}]
    assert rows("SELECT * EXCEPT (at) FROM star ORDER BY k")[3] == {"k": "d", "_why": "z"}
    with pytest.raises(WarehouseError) as refused:
        rows("REFRESH STREAMING TABLE each")
    assert refused.value.diagnostics[0].condition == "WAREHOUSE_SOURCE_COLUMNS_ADDED"


@pytest.mark.soak
def test_a_column_that_is_read_gets_a_wider_type(rows: Rows) -> None:
    rows(
        "CREATE TABLE s (k INT, v INT, at TIMESTAMP) TBLPROPERTIES ('delta.enableTypeWidening' = 'true');"
        "INSERT INTO s VALUES (1, 1, TIMESTAMP'2024-01-01 09:00:00'), (1, 3, NULL);"
        "CREATE STREAMING TABLE plain AS SELECT k FROM STREAM s;"
        "CREATE STREAMING TABLE total AS SELECT sum(v) AS v FROM STREAM s WATERMARK at DELAY OF INTERVAL 0 SECONDS"
        " WINDOW FIXED (at, SIZE INTERVAL 1 HOUR) ALLOWED LATENESS INTERVAL 0 SECONDS;"
        "INSERT INTO s VALUES (1, 2, TIMESTAMP'2024-01-01 07:00:00'); REFRESH STREAMING TABLE total;"
        "ALTER TABLE s ALTER COLUMN k TYPE BIGINT; ALTER TABLE s ALTER COLUMN v TYPE BIGINT;"
        "INSERT INTO s SELECT k << 40, v << 40, at + INTERVAL 1 HOUR FROM s WHERE v <> 2;"
        "INSERT INTO s SELECT k << 40, v << 40, at FROM s WHERE v = 2; REFRESH STREAMING TABLE total"
    )
    assert [r["v"] for r in rows("SELECT v FROM late_rows('total') ORDER BY v")] == [2, 2 << 40]
    assert [r["v"] for r in rows("SELECT v FROM bad_rows('s') ORDER BY v")] == [3, 3 << 40]
    with pytest.raises(WarehouseError) as refused:
        rows("REFRESH STREAMING TABLE plain")
    (told,) = refused.value.diagnostics
    assert told.condition == "WAREHOUSE_SOURCE_TYPE_CHANGED" and told.span is not None
    assert told.span.of("REFRESH STREAMING TABLE plain") == "plain"
    assert "k of s was INT and is BIGINT, v of s was INT and is BIGINT" in str(refused.value)
    assert [r["k"] for r in rows("SELECT k FROM plain")] == [1, 1]
    assert len(rows("SELECT * FROM stream_progress('plain')")) == 1


def test_what_is_due_is_looked_up_once_between_two_steps(
    rows: Rows, arrive: Arrive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that runs on looks for what is due every second, and its state tells the same until its next step."""
    looks = list[int]()
    with_dues = State.with_dues
    monkeypatch.setattr(State, "with_dues", lambda self, *a: (looks.append(a[1].step), with_dues(self, *a))[1])
    arrive("s", ("a", 1, 0))
    stream(rows, tmp_path, "s")
    rows("CREATE STREAMING TABLE t AS SELECT p, count(*) AS n FROM STREAM s GROUP BY p TRIGGER AFTER INTERVAL 1 SECOND")
    time.sleep(1)
    rows("REFRESH STREAMING TABLE t")
    assert rows("SELECT p, n FROM t") == [{"p": "a", "n": 1}]
    looks.clear()
    for _ in range(3):
        rows("REFRESH STREAMING TABLE t")
    assert len(looks) <= 1


@pytest.mark.parametrize("by", ["p, gone", "gone, NULL", "ALL", "2"])
def test_null_is_a_key_that_all_rows_share(rows: Rows, arrive: Arrive, tmp_path: Path, by: str) -> None:
    """It has no type that Spark's joins compare or Delta keeps: what needs a window's rows found none under it."""
    arrive("s", ("a", 1, 0), ("a", 3, 1))
    stream(rows, tmp_path, "s")
    name = "min(p)" if by in ("2", "gone, NULL") else "p"
    query = (
        f"SELECT {name} AS p, NULL AS gone, count(*) AS n, median(d) AS half FROM STREAM s GROUP BY {by}"
        " WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR) TRIGGER EVERY ROW RETRACTING"
    )
    rows(f"CREATE STREAMING TABLE t AS {query}")
    arrive("s", ("a", 5, 2))
    rows("REFRESH STREAMING TABLE t")
    assert rows("SELECT * FROM t") == rows(query) == [{"p": "a", "gone": None, "n": 3, "half": 3.0}]
