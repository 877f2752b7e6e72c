"""What completion and highlighting know: our clauses, Spark's words, and the names that the engine tells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from pygments.lexers.sql import SqlLexer
from pygments.token import Keyword, Name

OURS = frozenset(
    [
        "ACCUMULATING",
        "AFTER",
        "ALLOWED",
        "BYTES",
        "DELAY",
        "DISCARDING",
        "DRAIN",
        "EARLY",
        "EVERY",
        "FIXED",
        "FULL",
        "GAP",
        "GLOBAL",
        "IDLE",
        "LATE",
        "LATENESS",
        "NEVER",
        "OFFSET",
        "ONCE",
        "PERCENTILE",
        "QUARANTINE",
        "REFRESH",
        "REPEAT",
        "RETRACTING",
        "REWRITE",
        "SESSIONS",
        "SIZE",
        "SLIDING",
        "START",
        "STEP",
        "STOP",
        "STREAM",
        "STREAMING",
        "STREAMS",
        "TIMEOUT",
        "TRIGGER",
        "UNBOUNDED",
        "UNTIL",
        "WATERMARK",
        "WINDOW",
    ]
)
"""The words of our clauses."""

PHRASES = (
    "CREATE STREAM", "CREATE STREAMING TABLE", "CREATE OR REPLACE STREAMING TABLE", "REFRESH STREAMING TABLE",
    "START STREAMING TABLE", "STOP STREAMING TABLE", "DRAIN STREAMING TABLE", "DROP STREAMING TABLE", "DROP STREAM",
    "SHOW STREAMS", "SHOW STREAMING TABLES", "DESCRIBE STREAM", "DESCRIBE STREAMING TABLE", "EXPLAIN REWRITE",
    "FROM STREAM", "WATERMARK", "DELAY OF INTERVAL", "WINDOW FIXED (", "WINDOW SLIDING (", "WINDOW SESSIONS (",
    "WINDOW GLOBAL", "TRIGGER AT WATERMARK", "TRIGGER EVERY INTERVAL", "EARLY EVERY INTERVAL", "LATE EVERY 1 ROW",
    "ALLOWED LATENESS INTERVAL", "ACCUMULATING", "DISCARDING", "RETRACTING", "panes('", "late_rows('", "bad_rows('",
    "stream_state('", "stream_progress('",
)  # fmt: skip
SPARK = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "BY",
    "HAVING",
    "ORDER",
    "LIMIT",
    "JOIN",
    "LEFT",
    "RIGHT",
    "FULL",
    "INNER",
    "CROSS",
    "ON",
    "USING",
    "UNION",
    "ALL",
    "DISTINCT",
    "AS",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "AND",
    "OR",
    "NOT",
    "IN",
    "IS",
    "NULL",
    "LIKE",
    "BETWEEN",
    "EXISTS",
    "CAST",
    "INTERVAL",
    "CREATE",
    "TABLE",
    "VIEW",
    "TEMPORARY",
    "INSERT",
    "INTO",
    "VALUES",
    "UPDATE",
    "DELETE",
    "MERGE",
    "DROP",
    "ALTER",
    "DESCRIBE",
    "SHOW",
    "TABLES",
    "SCHEMAS",
    "COLUMNS",
    "FUNCTIONS",
    "USE",
    "SET",
    "EXPLAIN",
    "WITH",
    "OVER",
    "PARTITION",
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "coalesce",
    "date_trunc",
    "to_timestamp",
    "explode",
    "concat",
]


class Lexer(SqlLexer):
    """SQL, with our words as keywords."""

    name = "warehouse"

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, Any, str]]:
        """Yield position, kind and text of each token."""
        for place, kind, value in super().get_tokens_unprocessed(text):
            yield place, Keyword if kind in Name and value.upper() in OURS else kind, value


class Names(Completer):
    """Completes names of tables and columns first, then phrases of ours, then Spark's words.

    Attributes:
        tables: columns by table, in lower case; columns are filled in when a table is named.
    """

    def __init__(self) -> None:
        """Know of no table yet."""
        self.tables: dict[str, tuple[str, ...]] = {}

    def get_completions(self, document: Document, event: CompleteEvent) -> Iterator[Completion]:
        """Yield what may stand at the cursor."""
        word = document.get_word_before_cursor(pattern=re.compile(r"[\w.`]+"))
        if not word and not event.completion_requested:
            return
        for known in dict.fromkeys(self._candidates(document.text)):
            if known.lower().startswith(word.lower()) and known.lower() != word.lower():
                yield Completion(known, start_position=-len(word))

    def _candidates(self, text: str) -> Iterable[str]:
        named = {found.lower() for found in re.findall(r"[\w.]+", text)}
        for table, columns in self.tables.items():
            if table in named:
                yield from columns
        yield from self.tables
        yield from PHRASES
        yield from SPARK
