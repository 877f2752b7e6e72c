"""A windowed block, judged by Spark as the plain aggregation that it would be without our clauses.

So names, types and grouping are judged in Spark's words, at the user's words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warehouse.catalog.entries import Column
from warehouse.errors import Span, WarehouseError, fail
from warehouse.language.fragments import Fragment, joined, of, quoted, rewritten
from warehouse.language.statements import SelectItem, When
from warehouse.language.tokens import Kind
from warehouse.planning.blocks.bounds import Bounds, analyzed_bounds, typed_null
from warehouse.planning.blocks.finals import bound_edits, distinct_calls
from warehouse.planning.blocks.scope import Scope, bounds_meant, origin, refuse_bounds_in_where
from warehouse.planning.words import scan


@dataclass(frozen=True)
class Aggregation:
    """A windowed block as a plain aggregation.

    Attributes:
        scope: the block, and what its words are looked up in.
        found: the aggregate calls of its items, of HAVING and of its trigger's conditions.
        bounds: what it may write for the bounds of its window.
        keys: where the expressions are by which it groups, these bounds left out.
    """

    scope: Scope
    found: list[scan.FoundCall]
    bounds: Bounds
    keys: list[Span]

    def calls(self) -> list[scan.FoundCall]:
        """Return the aggregate calls, each text once."""
        return distinct_calls(self.scope.text, self.found)

    def judged(self) -> tuple[tuple[Column, ...], tuple[Column, ...]]:
        """Return the columns of the block's items, and those of its ``calls``.

        Raises:
            WarehouseError: Spark finds a mistake in them, or in HAVING.
        """
        text, block = self.scope.text.text, self.scope.block

        def item(written: SelectItem) -> Fragment:
            return self._bounded(written.expression) + quoted(text, Span(written.expression.end, written.span.end))

        query = self._selecting([*map(item, block.items), *(quoted(text, call.span) for call in self.calls())])
        if block.having:
            query = query + " HAVING " + self._bounded(block.having)
        columns = self.scope.context.analyzer.columns(query)
        return columns[: len(block.items)], columns[len(block.items) :]

    def is_of_row(self, when: When) -> bool:
        """Say whether a condition is about each row that arrives, since it holds no aggregate."""
        return not any(when.condition.covers(call.span) for call in self.found)

    def check_condition(self, when: When) -> None:
        """Refuse a condition that is not one, or that speaks of a row and of aggregates in one breath."""
        place, text = when.condition, self.scope.text
        written = place.of(text.text).strip()
        if any(token.upper == "OVER" for token in text.words(place)):
            fail("WAREHOUSE_WINDOW_FUNCTION_IN_WHEN", place, written=written)
        if self.is_of_row(when):
            (column,) = self.scope.columns("(" + self.scope.render(place) + ")")
        else:
            edits = bound_edits(text, place, self.found, self.bounds, analyzed_bounds(self.bounds))
            try:
                (column,) = self.scope.context.analyzer.columns(self._selecting([rewritten(text.text, place, edits)]))
            except WarehouseError as error:
                if error.diagnostics[0].condition.startswith("MISSING_AGGREGATION"):
                    fail("WAREHOUSE_WHEN_MIXES", place, written=written)
                raise
        if column.type != "boolean":
            fail("WAREHOUSE_WHEN_TYPE", place, written=written, type=column.type)

    def _bounded(self, place: Span) -> Fragment:
        """Return the expression at ``place`` as the analysis reads it."""
        edits = bound_edits(self.scope.text, place, self.found, self.bounds, analyzed_bounds(self.bounds))
        return rewritten(self.scope.text.text, place, edits) if edits else self.scope.render(place)

    def _selecting(self, items: list[Fragment]) -> Fragment:
        """Return the block as a plain aggregation that selects ``items``, without HAVING."""
        scope, bounds = self.scope, self.bounds
        listed = ", ".join(["1 AS __w_one", *map(typed_null, bounds.columns)])
        rows = origin(scope.block, scope.render, f"(SELECT {listed}) AS __w_bounds CROSS JOIN ")
        keys = [quoted(scope.text.text, key) for key in self.keys]
        keys += [of(f"__w_bounds.{name}") for name in ("__w_one", *bounds.columns)]
        return "SELECT " + joined(", ", items) + rows + " GROUP BY " + joined(", ", keys)


def aggregation(scope: Scope, conditions: Iterable[Span]) -> Aggregation:
    """Return a block as a plain aggregation.

    Args:
        scope: the block, and what its words are looked up in.
        conditions: those of its trigger.

    Raises:
        WarehouseError: it speaks of the bounds of its window where rows have none, or groups by what is not there.
    """
    block, text = scope.block, scope.text
    functions = scope.context.analyzer.aggregate_functions()
    places = [item.expression for item in block.items] + ([block.having] if block.having else []) + [*conditions]
    found = [call for place in places for call in scan.aggregate_calls(text.words(place), functions)]
    refuse_bounds_in_where(scope)
    bounds = bounds_meant(scope)
    _refuse_bounds_in_aggregates(scope, found, bounds)
    return Aggregation(scope, found, bounds, _keys(scope, found, bounds))


def _refuse_bounds_in_aggregates(scope: Scope, found: list[scan.FoundCall], bounds: Bounds) -> None:
    """Refuse aggregates of the window's bounds, which rows do not have, unless the source has such columns."""
    text = scope.text
    for call in found:
        for span, _ in bounds.places(text.words(call.span)):
            if not scope.has_column(quoted(text.text, span)):
                fail("WAREHOUSE_BOUND_IN_AGGREGATE", span, name=span.of(text.text), function=call.function)


def _keys(scope: Scope, found: list[scan.FoundCall], bounds: Bounds) -> list[Span]:
    """Return where the key expressions are: ordinals and aliases looked up, the window's own bounds left out.

    So is NULL, which tells no rows apart and has no type to be kept or compared by.
    """
    block, text, said = scope.block, scope.text, scope.said()
    wanted = block.group_by
    if block.grouping_sets:  # GROUP BY ALL
        wanted = tuple(i.expression for i in block.items if not any(i.expression.covers(c.span) for c in found))
    keys: dict[tuple[str, ...], Span] = {}
    for span in wanted:
        place = _meant(scope, span)
        if not bounds.places(text.words(place)) and place.of(text.text).upper() != "NULL":
            keys.setdefault(said(place), place)
    return list(keys.values())


def _meant(scope: Scope, span: Span) -> Span:
    """Return the expression that an item of GROUP BY means: that of an ordinal, that of an alias, or itself."""
    items, words = scope.block.items, scope.text.words(span)
    if len(words) != 1:
        return span
    if words[0].kind is Kind.NUMBER and words[0].text.isdigit():
        number = int(words[0].text)
        if not 1 <= number <= len(items):
            fail("WAREHOUSE_GROUP_BY_POSITION", span, position=number, count=len(items))
        return items[number - 1].expression
    aliases = {item.alias.strip("`").lower(): item for item in items if item.alias}
    named = aliases.get(words[0].text.lower())
    return named.expression if named and not scope.has_column(scope.render(span)) else span
