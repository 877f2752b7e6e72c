"""A statement to its plan: checks what it names, binds what is ours in it, and rewrites spans of its text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from warehouse.catalog.entries import ModelEntry, Pairs, StreamingTableEntry, ViewEntry, new_id, qualified, quote_name
from warehouse.catalog.store import Catalog
from warehouse.errors import SourceText, Span, WarehouseError, fail, without_secrets
from warehouse.language.fragments import Fragment, of, quoted, rewritten
from warehouse.language.literals import split_name, string_literal
from warehouse.language.parser import parse
from warehouse.language.statements import (
    CreateStream,
    CreateStreamingTable,
    DescribeObject,
    DrainStreamingTable,
    DropObject,
    Explain,
    Generate,
    Mode,
    Name,
    QueryShape,
    QueryStatement,
    RefreshStreamingTable,
    ShowObjects,
    SparkStatement,
    StartStreamingTable,
    Statement,
    StopStreamingTable,
)
from warehouse.language.tokens import tokenize
from warehouse.language.view_scope import view_scope
from warehouse.planning import distribution, plans
from warehouse.planning.context import Context
from warehouse.planning.explaining import explain, explain_training
from warehouse.planning.lengths import length
from warehouse.planning.lowering.schemas import dropped_with
from warehouse.planning.models import generate
from warehouse.planning.models.arguments import advice
from warehouse.planning.models.predictions import asked, refuse_in_view
from warehouse.planning.queries.bind_streaming import bind_streaming
from warehouse.planning.queries.checks import distinct_names
from warehouse.planning.queries.expand import pointed_back
from warehouse.planning.queries.render import FunctionRelation, StreamRelation, Writer
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.planning.replacing.replacement import Verdict, Version, harm, judge, rebuild, with_readers
from warehouse.planning.streams.sources import StreamSource, resolve
from warehouse.planning.words.named_windows import next_use, written_out
from warehouse.planning.words.text import Text

_NAMES_NEW = ("CREATE", "REPLACE")
_READS_ONLY = (
    "SELECT",
    "DESCRIBE",
    "DESC",
    "SHOW",
    "EXPLAIN",
    "WITH",
    "FROM",
    "VALUES",
    "CACHE",
    "UNCACHE",
    "REFRESH",
    "ANALYZE",
    "",
)

_WRITES = (
    "CREATE TABLE", "REPLACE TABLE", "INSERT", "MERGE", "UPDATE", "DELETE", "TRUNCATE", "TRUNCATE TABLE", "OPTIMIZE",
    "RESTORE", "ALTER TABLE", "VACUUM", "COMMENT", "REORG",
)  # fmt: skip
"""The verbs that may put rows into a table, say how it is kept, or begin another version of it."""

_COUNTS = {
    "DELETE": ("num_affected_rows",),
    "UPDATE": ("num_affected_rows",),
    "MERGE": ("num_affected_rows", "num_updated_rows", "num_deleted_rows", "num_inserted_rows"),
    "OPTIMIZE": ("path", "metrics"),
    "REORG": ("path", "metrics"),
    "VACUUM": ("path",),
    "RESTORE": (
        "table_size_after_restore", "num_of_files_after_restore", "num_removed_files", "num_restored_files",
        "removed_files_size", "restored_files_size",
    ),
}  # fmt: skip
"""The columns of what Delta answers to a statement that changes rows or files."""


@dataclass(frozen=True)
class Relations:
    """What stands for streams and our table functions in a batch run, as SQL text; ``bound`` tells their queries.

    Attributes:
        bound: the query of a streaming table that exists, in a catalog.
    """

    stream: StreamRelation
    function: Callable[[Context], FunctionRelation]
    bound: Callable[[Catalog, StreamingTableEntry], StreamingQuery]


def plan(context: Context, statement: Statement, relations: Relations) -> plans.Plan:
    """Return what ``statement`` comes to. Runs nothing.

    Raises:
        WarehouseError: located in the statement's source.
    """
    try:
        return _plan(context, statement, relations)
    except WarehouseError as error:
        raise error.located_in(statement.source) from None


def _plan(context: Context, statement: Statement, relations: Relations) -> plans.Plan:
    source = statement.source
    match statement:
        case SparkStatement():
            return _pass_through(context, statement)
        case QueryStatement():
            return _rewritten(context, statement, relations)
        case CreateStream():
            return plans.MakeStream(source, statement)
        case CreateStreamingTable():
            return _make_table(context, statement, relations)
        case RefreshStreamingTable(name=name, full=full):
            return plans.Refresh(source, name.span, table_named(context, name), full=full)
        case DrainStreamingTable(name=name):
            return plans.Refresh(source, name.span, table_named(context, name), drain=True)
        case StartStreamingTable(name=name, every=every):
            pause = length(source.text, every, "EVERY") if every else None
            return plans.Start(source, name.span, table_named(context, name), pause)
        case StopStreamingTable(name=name):
            return plans.Stop(source, name.span, table_named(context, name))
        case Generate():
            return _train(context, statement, relations)
        case DropObject(kind="MODEL"):
            return _drop_model(context, statement)
        case DropObject(kind="STREAM"):
            return plans.DropStreamPlan(source, statement)
        case DropObject(name=name, if_exists=if_exists):
            found = context.catalog.streaming_table(*context.resolve(name))
            if found is None and if_exists:
                return plans.Nothing(source, f"no streaming table {name.last}")
            return plans.DropStreamingTable(source, name.span, table_named(context, name))
        case ShowObjects():
            return plans.Show(source, statement)
        case DescribeObject(kind="STREAM", name=name):
            return _describe_stream(context, statement, name)
        case DescribeObject(kind="MODEL" | "GENERATOR", name=name):
            return _describe_learning(context, statement, name)
        case DescribeObject(name=name):
            return plans.Describe(source, statement, table_named(context, name))
        case Explain(mode=mode, statement=inner):
            return _explain(context, source, mode, inner, relations)
    raise AssertionError(statement)


def table_named(context: Context, name: Name) -> StreamingTableEntry:
    """Return the streaming table called ``name``; refuses with the nearest name when there is none."""
    schema, last = context.resolve(name)
    entry = context.catalog.streaming_table(schema, last)
    if entry is None:
        similar = context.similar(name, "streaming table")
        fail("WAREHOUSE_STREAMING_TABLE_NOT_FOUND", name.span, name=name.written, similar=similar)
    return entry


# ------------------------------------------------------------------ Spark's own statements


def _pass_through(context: Context, statement: SparkStatement) -> plans.RunSpark:
    source = statement.source
    if statement.verb == "SHOW CREATE" and (made := _as_made(context, statement.target)):
        return plans.RunSpark(source, of(f"SELECT {string_literal(made)} AS createtab_stmt"))
    forget = _checked_target(context, statement.verb, statement.target)
    keep = None
    if forget and statement.verb == "ALTER VIEW" and statement.target:
        forget, keep = _altered(context, statement, statement.target, forget)
    keeping, edits = _keeping(context, statement.source, statement.verb, statement.target)
    whole = rewritten(source.text, Span(0, len(source.text)), edits)
    target = statement.target.last if statement.target else None
    drops = dropped_with(context, statement)
    reshapes = statement.target if _reshapes(statement) else None
    return plans.RunSpark(
        source, whole, target, keep_view=keep, forget_view=forget, drops=drops, keeping=keeping, reshapes=reshapes,
        lists=statement.verb.startswith("SHOW"), counts=_COUNTS.get(statement.verb, ()),
    )  # fmt: skip


def _altered(
    context: Context, statement: SparkStatement, target: Name, view: ViewEntry
) -> tuple[ViewEntry | None, ViewEntry | None]:
    """Return the view of ours to be forgotten and the one to be remembered when ALTER VIEW has run on ``view``."""
    behind = [t for t in tokenize(statement.source.text) or () if t.start >= target.span.end]
    match [token.upper for token in behind[:2]]:
        case ["AS", *_]:
            return view, None
        case ["RENAME", "TO"]:
            parts = split_name(statement.source.text[behind[2].start :].strip(), target.span)
            if parts is None:
                return view, None
            schema, name = context.resolve(parts)
            made = getattr(parse(SourceText(view.text)), "target", target).span
            text = view.text[: made.start] + qualified(schema, name) + view.text[made.end :]
            return view, ViewEntry(schema, name, text, view.current or view.schema, view.made_of)
    return None, None


def _reshapes(statement: SparkStatement) -> bool:
    """Say whether a statement may give a table other columns, or other rows by its version."""
    if statement.verb != "ALTER TABLE":
        return statement.verb.split(" ")[0] in ("RESTORE", "TRUNCATE")
    words = [word.text.strip("'\"").upper() for word in tokenize(statement.source.text) or ()]
    return "TBLPROPERTIES" not in words or any(word.startswith("DELTA") for word in words)


def _as_made(context: Context, name: Name | None) -> str | None:
    """Return the statement, as the user wrote it, that made something of ours; None where it is nothing of ours."""
    if name is None:
        return None
    schema, last = context.resolve(name)
    catalog = context.catalog
    found = catalog.streaming_table(schema, last) or catalog.view(schema, last) or catalog.stream(schema, last)
    return without_secrets(found.text) if found else None


def _keeping(
    context: Context, source: SourceText, verb: str, target: Name | None, writer: Writer | None = None
) -> tuple[distribution.Keeping | None, distribution.Edits]:
    """Return what a statement has to do with how its table is kept, and the edits that this takes."""
    if target is None or verb not in _WRITES:
        return None, []

    def analyzable(span: Span) -> Fragment:
        return writer(span) if writer else quoted(source.text, span)

    if verb in ("CREATE TABLE", "REPLACE TABLE"):
        keeping, edits = distribution.created(context, source, target, analyzable)
        return (None if _stays(context, source, target) else keeping), edits
    return distribution.written(context, source, target, verb, analyzable)


def _stays(context: Context, source: SourceText, target: Name) -> bool:
    """Say whether a CREATE does nothing: IF NOT EXISTS, of what is there."""
    before = [token.upper for token in tokenize(source.text) or () if token.end <= target.span.start]
    return "EXISTS" in before and context.analyzer.table_columns(target) is not None


def _checked_target(context: Context, verb: str, target: Name | None) -> ViewEntry | None:
    """Refuse to touch what we maintain; return the view of ours that the statement drops or replaces."""
    if target is None or verb.split(" ")[0] in _READS_ONLY:
        return None
    schema, name = context.resolve(target)
    kind = context.catalog.kind_of(schema, name)
    creates = verb.split(" ")[0] in _NAMES_NEW
    if kind == "streaming table":
        fail("WAREHOUSE_STREAMING_TABLE_IS_MAINTAINED", target.span, name=name, verb=verb)
    if kind == "stream" and creates and ("TABLE" in verb or "VIEW" in verb):
        fail("WAREHOUSE_NAME_TAKEN", target.span, name=name, kind="stream")
    return context.catalog.view(schema, name)


def _rewritten(context: Context, statement: QueryStatement, relations: Relations) -> plans.RunSpark:
    source = statement.source
    forget = _checked_target(context, statement.verb, statement.target)
    _refuse_keeping(statement)
    whole = Span(0, len(source.text))
    text = Text(source.text, tuple(tokenize(source.text) or ()), statement.query)
    if next_use(text):
        plain, way = written_out(statement)
        try:
            planned = _rewritten(context, plain, relations)
        except WarehouseError as error:
            raise pointed_back(error, way, source) from None
        keep = planned.keep_view and replace(planned.keep_view, text=source.text)
        return replace(planned, source=source, fragment=planned.fragment.through(way), keep_view=keep)
    writer = Writer(context, text, relations.stream, relations.function(context))
    keeping, edits = _keeping(context, source, statement.verb, statement.target, writer)
    fragment = rewritten(source.text, whole, [*writer.edits(whole), *edits])
    keep = None
    if statement.verb.endswith("VIEW") and statement.target is not None:
        schema, name = context.resolve(statement.target)
        for call in statement.query.models:
            refuse_in_view(context, call)
        made = ViewEntry(schema, name, source.text, context.schema)
        keep = None if _stays(context, source, statement.target) else made
    target = statement.target.last if statement.target else None
    return plans.RunSpark(
        source,
        fragment,
        target,
        keep,
        forget,
        (),
        writer.evaluations(),
        keeping,
        counts=_COUNTS.get(statement.verb, ()),
    )


def _refuse_keeping(statement: QueryStatement) -> None:
    """Refuse functions of ours in what Spark would keep as they were answered once."""
    if statement.verb == "CREATE FUNCTION" and statement.query.functions:
        call = statement.query.functions[0]
        fail("WAREHOUSE_RELATION_IN_FUNCTION", call.span, relation=call.span.of(statement.source.text))
    if statement.verb.endswith("VIEW") and not view_scope(statement.source.text):
        for call in statement.query.functions:
            if call.function in ("partition_stats", "cache_stats"):
                fail("WAREHOUSE_STATS_IN_VIEW", call.span, function=call.function)


# ------------------------------------------------------------------ streaming tables


_TABLE_NAME = re.compile(r"\w+", re.ASCII)
"""What a view may be called in Spark's catalog, as which a streaming table is read."""


