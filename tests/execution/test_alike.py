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
