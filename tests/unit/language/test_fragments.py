"""Rewritten text leads back to the user's words."""

from __future__ import annotations

import pytest

from warehouse.errors import Span
from warehouse.language.fragments import joined, of, quoted, rewritten

TEXT = "SELECT a + b FROM STREAM s WHERE c"


def place(words: str) -> Span:
    at = TEXT.index(words)
    return Span(at, at + len(words))


def test_copied_words_keep_their_places_character_by_character():
    out = rewritten(TEXT, Span(0, len(TEXT)), [(place("STREAM s"), "(SELECT 1) AS s")])
    assert out.text == "SELECT a + b FROM (SELECT 1) AS s WHERE c"
    at = out.text.index("c", 35)
    assert out.origin(at, at + 1) == place("c")


def test_replaced_words_stand_for_what_they_replace():
    out = rewritten(TEXT, Span(0, len(TEXT)), [(place("STREAM s"), "(SELECT 1) AS s")])
    at = out.text.index("SELECT 1")
    assert out.origin(at, at + 8) == place("STREAM s")


def test_moved_words_remember_where_they_came_from():
    out = "SELECT " + joined(", ", [quoted(TEXT, place("b")), quoted(TEXT, place("a"))]) + " AS x"
    assert out.text == "SELECT b, a AS x"
    assert out.origin(7, 8) == place("b")
    assert out.origin(10, 11) == place("a")
    assert out.origin(0, 6) is None


def test_an_empty_span_inserts():
    at = Span(place("b").end, place("b").end)
    assert rewritten(TEXT, place("a + b"), [(at, ", c")]).text == "a + b, c"


def test_overlapping_edits_are_refused():
    with pytest.raises(ValueError, match="overlap"):
        rewritten(TEXT, Span(0, len(TEXT)), [(place("a + b"), "x"), (place("+ b"), "y")])


def test_edits_outside_the_span_are_left_out():
    assert rewritten(TEXT, place("a + b"), [(place("c"), "x")]).text == "a + b"


def test_generated_text_stands_for_nothing():
    assert of("SELECT").origin(0, 3) is None


def test_what_is_put_around_words_adds_nothing_to_them():
    inner = "CAST(" + quoted(TEXT, place("a + b")) + " AS INT)"
    out = rewritten(TEXT, Span(0, len(TEXT)), [(Span(0, len(TEXT)), inner)])
    assert out.text == "CAST(a + b AS INT)"
    assert out.origin(0, len(out.text)) == place("a + b")
    assert out.origin(0, 4) == Span(0, len(TEXT))
