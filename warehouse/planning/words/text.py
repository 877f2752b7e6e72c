"""A text that is bound, with what is seen of its query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warehouse.errors import Span
from warehouse.language.fragments import Fragment
from warehouse.language.statements import QueryBlock, QueryShape
from warehouse.language.tokens import Token
from warehouse.planning.words import scan

Render = Callable[[Span], Fragment]
"""Returns the user's words at a span with all streams, table functions and inner blocks of ours replaced."""


@dataclass(frozen=True)
class Text:
    """The text that is bound: characters, tokens, and the shape of its query.

    Attributes:
        without: spans of common table expressions that the shape leaves out, since they were written out where
            they are used.
    """

    text: str
    tokens: tuple[Token, ...]
    shape: QueryShape
    without: tuple[Span, ...] = ()

    def words(self, span: Span) -> list[Token]:
        """Return the tokens inside ``span``."""
        return scan.within(self.tokens, span)

    def reads_stream(self, block: QueryBlock) -> bool:
        """Say whether the block's FROM holds a stream, at any depth."""
        return any(block.relation and block.relation.covers(s.span) for s in self.shape.streams)

    def streaming(self, span: Span) -> frozenset[str]:
        """Return, in lower case, the names by which relations inside ``span`` go that hold a stream."""
        subqueries = (
            name.text
            for name, its in scan.named_subqueries(self.words(span))
            if any(its.covers(s.span) for s in self.shape.streams)
        )
        streams = ((s.alias or s.name.last) for s in self.shape.streams if span.covers(s.span))
        calls = (c.alias for c in self.shape.calls if c.alias and span.covers(c.span))
        return _names(*subqueries, *streams, *calls)

    def aliases(self, span: Span) -> frozenset[str]:
        """Return, in lower case, the names by which relations inside ``span`` go."""
        subqueries = (name.text for name, _ in scan.named_subqueries(self.words(span)))
        plain = ((r.alias or r.name.last) for r in self.shape.relations if span.covers(r.span))
        return self.streaming(span) | _names(*subqueries, *plain)


def _names(*written: str) -> frozenset[str]:
    return frozenset(name.strip("`").lower() for name in written)
