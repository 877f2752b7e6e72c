"""What Delta's log says of all of a table answers a query, and says which files a LIMIT needs."""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from benchmarks import status
from tests.adaptive.conftest import settings
from tests.soak import sampled, soaked
from tests.statements import Rows, rows_in
from warehouse.engine import Engine

TABLES = """
CREATE TABLE facts AS
  SELECT id, CAST(id % 100 - 50 AS TINYINT) AS tiny, CAST(-id AS SMALLINT) AS small, CAST(id * id AS INT) AS whole,
    DATE '1970-02-01' - CAST(id AS INT) AS day, if(id < 500, NULL, id) AS late, CAST(NULL AS INT) AS none,
    concat('name ', id) AS name, sqrt(id) AS root, CAST(id AS DECIMAL(12, 2)) AS price,
    TIMESTAMP '2024-01-01 00:00:00.123456' + make_dt_interval(0, 0, 0, id) AS at
  FROM range(0, 1000, 1, 4);
CREATE TABLE empty (id INT, day DATE);
CREATE VIEW seen AS SELECT id AS number, name FROM facts
"""


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    """Return what runs statements in a schema with a table of four files and one of none."""
    for rows in rows_in(engine, "logged"):
        rows(TABLES)
        yield rows


def ran(engine: Engine, query: str) -> tuple[list[tuple[object, ...]], int]:
    """Return the rows of a query and how many tasks ran for it, those over Delta's log among them."""
    with status.watched(engine.spark) as seen:
        rows = [tuple(row) for row in engine.spark.sql(query).collect()]
    return rows, seen.tasks


def computed(engine: Engine, query: str) -> list[tuple[object, ...]]:
    """Return the rows of a query that reads all of the table."""
    off = {"spark.databricks.delta.optimizeMetadataQuery.enabled": "false", "warehouse.pruning": "false"}
    with settings(engine, off):
        return ran(engine, query)[0]


@pytest.mark.parametrize(
    "query",
    sampled(
        [
            "SELECT count(*) FROM facts",
            "SELECT count(1) AS rows, min(id), max(id) FROM facts",
            "SELECT min(tiny), max(tiny), min(small), max(small), min(whole), max(whole) FROM facts",
            "SELECT min(day), max(day) + INTERVAL 1 DAY FROM facts",
            "SELECT min(late), max(late), min(none), max(none), max(id) - min(id) AS span FROM facts",
            "SELECT count(*), min(id), max(day) FROM empty",
            "SELECT count(*) FROM seen",
            "SELECT count(*) FROM (SELECT id + 1 FROM facts)",
        ]
    ),
)
def test_the_log_answers_without_a_job(engine: Engine, rows: Rows, query: str) -> None:
    told, tasks = ran(engine, query)
    assert told == computed(engine, query)
    assert tasks == 0


@pytest.mark.parametrize(
    "query",
    sampled(
        [
            "SELECT count(name), count(late) FROM facts",
            "SELECT count(*) FILTER (WHERE id > 3), count(DISTINCT id) FROM facts",
            "SELECT min(name), max(name) FROM facts",
            "SELECT min(root), max(root) FROM facts",
            "SELECT min(price), max(price), min(at), max(at) FROM facts",
            "SELECT count(*), sum(id) FROM facts",
            "SELECT max(number + 1), min(number) FROM seen",
            "SELECT id % 2, count(*) FROM facts GROUP BY id % 2 ORDER BY 1",
            "SELECT count(*) FROM facts WHERE id > 10",
            "SELECT max(id) FROM facts HAVING max(id) > 5",
            "SELECT max(least) FROM (SELECT min(id) AS least FROM facts)",
            "SELECT count(*) FROM (SELECT * FROM facts LIMIT 7)",
            "SELECT (SELECT max(id) FROM facts) AS most, (SELECT count(*) FROM empty) AS none",
        ]
    ),
)
def test_what_it_does_not_say_is_computed(engine: Engine, rows: Rows, query: str) -> None:
    assert ran(engine, query)[0] == computed(engine, query)


