"""A windowed block and what its words are looked up in: the columns of its source, and the bounds of its window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from warehouse.catalog.entries import Column
from warehouse.errors import Span, WarehouseError, fail
from warehouse.language.fragments import Fragment, of
from warehouse.language.statements import Clauses, QueryBlock
from warehouse.planning.blocks.bounds import FINALS, Bounds
from warehouse.planning.context import Context
from warehouse.planning.words import scan
from warehouse.planning.words.text import Render, Text


@dataclass(frozen=True)
class Scope:
    """What the words of a windowed block are looked up in.

    Attributes:
        context: catalog and analyzer.
        text: the text that holds the block.
        block: the block, which has a FROM.
        render: writes the user's words over relations without rows, for the analyzer.
    """

    context: Context
    text: Text
    block: QueryBlock
    render: Render

    @property
    def relation(self) -> Span:
        """Return where the words behind FROM are."""
        assert self.block.relation is not None
        return self.block.relation

    @property
    def clauses(self) -> Clauses:
        """Return the block's clauses, each of them None where there are none."""
        return self.block.clauses or Clauses(None, None, None, None, None, self.block.span)

    def columns(self, selected: Fragment) -> tuple[Column, ...]:
        """Return the columns of what is selected from the block's source.

        Raises:
            WarehouseError: Spark finds a mistake in it.
        """
        return self.context.analyzer.columns("SELECT " + selected + " FROM " + self.render(self.relation))

    def has_column(self, name: Fragment) -> bool:
        """Say whether the block's source has a column."""
        return resolves(self.context, name + " FROM " + self.render(self.relation))

    def said(self) -> Callable[[Span], tuple[str, ...]]:
        """Return what gives an expression's words, the same for expressions that are."""
        aliases = self.text.aliases(self.relation)
        apart = scan.told_apart(map(self.text.words, self.block.group_by))
        return lambda span: tuple(word for word, _ in scan.words(self.text.words(span), aliases, apart))


def resolves(context: Context, selected: Fragment) -> bool:
    """Say whether Spark can analyze what stands behind a SELECT."""
    try:
        context.analyzer.columns("SELECT " + selected)
    except WarehouseError:
        return False
    return True


def origin(block: QueryBlock, render: Render, beside: str = "") -> Fragment:
    """Return FROM and WHERE of a block; ``beside``: what stands before its relation, such as ``t CROSS JOIN``."""
    assert block.relation is not None
    return f" FROM {beside}" + render(block.relation) + (" WHERE " + render(block.where) if block.where else "")


def bounds_meant(scope: Scope) -> Bounds:
    """Return what stands for the bounds of the block's own window.

    Without a WINDOW clause or a table function that assigns windows, a column of the source that is called
    ``window_start`` is meant: a table of windows is regrouped.
    """
    block, text = scope.block, scope.text
    every: dict[tuple[str, ...], str] = {(name,): name for name in FINALS}
    spelling = block.spelling
    if spelling and spelling.call:
        return Bounds(tuple(every.items()), text.aliases(spelling.call.span))
    if scope.clauses.window and not spelling:
        return Bounds(tuple(every.items()))
    mentioned = {column for _, column in Bounds(tuple(every.items())).places(text.words(block.span))}
    written = {words: name for words, name in every.items() if name not in mentioned or not scope.has_column(of(name))}
    if spelling and spelling.function:
        aliases = text.aliases(scope.relation)
        call = scan.words(text.words(spelling.function), aliases)
        column = call[0][0]
        structs = [tuple(word for word, _ in call), *((name,) for name in spelling.names)]
        written |= dict.fromkeys(structs, column)
        written |= {("window_time", "(", *struct, ")"): "window_time" for struct in structs}
        return Bounds(tuple(written.items()), aliases - set(spelling.names))
    return Bounds(tuple(written.items()))


def refuse_bounds_in_where(scope: Scope) -> None:
    """Refuse a WHERE that speaks of the window's bounds, unless the source has columns of these names."""
    where = scope.block.where
    if where is None or scope.clauses.window is None:
        return
    for name, span in scan.names(scope.text.words(where), FINALS):
        if not scope.has_column(of(name)):
            fail("WAREHOUSE_BOUND_IN_WHERE", span, name=name)
