"""What Spark's readers answer otherwise than Spark: zeros, days that the calendar left out, NaN in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.soak import sampled
from tests.statements import Rows, rows_in

ZEROS = {"d = -0.0D": 10, "d IN (-0.0D, 7D)": 10, "d <= -0.0D": 10, "d <=> -0.0D": 10, "d NOT IN (-0.0D, 7D)": 20,
         "s.x >= 0": 30, "s.x = CAST(0 AS FLOAT)": 30, "-0.0D >= d AND id > 3": 8}  # fmt: skip
DAYS = {"d = DATE'1582-10-10'": [1], "d >= DATE'1582-10-10'": [1, 2, 3], "d < DATE'1582-10-12'": [1],
        "t = TIMESTAMP'1582-10-10 00:00:00'": [1], "t > TIMESTAMP'1582-10-11'": [2, 3],
        "d IN (DATE'1582-10-12', DATE'1582-10-20')": [2, 3]}  # fmt: skip
MEMORY = {"d = DOUBLE('NaN')": [1], "d > 5D": [1], "d >= 1D": [1, 2], "NOT (d <= 1D)": [1], "isnan(d)": [1],
          "f > 5": [1], "d IN (SELECT d FROM plain WHERE d > 1e200)": [1], "d < 5D": [2], "d IS NULL": [3]}  # fmt: skip


@pytest.fixture(scope="module")
def rows(engine: Any) -> Iterator[Rows]:
    for rows in rows_in(engine, "careful"):
        rows("CREATE TABLE zeros AS SELECT id, DOUBLE(id % 3) AS d, named_struct('x', -0.0F) AS s FROM range(30)")
        rows(
            "CREATE TABLE days AS SELECT id, d, CAST(d AS TIMESTAMP) AS t"
            " FROM VALUES (1, DATE'1582-10-10'), (2, DATE'1582-10-12'), (3, DATE'1582-10-20') AS v (id, d)"
        )
        rows(
            "CREATE TABLE plain AS SELECT id, d, CAST(d AS FLOAT) AS f"
            " FROM VALUES (1, DOUBLE('NaN')), (2, 1D), (3, NULL) AS v (id, d)"
        )
        rows("CREATE TABLE held TBLPROPERTIES ('cache' = 'true') AS SELECT * FROM plain")
        yield rows


@pytest.mark.parametrize("where", sampled(ZEROS))
def test_the_two_zeros_are_one(rows: Rows, where: str) -> None:
    assert rows(f"SELECT count(*) AS n FROM zeros WHERE {where}") == [{"n": ZEROS[where]}]
    assert rows(f"SELECT count(*) AS n FROM STREAM zeros WHERE {where}") == [{"n": ZEROS[where]}]


@pytest.mark.parametrize("where", DAYS)
def test_days_that_the_calendar_left_out(rows: Rows, where: str) -> None:
    assert [r["id"] for r in rows(f"SELECT id FROM days WHERE {where} ORDER BY id")] == DAYS[where]


@pytest.mark.parametrize("where", MEMORY)
def test_nan_is_found_in_memory(rows: Rows, where: str) -> None:
    for table in ("plain", "held"):
        assert [r["id"] for r in rows(f"SELECT id FROM {table} WHERE {where} ORDER BY id")] == MEMORY[where], table


def test_what_is_deleted_and_updated_is_found(rows: Rows) -> None:
    rows("CREATE TABLE changed AS SELECT * FROM zeros; DELETE FROM changed WHERE d = -0.0D")
    assert rows("SELECT count(*) AS n FROM changed") == [{"n": 20}]
    rows("CREATE TABLE moved AS SELECT * FROM days; UPDATE moved SET id = 9 WHERE d = DATE'1582-10-10'")
    assert [r["id"] for r in rows("SELECT id FROM moved ORDER BY id")] == [2, 3, 9]


def test_other_conditions_still_reach_the_files(rows: Rows) -> None:
    (told,) = rows("EXPLAIN SELECT * FROM zeros WHERE id = 3 AND d = 1.5D AND d <> 0")
    assert "EqualTo(id,3)" in told["plan"] and "EqualTo(d,1.5)" in told["plan"] and "0.0)" not in told["plan"]
