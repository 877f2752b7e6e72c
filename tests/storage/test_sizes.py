"""By which sizes joins are planned: those of files as they are, and of the share that conditions likely leave."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adaptive.conftest import settings
from warehouse.engine import Engine

SETTING = "warehouse.statistics"
TABLES = """
CREATE SCHEMA IF NOT EXISTS sizes;
CREATE TABLE sizes.facts AS
  SELECT id, id % 4 AS quarter, concat('name ', id) AS name, DATE '2024-01-01' + CAST(id % 1000 AS INT) AS day,
    CAST(id AS DECIMAL(12, 2)) AS price, if(id % 2 = 0, NULL, id) AS odd, named_struct('kind', id % 10) AS nested,
    sqrt(id) AS root, id % 3 = 0 AS third
  FROM range(0, 40000, 1, 1)
"""


@pytest.fixture(scope="module")
def facts(engine: Engine) -> Iterator[Engine]:
    """Return the engine with a table of one file, its schema being the current one."""
    list(engine.run(f"{TABLES}; USE sizes"))
    yield engine
    list(engine.run("USE default"))


def size(engine: Engine, query: str) -> int:
    """Return how many bytes Spark takes the one table of a query for."""
    plan = engine.spark.sql(query)._jdf.queryExecution().optimizedPlan()
    while plan.children().size():
        plan = plan.children().head()
    return int(plan.stats().sizeInBytes())


def share(engine: Engine, condition: str) -> float:
    """Return the share of the table that Spark counts on."""
    return size(engine, f"SELECT * FROM facts WHERE {condition}") / size(engine, "SELECT * FROM facts")


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("quarter = 1", 1 / 4),
        ("quarter <> 1", 3 / 4),
        ("quarter IN (1, 2)", 1 / 2),
        ("NOT quarter BETWEEN 1 AND 2", 1 / 2),
        ("quarter = 1 AND quarter = 2", 0.0),
        ("quarter * 2 > 3", 1 / 2),
        ("quarter = 1 OR quarter = 2", 1 / 2),
        ("nested.kind < 5", 1 / 2),
        ("id < 10000", 1 / 4),
        ("30000 <= id", 1 / 4),
        ("id >= 10000 AND id < 20000", 1 / 4),
        ("id BETWEEN 10000 AND 29999", 1 / 2),
        ("day < DATE '2024-01-01' + 500", 1 / 2),
        ("price > 30000", 1 / 4),
        ("root < 100", 1 / 2),
        ("id < 20000 AND quarter = 1", 1 / 8),
        ("odd IS NOT NULL", 1 / 2),
        ("odd > 20000", 1 / 4),
        ("quarter IS NULL", 0.0),
        ("12 / quarter = 12", 1 / 2),  # the query fails for zeros, which are no reason to leave a file out
    ],
)
def test_what_is_known_counts(facts: Engine, condition: str, expected: float) -> None:
    assert share(facts, condition) == pytest.approx(max(expected, 1 / 8 if expected else 0), abs=0.01)


@pytest.mark.parametrize(
    "condition", ["id = 7", "id < 3", "name = 'name 3'", "id IN (1, 2, 3)", "odd IS NULL AND id = 2"]
)
def test_nothing_counts_for_less_than_an_eighth(facts: Engine, condition: str) -> None:
    assert share(facts, condition) == pytest.approx(1 / 8, abs=0.001)


@pytest.mark.parametrize(
    "condition",
    ["name LIKE '%7'", "id > quarter", "third", "rand() < 0.1", "id < (SELECT max(id) FROM facts) / 9", "abs(id) < 5",
     "root < CAST('NaN' AS DOUBLE)"],
)  # fmt: skip
def test_what_is_not_understood_leaves_everything(facts: Engine, condition: str) -> None:
    assert share(facts, condition) == 1


def test_a_table_in_memory_is_as_large_as_its_files(facts: Engine) -> None:
    queries = ["SELECT * FROM facts", "SELECT name FROM facts WHERE quarter = 1 AND day < '2024-02-01'"]
    before = [size(facts, query) for query in queries]
    list(facts.run("CACHE TABLE facts"))
    try:
        assert [size(facts, query) for query in queries] == before
        with settings(facts, {SETTING: "false"}):
            assert size(facts, queries[0]) != before[0]
    finally:
        list(facts.run("UNCACHE TABLE facts"))


def test_statistics_can_be_left_out(facts: Engine) -> None:
    with settings(facts, {SETTING: "false"}):
        assert share(facts, "quarter = 1") == 1


def test_the_side_of_which_less_is_left_is_hashed(facts: Engine) -> None:
    list(facts.run("CREATE OR REPLACE TABLE half AS SELECT id, name FROM facts WHERE id < 20000"))
    query = "SELECT count(*) FROM half h JOIN facts f ON h.id = f.id WHERE f.quarter = 1 AND f.day < '2024-02-01'"
    sides = {}
    for statistics in ("true", "false"):
        with settings(facts, {SETTING: statistics, "spark.sql.autoBroadcastJoinThreshold": "10MB"}):
            frame = facts.spark.sql(query)
            assert frame.collect() == [(160,)]
            sides[statistics] = "BuildRight" in frame._jdf.queryExecution().executedPlan().toString()
    assert sides == {"true": True, "false": False}


def test_a_table_that_grew_is_not_sent_for_its_size_at_birth(facts: Engine) -> None:
    list(facts.run("CREATE OR REPLACE TABLE grown AS SELECT id, sha2(string(id), 256) AS said FROM range(10)"))
    before = size(facts, "SELECT * FROM grown")
    list(facts.run("INSERT INTO grown SELECT id, sha2(string(id), 256) FROM range(10, 20000)"))
    assert size(facts, "SELECT * FROM grown") > 100 * before
    with settings(facts, {"spark.sql.autoBroadcastJoinThreshold": "100KB"}):
        frame = facts.spark.sql("SELECT * FROM grown a JOIN grown b ON a.said = b.said")
        assert "Broadcast" not in frame._jdf.queryExecution().executedPlan().toString()


def test_a_table_that_shrank_is_as_small_as_it_is(facts: Engine) -> None:
    rows = "SELECT id, sha2(string(id), 256) AS said FROM range(0, 9000, 1, 3)"
    list(facts.run(f"CREATE OR REPLACE TABLE shrunk AS {rows}"))
    before = size(facts, "SELECT * FROM shrunk")
    list(facts.run("DELETE FROM shrunk WHERE id >= 3000"))
    assert size(facts, "SELECT * FROM shrunk") < before / 2


def test_a_partitioned_table_is_as_large_as_what_is_read(facts: Engine) -> None:
    list(facts.run("CREATE OR REPLACE TABLE parted PARTITIONED BY (quarter) AS SELECT id, name, quarter FROM facts"))
    whole = size(facts, "SELECT * FROM parted")
    assert size(facts, "SELECT * FROM parted WHERE quarter = 1") == pytest.approx(whole / 4, rel=0.05)
