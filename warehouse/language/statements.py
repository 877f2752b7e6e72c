"""The typed statements: what the parser returns and everything after it reads.

All positions are ``Span``s into the statement's own text, so that lowering can edit spans and errors can
point at words. Expressions stay text: Spark is the judge of what they mean. A ``QueryShape`` is flat: lists
ordered by position, nesting is containment of spans.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from warehouse.errors import SourceText, Span

# ---------------------------------------------------------------- names and literals


@dataclass(frozen=True)
class Name:
    """A possibly qualified identifier, unquoted; ``span`` covers all of it."""

    parts: tuple[str, ...]
    span: Span

    @property
    def last(self) -> str:
        """Return the unqualified part."""
        return self.parts[-1]

    @property
    def written(self) -> str:
        """Return all its parts, as a message says them."""
        return ".".join(self.parts)

    def within(self, schema: str) -> tuple[str, str]:
        """Return the schema that it says, or else ``schema``, and the unqualified part."""
        return (self.parts[-2] if len(self.parts) > 1 else schema), self.last


@dataclass(frozen=True)
class Interval:
    """A day-time interval literal of the user's.

    Attributes:
        micros: its length in microseconds (months not included).
        months: its months; almost every use refuses a value other than 0.
        span: the literal in the statement's text.
    """

    micros: int
    months: int
    span: Span


@dataclass(frozen=True)
class Watermark:
    """``WATERMARK column [AS name] DELAY OF interval``; ``column`` may be an expression, kept as its span.

    ``name`` (as SQL text) makes a column of it.
    """

    column: Span
    delay: Interval
    span: Span
    name: str | None = None


# ---------------------------------------------------------------- where: windows


@dataclass(frozen=True)
class FixedWindow:
    """Tumbling windows [n·size + offset, (n+1)·size + offset) (the Dataflow Model, 1.2)."""

    time: Span
    size: Interval
    offset: Interval | None
    per_key_offset: Span | None
    span: Span


@dataclass(frozen=True)
class SlidingWindow:
    """A window of ``size`` that starts every ``every`` (the Dataflow Model, 1.2)."""

    time: Span
    size: Interval
    every: Interval
    offset: Interval | None
    span: Span


@dataclass(frozen=True)
class SessionWindow:
    """Rows of a key less than ``gap``, an Interval or an expression's span, apart (the Dataflow Model, 1.2)."""

    time: Span
    gap: Interval | Span
    span: Span


@dataclass(frozen=True)
class GlobalWindow:
    """One window over all event time; ``span`` is None when it is the default."""

    span: Span | None = None


@dataclass(frozen=True)
class OwnWindow:
    """Windows that ``udfs/`` or a pair of SQL functions defines, by their name, with the arguments behind the time."""

    name: Span
    time: Span
    arguments: tuple[Span, ...]
    span: Span


WindowSpec = FixedWindow | SlidingWindow | SessionWindow | GlobalWindow | OwnWindow

# ---------------------------------------------------------------- when: triggers


@dataclass(frozen=True)
class AtWatermark:
    """Fires when the watermark reaches the window's end; ``percentile`` in (0, 100) or None."""

    percentile: float | None = None
    early: Trigger | None = None
    late: Trigger | None = None
    span: Span | None = None


@dataclass(frozen=True)
class Every:
    """Goes on: every multiple of an interval, every n rows, every n bytes. Exactly one is set."""

    interval: Interval | None = None
    rows: int | None = None
    bytes: int | None = None
    span: Span | None = None


@dataclass(frozen=True)
class After:
    """Fires once: an interval after the pane's first row, after n rows, after n bytes. Exactly one is set."""

    interval: Interval | None = None
    rows: int | None = None
    bytes: int | None = None
    span: Span | None = None


@dataclass(frozen=True)
class When:
    """Fires when a condition holds, for a row that arrives or for what the next pane would hold."""

    condition: Span
    span: Span | None = None


@dataclass(frozen=True)
class OwnTrigger:
    """A unit that ``udfs/`` defines, by its name, with its arguments."""

    name: Span
    arguments: tuple[Span, ...]
    span: Span


@dataclass(frozen=True)
class Or:
    """Any part. ``parts`` has at least two."""

    parts: tuple[Trigger, ...]
    span: Span | None = None


@dataclass(frozen=True)
class And:
    """All parts, due since the last pane."""

    parts: tuple[Trigger, ...]
    span: Span | None = None


@dataclass(frozen=True)
class Then:
    """One part after the other."""

    parts: tuple[Trigger, ...]
    span: Span | None = None


@dataclass(frozen=True)
class Repeat:
    """``body`` again and again, until ``until`` fires (None: for ever)."""

    body: Trigger
    until: Trigger | None = None
    span: Span | None = None