def _make_table(context: Context, statement: CreateStreamingTable, relations: Relations) -> plans.Plan:
    schema, name = context.resolve(statement.name)
    if not _TABLE_NAME.fullmatch(name):
        fail("WAREHOUSE_TABLE_NAME", statement.name.span, name=statement.name.written)
    kind = context.catalog.kind_of(schema, name)
    old = context.catalog.streaming_table(schema, name)
    if old and statement.if_not_exists:
        return plans.Nothing(statement.source, f"streaming table {name} exists")
    if old is None and (kind is not None or context.analyzer.table_columns(statement.name) is not None):
        fail("WAREHOUSE_NAME_TAKEN", statement.name.span, name=name, kind=(kind or "table or view").lower())
    if old and not statement.or_replace:
        fail("WAREHOUSE_NAME_TAKEN", statement.name.span, name=name, kind="streaming table")
    query = bound_query(context, statement.source, statement.query, relations)
    entry = StreamingTableEntry(
        schema=schema, name=name, id=new_id(name), text=statement.source.text, comment=statement.comment,
        properties=statement.properties, columns=query.columns, sources=tuple(s.name for s in query.sources),
        stateless=query.windowed is None,
        mode=query.windowed.mode.name if query.windowed else _inherited_mode(query),
        repeats=query.repeats, facts=tuple(explain.facts(query)),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        definitions=query.definitions, current=context.schema, models=_asked(context, query), views=query.views,
    )  # fmt: skip
    spread = distribution.streamed(
        context, statement.source, name, query.columns, query.windowed, entry.appends_only
    )  # fmt: skip
    if spread:
        facts = (*entry.facts, ("Distribution", str(spread)))
        entry = replace(entry, distribution=spread.written(), facts=facts)
    if old is None:
        return plans.MakeStreamingTable(statement.source, statement.name.span, entry, query, None)
    verdict = _verdict(context, old, Version(entry, query), relations)
    return plans.MakeStreamingTable(
        statement.source, statement.name.span, verdict.entry or entry, verdict.query or query, old, verdict
    )


