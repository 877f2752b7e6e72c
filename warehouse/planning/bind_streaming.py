"""Binds the query of a streaming table: views and common table expressions written out, one stateful block found."""

from __future__ import annotations

from dataclasses import dataclass, replace

from warehouse.catalog.entries import Column, StreamEntry, quote_name
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.triggers import Kind
from warehouse.dataflow.windows import Global
from warehouse.errors import SourceText, Span, WarehouseError, fail
from warehouse.language.fragments import Fragment, joined, quoted, rewritten
from warehouse.language.parser import parse
from warehouse.language.statements import CreateStreamingTable, Mode, QueryBlock, QueryShape, SparkStatement, Statement
from warehouse.language.tokens import tokenize
from warehouse.planning import scan
from warehouse.planning.blocks import Text
from warehouse.planning.context import Context
from warehouse.planning.layers import bind_layers
from warehouse.planning.render import FunctionRelation, Writer, has_hidden, refuse_streams_outside_from
from warehouse.planning.sources import SourceKind, StreamSource, resolve, typed_empty
from warehouse.planning.streaming_query import HIDDEN, StreamingQuery, source_view

MOST_EXPANSIONS = 100


def bind_streaming(
    context: Context, source: SourceText, query: QueryShape, function: FunctionRelation
) -> StreamingQuery:
    """Return the query of a streaming table, resolved.

    Args:
        context: catalog and analyzer.
        source: the CREATE statement. query: the shape of its query.
        function: relations of our table functions.

    Raises:
        WarehouseError: located in ``source``.
    """
    expanded = without_distinct(context, expand(context, source, query), function)
    try:
        bound = _bound(context, expanded.text, function)
    except WarehouseError as error:
        raise _back(error, expanded.fragment, source) from None
    return replace(bound, source=expanded.source)


# ------------------------------------------------------------------ views and CTEs written out


@dataclass(frozen=True)
class Expanded:
    """The query with views of ours and stream-reading CTEs in place: its text, and the way back to the user's."""

    fragment: Fragment
    text: Text
    source: SourceText


def _shape_of(statement: Statement) -> QueryShape | None:
    return getattr(statement, "query", None)


def _read(text: str) -> Text:
    statement = parse(SourceText(text))
    shape = _shape_of(statement)
    assert shape is not None
    return Text(text, tuple(tokenize(text) or ()), shape)


def expand(context: Context, source: SourceText, query: QueryShape) -> Expanded:
    """Return the query with all views that hold something of ours, and all CTEs that read streams, written out."""
    fragment = quoted(source.text, query.span)
    text = _read(fragment.text)
    for _ in range(MOST_EXPANSIONS):
        edit = _next_expansion(context, text)
        if edit is None:
            return Expanded(fragment, _without_dead_ctes(text), source)
        span, words = edit
        whole = rewritten(fragment.text, Span(0, len(fragment.text)), [(span, words)])
        fragment = _through(whole, fragment)
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
        functions=alive(shape.functions), relations=alive(shape.relations),
    )  # fmt: skip
    return replace(text, shape=kept, without=tuple(dead))


def _through(outer: Fragment, inner: Fragment) -> Fragment:
    """Return ``outer``, whose spans point into ``inner``'s text, with spans that point where ``inner``'s do."""
    pieces = []
    for piece in outer.pieces:
        if piece.origin is None:
            pieces.append(piece)
        elif piece.copied:
            pieces += _slice(inner, piece.origin).pieces
        else:
            pieces.append(replace(piece, origin=inner.origin(piece.origin.start, piece.origin.end)))
    return Fragment(tuple(pieces))


def _slice(fragment: Fragment, span: Span) -> Fragment:
    pieces, at = [], 0
    for piece in fragment.pieces:
        first, last = max(span.start, at), min(span.end, at + len(piece.text))
        if first < last:
            origin = piece.origin
            if origin is not None and piece.copied:
                origin = Span(origin.start + first - at, origin.start + last - at)
            pieces.append(replace(piece, text=piece.text[first - at : last - at], origin=origin))
        at += len(piece.text)
    return Fragment(tuple(pieces))