@pytest.mark.parametrize(
    ("query", "files"),
    sampled(
        [
            ("SELECT id, name FROM facts ORDER BY id LIMIT 3", 1),
            ("SELECT name FROM facts ORDER BY id DESC LIMIT 251", 2),
            ("SELECT id FROM facts ORDER BY id LIMIT 100 OFFSET 200", 2),
            ("SELECT id AS number, name FROM facts ORDER BY number DESC, name LIMIT 1", 1),
            ("SELECT number FROM seen ORDER BY number LIMIT 250", 1),
            ("SELECT id FROM facts ORDER BY day LIMIT 2", 1),
            ("SELECT id FROM facts ORDER BY at DESC, id LIMIT 2", 1),
            ("SELECT id FROM facts ORDER BY late NULLS LAST LIMIT 2", 3),
            ("SELECT id FROM facts ORDER BY late, id LIMIT 2", 3),
            ("SELECT id FROM facts ORDER BY tiny, id LIMIT 2", 4),
            ("SELECT id FROM facts ORDER BY name LIMIT 2", 4),
            ("SELECT id FROM facts ORDER BY id + 1 LIMIT 2", 4),
            ("SELECT max(id) FROM (SELECT id FROM facts ORDER BY id LIMIT 7)", 1),
        ]
    ),
)
def test_the_first_of_an_order_are_in_few_files(engine: Engine, rows: Rows, query: str, files: int) -> None:
    assert ran(engine, query)[0] == computed(engine, query)
    assert f"partitions read: {files} of 4" in str(rows(f"EXPLAIN {query}")[0]["plan"])


