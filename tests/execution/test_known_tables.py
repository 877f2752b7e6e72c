"""What the catalog said of a table holds until something changes it, in whatever session."""

from __future__ import annotations

from typing import Any

import pytest

from tests.soak import soaked
from tests.statements import rows_of
from warehouse.engine import Engine


@pytest.fixture
def catalog(engine: Engine) -> Any:
    return engine.spark._jsparkSession.sharedState().externalCatalog()


def test_a_table_is_asked_for_once(engine: Engine, schema: str, catalog: Any) -> None:
    rows_of(engine, "CREATE TABLE t AS SELECT 1 AS a; CREATE VIEW v AS SELECT a FROM t; SELECT * FROM v")
    identity = engine.spark._jvm.System.identityHashCode
    for name in ("t", "v"):
        first = identity(catalog.getTable(schema, name))
        assert rows_of(engine, f"SELECT * FROM {name.upper()}") == [{"a": 1}]
        assert identity(catalog.getTable(schema, name)) == first
    before = [identity(catalog.getTable(schema, name)) for name in ("t", "v")]
    rows_of(engine, "ALTER VIEW v SET TBLPROPERTIES ('k' = 'v')")
    after = [identity(catalog.getTable(schema, name)) for name in ("t", "v")]
    assert after[0] == before[0] and after[1] != before[1]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("ALTER TABLE t ADD COLUMNS (b INT)", [{"a": 1, "b": None}]),
        ("ALTER TABLE t RENAME TO u; CREATE TABLE t AS SELECT 2 AS c", [{"c": 2}]),
        ("DROP TABLE t; CREATE TABLE t USING parquet AS SELECT 'x' AS a", [{"a": "x"}]),
        ("DROP TABLE t; CREATE VIEW t AS SELECT 3 AS a", [{"a": 3}]),
        ("CREATE OR REPLACE TABLE t AS SELECT 4 AS d", [{"d": 4}]),
        ("INSERT OVERWRITE t VALUES (5)", [{"a": 5}]),
    ],
)
@pytest.mark.parametrize("kind", ["delta", soaked("parquet")])
def test_a_change_is_seen_by_every_session(
    engine: Engine, schema: str, kind: str, change: str, expected: list[dict[str, Any]]
) -> None:
    if kind == "parquet" and "OR REPLACE" in change:
        pytest.skip("Spark replaces no such table")
    other = engine.spark.newSession()
    rows_of(engine, f"CREATE TABLE t USING {kind} AS SELECT 1 AS a; SELECT * FROM t")
    assert [row.asDict() for row in other.table(f"{schema}.t").collect()] == [{"a": 1}]
    rows_of(engine, change)
    assert rows_of(engine, "SELECT * FROM t") == expected
    assert [row.asDict() for row in other.table(f"{schema}.t").collect()] == expected


def test_what_is_gone_is_gone(engine: Engine) -> None:
    rows_of(engine, "CREATE SCHEMA going; CREATE TABLE going.t AS SELECT 1 AS a; SELECT * FROM going.t")
    rows_of(engine, "DROP SCHEMA going CASCADE; CREATE SCHEMA going")
    assert not engine.spark.catalog.tableExists("going.t")
    rows_of(engine, "DROP SCHEMA going")


def test_properties_and_comments_of_a_table_that_was_asked_for(engine: Engine, schema: str) -> None:
    rows_of(engine, "CREATE TABLE p USING parquet AS SELECT 1 AS a; SELECT * FROM p")
    rows_of(engine, "ALTER TABLE p SET TBLPROPERTIES ('k' = 'v'); COMMENT ON TABLE p IS 'said'")
    assert {"key": "k", "value": "v"} in rows_of(engine, "SHOW TBLPROPERTIES p")
    assert "said" in str(rows_of(engine, "DESCRIBE EXTENDED p"))
