"""Memory that is filled from vectors: each column of each batch is packed as Spark packs it.

``ORACLE_ALL=1`` tries 20 seeds, ``ORACLE_SEED`` others.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.status import watched
from tests.adaptive.conftest import settings
from tests.soak import soaked
from tests.statements import Rows, rows_in
from tests.storage.test_unpacking import SEEDS, columns_of_all_types, make_of_numbers
from warehouse.engine import Engine

OFF = {"warehouse.packing": "false"}
KEPT = "SELECT partition, batch, column, rows, scheme, bytes FROM cache_stats('{}') ORDER BY ALL"


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    yield from rows_in(engine, "packing")


def kept(rows: Rows, table: str, ask: str) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Return how a table is kept in memory, and the answer to a question about it there."""
    rows(f"CACHE TABLE {table}")
    found = rows(KEPT.format(table)), rows(ask)
    rows(f"UNCACHE TABLE {table}")
    return found


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("source", "order"),
    [("vectors", "few"), ("vectors", "near"), soaked("vectors", "apart"), soaked("vectors", "runs"), ("rows", "few")],
)
def test_columns_are_packed_as_spark_packs_them(engine: Engine, rows: Rows, source: str, order: str, seed: int) -> None:
    """A column of columns is read as rows, and so is all else beside it."""
    listed, asked = columns_of_all_types(), "*"
    if source == "rows":
        listed, asked = f"{listed}, array(n) AS l", "* EXCEPT (l)"
    table = f"{source}_{order}_{seed}"
    make_of_numbers(rows, table, listed, seed, order)
    ask = f"SELECT bit_xor(xxhash64({asked})) AS x, count(*) AS n FROM {table}"
    with settings(engine, OFF):
        expected = kept(rows, table, ask)
    assert kept(rows, table, ask) == expected


def test_batches_of_long_texts_are_short(engine: Engine, rows: Rows) -> None:
    """Four megabytes end a batch, as with Spark, which looks at each row."""
    rows("CREATE TABLE long AS SELECT id, repeat(chr(65 + id % 26), 100000) AS t FROM range(0, 1000, 1, 1)")
    rows("CACHE TABLE long")
    (found,) = rows("SELECT max(rows) AS most, sum(rows) AS n FROM cache_stats('long') WHERE column = 't'")
    assert found["n"] == 1000 and 41 <= found["most"] <= 41 + 128
    rows("UNCACHE TABLE long")


def test_nan_is_found_in_memory(engine: Engine, rows: Rows) -> None:
    """Spark's own statistics of a batch leave NaN out, which is greater than all else."""
    rows("CREATE TABLE no_numbers AS SELECT id, CAST('NaN' AS DOUBLE) AS d, CAST('NaN' AS FLOAT) AS f FROM range(9)")
    rows("CACHE TABLE no_numbers")
    for column in "df":
        ask = f"SELECT count_if({column} > 5) AS a, count_if({column} <= 5) AS b, count(*) AS n FROM no_numbers"
        assert rows(f"{ask} WHERE {column} > 5") == [{"a": 9, "b": 0, "n": 9}]
        assert rows(f"{ask} WHERE {column} = CAST('NaN' AS DOUBLE)") == [{"a": 9, "b": 0, "n": 9}]
        assert rows(f"{ask} WHERE {column} < 5") == [{"a": 0, "b": 0, "n": 0}]
    rows("UNCACHE TABLE no_numbers")


def rows_read(engine: Engine, rows: Rows, statement: str) -> int:
    """Run a statement; return how many rows it read from files. A batch from memory counts as one."""
    with watched(engine.spark) as seen:
        rows(statement)
    return sum(stage.rows_read for stage in seen.reading)  # those of a range are rows of no bytes


def test_what_is_written_is_not_read_to_be_put_into_memory(engine: Engine, rows: Rows) -> None:
    """Nor is what was there before, when rows are added."""
    made = "CREATE OR REPLACE TABLE once TBLPROPERTIES ('cache' = 'true') AS SELECT k, t FROM source"
    ask = "SELECT count(*) AS n, bit_xor(xxhash64(*)) AS x FROM {}"
    rows("CREATE OR REPLACE VIEW source AS SELECT id AS k, concat('t', id % 99) AS t FROM range(0, 50000, 1, 2)")
    with settings(engine, OFF):
        assert rows_read(engine, rows, made) >= 50_000
    assert rows_read(engine, rows, made) < 1_000
    assert rows(ask.format("once")) == rows(ask.format("source"))
    rows("INSERT INTO once VALUES (-1, 'x')")
    assert rows_read(engine, rows, ask.format("once")) < 1_000
    assert rows(ask.format("once")) == rows(ask.format("(SELECT * FROM source UNION ALL VALUES (-1L, 'x'))"))
    rows("DROP TABLE once")
    rows("CREATE TABLE once AS SELECT k, t FROM source DISTRIBUTE BY k")  # the name says nothing of memory
    assert rows_read(engine, rows, "CACHE TABLE once") >= 25_000
    rows("DROP TABLE once")


@pytest.mark.parametrize("said", ["by the session", soaked("by the table")])
def test_memory_has_times_in_the_unit_of_the_files(engine: Engine, rows: Rows, said: str) -> None:
    unit = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS"}
    listed = "".join(f", '{name}' = '{value}'" for name, value in unit.items() if "table" in said)
    with settings(engine, unit if "session" in said else {}):
        rows(f"CREATE OR REPLACE TABLE stored TBLPROPERTIES ('cache' = 'true'{listed})"
             " AS SELECT timestamp_micros(id) AS v FROM range(0, 2000, 1, 1)")  # fmt: skip
    assert rows("SELECT count(DISTINCT v) AS n FROM stored") == [{"n": 2}]
    rows("DROP TABLE stored")
