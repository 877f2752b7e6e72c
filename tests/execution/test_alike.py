"""Rows are found by the hashes of a few others: all that have the same, and without a join."""

from __future__ import annotations

from typing import Any

import pytest

from warehouse.execution.frames import alike

OF_ALL = "xxhash64(k, ws)"


@pytest.mark.parametrize("compiled", ["true", "false"])
@pytest.mark.parametrize("count", [0, 1, 300])
def test_all_rows_that_a_few_are_like_are_found(engine: Any, count: int, compiled: str) -> None:
    spark = engine.spark.newSession()
    spark.conf.set("spark.sql.codegen.wholeStage", compiled)
    spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if compiled == "true" else "NO_CODEGEN")
    rows = spark.range(20_000).selectExpr("id", "CAST(nullif(id % 1000, 7) AS STRING) AS k", "id DIV 1000 AS ws")
    wanted = spark.range(count).selectExpr("CAST(nullif(id % 10, 7) AS STRING) AS k", "id % 25 AS ws")
    found = alike(rows, wanted, OF_ALL)
    rows.createOrReplaceTempView("alike_rows")
    wanted.createOrReplaceTempView("alike_wanted")
    joined = spark.sql("SELECT id FROM alike_rows r LEFT SEMI JOIN alike_wanted w ON r.k <=> w.k AND r.ws = w.ws")
    assert sorted(r.id for r in found.collect()) == sorted(r.id for r in joined.collect())
    plan = found._jdf.queryExecution().executedPlan().toString()
    assert "Join" not in plan and "Exchange" not in plan


def test_numbers_of_every_size(engine: Any) -> None:
    spark = engine.spark
    rows = spark.sql("SELECT explode(array(-9223372036854775808L, -1L, 0L, 1L, 9223372036854775807L)) AS n")
    assert alike(rows, rows, "n").count() == 5
    assert [r.n for r in alike(rows, rows.where("n < 0"), "n").collect()] == [-(2**63), -1]


FILES = """
SELECT id, CAST(nullif(id % 1000, 7) AS STRING) AS k, id DIV 1000 AS ws,
  DATE'2026-01-01' + CAST(id % 400 AS INT) AS day, if(id % 3 = 0, NULL, id * 1.5BD) AS price,
  array_repeat(named_struct('n', id, 't', concat('t', id % 5)), CAST(id % 4 AS INT)) AS last
FROM range(60000)
"""


@pytest.fixture(scope="module")
def folder(engine: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Three files of many row groups and pages."""
    path = str(tmp_path_factory.mktemp("alike") / "files")
    rows = engine.spark.sql(FILES).repartition(3, "day")
    small = {"parquet.block.size": 64 * 1024, "parquet.page.size": 4096, "parquet.page.row.count.limit": 500}
    rows.sortWithinPartitions("ws", "id").write.options(**small).parquet(path)
    return path


@pytest.mark.parametrize("compiled", ["true", "false"])
@pytest.mark.parametrize(("count", "condition"), [(0, "true"), (300, "true"), (300, "ws > 17"), (60_000, "ws < 40")])
def test_rows_of_files_are_found_by_the_hashes_that_are_kept_of_these(
    engine: Any, shipped: None, folder: str, count: int, condition: str, compiled: str
) -> None:
    spark = engine.spark.newSession()
    spark.conf.set("spark.sql.codegen.wholeStage", compiled)
    spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK" if compiled == "true" else "NO_CODEGEN")
    rows = spark.read.parquet(folder).where(condition)
    wanted = spark.range(count).selectExpr("CAST(nullif(id % 1000, 7) AS STRING) AS k", "id % 25 AS ws")
    rows.createOrReplaceTempView("alike_files")
    wanted.createOrReplaceTempView("alike_files_wanted")
    text = "SELECT r.* FROM alike_files r LEFT SEMI JOIN alike_files_wanted w ON r.k <=> w.k AND r.ws = w.ws"
    joined = sorted(map(str, spark.sql(text).collect()))
    for _ in range(2):  # with hashes that are kept by then, too
        found = alike(rows, wanted, OF_ALL)
        assert sorted(map(str, found.collect())) == joined
    assert alike(rows.selectExpr("id", "k", "ws"), wanted, OF_ALL).count() == len(joined)
    read = _rows_read(alike(rows, wanted, OF_ALL))
    assert read == len(joined) if condition == "true" else len(joined) <= read
    assert count == 60_000 or read <= 300


def _rows_read(frame: Any) -> int:
    """Return how many rows came out of the files."""
    frame.collect()
    plan = frame._jdf.queryExecution().executedPlan()
    while plan.children().nonEmpty():
        plan = plan.children().head()
    return int(plan.metrics().apply("numOutputRows").value())