def _next_expansion(context: Context, text: Text) -> tuple[Span, str] | None:
    streaming = [c for c in text.shape.ctes if any(c.query.covers(s.span) for s in text.shape.streams)]
    for reference in text.shape.relations:
        alias = reference.alias or quote_name(reference.name.last)
        if len(reference.name.parts) == 1:
            for cte in streaming:
                if cte.name.lower() == reference.name.last.lower() and cte.scope.covers(reference.span):
                    if cte.query.covers(reference.span):
                        continue
                    return reference.span, f"({cte.query.of(text.text)}) AS {alias}"
        view = context.catalog.view(*context.resolve(reference.name))
        if view is not None:
            return reference.span, f"({_view_query(view.text)}) AS {alias}"
    return None


def _view_query(text: str) -> str:
    """Return the query inside a CREATE VIEW statement."""
    shape = _shape_of(parse(SourceText(text)))
    assert shape is not None
    return shape.span.of(text)


def _back(error: WarehouseError, fragment: Fragment, source: SourceText) -> WarehouseError:
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
        if not block.distinct or not streams or block.clauses or block.group_by or block.grouping_sets:
            continue
        analysis = Writer(context, text, lambda s: typed_empty(s.columns), function)
        try:
            columns = context.analyzer.columns(_with(text, _free_ctes(text)) + analysis(block.span))
        except WarehouseError as error:
            raise _back(error, expanded.fragment, expanded.source) from None
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
        fragment = _through(whole, expanded.fragment)
        return Expanded(fragment, _read(fragment.text), expanded.source)
    return expanded


# ------------------------------------------------------------------ the stateful block


def _bound(context: Context, text: Text, function: FunctionRelation) -> StreamingQuery:
    shape = text.shape
    live = list(shape.streams)
    if not live:
        fail("WAREHOUSE_STREAMING_TABLE_WITHOUT_STREAM", shape.span)
    refuse_streams_outside_from(text, tuple(live))
    sources = tuple(resolve(context, text.text, s) for s in live)
    for source in sources:
        if isinstance(source.entry, StreamEntry) and source.bounded and len(sources) > 1:
            fail(
                "WAREHOUSE_NOT_BUILT_YET",
                source.reference.span,
                what="a replay beside another stream",
                example="one replay",
            )
    numbers = {s.reference.span: i for i, s in enumerate(sources)}
    writer = Writer(context, text, lambda s: source_view(numbers[s.reference.span]), function, HIDDEN)
    functions = context.analyzer.aggregate_functions()
    stateful = [b for b in shape.blocks if writer.reads_stream(b) and _is_stateful(text, b, functions, live)]
    body = _body(text)
    roots = [
        b
        for b in shape.blocks
        if not any(
            o is not b and o.span.covers(b.span) and o.relation and o.relation.covers(b.span) for o in shape.blocks
        )
        and body.covers(b.span)
    ]
    _refuse_tails(text, writer)
    _refuse_joins_of_streams(text, live, shape.blocks)
    if not stateful:
        return _stateless(context, text, writer, sources, roots, body)
    if len(stateful) > 1:
        inner = max(stateful, key=lambda b: b.span.start)
        fail("WAREHOUSE_NESTED_AGGREGATION", inner.span)
    (block,) = stateful
    if len(roots) > 1:
        fail(
            "WAREHOUSE_NOT_BUILT_YET",
            block.span,
            what="UNION ALL of aggregations",
            example="a streaming table for each",
        )
    return _windowed(context, text, writer, sources, block)


def _body(text: Text) -> Span:
    """Return the query without its WITH list."""
    listed = [*(c.span for c in text.shape.ctes), *text.without]
    outside = [b.span.start for b in text.shape.blocks if not any(c.covers(b.span) for c in listed)]
    return Span(min(outside), text.shape.span.end)