def _asked(context: Context, query: StreamingQuery) -> Pairs:
    """Return the models that a streaming table's query asks, with their versions."""
    block = query.windowed
    outputs = [o.sql for o in block.outputs] if block else []
    return asked(context.catalog, [query.input.text, *outputs])


def _verdict(context: Context, old: StreamingTableEntry, new: Version, relations: Relations) -> Verdict:
    """Return what becomes of the state and the panes of ``old``, its readers considered."""
    try:
        verdict = judge(Version(old, relations.bound(context.catalog, old)), new)
    except WarehouseError as error:
        verdict = rebuild(new.query, f"what it computed cannot be told any more: {error.diagnostics[0].message}")
    readers = [r for r in context.catalog.readers_of(old.qualified) if r.id != old.id]
    hurt: list[tuple[str, str]] = []
    if verdict.entry:
        after = context.catalog.draft()
        after.put_streaming_table(verdict.entry)
        for reader in readers:
            before = relations.bound(context.catalog, reader)
            try:
                reason = harm(before, relations.bound(after, reader), reader)
            except WarehouseError as error:
                reason = error.diagnostics[0].message.partition(". Did you mean")[0].rstrip(".")
            hurt += [(reader.qualified, reason)] if reason else []
    return with_readers(verdict, tuple(hurt), tuple(r.qualified for r in readers))


