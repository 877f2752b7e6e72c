"""Hints of a windowed block: those about relations reach its joins, those about rows spread its answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.statements import Rows, rows_in
from warehouse.errors import SourceText, WarehouseError
from warehouse.language.parser import parse
from warehouse.language.statements import QueryStatement
from warehouse.language.tokens import tokenize
from warehouse.planning.words.hints import hints_of
from warehouse.planning.words.text import Text

MINUTES = "GROUP BY n WINDOW FIXED (at, SIZE INTERVAL 1 MINUTE)"
WINDOWED = f"SELECT {{}} n, count(*) AS c FROM {{}} JOIN names USING (k) {MINUTES}"


@pytest.fixture(scope="module")
def rows(engine: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rows]:
    folder = tmp_path_factory.mktemp("hints")
    put(folder, 0)
    for run in rows_in(engine, "hints"):
        run(
            f"CREATE STREAM s (k INT, at TIMESTAMP) USING json OPTIONS (path '{folder}')"
            " WATERMARK at DELAY OF INTERVAL 0 SECONDS;"
            "CREATE TABLE t USING delta AS SELECT * FROM STREAM s;"
            "CREATE TABLE names USING delta AS SELECT id AS k, chr(97 + id) AS n FROM range(3)"
        )
        yield run


def put(folder: Path, number: int) -> None:
    lines = (json.dumps({"k": k, "at": f"2024-05-01T12:0{number}:0{k}Z"}) for k in range(3))
    (folder / f"{number}.json").write_text("\n".join(lines))


@pytest.mark.parametrize(
    ("written", "of_relations", "of_rows"),
    [
        ("/*+ BROADCAST(a, b) */", " /*+ BROADCAST(a, b) */", ""),
        ("/*+ coalesce(1), MERGE(a) rebalance */", " /*+ MERGE(a) */", " /*+ coalesce(1), rebalance */"),
        ("/*+ MAPJOIN(a) */ /*+ REPARTITION(f(x), 2) */", " /*+ MAPJOIN(a) */", " /*+ REPARTITION(f(x), 2) */"),
        ("/*+ whatever, BROADCAST(a */", " /*+ whatever, BROADCAST(a */", ""),
        ("/*+ `Coalesce`(1) */", "", " /*+ `Coalesce`(1) */"),
        ("/* BROADCAST(a) */ /* + b */", "", ""),
    ],
)
def test_two_kinds_in_their_order(written: str, of_relations: str, of_rows: str) -> None:
    text = f"SELECT {written} k FROM a JOIN b USING (k) GROUP BY k WINDOW GLOBAL"
    statement = parse(SourceText(text))
    assert isinstance(statement, QueryStatement)
    (block,) = statement.query.blocks
    found = hints_of(Text(text, tuple(tokenize(text) or ()), statement.query), block)
    assert (found.of_relations.text, found.of_rows.text) == (of_relations, of_rows)


def test_in_the_plan_of_an_answer(rows: Rows) -> None:
    def plan(hints: str) -> str:
        return rows("EXPLAIN " + WINDOWED.format(hints, "t"))[0]["plan"]

    assert "BroadcastHashJoin" in plan("") and "Coalesce" not in plan("")
    assert "SortMergeJoin" in plan("/*+ MERGE(names) */")
    both = plan("/*+ SHUFFLE_HASH(t), COALESCE(1) */")
    assert "ShuffledHashJoin" in both and both.index("Coalesce 1") < both.index("HashAggregate")
    assert "REPARTITION_BY_NUM" in plan("/*+ REPARTITION(3, c) */")


def test_answers_are_the_same(rows: Rows) -> None:
    wanted = rows(WINDOWED.format("", "t") + " ORDER BY window_start, n")
    assert len(wanted) == 3
    for hints in ("/*+ MERGE(names), REPARTITION_BY_RANGE(3, n) */", "/*+ unknown(x), REPARTITION(2) */"):
        assert rows(WINDOWED.format(hints, "t") + " ORDER BY window_start, n") == wanted


@pytest.mark.parametrize(
    ("hints", "condition", "at"),
    [
        ("/*+ REPARTITION_BY_RANGE(3, missing) */", "UNRESOLVED_COLUMN", "m"),
        ("/*+ COALESCE('x') */", "", "COALESCE"),
        ("/*+ BROADCAST(names */", "PARSE_SYNTAX_ERROR", "BROADCAST"),
    ],
)
def test_mistakes_are_spark_s_at_the_user_s_words(rows: Rows, hints: str, condition: str, at: str) -> None:
    with pytest.raises(WarehouseError) as caught:
        rows(WINDOWED.format(hints, "t"))
    (told,) = caught.value.diagnostics
    text = WINDOWED.format(hints, "t")
    assert told.condition.startswith(condition) and told.span and told.span.of(text).startswith(at), str(caught.value)


def test_a_streaming_table_s_join_is_as_hinted(rows: Rows) -> None:
    create = "CREATE OR REPLACE STREAMING TABLE hinted AS " + WINDOWED
    hinted = create.format("/*+ SHUFFLE_HASH(names), COALESCE(1) */", "STREAM s")
    (told,) = rows("EXPLAIN EXTENDED " + hinted)
    assert "ShuffledHashJoin" in told["plan"], told["plan"]
    rows(hinted)
    rows("REFRESH STREAMING TABLE hinted")
    (told,) = rows("EXPLAIN " + create.format("/*+ BROADCAST(names) */", "STREAM s"))
    assert "continue" in told["plan"], told["plan"]
    rows("DRAIN STREAMING TABLE hinted")
    assert rows("SELECT n, c FROM hinted ORDER BY n") == [{"n": n, "c": 1} for n in "abc"]
