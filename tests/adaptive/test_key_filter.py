"""A join in place whose hashed rows are few asks a filter of their keys first; the answers are Spark's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adaptive.conftest import PLACED, Partners, answered, code_of_join, in_memory, settings
from tests.soak import soaked
from tests.statements import rows_of
from warehouse.engine import Engine

OFF = {"warehouse.join.keyFilter": "false"}
KEYS = {
    "text": "if(id % 31 = 0, NULL, concat('key ', id % 3000))",
    "decimal": "if(id % 31 = 0, NULL, CAST(id % 3000 / 4 AS DECIMAL(24, 2)))",
    "parts": "if(id % 31 = 0, NULL, named_struct('a', id % 50, 'b', if(id % 5 = 0, NULL, string(id % 60))))",
}
"""By their kinds: NULLs, several rows of a key on both sides, keys of one side alone."""

QUERIES = {
    "inner": "SELECT m.v, f.w FROM many m JOIN few f ON m.{0} = f.{0} WHERE f.said LIKE '%7'",
    "two keys": "SELECT m.v, f.w FROM many m JOIN few f ON m.{0} = f.{0} AND m.v % 40 = f.w % 40"
    " WHERE f.said LIKE '%7'",
    "left": "SELECT m.v, f.w FROM many m LEFT JOIN (SELECT * FROM few WHERE w % 8 = 3) f ON m.{0} = f.{0}",
    "semi": "SELECT m.v FROM many m LEFT SEMI JOIN few f ON m.{0} = f.{0} AND f.w % 8 = 3",
    "anti": "SELECT m.v FROM many m LEFT ANTI JOIN few f ON m.{0} = f.{0} AND f.w % 8 = 3",
    "exists": "SELECT v FROM many m WHERE v < 90 OR EXISTS (SELECT 1 FROM few f WHERE f.{0} = m.{0} AND f.w % 8 = 3)",
    "range": "SELECT m.v, f.w FROM many m JOIN few f ON m.{0} = f.{0} WHERE f.w BETWEEN 2900 AND 2960",
    "expression": "SELECT m.v, f.w FROM many m JOIN few f ON m.{0} = f.{0} AND upper(m.note) = upper(f.said)"
    " WHERE f.w % 8 < 2",
    "nothing": "SELECT m.v, f.w FROM many m JOIN few f ON m.{0} = f.{0} WHERE f.said LIKE 'no%'",
}


@pytest.fixture(scope="module")
def pair(engine: Engine) -> Iterator[Partners]:
    many = "id AS v, concat('Line ', id % 13) AS note FROM range(0, 9000, 1, 4)"
    few = "id AS w, concat('LINE ', id % 40) AS said FROM range(2000, 6000, 1, 4)"
    with settings(engine, PLACED):
        yield Partners(engine, "filtered", KEYS, many, few)
    rows_of(engine, "USE default")


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("kind", ["text", *map(soaked, [k for k in KEYS if k != "text"])])
def test_rows_are_the_same(pair: Partners, kind: str, query: str) -> None:
    engine = pair.use(kind)
    text = QUERIES[query].format(kind)
    plan, rows = answered(engine, text)
    with settings(engine, OFF):
        assert answered(engine, text)[1] == rows
    with settings(engine, {"warehouse.distribution": "false"}):
        before, expected = answered(engine, text)
    assert "ShuffledHashJoin" in plan and "ShuffledHashJoin" not in before
    assert rows == expected
    assert rows or query == "nothing"


def test_it_is_asked_where_most_rows_are_left_out_and_keys_are_no_numbers(pair: Partners) -> None:
    engine = pair.use("text")
    assert all("keyFilter" in code_of_join(engine, QUERIES[q].format("text")) for q in ("inner", "left", "range"))
    every = "SELECT m.v, f.w FROM many m JOIN few f ON m.text = f.text"
    assert "keyFilter" not in code_of_join(engine, every)
    assert "keyFilter" not in code_of_join(engine, f"{every} WHERE f.w > 2100")
    with settings(engine, OFF):
        assert "keyFilter" not in code_of_join(engine, QUERIES["inner"].format("text"))


def test_also_in_memory(pair: Partners) -> None:
    engine = pair.use("text")
    texts = [QUERIES[q].format("text") for q in ("inner", "left", "range")]
    expected = [answered(engine, text)[1] for text in texts]
    with in_memory(engine, "many", "few"):
        for text, rows in zip(texts, expected, strict=True):
            assert "keyFilter" in code_of_join(engine, text)
            assert answered(engine, text)[1] == rows
