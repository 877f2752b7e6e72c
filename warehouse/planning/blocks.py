"""A windowed query block, bound: keys, aggregates, window and trigger resolved and typed.

Everything that could be wrong in the user's expressions is first analyzed by Spark as the plain aggregation it
would be without our clauses, so that names, types and grouping are judged by Spark, in Spark's words, at the
user's words. Only then is the block taken apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from warehouse.catalog.entries import Column, quote_name
from warehouse.dataflow.query import Output, WindowedQuery
from warehouse.dataflow.triggers import Kind, Own
from warehouse.dataflow.windows import Custom, Window
from warehouse.errors import Span, WarehouseError, fail
from warehouse.language.fragments import Fragment, joined, of, quoted, rewritten
from warehouse.language.statements import (
    Mode,
    OwnTrigger,
    OwnWindow,
    QueryBlock,
    SelectItem,
    SessionWindow,
    When,
)
from warehouse.language.tokens import tokenize
from warehouse.planning import own, scan
from warehouse.planning.bounds import FINALS, Bounds, analyzed_bounds, typed_null
from warehouse.planning.context import Context
from warehouse.planning.finals import Arguments, Finals, bound_edits, distinct_calls
from warehouse.planning.text import Render, Text
from warehouse.planning.windowing import (
    DEFAULT_LATENESS,
    Resolve,
    leaves,
    length_or_zero,
    planned_trigger,
    planned_window,
    time_of,
)


@dataclass(frozen=True)
class BoundBlock:
    """A windowed block.

    Attributes:
        query: what the step computes.
        select: the select list of the *input* relation (keys, time, argument columns), to go before FROM.
        named: the same by name, as SQL.
        names: the output columns' names are those of ``query.outputs``.
        bounds: what it may write for the bounds of its window.
    """

    block: QueryBlock
    query: WindowedQuery
    select: Fragment
    bounds: Bounds
    named: tuple[tuple[str, str], ...] = ()

    def input(self, render: Render, hidden: str) -> Fragment:
        """Return the *input* relation's SQL.

        Args:
            render: how relations are written.
            hidden: further columns, such as ``0L AS __w_arrival``.
        """
        return "SELECT " + self.select + f", {hidden}" + self.origin(render)

    def step_input(self, text: Text, render: Render, hidden: str) -> Fragment:
        """Return the *input* relation's SQL over relations that have the columns ``hidden``, which no star means."""
        assert self.block.relation is not None
        stars = scan.stars(tokenize(self.select.text) or ())
        edits = scan.without_columns(stars, hidden, text.streaming(self.block.relation))
        select = rewritten(self.select.text, Span(0, len(self.select.text)), edits).through(self.select)
        return replace(self, select=select).input(render, hidden)

    def origin(self, render: Render) -> Fragment:
        """Return FROM and WHERE of the *input* relation."""
        assert self.block.relation is not None
        where = " WHERE " + render(self.block.where) if self.block.where else of("")
        return " FROM " + render(self.block.relation) + where


