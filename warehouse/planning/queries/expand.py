"""Writes out views of ours, CTEs that read streams, and SELECT DISTINCT: what is left to bind is one plain query."""

from __future__ import annotations

from dataclasses import dataclass, replace

from warehouse.catalog.entries import Pairs
from warehouse.errors import SourceText, Span, WarehouseError, fail
from warehouse.language.fragments import Fragment, joined, quoted, rewritten
from warehouse.language.names import quote_name
from warehouse.language.parser import parse
from warehouse.language.statements import Cte, QueryShape, RelationReference, Statement
from warehouse.language.tokens import tokenize
from warehouse.planning.context import Context
from warehouse.planning.models.predictions import predicted
from warehouse.planning.queries.render import FunctionRelation, Writer, cte_columns
from warehouse.planning.streams.sources import typed_empty
from warehouse.planning.words.named_windows import next_use
from warehouse.planning.words.text import Text

MOST_EXPANSIONS = 100


@dataclass(frozen=True)
class Expanded:
    """The query with views of ours and stream-reading CTEs in place: its text, and the way back to the user's.

    Attributes:
        views: the views that were written out, by qualified name, with their statements.
    """

    fragment: Fragment
    text: Text
    source: SourceText
    views: Pairs


def _shape_of(statement: Statement) -> QueryShape | None:
    return getattr(statement, "query", None)


def _read(text: str) -> Text:
    statement = parse(SourceText(text))
    shape = _shape_of(statement)
    assert shape is not None
    return Text(text, tuple(tokenize(text) or ()), shape)


def expand(context: Context, source: SourceText, query: QueryShape, function: FunctionRelation) -> Expanded:
    """Return the query with views that hold something of ours, and CTEs and predictions over streams, written out."""
    fragment = quoted(source.text, query.span)
    if not query.blocks and not query.streams:
        fail("WAREHOUSE_STREAMING_TABLE_WITHOUT_STREAM", query.span)
    text, views = _read(fragment.text), dict[str, str]()
    for _ in range(MOST_EXPANSIONS):
        try:
            edit = _next_expansion(context, text, views) or next_use(text) or _next_prediction(context, text, function)
        except WarehouseError as error:
            raise pointed_back(error, fragment, source) from None
        if edit is None:
            return Expanded(fragment, _without_dead_ctes(text), source, tuple(sorted(views.items())))
        span, words = edit
        whole = rewritten(fragment.text, Span(0, len(fragment.text)), [(span, words)])
        fragment = whole.through(fragment)
        text = _read(fragment.text)
    fail("WAREHOUSE_VIEWS_TOO_DEEP", query.span, most=MOST_EXPANSIONS)


def _without_dead_ctes(text: Text) -> Text:
    """Return the text with nothing in its shape of the CTEs that were written out where they are used."""
    shape = text.shape
    dead = [c.span for c in shape.ctes if any(c.span.covers(s.span) for s in shape.streams)]

    def alive(parts: tuple) -> tuple:
        return tuple(p for p in parts if not any(d.covers(p.span) for d in dead))

    kept = replace(
        shape, blocks=alive(shape.blocks), ctes=alive(shape.ctes), streams=alive(shape.streams),
        functions=alive(shape.functions), relations=alive(shape.relations), calls=alive(shape.calls),
        models=alive(shape.models),
    )  # fmt: skip
    return replace(text, shape=kept, without=tuple(dead))


def _next_expansion(context: Context, text: Text, views: dict[str, str]) -> tuple[Span, Fragment | str] | None:
    """Return the next name that stands for a query over streams, with that query; a view is noted in ``views``."""
    streaming = [c for c in text.shape.ctes if any(c.query.covers(s.span) for s in text.shape.streams)]
    for reference in text.shape.relations:
        alias = reference.alias or quote_name(reference.name.last)
        cte = text.shape.cte_of(reference)
        if cte is not None and cte in streaming:
            if own := _own_rows(text, cte):
                fail("WAREHOUSE_RECURSIVE_STREAM", own.span, name=cte.name)
            return reference.span, f"({cte.query.of(text.text)}) AS {alias}{cte_columns(text, cte)}"
        view = context.view(reference.name)
        if view is not None:
            whole, statement = view
            views[whole] = statement
            return reference.span, f"({view_query(statement)}) AS {alias}"
    return None


