"""LIMIT and TopK reach the partitions: each gives a few rows, whatever stands between."""

from __future__ import annotations

import pytest

from warehouse.adaptive.observed import operators
from warehouse.adaptive.recording import Recording
from warehouse.engine import Engine

ALL = 60_000


def ran(engine: Engine, query: str):
    """Return the names of the operators that ran, the rows that were read, and those written to shuffles."""
    with Recording(engine.spark) as recording:
        recording.drain(engine.spark.sql(query))
    (run,) = recording.runs()
    stages = recording.stages()
    names = [operator.name for operator in operators(run.tree)]
    return names, sum(stage.rows_in for stage in stages), sum(stage.shuffle_rows_out for stage in stages)


@pytest.mark.parametrize(
    ("query", "operator"),
    [
        ("SELECT * FROM items LIMIT 5", "CollectLimit"),
        ("SELECT said FROM items_seen LIMIT 5", "CollectLimit"),
        ("SELECT * FROM (SELECT id FROM items UNION ALL SELECT supplier FROM items) LIMIT 5", "LocalLimit"),
        ("SELECT count(*) FROM (SELECT * FROM items LIMIT 5)", "LocalLimit"),
        ("SELECT * FROM (SELECT * FROM items LIMIT 5) JOIN suppliers USING (supplier)", "LocalLimit"),
        ("SELECT i.id FROM items i LEFT JOIN suppliers s ON i.supplier = s.supplier LIMIT 5", "LocalLimit"),
        ("SELECT * FROM items LIMIT 5 OFFSET 3", "CollectLimit"),
    ],
)
def test_each_partition_stops_early(tables: Engine, query: str, operator: str) -> None:
    list(tables.run("CREATE OR REPLACE VIEW items_seen AS SELECT id, said FROM items WHERE id >= 0"))
    names, read, shuffled = ran(tables, query)
    assert operator in names
    assert read <= ALL // 2  # a batch of 4,096 rows of each of a few files, and the other table
    assert shuffled < 2100


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id, said FROM items ORDER BY said LIMIT 5",
        "SELECT id, said FROM items_seen ORDER BY said, id DESC LIMIT 5",
        "SELECT id FROM (SELECT id FROM items UNION ALL SELECT -id FROM items) ORDER BY id LIMIT 5",
    ],
)
def test_the_first_of_all_are_the_first_of_each_partitions_first(tables: Engine, query: str) -> None:
    list(tables.run("CREATE OR REPLACE VIEW items_seen AS SELECT id, said FROM items WHERE id >= 0"))
    names, _, shuffled = ran(tables, query)
    assert names[0] == "TakeOrderedAndProject"
    assert "Sort" not in names
    assert shuffled <= 5 * 16
    unlimited = tables.spark.sql(query.replace(" LIMIT 5", "")).collect()
    assert tables.spark.sql(query).collect() == unlimited[:5]
