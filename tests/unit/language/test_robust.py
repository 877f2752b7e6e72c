"""Damaged statements end in a statement or in an error with a place, never in a crash or an endless loop."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from warehouse.errors import SourceText, WarehouseError
from warehouse.language import parse, split
from warehouse.language.tokens import tokenize

CORPUS = Path(__file__).parents[2] / "corpus"


def damaged(text: str, rng: random.Random) -> str:
    tokens = tokenize(text) or []
    words = [text[t.start : t.end] for t in tokens]
    for _ in range(rng.randrange(1, 4)):
        if not words:
            break
        at = rng.randrange(len(words))
        match rng.randrange(5):
            case 0:
                del words[at]
            case 1:
                words.insert(at, rng.choice(words))
            case 2:
                words[at] = rng.choice(words)
            case 3:
                words = words[:at]
            case _:
                words.insert(at, rng.choice(["(", ")", ",", "TRIGGER", "WINDOW", "STREAM", "'x", "AS", ";", "[", "10"]))
    return " ".join(words)


def test_deep_brackets() -> None:
    for depth in (50, 5000):
        text = "SELECT " + "(" * depth + "1" + ")" * depth
        assert parse(SourceText(text)).source.text == text


def test_a_trigger_in_deep_brackets() -> None:
    with pytest.raises(WarehouseError, match="WAREHOUSE_TRIGGER_TOO_DEEP"):
        parse(SourceText("SELECT count(*) FROM t TRIGGER " + "(" * 500 + "EVERY ROW" + ")" * 500))


def test_damaged_statements() -> None:
    rng = random.Random(3)
    texts = [s.text for f in sorted(CORPUS.glob("*/*.sql")) for s in split(f.read_text(encoding="utf-8"))]
    for _ in range(2000):
        text = damaged(rng.choice(texts), rng)
        try:
            assert parse(SourceText(text)).source.text == text
        except WarehouseError as error:
            for found in error.diagnostics:
                assert found.span is not None and 0 <= found.span.start <= found.span.end <= len(text), text
        for part in split(text):
            assert part.text in text
