"""Binds the query of a streaming table: its streams, and the one stateful block it may hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from warehouse.catalog.entries import Column
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.triggers import Kind
from warehouse.errors import SourceText, Span, WarehouseError, fail
from warehouse.language.fragments import Fragment, joined, of
from warehouse.language.names import quote_name
from warehouse.language.statements import QueryBlock, QueryShape, SessionWindow, WindowSpec
from warehouse.planning.blocks.assignment import Assignments
from warehouse.planning.blocks.scope import origin
from warehouse.planning.context import Context
from warehouse.planning.queries import checks
from warehouse.planning.queries.expand import DISTINCT_RELATION, expand, pointed_back, with_list, without_distinct
from warehouse.planning.queries.layers import around, bind_layers
from warehouse.planning.queries.render import FunctionRelation, Writer, has_hidden
from warehouse.planning.queries.streaming_query import HIDDEN, Assigned, StreamingQuery, source_view
from warehouse.planning.streams.sources import SourceKind, StreamSource, resolve, typed_empty
from warehouse.planning.words import scan
from warehouse.planning.words.text import Text


def bind_streaming(
    context: Context, source: SourceText, query: QueryShape, function: FunctionRelation
) -> StreamingQuery:
    """Return the query of a streaming table, resolved.

    Args:
        context: catalog and analyzer.
        source: the CREATE statement.
        query: the shape of its query.
        function: relations of our table functions.

    Raises:
        WarehouseError: located in ``source``.
    """
    expanded = without_distinct(context, expand(context, source, query, function), function)
    try:
        bound = _bound(context, expanded.text, function)
    except WarehouseError as error:
        raise pointed_back(error, expanded.fragment, source) from None
    first = bound.sources[0].reference.span
    place = expanded.fragment.origin(first.start, first.end)
    return replace(bound, source=expanded.source, place=place, views=expanded.views)


def _bound(context: Context, text: Text, function: FunctionRelation) -> StreamingQuery:
    shape = text.shape
    sources = tuple(resolve(context, text.text, s) for s in shape.streams)
    for source in sources:
        name = source.reference.name
        if source.kind is SourceKind.DELTA and context.analyzer.relation_kind(name) == "view":
            fail("WAREHOUSE_STREAM_OF_VIEW", name.span, name=name.written)
    numbers = {s.reference.span: i for i, s in enumerate(sources)}
    writer = Writer(context, text, lambda s: source_view(numbers[s.reference.span]), function, HIDDEN)
    candidate = checks.Candidate(text, sources, tuple(b for b in shape.blocks if text.reads_stream(b)))
    for check in checks.CHECKS:
        check(candidate)
    checks.check_lasting(context, text)
    functions = context.analyzer.aggregate_functions()
    assigned = _assigned(text, writer)
    stateful = [b for b in candidate.blocks if _is_stateful(text, b, functions, writer.assignments())]
    body = _body(text)
    roots = [b for b in shape.blocks if body.covers(b.span) and not _is_inside_another(b, shape)]
    if not stateful:
        return replace(_stateless(context, text, writer, sources, roots, body), assigned=assigned)
    if len(stateful) > 1:
        fail("WAREHOUSE_NESTED_AGGREGATION", max(stateful, key=lambda b: b.span.start).select)
    (block,) = stateful
    if len(roots) > 1:
        fail(
            "WAREHOUSE_NOT_BUILT_YET", block.select, what="UNION ALL of aggregations",
            example="a streaming table for each",
        )  # fmt: skip
    return replace(_windowed(context, text, writer, sources, block), assigned=assigned)


def _assigned(text: Text, writer: Writer) -> tuple[Assigned, ...]:
    """Return the windows that rows of streams are given without being aggregated.

    Raises:
        WarehouseError: they are sessions, which grow while rows arrive.
    """
    assignments, shape, found = writer.assignments(), text.shape, []
    given: list[tuple[WindowSpec | None, Span, Span | None]] = []
    for block in shape.blocks:
        if text.reads_stream(block) and assignments.is_all(block) and block.relation:
            assert block.clauses
            if isinstance(block.clauses.window, SessionWindow):
                fail("WAREHOUSE_ASSIGNED_SESSIONS_GROW", block.clauses.window.span)
            given.append((block.clauses.window, block.relation, block.where))
    for call in shape.calls:
        if assignments.is_relation(call) and any(call.relation.covers(s.span) for s in shape.streams):
            if isinstance(call.window, SessionWindow):
                grouped = any(b.group_by and b.relation and b.relation.covers(call.span) for b in shape.blocks)
                fail(f"WAREHOUSE_{'SESSION_KEYS_DIFFER' if grouped else 'ASSIGNED_SESSIONS_GROW'}", call.span)
            given.append((call.window, call.relation, None))
    for window, relation, where in given:
        untimed = assignments.untimed(window, relation, where)
        listed = None if untimed is None else with_list(text) + untimed
        found.append(Assigned(assignments.planned(window, relation), listed))
    return tuple(found)


def _is_inside_another(block: QueryBlock, shape: QueryShape) -> bool:
    """Say whether the block stands in the FROM of another one, or is a subquery in one of its expressions."""
    return any(o is not block and o.span.covers(block.span) for o in shape.blocks)


def _body(text: Text) -> Span:
    """Return the query without its WITH list, with the parentheses that it may stand in."""
    listed = [*(c.span for c in text.shape.ctes), *text.without]
    first = min(b.span.start for b in text.shape.blocks if not any(c.covers(b.span) for c in listed))
    for before in reversed(text.words(Span(text.shape.span.start, first))):
        if before.upper != "(":
            break
        first = before.start
    return Span(first, text.shape.span.end)


def _is_stateful(text: Text, block: QueryBlock, functions: frozenset[str], assignments: Assignments) -> bool:
    if assignments.is_all(block):
        return block.distinct is not None
    if block.clauses or block.group_by or block.grouping_sets or block.having or block.distinct:
        return True
    return any(scan.aggregate_calls(text.words(item.expression), functions) for item in block.items)


def _stateless(
    context: Context, text: Text, writer: Writer, sources: tuple[StreamSource, ...], roots: list[QueryBlock], body: Span
) -> StreamingQuery:
    for block in roots:
        if not text.reads_stream(block):
            fail("WAREHOUSE_UNION_WITH_TABLE", block.span)
    analysis = Writer(context, text, lambda s: typed_empty(s.columns), writer.function)
    analyzed = with_list(text) + analysis(body)
    columns = context.analyzer.columns(analyzed)
    checks.check_places(context, analyzed, sources)
    checks.check_columns(columns, _places(roots[0], len(columns)))
    hidden_before = [b for b in roots if has_hidden(text, b)]
    if hidden_before and len(hidden_before) < len(roots):
        fail("WAREHOUSE_STAR_IN_UNION", hidden_before[0].items[0].span)
    inner = with_list(text) + writer(body)
    names = tuple(c.name for c in columns)
    if hidden_before:
        listed = ", ".join(quote_name(n) for n in names)
        wanted: Fragment = f"SELECT {listed}, {HIDDEN} FROM (" + inner + ")"
    else:
        aliased = ", ".join([*(quote_name(n) for n in names), "__w_row", "__w_arrival"])
        wanted = "SELECT * FROM (" + inner + f") AS __w_q ({aliased})"
    checks.check_deterministic(context, analyzed, roots[0].select)
    named, origin = _taken_apart(text, writer, roots, columns) or ((), inner.text)
    joined = _joined(context, analyzed, sources)
    return StreamingQuery(
        SourceText(text.text), sources, wanted, None, columns, named=named, origin=origin, joined=joined
    )  # fmt: skip


def _places(block: QueryBlock, count: int) -> list[Span]:
    """Return where each of the ``count`` columns of a block comes from: its item, or the star among them."""
    if len(block.items) == count:
        return [item.span for item in block.items]
    return [next((item.span for item in block.items if item.star), block.select)] * count


def _joined(context: Context, analyzed: Fragment, sources: tuple[StreamSource, ...]) -> tuple[tuple[str, Path], ...]:
    """Return the tables that rows of the sources meet, where these can be taken back."""
    if not any(source.retracts or source.replaces for source in sources):
        return ()
    ours = {table.id: table.qualified for table in context.catalog.streaming_tables.all()}  # in whose folders panes are
    return tuple((ours.get(path.parent.name, name), path) for name, path in context.analyzer.delta_tables(analyzed))


def _taken_apart(
    text: Text, writer: Writer, roots: list[QueryBlock], columns: tuple[Column, ...]
) -> tuple[tuple[tuple[str, str], ...], str] | None:
    """Return the expressions of a stateless query by the columns' names, and the text around them.

    None where they cannot be told apart: stars, several SELECTs, functions that give several columns.
    """
    (block, *others), body = roots, _body(text)
    if others or any(item.star for item in block.items) or len(block.items) != len(columns):
        return None
    first, last = block.items[0].span.start, block.items[-1].span.end
    named = tuple((c.name, writer(item.expression).text) for c, item in zip(columns, block.items, strict=True))
    around = writer(Span(body.start, first)).text + writer(Span(last, body.end)).text
    return named, of(with_list(text)).text + around


def _windowed(
    context: Context, text: Text, writer: Writer, sources: tuple[StreamSource, ...], block: QueryBlock
) -> StreamingQuery:
    bound = writer.bound(block, lambda fragment: fragment.text)
    checks.check_names([o.name for o in bound.query.outputs], [item.span for item in block.items])
    retracted = any(s.retracts for s in sources)
    query = replace(
        bound.query, layers=bind_layers(context, text, block, writer.function, bound.query.outputs),
        first_only=DISTINCT_RELATION in (block.relation or block.span).of(text.text) and not retracted,
        retracted=retracted, complete=any(s.complete for s in sources),
    )  # fmt: skip
    outermost = [block, *around(text, block)][-1]
    checks.check_columns(query.result, _places(outermost, len(query.result)))
    checks.check_windowed(text, block, query, sources)
    relation = with_list(text) + bound.step_input(text, writer, HIDDEN)
    plain = Writer(context, text, lambda s: typed_empty(s.columns), writer.function)
    analysis = with_list(text) + bound.input(plain, "0L AS __w_arrival")
    checks.check_places(context, analysis, sources)
    checks.check_deterministic(context, analysis, block.select)
    checks.check_deterministic(context, _over_results(query, block), block.select)
    query = replace(query, multiplied=context.analyzer.multiplies(analysis))
    columns = tuple(Column(o.name, o.type) for o in query.result)
    return StreamingQuery(
        SourceText(text.text), sources, relation, query, columns, named=bound.named,
        origin=of(with_list(text)).text + origin(block, writer).text, joined=_joined(context, analysis, sources),
    )  # fmt: skip


def _over_results(query: WindowedQuery, block: QueryBlock) -> Fragment:
    """Return SQL with everything that a block computes from its keys, results and bounds, over typed NULLs."""
    kinds = dict(zip(query.key_columns, query.keys, strict=True))
    kinds |= {f"__w_f{i}": call.type for i, call in enumerate(query.calls)}
    kinds |= dict.fromkeys(("__w_start", "__w_end"), "timestamp")
    computed = [of(o.sql).standing_for(i.expression) for o, i in zip(query.outputs, block.items, strict=True)]
    if query.having and block.having:
        computed.append(of(query.having).standing_for(block.having))
    if block.clauses and block.clauses.trigger:
        conditions = [n.condition for n in query.trigger.walk() if n.kind is Kind.WHEN_AGGREGATE]
        computed += [of(condition).standing_for(block.clauses.trigger.span) for condition in conditions]
    nothing = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in kinds.items())
    return "SELECT " + joined(", ", computed) + f" FROM (SELECT {nothing})"