def _own_rows(text: Text, cte: Cte) -> RelationReference | None:
    """Return where a recursive common table expression names itself."""
    name = (cte.name.strip("`").lower(),)
    named = (r for r in text.shape.relations if tuple(map(str.lower, r.name.parts)) == name)
    return next((r for r in named if cte.recursive and cte.query.covers(r.span)), None)


def _next_prediction(context: Context, text: Text, function: FunctionRelation) -> tuple[Span, str] | None:
    """Return the call of a model over a stream as the plain subquery that it is."""
    analysis = Writer(context, text, lambda s: typed_empty(s.columns), function, alone=True)
    for call in text.shape.models:
        if call.relation and any(call.relation.covers(s.span) for s in text.shape.streams):
            if call.function != "ml_predict":
                fail("WAREHOUSE_EVALUATE_STREAM", call.span)
            columns = context.analyzer.columns("SELECT * FROM " + analysis(call.relation))
            return call.span, predicted(context, call, quoted(text.text, call.relation), columns, None).text
    return None


def view_query(text: str) -> str:
    """Return the query inside a CREATE VIEW statement."""
    shape = _shape_of(parse(SourceText(text)))
    assert shape is not None
    return shape.span.of(text)


def pointed_back(error: WarehouseError, fragment: Fragment, source: SourceText) -> WarehouseError:
    """Return an error about the expanded text with spans in the user's own."""
    moved = [replace(d, span=fragment.origin(d.span.start, d.span.end) if d.span else None) for d in error.diagnostics]
    return WarehouseError(*moved, source=source)


DISTINCT_RELATION = "__w_distinct"
"""The name that stands for what SELECT DISTINCT makes distinct."""


def without_distinct(context: Context, expanded: Expanded, function: FunctionRelation) -> Expanded:
    """Return the query with SELECT DISTINCT over a stream written as the grouping it is."""
    text = expanded.text
    for block in text.shape.blocks:
        streams = [s for s in text.shape.streams if block.relation and block.relation.covers(s.span)]
        analysis = Writer(context, text, lambda s: typed_empty(s.columns), function)
        aggregates = block.clauses and not analysis.assignments().is_all(block)
        if not block.distinct or not streams or aggregates or block.group_by or block.grouping_sets:
            continue
        try:
            columns = context.analyzer.columns(with_list(text) + analysis(block.span))
        except WarehouseError as error:
            raise pointed_back(error, expanded.fragment, expanded.source) from None
        names = ", ".join(quote_name(c.name) for c in columns)
        whole = rewritten(
            text.text,
            Span(0, len(text.text)),
            [
                (Span(block.span.start, block.span.start), f"SELECT {names} FROM ("),
                (block.distinct, ""),
                (
                    Span(block.span.end, block.span.end),
                    f") AS {DISTINCT_RELATION} GROUP BY {names} TRIGGER EVERY 1 ROW",
                ),
            ],
        )
        fragment = whole.through(expanded.fragment)
        return replace(expanded, fragment=fragment, text=_read(fragment.text))
    return expanded


def with_list(text: Text) -> Fragment | str:
    """Return the list of the CTEs of the outermost WITH that read no stream, which are kept as they are; or nothing."""
    free = [c for c in text.shape.ctes if not any(b.span.covers(c.span) for b in text.shape.blocks)]
    if not free:
        return ""
    word = "WITH RECURSIVE " if any(c.recursive for c in free) else "WITH "
    return word + joined(", ", [quoted(text.text, c.span) for c in free]) + " "
