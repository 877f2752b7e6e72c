"""Words of an expression that only say which table a column is of."""

from __future__ import annotations

import pytest

from warehouse.errors import Span
from warehouse.language.fragments import rewritten
from warehouse.language.tokens import tokenize
from warehouse.planning.words import scan


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ("s.at", "at"),
        ("greatest(S . at, `p`.`at`)", "greatest( at, `at`)"),
        ("db.s.at + catalog.db.s.n", "at + n"),
        ("v.s.x", "v.s.x"),  # a field called like the stream, of a column
        ("other.at", "other.at"),
        ("a.s", "a.s"),
        ("s.v.s", "v.s"),
    ],
)
def test_qualifiers_are_left_out_and_fields_stay(written: str, left: str) -> None:
    edits = scan.without_qualifiers(tokenize(written) or (), {"s", "p"}, {"v", "at", "x"})
    assert rewritten(written, Span(0, len(written)), edits).text == left
