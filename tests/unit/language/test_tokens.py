from __future__ import annotations

import pytest

from warehouse.errors import WarehouseError
from warehouse.language import tokens
from warehouse.language.literals import split_name, string_value
from warehouse.language.tokens import Kind, tokenize


def texts(sql: str) -> list[str]:
    found = tokenize(sql)
    assert found is not None
    return [sql[t.start : t.end] for t in found]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("10BD 1L 2S 3Y 4F 3.0D 1e-3 .5 1.", "10BD 1L 2S 3Y 4F 3.0D 1e-3 .5 1."),
        ("a.1b 2_x 0x1F a.b.c", "a . 1b 2_x 0x1F a . b . c"),
        ("'it''s' 'a' 'b' \"d;q\"", "'it''s' 'a' 'b' \"d;q\""),
        ("r'\\d+' R\"x\" N'y' X'1F' date'2020'", "r'\\d+' R\"x\" N'y' X '1F' date '2020'"),
        ("`a``b` :p ? $x @v ${hi}", "`a``b` : p ? $ x @ v $ { hi }"),
        ("a--b\nc -- d \\\n still\ne /* f /* g */ h */ i", "a c e i"),
        (
            "EXECUTE IMMEDIATE 'a' USING 1; CALL f(1); GROUP BY x",
            "EXECUTE IMMEDIATE 'a' USING 1 ; CALL f ( 1 ) ; GROUP BY x",
        ),
        ("ADD JAR ivy://g/m--1;", "ADD JAR ivy://g/m--1 ;"),
        ("a->b a=>b a|>b a<=>b a::int", "a -> b a => b a |> b a <=> b a :: int"),
        ("größe 日本 é", "größe 日本 é"),
    ],
)
def test_token_boundaries(sql: str, expected: str) -> None:
    assert " ".join(texts(sql)) == expected


def test_kinds_and_texts() -> None:
    found = tokenize("select `a``b`, 'x' 1 <> y")
    assert found is not None
    assert [(t.kind, t.text, t.upper) for t in found] == [
        (Kind.WORD, "select", "SELECT"),
        (Kind.IDENTIFIER_QUOTED, "a`b", ""),
        (Kind.SYMBOL, ",", ","),
        (Kind.STRING, "'x'", ""),
        (Kind.NUMBER, "1", ""),
        (Kind.SYMBOL, "<>", "<>"),
        (Kind.WORD, "y", "Y"),
    ]


def test_hints_are_tokens_behind_select_only() -> None:
    assert texts("SELECT /*+ A(t) */ /*+ B */ 1 /* /*+ c */") == ["SELECT", "/*+ A(t) */ /*+ B */", "1"]


def test_what_cannot_be_read_is_left_to_spark() -> None:
    assert tokenize("SELECT 'open") is None


def test_the_compiled_build_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from sqlglot import tokenizer_core

    monkeypatch.setattr(tokenizer_core, "__file__", "tokenizer_core.so")
    tokens._tokenizer_class.cache_clear()
    with pytest.raises(WarehouseError) as caught:
        tokenize("SELECT 1")
    assert caught.value.condition == "WAREHOUSE_SQLGLOT_COMPILED" and "sqlglotc" in str(caught.value)
    monkeypatch.undo()
    tokens._tokenizer_class.cache_clear()


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("'a'", "a"),
        ("'it''s'", "it's"),
        ('"d""q"', 'd"q'),
        (r"'a\tb\\c\'d\%\_'", "a\tb\\c'd\\%\\_"),
        (r"'\u0041\101\x'", "AAx"),
        (r"r'\n'", r"\n"),
    ],
)
def test_string_values(literal: str, value: str) -> None:
    assert string_value(literal) == value


def test_names_in_strings() -> None:
    from warehouse.errors import Span

    span = Span(0, 1)
    for text, parts in {"t": ("t",), "a.b": ("a", "b"), "a.`b.c`": ("a", "b.c"), "`x``y`": ("x`y",)}.items():
        name = split_name(text, span)
        assert name is not None and name.parts == parts
    for text in ("", "a.", "a..b", ".a"):
        assert split_name(text, span) is None