@pytest.mark.parametrize("seed", range(100 if os.environ.get("ORACLE_ALL") else 1))
@pytest.mark.soak
def test_the_first_of_any_order_are_those_of_all_rows(engine: Engine, rows: Rows, seed: int) -> None:
    chance = random.Random(seed)
    kinds = ("TINYINT", "INT", "BIGINT", "DATE", "TIMESTAMP")
    value = {"DATE": "date_from_unix_date({})", "TIMESTAMP": "timestamp_micros({} * 700)"}
    rows(f"CREATE OR REPLACE TABLE mixed (n INT, {', '.join(f'c{i} {kind}' for i, kind in enumerate(kinds))})")
    for _ in range(chance.randint(2, 5)):
        spread, offset = chance.choice([1, 3, 50]), chance.randint(-60, 60)
        made = f"CAST(pmod(hash(id, {{}}), {spread}) + {offset} AS INT)"
        columns = [
            f"if(pmod(hash(id, {i}), {chance.choice([2, 5, 1000])}) = 1, NULL,"
            f" CAST({value.get(kind, '{}').format(made.format(i))} AS {kind}))"
            for i, kind in enumerate(kinds)
        ]
        rows(f"INSERT INTO mixed SELECT id, {', '.join(columns)} FROM range({chance.randint(1, 30)})")
    if chance.random() < 0.5:
        rows("ALTER TABLE mixed SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
        rows(f"DELETE FROM mixed WHERE n % 3 = {chance.randint(0, 2)}")
    for _ in range(12 if os.environ.get("ORACLE_ALL") else 5):
        column, way = f"c{chance.randrange(len(kinds))}", chance.choice(["", " DESC"])
        nulls = chance.choice(["", " NULLS FIRST", " NULLS LAST"])
        limit = f"LIMIT {chance.randint(1, 40)} OFFSET {chance.choice([0, 3])}"
        query = f"SELECT n, {column} FROM mixed ORDER BY {column}{way}{nulls}, n, c0, c1, c2, c3, c4 {limit}"
        assert ran(engine, query)[0] == computed(engine, query), query


@pytest.mark.parametrize("properties", ["", soaked("TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")])
def test_answers_follow_what_is_changed(engine: Engine, rows: Rows, properties: str) -> None:
    rows(
        f"CREATE OR REPLACE TABLE changing {properties} AS SELECT id, id AS other FROM range(0, 100, 1, 2);"
        "DELETE FROM changing WHERE id >= 90 OR id < 3; UPDATE changing SET other = 1000 WHERE id = 50;"
    )
    query = "SELECT count(*) AS rows, min(id) AS least, max(id) AS most, max(other) AS other FROM changing"
    assert ran(engine, query)[0] == [(87, 3, 89, 1000)]
    assert ran(engine, query.replace("changing", "changing VERSION AS OF 0"))[0] == [(100, 0, 99, 99)]
    rows("INSERT INTO changing SELECT max(id) + 1000, NULL FROM changing")
    assert ran(engine, query)[0] == [(88, 3, 1089, 1000)]


def test_a_column_that_took_another_ones_name(engine: Engine, rows: Rows) -> None:
    rows(
        "CREATE TABLE renamed TBLPROPERTIES ('delta.columnMapping.mode' = 'name') AS SELECT id, -id AS other"
        " FROM range(10); ALTER TABLE renamed RENAME COLUMN id TO before;"
        "ALTER TABLE renamed RENAME COLUMN other TO id; ALTER TABLE renamed ADD COLUMN added INT"
    )
    query = "SELECT min(id) AS least, max(before) AS most, max(added) AS added FROM renamed"
    assert ran(engine, query)[0] == [(-9, 9, None)]


def test_days_and_instants_that_are_others_in_the_files(engine: Engine, rows: Rows) -> None:
    """In the calendar before 1582, which has other days; of a time that clocks showed twice, the second is read."""
    old = {"spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY", "spark.sql.session.timeZone": "America/New_York"}
    with settings(engine, old):
        rows("CREATE TABLE moved AS SELECT DATE'1582-10-10' AS day, TIMESTAMP'1883-11-18 12:01:00' AS at")
    rows("INSERT INTO moved SELECT DATE'1582-10-11', at - INTERVAL 1 MINUTE FROM moved")
    queries = (
        "SELECT min(day), max(day) FROM moved",
        "SELECT day FROM moved ORDER BY day DESC LIMIT 1",
        "SELECT at FROM moved ORDER BY at DESC LIMIT 1",
    )
    assert [q for q in queries if ran(engine, q)[0] != computed(engine, q)] == []


def test_without_statistics_it_is_computed(engine: Engine, rows: Rows) -> None:
    rows(
        "CREATE TABLE untold TBLPROPERTIES ('delta.dataSkippingStatsColumns' = 'id') AS"
        " SELECT id, id * 2 AS twice FROM range(10)"
    )
    assert ran(engine, "SELECT max(twice) AS most FROM untold")[0] == [(18,)]
    with settings(engine, {"spark.databricks.delta.stats.collect": "false"}):
        rows("INSERT INTO untold VALUES (100, 7)")
    query = "SELECT count(*) AS rows, max(id) AS most FROM untold"
    assert ran(engine, query)[0] == [(11, 100)]
    assert ran(engine, "SELECT * FROM untold LIMIT 100")[0] == ran(engine, "SELECT * FROM untold")[0]


@pytest.mark.parametrize(("limit", "files"), [(1, 1), (250, 1), (251, 2), (999, 4), (5000, 4)])
def test_a_limit_reads_as_many_files_as_have_the_rows(engine: Engine, rows: Rows, limit: int, files: int) -> None:
    query = f"SELECT name, id FROM facts LIMIT {limit}"
    plan = engine.spark.sql(query)._jdf.queryExecution().optimizedPlan()
    while plan.children().size():
        plan = plan.children().head()
    assert plan.relation().location().preparedScan().files().size() == files
    assert len(set(ran(engine, query)[0])) == min(limit, 1000)


@pytest.mark.parametrize(
    "query",
    [
        soaked("SELECT count(*) FROM growing WHERE id > (SELECT max(id) FROM growing)"),
        soaked("SELECT a.n - b.n FROM (SELECT count(*) AS n FROM growing) a, (SELECT count(*) AS n FROM growing) b"),
        "SELECT count(*) FROM growing a FULL JOIN growing b ON a.id = b.id WHERE a.id IS NULL OR b.id IS NULL",
    ],
)
def test_all_of_a_query_reads_one_version(engine: Engine, rows: Rows, query: str) -> None:
    rows("CREATE OR REPLACE TABLE growing AS SELECT id FROM range(100)")
    writer, ended = engine.spark.newSession(), threading.Event()

    def write() -> None:
        writer.sql("USE logged")
        for number in count(1000):
            if ended.is_set():
                return
            writer.sql(f"INSERT INTO growing VALUES ({number})")

    with ThreadPoolExecutor(1) as other:
        writing = other.submit(write)
        try:
            assert [engine.spark.sql(query).head()[0] for _ in range(12)] == [0] * 12
        finally:
            ended.set()
        writing.result()
