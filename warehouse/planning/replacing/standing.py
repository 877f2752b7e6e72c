"""A statement that creates something in; what there is already under that name, out."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.catalog.entries import StreamingTableEntry, qualified
from warehouse.errors import SourceText
from warehouse.language.names import quote_name
from warehouse.language.parser import parse
from warehouse.language.statements import CreateStreamingTable, Name, QueryStatement, SparkStatement, Statement
from warehouse.planning.context import Context
from warehouse.planning.queries.expand import view_query
from warehouse.planning.replacing.canonical import canonical
from warehouse.planning.streams.streams import SPARK_CATALOG

OF_PROJECT = "warehouse.project"
"""A property of tables that hold what a query of a project comes to, and can be made again by it."""


@dataclass(frozen=True)
class Standing:
    """What there is under a name.

    Attributes:
        kind: ``stream``, ``streaming table``, ``table`` or ``view``.
        same: it is a streaming table, and the statement says what made it, whatever the case, blanks and comments, of
            views that say what they said.
        of_project: it holds no rows but what a query of a project comes to: a view, or a table with ``OF_PROJECT``.
        readers: the streaming tables that read it.
    """

    kind: str
    same: bool = False
    of_project: bool = False
    readers: tuple[str, ...] = ()


def standing(context: Context, statement: Statement) -> Standing | None:
    """Return what there is under the name that a statement creates; None where that is nothing."""
    match statement:
        case CreateStreamingTable(name=name):
            entry = context.catalog.streaming_tables.get(*context.resolve(name))
            if entry:
                same = _words(statement) == _words(_as_made(entry)) and _has_its_views(context, entry)
                return Standing("streaming table", same)
        case SparkStatement(target=Name() as name) | QueryStatement(target=Name() as name):
            pass
        case _:
            return None
    schema, last = context.resolve(name)
    kind = context.catalog.kind_of(schema, last) or context.analyzer.relation_kind(name)
    if kind is None:
        return None
    of_project = kind == "view" or (kind == "table" and OF_PROJECT in (context.analyzer.table_properties(name) or {}))
    readers = tuple(t.qualified for t in context.catalog.streaming_tables.all() if _reads(t, schema, last))
    return Standing(kind, of_project=of_project, readers=readers)


def _has_its_views(context: Context, entry: StreamingTableEntry) -> bool:
    """Say whether the views that a table's query was written out with say the same now."""
    now = {view.qualified: view.text for view in context.catalog.views.all()}
    return all(
        name in now and canonical(view_query(text)) == canonical(view_query(now[name])) for name, text in entry.views
    )


def _reads(reader: StreamingTableEntry, schema: str, name: str) -> bool:
    """Say whether a streaming table reads what has that name; sources that are tables are named as written."""
    whole = qualified(schema, name).lower()
    names = {whole, f"{SPARK_CATALOG}.{whole}"}
    if reader.current.lower() == schema.lower():
        names.add(quote_name(name).lower())
    return any(source.lower() in names for source in reader.sources)


def _as_made(entry: StreamingTableEntry) -> CreateStreamingTable:
    statement = parse(SourceText(entry.text))
    assert isinstance(statement, CreateStreamingTable)
    return statement


def _words(statement: CreateStreamingTable) -> tuple[object, ...]:
    """Return what a statement says of the table that it makes, but for its name."""
    query = canonical(statement.query.span.of(statement.source.text))
    return query, statement.comment, sorted(statement.properties)
