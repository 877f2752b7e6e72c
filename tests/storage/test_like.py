"""LIKE with several pieces: the texts that lack one are known without a regular expression, and answers stay."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.soak import soaked
from tests.statements import Rows, rows_in
from warehouse.language.literals import string_literal

PIECES = ["a", "ab", "ß", "%", "_", "", "b.c", "%%"]


@pytest.fixture(scope="module")
def rows(engine: Any) -> Iterator[Rows]:
    for rows in rows_in(engine, "like_of_pieces"):
        dice = random.Random(5)
        parts = ["a", "b", "ab", "ß", ".c", "%", "_", "\n", "\\"]
        texts = {"".join(dice.choices(parts, k=dice.randrange(7))) for _ in range(400)}
        listed = ", ".join(f"({string_literal(text)})" for text in sorted(texts))
        rows(f"CREATE TABLE texts AS SELECT * FROM VALUES {listed}, (NULL) AS v (t)")
        yield rows


@pytest.mark.parametrize("patterns", [15, soaked(200)])
def test_answers_are_those_of_the_regular_expression(rows: Rows, patterns: int) -> None:
    dice = random.Random(3)
    texts = [row["t"] for row in rows("SELECT t FROM texts")]
    for _ in range(patterns):
        pattern = "".join(dice.choices(PIECES, k=dice.randrange(1, 6)))
        expected = re.compile(re.sub("[%_]", lambda m: ".*" if m[0] == "%" else ".", re.escape(pattern)), re.DOTALL)
        matched = sorted(text for text in texts if text is not None and expected.fullmatch(text))
        failed = len([text for text in texts if text is not None]) - len(matched)
        (told,) = rows(f"SELECT array_sort(collect_list(t) FILTER (WHERE t LIKE '{pattern}')) AS matched FROM texts")
        assert [row["t"] for row in rows(f"SELECT t FROM texts WHERE t LIKE '{pattern}' ORDER BY t")] == told["matched"]
        assert sorted(told["matched"]) == matched, pattern
        assert rows(f"SELECT count(*) AS n FROM texts WHERE t NOT LIKE '{pattern}'") == [{"n": failed}], pattern


def test_what_is_asked_first_is_in_the_plan(rows: Rows) -> None:
    def plan(where: str) -> str:
        return "\n".join(str(row["plan"]) for row in rows(f"EXPLAIN SELECT t FROM texts WHERE {where}"))

    told = plan("t NOT LIKE 'x%ab%ß_c'")
    for part in ("StartsWith(t", "Contains(t", "EndsWith(t", "LIKE x%ab%ß_c"):
        assert part in told, told
    of_another_kind = (
        "t LIKE 'ab%'", "t LIKE '_'", r"t LIKE R'a\%b%c'", "upper(t) LIKE 'A%B%C'", "t COLLATE UTF8_LCASE LIKE 'a%b%c'",
    )  # fmt: skip
    for where in of_another_kind:
        assert "Contains(t" not in plan(where), where
    rows("SET warehouse.like.pieces = false")
    try:
        assert "Contains(t" not in plan("t LIKE 'a%ab%b'")
    finally:
        rows("RESET warehouse.like.pieces")