@dataclass(frozen=True)
class Never:
    """Never fires."""

    span: Span | None = None


Trigger = AtWatermark | Every | After | When | OwnTrigger | Or | And | Then | Repeat | Never


@dataclass(frozen=True)
class TriggerClause:
    """The whole TRIGGER clause; ``once`` switches the outermost repetition off."""

    trigger: Trigger
    once: bool
    span: Span


# ---------------------------------------------------------------- how: modes


class Mode(Enum):
    """How a pane relates to the panes before it (the Dataflow Model, 2.3)."""

    DISCARDING = "DISCARDING"
    ACCUMULATING = "ACCUMULATING"
    RETRACTING = "RETRACTING"


@dataclass(frozen=True)
class Lateness:
    """ALLOWED LATENESS; ``interval`` None is UNBOUNDED."""

    interval: Interval | None
    span: Span


@dataclass(frozen=True)
class Clauses:
    """Our clauses of one query block, as written; what is left out is None.

    Attributes:
        span: from the first word of the first clause to the end of the last one.
    """

    window: WindowSpec | None
    trigger: TriggerClause | None
    mode: Mode | None
    mode_span: Span | None
    lateness: Lateness | None
    span: Span


# ---------------------------------------------------------------- queries


@dataclass(frozen=True)
class WindowCall:
    """``TUMBLE(…)``, ``HOP(…)`` or ``SESSION(…)`` in a FROM: the rows of a relation, each with its windows.

    Attributes:
        span: the call, with a ``TABLE( … )`` around it, without the alias.
        function: upper case.
        relation: the words of what it reads, without the keyword TABLE.
        window: its window; the time is what DESCRIPTOR holds.
        partition: the keys of PARTITION BY.
        alias: the alias as written, or None.
    """

    span: Span
    function: str
    relation: Span
    window: FixedWindow | SlidingWindow | SessionWindow
    partition: tuple[Span, ...] = ()
    alias: str | None = None


@dataclass(frozen=True)
class Spelling:
    """What says a block's window where no WINDOW clause does; exactly one of the first two is set.

    Attributes:
        call: the table function that its FROM reads; the block groups by the bounds of its windows.
        function: the words of ``window(…)`` or ``session_window(…)`` in GROUP BY.
        names: the names of the struct that ``function`` makes, lower case.
    """

    call: WindowCall | None = None
    function: Span | None = None
    names: tuple[str, ...] = ()

    @property
    def span(self) -> Span:
        """Return the words that say it."""
        place = self.call.span if self.call else self.function
        assert place is not None
        return place


@dataclass(frozen=True)
class SelectItem:
    """One item of a SELECT list. ``expression`` leaves the alias out; ``star`` covers ``*`` and ``a.*``."""

    span: Span
    expression: Span
    alias: str | None
    star: bool


@dataclass(frozen=True)
class QueryBlock:
    """One SELECT … with its clauses, at any depth.

    Attributes:
        span: from the SELECT keyword to the end of its last clause before ORDER BY/LIMIT/set operator
            (ours included).
        select: the SELECT keyword with DISTINCT/ALL and hints.
        distinct: the DISTINCT keyword, or None.
        relation: the text after FROM (joins, LATERAL VIEW, PIVOT and all), or None.
        where, having: the condition, without the keyword.
        group_by: the grouping expressions; ``grouping_sets`` is the span of a ROLLUP, CUBE or GROUPING SETS
            or ``GROUP BY ALL`` where one is used (then ``group_by`` is empty).
        clauses: ours, or None; their window may have another spelling.
        tail: ORDER BY/SORT BY/DISTRIBUTE BY/CLUSTER BY/LIMIT/OFFSET that follow the block, or None.
        set_operator: the UNION/EXCEPT/INTERSECT keyword that ties the block to its neighbour, or None.
        spelling: what says the window of ``clauses`` where that is not a WINDOW clause, or None.
    """

    span: Span
    select: Span
    distinct: Span | None
    items: tuple[SelectItem, ...]
    relation: Span | None
    where: Span | None
    group_by: tuple[Span, ...]
    grouping_sets: Span | None
    having: Span | None
    clauses: Clauses | None
    tail: Span | None
    set_operator: Span | None
    spelling: Spelling | None = None


@dataclass(frozen=True)
class StreamReference:
    """``STREAM name [WATERMARK …] [AS alias]`` or ``STREAM panes('t') …`` in a FROM.

    Attributes:
        span: from STREAM to the end of the alias.
        name: the stream, table or streaming table; for ``panes`` the string argument's parts.
        panes: True for ``STREAM panes('t')``.
        alias: the alias as written (quotes included), or None.
        options: ``WITH ('key' = 'value', …)`` behind the name, as in Spark, or None.
    """

    span: Span
    name: Name
    panes: bool
    watermark: Watermark | None
    alias: str | None
    options: Span | None = None


