"""The judge of the benchmarks' answers: what it lets pass, and that it finds what is wrong."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from benchmarks.answers import difference, from_text, order

PLAIN = "SELECT a, b FROM t"
ORDERED = "SELECT a, b FROM t ORDER BY b DESC"
TOP = "SELECT a, b FROM t ORDER BY b DESC LIMIT 3"


def table(*rows: tuple[object, ...]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [(), ()]
    return pa.table([pa.array(c) for c in columns], names=["a", "b"])


@pytest.mark.parametrize(
    ("query", "mine", "theirs"),
    [
        (PLAIN, [(1, "x"), (2, "y")], [(2, "y"), (1, "x")]),
        (PLAIN, [(None, "x"), (1, "x")], [(1, "x"), (None, "x")]),
        (PLAIN, [("x", Decimal("0.333333"))], [("x", 1 / 3)]),
        (PLAIN, [("x", float("nan"))], [("x", float("nan"))]),
        (PLAIN, [(1, Decimal("2.50"))], [(1, Decimal("2.5"))]),
        (PLAIN, [], []),
        (ORDERED, [("x", 2), ("y", 1), ("z", 1)], [("x", 2), ("z", 1), ("y", 1)]),
        (TOP, [("x", 2), ("y", 1), ("z", 1)], [("x", 2), ("v", 1), ("w", 1)]),
    ],
    ids=["any order", "nulls", "decimal and double", "not a number", "scale", "empty", "ties", "ties at the limit"],
)
def test_same(query: str, mine: list[tuple[object, ...]], theirs: list[tuple[object, ...]]) -> None:
    assert difference(query, table(*mine), table(*theirs)) is None


@pytest.mark.parametrize(
    ("query", "mine", "theirs"),
    [
        (PLAIN, [(1, "x")], [(1, "x"), (1, "x")]),
        (PLAIN, [(1, "x"), (1, "x"), (2, "y")], [(1, "x"), (2, "y"), (2, "y")]),
        (PLAIN, [("x", Decimal("0.333331"))], [("x", 1 / 3)]),
        (PLAIN, [(1, Decimal("2.51"))], [(1, Decimal("2.50"))]),
        (PLAIN, [(1, None)], [(1, 0)]),
        (ORDERED, [("y", 1), ("x", 2)], [("x", 2), ("y", 1)]),
        (TOP, [("x", 2), ("y", 1), ("z", 1)], [("q", 2), ("y", 1), ("z", 1)]),
        (TOP.replace("3", "9"), [("x", 2), ("y", 1)], [("x", 2), ("z", 1)]),
    ],
    ids=[
        "fewer",
        "other multiset",
        "beyond the last place",
        "decimals",
        "null",
        "order",
        "above the limit",
        "no limit",
    ],
)
def test_different(query: str, mine: list[tuple[object, ...]], theirs: list[tuple[object, ...]]) -> None:
    assert difference(query, table(*mine), table(*theirs))


def test_columns_differ() -> None:
    assert difference(PLAIN, table((1, 2)), table((1, 2)).select(["a"])) == "2 columns instead of 1"


def test_order_and_limit_are_those_of_the_outermost_query() -> None:
    text = "SELECT a AS x, sum(b) FROM (SELECT * FROM t ORDER BY c LIMIT 7) GROUP BY a ORDER BY x, sum(b), x LIMIT 5"
    assert order(text) == ((0,), 5)


def test_reference_answers_are_text() -> None:
    schema = pa.schema([("name", pa.string()), ("total", pa.decimal128(15, 2))])
    assert from_text('name|total\nquote " here|1.50\n|\n', schema).to_pylist() == [
        {"c0": 'quote " here', "c1": Decimal("1.50")},
        {"c0": "", "c1": None},
    ]
