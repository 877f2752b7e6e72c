"""The batch answer: the stages of a step run once over all rows, every window complete."""

from __future__ import annotations

from dataclasses import replace

from warehouse.dataflow.outcome import with_finals
from warehouse.dataflow.partials import assigned, partials, whole_sessions
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.select import columns
from warehouse.dataflow.times import BEGINNING
from warehouse.dataflow.triggers import Kind, Node
from warehouse.dataflow.windows import merges


def answer(query: WindowedQuery, source: str) -> str:
    """Return SQL for the batch answer: the same stages run once over all rows, every window complete.

    Beside the outputs ``o…`` stand the bounds of each window, ``__w_start`` and ``__w_end``.

    Args:
        query: the block.
        source: the *input* relation (``__w_arrival`` may be any constant).
    """
    values = columns(tuple(f"CAST({o.sql} AS {o.type}) AS o{i}" for i, o in enumerate(query.outputs)))
    values = columns(values, "__w_start", "__w_end")
    query = replace(query, trigger=Node(Kind.AT_WATERMARK, 0), once=False)
    windows = partials(query, f"({assigned(query, source)})", f"{BEGINNING}L")
    if merges(query.window):
        windows = whole_sessions(query, windows)
    finals = with_finals(query, windows)
    having = f" WHERE {query.having}" if query.having else ""
    return f"SELECT {values} FROM ({finals}){having}"
