"""A windowed query block, bound: keys, aggregates, window and trigger resolved and typed.

Everything that could be wrong in the user's expressions is first judged by Spark (``aggregation``, beside this). Only
then is the block taken apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from warehouse.catalog.entries import Column, quote_name
from warehouse.dataflow.aggregates.calls import Call
from warehouse.dataflow.query import Output, WindowedQuery
from warehouse.dataflow.triggers import Kind, Node, Own
from warehouse.dataflow.windows import Custom, Window
from warehouse.errors import Span, fail
from warehouse.language.fragments import Fragment, joined, of, quoted, rewritten
from warehouse.language.statements import (
    Lateness,
    Mode,
    OwnTrigger,
    OwnWindow,
    QueryBlock,
    SelectItem,
    SessionWindow,
    Trigger,
    TriggerClause,
    When,
)
from warehouse.language.tokens import tokenize
from warehouse.planning.blocks.aggregation import Aggregation, aggregation
from warehouse.planning.blocks.bounds import Bounds, typed_null
from warehouse.planning.blocks.finals import Arguments, Finals
from warehouse.planning.blocks.scope import Scope, origin, resolves
from warehouse.planning.context import Context
from warehouse.planning.lengths import length_or_zero
from warehouse.planning.windows import own
from warehouse.planning.windows.row_time import as_timestamp, check_time, gap_micros
from warehouse.planning.windows.windowing import (
    DEFAULT_LATENESS,
    Resolve,
    leaves,
    planned_trigger,
    planned_window,
    time_of,
)
from warehouse.planning.words import scan
from warehouse.planning.words.hints import Hints, hints_of
from warehouse.planning.words.text import Render, Text

Mark = Callable[[Fragment], str]
"""Makes a string of a fragment of the user's words, for embedding in generated text."""


@dataclass(frozen=True)
class BoundBlock:
    """A windowed block.

    Attributes:
        query: what the step computes.
        columns: of the *input* relation (keys, time, argument columns): names, and expressions over the source.
        bounds: what it may write for the bounds of its window.
        hints: those behind its SELECT.
    """

    block: QueryBlock
    query: WindowedQuery
    columns: tuple[tuple[str, Fragment], ...]
    bounds: Bounds
    hints: Hints

    @property
    def named(self) -> tuple[tuple[str, str], ...]:
        """Return the columns of the *input* relation as SQL."""
        return tuple((name, expression.text) for name, expression in self.columns)

    def input(self, render: Render, hidden: str) -> Fragment:
        """Return the *input* relation's SQL.

        Args:
            render: how relations are written.
            hidden: further columns, such as ``0L AS __w_arrival``.
        """
        return self._select(listed(self.columns), render, hidden)

    def step_input(self, text: Text, render: Render, hidden: str) -> Fragment:
        """Return the *input* relation's SQL over relations that have the columns ``hidden``, which no star means."""
        assert self.block.relation is not None
        select = listed(self.columns)
        stars = scan.stars(tokenize(select.text) or ())
        edits = scan.without_columns(stars, hidden, text.streaming(self.block.relation))
        select = rewritten(select.text, Span(0, len(select.text)), edits).through(select)
        return self._select(select, render, hidden)

    def _select(self, items: Fragment, render: Render, hidden: str) -> Fragment:
        hints = self.hints.of_relations
        return "SELECT" + hints + " " + items + f", {hidden}" + origin(self.block, render)


def listed(columns: tuple[tuple[str, Fragment], ...]) -> Fragment:
    """Return a select list of named expressions."""
    return joined(", ", [expression + f" AS {name}" for name, expression in columns])


@dataclass(frozen=True)
class _Input:
    """What a block asks of each row.

    Attributes:
        columns: of the *input* relation. types: of these columns.
        calls: the aggregates over these columns, their arguments typed.
        window, trigger: as computed.
        definitions: SQL of what windows and triggers of the user's own are.
    """

    columns: tuple[tuple[str, Fragment], ...]
    types: tuple[Column, ...]
    calls: tuple[Call, ...]
    window: Window
    trigger: Node
    definitions: tuple[str, ...]


def bind_block(
    context: Context, text: Text, block: QueryBlock, analysis: Render, mark: Mark, ordering: tuple[Span, ...] = ()
) -> BoundBlock:
    """Resolve a windowed block.

    Args:
        context: catalog and analyzer.
        text: the text that holds the block.
        block: the block.
        analysis: renders relations without rows, for the analyzer.
        mark: see ``Mark``.
        ordering: expressions that are not selected but sorted by.

    Raises:
        WarehouseError: anything in the block that cannot be.
    """
    _refuse_unsupported(text, block)
    written = block.items
    block = replace(block, items=written + tuple(SelectItem(span, span, None, False) for span in ordering))
    scope = Scope(context, text, block, analysis)
    clauses = scope.clauses
    whens = [unit for unit in _units(clauses.trigger) if isinstance(unit, When)]
    plain = aggregation(scope, [when.condition for when in whens])
    outputs, finals = plain.judged()
    for when in whens:
        plain.check_condition(when)
    rewriting = Finals(text, block, plain.keys, plain.found, plain.bounds)
    rows = _input(plain, finals, rewriting, mark)
    names = _output_names(written, outputs[: len(written)]) + [f"__w_order{i}" for i in range(len(ordering))]
    query = WindowedQuery(
        keys=tuple(column.type for column in rows.types[: len(plain.keys)]),
        window=rows.window,
        trigger=rows.trigger,
        mode=clauses.mode or Mode.ACCUMULATING,
        lateness=_lateness(text, clauses.lateness),
        calls=rows.calls,
        having=mark(rewriting.of(block.having)) if block.having else None,
        outputs=tuple(
            Output(name, column.type, mark(rewriting.of(item.expression)))
            for item, name, column in zip(block.items, names, outputs, strict=True)
        ),
        once=bool(clauses.trigger and clauses.trigger.once),
        definitions=rows.definitions,
    )
    return BoundBlock(block, query, rows.columns, plain.bounds, hints_of(text, block))


