"""EXPLAIN: what it tells of a plan, or the plan that measures it."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.errors import SourceText, Span, fail
from warehouse.language.statements import CreateStreamingTable, QueryShape, QueryStatement, SparkStatement, Statement
from warehouse.language.tokens import tokenize
from warehouse.planning import distribution, plans
from warehouse.planning.context import Context
from warehouse.planning.explaining import explain, explain_training
from warehouse.planning.lowering.relations import Relations
from warehouse.planning.lowering.spark import NAMES_NEW
from warehouse.planning.streams.sources import StreamSource, resolve
from warehouse.planning.windows.firing import trigger_warnings
from warehouse.planning.words.named_windows import written_out


def explained(
    context: Context, source: SourceText, mode: str, inner: Statement, planned: plans.Plan, relations: Relations
) -> plans.Tell | plans.Measure:
    """Return the plan of EXPLAIN.

    Args:
        context: where the statement is planned.
        source: the whole statement.
        mode: the word behind EXPLAIN, or empty.
        inner: the statement that is explained.
        planned: its plan.
        relations: what stands for streams and our table functions.

    Raises:
        WarehouseError: ANALYZE of what computes no rows.
    """
    spark_mode = {"": "simple", "REWRITE": ""}.get(mode, mode.lower())
    if mode == "ANALYZE":
        return _measure(source, inner, planned)
    match planned:
        case plans.RunSpark(fragment=fragment) if mode == "REWRITE":
            return plans.Tell(source, tuple(fragment.text.splitlines()), None)
        case plans.RunSpark(fragment=fragment, layout=layout):
            lines = [*_lines(context, inner, relations), *(layout.lines() if layout else ())]
            return plans.Tell(source, tuple(lines), fragment, spark_mode)
        case plans.MakeStreamingTable(query=query) if mode == "REWRITE":
            return plans.Tell(source, tuple(explain.step_texts(query)), None)
        case plans.MakeStreamingTable(query=query):
            assert isinstance(inner, CreateStreamingTable)
            writer = relations.writer(context, inner.source, inner.query)
            batch = writer(inner.query.span) if _can_run_as_batch(query.sources) else None
            lines = [*(planned.verdict.lines() if planned.verdict else ()), *explain.table_lines(query)]
            spread = distribution.read(planned.entry.distribution)
            lines += [spread.line()] if spread else []
            return plans.Tell(source, tuple(lines), batch, spark_mode)
        case plans.Train(training=training) if mode == "REWRITE":
            return plans.Tell(source, tuple(training.relation.text.splitlines()), None)
        case plans.Train(training=training):
            return plans.Tell(source, tuple(explain_training.lines(training)), training.relation, spark_mode)
    return plans.Tell(source, (explain.act(planned),), None)


_COMPUTES_NOTHING = frozenset([
    "ADD", "ALTER", "BEGIN", "CLEAR", "COMMENT", "DECLARE", "DESC", "DESCRIBE", "DROP", "EXPLAIN", "LIST", "MSCK",
    "REFRESH", "REPAIR", "RESET", "RESTORE", "SET", "SHOW", "TRUNCATE", "UNCACHE", "USE", "VACUUM",
])  # fmt: skip
"""What Spark's statements begin with that read no rows; besides these, CREATE of all but a table AS a query."""


def _measure(source: SourceText, inner: Statement, planned: plans.Plan) -> plans.Measure:
    """Return the plan of EXPLAIN ANALYZE; refuses what computes no rows."""
    computes = isinstance(planned, plans.MakeStreamingTable | plans.Refresh | plans.Train)
    if isinstance(inner, SparkStatement | QueryStatement):
        verb, _, kind = inner.verb.partition(" ")
        makes = verb in NAMES_NEW
        computes = verb not in _COMPUTES_NOTHING and (not makes or (kind == "TABLE" and inner.query is not None))
    if not computes:
        first = next(iter(tokenize(inner.source.text) or ()))
        offset = len(source.text) - len(inner.source.text)
        span = Span(first.start + offset, first.end + offset)
        fail("WAREHOUSE_ANALYZE_COMPUTES_NOTHING", span, statement=first.upper)
    return plans.Measure(source, planned)


def _can_run_as_batch(sources: tuple[StreamSource, ...]) -> bool:
    return not any(getattr(s.entry, "format", "") in ("rate", "rate-micro-batch", "socket") for s in sources)


def _lines(context: Context, statement: Statement, relations: Relations) -> Iterator[str]:
    """Yield the lines that explain what is ours in a query that runs once."""
    if isinstance(statement, QueryStatement):
        statement, _ = written_out(statement)
    shape: QueryShape | None = getattr(statement, "query", None)
    if shape is None:
        return
    writer = relations.writer(context, statement.source, shape)
    assignments = writer.assignments()
    for block in shape.blocks:
        if block.clauses and not assignments.is_all(block):
            read = [s for s in shape.streams if block.relation and block.relation.covers(s.span)]
            sources = tuple(resolve(context, statement.source.text, s) for s in read)
            query = writer.bound(block, lambda f: f.text).query
            yield from explain.block_lines(query, sources)
            yield from explain.batch_lines()
            if query.once:
                yield from (f"warning: {warning}" for warning in trigger_warnings(query.trigger, query.once))
    for window in assignments.windows(shape.span):
        yield from explain.assignment_lines(window)
