"""Of an outer, semi or anti join the side that is not kept is sent to all tasks, unless it is the larger one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adaptive.conftest import settings
from tests.statements import rows_of
from warehouse.engine import Engine

SENT = {"spark.sql.autoBroadcastJoinThreshold": "32MB"}
OFF = SENT | {"warehouse.join.largerSideHashed": "false"}


@pytest.fixture(scope="module")
def people(engine: Engine) -> Iterator[Engine]:
    """Return the engine, with the table ``orders`` of some megabytes and two that are smaller."""
    rows_of(
        engine,
        """
        CREATE SCHEMA larger; USE larger;
        CREATE TABLE people AS SELECT id AS person, CAST(id % 5 AS INT) AS kind FROM range(3000);
        CREATE TABLE few AS SELECT id * 3 AS person FROM range(500);
        CREATE TABLE orders AS
          SELECT if(id % 9 = 0, NULL, xxhash64(id) % 4000) AS person, xxhash64(id, 1) AS price FROM range(200000)
        """,
    )
    with settings(engine, SENT):
        yield engine
    rows_of(engine, "USE default")


def ran(engine: Engine, query: str) -> tuple[list[str], list[str]]:
    """Return the joins of a plan as it ended, and the rows."""
    ended, _, rows = planned_and_ran(engine, query)
    return ended, rows


def planned_and_ran(engine: Engine, query: str) -> tuple[list[str], list[str], list[str]]:
    """Return the joins of a plan as it ended, those as it began, and the rows."""
    frame = engine.spark.sql(query)
    rows = sorted(map(str, frame.collect()))
    ended, _, begun = frame._jdf.queryExecution().executedPlan().toString().partition("== Initial Plan ==")
    return joins_of(ended), joins_of(begun), rows


def joins_of(plan: str) -> list[str]:
    return [word for word in plan.split() if word.endswith("HashJoin") or word.endswith("MergeJoin")]


LARGER = [
    "SELECT kind, count(price), sum(price >> 20) FROM people p LEFT JOIN orders o ON p.person = o.person GROUP BY kind",
    "SELECT kind, count(price), sum(price >> 20) FROM orders o RIGHT JOIN people p"
    " ON p.person = o.person AND price % 9 <> kind GROUP BY kind",
    "SELECT count(*) FROM people p LEFT SEMI JOIN orders o ON p.person = o.person",
    "SELECT count(*) FROM people p WHERE NOT EXISTS"
    " (SELECT 1 FROM orders o WHERE o.person = p.person AND price > kind)",
    "SELECT count(*) FROM people p WHERE kind = 2 OR EXISTS (SELECT 1 FROM orders o WHERE o.person = p.person)",
]


@pytest.mark.soak
def test_tables_in_memory_are_joined_as_those_of_files(people: Engine) -> None:
    """The limit is between what the files of all columns take and those of the key: also once memory was read."""
    for name, rows in (("placed", "orders"), ("known", "people")):
        alike = " TBLPROPERTIES ('copartition' = 'placed')" if name == "known" else ""
        rows_of(people, f"CREATE TABLE {name}{alike} AS SELECT * FROM {rows} DISTRIBUTE BY person")
    plan = people.spark.table("placed")._jdf.queryExecution().optimizedPlan()
    query = "SELECT count(*) FROM known k LEFT SEMI JOIN placed p ON k.person = p.person"
    with settings(people, {"spark.sql.autoBroadcastJoinThreshold": str(int(0.7 * plan.stats().sizeInBytes()))}):
        expected = planned_and_ran(people, query)
        rows_of(people, "CACHE TABLE placed; CACHE TABLE known")
        found = planned_and_ran(people, query)
    assert found == expected and expected[0] == ["ShuffledHashJoin"]


@pytest.mark.parametrize("query", LARGER)
def test_the_larger_side_is_hashed_in_partitions(people: Engine, query: str) -> None:
    joins, rows = ran(people, query)
    with settings(people, OFF):
        before, expected = ran(people, query)
    assert (joins, before) == (["ShuffledHashJoin"], ["BroadcastHashJoin"])
    assert rows == expected


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM orders o LEFT JOIN people p ON p.person = o.person",  # the smaller one
        "SELECT count(*) FROM people p LEFT JOIN (SELECT * FROM orders LIMIT 9) o ON p.person = o.person",
        "SELECT count(*) FROM people LEFT SEMI JOIN (SELECT price FROM orders GROUP BY price) ON person = price",
        "SELECT count(*) FROM few f LEFT SEMI JOIN people p ON p.person = f.person",  # the larger one, and little
        "SELECT /*+ BROADCAST(o) */ count(*) FROM people p LEFT JOIN orders o ON p.person = o.person",
        "SELECT count(*) FROM people p JOIN orders o ON p.person = o.person",  # either may be sent
        "SELECT count(*) FROM people p WHERE person NOT IN (SELECT person FROM orders)",  # one NULL is enough
    ],
)
def test_it_is_sent_where_that_is_better_or_asked_for(people: Engine, query: str) -> None:
    joins, rows = ran(people, query)
    with settings(people, OFF):
        assert (joins, rows) == ran(people, query)
    assert "ShuffledHashJoin" not in joins


def test_a_side_that_turns_out_smaller_is_sent_after_all(people: Engine) -> None:
    query = "SELECT count(price) FROM people p LEFT JOIN (SELECT * FROM orders WHERE abs(price % 1000) < 2) o"
    ended, begun, rows = planned_and_ran(people, f"{query} ON p.person = o.person")
    with settings(people, {"warehouse.join.largerSideHashed": "false", "spark.sql.autoBroadcastJoinThreshold": "-1"}):
        _, expected = ran(people, f"{query} ON p.person = o.person")
    assert (begun, ended, rows) == (["ShuffledHashJoin"], ["BroadcastHashJoin"], expected)
