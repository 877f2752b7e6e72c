"""Other spellings of a block's window: what they mean is a WINDOW clause, and from here on the block has one.

``FROM TUMBLE(…) GROUP BY window_start, window_end`` and its kin say the window of a block that groups by the bounds;
where a block does not, its FROM stays a relation of rows and their windows. ``GROUP BY window(…)`` and
``session_window(…)`` are Spark's own unless the block holds something of ours: a clause, or a stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from warehouse.errors import Span, fail
from warehouse.language.cursor import Cursor
from warehouse.language.statements import (
    Clauses,
    QueryBlock,
    QueryShape,
    SessionWindow,
    Spelling,
    WindowCall,
    WindowSpec,
)
from warehouse.language.tokens import Kind, Token
from warehouse.language.window_calls import FUNCTIONS, grouping_window

BOUNDS = ("window_start", "window_end")


def respelt(cursor: Cursor, shape: QueryShape) -> QueryShape:
    """Return the shape with the windows that are spelled otherwise among the clauses of their blocks.

    Raises:
        WarehouseError: a block says its window twice, or ``window(…)`` is malformed.
    """
    if not shape.calls and not any(t.upper in FUNCTIONS for t in cursor.tokens):
        return shape
    return replace(shape, blocks=tuple(_Block(cursor, shape, block).respelt() for block in shape.blocks))


class _Block:
    """One block with what is needed to look into it."""

    def __init__(self, cursor: Cursor, shape: QueryShape, block: QueryBlock):
        self.cursor, self.shape, self.block = cursor, shape, block

    def respelt(self) -> QueryBlock:
        block, calls = self.block, self._calls()
        explicit = block.clauses.window if block.clauses else None
        function = self._function() if block.clauses or self._reads_stream(block.relation) else None
        for call in calls:
            if explicit is not None:
                self._refuse_two(call.span, "a WINDOW clause")
            if function is not None:
                self._refuse_two(function, f"{call.function} in FROM")
        if function is not None and explicit is not None:
            self._refuse_two(function, "a WINDOW clause")
        if function is not None:
            first = self._index(function)
            window: WindowSpec = grouping_window(self.cursor, first, self.cursor.closing(first + 1) + 1)
            return self._with(window, Spelling(None, function, self._struct_names(function)))
        if len(calls) == 1 and self._groups_by(calls[0]):
            return self._with(calls[0].window, Spelling(calls[0]))
        return block

    def _with(self, window: WindowSpec, spelling: Spelling) -> QueryBlock:
        given = self.block.clauses
        clauses = replace(given, window=window) if given else Clauses(window, None, None, None, None, spelling.span)
        return replace(self.block, clauses=clauses, spelling=spelling)

    def _refuse_two(self, place: Span, other: str) -> None:
        written = place.of(self.cursor.source.text)
        fail("WAREHOUSE_WINDOW_SAID_TWICE", place, written=" ".join(written.split()), other=other)

    # ---------------------------------------------------------------- places

    def _words(self, span: Span) -> list[Token]:
        return [t for t in self.cursor.tokens if t.text and span.covers(t.span)]

    def _index(self, span: Span) -> int:
        return next(i for i, t in enumerate(self.cursor.tokens) if t.start == span.start)

    def _reads_stream(self, relation: Span | None, seen: frozenset[Span] = frozenset()) -> bool:
        """Say whether a stream stands in the relation, or in a common table expression that it names."""
        if relation is None:
            return False
        if any(relation.covers(s.span) for s in self.shape.streams):
            return True
        plain = [r.name for r in self.shape.relations if relation.covers(r.span) and len(r.name.parts) == 1]
        names = {name.last.lower() for name in plain}
        listed = (c for c in self.shape.ctes if c.scope.covers(relation) and c.name.strip("`").lower() in names)
        return any(self._reads_stream(c.query, seen | {c.query}) for c in listed if c.query not in seen)

    def _calls(self) -> list[WindowCall]:
        """Return the table functions that stand in this block's own FROM, neither in a subquery nor in another call."""
        relation = self.block.relation
        inner = [b.span for b in self.shape.blocks if b is not self.block and relation and relation.covers(b.span)]
        inner += [c.relation for c in self.shape.calls]
        return [
            c for c in self.shape.calls
            if relation and relation.covers(c.span) and not any(i.covers(c.span) for i in inner)
        ]  # fmt: skip

    # ---------------------------------------------------------------- GROUP BY

    def _keys(self) -> list[list[Token]]:
        """Return the grouping expressions: positions and aliases of the SELECT list looked up, aliases left out."""
        block = self.block
        if block.grouping_sets is not None:
            every = block.grouping_sets.of(self.cursor.source.text).strip().upper() == "ALL"
            items = block.items if every else ()
            return [self._words(i.expression) for i in items if not i.star]
        named = {i.alias.strip("`").lower(): i for i in block.items if i.alias}
        keys = []
        for span in block.group_by:
            tokens = self._words(span)
            only = tokens[0].text.lower() if len(tokens) == 1 else ""
            if only.isdigit() and tokens[0].kind is Kind.NUMBER and 1 <= int(only) <= len(block.items):
                tokens = self._words(block.items[int(only) - 1].expression)
            elif only in named and only not in BOUNDS:
                tokens = self._words(named[only].expression)
            keys.append(tokens)
        return keys

    # ---------------------------------------------------------------- table functions

    def _groups_by(self, call: WindowCall) -> bool:
        """Say whether the block is the windowed aggregation over the call's rows that a WINDOW clause would make it."""
        relation, where = self.block.relation, self.block.where
        assert relation is not None
        beside = [t for t in self._words(relation) if not call.span.covers(t.span)]
        elsewhere = [*beside, *(self._words(where) if where else [])]
        if any(t.text.lower() in BOUNDS for t in elsewhere) or any(t.upper in ("RIGHT", "FULL") for t in beside):
            return False
        own = self._own_names(call)
        keys = [_plain(key, own) for key in self._keys()]
        if not any(key in ([b] for b in BOUNDS) for key in keys):
            return False
        if not isinstance(call.window, SessionWindow):
            return True
        others = {tuple(k) for k in keys if not set(k) & set(BOUNDS)}
        if self.block.grouping_sets is not None:  # GROUP BY ALL: what holds a call is taken for an aggregate
            others = {k for k in others if "(" not in k}
        return others == {tuple(_plain(self._words(p), own)) for p in call.partition}

    def _own_names(self, call: WindowCall) -> set[str]:
        """Return the names by which columns of the call may be qualified."""
        inside = [r.alias or r.name.last for r in self.shape.relations if r.span == call.relation]
        inside += [s.alias or s.name.last for s in self.shape.streams if s.span == call.relation]
        return {name.strip("`").lower() for name in (call.alias, *inside) if name}

    # ---------------------------------------------------------------- window(…) and session_window(…)

    def _function(self) -> Span | None:
        """Return the words of the call of Spark's that the block groups by, or None."""
        for tokens in self._keys():
            if len(tokens) < 3 or tokens[0].upper not in FUNCTIONS or tokens[1].upper != "(":
                continue
            first = self._index(tokens[0].span)
            close = self.cursor.closing(first + 1)
            behind = [t for t in tokens if t.start >= self.cursor.tokens[close].end]
            if not behind or (behind[0].upper == "AS" and len(behind) == 2) or (len(behind) == 1 and behind[0].is_name):
                return self.cursor.span(first, close + 1)
        return None

    def _struct_names(self, function: Span) -> tuple[str, ...]:
        """Return the names of the struct: the function's own, and those that GROUP BY and SELECT give it."""
        first = self._words(function)
        names = {first[0].text.lower()}
        for span in self.block.group_by:
            tokens = self._words(span)
            if span.covers(function) and tokens[-1].span.start >= function.end:
                names.add(tokens[-1].text.lower())
        wanted = _plain(first, ())
        names |= {
            i.alias.strip("`").lower() for i in self.block.items
            if i.alias and _plain(self._words(i.expression), ()) == wanted
        }  # fmt: skip
        return tuple(sorted(names))


def _plain(tokens: Sequence[Token], qualifiers: Iterable[str]) -> list[str]:
    """Return the words for comparison: names in lower case, the given qualifiers before a name left out."""
    known, out, at = set(qualifiers), list[str](), 0
    while at < len(tokens):
        qualified = at + 2 < len(tokens) and tokens[at + 1].upper == "." and tokens[at].text.lower() in known
        at += 2 if qualified else 0
        out.append(tokens[at].text.lower() if tokens[at].is_name else tokens[at].text)
        at += 1
    return out