def bind_block(
    context: Context, text: Text, block: QueryBlock, analysis: Render, mark: Callable[[Fragment], str],
    ordering: tuple[Span, ...] = (),
) -> BoundBlock:  # fmt: skip
    """Resolve a windowed block.

    Args:
        context: catalog and analyzer.
        text: the text that holds the block.
        block: the block.
        analysis: renders relations without rows, for the analyzer.
        mark: makes a string of a fragment of the user's words, for embedding in generated text.
        ordering: expressions that are not selected but sorted by.

    Raises:
        WarehouseError: anything in the block that cannot be.
    """
    _refuse_unsupported(text, block)
    selected = len(block.items)
    block = replace(block, items=block.items + tuple(SelectItem(span, span, None, False) for span in ordering))
    assert block.relation is not None
    clauses = block.clauses
    functions = context.analyzer.aggregate_functions()
    units = tuple(leaves(clauses.trigger.trigger)) if clauses and clauses.trigger else ()
    whens = tuple(unit for unit in units if isinstance(unit, When))
    places = [item.expression for item in block.items] + ([block.having] if block.having else [])
    places += [when.condition for when in whens]
    found = [call for place in places for call in scan.aggregate_calls(text.words(place), functions)]
    refuse_bounds_in_where(context, text, block, analysis)
    bounds = _bounds_meant(context, text, block, analysis)
    _refuse_bounds_in_aggregates(context, text, block, found, bounds, analysis)
    keys = _keys(context, text, block, found, bounds, analysis)
    outputs = _analyzed(context, text, block, keys, found, bounds, analysis)
    names, call_types = outputs[: len(block.items)], outputs[len(block.items) :]
    for when in whens:
        _check_condition(context, text, block, when, keys, found, bounds, analysis)
    binder = Arguments(context, text, block.relation, analysis)
    calls = tuple(
        binder.call(call, kind.type) for call, kind in zip(distinct_calls(text, found), call_types, strict=True)
    )
    rewriting = Finals(text, block, keys, found, bounds)

    def condition(when: When) -> tuple[Kind, str]:
        if _of_row(when, found):
            return Kind.WHEN_ROW, f"coalesce({binder.column(when.condition)}, false)"
        return Kind.WHEN_AGGREGATE, mark(rewriting.of(when.condition))

    def own_trigger(unit: OwnTrigger) -> Own:
        arguments = tuple(binder.argument(a).sql for a in unit.arguments)
        return Own(own.found_trigger(context, text.text, unit), arguments)

    resolve = Resolve(condition, own_trigger)
    trigger = planned_trigger(text.text, clauses.trigger if clauses else None, resolve)
    window = clauses.window if clauses else None
    time = time_of(window)
    select = [quoted(text.text, k) + f" AS __w_k{i}" for i, k in enumerate(keys)]
    select.append((render_time(analysis, time) if time else of("TIMESTAMP'1970-01-01'")) + " AS __w_time")
    if isinstance(window, SessionWindow) and isinstance(window.gap, Span):
        select.append(gap_micros(context, text, block.relation, window.gap, analysis) + " AS __w_gap")
    planned: Window
    if isinstance(window, OwnWindow):
        planned, windows = own.bound_window(context, text.text, window, analysis, analysis(block.relation))
        select.append(windows + " AS __w_windows")
    else:
        planned = planned_window(text.text, window)
    select += [fragment + f" AS {name}" for name, fragment in binder.columns]
    listed = joined(", ", select)
    where = " WHERE " + analysis(block.where) if block.where else of("")
    types = context.analyzer.columns("SELECT " + listed + " FROM " + analysis(block.relation) + where)
    if time:
        check_time(text, time, types[len(keys)])
    for key, column in zip(keys, types, strict=False):
        if column.type.startswith("map<") or column.type == "variant":
            fail("WAREHOUSE_KEY_TYPE", key, type=column.type)
    typed = {c.name: c.type for c in types}
    calls = tuple(binder.typed(call, typed) for call in calls)
    written = [unit for unit in units if isinstance(unit, OwnTrigger)]
    defined = [node.own for node in trigger.walk() if node.own]
    for unit, its in zip(written, defined, strict=True):
        own.check_trigger(context, text.text, unit, its, typed)
    select[len(keys)] = _as_timestamp(select[len(keys)], types[len(keys)].type)
    definitions = tuple(own.definition(its) for its in defined)
    if isinstance(planned, Custom):
        definitions = (f"{windows.text} {planned.merge}", *definitions)
    named = _output_names(block.items[:selected], names[:selected]) + [f"__w_order{i}" for i in range(len(ordering))]
    query = WindowedQuery(
        keys=tuple(c.type for c in types[: len(keys)]),
        window=planned,
        trigger=trigger,
        mode=(clauses.mode if clauses else None) or Mode.ACCUMULATING,
        lateness=DEFAULT_LATENESS if clauses is None or clauses.lateness is None else _lateness(text, clauses.lateness),
        calls=calls,
        having=mark(rewriting.of(block.having)) if block.having else None,
        outputs=tuple(
            Output(name, column.type, mark(rewriting.of(item.expression)))
            for item, name, column in zip(block.items, named, names, strict=True)
        ),
        once=bool(clauses and clauses.trigger and clauses.trigger.once),
        definitions=definitions,
    )
    return BoundBlock(block, query, joined(", ", select), bounds, tuple(_named(item.text) for item in select))


