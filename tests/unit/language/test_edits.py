from __future__ import annotations

import random

import pytest

from warehouse.errors import Span
from warehouse.language import Piece, apply, edit, moved

TEXT = "SELECT a, b FROM STREAM s WHERE a > 1"


def at(part: str) -> Span:
    return Span(TEXT.index(part), TEXT.index(part) + len(part))


def test_no_edits() -> None:
    edited = apply(TEXT, [])
    assert edited.text == TEXT and edited.origin(7, 8) == Span(7, 8)
    assert apply("", []).origin(0, 0) == Span(0, 0)


def test_inside_a_replacement_is_the_span_it_replaced() -> None:
    edited = apply(TEXT, [edit(at("STREAM s"), "(SELECT * FROM hidden) AS s")])
    assert edited.text == "SELECT a, b FROM (SELECT * FROM hidden) AS s WHERE a > 1"
    assert edited.origin(edited.text.index("hidden"), edited.text.index("hidden") + 6) == at("STREAM s")
    where = edited.text.index("WHERE")
    assert edited.origin(where, where + 5) == at("WHERE")


def test_moved_words_map_exactly() -> None:
    edited = apply(TEXT, [edit(at("a, b"), "f(", moved(TEXT, at("a > 1")), ") AS x"), edit(at(" WHERE a > 1"))])
    assert edited.text == "SELECT f(a > 1) AS x FROM STREAM s"
    assert edited.origin(9, 10) == Span(at("a > 1").start, at("a > 1").start + 1)
    assert edited.origin(7, 9) == at("a, b")
    assert edited.origin(8, 11).covers(at("a, b")) and edited.origin(8, 11).end == at("a > 1").start + 2


def test_a_piece_may_stand_for_words_it_does_not_repeat() -> None:
    edited = apply(TEXT, [edit(at("b"), Piece("other", at("a >")))])
    assert edited.origin(edited.text.index("ther"), edited.text.index("ther") + 1) == at("a >")


def test_ends_and_empty_ranges() -> None:
    edited = apply(TEXT, [edit(at("> 1"), "IS NULL")])
    assert edited.origin(len(edited.text), len(edited.text)) == Span(len(TEXT), len(TEXT))
    assert edited.origin(8, 8) == Span(8, 8)
    assert edited.origin(0, len(edited.text)) == Span(0, len(TEXT))


def test_insertions_keep_their_order() -> None:
    assert apply("ab", [edit(Span(1, 1), "1"), edit(Span(1, 1), "2"), edit(Span(1, 2), "B")]).text == "a12B"


@pytest.mark.parametrize("spans", [[(0, 3), (2, 4)], [(0, 3), (1, 2)], [(0, 99)], [(3, 2)]])
def test_overlaps_are_bugs(spans: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError):
        apply("abcdef", [edit(Span(a, b), "x") for a, b in spans])


def test_untouched_characters_map_to_themselves() -> None:
    rng = random.Random(7)
    for _ in range(200):
        text = "".join(rng.choices("abc \n", k=40))
        cuts = sorted(rng.sample(range(41), 6))
        edits = [edit(Span(a, b), "<" * rng.randrange(4)) for a, b in zip(cuts[::2], cuts[1::2], strict=True)]
        edited = apply(text, edits)
        for i, character in enumerate(edited.text):
            origin = edited.origin(i, i + 1)
            if character == "<":
                assert any(e.span == origin for e in edits)
            else:
                assert origin.of(text) == character and len(origin.of(text)) == 1
