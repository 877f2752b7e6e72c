"""A statement that creates something in; what there is already under that name, out."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.errors import SourceText
from warehouse.language.parser import parse
from warehouse.language.statements import CreateStreamingTable, Name, QueryStatement, SparkStatement, Statement
from warehouse.planning.canonical import canonical
from warehouse.planning.context import Context


@dataclass(frozen=True)
class Standing:
    """What there is under a name.

    Attributes:
        kind: ``stream``, ``streaming table``, ``table`` or ``view``.
        same: it is a streaming table, and the statement says what made it, whatever the case, blanks and comments.
    """

    kind: str
    same: bool = False


def standing(context: Context, statement: Statement) -> Standing | None:
    """Return what there is under the name that a statement creates; None where that is nothing."""
    match statement:
        case CreateStreamingTable(name=name):
            entry = context.catalog.streaming_table(*context.resolve(name))
            if entry:
                return Standing("streaming table", _words(statement) == _words(_as_made(entry)))
        case SparkStatement(target=Name() as name) | QueryStatement(target=Name() as name):
            pass
        case _:
            return None
    kind = context.catalog.kind_of(*context.resolve(name)) or context.analyzer.relation_kind(name)
    return Standing(kind) if kind else None


def _as_made(entry: StreamingTableEntry) -> CreateStreamingTable:
    statement = parse(SourceText(entry.text))
    assert isinstance(statement, CreateStreamingTable)
    return statement


def _words(statement: CreateStreamingTable) -> tuple[object, ...]:
    """Return what a statement says of the table that it makes, but for its name."""
    query = canonical(statement.query.span.of(statement.source.text))
    return query, statement.comment, sorted(statement.properties)
