"""The length of a row as JSON is what ``to_json`` would write."""

from __future__ import annotations

from pyspark.sql import SparkSession

from warehouse.catalog.entries import Column
from warehouse.streaming.steps.json_size import json_size

ROWS = r"""
    (1Y, 2S, 3, -4L, true, 'plain', DATE'2024-05-01', TIMESTAMP'2024-05-01 12:00:00.123456Z', 1.5D, 2.50BD, array(1)),
    (-128Y, 0S, 0, 9223372036854775807L, false, 'quo"te \\ back', DATE'0001-01-01', TIMESTAMP'1900-01-01 00:00:00Z',
        -0D, 0BD, array()),
    (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (NULL, NULL, 7, NULL, NULL, '', NULL, NULL, NULL, NULL, NULL),
    (NULL, NULL, NULL, NULL, NULL, 'grün 水 😀', DATE'9999-12-31', NULL, double('NaN'), NULL, array(NULL, 2)),
    (NULL, NULL, NULL, NULL, NULL, concat('tab', char(9), char(1), char(31), char(127)), NULL,
        TIMESTAMP'+12024-05-01 12:00:00Z', NULL, NULL, NULL),
    (NULL, NULL, NULL, NULL, NULL, concat('/', char(10), char(13)), DATE'+10000-01-01', TIMESTAMP'9999-12-31 23:59:59Z',
        1e300D, NULL, NULL)
"""
COLUMNS = (
    Column("t", "tinyint"), Column("s", "smallint"), Column("i", "int"), Column("größe", "bigint"),
    Column('quo"te', "boolean"), Column("text", "string"), Column("d", "date"), Column("at", "timestamp"),
    Column("f", "double"), Column("n", "decimal(3,2)"), Column("l", "array<int>"),
)  # fmt: skip


def test_size_is_that_of_to_json(spark: SparkSession) -> None:
    for columns in (COLUMNS, COLUMNS[:8], COLUMNS[5:6], COLUMNS[8:]):
        names = ", ".join(f"`{c.name}`" for c in COLUMNS)
        listed = ", ".join(f"`{c.name}`" for c in columns)
        found = spark.sql(
            f"SELECT to_json(struct({listed})) AS written, {json_size(columns)} AS size"
            f" FROM VALUES {ROWS} AS v({names})"
        ).collect()
        assert [row["size"] for row in found] == [len(row["written"].encode()) for row in found]