def _input(plain: Aggregation, finals: tuple[Column, ...], rewriting: Finals, mark: Mark) -> _Input:
    """Return what a block asks of each row.

    Args:
        plain: the block as a plain aggregation.
        finals: what its ``calls`` come to.
        rewriting: of what reads these.
        mark: see ``Mark``.
    """
    scope, context, text = plain.scope, plain.scope.context, plain.scope.text
    binder = Arguments(context, text, scope.relation, scope.render)
    calls = [binder.call(call, final.type) for call, final in zip(plain.calls(), finals, strict=True)]

    def condition(when: When) -> tuple[Kind, str]:
        if plain.is_of_row(when):
            return Kind.WHEN_ROW, f"coalesce({binder.column(when.condition)}, false)"
        return Kind.WHEN_AGGREGATE, mark(rewriting.of(when.condition))

    def own_trigger(unit: OwnTrigger) -> Own:
        arguments = tuple(binder.argument(a).sql for a in unit.arguments)
        return Own(own.found_trigger(context, text.text, unit), arguments)

    trigger = planned_trigger(text.text, scope.clauses.trigger, Resolve(condition, own_trigger))
    window, of_window = _window(scope)
    keys = [(f"__w_k{i}", quoted(text.text, key)) for i, key in enumerate(plain.keys)]
    columns = (*keys, *of_window, *binder.columns)
    types = context.analyzer.columns("SELECT " + listed(columns) + origin(scope.block, scope.render))
    columns = _checked(plain, columns, types)
    typed = {column.name: column.type for column in types}
    defined = [node.own for node in trigger.walk() if node.own]
    written = [unit for unit in _units(scope.clauses.trigger) if isinstance(unit, OwnTrigger)]
    for unit, its in zip(written, defined, strict=True):
        own.check_trigger(context, text.text, unit, its, typed)
    definitions = tuple(own.definition(its) for its in defined)
    if isinstance(window, Custom):
        definitions = (f"{dict(of_window)['__w_windows'].text} {window.merge}", *definitions)
    typed_calls = tuple(binder.typed(call, typed) for call in calls)
    return _Input(columns, types, typed_calls, window, trigger, definitions)


def _units(clause: TriggerClause | None) -> list[Trigger]:
    """Return the units of a trigger that have no units inside, as written."""
    return list(leaves(clause.trigger)) if clause else []


def _window(scope: Scope) -> tuple[Window, list[tuple[str, Fragment]]]:
    """Return the window as computed, and the columns that tell where a row falls: its time first."""
    window, text = scope.clauses.window, scope.text.text
    time = time_of(window)
    columns = [("__w_time", "(" + scope.render(time) + ")" if time else of("TIMESTAMP'1970-01-01'"))]
    if isinstance(window, OwnWindow):
        planned, windows = own.bound_window(scope.context, text, window, scope.render, scope.render(scope.relation))
        return planned, [*columns, ("__w_windows", windows)]
    if isinstance(window, SessionWindow) and isinstance(window.gap, Span):
        gap = gap_micros(scope.context, scope.text, scope.relation, window.gap, scope.render)
        columns.append(("__w_gap", gap))
    return planned_window(text, window), columns


def _checked(
    plain: Aggregation, columns: tuple[tuple[str, Fragment], ...], types: tuple[Column, ...]
) -> tuple[tuple[str, Fragment], ...]:
    """Return the columns of the *input* relation with the time as a TIMESTAMP.

    Raises:
        WarehouseError: the time is no point in time, or nobody can group by a key.
    """
    scope, at = plain.scope, len(plain.keys)
    time = time_of(scope.clauses.window)
    if time:
        check_time(scope.text, time, types[at])
    for key, column in zip(plain.keys, types, strict=False):
        if column.type.startswith("map<") or column.type in ("variant", "void"):
            fail("WAREHOUSE_KEY_TYPE", key, type=column.type)
    name, expression = columns[at]
    return (*columns[:at], (name, as_timestamp(expression, types[at].type)), *columns[at + 1 :])


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
        if not span.of(text.text).strip().isdigit() and not resolves(context, quoted(text.text, span) + result)
    ]


def _lateness(text: Text, lateness: Lateness | None) -> int | None:
    """Return how long after their end windows take rows, None for ever."""
    if lateness is None:
        return DEFAULT_LATENESS
    return length_or_zero(text.text, lateness.interval, "ALLOWED LATENESS") if lateness.interval else None


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


def _output_names(items: tuple[SelectItem, ...], analyzed: tuple[Column, ...]) -> list[str]:
    names: list[str] = []
    for item, column in zip(items, analyzed, strict=True):
        if column.name.lower().startswith("__w_"):
            fail("WAREHOUSE_RESERVED_NAME", item.span, name=column.name)
        names.append(column.name)
    return names
