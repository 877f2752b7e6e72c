"""The page on plans is real: its statements run, and what it shows of them is what comes out, but for the times."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.adaptive.conftest import settings
from tests.pages import check_page, shown
from warehouse.engine import Engine

PAGE = Path(__file__).parents[2] / "docs" / "explain.md"
SET = (
    "spark.sql.shuffle.partitions",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst",
)


def lasting(page: str) -> str:
    """Return a page without times, which are other ones in each run, and so are the columns that they stand in."""
    page = re.sub(r"(, )?[a-z][a-z ]* [\d.]+ (ms|s)(?=[,)])", "", page)
    page = re.sub(r"  \((, )?\)$", "", page, flags=re.MULTILINE).replace("  (, ", "  (")
    page = re.sub(r"[\d.]+ (ms|s)\b", "…", page)
    return re.sub(r" +", " ", page)


def test_the_page_is_real(engine: Engine, schema: str, request: pytest.FixtureRequest) -> None:
    def in_default(plan: str) -> str:
        return plan.replace(f"spark_catalog.{schema}", "spark_catalog.default").replace(f"{schema}.", "") + "\n"

    with settings(engine, {name: engine.spark.conf.get(name) for name in SET}):
        check_page(request, PAGE, 3, lambda sql: shown(engine, sql, in_default), lasting=lasting)
