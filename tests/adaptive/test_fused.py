"""A join of distributed tables reads rows and looks them up in one piece of generated code; the answers are Spark's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adaptive.conftest import PLACED, answered, code_of_join, in_memory, settings
from tests.soak import soaked
from tests.statements import rows_of
from warehouse.engine import Engine

OFF = {"warehouse.join.fused": "false"}
TABLES = """
CREATE SCHEMA IF NOT EXISTS fused;
CREATE TABLE fused.lines AS
  SELECT if(id % 31 = 0, NULL, id % 4000) AS k, id AS v, CAST(id * 7919 % 100000 / 100 AS DECIMAL(12, 2)) AS price,
    concat('line ', id % 13) AS said, id % 50 AS buyer
  FROM range(0, 12000, 1, 4) DISTRIBUTE BY k;
CREATE TABLE fused.orders TBLPROPERTIES ('copartition' = 'fused.lines') AS
  SELECT if(id % 17 = 0, NULL, id DIV 2) AS k, id % 5 AS w, CAST(id / 3 AS DECIMAL(12, 2)) AS total,
    if(id % 3 = 0, NULL, concat('o', id % 29)) AS name
  FROM range(0, 5000) DISTRIBUTE BY k;
CREATE TABLE fused.buyers AS SELECT id AS buyer, concat('buyer ', id) AS who FROM range(40)
"""
"""Keys that are NULL, several rows of a key on both sides, and keys of one side alone."""

QUERIES = {
    "inner": "SELECT * FROM lines l JOIN orders o ON l.k = o.k",
    "sums": "SELECT count(*), sum(price), sum(total), max(name) FROM lines l JOIN orders o ON l.k = o.k",
    "left": "SELECT l.v, o.name, o.total FROM lines l LEFT JOIN orders o ON l.k = o.k AND l.v % 3 <> o.w % 3",
    "right": "SELECT l.v, o.name FROM orders o RIGHT JOIN lines l ON l.k = o.k WHERE l.price < 700",
    "semi": "SELECT * FROM lines l LEFT SEMI JOIN orders o ON l.k = o.k AND o.w > l.v % 7",
    "anti": "SELECT * FROM lines l LEFT ANTI JOIN orders o ON l.k = o.k AND o.name IS NOT NULL",
    "exists": "SELECT count(*), sum(v) FROM lines l WHERE v < 300 OR EXISTS (SELECT 1 FROM orders o WHERE o.k = l.k)",
    "filtered": "SELECT said, sum(total) FROM lines l JOIN orders o ON l.k = o.k"
    " WHERE upper(said) LIKE '%1' AND w IN (1, 4) GROUP BY said",
    "sent below": "SELECT who, sum(total) FROM lines l JOIN buyers b ON l.buyer = b.buyer JOIN orders o ON l.k = o.k"
    " GROUP BY who",
    "sent above": "SELECT who, sum(total) FROM lines l JOIN orders o ON l.k = o.k JOIN buyers b ON l.buyer = b.buyer"
    " GROUP BY who",
    "twice": "SELECT a.k, count(*), sum(c.v) FROM lines a JOIN orders b ON a.k = b.k JOIN lines c ON c.k = b.k"
    " GROUP BY a.k",
    "regrouped": "SELECT l.k, sum(price), count(DISTINCT o.name) FROM lines l JOIN orders o ON l.k = o.k GROUP BY l.k",
    "ranked": "SELECT v, rank() OVER (PARTITION BY l.k ORDER BY v, total) AS r FROM lines l JOIN orders o ON l.k = o.k",
    "least": "SELECT v, total FROM lines l JOIN orders o ON l.k = o.k ORDER BY total DESC, v LIMIT 7",
    "nothing": "SELECT l.v, o.w FROM lines l JOIN orders o ON l.k = o.k WHERE o.total < 0",
}
SOME = ("inner", "sums", "left", "exists", "sent below", "twice")


@pytest.fixture(scope="module")
def pair(engine: Engine) -> Iterator[Engine]:
    rows_of(engine, f"{TABLES}; USE fused")
    with settings(engine, PLACED):
        yield engine
    rows_of(engine, "USE default")


def test_it_is_one_piece_of_code_and_without_it_are_two(pair: Engine) -> None:
    assert "columnartorow" in code_of_join(pair, QUERIES["sums"])
    with settings(pair, OFF):
        assert "columnartorow" not in code_of_join(pair, QUERIES["sums"])


@pytest.mark.parametrize("query", [q if q in SOME else soaked(q) for q in QUERIES])
def test_rows_are_the_same(pair: Engine, query: str) -> None:
    plan, rows = answered(pair, QUERIES[query])
    with settings(pair, OFF):
        before, expected = answered(pair, QUERIES[query])
    assert "ShuffledHashJoin" in plan
    assert plan.count("Join") == before.count("Join")
    assert rows == expected
    assert rows or query == "nothing"


@pytest.mark.parametrize(
    "without",
    [
        {"spark.sql.codegen.wholeStage": "false"},
        {"spark.sql.codegen.hugeMethodLimit": "10"},
        soaked({"spark.sql.codegen.maxFields": "3"}),
        soaked({"spark.sql.inMemoryColumnarStorage.enableVectorizedReader": "false"}),
        soaked({"spark.sql.parquet.enableVectorizedReader": "false"}),
        soaked({"spark.sql.adaptive.enabled": "false"}),
    ],
)
def test_also_where_no_code_or_other_code_is_generated(pair: Engine, without: dict[str, str]) -> None:
    for name in SOME:
        _, expected = answered(pair, QUERIES[name])
        with settings(pair, without):
            assert answered(pair, QUERIES[name])[1] == expected, name


def test_a_limit_gets_its_rows(pair: Engine) -> None:
    """A row that meets several others gives them all, though it is one row for the scan."""
    rows = rows_of(pair, f"{QUERIES['inner']} LIMIT 11")
    assert len(rows) == 11
    assert all(row["k"] is not None for row in rows)


def test_also_in_memory(pair: Engine) -> None:
    before = {name: answered(pair, QUERIES[name])[1] for name in SOME}
    with in_memory(pair, "lines", "orders"):
        assert "columnartorow" in code_of_join(pair, QUERIES["sums"])
        for name, expected in before.items():
            assert answered(pair, QUERIES[name])[1] == expected, name


def test_explain_analyze_counts_its_rows(pair: Engine) -> None:
    (told,) = rows_of(pair, f"EXPLAIN ANALYZE {QUERIES['sums']}")
    (count,) = rows_of(pair, "SELECT count(*) AS n FROM lines l JOIN orders o ON l.k = o.k")
    assert f"Inner, BuildRight  ({count['n']:,} rows" in told["plan"]
    assert "became" not in told["plan"]
