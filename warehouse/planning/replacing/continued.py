"""The query of a streaming table that took the place of another, as its state has it."""

from __future__ import annotations

import re
from dataclasses import replace

from warehouse.catalog.entries import StreamingTableEntry, quote_name
from warehouse.dataflow.query import Output
from warehouse.dataflow.triggers import Node
from warehouse.errors import fail
from warehouse.language.fragments import Fragment
from warehouse.planning.queries.streaming_query import HIDDEN, StreamingQuery

_KEY = re.compile(r"\b__w_k(\d+)\b")


def as_kept(query: StreamingQuery, entry: StreamingTableEntry) -> StreamingQuery:
    """Return the query that ``entry.text`` says with its keys in the state's order, and what was closed before it.

    Columns that ``SELECT *`` has got since it was made are none of the table's, as they are none of a view's.

    Raises:
        WarehouseError: rows are told apart by such columns too (``SELECT DISTINCT *``).
    """
    query = _of_columns(query, entry)
    order = tuple(map(int, entry.key_order))
    if query.windowed is None:
        return query
    query = reordered(query, order) if order else query
    assert query.windowed
    return replace(query, windowed=replace(query.windowed, closed=entry.closed))


def _of_columns(query: StreamingQuery, entry: StreamingTableEntry) -> StreamingQuery:
    known = {column.name.lower() for column in entry.columns}
    added = [column.name for column in query.columns if column.name.lower() not in known]
    if not added:
        return query
    if query.windowed:
        fail("WAREHOUSE_SOURCE_COLUMNS_ADDED", name=entry.name, columns=", ".join(added))
    columns = tuple(column for column in query.columns if column.name.lower() in known)
    listed = ", ".join(quote_name(column.name) for column in columns)
    return replace(query, input=f"SELECT {listed}, {HIDDEN} FROM (" + query.input + ")", columns=columns)


def reordered(query: StreamingQuery, order: tuple[int, ...]) -> StreamingQuery:
    """Return ``query`` with its group keys in another order: first the one at position ``order[0]``, and so on."""
    block = query.windowed
    assert block and sorted(order) == list(range(len(block.keys)))
    place = {was: now for now, was in enumerate(order)}

    def sql(text: str) -> str:
        return _KEY.sub(lambda found: f"__w_k{place[int(found[1])]}", text)

    def output(o: Output) -> Output:
        return replace(o, sql=sql(o.sql))

    def node(n: Node) -> Node:
        return replace(n, condition=sql(n.condition), parts=tuple(map(node, n.parts)))

    pieces = tuple(p if p.copied else replace(p, text=sql(p.text)) for p in query.input.pieces)
    windowed = replace(
        block, keys=tuple(block.keys[was] for was in order), outputs=tuple(map(output, block.outputs)),
        having=sql(block.having) if block.having else None, trigger=node(block.trigger),
    )  # fmt: skip
    named = tuple((sql(name), text) for name, text in query.named)
    return replace(query, input=Fragment(pieces), windowed=windowed, named=named)
