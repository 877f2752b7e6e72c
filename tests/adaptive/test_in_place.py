"""Tables that are distributed alike are joined in their partitions, though one could be sent to all tasks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adaptive.conftest import answered, settings
from tests.soak import soaked
from tests.statements import rows_of
from warehouse.engine import Engine

SENT = {"spark.sql.autoBroadcastJoinThreshold": "32MB"}
APART = SENT | {"warehouse.distribution": "false"}
TABLES = """
CREATE SCHEMA IF NOT EXISTS in_place;
CREATE TABLE in_place.lines AS
  SELECT id % 90000 AS k, xxhash64(id) >> 16 AS v, xxhash64(id, 1) AS u FROM range(300000) DISTRIBUTE BY k;
CREATE TABLE in_place.orders TBLPROPERTIES ('copartition' = 'in_place.lines') AS
  SELECT if(id % 50 = 0, NULL, id) AS k, xxhash64(id, 2) >> 16 AS w, id % 70000 AS buyer FROM range(0, 200000)
  DISTRIBUTE BY k;
CREATE TABLE in_place.few TBLPROPERTIES ('copartition' = 'in_place.lines') AS
  SELECT id AS k, id AS w FROM range(100) DISTRIBUTE BY k;
CREATE TABLE in_place.buyers AS
  SELECT id AS buyer, unhex(sha2(CAST(id AS STRING), 512)) AS name FROM range(60000)
