"""Statements about streaming tables and the streams that they read."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

from warehouse.catalog.entries import Pairs, StreamingTableEntry, new_id
from warehouse.errors import SourceText, WarehouseError, fail
from warehouse.language.statements import CreateStreamingTable, DescribeObject, Mode, Name, QueryShape
from warehouse.planning import distribution, plans
from warehouse.planning.context import Context
from warehouse.planning.explaining import explain
from warehouse.planning.lowering.relations import Relations
from warehouse.planning.lowering.spark import column_described
from warehouse.planning.models.predictions import asked
from warehouse.planning.queries.bind_streaming import bind_streaming
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.planning.replacing.replacement import Verdict, Version, harm, judge, rebuild, with_readers
from warehouse.planning.streams.sources import check_references

_TABLE_NAME = re.compile(r"\w+", re.ASCII)
"""What a view may be called in Spark's catalog, as which a streaming table is read."""


def made(context: Context, statement: CreateStreamingTable, relations: Relations) -> plans.Plan:
    """Return the plan of CREATE STREAMING TABLE: a new one, one in the place of another, or nothing to do."""
    schema, name = context.resolve(statement.name)
    if not _TABLE_NAME.fullmatch(name):
        fail("WAREHOUSE_TABLE_NAME", statement.name.span, name=statement.name.written)
    kind = context.catalog.kind_of(schema, name)
    old = context.catalog.streaming_tables.get(schema, name)
    if old and statement.if_not_exists:
        return plans.Nothing(statement.source, f"streaming table {name} exists")
    if old is None and (kind is not None or context.analyzer.table_columns(statement.name) is not None):
        fail("WAREHOUSE_NAME_TAKEN", statement.name.span, name=name, kind=(kind or "table or view").lower())
    if old and not statement.or_replace:
        fail("WAREHOUSE_NAME_TAKEN", statement.name.span, name=name, kind="streaming table")
    check_references(context, statement.source.text, statement.query)
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
        after.streaming_tables.put(verdict.entry)
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


def table_named(context: Context, name: Name) -> StreamingTableEntry:
    """Return the streaming table called ``name``; refuses with the nearest name when there is none."""
    schema, last = context.resolve(name)
    entry = context.catalog.streaming_tables.get(schema, last)
    if entry is None:
        similar = context.similar(name, "streaming table")
        fail("WAREHOUSE_STREAMING_TABLE_NOT_FOUND", name.span, name=name.written, similar=similar)
    return entry


def described_stream(context: Context, statement: DescribeObject, name: Name) -> plans.Plan:
    """Return the plan of DESCRIBE STREAM; a column of a table called ``stream`` is described by Spark."""
    if of_spark := column_described(context, statement, name):
        return of_spark
    entry = context.catalog.streams.get(*context.resolve(name))
    if entry is not None:
        return plans.Describe(statement.source, statement, entry)
    fail("WAREHOUSE_STREAM_NOT_FOUND", name.span, name=name.written, similar=context.similar(name, "stream"))