def _inherited_mode(query: StreamingQuery) -> str:
    """Return the mode of a stateless table: that of the table whose changes it passes on."""
    modes = [getattr(s.entry, "mode", None) for s in query.sources if query.reads_changes]
    return next((m for m in modes if m), Mode.DISCARDING.name)


def bound_query(context: Context, source: SourceText, query: QueryShape, relations: Relations) -> StreamingQuery:
    """Return the query of a streaming table, bound; also used to open a table that exists."""
    return bind_streaming(context, source, query, relations.function(context))


def _describe_stream(context: Context, statement: DescribeObject, name: Name) -> plans.Plan:
    entry = context.catalog.stream(*context.resolve(name))
    if entry is not None:
        return plans.Describe(statement.source, statement, entry)
    if context.analyzer.table_columns(Name(("stream",), name.span)) is not None:
        whole = quoted(statement.source.text, Span(0, len(statement.source.text)))
        return plans.RunSpark(statement.source, whole)  # a column of a table called stream
    fail("WAREHOUSE_STREAM_NOT_FOUND", name.span, name=name.written, similar=context.similar(name, "stream"))


# ------------------------------------------------------------------ GENERATE and models


def _train(context: Context, statement: Generate, relations: Relations) -> plans.Train:
    source = statement.source
    training = generate.bind(context.library(), statement, _input(context, statement, relations))
    table, model = statement.table, statement.model
    if model and (training.after or not training.makes_model):
        fail("WAREHOUSE_GENERATE_NO_MODEL", model.name.span, name=generate.calls_of(statement)[-1].name)
    if table:
        _checked_target(context, "CREATE TABLE", table.name)
        if not table.or_replace and context.analyzer.table_columns(table.name) is not None:
            fail("WAREHOUSE_GENERATE_EXISTS", table.name.span, name=table.name.last, kind="table", word="TABLE")
    entry = context.catalog.model(*context.resolve(model.name)) if model else None
    if model and entry and not model.or_replace:
        fail("WAREHOUSE_GENERATE_EXISTS", model.name.span, name=entry.name, kind="model", word="MODEL")
    return plans.Train(
        source, statement, training,
        ".".join(quote_name(part) for part in table.name.parts) if table else None, bool(table and table.or_replace),
        context.resolve(model.name) if model else None, entry,
    )  # fmt: skip


