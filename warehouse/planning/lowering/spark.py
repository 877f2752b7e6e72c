"""Spark's own statements: handed on as they are written, or with what is ours in them replaced."""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from warehouse.catalog.entries import ViewEntry, qualified
from warehouse.errors import SourceText, Span, WarehouseError, fail, without_secrets
from warehouse.language.fragments import Fragment, of, quoted, rewritten
from warehouse.language.literals import split_name, string_literal
from warehouse.language.parser import parse
from warehouse.language.statements import DescribeObject, Name, QueryStatement, SparkStatement
from warehouse.language.tokens import tokenize
from warehouse.language.view_scope import view_scope
from warehouse.planning import distribution, plans
from warehouse.planning.context import Context
from warehouse.planning.lowering.relations import Relations
from warehouse.planning.lowering.schemas import dropped_with
from warehouse.planning.models.predictions import refuse_in_view
from warehouse.planning.queries.expand import pointed_back
from warehouse.planning.queries.render import Writer
from warehouse.planning.streams.options import close_to
from warehouse.planning.streams.sources import check_references
from warehouse.planning.words.named_windows import next_use, written_out

NAMES_NEW = ("CREATE", "REPLACE")

_OURS = "warehouse."
"""What the names of the warehouse's own settings begin with."""

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
"""The verbs that may put rows into a table, say how these are laid out, or begin another version of it."""

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


def passed_through(context: Context, statement: SparkStatement) -> plans.RunSpark:
    """Return the plan of a statement that holds nothing of ours; it may name what is."""
    source = statement.source
    if statement.verb in ("SET", "RESET"):
        _check_setting(context, source)
    if statement.verb == "SHOW CREATE" and (made := _as_made(context, statement.target)):
        return plans.RunSpark(source, of(f"SELECT {string_literal(made)} AS createtab_stmt"))
    forget = checked_target(context, statement.verb, statement.target)
    keep = None
    if forget and statement.verb == "ALTER VIEW" and statement.target:
        forget, keep = _altered(context, statement, statement.target, forget)
    layout, edits = _layout(context, statement.source, statement.verb, statement.target)
    whole = rewritten(source.text, Span(0, len(source.text)), edits)
    target = statement.target.last if statement.target else None
    drops = dropped_with(context, statement)
    reshapes = statement.target if _reshapes(statement) else None
    return plans.RunSpark(
        source, whole, target, keep_view=keep, forget_view=forget, drops=drops, layout=layout, reshapes=reshapes,
        lists=statement.verb.startswith("SHOW"), counts=_COUNTS.get(statement.verb, ()),
    )  # fmt: skip


def column_described(context: Context, statement: DescribeObject, name: Name) -> plans.RunSpark | None:
    """Return the plan of DESCRIBE where the word for the kind is the name of a table, and ``name`` its column's."""
    if context.analyzer.table_columns(Name((statement.kind.lower(),), name.span)) is None:
        return None
    return plans.RunSpark(statement.source, quoted(statement.source.text, Span(0, len(statement.source.text))))


def rewritten_query(context: Context, statement: QueryStatement, relations: Relations) -> plans.RunSpark:
    """Return the plan of a statement whose query holds something of ours, replaced in its text."""
    source = statement.source
    forget = checked_target(context, statement.verb, statement.target)
    _refuse_layout(statement)
    check_references(context, source.text, statement.query)
    whole = Span(0, len(source.text))
    writer = relations.writer(context, source, statement.query)
    if next_use(writer.text):
        plain, way = written_out(statement)
        try:
            planned = rewritten_query(context, plain, relations)
        except WarehouseError as error:
            raise pointed_back(error, way, source) from None
        keep = planned.keep_view and replace(planned.keep_view, text=source.text)
        return replace(planned, source=source, fragment=planned.fragment.through(way), keep_view=keep)
    layout, edits = _layout(context, source, statement.verb, statement.target, writer)
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
        layout,
        counts=_COUNTS.get(statement.verb, ()),
    )


def checked_target(context: Context, verb: str, target: Name | None) -> ViewEntry | None:
    """Refuse to touch what we maintain; return the view of ours that the statement drops or replaces."""
    if target is None or verb.split(" ")[0] in _READS_ONLY:
        return None
    schema, name = context.resolve(target)
    kind = context.catalog.kind_of(schema, name)
    creates = verb.split(" ")[0] in NAMES_NEW
    if kind == "streaming table":
        fail("WAREHOUSE_STREAMING_TABLE_IS_MAINTAINED", target.span, name=name, verb=verb)
    if kind == "stream" and creates and ("TABLE" in verb or "VIEW" in verb):
        fail("WAREHOUSE_NAME_TAKEN", target.span, name=name, kind="stream")
    return context.catalog.views.get(schema, name)


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


def _check_setting(context: Context, source: SourceText) -> None:
    """Refuse a setting of ours that there is not: Spark keeps whatever it is told, and nobody would ask for it."""
    words = list(takewhile(lambda word: word.text != "=", (tokenize(source.text) or ())[1:]))
    if not words:
        return
    span, known = Span(words[0].start, words[-1].end), context.analyzer.switches()
    name = span.of(source.text).strip("`")
    ours, of_ours = name[: len(_OURS)], name[len(_OURS) :]
    if ours.lower() == _OURS and " " not in of_ours and name not in known:
        meant = close_to(of_ours, (switch.removeprefix(_OURS) for switch in known), 0.6)
        advice = f"did you mean {_OURS}{meant}?" if meant else "SET -v lists what there is, with what it is for."
        fail("WAREHOUSE_SWITCH_UNKNOWN", span, setting=name, advice=advice)


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
    ours = context.catalog
    found = ours.streaming_tables.get(schema, last) or ours.views.get(schema, last) or ours.streams.get(schema, last)
    return without_secrets(found.text) if found else None


def _layout(
    context: Context, source: SourceText, verb: str, target: Name | None, writer: Writer | None = None
) -> tuple[distribution.LayoutChange | None, distribution.Edits]:
    """Return what a statement asks of how its table is laid out, and the edits that this takes."""
    if target is None or verb not in _WRITES:
        return None, []

    def analyzable(span: Span) -> Fragment:
        return writer(span) if writer else quoted(source.text, span)

    if verb in ("CREATE TABLE", "REPLACE TABLE"):
        layout, edits = distribution.created(context, source, target, analyzable)
        return (None if _stays(context, source, target) else layout), edits
    return distribution.written(context, source, target, verb, analyzable)


def _stays(context: Context, source: SourceText, target: Name) -> bool:
    """Say whether a CREATE does nothing: IF NOT EXISTS, of what is there."""
    before = [token.upper for token in tokenize(source.text) or () if token.end <= target.span.start]
    return "EXISTS" in before and context.analyzer.table_columns(target) is not None


def _refuse_layout(statement: QueryStatement) -> None:
    """Refuse functions of ours in what Spark would keep as they were answered once."""
    if statement.verb == "CREATE FUNCTION" and statement.query.functions:
        call = statement.query.functions[0]
        fail("WAREHOUSE_RELATION_IN_FUNCTION", call.span, relation=call.span.of(statement.source.text))
    if statement.verb.endswith("VIEW") and not view_scope(statement.source.text):
        for call in statement.query.functions:
            if call.function in ("partition_stats", "cache_stats"):
                fail("WAREHOUSE_STATS_IN_VIEW", call.span, function=call.function)
