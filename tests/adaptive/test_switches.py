"""Whatever is switched on or off, by itself or with all else, queries have the same rows.

``ADAPTIVE=all`` tries every query with every switch, and TPC-H's and Pavlo's too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchmarks import answers, pavlo, tpch
from benchmarks.systems import Warehouse
from tests.adaptive.conftest import settings
from tests.statements import rows_of
from warehouse.engine import Engine

RARE = "(SELECT * FROM suppliers WHERE address LIKE '%77')"
QUERIES = [
    f"SELECT i.id, s.address FROM items i JOIN {RARE} s USING (supplier)",
    f"SELECT s.address, count(i.id) FROM items i RIGHT JOIN {RARE} s USING (supplier) GROUP BY s.address",
    f"SELECT i.kind, count(s.supplier) FROM items i LEFT JOIN {RARE} s ON i.supplier = s.supplier GROUP BY i.kind",
    f"SELECT count(*), count(i.id), count(s.kind) FROM items i FULL JOIN {RARE} s ON i.id = s.supplier",
    f"SELECT kind, count(*) FROM items WHERE supplier IN (SELECT supplier FROM {RARE}) GROUP BY kind",
    f"SELECT kind, count(*) FROM items WHERE supplier NOT IN (SELECT supplier FROM {RARE}) GROUP BY kind",
    f"SELECT kind, count(*) FROM items i WHERE NOT EXISTS (SELECT 1 FROM {RARE} s WHERE s.supplier = i.supplier)"
    " GROUP BY kind",
    f"SELECT a.address, b.address FROM {RARE} a JOIN suppliers b ON a.kind = b.kind AND a.supplier < b.supplier",
    "SELECT a.supplier, count(*) FROM suppliers a JOIN suppliers b ON a.supplier = b.supplier"
    " WHERE a.address LIKE '%7' GROUP BY a.supplier",
    "SELECT page, count(*), max(title) FROM visits JOIN pages USING (page) WHERE title LIKE '0%' GROUP BY page",
    "SELECT v.page, count(*) FROM visits v JOIN pages p ON v.page = p.page GROUP BY v.page HAVING count(*) > 1",
    f"SELECT i.kind, s.kind, count(*) FROM items i JOIN {RARE} s ON i.supplier <=> s.supplier AND i.id > s.kind"
    " GROUP BY ROLLUP (i.kind, s.kind)",
    f"SELECT * FROM (SELECT i.*, rank() OVER (PARTITION BY i.kind ORDER BY i.id) AS r FROM items i JOIN {RARE} s"
    " USING (supplier)) WHERE r <= 3",
    "SELECT id FROM items WHERE said LIKE '%1' ORDER BY said, id LIMIT 20",
    f"SELECT count(*) FROM (SELECT supplier FROM items UNION ALL SELECT supplier FROM {RARE}) JOIN suppliers"
    " USING (supplier) WHERE address LIKE '%7%'",
    "WITH few AS (SELECT supplier, max(id) AS last FROM items WHERE said LIKE '%12' GROUP BY supplier)"
    " SELECT s.address, f.last FROM suppliers s JOIN few f USING (supplier) JOIN few g ON f.last = g.last",
]
KEPT = """
CREATE OR REPLACE TABLE lines AS
  SELECT id % 3000 AS k, CAST(id DIV 500 AS INT) AS day, CAST(id * 7919 % 1000000 / 100 AS DECIMAL(12, 2)) AS price,
    if(id % 19 = 0, NULL, CAST(id % 11 / 100 AS DECIMAL(12, 2))) AS discount, concat('s', id DIV 900) AS status
  FROM range(0, 12000, 1, 6) DISTRIBUTE BY k;
CREATE OR REPLACE TABLE orders TBLPROPERTIES ('copartition' = 'lines') AS
  SELECT id AS k, CAST(id % 97 AS INT) AS customer FROM range(0, 4000, 2) DISTRIBUTE BY k;
