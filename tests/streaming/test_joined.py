"""A table joined with rows that can be taken back: as long as it stays as it was, and not a step longer."""

from __future__ import annotations

import pytest

from tests.soak import soaked
from tests.statements import rows_of
from warehouse.engine import Engine
from warehouse.errors import WarehouseError

START = """
CREATE TABLE s (id INT, x INT, n INT); INSERT INTO s VALUES (1, 5, 1), (2, 0, 1);
CREATE TABLE d (id INT, name STRING); INSERT INTO d VALUES (1, 'A'); INSERT INTO d VALUES (2, 'A');
CREATE STREAMING TABLE mid AS SELECT id, max_by(x, n) AS x FROM STREAM s GROUP BY id TRIGGER EVERY ROW RETRACTING
"""
EACH = " TRIGGER EVERY ROW"
JOIN = "SELECT name, sum(x) AS x, count(*) AS c FROM {} mid JOIN d ON mid.id = d.id GROUP BY name"
READERS = {
    "joined": JOIN.format("STREAM") + EACH,
    "asked": "SELECT sum(x) AS x, count(*) AS c FROM STREAM mid WHERE id IN (SELECT id FROM d WHERE name = 'A')" + EACH,
    "through a view": "SELECT name, sum(x) AS x FROM STREAM mid JOIN named USING (id) GROUP BY name" + EACH,
    "row by row": "SELECT name, x FROM STREAM mid mid JOIN d ON mid.id = d.id",
}
MORE = "INSERT INTO s VALUES (1, 7, 2); REFRESH STREAMING TABLE mid; REFRESH STREAMING TABLE t"


def made(engine: Engine, query: str) -> None:
    rows_of(engine, START + "; CREATE VIEW named AS SELECT * FROM d")
    rows_of(engine, f"CREATE STREAMING TABLE t AS {query}")


@pytest.mark.parametrize(
    ("reader", "change"),
    [
        ("joined", "UPDATE d SET name = 'B' WHERE id = 1"),
        soaked("asked", "DELETE FROM d"),
        soaked("through a view", "INSERT INTO d VALUES (3, 'A')"),
        soaked("row by row", "UPDATE d SET name = 'B' WHERE id = 1"),
    ],
)
def test_a_change_is_refused_and_a_new_start_is_right(engine: Engine, schema: str, reader: str, change: str) -> None:
    made(engine, READERS[reader])
    told = rows_of(engine, f"EXPLAIN CREATE STREAMING TABLE u AS {READERS[reader]}")
    assert f"beside: spark_catalog.{schema}.d, which has to stay as it is" in str(told)
    before = rows_of(engine, "SELECT * FROM t ORDER BY 1")
    rows_of(engine, change)
    for _ in "ab":
        with pytest.raises(WarehouseError) as refused:
            rows_of(engine, MORE)
        (told,) = refused.value.diagnostics
        assert told.condition == "WAREHOUSE_JOINED_TABLE_CHANGED" and told.span is not None
        assert f"{schema}.d holds other rows" in str(refused.value)
    assert rows_of(engine, "SELECT * FROM t ORDER BY 1") == before
    rows_of(engine, "REFRESH STREAMING TABLE t FULL")
    wanted = rows_of(engine, READERS[reader].replace("STREAM", "").replace(EACH, "") + " ORDER BY 1")
    assert [row for row in rows_of(engine, "SELECT * FROM t ORDER BY 1") if row.get("c") != 0] == [
        row for row in wanted if row.get("c") != 0
    ]


@pytest.mark.soak
def test_what_changes_no_row_is_none(engine: Engine, schema: str) -> None:
    made(engine, READERS["joined"])
    rows_of(engine, f"OPTIMIZE d; {MORE}; ALTER TABLE d SET TBLPROPERTIES ('said' = 'so'); {MORE}")
    assert rows_of(engine, "SELECT * FROM t") == rows_of(engine, JOIN.format(""))


@pytest.mark.soak
def test_a_table_of_the_same_version_that_took_its_place_is_another(engine: Engine, schema: str) -> None:
    made(engine, READERS["joined"])
    rows_of(
        engine,
        "DROP TABLE d; CREATE TABLE d (id INT, name STRING);"
        "INSERT INTO d VALUES (1, 'B'); INSERT INTO d VALUES (2, 'B')",
    )
    with pytest.raises(WarehouseError, match="holds other rows"):
        rows_of(engine, MORE)


@pytest.mark.soak
def test_a_streaming_table_that_is_joined_as_a_table_is_named(engine: Engine, schema: str) -> None:
    rows_of(engine, START + "; CREATE STREAMING TABLE names AS SELECT id, name FROM STREAM d")
    query = "SELECT sum(x) AS x FROM STREAM mid JOIN names USING (id) TRIGGER EVERY ROW"
    rows_of(engine, f"CREATE STREAMING TABLE t AS {query}")
    rows_of(engine, f"{MORE}; INSERT INTO d VALUES (3, 'C'); REFRESH STREAMING TABLE names; SELECT * FROM t")
    with pytest.raises(WarehouseError, match=f"{schema}.names holds other rows"):
        rows_of(engine, MORE)


@pytest.mark.soak
@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("SELECT name, x FROM STREAM s JOIN d ON s.id = d.id", [("A", 0), ("A", 5), ("B", 7)]),
        (
            "SELECT name, sum(x) AS x FROM STREAM mid JOIN d VERSION AS OF 2 ON mid.id = d.id GROUP BY name" + EACH,
            [("A", 7)],
        ),
        ("SELECT 'A' AS name, sum(x) AS x FROM STREAM mid" + EACH, [("A", 7)]),
    ],
)
def test_where_nothing_is_taken_back_or_a_version_is_joined_it_may(
    engine: Engine, schema: str, query: str, wanted: list[tuple[str, int]]
) -> None:
    made(engine, query)
    rows_of(engine, f"UPDATE d SET name = 'B' WHERE id = 1; {MORE}")
    assert [tuple(row.values()) for row in rows_of(engine, "SELECT * FROM t ORDER BY ALL")] == wanted