"""


@pytest.fixture(scope="module")
def pair(engine: Engine) -> Iterator[Engine]:
    rows_of(engine, TABLES)
    rows_of(engine, "USE in_place")
    yield engine
    rows_of(engine, "USE default")


def _joins(plan: str) -> tuple[int, int]:
    """Return how many joins hash partitions, and how many tables are sent."""
    return plan.count("ShuffledHashJoin"), plan.count("BroadcastExchange")


@pytest.mark.parametrize("kind", ["", soaked("LEFT"), soaked("RIGHT"), soaked("LEFT SEMI"), "LEFT ANTI"])
def test_every_kind_of_join_is_done_in_place(pair: Engine, kind: str) -> None:
    w = "0" if "SEMI" in kind or "ANTI" in kind else "sum(w)"
    query = f"SELECT count(*), sum(v), {w} FROM lines l {kind} JOIN orders o ON l.k = o.k AND l.v % 3 <> o.k % 3"
    with settings(pair, SENT):
        plan, rows = answered(pair, query)
    with settings(pair, APART | {"warehouse.join.largerSideHashed": "false"}):
        other, expected = answered(pair, query)
    assert rows == expected
    assert _joins(plan) == (1, 0)
    assert "Exchange hashpartitioning" not in plan
    assert _joins(other) == (0, 1)


@pytest.mark.parametrize("kind", ["", "LEFT SEMI"])
def test_also_with_a_little_table(pair: Engine, kind: str) -> None:
    plan, rows = answered(pair, f"SELECT l.k FROM lines l {kind} JOIN few f ON l.k = f.k")
    assert len(rows) == 400 and "Exchange" not in plan.replace("ReusedExchange", "")


@pytest.mark.parametrize("memory", [False, True])
def test_the_side_is_hashed_of_which_statistics_expect_less(pair: Engine, memory: bool) -> None:
    """Of all lines one in a thousand is between the bounds; nobody would send an eighth of them to all tasks."""
    query = "SELECT l.k, l.v, f.w FROM lines l JOIN few f ON l.k = f.k"
    (one,) = rows_of(pair, "SELECT any_value(v) AS v FROM lines WHERE k = 7")
    some = f"{query} WHERE l.v BETWEEN {one['v'] - 10**11} AND {one['v'] + 10**11}"
    if memory:
        rows_of(pair, "CACHE TABLE lines; CACHE TABLE few")
    all_, _ = answered(pair, query)
    plan, rows = answered(pair, some)
    both, _ = answered(pair, f"{some} AND f.w < 1")
    with settings(pair, APART):
        _, expected = answered(pair, some)
    rows_of(pair, "UNCACHE TABLE IF EXISTS lines; UNCACHE TABLE IF EXISTS few")
    assert "Inner, BuildRight" in all_ and "Inner, BuildLeft" in plan and "Inner, BuildRight" in both
    assert rows == expected != []


def test_several_in_one_stage(pair: Engine) -> None:
    query = (
        "SELECT count(*) FROM lines l JOIN orders o USING (k) JOIN few f ON f.k = l.v % 7"
        " WHERE EXISTS (SELECT 1 FROM lines m WHERE m.k = l.k AND m.v <> l.v)"
    )
    with settings(pair, SENT):
        plan, rows = answered(pair, query)
    with settings(pair, APART):
        assert rows == answered(pair, query)[1]
    assert _joins(plan) == (2, 1)
    assert "Exchange hashpartitioning" not in plan


def test_also_in_memory(pair: Engine) -> None:
    query = "SELECT count(*), sum(v + w) FROM lines JOIN orders USING (k)"
    with settings(pair, SENT):
        _, expected = answered(pair, query)
        rows_of(pair, "CACHE TABLE lines; CACHE TABLE orders")
        plan, rows = answered(pair, query)
        rows_of(pair, "UNCACHE TABLE lines; UNCACHE TABLE orders")
    assert rows == expected
    assert "Scan In-memory table" in plan
    assert _joins(plan) == (1, 0)


@pytest.mark.parametrize(
    "query",
    {
        "who hints has chosen": "SELECT /*+ BROADCAST(orders) */ count(*) FROM lines JOIN orders USING (k)",
        "other columns": "SELECT count(*) FROM lines JOIN orders ON lines.v = orders.w",
        "what may turn out small": "SELECT count(*) FROM lines JOIN (SELECT k, sum(w) AS w FROM orders GROUP BY k"
        " HAVING sum(w) = 0) USING (k)",
        "NOT IN with its NULLs": "SELECT count(*) FROM lines WHERE k NOT IN (SELECT k FROM orders)",
    }.items(),
    ids=lambda item: item[0],
)
def test_sent_where_that_is_better(pair: Engine, query: tuple[str, str]) -> None:
    with settings(pair, SENT):
        plan, rows = answered(pair, query[1])
    with settings(pair, APART):
        assert rows == answered(pair, query[1])[1]
    assert _joins(plan)[0] == 0, plan


BOUGHT = (
    "SELECT count(*), sum(v + (u >> 16)), sum(hash(name)) FROM buyers b"
    " {} orders o ON b.buyer = o.buyer JOIN lines l ON l.k = o.k"
)


@pytest.mark.parametrize("threshold", ["32MB", "5MB"], ids=["lines could be sent", "lines could not"])
def test_a_distributed_table_stays_where_it_is_and_another_one_is_sent_to_it(pair: Engine, threshold: str) -> None:
    with settings(pair, {"spark.sql.autoBroadcastJoinThreshold": threshold}):
        plan, rows = answered(pair, BOUGHT.format("JOIN"))
    with settings(pair, APART):
        other, expected = answered(pair, BOUGHT.format("JOIN"))
    assert rows == expected
    assert _joins(plan) == (1, 1), plan
    assert "Exchange hashpartitioning" not in plan
    assert "[buyer#" in plan and "Inner, BuildLeft" in plan  # the buyers are sent, who are more bytes than the orders
    assert "Inner, BuildLeft" not in other


@pytest.mark.parametrize(
    ("query", "given"),
    [
        (BOUGHT.format("LEFT JOIN").replace("l.k =", "l.k <=>"), SENT),
        soaked(BOUGHT.format("JOIN").replace("SELECT", "SELECT /*+ BROADCAST(o) */"), SENT),
        soaked(BOUGHT.format("JOIN"), {"spark.sql.autoBroadcastJoinThreshold": "3500KB"}),
        soaked(BOUGHT.format("JOIN").replace("buyers b", "(SELECT DISTINCT * FROM buyers) b"), SENT),
    ],
    ids=["an outer join", "a hint", "too large to be sent", "what is no table"],
)
def test_another_table_is_not_sent_where_it_must_not_be(pair: Engine, query: str, given: dict[str, str]) -> None:
    with settings(pair, given):
        plan, rows = answered(pair, query)
    with settings(pair, APART):
        assert rows == answered(pair, query)[1]
    assert "BroadcastHashJoin [buyer#" not in plan or "Inner, BuildLeft" not in plan


def test_a_shuffle_that_was_asked_for_stays(pair: Engine) -> None:
    bought = BOUGHT.format("JOIN").partition("FROM")[2].partition(" JOIN lines")[0]
    query = (
        "SELECT count(*), sum(v + (u >> 16)), sum(hash(name)) FROM lines l JOIN"
        f" (SELECT o.k, name FROM {bought} DISTRIBUTE BY o.k) USING (k)"
    )
    with settings(pair, {"spark.sql.autoBroadcastJoinThreshold": "5MB", "spark.sql.shuffle.partitions": "4"}):
        plan, rows = answered(pair, query)
    with settings(pair, APART):
        assert rows == answered(pair, query)[1]
    assert "REPARTITION_BY_COL" in plan


LARGE = {"spark.sql.autoBroadcastJoinThreshold": "1500KB", "spark.sql.adaptive.autoBroadcastJoinThreshold": "1KB"}
"""With it neither table is sent, and both are small enough to be hashed."""
SORTED = LARGE | {"warehouse.join.unsorted": "false"}


@pytest.mark.parametrize(
    "kind", ["", soaked("LEFT"), soaked("RIGHT"), soaked("LEFT SEMI"), "LEFT ANTI", soaked("FULL OUTER")]
)
def test_a_table_too_large_to_be_sent_is_hashed_and_none_is_sorted(pair: Engine, kind: str) -> None:
    w = "0" if "SEMI" in kind or "ANTI" in kind else "sum(w)"
    query = f"SELECT count(*), sum(v), {w} FROM lines l {kind} JOIN orders o ON l.k = o.k AND l.v % 3 <> o.k % 3"
    with settings(pair, LARGE):
        plan, rows = answered(pair, query)
    with settings(pair, SORTED):
        other, expected = answered(pair, query)
    assert rows == expected
    assert "Exchange hashpartitioning" not in plan + other
    assert other.count("SortMergeJoin") == 1 and other.count("Sort ") == 2
    assert (plan.count("SortMergeJoin"), plan.count("Sort ")) == ((1, 2) if kind == "FULL OUTER" else (0, 0))


@pytest.mark.parametrize(
    ("query", "given"),
    [
        ("SELECT k, v, w, sum(w) OVER (PARTITION BY k) FROM lines JOIN orders USING (k)", {}),
        ("SELECT /*+ MERGE(orders) */ count(*), sum(v + w) FROM lines JOIN orders USING (k)", {}),
        (
            "SELECT count(*), sum(v + w) FROM lines JOIN orders USING (k)",
            {"spark.sql.autoBroadcastJoinThreshold": "9KB"},
        ),
    ],
    ids=["the order is needed", "who hints has chosen", "too large"],
)
def test_sorted_where_that_is_better(pair: Engine, query: str, given: dict[str, str]) -> None:
    with settings(pair, LARGE | given):
        plan, rows = answered(pair, query)
    with settings(pair, SORTED | given):
        other, expected = answered(pair, query)
    assert rows == expected
    assert plan.count("SortMergeJoin") == other.count("SortMergeJoin") == 1
    assert plan.count("Sort ") == other.count("Sort ")


def test_also_where_nothing_may_be_sent(pair: Engine) -> None:
    query = "SELECT count(*), sum(v + w) FROM lines JOIN orders USING (k)"
    with settings(pair, dict.fromkeys(LARGE, "-1")):
        plan, rows = answered(pair, query)
    assert _joins(plan) == (1, 0) and "Sort" not in plan
    with settings(pair, SENT):
        assert rows == answered(pair, query)[1]