def _with(text: Text, live_free: list) -> Fragment | str:
    return "WITH " + joined(", ", [quoted(text.text, c.span) for c in live_free]) + " " if live_free else ""


def _free_ctes(text: Text) -> list:
    """Return the CTEs of the outermost WITH that read no stream: they are kept as they are."""
    return [c for c in text.shape.ctes if not any(b.span.covers(c.span) for b in text.shape.blocks)]


def _is_stateful(text: Text, block: QueryBlock, functions: frozenset[str], live: list) -> bool:
    if block.clauses or block.group_by or block.grouping_sets or block.having or block.distinct:
        return True
    return any(
        not call.over for item in block.items for call in scan.aggregate_calls(text.words(item.expression), functions)
    )


def _refuse_tails(text: Text, writer: Writer) -> None:
    for block in text.shape.blocks:
        if writer.reads_stream(block):
            if block.tail:
                fail(
                    "WAREHOUSE_ORDER_IN_STREAMING_TABLE", block.tail, words=block.tail.of(text.text).split()[0].upper()
                )
            if block.set_operator and block.set_operator.of(text.text).upper().split() != ["UNION", "ALL"]:
                fail(
                    "WAREHOUSE_SET_OPERATOR_OVER_STREAM", block.set_operator, operator=block.set_operator.of(text.text)
                )


def _refuse_joins_of_streams(text: Text, live: list, blocks: tuple[QueryBlock, ...]) -> None:
    """Refuse two streams in one FROM unless they are branches of a UNION ALL."""
    for first, second in zip(live, live[1:], strict=False):
        owners = [
            min(
                (b for b in blocks if b.relation and b.relation.covers(s.span)), key=lambda b: b.span.end - b.span.start
            )
            for s in (first, second)
        ]
        if owners[0] is owners[1]:
            fail("WAREHOUSE_STREAM_JOIN", second.span)


def _stateless(
    context: Context, text: Text, writer: Writer, sources: tuple[StreamSource, ...], roots: list[QueryBlock], body: Span
) -> StreamingQuery:
    for block in roots:
        if not writer.reads_stream(block):
            fail("WAREHOUSE_UNION_WITH_TABLE", block.span)
    analysis = Writer(context, text, lambda s: typed_empty(s.columns), writer.function)
    columns = context.analyzer.columns(_with(text, _free_ctes(text)) + analysis(body))
    _refuse_duplicate_names(columns, roots[0].select)
    hidden_before = [b for b in roots if has_hidden(text, b)]
    if hidden_before and len(hidden_before) < len(roots):
        fail("WAREHOUSE_STAR_IN_UNION", hidden_before[0].items[0].span)
    inner = _with(text, _free_ctes(text)) + writer(body)
    names = tuple(c.name for c in columns)
    if hidden_before:
        listed = ", ".join(quote_name(n) for n in names)
        wanted: Fragment = f"SELECT {listed}, {HIDDEN} FROM (" + inner + ")"
    else:
        aliased = ", ".join([*(quote_name(n) for n in names), "__w_row", "__w_arrival"])
        wanted = "SELECT * FROM (" + inner + f") AS __w_q ({aliased})"
    if not context.analyzer.is_deterministic(_with(text, _free_ctes(text)) + analysis(body)):
        fail("WAREHOUSE_NONDETERMINISTIC", roots[0].select)
    return StreamingQuery(SourceText(text.text), sources, wanted, None, columns)


