"""A stream where rows to come could change what was told, in a subquery, CTE or view no less than in so many words."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.soak import soaked
from tests.statements import Rows, rows_in
from warehouse.engine import Engine
from warehouse.errors import WarehouseError

TABLES = """
CREATE TABLE s (k STRING, x INT); INSERT INTO s VALUES ('a', 1);
CREATE TABLE d (k STRING, name STRING); INSERT INTO d VALUES ('a', 'A'), ('z', 'Z');
CREATE VIEW seen AS SELECT * FROM STREAM s;
CREATE FUNCTION clock() RETURNS TIMESTAMP RETURN current_timestamp()
"""
WIDE = ", ".join(f"x + {number} AS c{number}" for number in range(40))


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    for rows in rows_in(engine, "misplaced"):
        rows(TABLES)
        yield rows


OUTER, JOIN, ASKED = "WAREHOUSE_STREAM_OUTER_JOIN", "WAREHOUSE_STREAM_JOIN", "WAREHOUSE_STREAM_OUTSIDE_FROM"
CHANCE = "WAREHOUSE_NONDETERMINISTIC"


@pytest.mark.parametrize(
    ("query", "condition"),
    [
        ("SELECT d.k FROM d LEFT JOIN (SELECT * FROM STREAM s) s ON s.k = d.k", OUTER),
        ("SELECT s.k FROM (SELECT * FROM STREAM s) s RIGHT JOIN d ON s.k = d.k", OUTER),
        ("WITH s AS (SELECT * FROM STREAM s) SELECT d.k FROM d FULL JOIN s ON s.k = d.k", OUTER),
        ("SELECT d.k FROM d LEFT JOIN seen ON seen.k = d.k", OUTER),
        ("SELECT d.k FROM d LEFT JOIN (STREAM s s) ON s.k = d.k", OUTER),
        ("SELECT d.k FROM d LEFT SEMI JOIN (SELECT * FROM STREAM s) s ON s.k = d.k", OUTER),
        ("SELECT d.k FROM d LEFT ANTI JOIN seen s ON s.k = d.k", OUTER),
        ("SELECT d.k, count(*) AS n FROM d LEFT JOIN seen s ON s.k = d.k GROUP BY d.k TRIGGER EVERY ROW", OUTER),
        ("SELECT a.k FROM (SELECT * FROM STREAM s) a JOIN (SELECT * FROM STREAM s) b ON a.k = b.k", JOIN),
        ("WITH s AS (SELECT * FROM STREAM s) SELECT a.k FROM s a JOIN s b ON a.k = b.k", JOIN),
        ("WITH c AS (SELECT k FROM STREAM s) SELECT x FROM STREAM s WHERE k IN (SELECT k FROM c)", ASKED),
        ("SELECT x FROM (SELECT * FROM STREAM s) TABLESAMPLE (50 PERCENT)", CHANCE),
        (f"SELECT {WIDE}, current_timestamp() AS n FROM STREAM s", CHANCE),
        (f"SELECT coalesce({WIDE.replace(' AS c', ' * ')}, unix_date(current_date())) AS n FROM STREAM s", CHANCE),
        ("SELECT clock() AS n FROM STREAM s", CHANCE),
    ],
)
def test_it_is_refused(rows: Rows, query: str, condition: str) -> None:
    with pytest.raises(WarehouseError) as refused:
        rows(f"CREATE STREAMING TABLE t AS {query}")
    (told,) = refused.value.diagnostics
    assert (told.condition, told.span is not None) == (condition, True)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT s.k, name FROM (SELECT * FROM STREAM s) s LEFT JOIN d ON s.k = d.k",
        soaked("SELECT s.k, name FROM (SELECT * FROM STREAM s UNION ALL SELECT * FROM seen) s JOIN d ON s.k = d.k"),
        "SELECT s.k, name FROM d RIGHT JOIN seen s ON s.k = d.k",
        soaked("SELECT s.k FROM seen s LEFT SEMI JOIN d ON s.k = d.k"),
        soaked("SELECT k FROM STREAM s s WHERE EXISTS (SELECT 1 FROM d WHERE d.k = s.k)"),
        "SELECT 'now()' AS said, `current_date()` AS day FROM (SELECT k AS `current_date()` FROM STREAM s)",
    ],
)
def test_where_each_row_counts_by_itself_it_may_stand(rows: Rows, request: pytest.FixtureRequest, query: str) -> None:
    name = f"t{request.node.callspec.indices['query']}"
    rows(f"CREATE STREAMING TABLE {name} AS {query}")
    assert rows(f"SELECT * FROM {name}")
