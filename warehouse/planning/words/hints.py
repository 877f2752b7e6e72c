"""A block's hints, told apart by what they are about: the relations of its FROM, or the rows that it gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from warehouse.errors import Span
from warehouse.language.fragments import Fragment, joined, of, quoted
from warehouse.language.statements import QueryBlock
from warehouse.language.tokens import Kind, Token, tokenize
from warehouse.planning.words import scan
from warehouse.planning.words.text import Text

_COMMENT = re.compile(r"/\*\+(.*?)\*/", re.DOTALL)
_OF_ROWS = frozenset({"COALESCE", "REPARTITION", "REPARTITION_BY_RANGE", "REBALANCE"})


@dataclass(frozen=True)
class Hints:
    """Hints as written, each kind as one comment that begins with a space, or empty.

    Spark, too, looks for the relations that a join hint names under the SELECT, and spreads what the SELECT gives:
    https://spark.apache.org/docs/latest/sql-ref-syntax-qry-select-hints.html
    """

    of_relations: Fragment
    of_rows: Fragment


def hints_of(text: Text, block: QueryBlock) -> Hints:
    """Return the hints behind the block's SELECT; one that cannot be read is left to Spark, as if of relations."""
    written = [hint for token in text.words(block.select) if token.kind is Kind.HINT for hint in _hints(token)]
    rows = [span for name, span in written if name in _OF_ROWS]
    relations = [span for name, span in written if name not in _OF_ROWS]
    return Hints(_comment(text, relations), _comment(text, rows))


def _comment(text: Text, hints: Sequence[Span]) -> Fragment:
    if not hints:
        return of("")
    listed = joined(", ", [quoted(text.text, hint) for hint in hints])
    return " /*+ " + listed + of(" */").standing_for(hints[-1])


def _hints(written: Token) -> Iterator[tuple[str, Span]]:
    """Return the name in upper case and the place of each hint in one or several comments."""
    for comment in _COMMENT.finditer(written.text):
        start = written.start + comment.start(1)
        tokens = tokenize(comment[1])
        if tokens is None:
            yield "", Span(start, written.start + comment.end(1))
            continue
        at = 0
        while at < len(tokens):
            name, last = tokens[at].text.upper(), at
            if at + 1 < len(tokens) and tokens[at + 1].upper == "(":
                last = scan.closing(tokens, at + 1)
            if name != ",":
                yield name, Span(start + tokens[at].start, start + tokens[last].end)
            at = last + 1
