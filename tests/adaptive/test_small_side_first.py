"""A join's likely small side is run first, and the other is never shuffled when it turns out small."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from tests.adaptive.conftest import settings
from tests.soak import sampled
from warehouse.adaptive.recording import Recording
from warehouse.engine import Engine, WarehouseError

OFF = {"warehouse.join.smallSideFirst": "false"}
JOIN = "SELECT count(*), sum(i.id) FROM items i JOIN suppliers s ON i.supplier = s.supplier"
RARE = f"{JOIN} WHERE s.address LIKE '%77'"
COMMON = f"{JOIN} WHERE s.address NOT LIKE '%77'"


def measured(engine: Engine, query: str):
    """Return the rows of a query, what ran for it, and how many rows were written to shuffles."""
    with Recording(engine.spark) as recording:
        frame = engine.spark.sql(query)
        recording.drain(frame)
    (run,) = recording.runs()
    return frame.collect(), run, sum(stage.shuffle_rows_out for stage in recording.stages())


def test_the_large_side_is_never_shuffled_when_the_small_one_is_small(tables: Engine) -> None:
    rows, run, shuffled = measured(tables, RARE)
    (planned,), (join,) = run.planned, run.joins
    assert (planned.algorithm, join.algorithm) == ("ShuffledHashJoin", "BroadcastHashJoin")
    assert (join.first, join.build, join.sizes[0]) == (1, 1, None)
    assert shuffled == 20 + 2  # the suppliers that are left, and a partial sum of each task
    assert rows[0][0] == 600


def test_so_it_is_by_a_function_that_nobody_can_look_into(tables: Engine) -> None:
    rows, run, shuffled = measured(tables, f"{JOIN} WHERE is_rare(s.address)")
    assert (run.joins[0].algorithm, run.joins[0].first, shuffled) == ("BroadcastHashJoin", 1, 22)
    assert rows == tables.spark.sql(RARE).collect()


def test_adaptive_execution_alone_has_shuffled_it_by_then(tables: Engine) -> None:
    with settings(tables, OFF):
        rows, run, shuffled = measured(tables, RARE)
    assert run.joins[0].algorithm == "BroadcastHashJoin"
    assert run.joins[0].first is None and run.joins[0].sizes[0] is not None
    assert shuffled > 60_000
    assert rows == measured(tables, RARE)[0]


def test_it_stays_a_shuffle_join_when_it_is_large_and_nothing_runs_twice(tables: Engine) -> None:
    rows, run, shuffled = measured(tables, COMMON)
    assert (run.joins[0].algorithm, run.joins[0].first) == ("SortMergeJoin", 1)
    with settings(tables, OFF):
        off, run_off, shuffled_off = measured(tables, COMMON)
    assert run_off.joins[0].first is None
    assert shuffled == shuffled_off
    assert rows == off


@pytest.mark.parametrize(
    ("join", "first"),
    sampled(
        [
            ("items i JOIN suppliers s ON i.supplier = s.supplier", 1),
            ("suppliers s JOIN items i ON i.supplier = s.supplier", 0),
            ("items i LEFT JOIN (SELECT * FROM suppliers s WHERE {rare}) s ON i.supplier = s.supplier", 1),
            ("(SELECT * FROM suppliers s WHERE {rare}) s RIGHT JOIN items i ON i.supplier = s.supplier", 0),
            ("items i LEFT SEMI JOIN (SELECT * FROM suppliers s WHERE {rare}) s ON i.supplier = s.supplier", 1),
            ("items i LEFT ANTI JOIN (SELECT * FROM suppliers s WHERE {rare}) s ON i.supplier = s.supplier", 1),
            # sides that may not be broadcast
            ("items i RIGHT JOIN (SELECT * FROM suppliers s WHERE {rare}) s ON i.supplier = s.supplier", None),
            ("items i FULL JOIN (SELECT * FROM suppliers s WHERE {rare}) s ON i.supplier = s.supplier", None),
            ("(SELECT * FROM suppliers s WHERE {rare}) s LEFT ANTI JOIN items i ON i.supplier = s.supplier", None),
        ]
    ),
)
def test_only_a_side_that_may_be_broadcast_is_run_first(tables: Engine, join: str, first: int | None) -> None:
    rare = "s.address LIKE '%77'"
    where = f" WHERE {rare}" if "{rare}" not in join else ""
    query = f"SELECT count(*) FROM {join.format(rare=rare)}{where}"
    rows, run, _ = measured(tables, query)
    assert [j.first for j in run.joins] == [first]
    with settings(tables, OFF):
        assert rows == tables.spark.sql(query).collect()


@pytest.mark.parametrize(
    "condition", ["EXISTS (SELECT 1 FROM suppliers s WHERE s.supplier = i.supplier AND s.address LIKE '%77')",
                  "i.supplier NOT IN (SELECT s.supplier FROM suppliers s WHERE s.address LIKE '%7')"],
)  # fmt: skip
def test_a_condition_that_may_hold_without_its_subquery_is_joined_too(tables: Engine, condition: str) -> None:
    query = f"SELECT count(*), sum(id) FROM items i WHERE i.kind = 3 OR {condition}"
    rows = tables.spark.sql(query).collect()
    with settings(tables, OFF | {"spark.sql.autoBroadcastJoinThreshold": "32MB"}):
        assert rows == tables.spark.sql(query).collect()


@pytest.mark.parametrize(
    "query",
    [
        JOIN,  # no filter
        f"{JOIN} WHERE s.supplier > 10",  # a range of a column
        f"{JOIN} WHERE i.said LIKE '%00'",  # on the large side
        "SELECT /*+ MERGE(s) */ count(*) FROM items i JOIN suppliers s ON i.supplier = s.supplier"
        " WHERE s.address LIKE '%77'",  # the user has chosen
    ],
)
def test_what_is_not_likely_to_be_small_waits_for_nothing(tables: Engine, query: str) -> None:
    assert [join.first for join in measured(tables, query)[1].joins] == [None]


def test_where_nothing_is_broadcast_nothing_waits(tables: Engine) -> None:
    with settings(tables, {"spark.sql.autoBroadcastJoinThreshold": "-1"}):
        assert measured(tables, RARE)[1].joins[0].first is None


def test_few_rows_in_many_partitions_are_broadcast_too(tables: Engine) -> None:
    with settings(tables, {"spark.sql.shuffle.partitions": "64"}):
        _, run, _ = measured(tables, f"{JOIN} WHERE s.address LIKE '%777'")
    assert (run.joins[0].algorithm, run.joins[0].sizes[0]) == ("BroadcastHashJoin", None)


def test_an_empty_side_ends_an_inner_join(tables: Engine) -> None:
    rows, run, shuffled = measured(tables, f"{JOIN} WHERE s.address LIKE 'nowhere%'")
    assert rows[0][0] == 0
    assert not run.joins
    assert shuffled <= 1


def test_a_side_that_stands_twice_is_run_once(tables: Engine) -> None:
    few = "(SELECT supplier, count(*) AS n FROM suppliers WHERE address LIKE '%77' GROUP BY supplier)"
    query = f"""
        SELECT count(*) FROM items i JOIN {few} a ON i.supplier = a.supplier JOIN {few} b ON i.supplier = b.supplier
        WHERE i.id IN (SELECT id FROM items WHERE said LIKE '%1')
    """
    with settings(tables, OFF):
        expected = tables.spark.sql(query).collect()
    assert tables.spark.sql(query).collect() == expected


@pytest.mark.soak
def test_a_chain_of_joins_waits_in_turn(tables: Engine) -> None:
    query = """
        SELECT count(*), sum(i.id) FROM items i
        JOIN (SELECT * FROM suppliers WHERE address LIKE '%7') a ON i.supplier = a.supplier
        JOIN (SELECT kind, supplier FROM suppliers WHERE address LIKE '%77') b ON i.id = b.supplier
        JOIN items j ON j.id = i.id
        WHERE i.id NOT IN (SELECT supplier FROM suppliers WHERE address LIKE '%1%' AND supplier IS NOT NULL)
    """
    with settings(tables, OFF):
        expected = tables.spark.sql(query).collect()
    assert tables.spark.sql(query).collect() == expected


def test_explain_runs_nothing_and_shows_the_order(tables: Engine) -> None:
    with Recording(tables.spark) as recording:
        (result,) = tables.run(f"EXPLAIN {RARE}")
        plan = next(iter(result.batches)).to_pylist()[0]["plan"]
    assert not recording.stages()
    assert plan.index("WaitForOther") < plan.index("RunFirst") < plan.index("LikelySmall")
    assert "OtherSide" not in plan


def test_a_view_and_a_write_have_it_too(tables: Engine, analyzed: Callable[[str], str]) -> None:
    list(tables.run("CREATE OR REPLACE TABLE rare_items AS SELECT i.* FROM items i LIMIT 0"))
    told = analyzed(
        "INSERT INTO rare_items SELECT i.* FROM items i JOIN suppliers s ON i.supplier = s.supplier"
        " WHERE s.address LIKE '%77'"
    )
    assert "the left side was never shuffled" in told
    assert tables.spark.table("rare_items").count() == 600


def test_a_failure_on_the_side_that_runs_first_is_told_as_ever(tables: Engine) -> None:
    query = f"{JOIN} WHERE 1 / (s.supplier - 77) > 0 AND s.address LIKE '%77'"
    with pytest.raises(WarehouseError) as raised:
        list(tables.run(query))
    assert raised.value.condition == "DIVIDE_BY_ZERO"
    assert "^^^^" in str(raised.value)


def test_cancel_ends_both_sides(tables: Engine) -> None:
    tables.spark.udf.register("slow", lambda address: time.sleep(0.05) or True, "boolean")
    other = tables.on(tables.spark)
    failed: list[BaseException] = []

    def run() -> None:
        try:
            list(other.run(f"EXPLAIN ANALYZE {JOIN} WHERE slow(s.address)"))
        except WarehouseError as error:
            failed.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    until = time.monotonic() + 120
    while not tables.spark.sparkContext.statusTracker().getActiveStageIds():
        assert time.monotonic() < until
        time.sleep(0.1)
    until = time.monotonic() + 300
    while thread.is_alive():  # the stage may be one of what ran before, and this yet to begin
        assert time.monotonic() < until
        other.cancel()
        thread.join(5)
    assert [error.condition for error in failed] == ["WAREHOUSE_CANCELLED"]
    assert measured(tables, RARE)[1].joins[0].first == 1