def _input(context: Context, statement: Generate, relations: Relations) -> generate.Source:
    """Return the rows that GENERATE reads: a table, or a query with what is ours in it replaced."""
    source, read = statement.source, generate.source_of(statement)
    if isinstance(read, Name):
        if context.catalog.kind_of(*context.resolve(read)) == "stream":
            fail("WAREHOUSE_GENERATE_STREAM", read.span, query=f"(SELECT * FROM STREAM {read.span.of(source.text)})")
        query = "SELECT * FROM " + quoted(source.text, read.span)
    else:
        text = Text(source.text, tuple(tokenize(source.text) or ()), read)
        query = Writer(context, text, relations.stream, relations.function(context))(read.span)
    columns = context.analyzer.columns(query)
    distinct_names((column.name, read.span) for column in columns)
    return generate.Source(query, columns, read.span)


def model_named(context: Context, name: Name) -> ModelEntry:
    """Return the model called ``name``; refuses with the nearest name when there is none."""
    entry = context.catalog.model(*context.resolve(name))
    if entry is None:
        fail("WAREHOUSE_MODEL_NOT_FOUND", name.span, name=name.written, similar=context.similar(name, "model"))
    return entry


def _drop_model(context: Context, statement: DropObject) -> plans.Plan:
    if statement.if_exists and context.catalog.model(*context.resolve(statement.name)) is None:
        return plans.Nothing(statement.source, f"no model {statement.name.last}")
    entry = model_named(context, statement.name)
    for table in context.catalog.askers_of(entry.qualified):
        kind = "STREAMING TABLE"
        fail("WAREHOUSE_MODEL_IN_USE", statement.name.span, name=entry.name, kind=kind, reader=table.qualified)
    for view in context.catalog.views():
        query = getattr(parse(SourceText(view.text)), "query", None)
        calls = query.models if query else ()
        if any(context.catalog.model(*call.model.within(view.schema)) is entry for call in calls):
            fail("WAREHOUSE_MODEL_IN_USE", statement.name.span, name=entry.name, kind="VIEW", reader=view.qualified)
    return plans.DropModel(statement.source, entry)


