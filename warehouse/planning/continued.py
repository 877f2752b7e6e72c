"""The query of a streaming table that took the place of another, as its state has it."""

from __future__ import annotations

import re
from dataclasses import replace

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.dataflow.query import Output
from warehouse.dataflow.triggers import Node
from warehouse.language.fragments import Fragment
from warehouse.planning.streaming_query import StreamingQuery

_KEY = re.compile(r"\b__w_k(\d+)\b")


def as_kept(query: StreamingQuery, entry: StreamingTableEntry) -> StreamingQuery:
    """Return the query that ``entry.text`` says with its keys in the state's order, and what was closed before it."""
    order = tuple(map(int, entry.key_order))
    if query.windowed is None:
        return query
    query = reordered(query, order) if order else query
    assert query.windowed
    return replace(query, windowed=replace(query.windowed, closed=entry.closed))


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
