"""Columns in memory that are read as vectors: the values of Spark's rows, of every type and packed in every way.

``ORACLE_ALL=1`` tries 20 seeds, ``ORACLE_SEED`` others.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.adaptive.conftest import settings
from tests.statements import Rows, rows_in
from warehouse.engine import Engine

SEED = int(os.environ.get("ORACLE_SEED", "0"))
ALL = bool(os.environ.get("ORACLE_ALL"))
SEEDS = range(SEED, SEED + (20 if ALL else 1))
OFF = {"warehouse.unpacking": "false"}

VALUES = {
    "truth": "n % 3 = 0",
    "tiny": "CAST(n % 200 - 100 AS TINYINT)",
    "small": "CAST(n % 60000 - 30000 AS SMALLINT)",
    "whole": "CAST(n AS INT)",
    "long": "n * 1000003",
    "real": "CAST(IF(n % 11 = 0, 'NaN', n / 7) AS FLOAT)",
    "double": "CASE n % 5 WHEN 0 THEN -0.0D WHEN 1 THEN CAST('-Infinity' AS DOUBLE) ELSE n / 3 END",
    "short_decimal": "CAST(n % 1000003 - 500 AS DECIMAL(9, 2))",
    "decimal": "CAST(n - 0.0001 AS DECIMAL(18, 4))",
    "day": "date_add(DATE'1582-10-04', CAST(n % 100000 AS INT))",
    "time": "timestamp_micros(n * 1000 - 1)",
    "local": "CAST(timestamp_micros(n * 1000 - 1) AS TIMESTAMP_NTZ)",
    "text": "concat(repeat('é', CAST(n % 5 AS INT)), IF(n % 4 = 0, '', CAST(n AS STRING)))",
}
"""By columns: SQL of a value, of a number ``n``."""

ORDERS = {
    "apart": "abs(xxhash64(id, {seed}) % 2000000000)",  # as they are
    "few": "abs(xxhash64(id, {seed}) % 2000000000) % 9",  # a dictionary
    "runs": "abs(xxhash64(id div 700, {seed}) % 2000000000)",
    "near": "1000000 + id * 3 + {seed}",  # differences
}
"""By ways to be packed: SQL of the numbers, of a row's ``id``."""

NULLS = {"none": "false", "some": "xxhash64(id, column) % 4 = 0", "runs": "id div 300 % 2 = 0", "all": "true"}


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    yield from rows_in(engine, "unpacking")


def columns_of_all_types() -> str:
    """Return the SQL of the columns of a table, each value with NULLs in some ways."""
    return ", ".join(
        f"IF({NULLS[which].replace('column', str(i))}, NULL, {value}) AS {name}_{which}"
        for i, (name, value) in enumerate(VALUES.items())
        for which in list(NULLS)[0 if ALL else i % 2 :: 1 if ALL else 2]
    )


def make_of_numbers(rows: Rows, table: str, listed: str, seed: int, order: str) -> None:
    """Make a table of columns of a number; what makes them is compiled once for all orders."""
    number = ORDERS[order].format(seed=seed)
    rows(
        f"CREATE TABLE of_{table} AS SELECT id, {number} AS n FROM range(0, 12000, 1, 1);"
        f" CREATE TABLE {table} AS SELECT id, {listed} FROM of_{table}"
    )


def _asked(engine: Engine, query: str) -> tuple[bool, str]:
    """Return whether a query has made rows of vectors that the memory store gave it, and the rows."""
    frame = engine.spark.sql(query)
    found = str(frame.collect())
    plan = frame._jdf.queryExecution().executedPlan().toString().split("== Initial Plan ==")[0]
    assert "Scan In-memory table" in plan
    return "ColumnarToRow" in plan.split("Scan In-memory table")[0], found


@pytest.mark.parametrize("seed", SEEDS)
def test_vectors_have_the_values_of_rows(engine: Engine, rows: Rows, seed: int) -> None:
    """Were one of Spark's schemes not met here, its reader would not be tried."""
    listed, met = columns_of_all_types(), set[str]()
    every = "SELECT bit_xor(xxhash64(*)) AS x, count(*) AS n FROM {}"
    some = "SELECT * FROM {} WHERE id % 1000 = 7 OR text_none = '' AND id < 3000 ORDER BY id"
    for order in ORDERS:
        table = f"{order}_{seed}"
        make_of_numbers(rows, table, listed, seed, order)
        rows(f"CACHE TABLE {table}")
        vectors, found = _asked(engine, some.format(table))
        whole = rows(every.format(table))
        with settings(engine, OFF):
            others, expected = _asked(engine, some.format(table))
        assert vectors and not others and found == expected
        for row in rows(f"SELECT DISTINCT column, scheme FROM cache_stats('{table}')"):
            met.add(f"{'text' if row['column'].startswith('text') else 'number'}: {row['scheme']}")
        rows(f"UNCACHE TABLE {table}")
        assert whole == rows(every.format(table))
    texts = {f"text: {way}" for way in ("plain", "run length", "dictionary")}
    both = {told.replace("text", "number") for told in texts}
    assert met == texts | both | {"number: boolean bits", "number: int deltas", "number: long deltas"}


def test_what_vectors_are_not_for_is_read_as_rows(rows: Rows) -> None:
    """Columns of columns, of binary data, of long decimals; no column at all."""
    rows("CREATE TABLE mixed AS SELECT id, array(id) AS l, CAST(id AS DECIMAL(30, 2)) AS d, 'x' AS t FROM range(9)")
    rows("CACHE TABLE mixed")
    assert rows("SELECT sum(l[0]) AS l, sum(d) AS d, max(t) AS t, count(*) AS n FROM mixed") == [
        {"l": 36, "d": 36, "t": "x", "n": 9}
    ]
    assert rows("SELECT count(*) AS n FROM mixed") == [{"n": 9}]
    assert rows("SELECT count(t) AS n FROM mixed WHERE id > 3") == [{"n": 5}]
    assert rows("SELECT count(t) AS n FROM mixed WHERE id > (SELECT avg(id) FROM mixed WHERE t = 'x')") == [{"n": 4}]
    rows("UNCACHE TABLE mixed")


def test_views_and_empty_tables_in_memory(rows: Rows) -> None:
    rows("CREATE VIEW seen AS SELECT id, CAST(id AS STRING) AS t FROM range(100) WHERE id > 90; CACHE TABLE seen")
    rows("CREATE TABLE nothing (t STRING, n INT); CACHE TABLE nothing")
    assert rows("SELECT max(t) AS t, count(*) AS n FROM seen WHERE t > '95'") == [{"t": "99", "n": 4}]
    assert rows("SELECT max(t) AS t, count(n) AS n FROM nothing") == [{"t": None, "n": 0}]
    rows("UNCACHE TABLE seen; UNCACHE TABLE nothing")