def _windowed(
    context: Context, text: Text, writer: Writer, sources: tuple[StreamSource, ...], block: QueryBlock
) -> StreamingQuery:
    bound = writer.bound(block, lambda fragment: fragment.text)
    query = replace(
        bound.query, layers=bind_layers(context, text, block, writer.function, bound.query.outputs),
        first_only=DISTINCT_RELATION in text.aliases(block.relation or block.span),
    )  # fmt: skip
    _refuse_what_never_closes(text, block, query, sources)
    for call in query.calls:
        from warehouse.dataflow.aggregates import ORDER_SENSITIVE

        if call.function in ORDER_SENSITIVE and "ORDER BY" not in call.rest.upper():
            place = next(
                c.name for i in block.items for c in scan.aggregate_calls(text.words(i.expression), {call.function})
            )
            fail("WAREHOUSE_ORDER_SENSITIVE", place, function=call.function)
    for source in sources:
        _refuse_double_counting(source)
    relation = _with(text, _free_ctes(text)) + bound.input(text, writer, HIDDEN)
    plain = Writer(context, text, lambda s: typed_empty(s.columns), writer.function)
    if not context.analyzer.is_deterministic(
        _with(text, _free_ctes(text)) + bound.input(text, plain, "0L AS __w_arrival")
    ):
        fail("WAREHOUSE_NONDETERMINISTIC", block.select)
    columns = tuple(Column(o.name, o.type) for o in query.result)
    clauses = block.clauses
    return StreamingQuery(
        SourceText(text.text),
        sources,
        relation,
        query,
        columns,
        clauses.trigger.span if clauses and clauses.trigger else None,
    )


def _refuse_double_counting(source: StreamSource) -> None:
    """Refuse to aggregate the changes of a table that may emit a window twice without taking the first one back."""
    entry = source.entry
    if source.kind is not SourceKind.CHANGES or entry is None or isinstance(entry, StreamEntry):
        return
    if entry.mode == Mode.RETRACTING.name:
        fail(
            "WAREHOUSE_NOT_BUILT_YET",
            source.reference.span,
            what="an aggregation over a RETRACTING table",
            example=f"STREAM panes('{entry.name}')",
        )
    if entry.mode == Mode.ACCUMULATING.name and entry.repeats:
        fail("WAREHOUSE_DOUBLE_COUNTING", source.reference.span, table=entry.name)


def _refuse_what_never_closes(
    text: Text, block: QueryBlock, query: WindowedQuery, sources: tuple[StreamSource, ...]
) -> None:
    """Refuse a window that no watermark can close under a trigger that waits for one."""
    kinds = query.trigger.kinds()
    fires_otherwise = bool(kinds & {Kind.EVERY_ROWS, Kind.AFTER_ROWS, Kind.EVERY_TIME, Kind.AFTER_TIME})
    place = block.clauses.trigger.span if block.clauses and block.clauses.trigger else block.select
    if all(s.bounded for s in sources):
        return
    if isinstance(query.window, Global):
        if not fires_otherwise:
            fail("WAREHOUSE_UNBOUNDED_AGGREGATE", place if block.clauses else _grouping_place(text, block))
    elif Kind.AT_WATERMARK in kinds and not all(s.has_watermark for s in sources):
        lacking = next(s for s in sources if not s.has_watermark)
        fail("WAREHOUSE_NO_WATERMARK", lacking.reference.span, stream=lacking.reference.name.last)


def _grouping_place(text: Text, block: QueryBlock) -> Span:
    return block.group_by[0].to(block.group_by[-1]) if block.group_by else block.items[0].span


def _refuse_duplicate_names(columns: tuple[Column, ...], place: Span) -> None:
    seen: set[str] = set()
    for column in columns:
        if column.name.lower() in seen:
            fail("WAREHOUSE_DUPLICATE_COLUMN", place, name=column.name)
        if column.name.lower().startswith("__w_"):
            fail("WAREHOUSE_RESERVED_NAME", place, name=column.name)
        seen.add(column.name.lower())


def repeats(query: StreamingQuery) -> bool:
    """Say whether a window of the table may be emitted more than once."""
    if query.windowed is None:
        return any(getattr(s.entry, "repeats", False) for s in query.sources if s.kind is SourceKind.CHANGES)
    if query.windowed.first_only:
        return False
    if query.windowed.trigger.kinds() == {Kind.AT_WATERMARK} and query.windowed.lateness == 0:
        from warehouse.dataflow.windows import Sessions

        return isinstance(query.windowed.window, Sessions)
    return True


__all__ = ["CreateStreamingTable", "SparkStatement", "bind_streaming", "expand", "repeats"]
