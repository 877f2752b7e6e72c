"""Rows that lie together by the keys they are grouped by are aggregated once; what comes out is the same."""

from __future__ import annotations

import pytest

from tests.adaptive.conftest import answered, settings
from tests.soak import soaked
from warehouse.engine import Engine

OFF = {"warehouse.aggregation.once": "false"}
TOGETHER = "(SELECT * FROM items DISTRIBUTE BY supplier)"


def _aggregations(engine: Engine, query: str) -> tuple[int, list[str]]:
    """Return how often rows are aggregated by hashing, and the rows of the answer."""
    plan, rows = answered(engine, query)
    return plan.count("HashAggregate("), rows


@pytest.mark.parametrize("adaptive", ["true", soaked("false")])
@pytest.mark.parametrize(
    "aggregates",
    [
        "count(*), sum(id), avg(id), min(kind)",
        "sum(id) FILTER (WHERE kind = 3), count(kind) FILTER (WHERE id > 50000)",
        "approx_count_distinct(said), stddev(id)",
        "count(*) + supplier AS n",
    ],
)
def test_once_where_rows_lie_together(tables: Engine, aggregates: str, adaptive: str) -> None:
    query = f"SELECT supplier, {aggregates} FROM {TOGETHER} GROUP BY supplier"
    with settings(tables, {"spark.sql.adaptive.enabled": adaptive}):
        times, rows = _aggregations(tables, query)
        with settings(tables, OFF):
            before, expected = _aggregations(tables, query)
    assert (times, before) == (1, 2)
    assert rows == expected
    assert len(rows) == 2000


@pytest.mark.parametrize(
    "query",
    [
        "SELECT supplier, count(*) FROM items GROUP BY supplier",
        f"SELECT kind, count(*) FROM {TOGETHER} GROUP BY kind",
        f"SELECT supplier, count(DISTINCT kind), sum(id) FROM {TOGETHER} GROUP BY supplier",
    ],
)
def test_twice_where_they_do_not(tables: Engine, query: str) -> None:
    times, rows = _aggregations(tables, query)
    with settings(tables, OFF):
        before, expected = _aggregations(tables, query)
    assert times == before > 1
    assert rows == expected
