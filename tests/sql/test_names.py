"""Names in a windowed block mean what they mean in Spark's own aggregation: aliases, what is sorted by, ordered sets.

Each query is put to Spark itself too, without our clause: all rows are in one window.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from tests.soak import sampled
from tests.statements import Rows, rows_of
from warehouse.engine import WarehouseError
from warehouse.planning.queries import render

CLAUSE = " WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR)"


@pytest.fixture(scope="module")
def rows(engine: Any) -> Iterator[Rows]:
    run = partial(rows_of, engine)
    run(
        "CREATE SCHEMA names; USE names;"
        "CREATE TABLE t AS SELECT * FROM VALUES ('a', 1, 1), ('a', 2, 10), ('b', 5, 20), ('c', 2, 30) AS v(k, v, s)"
        " JOIN LATERAL (SELECT timestamp_seconds(s) AS ts)"
    )
    yield run
    run("USE default")


@pytest.mark.parametrize(
    "query",
    sampled(
        [
            "SELECT k, sum(v) AS total FROM t GROUP BY k HAVING total > 2{} ORDER BY k",
            "SELECT k, sum(v) AS `to tal`, `to tal` * 2 AS twice, twice + 1 AS more FROM t GROUP BY k{} ORDER BY k",
            "SELECT upper(k) AS u, count(*) AS n FROM t GROUP BY u HAVING u <> 'B'{} ORDER BY u",
            "SELECT k, sum(v) AS day FROM t GROUP BY k"
            " HAVING max(ts) < DATE '2000-01-01' + INTERVAL 1 DAY AND day > 2{} ORDER BY k",
            "SELECT k AS v, max(v) AS m FROM t GROUP BY k HAVING max(v) > 2{} ORDER BY m",
            "SELECT v + 1 AS x, count(*) AS n FROM t GROUP BY v + 1 HAVING v + 1 > 2 AND 0 < v + 1{} ORDER BY x",
            "SELECT v + 1 AS v, count(*) AS n FROM t GROUP BY v + 1 HAVING v + 1 > 2 OR v+1=2{} ORDER BY v",
            "SELECT v + 1 AS v, count(*) AS n FROM t GROUP BY v + 1 HAVING v + 1 + 1 > 3{} ORDER BY v",
            "SELECT k, sum(v) AS v FROM t GROUP BY k HAVING v > 2{} ORDER BY v + 1",
            "SELECT k AS s, transform(array('x'), s -> concat(s, s)) AS twice FROM t GROUP BY k{} ORDER BY s",
            "SELECT k AS p, aggregate(array(1), 0, (q, p) -> q + p) AS one FROM t GROUP BY k{} ORDER BY p",
            "SELECT v AS w, w + 1 AS v, v * 10 AS z FROM t GROUP BY v{} ORDER BY v DESC",
            "SELECT k FROM t GROUP BY k{} ORDER BY sum(v) DESC, k",
            "SELECT max(v) AS m FROM t GROUP BY k{} ORDER BY k DESC",
            "SELECT upper(k) FROM t GROUP BY k{} ORDER BY upper(k) DESC LIMIT 2",
            "SELECT x.k, sum(v) AS n FROM t AS x GROUP BY x.k{} ORDER BY n + max(x.v) DESC NULLS LAST, x.k",
            "SELECT k, sum(v) FROM t GROUP BY k{} ORDER BY 2, 1 DESC",
            "SELECT sum(v), k FROM t GROUP BY k{} ORDER BY ALL DESC",
            "SELECT * FROM (SELECT k FROM t GROUP BY k{} ORDER BY max(s) DESC LIMIT 1)",
            "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v) AS m FROM t{}",
            "SELECT k, percentile_disc(0.9) WITHIN GROUP (ORDER BY s DESC) AS m FROM t GROUP BY k{} ORDER BY m",
            "SELECT percentile_cont(array(0.25, 0.75)) WITHIN GROUP (ORDER BY v) AS m FROM t{}",
        ]
    ),
)
def test_as_in_spark(rows: Rows, query: str) -> None:
    expected = rows(query.format(""))
    assert expected and rows(query.format(CLAUSE)) == expected
    assert rows(query.replace("FROM t ", "FROM STREAM t ").format(CLAUSE)) == expected


@pytest.mark.soak
def test_aliases_in_a_streaming_table(rows: Rows) -> None:
    rows(
        "CREATE STREAMING TABLE st AS SELECT k, sum(v) AS total, total * 2 AS twice,"
        " percentile_cont(0.5) WITHIN GROUP (ORDER BY v) AS middle,"
        " listagg(CAST(v AS STRING), '+') WITHIN GROUP (ORDER  BY\nv) AS listed"
        " FROM STREAM t GROUP BY k HAVING total > 2"
        f"{CLAUSE} TRIGGER EVERY ROW; DRAIN STREAMING TABLE st"
    )
    assert rows("SELECT * FROM st ORDER BY k") == [
        {"k": "a", "total": 3, "twice": 6, "middle": 1.5, "listed": "1+2"},
        {"k": "b", "total": 5, "twice": 10, "middle": 5.0, "listed": "5"},
    ]


@pytest.mark.parametrize(
    ("query", "condition", "words"),
    [
        ("SELECT k FROM t GROUP BY k{} ORDER BY v", "MISSING_AGGREGATION", "v"),
        ("SELECT k FROM t GROUP BY k{} ORDER BY nothing", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "nothing"),
        ("SELECT k FROM t GROUP BY k HAVING nothing > 1{}", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "nothing"),
        ("SELECT later + 1 AS x, sum(v) AS later FROM t{}", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "later"),
        ("SELECT k FROM t GROUP BY k{} ORDER BY sum(v) OVER ()", "MISSING_AGGREGATION", "v) OVER"),
        ("SELECT k FROM t GROUP BY k{} TRIGGER WHEN (sum(count(*)) OVER () > 1)", "WAREHOUSE_WINDOW_FUNCTION_IN_WHEN",
         "sum(count(*)) OVER () > 1"),
        ("SELECT v + 1 AS v FROM t GROUP BY v + 1 HAVING 1 + v + 1 > 2{}", "WAREHOUSE_ALIAS_AMBIGUOUS", "v + 1 > 2"),
        ("SELECT k, (SELECT max(n) FROM (SELECT count(*) AS n FROM t u WHERE u.k = t.k GROUP BY u.k{})) FROM t",
         "WAREHOUSE_CORRELATED_WINDOW", "t.k"),
        ("SELECT count(window_start) FROM t{}", "WAREHOUSE_BOUND_IN_AGGREGATE", "window_start"),
        ("SELECT k FROM t GROUP BY k HAVING max(window_end) > now(){}", "WAREHOUSE_BOUND_IN_AGGREGATE", "window_end"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_pointed_at(rows: Rows, query: str, condition: str, words: str) -> None:
    with pytest.raises(WarehouseError) as caught:
        rows(query.format(CLAUSE))
    (found, *_) = caught.value.diagnostics
    assert found.condition == condition and found.span
    text = query.format(CLAUSE)
    assert text[found.span.start :].startswith(words) and found.span.start >= text.index("SELECT ") + 7
    assert "__w_" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "condition", "words"),
    [
        ("CREATE STREAMING TABLE twice AS SELECT * FROM STREAM panes('passed')", "WAREHOUSE_COLUMNS_OF_PANES", "*"),
        ("CREATE STREAMING TABLE twice AS SELECT k, v AS _step FROM STREAM t", "WAREHOUSE_COLUMNS_OF_PANES",
         "v AS _step"),
        (f"CREATE STREAMING TABLE long AS SELECT window_end - window_start AS d FROM STREAM t{CLAUSE}",
         "WAREHOUSE_COLUMN_TYPE", "window_end - window_start AS d"),
        ("CREATE STREAMING TABLE long AS SELECT b - a AS d FROM"
         f" (SELECT window_start AS a, window_end AS b FROM STREAM t GROUP BY k{CLAUSE})",
         "WAREHOUSE_COLUMN_TYPE", "b - a AS d"),
        (f"CREATE STREAMING TABLE long AS SELECT n, n AS _step FROM (SELECT count(*) AS n FROM STREAM t{CLAUSE})",
         "WAREHOUSE_COLUMNS_OF_PANES", "n AS _step"),
        ("CREATE STREAMING TABLE long AS SELECT k, array(named_struct('interval', ts - ts)) AS d FROM STREAM t",
         "WAREHOUSE_COLUMN_TYPE", "array(named_struct('interval', ts - ts)) AS d"),
        ("CREATE STREAMING TABLE twice AS SELECT k, v AS K FROM STREAM t", "WAREHOUSE_DUPLICATE_COLUMN", "v AS K"),
        ("CREATE STREAMING TABLE few AS SELECT k FROM STREAM t WHERE v > most", "WAREHOUSE_SESSION_VARIABLE", "most"),
        ("CREATE STREAMING TABLE few AS SELECT sum(v + most) AS n FROM STREAM t WINDOW GLOBAL TRIGGER EVERY ROW",
         "WAREHOUSE_SESSION_VARIABLE", "most"),
        ("CREATE STREAMING TABLE few AS SELECT x.k FROM STREAM t x JOIN kept_here USING (k)", "WAREHOUSE_TEMPORARY",
         "kept_here"),
        ("CREATE STREAMING TABLE few AS SELECT k FROM STREAM t WHERE Doubled (v) > 1", "WAREHOUSE_TEMPORARY",
         "Doubled"),
        ("EXPLAIN DROP STREAM nope", "WAREHOUSE_STREAM_NOT_FOUND", "nope"),
        ("EXPLAIN CREATE STREAM clock USING rate", "WAREHOUSE_STREAM_EXISTS", "clock"),
        ("EXPLAIN CREATE STREAM clocks USING rates", "WAREHOUSE_STREAM_FORMAT_UNKNOWN", "rates"),
        ("CREATE STREAMING TABLE sent TBLPROPERTIES ('kafka.topic' = 'x') AS SELECT k FROM STREAM t",
         "WAREHOUSE_KAFKA_SINK_PROPERTY", "'kafka.topic'"),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_pointed_at(rows: Rows, text: str, condition: str, words: str) -> None:
    rows(
        "CREATE STREAMING TABLE IF NOT EXISTS passed AS SELECT k, v FROM STREAM t; DECLARE OR REPLACE most = 2;"
        "CREATE OR REPLACE TEMPORARY VIEW kept_here AS SELECT 'a' AS k;"
        "CREATE OR REPLACE TEMPORARY FUNCTION doubled(x INT) RETURNS INT RETURN 2 * x"
    )
    rows("CREATE STREAM IF NOT EXISTS clock USING rate")
    with pytest.raises(WarehouseError) as caught:
        rows(text)
    (found, *_) = caught.value.diagnostics
    assert (found.condition, found.span and found.span.of(text)) == (condition, words)


def test_a_first_step_that_fails_says_what_to_write_instead(rows: Rows) -> None:
    with pytest.raises(WarehouseError) as caught:
        rows("CREATE STREAMING TABLE few AS SELECT 1 / (sum(v) - sum(v)) AS x FROM STREAM t TRIGGER EVERY ROW")
    (found,) = caught.value.diagnostics
    assert found.condition == "DIVIDE_BY_ZERO" and "ansi" not in found.message and "nullif" in str(found.hint)


def test_an_interval_may_be_computed_where_it_is_no_column_of_the_table(rows: Rows) -> None:
    inside = f"SELECT k, window_end - window_start AS d FROM STREAM t GROUP BY k{CLAUSE} TRIGGER EVERY ROW"
    rows(f"CREATE STREAMING TABLE lasting AS SELECT k, CAST(d AS STRING) AS d FROM ({inside})")
    rows("REFRESH STREAMING TABLE lasting")
    told = "INTERVAL '0 01:00:00' DAY TO SECOND"
    assert rows("SELECT k, d FROM lasting ORDER BY k") == [{"k": k, "d": told} for k in "abc"]
    rows("DROP STREAMING TABLE lasting")


def test_a_table_that_is_called_stream(rows: Rows) -> None:
    rows("CREATE TABLE `stream` AS SELECT v AS x, ts FROM t; CREATE TABLE left AS SELECT 7 AS x")
    assert rows("SELECT count(*) AS n FROM STREAM `stream`") == [{"n": 4}]
    assert rows("SELECT sum(x) AS s FROM STREAM stream" + CLAUSE) == [{"s": 10}]
    assert rows("SELECT sum(x) AS s FROM stream WINDOW GLOBAL") == [{"s": 10}]
    assert rows("SELECT x FROM STREAM names.left") == [{"x": 7}]


def test_an_average_of_decimals_has_the_type_and_the_digits_of_sparks(rows: Rows) -> None:
    """A division of wide DECIMALs would keep fewer decimals than avg does."""
    for kind in ("12,2", "24,0", "25,3", "38,0", "38,10", "38,30", "38,38"):
        scale = int(kind.split(",")[1])
        values = ", ".join(f"({digit}e-{scale})" for digit in (1, 1, 5, -2, 0, 8, 40))
        inside = f"(SELECT CAST(col1 AS DECIMAL({kind})) AS d FROM VALUES {values})"
        asked = f"SELECT avg(d) AS mean, typeof(avg(d)) AS type FROM {inside}"
        assert rows(f"{asked} WINDOW GLOBAL") == rows(asked), kind


def test_an_aggregate_may_be_named_as_sparks_own(rows: Rows) -> None:
    asked = "SELECT builtin.sum(v) AS s, 1 + system.builtin.Count(*) AS n, median(v) AS m FROM t"
    assert rows(f"{asked} WINDOW GLOBAL") == rows(asked)
    asked = "SELECT builtin.median(v) + sum(v) AS m, builtin.abs(-1) AS one FROM t"
    assert rows(f"{asked} WINDOW GLOBAL") == rows(asked)


def test_a_column_may_come_twice_where_nothing_is_kept(engine: Any, rows: Rows) -> None:
    (result,) = engine.run("SELECT count(*), count(*), 1 AS n, 2 AS N FROM t WINDOW GLOBAL")
    assert result.schema.names == ["count(1)", "count(1)", "n", "N"]
    rows("CREATE TABLE twice (a BIGINT, b BIGINT); INSERT INTO twice SELECT sum(v), sum(v) FROM t WINDOW GLOBAL")
    assert rows("SELECT * FROM twice") == [{"a": 10, "b": 10}]


@pytest.mark.parametrize(
    "query",
    ["SELECT '😀😀' AS x, {} FROM t", "SELECT '😀' AS x, sum({}) FROM t -- 😀\n WINDOW GLOBAL", "SELECT '😀', 1 + {}"],
)
def test_a_caret_stands_under_the_words_behind_characters_that_are_two_to_java(rows: Rows, query: str) -> None:
    with pytest.raises(WarehouseError) as failed:
        rows(query.format("nosuch"))
    (told,) = failed.value.diagnostics
    assert told.span is not None and told.span.of(query.format("nosuch")) == "nosuch"


def test_each_of_nested_blocks_is_bound_a_few_times(engine: Any, rows: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for the text, and once to be analyzed: not as often as the blocks around it look at it."""
    bound: list[Any] = []
    bind = render.bind_block
    monkeypatch.setattr(render, "bind_block", lambda *given: bound.append(given[2]) or bind(*given))
    query = "SELECT k, v FROM t"
    for _ in range(4):
        query = f"SELECT k, sum(v) AS v FROM ({query}) GROUP BY k TRIGGER AT WATERMARK"
    engine.compile(query)
    assert len(bound) <= 8


def test_a_column_goes_before_a_variable_of_its_name(rows: Rows) -> None:
    query = (
        "SELECT k, min_by(v, s) AS low, max_by(v, s) AS high, percentile(v, array(0.5, CAST(0.9 AS DOUBLE))) AS p"
        " FROM (SELECT *, v AS array, v AS double FROM t) GROUP BY k{} ORDER BY k"
    )
    rows("DECLARE OR REPLACE VARIABLE s INT DEFAULT 0")
    try:
        assert rows(query.format(CLAUSE)) == rows(query.format(""))
    finally:
        rows("DROP TEMPORARY VARIABLE s")
