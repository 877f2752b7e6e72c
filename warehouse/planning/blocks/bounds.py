"""The bounds of a block's window: the words for them, and what these stand for."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.errors import Span
from warehouse.language.tokens import Token
from warehouse.planning.words import scan
from warehouse.planning.words.precedence import occurrences

FINALS = {"window_start": "__w_start", "window_end": "__w_end"}
"""The words that every block may write, and their values in a pane."""
_LAST_INSTANT = {"window_time": "(__w_end - INTERVAL '0.000001' SECOND)"}
_STRUCT = "named_struct('start', __w_start, 'end', __w_end)"


@dataclass(frozen=True)
class Bounds:
    """What a block may write for the bounds of its window.

    Attributes:
        written: words, and the column of the analysis that they stand for.
        qualifiers: names that may stand before a word, lower case.
    """

    written: tuple[tuple[tuple[str, ...], str], ...]
    qualifiers: frozenset[str] = frozenset()

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return tuple(dict.fromkeys(column for _, column in self.written))

    def places(self, tokens: list[Token]) -> list[tuple[Span, str]]:
        """Return where ``tokens`` speak of the bounds, each place with its column; the longest words win."""
        listed, others = scan.words(tokens, self.qualifiers), scan.no_columns(tokens)
        found: list[tuple[Span, str]] = []
        for words, column in sorted(self.written, key=lambda w: -len(w[0])):
            pattern = [(word, Span(0, 0)) for word in words]
            found += [(span, column) for span in occurrences(listed, pattern, [s for s, _ in found], others)]
        return found


def bound_values(bounds: Bounds) -> dict[str, str]:
    """Return SQL over ``__w_start`` and ``__w_end`` for each column of the bounds."""
    return {column: (FINALS | _LAST_INSTANT).get(column, _STRUCT) for column in bounds.columns}


def typed_null(column: str) -> str:
    """Return SQL for a column of the bounds without a value, for the analysis."""
    kind = "TIMESTAMP" if column in FINALS | _LAST_INSTANT else "STRUCT<`start`: TIMESTAMP, `end`: TIMESTAMP>"
    return f"CAST(NULL AS {kind}) AS {column}"


def analyzed_bounds(bounds: Bounds) -> dict[str, str]:
    """Return what stands in the analysis for each column of the bounds."""
    return {column: f"__w_bounds.{column}" for column in bounds.columns}
