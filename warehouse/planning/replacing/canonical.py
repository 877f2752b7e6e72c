"""What a query computes, as texts that do not depend on how it was written down.

Case, comments, blanks, the order of the SELECT list and with it the numbers of columns are of the writing, and so is
the alias of a stream that is read alone. Two texts that are equal here mean the same; two that differ may still
(``a + b`` and ``b + a``): who asks errs on that side.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from warehouse.dataflow.aggregates.calls import Call
from warehouse.dataflow.query import Output, WindowedQuery
from warehouse.dataflow.triggers import Node
from warehouse.errors import Span
from warehouse.language.fragments import rewritten
from warehouse.language.tokens import Kind, tokenize
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.planning.words import scan


def canonical(sql: str, meaning: Mapping[str, str] | None = None) -> str:
    """Return SQL text token by token, names in lower case.

    Args:
        sql: the text.
        meaning: what stands for words of it.

    Example:
        >>> canonical("Sum( X0 ) /* all */ + `b`", {"x0": "d"})
        'sum ( {d} ) + b'
    """
    tokens = tokenize(sql)
    if tokens is None:
        return sql
    meaning = meaning or {}
    words = []
    for token in tokens:
        if token.kind is Kind.END:
            continue
        word = token.text.lower() if token.is_name else sql[token.start : token.end]
        if token.kind is Kind.IDENTIFIER_QUOTED and not token.text.isidentifier():
            word = f"`{word}`"
        words.append(f"{{{meaning[word]}}}" if token.kind is Kind.WORD and word in meaning else word)
    return " ".join(words)


_ONE_STREAM = re.compile(r"(from __w_source0) as (\w+)(?= where |$)")
_OWN_NAMES = ("SELECT", "->")
"""Behind these words a name may be of something else, which is called like the stream."""


def rows_of(query: StreamingQuery) -> tuple[str, dict[str, str]]:
    """Return where the rows of a query come from and which of them count, and what its input has of each, by name.

    Of a stream that is read alone the alias is left out, where that is sure to mean the same.
    """
    origin = canonical(query.origin)
    alone = _ONE_STREAM.match(origin)
    if alone is None:
        return origin, {name.lower(): canonical(sql) for name, sql in query.named}
    columns = {column.name.lower() for column in query.sources[0].columns}

    def unqualified(sql: str) -> str:
        tokens = tokenize(sql)
        if tokens is None or any(token.upper in _OWN_NAMES for token in tokens):
            return canonical(sql)
        edits = scan.without_qualifiers(tokens, {alone[2]}, columns)
        return canonical(rewritten(sql, Span(0, len(sql)), edits).text)

    return alone[1] + unqualified(origin[alone.end() :]), {name.lower(): unqualified(sql) for name, sql in query.named}


@dataclass(frozen=True)
class Canonical:
    """The parts of a windowed query as texts that can be compared."""

    query: StreamingQuery

    @property
    def block(self) -> WindowedQuery:
        """Return the stateful block."""
        assert self.query.windowed
        return self.query.windowed

    @cached_property
    def rows(self) -> tuple[str, dict[str, str]]:
        """Return ``rows_of`` it."""
        return rows_of(self.query)

    @property
    def columns(self) -> dict[str, str]:
        """Return what the columns of the input are, by name."""
        return self.rows[1]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Return the group keys."""
        return tuple(self.columns[name] for name in self.block.key_columns)

    @cached_property
    def origin(self) -> tuple[str, ...]:
        """Return where rows come from and which of them count, and what places them in event time."""
        placing = ("__w_time", "__w_gap", "__w_windows")
        return self.rows[0], *(self.columns.get(name, "") for name in placing)

    def of_row(self, sql: str) -> str:
        """Return an expression over the columns of the input."""
        return canonical(sql, self.columns)

    def call(self, call: Call) -> str:
        """Return an aggregate."""
        listed = ", ".join(self.of_row(a.sql) for a in call.arguments)
        rest = canonical(call.rest.format(*(self.of_row(a.sql) for a in call.ordering))) if call.rest else ""
        chosen = f" filter ({self.of_row(call.filter)})" if call.filter else ""
        return f"{call.function}({'distinct ' if call.distinct else ''}{listed}){rest}{chosen}"

    @cached_property
    def finals(self) -> dict[str, str]:
        """Return what the columns are over which outputs and conditions are written."""
        found = {f"__w_f{i}": self.call(call) for i, call in enumerate(self.block.calls)}
        return found | {name: self.columns[name] for name in self.block.key_columns}

    def of_window(self, sql: str | None) -> str:
        """Return an expression over results, keys and bounds."""
        return canonical(sql, self.finals) if sql else ""

    @cached_property
    def partials(self) -> tuple[tuple[str, str], ...]:
        """Return the partial results, each with its type."""
        parts = self.block.parts
        inputs = {f"a{i}": self.of_row(sql) for i, sql in enumerate(parts.inputs)}
        return tuple((_as_sum(canonical(p.sql, inputs | self.columns)), p.type) for p in parts.partials)

    @cached_property
    def outputs(self) -> dict[str, str]:
        """Return what the columns of the result are, by lower-case name."""
        values = self._inside(self.block.outputs)
        for layer in self.block.layers:
            inside = {name: f"{layer.alias} {text}" for name, text in values.items()}
            values = {o.name.lower(): canonical(o.sql, inside) for o in layer.outputs}
        return values

    def _inside(self, outputs: tuple[Output, ...]) -> dict[str, str]:
        return {o.name.lower(): self.of_window(o.sql) for o in outputs}

    @cached_property
    def hiding(self) -> tuple[str, ...]:
        """Return the conditions under which a pane shows."""
        values, found = self._inside(self.block.outputs), [self.of_window(self.block.having)]
        for layer in self.block.layers:
            if layer.where:
                found.append(canonical(layer.where, values))
            values = {o.name.lower(): canonical(o.sql, values) for o in layer.outputs}
        return tuple(found)

    def node(self, node: Node) -> tuple[object, ...]:
        """Return a trigger tree."""
        condition = canonical(node.condition, self.columns | self.finals)
        own = (canonical(node.written), *map(self.of_row, node.own.arguments)) if node.own else ()
        return node.kind, node.amount, node.percent, condition, own, tuple(map(self.node, node.parts))

    @cached_property
    def trigger(self) -> tuple[object, ...]:
        """Return when panes are emitted."""
        return self.node(self.block.trigger), self.block.once

    @cached_property
    def pending(self) -> tuple[tuple[str, str, str], ...]:
        """Return what is kept of what has arrived since the last pane."""
        return tuple((self.of_row(p.first), p.type, p.none) for p in self.block.pending)


def _as_sum(text: str) -> str:
    """Return the sum of whole or decimal numbers one way, of the two in which SUM and AVG write it.

    Example:
        >>> _as_sum("cast ( sum ( {d} ) as bigint )") == _as_sum("sum ( cast ( {d} as bigint ) )")
        True
    """
    words = text.split(" ")
    if words[:4] == ["cast", "(", "sum", "("] and words[-1] == ")" and "as" in words:
        last = len(words) - 1 - words[::-1].index("as")
        if words[last - 1] == ")":
            return f"sum of {' '.join(words[4 : last - 1])}"
    if words[:4] == ["sum", "(", "cast", "("] and words[-2:] == [")", ")"] and "as" in words:
        last = len(words) - 1 - words[::-1].index("as")
        if words[last + 1] in ("bigint", "decimal"):
            return f"sum of {' '.join(words[4:last])}"
    return text
