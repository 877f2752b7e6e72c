"""A key's name in an expression: where it is the key, where it is something else, and the fields named after it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest

from tests.statements import Rows, rows_in
from warehouse.engine import Engine
from warehouse.errors import WarehouseError

TABLES = """
CREATE TABLE s (k STRING, date DATE, day INT, x INT, ts TIMESTAMP, tags ARRAY<STRING>);
INSERT INTO s VALUES ('a', DATE'2024-01-05', 7, 1, TIMESTAMP'2024-01-02 00:00:00', array('p', 'a'));
CREATE TABLE d (k STRING, name STRING);
INSERT INTO d VALUES ('a', 'A'), ('z', 'Z')
"""


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    for rows in rows_in(engine, "words_of_keys"):
        rows(TABLES)
        yield rows


ITEMS = [
    ("to_json(struct(k, sum(x) AS total, count(*)))", "k", '{"k":"a","total":1,"col3":1}'),
    ("to_json(struct(s.k, (k, day) AS both))", "k, day", '{"k":"a","both":{"k":"a","day":7}}'),
    ("to_json((upper(k), `day`))", "k, day", '{"col1":"A","day":7}'),
    ("to_json(struct(window_start, k))", "k", '{"window_start":"2024-01-02T00:00:00.000Z","k":"a"}'),
    ("typeof(struct(k))", "k", "struct<k:string>"),
    ("struct(k, day).day", "k, day", 7),
    ("(k, day) IN (('a', 7))", "k, day", True),
    ("filter(array('a', 'z'), k -> k <> s.k)", "s.k", ["z"]),
    ("transform(tags, (k, day) -> k || s.k || day)", "s.k, tags", ["pa0", "aa1"]),
    ("k || filter(array('y'), k -> k > 'b')[0] || k", "k", "aya"),
    ("transform(array(1), window_start -> window_start + 1)", "k", [2]),
    ("CAST(max(ts) AS date)", "date", date(2024, 1, 2)),
    ("max(ts)::date", "date", date(2024, 1, 2)),
    ("DATE'2024-01-01' < date", "date", True),
    ("extract(day FROM max(ts)) + day", "day", 9),
    ("CAST(dateadd(day, day, max(ts)) AS DATE)", "day", date(2024, 1, 9)),
    ("date_diff(day, min(ts), max(ts)) + day", "day", 7),
    ("CAST(max(ts) + INTERVAL 1 day AS DATE)", "day", date(2024, 1, 3)),
    ("substring(k FROM 1) || trim(k FROM 'aba')", "k", "ab"),
]
"""An item, the keys that it is over, and its value."""


@pytest.mark.parametrize(("item", "keys", "value"), ITEMS)
def test_an_item_over_keys(rows: Rows, item: str, keys: str, value: object) -> None:
    query = f"SELECT {item} AS v, count(*) AS n FROM s GROUP BY {keys} WINDOW FIXED (ts, SIZE INTERVAL 1 DAY)"
    assert rows(query) == [{"v": value, "n": 1}]


def test_all_of_them_in_a_streaming_table(rows: Rows) -> None:
    listed = ", ".join(f"{item} AS v{number}" for number, (item, _, _) in enumerate(ITEMS))
    rows(
        f"CREATE STREAMING TABLE t AS SELECT {listed} FROM STREAM s s GROUP BY s.k, date, day, tags"
        " WINDOW FIXED (ts, SIZE INTERVAL 1 DAY) TRIGGER EVERY ROW"
    )
    assert rows("SELECT * FROM t") == [{f"v{number}": value for number, (_, _, value) in enumerate(ITEMS)}]


def test_having_over_a_struct_of_keys(rows: Rows) -> None:
    having = """HAVING to_json(struct(k)) = '{"k":"a"}' WINDOW GLOBAL"""
    assert rows(f"SELECT k FROM s GROUP BY k {having}") == [{"k": "a"}]


def test_keys_that_only_their_tables_tell_apart(rows: Rows) -> None:
    query = (
        "SELECT s.k, d.k AS other, count(*) AS n FROM s CROSS JOIN d GROUP BY s.k, d.k HAVING d.k > 'b' WINDOW GLOBAL"
    )
    assert rows(query) == [{"k": "a", "other": "z", "n": 1}]


@pytest.mark.parametrize("call", ["explode(tags)", "posexplode(array(k))", "inline(array(struct(k, tags)))"])
def test_several_rows_of_an_aggregation_are_refused(engine: Engine, rows: Rows, call: str) -> None:
    with pytest.raises(WarehouseError, match="gives several rows, of an aggregation") as refused:
        rows(f"SELECT {call}, count(*) FROM s GROUP BY k, tags WINDOW GLOBAL")
    assert refused.value.diagnostics[0].span


def test_several_columns_of_a_function(rows: Rows) -> None:
    rows("CREATE STREAMING TABLE several AS SELECT k, posexplode(tags) AS (at, tag) FROM STREAM s")
    assert rows("SELECT * FROM several ORDER BY at") == [
        {"k": "a", "at": 0, "tag": "p"},
        {"k": "a", "at": 1, "tag": "a"},
    ]


@pytest.mark.soak
def test_fields_whose_names_need_quotes(rows: Rows) -> None:
    rows("CREATE TABLE odd AS SELECT 1 AS id, named_struct('y-z', 'q', 'ü', 2) AS st")
    rows("CREATE STREAMING TABLE by_struct AS SELECT st, count(*) AS n FROM STREAM odd GROUP BY st TRIGGER EVERY ROW")
    both = "SELECT * FROM STREAM odd UNION ALL SELECT * FROM STREAM odd"
    rows(f"CREATE STREAMING TABLE twice AS SELECT st.`y-z` AS y FROM ({both})")
    assert rows("SELECT * FROM by_struct") == [{"st": {"y-z": "q", "ü": 2}, "n": 1}]
    assert rows("SELECT * FROM twice") == [{"y": "q"}] * 2