def _describe_learning(context: Context, statement: DescribeObject, name: Name) -> plans.Plan:
    """Return the plan of DESCRIBE MODEL or GENERATOR; a table of that name is described by Spark."""
    found = (
        context.catalog.model(*context.resolve(name))
        if statement.kind == "MODEL"
        else context.library().find(name.last, name.span)
    )
    if found is not None:
        return plans.Describe(statement.source, statement, found)
    if context.analyzer.table_columns(Name((statement.kind.lower(),), name.span)) is not None:
        whole = quoted(statement.source.text, Span(0, len(statement.source.text)))
        return plans.RunSpark(statement.source, whole)
    if statement.kind == "MODEL":
        model_named(context, name)
    told = advice(name.last, context.library().names(), "SHOW GENERATORS lists what there is.")
    fail("WAREHOUSE_GENERATOR_NOT_FOUND", name.span, name=name.last, advice=told)


# ------------------------------------------------------------------ EXPLAIN


def _explain(context: Context, source: SourceText, mode: str, inner: Statement, relations: Relations) -> plans.Plan:
    spark_mode = {"": "simple", "REWRITE": ""}.get(mode, mode.lower())
    try:
        planned = _plan(context, inner, relations)
    except WarehouseError as error:
        offset = len(source.text) - len(inner.source.text)
        raise error.shifted(offset).located_in(source) from None
    if mode == "ANALYZE":
        return _measure(source, inner, planned)
    match planned:
        case plans.RunSpark(fragment=fragment) if mode == "REWRITE":
            return plans.Tell(source, tuple(fragment.text.splitlines()), None)
        case plans.RunSpark(fragment=fragment, keeping=keeping):
            lines = [*_explained(context, inner, relations), *(keeping.lines() if keeping else ())]
            return plans.Tell(source, tuple(lines), fragment, spark_mode)
        case plans.MakeStreamingTable(query=query) if mode == "REWRITE":
            return plans.Tell(source, tuple(explain.step_texts(query)), None)
        case plans.MakeStreamingTable(query=query):
            assert isinstance(inner, CreateStreamingTable)
            text = Text(inner.source.text, tuple(tokenize(inner.source.text) or ()), inner.query)
            writer = Writer(context, text, relations.stream, relations.function(context))
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
        makes = verb in _NAMES_NEW
        computes = verb not in _COMPUTES_NOTHING and (not makes or (kind == "TABLE" and inner.query is not None))
    if not computes:
        first = next(iter(tokenize(inner.source.text) or ()))
        offset = len(source.text) - len(inner.source.text)
        span = Span(first.start + offset, first.end + offset)
        fail("WAREHOUSE_ANALYZE_COMPUTES_NOTHING", span, statement=first.upper)
    return plans.Measure(source, planned)


def _can_run_as_batch(sources: tuple[StreamSource, ...]) -> bool:
    return not any(getattr(s.entry, "format", "") in ("rate", "rate-micro-batch", "socket") for s in sources)


def _explained(context: Context, statement: Statement, relations: Relations) -> Iterator[str]:
    """Yield the lines that explain what is ours in a query that runs once."""
    if isinstance(statement, QueryStatement):
        statement, _ = written_out(statement)
    shape: QueryShape | None = getattr(statement, "query", None)
    if shape is None:
        return
    text = Text(statement.source.text, tuple(tokenize(statement.source.text) or ()), shape)
    writer = Writer(context, text, relations.stream, relations.function(context))
    assignments = writer.assignments()
    for block in shape.blocks:
        if block.clauses and not assignments.is_all(block):
            read = [s for s in shape.streams if block.relation and block.relation.covers(s.span)]
            sources = tuple(resolve(context, text.text, s) for s in read)
            yield from explain.block_lines(writer.bound(block, lambda f: f.text).query, sources)
            yield from explain.batch_lines()
    for window in assignments.windows(shape.span):
        yield from explain.assignment_lines(window)
