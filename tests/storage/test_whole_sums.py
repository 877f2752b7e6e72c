"""Decimals that are added up as whole numbers have the sums that they have as decimals: random expressions, on and off.

``ORACLE_ALL=1`` tries 400 queries, ``ORACLE_SEED`` others.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.errors import PySparkException

from tests.statements import Rows, rows_in
from warehouse.engine import Engine

QUERIES = 400 if os.environ.get("ORACLE_ALL") else 6
SETTING = "warehouse.statistics"

MADE = """
SELECT CAST(id % 7 AS INT) AS k, CAST(id - 700 AS INT) AS i, id * 1000003 - 999999999 AS l,
  CAST(id % 100 - 50 AS TINYINT) AS t,
  if(id % 13 = 0, NULL, CAST((id * 7919 % 200000 - 99999) / 100.0 AS DECIMAL(9, 2))) AS a,
  CAST((id * 104729 % 10000000 - 4999999) / 10000.0 AS DECIMAL(12, 4)) AS b,
  if(id % 500 = 3, 999999999999999999, if(id % 500 = 4, -999999999999999999, id)) :: DECIMAL(18, 0) AS c,
  CAST(id * 7919 % 10000000 / 100.0 AS DECIMAL(15, 2)) AS e,
  CAST((id * 523 - 300000) * 0.000000000000000001BD AS DECIMAL(18, 18)) AS f,
  if(id % 2 = 0, 9999999999, -9999999999) :: DECIMAL(10, 0) AS g,
  if(id % 3 = 0, NULL, CAST(id % 11 * -0.000001BD AS DECIMAL(18, 6))) AS h,
  CAST(NULL AS DECIMAL(12, 2)) AS z, concat('w', id % 5) AS w
