"""What a streaming table cannot hold: one tuple of small checks, each refusing one thing at its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from warehouse.catalog.entries import Column
from warehouse.dataflow.aggregates.calls import comparable
from warehouse.dataflow.aggregates.forms import ORDER_SENSITIVE
from warehouse.dataflow.query import Output, WindowedQuery
from warehouse.dataflow.triggers import AT_END, Kind, Node
from warehouse.dataflow.windows import Global
from warehouse.errors import Span, fail
from warehouse.language.fragments import Fragment
from warehouse.language.statements import Mode, QueryBlock
from warehouse.language.tokens import Token
from warehouse.planning.context import Context
from warehouse.planning.streams.sources import PANE_COLUMNS, STREAM_MARK, StreamSource
from warehouse.planning.words import scan
from warehouse.planning.words.text import Text


@dataclass(frozen=True)
class Candidate:
    """A query that is about to become a streaming table.

    Attributes:
        blocks: those that read a stream.
    """

    text: Text
    sources: tuple[StreamSource, ...]
    blocks: tuple[QueryBlock, ...]


def no_streams_at_all(found: Candidate) -> None:
    """Refuse a query that reads no stream."""
    if not found.sources:
        fail("WAREHOUSE_STREAMING_TABLE_WITHOUT_STREAM", found.text.shape.span)


def no_select(found: Candidate) -> None:
    """Refuse the ways to say a query that have no SELECT: ``TABLE t``, and pipes."""
    if not found.text.shape.blocks:
        fail(
            "WAREHOUSE_NOT_BUILT_YET", found.sources[0].reference.span, what="A streaming table without SELECT",
            example="SELECT … FROM STREAM …",
        )  # fmt: skip


def stream_outside_from(found: Candidate) -> None:
    """Refuse a STREAM in a scalar subquery, in EXISTS or IN."""
    for reference in found.text.shape.streams:
        for block in found.text.shape.blocks:
            inside = block.span.covers(reference.span) and block.relation and not block.relation.covers(reference.span)
            if inside:
                fail("WAREHOUSE_STREAM_OUTSIDE_FROM", reference.span)


def replay_beside_stream(found: Candidate) -> None:
    """Refuse replays, which have a clock of their own, beside other streams, and those of two kinds of steps."""
    replays = [s for s in found.sources if s.bounded]
    complete = [s for s in replays if s.complete]
    if replays and len(replays) < len(found.sources):
        fail(
            "WAREHOUSE_NOT_BUILT_YET", replays[0].reference.span, what="a replay beside a stream that is none",
            example="a streaming table for each of them",
        )  # fmt: skip
    if complete and len(complete) < len(replays):
        fail(
            "WAREHOUSE_NOT_BUILT_YET", complete[0].reference.span,
            what="a replay whose watermark is 'complete' beside one whose watermark is not",
            example="watermark 'complete' in the OPTIONS of both",
        )  # fmt: skip


def order_or_limit(found: Candidate) -> None:
    """Refuse ORDER BY, LIMIT and the like."""
    for block in found.blocks:
        if block.tail:
            words = block.tail.of(found.text.text).split()[0].upper()
            fail("WAREHOUSE_ORDER_IN_STREAMING_TABLE", block.tail, words=words)


def set_operator(found: Candidate) -> None:
    """Refuse every set operator but UNION ALL."""
    for block in found.blocks:
        if block.set_operator:
            words = [token.upper for token in found.text.words(block.set_operator)]
            if words != ["UNION", "ALL"]:
                fail("WAREHOUSE_SET_OPERATOR_OVER_STREAM", block.set_operator, operator=" ".join(words))


def join_of_streams(found: Candidate) -> None:
    """Refuse two streams in one FROM unless they are branches of a UNION ALL."""
    for first, second in pairwise(found.text.shape.streams):
        if _owner(found, first.span) is _owner(found, second.span):
            fail("WAREHOUSE_STREAM_JOIN", second.span)


def outer_join_on_the_wrong_side(found: Candidate) -> None:
    """Refuse a join whose answer for a table's row would hang on rows of the stream that are yet to come."""
    for reference in found.text.shape.streams:
        owner = _owner(found, reference.span)
        if owner is None or owner.relation is None:
            continue
        tokens = found.text.words(owner.relation)
        before = [t for t in tokens if t.end <= reference.span.start]
        after = [t for t in tokens if t.start >= reference.span.end]
        if before and before[-1].upper == "JOIN":
            kinds = {t.upper for t in before[-4:-1]}
            if kinds & {"LEFT", "FULL", "ANTI", "SEMI"}:
                fail("WAREHOUSE_STREAM_OUTER_JOIN", before[-1].span.to(reference.span))
        for one, two in pairwise(after):
            if one.upper in ("RIGHT", "FULL") and two.upper in ("JOIN", "OUTER"):
                fail("WAREHOUSE_STREAM_OUTER_JOIN", one.span.to(two.span))