CREATE OR REPLACE TABLE days AS SELECT /*+ REPARTITION_BY_RANGE(6, day) */ * FROM lines
"""
"""Tables that are distributed, or whose files can be told apart by what is in them."""

QUERIES_OF_KEPT = [
    "SELECT count(*), sum(price), avg(price * (1 - discount)) FROM lines JOIN orders USING (k) WHERE customer < 40",
    "SELECT status, sum(price * (1 - discount) * (1 + discount)), avg(discount) FROM days WHERE day BETWEEN 3 AND 9"
    " GROUP BY status",
    "SELECT k, sum(price) FROM lines WHERE price > 10 GROUP BY k HAVING sum(price) > 20000",
    "SELECT count(*), max(price) FROM days WHERE upper(status) = 'S3' OR day IN (7, 21)",
    "SELECT customer, sum(price) FROM orders o LEFT JOIN days d ON d.k = o.k AND d.day = 4 GROUP BY customer",
    "SELECT k FROM days WHERE day < 2 EXCEPT SELECT k FROM orders",
    "SELECT count(DISTINCT k), sum(DISTINCT price), sum(price) FILTER (WHERE discount > 0.05) FROM lines",
    "SELECT k, total FROM (SELECT k, sum(price) AS total, rank() OVER (ORDER BY sum(price), k) AS r FROM lines"
    " GROUP BY k) JOIN orders USING (k) WHERE r < 50",
    "SELECT sum(price - (SELECT avg(price) FROM days)) FROM lines WHERE k IN (SELECT k FROM orders)",
]  # fmt: skip
FEATURES = {
    "warehouse.join.smallSideFirst": "false", "warehouse.pruning": "false", "warehouse.distribution": "false",
    "warehouse.statistics": "false", "warehouse.aggregation.once": "false", "warehouse.like.pieces": "false",
    "warehouse.join.unsorted": "false",
    "warehouse.join.largerSideHashed": "false", "warehouse.join.fused": "false", "warehouse.unpacking": "false",
    "warehouse.join.keyFilter": "false", "warehouse.join.byNumber": "false", "warehouse.packing": "false",
    "spark.sql.adaptive.enabled": "false",
}  # fmt: skip
SWITCHES = {
    "everything off": FEATURES,
    "all but adaptive": {k: v for k, v in FEATURES.items() if "adaptive" not in k},
    "no broadcast": {"spark.sql.autoBroadcastJoinThreshold": "-1"},
    "partitions": {"spark.sql.shuffle.partitions": "3", "spark.sql.adaptive.coalescePartitions.enabled": "false"},
    **{name: {name: value} for name, value in FEATURES.items()},
}
ALL = os.environ.get("ADAPTIVE") == "all"
ASKED = [*QUERIES, *QUERIES_OF_KEPT] if ALL else [*QUERIES[::5], *QUERIES_OF_KEPT[::4]]
SWITCHED = SWITCHES if ALL else {name: SWITCHES[name] for name in ("everything off", "partitions")}


def rows(engine: Engine, query: str) -> tuple[str, list[str]]:
    """Return the types and the rows of a query."""
    frame = engine.spark.sql(query)
    return frame.schema.simpleString(), sorted(map(str, frame.collect()))


@pytest.fixture(scope="module")
def expected(tables: Engine) -> Mapping[str, tuple[str, list[str]]]:
    """Return what the queries give with everything on."""
    rows_of(tables, KEPT)
    found = {query: rows(tables, query) for query in ASKED}
    assert all(lines for _, lines in found.values())
    return found


@contextmanager
def in_memory(engine: Engine) -> Iterator[None]:
    """Within this, all tables of the current schema are in memory."""
    names = [r["tableName"] for r in rows_of(engine, "SHOW TABLES") if not r["isTemporary"]]
    rows_of(engine, "; ".join(f"CACHE TABLE {name}" for name in names))
    try:
        yield
    finally:
        rows_of(engine, "; ".join(f"UNCACHE TABLE {name}" for name in names))


@pytest.mark.parametrize("switch", SWITCHED)
def test_rows_are_the_same(tables: Engine, expected: Mapping[str, tuple[str, list[str]]], switch: str) -> None:
    with settings(tables, SWITCHES[switch]):
        for query, found in expected.items():
            assert rows(tables, query) == found, query


def test_rows_are_the_same_in_memory(tables: Engine, expected: Mapping[str, tuple[str, list[str]]]) -> None:
    with in_memory(tables):
        for switched in ({}, FEATURES) if ALL else ({},):
            with settings(tables, switched):
                for query, found in expected.items():
                    assert rows(tables, query) == found, query


@pytest.fixture
def benchmark_queries(engine: Engine, schema: str, tmp_path: Path) -> Mapping[str, str]:
    """Return TPC-H's queries and Pavlo's; their tables are in the current schema."""
    for statement in tpch.layout.statements(tpch.data.files(tmp_path, 0.01)):
        rows_of(engine, statement)
    for name, folder in pavlo.data.write(engine.spark, tmp_path / "pavlo", 0.01).items():
        key = {"rankings": "pageURL", "uservisits": "destURL"}[name]
        rows_of(engine, f"CREATE TABLE {name} AS SELECT * FROM parquet.`{folder}` DISTRIBUTE BY {key}")
    return {**tpch.data.queries(), **pavlo.QUERIES}


@pytest.mark.skipif(not ALL, reason="ADAPTIVE=all runs 26 queries ten times over")
def test_benchmarks_have_the_same_answers(engine: Engine, benchmark_queries: Mapping[str, str]) -> None:
    system = Warehouse(engine)
    first = {name: system.run(text) for name, text in benchmark_queries.items()}

    def wrong(when: str) -> list[str]:
        told = {
            name: answers.difference(text, system.run(text), first[name]) for name, text in benchmark_queries.items()
        }
        return [f"{when}, {name}: {difference}" for name, difference in told.items() if difference]

    found = []
    for switch, values in SWITCHES.items():
        with settings(engine, values):
            found += wrong(switch)
    with in_memory(engine):
        found += wrong("in memory")
    assert not found
