"""Statements of Spark's reach Spark byte for byte; statements of ours are recognized, whole files of both."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warehouse.errors import SourceText
from warehouse.language import parse, split
from warehouse.language.statements import SparkStatement

CORPUS = Path(__file__).parents[2] / "corpus"


def statements(file: Path) -> list[str]:
    """Return a file's statements; each ends with a line that holds nothing but a semicolon."""
    return re.split(r"(?<=\n);\n", file.read_text(encoding="utf-8"))


def files(folder: str) -> list[Path]:
    return sorted((CORPUS / folder).glob("*.sql"))


@pytest.mark.parametrize("file", [*files("spark"), *files("ours")], ids=lambda f: f"{f.parent.name}-{f.stem}")
def test_a_file_splits_into_its_statements(file: Path) -> None:
    sources = split(file.read_text(encoding="utf-8"), file.name)
    assert [s.text for s in sources] == statements(file)
    lines = file.read_text(encoding="utf-8").split("\n")
    for source in sources:
        assert lines[source.line - 1].startswith(source.text.split("\n")[0])


@pytest.mark.parametrize("file", files("spark"), ids=lambda f: f.stem)
def test_spark_statements_pass_unchanged(file: Path) -> None:
    for text in statements(file):
        statement = parse(SourceText(text))
        assert isinstance(statement, SparkStatement), text
        assert statement.source.text == text
        assert [s.text for s in split(text)] == [text]


@pytest.mark.parametrize("file", files("ours"), ids=lambda f: f.stem)
def test_our_statements_are_ours(file: Path) -> None:
    for text in statements(file):
        statement = parse(SourceText(text))
        assert not isinstance(statement, SparkStatement), text
        assert statement.source.text == text


def test_the_corpus_is_large() -> None:
    assert sum(len(statements(f)) for f in files("spark")) > 400
