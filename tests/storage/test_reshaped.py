"""A table in memory stays there, and is right, when a statement gives it other columns or another version's rows."""

from __future__ import annotations

import pytest

from tests.soak import soaked
from tests.statements import rows_of
from warehouse.engine import Engine
from warehouse.errors import SourceText

MAPPED = "'delta.columnMapping.mode' = 'name', 'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5'"


@pytest.mark.parametrize(
    ("change", "wanted"),
    [
        ("ALTER TABLE t RENAME COLUMN g TO gg", [{"k": 1, "gg": 2}]),
        ("ALTER TABLE spark_catalog.{schema}.T DROP COLUMN g", [{"k": 1}]),
        soaked("ALTER TABLE t ADD COLUMN h INT", [{"k": 1, "g": 2, "h": None}]),
        soaked("TRUNCATE TABLE t; INSERT INTO t VALUES (3, 4)", [{"k": 3, "g": 4}]),
        soaked("INSERT INTO t VALUES (3, 4); RESTORE TABLE t TO VERSION AS OF 0", [{"k": 1, "g": 2}]),
        ("ALTER TABLE t RENAME TO u; ALTER TABLE u RENAME TO t", [{"k": 1, "g": 2}]),
    ],
)
def test_it_stays_in_memory(engine: Engine, schema: str, change: str, wanted: list[dict[str, object]]) -> None:
    rows_of(engine, f"CREATE TABLE t TBLPROPERTIES ('cache' = 'true', {MAPPED}) AS SELECT 1 AS k, 2 AS g")
    rows_of(engine, change.format(schema=schema))
    assert rows_of(engine, "SELECT * FROM t") == wanted
    assert rows_of(engine, "SELECT sum(rows) AS n FROM cache_stats('t') WHERE column = 'k'") == [{"n": 1}]


def test_columns_may_be_renamed_from_now_on(engine: Engine, schema: str) -> None:
    """Spark knows a table in memory by its metadata, and to rename a column Delta wants some that change."""
    rows_of(engine, "CREATE TABLE t TBLPROPERTIES ('cache' = 'true') AS SELECT 1 AS k, 2 AS g")
    rows_of(engine, "ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    for change, column in (("", "g"), ("ALTER TABLE t RENAME COLUMN g TO gg", "gg")):
        rows_of(engine, change)
        kept = f"SELECT sum(rows) AS n FROM cache_stats('t') WHERE column = '{column}'"
        assert rows_of(engine, kept) == [{"n": 1}]


@pytest.mark.soak
def test_what_is_written_after_another_shape_is_written_once(engine: Engine, schema: str) -> None:
    rows_of(
        engine,
        "CREATE TABLE t TBLPROPERTIES ('cache' = 'true') AS SELECT 1 AS k, 2 AS g;"
        "CREATE OR REPLACE TABLE t TBLPROPERTIES ('cache' = 'true') AS SELECT 1 AS k, 'n' AS z;"
        "RESTORE TABLE t TO VERSION AS OF 0; INSERT INTO t VALUES (3, 3); INSERT INTO t VALUES (4, 4)",
    )
    assert rows_of(engine, "SELECT * FROM t ORDER BY k") == [{"k": 1, "g": 2}, {"k": 3, "g": 3}, {"k": 4, "g": 4}]


@pytest.mark.parametrize("change", ["ALTER TABLE t SET TBLPROPERTIES ('cache' = 'false')", "UNCACHE TABLE t"])
def test_what_takes_it_out_still_does(engine: Engine, schema: str, change: str) -> None:
    rows_of(engine, f"CREATE TABLE t TBLPROPERTIES ('cache' = 'true') AS SELECT 1 AS k; {change}")
    assert rows_of(engine, "SELECT count(*) AS n FROM cache_stats('t')") == [{"n": 0}]


@pytest.mark.parametrize(
    "change",
    [
        "RESTORE TABLE t TO VERSION AS OF 0",
        soaked("ALTER TABLE t ADD COLUMN h INT"),
        soaked("OPTIMIZE t"),
        soaked("VACUUM t"),
    ],
)
def test_who_has_spark_run_texts_leaves_it_to_the_engine(engine: Engine, schema: str, change: str) -> None:
    """The endpoint has Spark run what there is nothing else to do for, and says of the rest what columns come."""
    rows_of(engine, f"CREATE TABLE t TBLPROPERTIES ('cache' = 'true', {MAPPED}) AS SELECT 1 AS k, 2 AS g")
    rows_of(engine, "INSERT INTO t VALUES (3, 4)")
    prepared = engine.prepare(SourceText(change))
    assert prepared.text is None
    (result,) = engine.run(change)
    assert (prepared.columns or ()) == (tuple(result.schema.names) if result.schema else ())