def sorted_by(context: Context, text: Text, block: QueryBlock, query: WindowedQuery, bounds: Bounds) -> list[Span]:
    """Return what an ORDER BY behind the block names that its result does not have: Spark looks behind it then.

    Source: https://spark.apache.org/docs/latest/sql-ref-syntax-qry-select-orderby.html
    """
    if block.tail is None or block.set_operator:
        return []
    columns = [f"CAST(NULL AS {o.type}) AS {quote_name(o.name)}" for o in query.outputs]
    columns += [typed_null(name) for name in bounds.columns]
    result = f" FROM (SELECT {', '.join(columns)})"
    return [
        span
        for span in scan.ordering(text.words(block.tail))
        if not span.of(text.text).strip().isdigit() and not _resolves(context, quoted(text.text, span) + result)
    ]


def _named(item: str) -> tuple[str, str]:
    """Return name and expression of an item of the *input* relation's select list."""
    expression, _, name = item.rpartition(" AS ")
    return name, expression


def check_time(text: Text, time: Span, column: Column) -> None:
    """Refuse a window's time, analyzed as ``column``, that is no point in time."""
    if column.type not in ("timestamp", "timestamp_ntz", "date"):
        fail("WAREHOUSE_WINDOW_TIME_TYPE", time, expression=time.of(text.text), type=column.type)


def render_time(render: Render, time: Span) -> Fragment:
    """Return the window's time expression."""
    return "(" + render(time) + ")"


def gap_micros(context: Context, text: Text, relation: Span, gap: Span, analysis: Render) -> Fragment:
    """Return SQL for a row's own gap in microseconds, NULL where it has months.

    Raises:
        WarehouseError: it is neither an interval of days to seconds nor a string.
    """
    expression = "(" + analysis(gap) + ")"
    (column,) = context.analyzer.columns("SELECT " + expression + " FROM " + analysis(relation))
    of_string = column.type == "string"
    if of_string:
        expression = "CAST(" + expression + " AS INTERVAL)"
    elif not column.type.startswith("interval") or set(column.type.split()) & {"month", "year"}:
        fail("WAREHOUSE_GAP_TYPE", gap, expression=gap.of(text.text), type=column.type)
    micros = "unix_micros(TIMESTAMP'1970-01-01 00:00:00Z' + " + expression + ")"
    if not of_string:
        return micros
    fixed = "extract(YEAR FROM " + expression + ") = 0 AND extract(MONTH FROM " + expression + ") = 0"
    return "CASE WHEN " + fixed + " THEN " + micros + " END"


def _of_row(when: When, found: list[scan.FoundCall]) -> bool:
    """Say whether a condition is about each row that arrives, since it holds no aggregate."""
    return not any(when.condition.covers(call.span) for call in found)


def _check_condition(
    context: Context, text: Text, block: QueryBlock, when: When, keys: list[Span], found: list[scan.FoundCall],
    bounds: Bounds, analysis: Render,
) -> None:  # fmt: skip
    """Refuse a condition that is not one, or that speaks of a row and of aggregates in one breath."""
    assert block.relation is not None
    if any(token.upper == "OVER" for token in text.words(when.condition)):
        fail("WAREHOUSE_WINDOW_FUNCTION_IN_WHEN", when.condition, written=when.condition.of(text.text).strip())
    if _of_row(when, found):
        condition = "(" + analysis(when.condition) + ")"
        (column,) = context.analyzer.columns("SELECT " + condition + " FROM " + analysis(block.relation))
    else:
        edits = bound_edits(text, when.condition, found, bounds, analyzed_bounds(bounds))
        condition = rewritten(text.text, when.condition, edits)
        whole = _plain_aggregation(text, block, [condition], keys, bounds, analysis)
        try:
            (column,) = context.analyzer.columns(whole)
        except WarehouseError as error:
            if error.diagnostics[0].condition.startswith("MISSING_AGGREGATION"):
                fail("WAREHOUSE_WHEN_MIXES", when.condition, written=when.condition.of(text.text).strip())
            raise
    if column.type != "boolean":
        fail("WAREHOUSE_WHEN_TYPE", when.condition, written=when.condition.of(text.text).strip(), type=column.type)


