"""CREATE, DROP, SHOW and DESCRIBE STREAM: what they change, and what they tell.

A CREATE changes nothing before every question is answered. The catalog's file is written last when a stream
is made and removed last when it is dropped: a stream is either known and whole (``ensure_relation`` mends the
one thing that a crash can leave missing), or unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn, Protocol

from pyspark.sql import SparkSession

from warehouse.catalog.entries import StreamEntry, qualified, quote_name
from warehouse.catalog.store import Catalog
from warehouse.errors import SourceText, fail
from warehouse.execution.analyzer import relation_kind
from warehouse.execution.results import DESCRIBED, STREAMS, Listing
from warehouse.language.parser import parse
from warehouse.language.statements import CreateStream, DescribeObject, DropObject, ShowObjects
from warehouse.planning.replacing.canonical import canonical
from warehouse.planning.streams import streams
from warehouse.planning.streams.streams import StreamPlan
from warehouse.streaming.delta import bad_rows
from warehouse.streaming.sources import new_stream, sources
from warehouse.streaming.sources.sources import quoted


class Context(Protocol):
    """What these statements work on; ``schema`` is the current one."""

    @property
    def spark(self) -> SparkSession:
        """Return the session."""

    @property
    def catalog(self) -> Catalog:
        """Return the catalog."""

    @property
    def schema(self) -> str:
        """Return the current schema."""


@dataclass(frozen=True)
class Acting:
    """A ``Context``."""

    spark: SparkSession
    catalog: Catalog
    schema: str


# ---------------------------------------------------------------- CREATE STREAM


def draft_stream(statement: CreateStream, context: Context) -> StreamEntry:
    """Return the stream that ``create_stream`` would make (or find), changing nothing.

    Raises:
        WarehouseError: something is wrong with it.
    """
    return _drafted(statement, context)[0]


def create_stream(statement: CreateStream, context: Context) -> str:
    """Make a stream, and return one line that says so.

    Raises:
        WarehouseError: something is wrong with it; then nothing was changed.
    """
    entry, old = _drafted(statement, context)
    if entry is old:
        return f"stream {old.qualified} exists"
    folder = context.catalog.home
    if old is None or (not context.catalog.readers_of(entry.qualified) and streams.incompatible(old, entry)):
        bad_rows.drop(folder, entry.schema, entry.name)
    sources.create_relation(context.spark, entry)
    bad_rows.widen(context.spark, folder, entry.schema, entry.name, entry.columns)
    context.catalog.streams.put(entry)
    return f"stream {entry.qualified} {'replaced' if old else 'created'}"


def unheeded(statement: CreateStream, context: Context) -> tuple[str, ...]:
    """Return a warning where IF NOT EXISTS leaves a stream as it is that was declared in other words."""
    old = context.catalog.streams.get(*streams.object_name(statement.name, context.schema))
    if old is None or not statement.if_not_exists:
        return ()
    before = parse(SourceText(old.text))
    assert isinstance(before, CreateStream)
    if canonical(_behind_its_name(statement)) == canonical(_behind_its_name(before)):
        return ()
    kept = f"stream {old.qualified} stays as it was declared, as IF NOT EXISTS says: DROP it, or write OR REPLACE"
    return (f"warning: {kept}",)


def _behind_its_name(statement: CreateStream) -> str:
    return statement.source.text[statement.name.span.end :]


def _drafted(statement: CreateStream, context: Context) -> tuple[StreamEntry, StreamEntry | None]:
    """Return the stream that a statement makes, and the one that has its name: the same where that is to stay."""
    plan = streams.plan_stream(statement, context.schema)
    old = _place(plan, context)
    if old is not None and statement.if_not_exists:
        return old, old
    entry = new_stream.described(context.spark, plan, old)
    readers = context.catalog.readers_of(entry.qualified)
    if old is not None and readers and (reason := streams.incompatible(old, entry)):
        names = ", ".join(table.qualified for table in readers)
        fail("WAREHOUSE_STREAM_REPLACE", statement.name.span, name=entry.qualified, reason=reason, readers=names)
    return entry, old


def _place(plan: StreamPlan, context: Context) -> StreamEntry | None:
    """Return the stream that has the name already, and refuse a name that is not free."""
    statement, name = plan.statement, qualified(plan.schema, plan.name)
    spark, catalog = context.spark, context.catalog
    if not spark.catalog.databaseExists(quoted(plan.schema)):
        fail("WAREHOUSE_SCHEMA_NOT_FOUND", statement.name.span, schema=quote_name(plan.schema))
    kind = catalog.kind_of(plan.schema, plan.name)
    if kind not in (None, "stream"):
        fail("WAREHOUSE_NAME_TAKEN", statement.name.span, name=name, kind=kind)
    old = catalog.streams.get(plan.schema, plan.name)
    if old is None and (taken := relation_kind(spark, (plan.schema, plan.name))):
        fail("WAREHOUSE_NAME_TAKEN", statement.name.span, name=name, kind=taken)
    if old is not None and not (statement.or_replace or statement.if_not_exists):
        fail("WAREHOUSE_STREAM_EXISTS", statement.name.span, name=name)
    return old


# ---------------------------------------------------------------- DROP, SHOW, DESCRIBE


def drop_stream(statement: DropObject, context: Context) -> str:
    """Drop a stream and what was kept of it (never its files), and return one line that says so."""
    entry = dropped_stream(statement, context)
    if entry is None:
        return "there was no such stream"
    forget_stream(entry, context)
    return f"stream {entry.qualified} dropped"


def dropped_stream(statement: DropObject, context: Context) -> StreamEntry | None:
    """Return the stream that ``drop_stream`` would drop, changing nothing.

    Raises:
        WarehouseError: there is none, or it is read.
    """
    entry = _find(statement, context)
    if entry is None:
        if statement.if_exists:
            return None
        _not_found(statement, context)
    readers = context.catalog.readers_of(entry.qualified)
    if readers:
        names = ", ".join(table.qualified for table in readers)
        named = {"name": entry.qualified, "readers": names, "first": readers[0].qualified}
        fail("WAREHOUSE_STREAM_IN_USE", statement.name.span, **named)
    return entry


def forget_stream(entry: StreamEntry, context: Context) -> None:
    """Remove a stream that nothing reads, with what was kept of it."""
    sources.drop_relation(context.spark, entry)
    bad_rows.drop(context.catalog.home, entry.schema, entry.name)
    context.catalog.streams.drop(entry.schema, entry.name)


def show_streams(statement: ShowObjects, context: Context) -> Listing:
    """Return the streams of a schema."""
    schema = statement.schema.last if statement.schema else context.schema
    if statement.schema and not context.spark.catalog.databaseExists(quoted(schema)):
        fail("WAREHOUSE_SCHEMA_NOT_FOUND", statement.schema.span, schema=quote_name(schema))
    there = [s for s in context.catalog.streams.all() if s.schema.lower() == schema.lower()]
    shown = streams.matching((s.name for s in there), statement.pattern)
    return Listing(STREAMS, [(s.schema, s.name, s.format) for s in there if s.name in shown])


def describe_stream(statement: DescribeObject, context: Context) -> Listing:
    """Return the columns of a stream, and with EXTENDED everything else that is known of it."""
    entry = _find(statement, context)
    if entry is None:
        _not_found(statement, context)
    rows: list[tuple[str | None, ...]] = [*streams.description(entry, statement.extended)]
    return Listing(DESCRIBED, rows)


def _find(statement: DropObject | DescribeObject, context: Context) -> StreamEntry | None:
    schema, name = streams.object_name(statement.name, context.schema)
    return context.catalog.streams.get(schema, name)


def _not_found(statement: DropObject | DescribeObject, context: Context) -> NoReturn:
    schema, name = streams.object_name(statement.name, context.schema)
    meant = streams.close_to(
        name, (s.name for s in context.catalog.streams.all() if s.schema.lower() == schema.lower()), 0.6
    )
    similar = f"did you mean {meant}?" if meant else "SHOW STREAMS lists what there is."
    kind = context.catalog.kind_of(schema, name) or relation_kind(context.spark, (schema, name))
    if kind:
        similar = f"{qualified(schema, name)} is a {kind}."
    fail("WAREHOUSE_STREAM_NOT_FOUND", statement.name.span, name=qualified(schema, name), similar=similar)
