"""A join in place keeps rows in the order of their keys where these are numbers; the answers are Spark's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adaptive.conftest import PLACED, Partners, answered, code_of_join, in_memory, settings
from tests.soak import soaked
from tests.statements import rows_of
from warehouse.engine import Engine

OFF = {"warehouse.join.byNumber": "false"}
KEYS = {
    "even": "id % 3000",
    "few": "id % 3",
    "one": "7L",
    "together": "if(id % 2 = 0, id % 1000, 4611686018427387904 + id % 1000)",
    "apart": "(id % 3000) * 1099511627776",
    "ends": "CASE id % 4 WHEN 0 THEN -9223372036854775808 WHEN 1 THEN 9223372036854775807 ELSE id % 3000 - 1500 END",
    "hashes": "xxhash64(id % 3000)",
    "integer": "CAST(id % 3000 - 1500 AS INT)",
    "date": "date_add(DATE '1960-01-01', CAST(id % 3000 AS INT))",
}
"""By how the numbers lie: at one place or two many of them, a few, at all; as far apart as there are numbers."""

QUERIES = {
    "inner": "SELECT m.v, f.w FROM many m JOIN few f ON m.{0} = f.{0} WHERE f.w % 100 < 7 AND m.v % 100 < 30",
    "left": "SELECT m.v, f.w FROM many m LEFT JOIN few f ON m.{0} = f.{0} AND f.w % 100 > v % 100 + 60 WHERE v % 9 = 1",
    "right": "SELECT m.v, f.w FROM few f RIGHT JOIN many m ON m.{0} = f.{0} AND f.w % 100 = 3 WHERE m.v % 9 = 1",
    "semi": "SELECT m.v FROM many m LEFT SEMI JOIN few f ON m.{0} = f.{0} AND f.w % 7 > m.v % 7",
    "anti": "SELECT m.v FROM many m LEFT ANTI JOIN few f ON m.{0} = f.{0} AND f.w % 7 > m.v % 7",
    "sums": "SELECT count(*), sum(m.v), sum(f.w), max(f.said) FROM many m JOIN few f ON m.{0} = f.{0}",
    "nothing": "SELECT m.v, f.w FROM many m JOIN few f ON m.{0} = f.{0} WHERE f.w < 0",
}
SOME = ("inner", "left", "sums")
COMMON = ("even", "together")


@pytest.fixture(scope="module")
def pair(engine: Engine, shipped: None) -> Iterator[Partners]:
    keys = {kind: f"if(id % 31 = 0, NULL, {sql})" for kind, sql in KEYS.items()}
    few = "id AS w, concat('other ', id) AS said FROM range(2000, 6000, 1, 4)"
    with settings(engine, PLACED):
        yield Partners(engine, "numbered", keys, "id AS v FROM range(0, 6000, 1, 4)", few)
    rows_of(engine, "USE default")


@pytest.mark.parametrize("query", [q if q in SOME else soaked(q) for q in QUERIES])
@pytest.mark.parametrize("kind", [k if k in COMMON else soaked(k) for k in KEYS])
def test_rows_are_the_same(pair: Partners, kind: str, query: str) -> None:
    engine = pair.use(kind)
    text = QUERIES[query].format(kind)
    plan, rows = answered(engine, text)
    assert "ShuffledHashJoin" in plan
    with settings(engine, OFF):
        assert answered(engine, text)[1] == rows
    with settings(engine, {"warehouse.distribution": "false"}):
        assert answered(engine, text)[1] == rows
    assert rows or query == "nothing"


def test_it_is_done_where_the_key_is_a_number_and_every_row_counts(pair: Partners) -> None:
    engine = pair.use("even")
    for q in ("inner", "left", "semi"):
        assert "takingRows" in code_of_join(engine, QUERIES[q].format("even")), q
    assert "takingRows" not in code_of_join(engine, "SELECT v FROM many m LEFT SEMI JOIN few f ON m.even = f.even")
    texts = "SELECT * FROM many m JOIN few f ON m.even = f.even AND string(m.v) = f.said"
    assert "takingRows" not in code_of_join(engine, texts)
    with settings(engine, OFF):
        assert "takingRows" not in code_of_join(engine, QUERIES["inner"].format("even"))


def test_two_keys_that_fit_into_a_number_are_one(pair: Partners) -> None:
    engine = pair.use("integer")
    text = "SELECT v, w FROM many m JOIN few f ON m.integer = f.integer AND int(v % 5) - 2 = int(w % 5) - 2"
    assert "takingRows" in code_of_join(engine, text)
    _, rows = answered(engine, text)
    with settings(engine, {"warehouse.distribution": "false"}):
        assert answered(engine, text)[1] == rows
    assert rows


def test_also_in_memory(pair: Partners) -> None:
    """Tables of nothing but numbers, too, of which Spark would read a row at a time."""
    engine = pair.use("together")
    texts = [QUERIES[q].format("together") for q in SOME]
    expected = [answered(engine, text)[1] for text in texts]
    with in_memory(engine, "many", "few"):
        for text, rows in zip(texts, expected, strict=True):
            assert "takingRows" in code_of_join(engine, text)
            assert answered(engine, text)[1] == rows


def test_rows_that_take_more_memory_than_there_was_at_first(pair: Partners) -> None:
    engine = pair.use("even")
    rows_of(
        engine,
        """CREATE TABLE long AS SELECT id DIV 2 AS k, id AS v FROM range(9000) DISTRIBUTE BY k;
        CREATE TABLE wide TBLPROPERTIES ('copartition' = 'long') AS
        SELECT id % 5000 AS k, repeat(string(id % 10), int(id % 1000)) AS t FROM range(20000) DISTRIBUTE BY k""",
    )
    text = "SELECT v, md5(t), length(t) FROM wide RIGHT JOIN long USING (k)"
    assert "takingRows" in code_of_join(engine, text)
    _, rows = answered(engine, text)
    with settings(engine, {"warehouse.distribution": "false"}):
        assert answered(engine, text)[1] == rows
    assert len(rows) == 36000
