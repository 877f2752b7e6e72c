"""New words stay usable as names wherever Spark takes them.

The templates were run through Spark 4.2's own parser with all these words in all places (thousands of draws):
what it accepts and reads without a stream must come out as Spark's statement.
"""

from __future__ import annotations

import random
import re

import pytest

from warehouse.errors import SourceText
from warehouse.language import parse
from warehouse.language.statements import SparkStatement

WORDS = [
    "trigger",
    "window",
    "stream",
    "late",
    "every",
    "early",
    "after",
    "never",
    "once",
    "discarding",
    "accumulating",
    "retracting",
    "allowed",
    "lateness",
    "generate",
    "fixed",
    "sliding",
    "tumble",
    "hop",
    "session",
    "descriptor",
    "sessions",
    "global",
    "size",
    "gap",
    "watermark",
    "delay",
    "percentile",
    "repeat",
    "until",
    "at",
    "when",
    "streaming",
    "panes",
]
TEMPLATES = [
    "SELECT {} FROM t",
    "SELECT {} {} FROM t {}",
    "SELECT {}.{} AS {} FROM t AS {}",
    "SELECT * FROM t {} WHERE {} = 1",
    "SELECT * FROM t WHERE {} > {} AND {}",
    "SELECT {}, sum({}) {} FROM t {} GROUP BY {}, {} HAVING {} > 1 ORDER BY {}",
    "SELECT * FROM t JOIN u {} ON {}.{} = {}",
    "SELECT * FROM t {} LEFT JOIN u {} USING ({})",
    "SELECT * FROM (SELECT {} FROM t {}) {}",
    "WITH {} AS (SELECT {} FROM t), {} AS (SELECT 1) SELECT * FROM t {}",
    "SELECT {} FROM t UNION ALL SELECT {} FROM u {}",
    "SELECT {} FROM t {} ({}, {})",
    "SELECT {} FROM t LATERAL VIEW explode({}) {} AS {}, {}",
    "SELECT max({}) OVER {} FROM t WINDOW {} AS (PARTITION BY {})",
    "FROM t {} SELECT {}",
    "SELECT CASE {} WHEN {} THEN {} ELSE {} END {} FROM t",
    "SELECT {}({}), transform({}, {} -> {} + 1) FROM t",
    "INSERT INTO {} SELECT {} FROM t {}",
    "CREATE TABLE {} AS SELECT * FROM t {}",
    "DELETE FROM {} WHERE {} IN (SELECT {} FROM t {})",
    "SELECT * FROM t WATERMARK c DELAY OF INTERVAL 1 DAY {}",
    "SELECT {} IS NOT NULL {}, {}::int {} FROM t",
    "SELECT {} FROM t |> WHERE {} |> SELECT {} {}",
    "SELECT * FROM t {} PIVOT (sum({}) {} FOR {} IN (1 AS {})) {}",
    "SELECT * FROM VALUES (1, 2) {} ({}, {})",
    "SELECT * FROM {} AS a",
    "SELECT * FROM {}, {}, t",
    "SELECT * FROM {} WHERE {} = 1 ORDER BY {}",
    "SELECT * FROM {} JOIN {} ON true",
    "DROP TABLE {}",
]


def test_names_everywhere() -> None:
    rng = random.Random(1)
    for _ in range(3000):
        text = re.sub(r"\{\}", lambda _: rng.choice(WORDS), rng.choice(TEMPLATES))
        statement = parse(SourceText(text))
        assert isinstance(statement, SparkStatement) and statement.source.text == text, text


@pytest.mark.parametrize("word", WORDS)
def test_quoted_names_are_never_ours(word: str) -> None:
    for text in (f"SELECT `{word}` FROM `{word}` `{word}`", f"SELECT 1 FROM t `{word}` ORDER BY `{word}`"):
        assert isinstance(parse(SourceText(text)), SparkStatement)


@pytest.mark.parametrize(
    ("spark", "ours"),
    [
        ("FROM t TRIGGER", "FROM t TRIGGER NEVER"),
        ("FROM t TRIGGER (never)", "FROM t TRIGGER (AT WATERMARK)"),
        ("FROM t TRIGGER WHERE a", "FROM t TRIGGER WHERE a TRIGGER NEVER"),
        ("FROM t WINDOW", "FROM t WINDOW GLOBAL"),
        ("FROM t WINDOW fixed AS (ORDER BY a)", "FROM t WINDOW FIXED (a, SIZE INTERVAL 1 DAY)"),
        ("FROM t WINDOW global AS (ORDER BY a)", "FROM t window WINDOW GLOBAL"),
        ("FROM t RETRACTING", "FROM t TRIGGER NEVER RETRACTING"),
        ("FROM t AS trigger", "FROM t AS trigger TRIGGER EVERY 2 ROWS"),
        ("FROM stream", "FROM stream s"),
        ("FROM stream WHERE a", "FROM stream a WHERE a"),
        ("FROM `stream` s", "FROM STREAM `s`"),
        ("FROM stream AS s", "FROM stream trigger never"),
        ("FROM t |> SELECT trigger every", "FROM stream TRIGGER AFTER 5 ROWS"),
        ("FROM panes", "FROM panes('t')"),
        ("FROM stream WATERMARK c DELAY OF INTERVAL 1 DAY", "FROM STREAM s WATERMARK c DELAY OF INTERVAL 1 DAY"),
    ],
)
def test_the_line_between_names_and_clauses(spark: str, ours: str) -> None:
    assert isinstance(parse(SourceText(f"{'' if '|>' in spark else 'SELECT count(*) '}{spark}")), SparkStatement)
    assert not isinstance(parse(SourceText(f"SELECT count(*) {ours}")), SparkStatement)
