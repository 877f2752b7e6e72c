"""A group key inside a larger expression: it is found where Spark's grammar has it, and nowhere else."""

from __future__ import annotations

import random

import pytest

from tests.statements import rows_of
from warehouse.engine import Engine
from warehouse.language.tokens import tokenize
from warehouse.planning.words import scan
from warehouse.planning.words.precedence import occurrences

BINARY = ["*", "/", "%", "DIV", "+", "-", "||", "&", "^", "|", "=", "<=>", "<>", "<", ">=", "AND", "OR"]
OPERANDS = (
    "a",
    "b",
    "c",
    "f(a)",
    "c[0]",
    "(a + b)",
    "1",
    "CASE WHEN a = b THEN a ELSE b + c END",
    "CAST(a + b AS INT)",
)

NO_OPERANDS = ("INT", "NULL", "WHEN", "THEN", "ELSE")


def written(chance: random.Random, most: int) -> str:
    """Return an expression of up to ``most`` operators without brackets around its parts."""
    words = [chance.choice(OPERANDS)]
    for _ in range(chance.randint(0, most)):
        match chance.randrange(12):
            case 0:
                words.append(chance.choice(("IS NULL", "IS NOT NULL", "IN (1, b)", "NOT IN (a)", "LIKE 'x'")))
            case 1:
                words += ["BETWEEN", chance.choice(OPERANDS), "AND", chance.choice(OPERANDS)]
            case 2:
                words += [chance.choice(BINARY), chance.choice(("-", "NOT", "~")), chance.choice(OPERANDS)]
            case _:
                words += [chance.choice(BINARY), chance.choice(OPERANDS)]
    return " ".join(words)


def found_in(text: str, pattern: str) -> list[str]:
    """Return ``text`` with brackets around what is found of ``pattern``, each place by itself."""
    tokens, wanted = tokenize(text) or [], tokenize(pattern) or []
    spans = occurrences(scan.words(tokens, ()), scan.words(wanted, ()), others=scan.no_columns(tokens))
    return [f"{text[: s.start]}({text[s.start : s.end]}){text[s.end :]}" for s in spans]


def test_brackets_around_what_is_found_change_nothing(engine: Engine) -> None:
    parser = engine.spark._jsparkSession.sessionState().sqlParser()
    chance, found, parts = random.Random(20261127), 0, 0
    for _ in range(1500):
        text = written(chance, 5)
        tokens = tokenize(text) or []
        first = chance.randrange(len(tokens))
        drawn = tokens[first : chance.randrange(first, len(tokens)) + 1]
        part = text[drawn[0].start : drawn[-1].end]
        depths = scan.depths([t.upper for t in drawn], ("(", "[", "CASE"), (")", "]", "END"))
        torn = min(depths) < 0 or drawn[-1].upper in ("CASE", "(", "[")
        if torn or any(d == 0 and t.upper in NO_OPERANDS for d, t in zip(depths, drawn, strict=True)):
            continue
        try:
            whole = parser.parseExpression(f"({text})")
            parser.parseExpression(f"({part})")
        except Exception:  # not all of what is drawn is an expression
            continue
        parts += 1
        for bracketed in found_in(text, part):
            found += 1
            assert parser.parseExpression(f"({bracketed})").equals(whole), (text, part)
    assert found > parts / 3 > 100


@pytest.mark.parametrize(
    ("text", "pattern", "times"),
    [
        ("a + b + 1", "a + b", 1), ("1 + a + b", "a + b", 0), ("c - a * b - a * b / 2", "a * b", 2),
        ("-a * b", "a * b", 0), ("(a, b)", "(a)", 1), ("a + b IS NULL", "a + b", 1), ("f(a)", "f", 0),
        ("k || 'x' || 'y'", "k || 'x'", 1), ("NOT a = 1", "a = 1", 1), ("a BETWEEN b AND c", "b AND c", 0),
        ("tags[0] || 'q'", "tags[0]", 1), ("k + 1", "(k)", 1), ("(a + b) * 2", "((a + b))", 1),
        ("CASE a + b WHEN 3 THEN a + b END", "a + b", 2), ("x.a + a", "a", 1),
    ],
)  # fmt: skip
def test_where_it_is_found(text: str, pattern: str, times: int) -> None:
    assert len(found_in(text, pattern)) == times


ITEMS = [
    ("k || 'x'", "k || 'x' || 'y'"),
    ("a + b", "a + b + 1 - 2 * (a + b)"),
    ("a = 1", "NOT a = 1"),
    ("(c)", "upper(c)"),
    ("tags[0]", "tags[0] || 'q'"),
    ("e", "upper(q.e)"),
    ("q.f", "f || q.f"),
]
"""A key, and an item that it is in."""


@pytest.mark.soak
def test_streaming_and_batch_agree(engine: Engine, schema: str) -> None:
    rows_of(
        engine,
        "CREATE TABLE s (k STRING, a INT, b INT, c STRING, tags ARRAY<STRING>, e STRING, f STRING);"
        "INSERT INTO s VALUES ('x', 1, 2, 'c', array('t'), 'e', 'f'), ('y', 3, 4, 'c', array('u'), 'e', 'f')",
    )
    listed = ", ".join(f"{item} AS v{number}" for number, (_, item) in enumerate(ITEMS))
    query = (
        f"SELECT {listed}, count(*) AS n FROM (SELECT * FROM {{}} s) q GROUP BY {', '.join(key for key, _ in ITEMS)}"
    )
    rows_of(
        engine, f"CREATE STREAMING TABLE t AS {query.format('STREAM')} TRIGGER EVERY ROW; INSERT INTO s SELECT * FROM s"
    )
    rows_of(engine, "REFRESH STREAMING TABLE t")
    wanted = rows_of(engine, query.format("") + " ORDER BY 1")
    assert rows_of(engine, "SELECT * FROM t ORDER BY 1") == wanted and len(wanted) == 2


def test_a_key_may_be_named_with_its_table_and_schema(engine: Engine, schema: str) -> None:
    rows_of(engine, "CREATE TABLE tt (k STRING, at TIMESTAMP); INSERT INTO tt VALUES ('a', now()), ('a', now())")
    query = f"SELECT upper(spark_catalog.{schema}.tt.k) AS u, {schema}.tt.k, count(*) AS n FROM tt GROUP BY tt.k"
    assert rows_of(engine, query + " WINDOW FIXED (at, SIZE INTERVAL 1000 DAYS)") == [{"u": "A", "k": "a", "n": 2}]
