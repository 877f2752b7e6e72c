"""Delta tables that are read row by row and whose columns have got wider types since.

What a streaming table keeps, state and panes, is of the types that its query came to when it was made. Where the query
comes to the same ones still, as a sum of INT and one of BIGINT do, it reads on; else only a new start is right.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.catalog.store import write_atomically
from warehouse.dataflow.state_columns import content_types, out_type
from warehouse.errors import fail
from warehouse.execution.types import type_text
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.planning.streams.sources import SourceKind, StreamSource
from warehouse.streaming.delta import delta_tables, late_table

_FILE = "types.json"


def is_as_bound(session: SparkSession, source: StreamSource) -> bool:
    """Say whether a query knows all columns of a Delta table, by the types that they have."""
    if source.kind is not SourceKind.DELTA:
        return True
    with suppress(AnalysisException):  # reading it tells what is wrong with it
        present = {f.name: type_text(f.dataType) for f in session.table(source.name).schema.fields}
        known = {c.name: c.type for c in source.columns}
        return present.keys() <= known.keys() and all(known[name] == kind for name, kind in present.items())
    return True


def check(session: SparkSession, folder: Path, entry: StreamingTableEntry, query: StreamingQuery) -> None:
    """Note the types that a query, bound just now, reads and keeps, or compare them with those that were noted.

    Args:
        session: for Delta tables of ours that follow.
        folder: the streaming table's.
        entry: its entry; under another text its query is another one, which is noted anew.
        query: its query.

    Raises:
        WarehouseError: a column that is read has another type, and so would what is kept.
    """
    now = _types(entry, query)
    if not now["read"]:
        return
    file = folder / _FILE
    then = json.loads(file.read_text()) if file.exists() else now
    changed = _changed(then, now) if then["text"] == now["text"] else []
    if changed and then["kept"] != now["kept"]:
        fail("WAREHOUSE_SOURCE_TYPE_CHANGED", name=entry.name, changes=", ".join(changed))
    if changed and delta_tables.exists(folder / late_table.FOLDER):
        delta_tables.let_types_widen(session, folder / late_table.FOLDER)
    if now != then or not file.exists():
        write_atomically(file, json.dumps(now))


def _types(entry: StreamingTableEntry, query: StreamingQuery) -> dict[str, Any]:
    read = {s.name: {c.name: c.type for c in s.columns} for s in query.sources if s.kind is SourceKind.DELTA}
    kept: list[Any] = [[c.name, c.type] for c in query.columns]
    if query.windowed:
        kept += [list(query.windowed.keys), content_types(query.windowed), out_type(query.windowed)]
    return {"text": hashlib.sha256(entry.text.encode()).hexdigest(), "read": read, "kept": kept}


def _changed(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return, in words, which columns have other types now."""
    return [
        f"{column} of {table} was {known[column].upper()} and is {kind.upper()}"
        for table, columns in now["read"].items()
        for known in [then["read"].get(table, {})]
        for column, kind in columns.items()
        if known.get(column, kind) != kind
    ]