@dataclass(frozen=True)
class TableFunction:
    """A call of one of our table functions (``panes``, ``late_rows``, …), or ``t AS OF STEP n``, in a FROM.

    Attributes:
        span: the call with its ``AS OF STEP``, without an alias.
        function: lower case; ``table`` for a streaming table itself.
        argument: the name inside the string argument, with the span of the string.
        step: the ``n`` of ``AS OF STEP n``, or None.
        aliased: an alias follows.
    """

    span: Span
    function: str
    argument: Name
    step: int | None = None
    aliased: bool = True


@dataclass(frozen=True)
class ModelCall:
    """``ML_PREDICT(TABLE t, MODEL m)``, ``ML_EVALUATE(…)``, ``ML_SCORES(MODEL m)``, ``ML_CONTENTS(…)`` in a FROM.

    Attributes:
        span: the call, with a ``TABLE( … )`` around it, without an alias.
        function: lower case.
        relation: the words of what it reads, without the keyword TABLE; None where it reads no rows.
        model: the model's name.
        version: the ``n`` of ``MODEL m VERSION n``, or None for the newest.
        part: the words that name a part of the model, of ``ML_CONTENTS``.
        aliased: an alias follows.
    """

    span: Span
    function: str
    relation: Span | None
    model: Name
    version: int | None = None
    part: Span | None = None
    aliased: bool = False


@dataclass(frozen=True)
class Cte:
    """One common table expression: its name, its query's span, and where its WITH list is in force.

    ``recursive``: it may name itself.
    """

    name: str
    span: Span
    query: Span
    scope: Span
    recursive: bool = False


@dataclass(frozen=True)
class RelationReference:
    """A plain table, view or CTE name in a FROM; only for finding views that hold clauses, and dependencies.

    Attributes:
        span: from the name to the end of the alias.
        watermark: the relation's own ``WATERMARK … DELAY OF …``, or None.
    """

    name: Name
    alias: str | None
    span: Span
    watermark: Watermark | None = None


@dataclass(frozen=True)
class QueryShape:
    """What we see of a query: everything of ours, by position.

    Attributes:
        span: the whole query (WITH included).
        blocks: all SELECT blocks, outermost first at equal starts.
        calls: the table functions that assign windows, outermost first at equal starts.
        models: the table functions that ask models, outermost first at equal starts.
        delays: the delays of watermarks that are strings without a unit behind them, which Spark does not take.
    """

    span: Span
    blocks: tuple[QueryBlock, ...]
    ctes: tuple[Cte, ...]
    streams: tuple[StreamReference, ...]
    functions: tuple[TableFunction, ...]
    relations: tuple[RelationReference, ...]
    calls: tuple[WindowCall, ...] = ()
    models: tuple[ModelCall, ...] = ()
    delays: tuple[Interval, ...] = ()

    @property
    def ours(self) -> bool:
        """Say whether anything in the query needs lowering."""
        found = self.streams or self.functions or self.calls or self.models or self.delays
        return bool(found or any(b.clauses for b in self.blocks))

    def cte_of(self, relation: RelationReference) -> Cte | None:
        """Return the common table expression that a relation names, None when it names something else.

        Before it, so in the queries of those that stand before it in its list, its name means what it means outside; so
        it does in its own query, unless it is recursive.
        """
        if len(relation.name.parts) != 1:
            return None
        name, place = relation.name.last.lower(), relation.span
        found = (
            cte
            for cte in self.ctes
            if cte.name.strip("`").lower() == name
            and cte.scope.covers(place)
            and (cte.query.end <= place.start or (cte.recursive and cte.query.covers(place)))
        )
        return min(found, key=lambda cte: cte.scope.end - cte.scope.start, default=None)


# ---------------------------------------------------------------- statements


@dataclass(frozen=True)
class SparkStatement:
    """A statement without anything of ours: goes to Spark byte for byte.

    Attributes:
        verb: first significant words, upper case (``SELECT``, ``CREATE VIEW``, ``DROP TABLE`` …).
        target: the object a DDL statement names, where that could be one of ours, else None.
        query: the query inside it, as far as it can be told, so that dependencies can be found; else None.
    """

    source: SourceText
    verb: str
    target: Name | None = None
    query: QueryShape | None = None