def window_function(found: Candidate) -> None:
    """Refuse functions with OVER: they run over all rows in order."""
    for block in found.blocks:
        for item in block.items:
            tokens = found.text.words(item.expression)
            for one, two in pairwise(tokens):
                if one.upper == ")" and two.upper == "OVER":
                    fail("WAREHOUSE_WINDOW_FUNCTION_OVER_STREAM", item.expression)
        words = list(_outermost(found, block))
        qualify = next((at for at, word in enumerate(words) if word.upper == "QUALIFY"), len(words))
        if any(word.upper == "OVER" for word in words[qualify:]):
            fail("WAREHOUSE_WINDOW_FUNCTION_OVER_STREAM", words[qualify].span.to(words[-1].span))


def pivot(found: Candidate) -> None:
    """Refuse PIVOT, which is an aggregation without a window."""
    for block in found.blocks:
        for word, following in pairwise(_outermost(found, block)):
            if word.upper == "PIVOT" and following.upper == "(":
                fail(
                    "WAREHOUSE_NOT_BUILT_YET", word.span, what="PIVOT over a stream",
                    example="an aggregate for each column, such as sum(v) FILTER (WHERE k = 'a') AS a, with GROUP BY",
                )  # fmt: skip


def _outermost(found: Candidate, block: QueryBlock) -> Iterator[Token]:
    """Yield the words from a block on that stand in no parentheses which open after it, with those themselves."""
    depth = 0
    for word in found.text.words(Span(block.span.start, found.text.shape.span.end)):
        depth -= word.upper == ")"
        if depth < 0:
            return
        if depth == 0:
            yield word
        depth += word.upper == "("


def _owner(found: Candidate, span: Span) -> QueryBlock | None:
    """Return the innermost block whose FROM holds ``span``."""
    around = [b for b in found.text.shape.blocks if b.relation and b.relation.covers(span)]
    return min(around, key=lambda b: b.span.end - b.span.start, default=None)


CHECKS: tuple[Callable[[Candidate], None], ...] = (
    no_streams_at_all,
    no_select,
    stream_outside_from,
    replay_beside_stream,
    order_or_limit,
    set_operator,
    join_of_streams,
    outer_join_on_the_wrong_side,
    window_function,
    pivot,
)


def check_lasting(context: Context, text: Text) -> None:
    """Refuse temporary views and functions: they end with their session, and a streaming table does not."""
    for reference in text.shape.relations:
        if text.shape.cte_of(reference) is None and context.analyzer.is_temporary_view(reference.name):
            fail("WAREHOUSE_TEMPORARY", reference.name.span, kind="view", name=reference.name.written)
    functions = context.analyzer.temporary_functions()
    for before, word, after in zip(text.tokens, text.tokens[1:], text.tokens[2:], strict=False):
        called = word.is_name and after.upper == "(" and before.upper != "."
        if called and word.text.lower() in functions:
            fail("WAREHOUSE_TEMPORARY", word.span, kind="function", name=word.text)


def check_places(context: Context, query: Fragment, sources: tuple[StreamSource, ...]) -> None:
    """Refuse what the checks above do to streams beside the words, and in views, subqueries and CTEs no less.

    Args:
        context: of the statement.
        query: in which relations with ``STREAM_MARK`` stand for the streams.
        sources: these.
    """
    found = context.analyzer.misuse(query, STREAM_MARK)
    if found:
        fail(_MISUSES[found], (sources[-1] if found == "JOINED" else sources[0]).reference.span)


_MISUSES = {
    "JOINED": "WAREHOUSE_STREAM_JOIN",
    "AWAITED": "WAREHOUSE_STREAM_OUTER_JOIN",
    "SAMPLED": "WAREHOUSE_NONDETERMINISTIC",
    "ASKED": "WAREHOUSE_STREAM_OUTSIDE_FROM",
}


# ------------------------------------------------------------------ of the windowed block


def check_windowed(text: Text, block: QueryBlock, query: WindowedQuery, sources: tuple[StreamSource, ...]) -> None:
    """Refuse what would never be emitted, depends on the order of rows, or counts twice."""
    _never_closes(text, block, query, sources)
    _order_sensitive(text, block, query)
    for source in sources:
        _double_counting(source)
    if query.retracted:
        _taken_back(block, query, next(s for s in sources if s.retracts))


