"""EXPLAIN ANALYZE is ours for every statement, but where its words are those of Spark's ANALYZE TABLE."""

from __future__ import annotations

import re

import pytest

from warehouse.errors import SourceText, WarehouseError
from warehouse.language.parser import parse
from warehouse.language.statements import Explain, SparkStatement
from warehouse.language.words import words_of_ours


@pytest.mark.parametrize(
    "text",
    [
        "EXPLAIN ANALYZE SELECT 1",
        "explain analyze -- why\n select 1",
        "EXPLAIN ANALYZE (SELECT 1)",
        "EXPLAIN ANALYZE TABLE t",
        "EXPLAIN ANALYZE TABLE compute",
        "EXPLAIN ANALYZE INSERT INTO t SELECT 1",
        "EXPLAIN ANALYZE REFRESH STREAMING TABLE t",
        "EXPLAIN ANALYZE ANALYZE TABLE t COMPUTE STATISTICS",
    ],
)
def test_it_is_ours(text: str) -> None:
    statement = parse(SourceText(text))
    assert isinstance(statement, Explain)
    assert statement.mode == "ANALYZE"
    assert re.search(words_of_ours(), text, re.IGNORECASE)


@pytest.mark.parametrize(
    "text",
    [
        "EXPLAIN ANALYZE TABLE t COMPUTE STATISTICS",
        "EXPLAIN ANALYZE TABLE t PARTITION (d = 1) COMPUTE STATISTICS NOSCAN",
        "EXPLAIN ANALYZE TABLES IN s COMPUTE STATISTICS",
        "EXPLAIN ANALYZE",
        "ANALYZE TABLE t COMPUTE STATISTICS",
        "SELECT analyze FROM t",
    ],
)
def test_it_is_sparks(text: str) -> None:
    statement = parse(SourceText(text))
    assert isinstance(statement, SparkStatement)
    assert statement.source.text == text


def test_a_misspelt_one_is_told() -> None:
    with pytest.raises(WarehouseError) as raised:
        parse(SourceText("EXPLAIN ANALYSE SELECT 1"))
    assert "Did you mean ANALYZE? For example EXPLAIN ANALYZE SELECT …" in str(raised.value)
