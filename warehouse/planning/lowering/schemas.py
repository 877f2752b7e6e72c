"""DROP SCHEMA: what of ours goes with the schema, and what stands in its way."""

from __future__ import annotations

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.errors import WarehouseError, fail
from warehouse.language.cursor import Cursor
from warehouse.language.statements import Name, SparkStatement
from warehouse.language.tokens import tokenize
from warehouse.planning.context import Context
from warehouse.planning.plans import Held

DROPS = ("DROP SCHEMA", "DROP DATABASE", "DROP NAMESPACE")


def dropped_with(context: Context, statement: SparkStatement) -> Held:
    """Return our objects that the statement drops with their schema, readers before what they read.

    Raises:
        WarehouseError: there are some and the statement does not say CASCADE, or a streaming table of another
            schema reads them.
    """
    if statement.verb not in DROPS:
        return ()
    named = _schema(statement)
    if named is None:
        return ()
    catalog, schema = context.catalog, named.last.lower()
    tables = [t for t in catalog.streaming_tables.all() if t.schema.lower() == schema]
    streams = [s for s in catalog.streams.all() if s.schema.lower() == schema]
    views = [v for v in catalog.views.all() if v.schema.lower() == schema]
    models = [m for m in catalog.models.all() if m.schema.lower() == schema]
    held = [*tables, *streams, *models]
    if held and not statement.source.text.rstrip().rstrip(";").rstrip().upper().endswith("CASCADE"):
        names = ", ".join(entry.qualified for entry in held)
        fail("WAREHOUSE_SCHEMA_NOT_EMPTY", named.span, schema=named.last, names=names)
    for entry in held:
        readers = [*catalog.readers_of(entry.qualified), *catalog.askers_of(entry.qualified)]
        outside = [r for r in readers if r.schema.lower() != schema]
        if outside:
            fail(
                "WAREHOUSE_SCHEMA_IS_READ", named.span, schema=named.last, name=entry.qualified,
                reader=outside[0].qualified,
            )  # fmt: skip
    return (*_readers_first(tables), *streams, *views, *models)


def _schema(statement: SparkStatement) -> Name | None:
    """Return the schema's name, None when it is not written as a name."""
    cursor = Cursor(statement.source, tokenize(statement.source.text) or [])
    cursor.at += 2
    cursor.accept("IF", "EXISTS")
    try:
        return cursor.name("DROP SCHEMA", "DROP SCHEMA sales")
    except WarehouseError:
        return None


def _readers_first(tables: list[StreamingTableEntry]) -> list[StreamingTableEntry]:
    ordered: list[StreamingTableEntry] = []
    left = list(tables)
    while left:
        free = [
            t for t in left if not any(t.qualified.lower() in map(str.lower, o.sources) for o in left if o is not t)
        ]
        ordered += free or left
        left = [t for t in left if t not in ordered]
    return ordered
