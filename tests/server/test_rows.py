"""How a result reaches a client: few rows in one job, many a partition at a time, the same rows either way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from benchmarks import status
from tests.server.conftest import Jdbc
from warehouse.engine import Engine

HUGE = "range(0, 1000000000, 1, 200)"


def test_a_few_rows_of_many_partitions_are_one_job(engine: Engine, pyhive: Callable[..., Any]) -> None:
    cursor = pyhive().cursor()
    with status.watched(engine.spark) as seen:
        cursor.execute("SELECT id FROM range(0, 50, 1, 7)")
        assert cursor.fetchall() == [(n,) for n in range(50)]
    assert len(seen.stages) == 1


def test_a_limit_reads_no_further_than_it_needs(engine: Engine, pyhive: Callable[..., Any]) -> None:
    cursor = pyhive().cursor()
    with status.watched(engine.spark) as seen:
        cursor.execute(f"SELECT id FROM {HUGE} LIMIT 1000")
        assert len(cursor.fetchall()) == 1000
    assert seen.tasks == 1


def test_what_is_made_of_little_may_be_much(pyhive: Callable[..., Any]) -> None:
    cursor = pyhive().cursor(arraysize=1000)
    cursor.execute("SELECT id, n FROM range(0, 4, 1, 2) LATERAL VIEW explode(sequence(1, 5000)) AS n")
    assert cursor.fetchall() == [(i, n) for i in range(4) for n in range(1, 5001)]


@pytest.mark.parametrize("many", [1_999, 2_000, 2_001])
def test_at_the_border(many: int, pyhive: Callable[..., Any]) -> None:
    cursor = pyhive().cursor(arraysize=1000)
    cursor.execute(f"SELECT id FROM range(0, {many}, 1, 3) ORDER BY id DESC")
    assert cursor.fetchall() == [(n,) for n in reversed(range(many))]
    cursor.execute(f"SELECT id FROM {HUGE} ORDER BY id LIMIT {many}")
    assert [number for (number,) in cursor.fetchall()] == list(range(many))


def test_a_row_that_fails_is_told_when_it_is_asked_for(pyhive: Callable[..., Any]) -> None:
    cursor = pyhive().cursor()
    cursor.execute("SELECT 1 / id FROM range(0, 3, 1, 3)")
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO") as caught:
        cursor.fetchall()
    assert "at org.apache" not in str(caught.value)


def test_a_result_passes_through(jdbc: Jdbc) -> None:
    jdbc.statement.setFetchSize(1000)
    jdbc.statement.execute("SELECT id, repeat('x', 100) FROM range(0, 1000000000, 1, 20000)")
    found = jdbc.statement.getResultSet()
    for number in range(2500):
        assert found.next() and found.getLong(1) == number
    found.close()
