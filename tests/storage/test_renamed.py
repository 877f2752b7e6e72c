"""Columns that were renamed are other columns than those that have their names now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.statements import Rows, rows_in

MAPPED = "SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"


@pytest.fixture(scope="module")
def rows(engine: Any) -> Iterator[Rows]:
    yield from rows_in(engine, "renamed")


def of(rows: Rows, table: str, column: str) -> list[tuple[Any, ...]]:
    told = rows(f"SELECT min, max, nulls, values FROM partition_stats('{table}') WHERE column = '{column}'")
    return [(r["min"], r["max"], r["nulls"], r["values"]) for r in told]


def test_a_name_that_was_given_to_another_column(rows: Rows) -> None:
    rows("CREATE TABLE swapped AS SELECT id AS k, id % 3 AS c, named_struct('k', id + 50) AS s FROM range(0, 20, 1, 1)")
    rows(f"ALTER TABLE swapped {MAPPED}; ALTER TABLE swapped RENAME COLUMN k TO z")
    rows("ALTER TABLE swapped RENAME COLUMN c TO k; ALTER TABLE swapped RENAME COLUMN s.k TO t")
    assert rows("SELECT count(*) AS n FROM swapped WHERE k = 2") == [{"n": 6}]
    assert rows("SELECT count(*) AS n FROM swapped WHERE z = 15") == [{"n": 1}]
    assert rows("SELECT count(*) AS n FROM swapped WHERE s.t = 65") == [{"n": 1}]
    assert of(rows, "swapped", "k") == [("0", "2", 0, ["0", "1", "2"])]
    assert of(rows, "swapped", "s.t")[0][:2] == ("50", "69")


def test_a_name_that_a_column_had_which_is_another_one_now(rows: Rows) -> None:
    rows("CREATE TABLE again AS SELECT id AS k, id % 3 AS c FROM range(0, 20, 1, 1)")
    rows(f"ALTER TABLE again {MAPPED}; ALTER TABLE again RENAME COLUMN c TO d; ALTER TABLE again ADD COLUMN c BIGINT")
    rows("INSERT INTO again VALUES (50, 9, 8)")
    assert rows("SELECT * FROM again WHERE c = 8") == [{"k": 50, "d": 9, "c": 8}]
    assert rows("SELECT count(*) AS n FROM again WHERE c IS NULL") == [{"n": 20}]
    assert sorted(of(rows, "again", "c"), key=repr) == [("8", "8", 0, ["8"]), (None, None, 20, [])]


def test_sums_of_what_has_a_name_that_another_column_had(rows: Rows) -> None:
    money = "CAST(id * {} AS DECIMAL(15, 2))"
    rows(f"CREATE TABLE sums AS SELECT {money.format(1)} AS k, {money.format(100000)} AS c FROM range(20)")
    rows(f"ALTER TABLE sums {MAPPED}; ALTER TABLE sums RENAME COLUMN k TO z; ALTER TABLE sums RENAME COLUMN c TO k")
    rows("INSERT INTO sums VALUES (1, 9999999999999.99)")
    (told,) = rows("SELECT CAST(sum(k * 1000.25) AS STRING) AS s, CAST(sum(k * k) AS STRING) AS t FROM sums")
    assert told["s"] == "10002519004749989.9975"
    assert told["t"] == "100000000000024500000000000.0001"


def test_a_name_that_files_cannot_have(rows: Rows) -> None:
    rows(f"CREATE TABLE odd {MAPPED[4:]} AS SELECT id AS `a b`, id % 3 AS c FROM range(0, 20, 1, 2)")
    assert sorted(of(rows, "odd", "a b"))[0][:3] == ("0", "9", 0)
    assert "partitions read: 1 of 2" in rows("EXPLAIN SELECT * FROM odd WHERE `a b` = 15")[0]["plan"]