def _as_timestamp(item: Fragment, kind: str) -> Fragment:
    if kind == "timestamp":
        return item
    bare = Fragment(item.pieces[:-1])
    return "CAST(" + bare + " AS TIMESTAMP) AS __w_time"


def _lateness(text: Text, lateness) -> int | None:  # type: ignore[no-untyped-def]
    if lateness.interval is None:
        return None
    return length_or_zero(text.text, lateness.interval, "ALLOWED LATENESS")


def _refuse_unsupported(text: Text, block: QueryBlock) -> None:
    if block.grouping_sets and block.grouping_sets.of(text.text).strip().upper() != "ALL":
        fail("WAREHOUSE_GROUPING_SETS_IN_WINDOWED_QUERY", block.grouping_sets)
    if block.relation is None:
        fail("WAREHOUSE_WINDOW_WITHOUT_FROM", block.clauses.span if block.clauses else block.span)
    for item in block.items:
        if item.star:
            fail("WAREHOUSE_STAR_IN_WINDOWED_QUERY", item.span)
        for called in scan.aggregate_calls(text.words(item.expression), _GENERATORS):
            fail(
                "WAREHOUSE_NOT_SUPPORTED", called.span,
                what=f"{called.function}, which gives several rows, of an aggregation",
                instead="it into a query of its own, over this one",
            )  # fmt: skip
    if block.distinct:
        fail("WAREHOUSE_DISTINCT_IN_WINDOWED_QUERY", block.distinct)


_GENERATORS = frozenset(
    ["explode", "explode_outer", "inline", "inline_outer", "json_tuple", "posexplode", "posexplode_outer", "stack"]
)
"""Spark's functions that give several rows, or several columns, of one."""


# ------------------------------------------------------------------ group keys


def _bounds_meant(context: Context, text: Text, block: QueryBlock, analysis: Render) -> Bounds:
    """Return what stands for the bounds of the block's own window.

    Without a WINDOW clause or a table function that assigns windows, a column of the source that is called
    ``window_start`` is meant: a table of windows is regrouped.
    """
    every: dict[tuple[str, ...], str] = {(name,): name for name in FINALS}
    spelling = block.spelling
    if spelling and spelling.call:
        return Bounds(tuple(every.items()), text.aliases(spelling.call.span))
    if block.clauses and block.clauses.window and not spelling:
        return Bounds(tuple(every.items()))
    mentioned = {column for _, column in Bounds(tuple(every.items())).places(text.words(block.span))}
    written = {
        words: name
        for words, name in every.items()
        if name not in mentioned or not _has_column(context, block, of(name), analysis)
    }
    if spelling and spelling.function:
        aliases = text.aliases(block.relation or block.span)
        call = scan.words(text.words(spelling.function), aliases)
        column = call[0][0]
        structs = [tuple(word for word, _ in call), *((name,) for name in spelling.names)]
        written |= dict.fromkeys(structs, column)
        written |= {("window_time", "(", *struct, ")"): "window_time" for struct in structs}
        return Bounds(tuple(written.items()), aliases - set(spelling.names))
    return Bounds(tuple(written.items()))


def refuse_bounds_in_where(context: Context, text: Text, block: QueryBlock, analysis: Render) -> None:
    """Refuse a WHERE that speaks of the window's bounds, unless the source has columns of these names."""
    if block.where is None or block.clauses is None or block.clauses.window is None:
        return
    for name, span in scan.names(text.words(block.where), FINALS):
        if not _has_column(context, block, of(name), analysis):
            fail("WAREHOUSE_BOUND_IN_WHERE", span, name=name)


def _refuse_bounds_in_aggregates(
    context: Context, text: Text, block: QueryBlock, found: list[scan.FoundCall], bounds: Bounds, analysis: Render
) -> None:
    """Refuse aggregates of the window's bounds, which rows do not have, unless the source has such columns."""
    for call in found:
        for span, _ in bounds.places(text.words(call.span)):
            if not _has_column(context, block, quoted(text.text, span), analysis):
                fail("WAREHOUSE_BOUND_IN_AGGREGATE", span, name=span.of(text.text), function=call.function)


