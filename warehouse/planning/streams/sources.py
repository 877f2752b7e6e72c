"""What a ``STREAM name`` stands for: a declared stream, a Delta table, or the changes of a streaming table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum, auto

from warehouse.catalog.entries import Column, StreamEntry, StreamingTableEntry, quote_name
from warehouse.errors import Span, fail
from warehouse.language.fragments import Fragment, quoted, rewritten
from warehouse.language.statements import Mode, QueryShape, StreamReference
from warehouse.language.tokens import tokenize
from warehouse.planning.context import Context
from warehouse.planning.lengths import length_or_zero
from warehouse.planning.streams.streams import check_watermark_type, empty_relation
from warehouse.planning.words import scan


class SourceKind(Enum):
    """What is read."""

    STREAM = auto()
    DELTA = auto()
    CHANGES = auto()
    PANES = auto()


@dataclass(frozen=True)
class StreamSource:
    """A resolved STREAM reference.

    Attributes:
        name: qualified name, as SQL text.
        columns: what a reader may name.
        entry: the stream's or streaming table's entry; None for a plain table.
        watermark: SQL of the timestamp and the delay in microseconds, or None when the source has none of its
            own (then a reader of a streaming table takes that table's).
    """

    kind: SourceKind
    reference: StreamReference
    name: str
    columns: tuple[Column, ...]
    entry: StreamEntry | StreamingTableEntry | None
    watermark: tuple[str, int] | None

    @property
    def alias(self) -> str:
        """Return the alias under which the reader names it, as SQL text."""
        return self.reference.alias or quote_name(self.reference.name.last)

    @property
    def complete(self) -> bool:
        """Say whether each step of it is complete: a replay's micro-batch, from the beginning of time to its end."""
        if not isinstance(self.entry, StreamEntry) or not self.bounded:
            return False
        return (self.entry.option("watermark") or "").strip().lower() == "complete"

    @property
    def bounded(self) -> bool:
        """Say whether the source ends: a replay does."""
        return isinstance(self.entry, StreamEntry) and self.entry.format == "replay"

    @property
    def retracts(self) -> bool:
        """Say whether rows that were read can be taken back: those of a RETRACTING table can."""
        if self.kind is not SourceKind.CHANGES or not isinstance(self.entry, StreamingTableEntry):
            return False
        return self.entry.mode == Mode.RETRACTING.name

    @property
    def replaces(self) -> bool:
        """Say whether a pane that was read can be replaced by a later one: in an ACCUMULATING table that repeats."""
        if self.kind is not SourceKind.CHANGES or not isinstance(self.entry, StreamingTableEntry):
            return False
        return self.entry.mode == Mode.ACCUMULATING.name and self.entry.repeats

    @property
    def has_watermark(self) -> bool:
        """Say whether a watermark moves while the source is read."""
        return self.watermark is not None or self.kind is SourceKind.CHANGES or self.bounded


PANE_COLUMNS = (
    Column("_change_type", "string"),
    Column("_pane_timing", "string"),
    Column("_pane_index", "int"),
    Column("_emitted_at", "timestamp"),
    Column("_watermark", "timestamp"),
    Column("_step", "bigint"),
)


def resolve(context: Context, text: str, reference: StreamReference) -> StreamSource:
    """Return what ``reference`` stands for.

    Args:
        context: where the statement is planned.
        text: the statement.
        reference: the STREAM reference in it.

    Raises:
        WarehouseError: nothing of that name can be read as a stream.
    """
    source, own = _found(context, reference), reference.watermark
    if own is None:
        return source
    delay = length_or_zero(text, own.delay, "A watermark's delay")
    return replace(source, watermark=(watermark_value(text, source).text, delay))


def watermark_value(text: str, source: StreamSource) -> Fragment:
    """Return what a query's own watermark is of, over the columns of ``source``: no name or alias is in front of them.

    Spark knows the stream by its name there, as its alias comes after the watermark: either of them will do.
    """
    reference = source.reference
    assert reference.watermark
    written = quoted(text, reference.watermark.column)
    aliases = {source.alias.strip("`").lower(), reference.name.last.lower()}
    columns = {column.name.lower() for column in source.columns}
    edits = scan.without_qualifiers(tokenize(written.text) or (), aliases, columns)
    return rewritten(written.text, Span(0, len(written.text)), edits).through(written)


def _found(context: Context, reference: StreamReference) -> StreamSource:
    """Return what ``reference`` names, without a watermark of the query's own."""
    schema, name = context.resolve(reference.name)
    table = context.catalog.streaming_tables.get(schema, name)
    if table is not None:
        kind = SourceKind.PANES if reference.panes else SourceKind.CHANGES
        columns = table.columns + (PANE_COLUMNS if reference.panes else ())
        return StreamSource(kind, reference, table.qualified, columns, table, None)
    if reference.panes:
        fail(
            "WAREHOUSE_STREAMING_TABLE_NOT_FOUND",
            reference.name.span,
            name=reference.name.written,
            similar=context.similar(reference.name, "streaming table"),
        )
    stream = context.catalog.streams.get(schema, name)
    if stream is not None:
        watermark = (stream.watermark_column, stream.watermark_delay or 0) if stream.watermark_column else None
        return StreamSource(SourceKind.STREAM, reference, stream.qualified, stream.columns, stream, watermark)
    found = context.analyzer.table_columns(reference.name)
    if found is None:
        similar = context.similar(reference.name, "stream", "streaming table")
        fail("WAREHOUSE_STREAM_NOT_FOUND", reference.name.span, name=reference.name.written, similar=similar)
    qualified = ".".join(quote_name(part) for part in reference.name.parts)
    return StreamSource(SourceKind.DELTA, reference, qualified, found, None, None)


def check_references(context: Context, text: str, query: QueryShape) -> None:
    """Refuse what a new statement says of the streams that it reads and that cannot be.

    Options behind a stream would not be followed. Streaming tables that were made with some go on without: they never
    did anything. A watermark has to be a timestamp of the stream's own columns.

    Args:
        context: where the statement is planned.
        text: the statement.
        query: the shape of its query.

    Raises:
        WarehouseError: there is something of that kind.
    """
    for reference in query.streams:
        if reference.options:
            fail("WAREHOUSE_STREAM_OPTIONS_IN_QUERY", reference.options, name=reference.name.written)
        if reference.watermark:
            source, column = resolve(context, text, reference), reference.watermark.column
            made = "SELECT " + watermark_value(text, source) + f" FROM {empty_relation(source.columns)}"
            check_watermark_type(context.analyzer.columns(made)[0].type, column, text)


STREAM_MARK = "__w_stream"
"""Stands in a filter over each stream in a plan that is analyzed."""


def typed_empty(columns: tuple[Column, ...]) -> str:
    """Return a relation of ``columns`` without rows, to analyze against, in the place of a stream."""
    return empty_relation(columns, f"'{STREAM_MARK}' IS NULL")