@dataclass(frozen=True)
class QueryStatement:
    """A Spark statement that holds a query with something of ours: SELECT, INSERT … SELECT, CREATE TABLE/VIEW AS.

    Attributes:
        verb: ``SELECT``, ``INSERT``, ``CREATE TABLE``, ``CREATE VIEW`` …
        target: the table or view that is written, or None.
    """

    source: SourceText
    verb: str
    target: Name | None
    query: QueryShape


@dataclass(frozen=True)
class CreateStream:
    """CREATE STREAM. ``columns`` is the text inside the parentheses, or None when left out."""

    source: SourceText
    name: Name
    or_replace: bool
    if_not_exists: bool
    columns: Span | None
    format: str
    format_span: Span
    options: tuple[tuple[str, str], ...]
    option_spans: tuple[tuple[str, Span], ...]
    watermark: Watermark | None
    idle_timeout: Interval | None
    on_error_fail: bool
    comment: str | None
    properties: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CreateStreamingTable:
    """CREATE STREAMING TABLE … AS query; ``property_spans`` has the place of each property's value."""

    source: SourceText
    name: Name
    or_replace: bool
    if_not_exists: bool
    comment: str | None
    properties: tuple[tuple[str, str], ...]
    query: QueryShape
    property_spans: tuple[tuple[str, Span], ...] = ()


@dataclass(frozen=True)
class RefreshStreamingTable:
    """REFRESH STREAMING TABLE t [FULL]."""

    source: SourceText
    name: Name
    full: bool


@dataclass(frozen=True)
class DrainStreamingTable:
    """DRAIN STREAMING TABLE t."""

    source: SourceText
    name: Name


@dataclass(frozen=True)
class StartStreamingTable:
    """START STREAMING TABLE t [EVERY i]."""

    source: SourceText
    name: Name
    every: Interval | None


@dataclass(frozen=True)
class StopStreamingTable:
    """STOP STREAMING TABLE t."""

    source: SourceText
    name: Name


# ---------------------------------------------------------------- GENERATE


@dataclass(frozen=True)
class Words:
    """A value of GENERATE that is no literal: a bare name, or an expression for Spark to compute."""

    span: Span


Value = None | bool | int | float | str | Words | tuple["Value", ...]
"""What an argument of GENERATE says: a literal, a list of such in brackets, or words."""


@dataclass(frozen=True)
class Argument:
    """``value`` or ``name => value`` in a call of GENERATE.

    Attributes:
        name: as written, or None for a value by position.
        place: the name, or the value where there is none.
        words: the value.
    """

    name: str | None
    place: Span
    value: Value
    words: Span


@dataclass(frozen=True)
class GeneratorCall:
    """``F(input, …)`` of GENERATE; the input is a table's name, a query, or another call."""

    name: str
    place: Span
    input: GeneratorCall | Name | QueryShape
    arguments: tuple[Argument, ...]
    span: Span


@dataclass(frozen=True)
class Target:
    """``AS [OR REPLACE] TABLE | MODEL name``."""

    name: Name
    or_replace: bool


@dataclass(frozen=True)
class Generate:
    """GENERATE [ML] F(input, …) [AS TABLE t] [AS MODEL m]."""

    source: SourceText
    call: GeneratorCall
    table: Target | None
    model: Target | None


# ---------------------------------------------------------------- all kinds


@dataclass(frozen=True)
class DropObject:
    """DROP STREAM | STREAMING TABLE | MODEL [IF EXISTS] name; ``kind`` is one of these, in upper case."""

    source: SourceText
    kind: str
    name: Name
    if_exists: bool


@dataclass(frozen=True)
class ShowObjects:
    """SHOW STREAMS | STREAMING TABLES | MODELS | GENERATORS [IN schema] [LIKE pattern]; ``kind`` in the singular."""

    source: SourceText
    kind: str
    schema: Name | None
    pattern: str | None


@dataclass(frozen=True)
class DescribeObject:
    """DESCRIBE [EXTENDED] STREAM | STREAMING TABLE | MODEL | GENERATOR name."""

    source: SourceText
    kind: str
    name: Name
    extended: bool


@dataclass(frozen=True)
class Explain:
    """EXPLAIN [mode] of a statement that holds something of ours.

    Attributes:
        mode: ``""``, ``REWRITE``, ``EXTENDED``, ``FORMATTED``, ``COST``, ``CODEGEN``; or ``ANALYZE``, then of any
            statement.
        statement: the statement explained, whose spans point into *its own* source text.
    """

    source: SourceText
    mode: str
    statement: Statement


Statement = (
    SparkStatement
    | QueryStatement
    | CreateStream
    | CreateStreamingTable
    | RefreshStreamingTable
    | DrainStreamingTable
    | StartStreamingTable
    | StopStreamingTable
    | Generate
    | DropObject
    | ShowObjects
    | DescribeObject
    | Explain
)