def _keys(
    context: Context, text: Text, block: QueryBlock, found: list[scan.FoundCall], bounds: Bounds, analysis: Render
) -> list[Span]:
    """Return the spans of the key expressions: ordinals and aliases looked up, the window's own bounds left out."""
    aliases = {item.alias.strip("`").lower(): item for item in block.items if item.alias}
    keys: dict[tuple[str, ...], Span] = {}
    wanted = block.group_by
    said = _normalized(text, block)
    if block.grouping_sets:
        wanted = tuple(i.expression for i in block.items if not any(i.expression.covers(c.span) for c in found))
    for span in wanted:
        tokens = text.words(span)
        if len(tokens) == 1 and tokens[0].text.isdigit():
            number = int(tokens[0].text)
            if not 1 <= number <= len(block.items):
                fail("WAREHOUSE_GROUP_BY_POSITION", span, position=number, count=len(block.items))
            span = block.items[number - 1].expression
        elif len(tokens) == 1 and (
            tokens[0].text.lower() in aliases and not _has_column(context, block, analysis(span), analysis)
        ):
            span = aliases[tokens[0].text.lower()].expression
        if not bounds.places(text.words(span)):
            keys.setdefault(said(span), span)
    return list(keys.values())


def _has_column(context: Context, block: QueryBlock, name: Fragment, analysis: Render) -> bool:
    assert block.relation is not None
    return _resolves(context, name + " FROM " + analysis(block.relation))


def _resolves(context: Context, selected: Fragment) -> bool:
    """Say whether Spark can analyze what stands behind a SELECT."""
    try:
        context.analyzer.columns("SELECT " + selected)
    except WarehouseError:
        return False
    return True


def _normalized(text: Text, block: QueryBlock) -> Callable[[Span], tuple[str, ...]]:
    """Return what gives an expression's words, the same for expressions that are."""
    aliases = text.aliases(block.relation or block.span)
    apart = scan.told_apart(map(text.words, block.group_by))
    return lambda span: tuple(word for word, _ in scan.words(text.words(span), aliases, apart))


# ------------------------------------------------------------------ analysis as a plain aggregation


def _analyzed(
    context: Context, text: Text, block: QueryBlock, keys: list[Span], found: list[scan.FoundCall], bounds: Bounds,
    analysis: Render,
) -> tuple[Column, ...]:  # fmt: skip
    """Return the columns of the block as a plain aggregation: its items, then each distinct aggregate call."""
    assert block.relation is not None

    def bounded(place: Span) -> Fragment:
        edits = bound_edits(text, place, found, bounds, analyzed_bounds(bounds))
        return rewritten(text.text, place, edits) if edits else analysis(place)

    def named(item: SelectItem) -> Fragment:
        return bounded(item.expression) + quoted(text.text, Span(item.expression.end, item.span.end))

    items = [named(item) for item in block.items]
    items += [quoted(text.text, call.span) for call in distinct_calls(text, found)]
    query = _plain_aggregation(text, block, items, keys, bounds, analysis)
    if block.having:
        query = query + " HAVING " + bounded(block.having)
    return context.analyzer.columns(query)


def _plain_aggregation(
    text: Text, block: QueryBlock, items: list[Fragment], keys: list[Span], bounds: Bounds, analysis: Render
) -> Fragment:
    """Return the block as a plain aggregation that selects ``items``, without HAVING."""
    assert block.relation is not None
    listed = ", ".join(["1 AS __w_one", *map(typed_null, bounds.columns)])
    query = "SELECT " + joined(", ", items) + f" FROM (SELECT {listed}) AS __w_bounds CROSS JOIN "
    query = query + analysis(block.relation)
    if block.where:
        query = query + " WHERE " + analysis(block.where)
    added = ("__w_one", *bounds.columns)
    grouped = [*(quoted(text.text, k) for k in keys), *(of(f"__w_bounds.{name}") for name in added)]
    return query + " GROUP BY " + joined(", ", grouped)


def _output_names(items: tuple[SelectItem, ...], analyzed: tuple[Column, ...]) -> list[str]:
    names: list[str] = []
    for item, column in zip(items, analyzed, strict=True):
        if column.name.lower().startswith("__w_"):
            fail("WAREHOUSE_RESERVED_NAME", item.span, name=column.name)
        names.append(column.name)
    return names
