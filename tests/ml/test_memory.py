"""Rows that lie in memory are not gone over before MLlib goes over them, and nothing that is refused else passes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.statements import Rows, rows_in
from warehouse.errors import WarehouseError
from warehouse.ml import generating

if TYPE_CHECKING:
    from warehouse.engine import Engine

LAST = "id = 11999"
"""A row that the first thousand do not tell of."""

TABLE = f"""
CREATE TABLE points AS
SELECT id, DOUBLE(id % 7) AS x, DOUBLE(id % 5) AS y, id % 2 = 0 AS even, if({LAST}, NULL, DOUBLE(id % 11)) AS hole,
       if({LAST}, DOUBLE('NaN'), 1) AS no_number, if({LAST}, 0.5, id % 2) AS half, if({LAST}, -1, id % 2) AS negative,
       if({LAST}, NULL, id % 2) AS unknown, CAST({LAST} AS INT) AS rare, 1 AS one, if({LAST}, 'b', 'a') AS word
FROM range(0, 12000, 1, 2);
CACHE TABLE points
"""

REFUSED = {
    "GENERATE ML LogisticRegression((SELECT x, hole, even FROM points), even)": "WAREHOUSE_GENERATE_NULLS",
    "GENERATE ML LinearRegression((SELECT x, no_number, y FROM points), y)": "WAREHOUSE_GENERATE_NULLS",
    "GENERATE ML LogisticRegression((SELECT x, unknown FROM points), unknown)": "WAREHOUSE_GENERATE_NULLS",
    "GENERATE ML LinearRegression((SELECT x, hole FROM points), hole)": "WAREHOUSE_GENERATE_NULLS",
    "GENERATE ML LogisticRegression((SELECT x, half FROM points), half)": "WAREHOUSE_GENERATE_LABEL_VALUES",
    "GENERATE ML LogisticRegression((SELECT x, negative FROM points), negative)": "WAREHOUSE_GENERATE_LABEL_VALUES",
    "GENERATE ML LogisticRegression((SELECT x, one FROM points), one)": "WAREHOUSE_GENERATE_ONE_CLASS",
    "GENERATE ML LinearRegression((SELECT x, y FROM points WHERE x > 9), y)": "WAREHOUSE_GENERATE_NO_ROWS",
    "GENERATE ML LinearRegression((SELECT x, y, hole AS w FROM points), y, weight => w)": "WAREHOUSE_GENERATE_NULLS",
    "GENERATE ML KMeans((SELECT x, hole FROM points), 2)": "WAREHOUSE_GENERATE_NULLS",
}


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    for rows in rows_in(engine, "memory"):
        rows(TABLE)
        yield rows
        rows("UNCACHE TABLE points")


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return the examinations of all rows that were made."""
    made: list[Any] = []
    whole = generating.examine

    def counted(training: Any, frame: Any) -> Any:
        made.append(training)
        return whole(training, frame)

    monkeypatch.setattr(generating, "examine", counted)
    return made


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_is_refused_by_the_same_name(rows: Rows, text: str) -> None:
    with pytest.raises(WarehouseError) as caught:
        rows(text)
    assert caught.value.condition == REFUSED[text]


@pytest.mark.soak
def test_nothing_is_gone_over_before_mllib_does(rows: Rows, passes: list[Any]) -> None:
    rows("GENERATE ML LogisticRegression((SELECT x, y, even FROM points), even, max_iter => 2) AS MODEL told")
    assert passes == []
    rows("GENERATE ML LogisticRegression((SELECT x, rare FROM points), rare, max_iter => 2) AS MODEL seldom")
    assert len(passes) == 1  # the first rows are of one class


def test_a_failure_is_looked_into_once(rows: Rows, passes: list[Any]) -> None:
    with pytest.raises(WarehouseError) as caught:
        rows("GENERATE ML LogisticRegression((SELECT x, hole, even FROM points), even) AS MODEL broken AS TABLE broken")
    assert "hole in 1" in str(caught.value) and "12000 rows" in str(caught.value)
    assert len(passes) == 1
    assert rows("SHOW MODELS LIKE 'broken'") == [] and rows("SHOW TABLES LIKE 'broken'") == []


def test_infinity_is_told_in_mllibs_words(rows: Rows, passes: list[Any]) -> None:
    with pytest.raises(WarehouseError) as caught:
        rows(f"GENERATE ML LinearRegression((SELECT x, if({LAST}, double('Infinity'), x) AS z, y FROM points), y)")
    assert caught.value.condition == "WAREHOUSE_GENERATE_FAILED" and "Infinity" in str(caught.value)