FROM range(0, 1400, 1, 3)
"""
DECIMALS = "aaaabbbbeeeehhcfgz"
"""The columns by how often they are taken."""

TABLES = {
    "plain": f"CREATE TABLE plain AS {MADE}",
    "held": f"CREATE TABLE held TBLPROPERTIES ('cache' = 'true') AS {MADE}",
    "placed": f"CREATE TABLE placed AS {MADE} DISTRIBUTE BY k",
    "changed": f"CREATE TABLE changed TBLPROPERTIES ('delta.enableDeletionVectors' = 'true') AS {MADE};"
    "DELETE FROM changed WHERE i % 17 = 2;"
    "UPDATE changed SET a = 9999999.99, b = -b, h = 0 WHERE i % 29 = 5;"
    "INSERT INTO changed (k, a, e) VALUES (1, -9999999.99, 9999999999999.99), (NULL, NULL, NULL)",
}
SOURCES = [
    "plain", "held", "placed", "changed",
    "(SELECT * FROM plain WHERE i % 3 <> 0)", "(SELECT *, a AS other FROM held WHERE w <> 'w1')",
    "(SELECT * FROM changed UNION ALL SELECT * FROM plain)", "(SELECT * FROM placed ORDER BY i LIMIT 100)",
    "plain JOIN (SELECT k AS k2, max(e) AS most FROM held GROUP BY k) ON k = k2",
    "placed LEFT JOIN (SELECT i AS i2, a AS other FROM changed WHERE k < 4) ON i = i2",
    "(SELECT x.k, x.i, x.l, x.t, x.w, y.a, y.b, x.c, y.e, x.f, x.g, y.h, x.z FROM held x RIGHT JOIN changed y"
    " ON x.i = y.i)",
    "plain WHERE a > (SELECT avg(a) FROM changed)", "(SELECT * FROM held WHERE false)",
]  # fmt: skip


def value(chance: random.Random, depth: int = 0) -> str:
    """Return an expression, of decimals for the most part."""
    kind = chance.randrange(14) if depth < 3 else chance.randrange(4)
    if kind < 3:
        return chance.choice(DECIMALS)
    if kind == 3:
        literals = ["1", "0", "-3", "100", "0.05", "-12.345", "CAST(NULL AS DECIMAL(11, 2))", "1.00BD", "i", "t", "l"]
        return chance.choice(literals)
    one, other = value(chance, depth + 1), value(chance, depth + 1)
    if kind < 9:
        return f"({one} {chance.choice('+-*')} {other})"
    condition = chance.choice(["w = 'w2'", "i > 0", "a < b", "h IS NULL", "t % 2 = 0", "e BETWEEN 10 AND 50000"])
    if kind == 9:
        end = chance.choice(["", f" ELSE {other}"])
        return f"CASE WHEN {condition} THEN {one}{end} END"
    if kind == 10:
        return f"if({condition}, {one}, {other})"
    if kind == 11:
        return f"coalesce({one}, {other})"
    if kind == 12:
        return f"-({one})"
    precision = chance.randrange(9, 31)
    return f"CAST({one} AS DECIMAL({precision}, {chance.randrange(0, min(precision, 19))}))"


def aggregate(chance: random.Random) -> str:
    function = chance.choice(["sum", "sum", "sum", "avg", "avg", "try_sum", "max"])
    distinct = "DISTINCT " if chance.random() < 0.1 and function in ("sum", "avg") else ""
    kept = chance.choice(["", "", "", " FILTER (WHERE i % 2 = 0)", " FILTER (WHERE a > 0)"])
    text = f"{function}({distinct}{value(chance)}){kept}"
    return chance.choice([text, text, text, f"{text} / 7", f"round({text}, 1) + count(*)"])


def query(chance: random.Random) -> str:
    listed = ", ".join(f"{aggregate(chance)} AS c{number}" for number in range(4))
    source = chance.choice(SOURCES)
    keys, group = chance.choice([
        ("", ""), ("", ""), ("k, ", " GROUP BY k"), ("w, ", " GROUP BY w"), ("k, w, ", " GROUP BY ROLLUP (k, w)"),
    ])  # fmt: skip
    having = f" HAVING {chance.choice(['sum(e) > 0', 'avg(b) IS NOT NULL'])}" if chance.random() < 0.15 else ""
    return f"SELECT {keys}{listed} FROM {source}{group}{having}"


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    yield from rows_in(engine, "summed")


@pytest.fixture(scope="module")
def tables(rows: Rows) -> None:
    for statement in TABLES.values():
        rows(statement)


def outcome(engine: Engine, text: str, on: bool) -> tuple[Any, int]:
    """Return the types and rows of a query, or its error; and how many decimals its plan makes of whole numbers."""
    engine.spark.conf.set(SETTING, str(on).lower())
    try:
        frame = engine.spark.sql(text)
        made = frame._jdf.queryExecution().optimizedPlan().toString().count("MakeDecimal(")
        return (frame.schema.simpleString(), sorted(map(str, frame.collect()))), made
    except PySparkException as error:
        return error.getCondition(), 0
    finally:
        engine.spark.conf.unset(SETTING)


def same(engine: Engine, text: str) -> bool:
    """See that a query is answered the same, on and off; say whether anything was done otherwise."""
    (on, made), (off, before) = outcome(engine, text, True), outcome(engine, text, False)
    assert on == off, text
    return made > before


def test_sums_are_the_same(engine: Engine, rows: Rows, tables: None) -> None:
    chance = random.Random(int(os.environ.get("ORACLE_SEED", "7")))
    narrowed = sum(same(engine, query(chance)) for _ in range(QUERIES))
    assert narrowed > QUERIES // 4


@pytest.mark.parametrize(
    "text",
    [
        "SELECT sum(f * f), avg(f * f), sum(f * f * 3), sum(f * -1) FROM plain",
        "SELECT sum(c), avg(c), sum(c + 0), sum(g), sum(-g), sum(g * 10), avg(g) FROM plain",
        "SELECT sum(e * (1 - b)), avg(e * (1 - b) * (1 + h)) FROM held GROUP BY w",
        "SELECT sum(a), avg(a), sum(a + l), sum(z), avg(z), sum(coalesce(z, a)) FROM changed",
        "SELECT sum(if(k > 1, a, NULL)), sum(CASE WHEN k > 1 THEN e WHEN k > 0 THEN -e END) FROM placed",
    ],
    ids=["many places", "edges", "products", "changed", "chosen"],
)
def test_sums_of_note(engine: Engine, rows: Rows, tables: None, text: str) -> None:
    assert same(engine, text)


@pytest.mark.soak
def test_a_column_that_is_called_like_a_field(engine: Engine, rows: Rows) -> None:
    """What is known of the one is not taken for the other, in sums and in what is read; Spark's readers take it so."""
    rows("SET spark.sql.parquet.filterPushdown = false")
    try:
        for order in ("r, `r.n`", "`r.n`, r"):
            rows(f"CREATE OR REPLACE TABLE alike AS SELECT {order} FROM (SELECT named_struct('n', 1BD ::"
                 " DECIMAL(12, 0)) AS r, 999999999999BD AS `r.n` FROM range(3))")  # fmt: skip
            assert rows("SELECT sum(`r.n`) AS s, sum(r.n) AS t FROM alike") == [{"s": 2999999999997, "t": 3}]
            assert rows("SELECT count(*) AS n FROM alike WHERE `r.n` > 5 AND r.n < 5") == [{"n": 3}]
    finally:
        rows("RESET spark.sql.parquet.filterPushdown")


def test_a_column_that_came_later(engine: Engine, rows: Rows) -> None:
    rows("CREATE TABLE late AS SELECT 1.50BD :: DECIMAL(12, 2) AS a; ALTER TABLE late ADD COLUMN b DECIMAL(14, 3)")
    rows("INSERT INTO late VALUES (-1.25, 99999999999.999), (NULL, 0.001)")
    assert same(engine, "SELECT sum(a), avg(a), sum(b), avg(b), sum(a * b) FROM late") is not None


def test_what_is_done_can_be_seen(engine: Engine, rows: Rows, tables: None) -> None:
    summed = "SELECT sum(e * (1 - b)) FROM plain"
    for text in (
        summed,
        f"SELECT 1 IN ({summed})",
        "SELECT k FROM plain WHERE k IN (SELECT max(k) FROM plain HAVING sum(e) > 0)",
    ):
        assert outcome(engine, text, True)[1] > 0, text
        assert outcome(engine, text, False)[1] == 0, text