def _taken_back(block: QueryBlock, query: WindowedQuery, source: StreamSource) -> None:
    """Refuse what cannot be computed when rows are taken back."""
    if query.splits and query.mode is Mode.DISCARDING:
        assert block.clauses and block.clauses.window
        fail("WAREHOUSE_DISCARDING_CANNOT_SPLIT", block.clauses.window.span, table=source.name)
    for position, _ in query.parts.holistic:
        call = query.calls[position]
        if query.mode is Mode.DISCARDING:
            fail("WAREHOUSE_DISCARDING_CANNOT_SUBTRACT", block.select, function=call.function, table=source.name)
        for argument in (*call.arguments, *call.ordering):
            if not comparable(argument.type):
                fail("WAREHOUSE_RETRACTED_TYPE", block.select, function=call.function, type=argument.type)


def _order_sensitive(text: Text, block: QueryBlock, query: WindowedQuery) -> None:
    for call in query.calls:
        if call.function in ORDER_SENSITIVE and not call.ordering:
            places = [
                c.name for i in block.items for c in scan.aggregate_calls(text.words(i.expression), {call.function})
            ]
            fail("WAREHOUSE_ORDER_SENSITIVE", places[0] if places else block.having, function=call.function)


def _double_counting(source: StreamSource) -> None:
    """Refuse to aggregate the changes of a table that may emit a window twice without taking the first one back."""
    if source.replaces:
        assert source.entry
        fail("WAREHOUSE_DOUBLE_COUNTING", source.reference.span, table=source.entry.name)


def _never_closes(text: Text, block: QueryBlock, query: WindowedQuery, sources: tuple[StreamSource, ...]) -> None:
    """Refuse a window that no watermark can close under a trigger that waits for one."""
    kinds = query.trigger.kinds()
    place = block.clauses.trigger.span if block.clauses and block.clauses.trigger else block.select
    if all(s.bounded for s in sources):
        return
    if isinstance(query.window, Global):
        if not _fires_before_the_end(query.trigger):
            fail("WAREHOUSE_UNBOUNDED_AGGREGATE", place if block.clauses else _grouping_place(block))
    elif kinds & AT_END and not all(s.has_watermark for s in sources):
        lacking = next(s for s in sources if not s.has_watermark)
        fail("WAREHOUSE_NO_WATERMARK", lacking.reference.span, stream=lacking.reference.name.last)


def _fires_before_the_end(unit: Node) -> bool:
    """Say whether a trigger can fire while the watermark has not reached the window's end."""
    if unit.kind is Kind.AND:
        return all(map(_fires_before_the_end, unit.parts))
    if unit.kind is Kind.THEN:
        return _fires_before_the_end(unit.parts[0])
    if unit.parts:
        return any(map(_fires_before_the_end, unit.parts))
    return unit.kind not in AT_END and unit.kind is not Kind.NEVER


def _grouping_place(block: QueryBlock) -> Span:
    return block.group_by[0].to(block.group_by[-1]) if block.group_by else block.items[0].span


def check_deterministic(context: Context, query: Fragment, place: Span) -> None:
    """Refuse a query that may give something else when its step is repeated, at the words at fault or at ``place``."""
    if not context.analyzer.is_deterministic(query):
        fail("WAREHOUSE_NONDETERMINISTIC", context.analyzer.unrepeatable(query) or place)


def check_columns(columns: Sequence[Output | Column], places: Sequence[Span]) -> None:
    """Refuse columns that a streaming table cannot have, each at its place."""
    check_names([column.name for column in columns], places)
    for column, place in zip(columns, places, strict=True):
        if unheld := _NOT_IN_DELTA.search(column.type):
            fail("WAREHOUSE_COLUMN_TYPE", place, name=column.name, type=unheld[1])


def check_names(names: Sequence[str], places: Sequence[Span]) -> None:
    """Refuse two columns of one name, names of ours, and those of the columns that each streaming table has beside."""
    named = list(zip(names, places, strict=True))
    distinct_names(named)
    taken = {column.name for column in PANE_COLUMNS}
    found = [(name, place) for name, place in named if name.lower() in taken]
    if found:
        fail("WAREHOUSE_COLUMNS_OF_PANES", found[0][1], names=", ".join(name for name, _ in found))


def distinct_names(named: Iterable[tuple[str, Span]]) -> None:
    """Refuse two columns of one name, and names of ours, each at its place."""
    seen: set[str] = set()
    for name, place in named:
        if name.lower() in seen:
            fail("WAREHOUSE_DUPLICATE_COLUMN", place, name=name)
        if name.lower().startswith("__w_"):
            fail("WAREHOUSE_RESERVED_NAME", place, name=name)
        seen.add(name.lower())


_NOT_IN_DELTA = re.compile(r"(?:^|[<:,])(interval(?: [a-z ]+)?)(?=$|[>,])")
"""Finds in the text of a type one that Delta's tables do not hold, at any depth; a field may have that name."""
