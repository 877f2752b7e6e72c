"""Window assignment alone: every row with every window it falls into, nothing grouped and nothing merged later.

Source: the Dataflow Model, section 2.2.1 (AssignWindows; for sessions, MergeWindows over all rows that are there).
A row without a time is in no window, nor is one whose windows would reach an end of time.
"""

from __future__ import annotations

from warehouse.dataflow.select import columns
from warehouse.dataflow.slots import intervals_united
from warehouse.dataflow.times import is_in_time
from warehouse.dataflow.windows import (
    Custom,
    Fixed,
    Global,
    Sessions,
    Sliding,
    Window,
    are_in_time,
    reach,
    windows_of_slice,
)

ASSIGNED = "__w_windows"
"""The name by which the columns ``window_start`` and ``window_end`` of ``lateral_view`` go."""

_BOUNDS = "window_start, window_end"


def lateral_view(window: Fixed | Sliding | Global | Custom, time: str, own: str = "") -> str:
    """Return SQL to stand behind a relation: it adds the bounds of a row's windows, one row for each.

    Args:
        window: of a kind whose rows know their windows by themselves.
        time: SQL over the relation's columns.
        own: of windows of the user's own, SQL for the array of a row's.
    """
    at, placed = micros(time), is_placed(window, time, own)
    match window:
        case Global():
            nothing = "CAST(NULL AS TIMESTAMP)"
            windows = f"array({_bounds(nothing, nothing)})"
        case Fixed(size, offset):
            start = f"{at} - pmod({at} - {offset}L, {size}L)"
            one = _bounds(f"timestamp_micros({start})", f"timestamp_micros({start} + {size}L)")
            windows = f"CASE WHEN {placed} THEN array({one}) END"
        case Sliding(size=size):
            each = _bounds("timestamp_micros(__w_b)", f"timestamp_micros(__w_b + {size}L)")
            starts = f"CASE WHEN {placed} THEN {windows_of_slice(window, at)} END"
            windows = f"transform({starts}, __w_b -> {each})"
        case Custom():
            each = _bounds("timestamp_micros(__w_b.ws)", "timestamp_micros(__w_b.we)")
            windows = f"CASE WHEN {placed} THEN transform({own}, __w_b -> {each}) END"
    return f" LATERAL VIEW inline({windows}) {ASSIGNED} AS {_BOUNDS}"


def is_placed(window: Window, time: str, own: str = "") -> str:
    """Return SQL that says whether a row falls into a window, NULL where it has no time; see ``lateral_view``."""
    return are_in_time(own) if isinstance(window, Custom) else is_in_time(micros(time), reach(window))


def _bounds(start: str, end: str) -> str:
    return f"named_struct('s', {start}, 'e', {end})"


def micros(time: str) -> str:
    """Return SQL for a time expression in microseconds."""
    return f"unix_micros(CAST(({time}) AS TIMESTAMP))"


def sessions(window: Sessions, relation: str, time: str, gap: str, keys: tuple[str, ...]) -> str:
    """Return SQL for the rows of a relation with the bounds of their sessions behind their columns.

    Args:
        window: the sessions.
        relation: what stands behind FROM, with a WHERE perhaps.
        time: SQL over its columns.
        gap: SQL for the row's gap in microseconds; rows where it is not positive are left out.
        keys: SQL for what the sessions belong to.
    """
    named = tuple(f"__w_k{i}" for i in range(len(keys)))
    timed = is_in_time("ws", reach(window))
    listed = tuple(f"{key} AS {name}" for key, name in zip(keys, named, strict=True))
    proto = columns("struct(*) AS __w_all", listed, f"{micros(time)} AS ws", f"{gap} AS __w_gap")
    proto = f"SELECT *, ws + __w_gap AS we FROM (SELECT {proto} FROM {relation}) WHERE {timed} AND __w_gap > 0"
    by = f"PARTITION BY {columns(named, 'g')}"
    united = intervals_united(window, f"({proto})", named)
    return (
        f"SELECT __w_all.*, timestamp_micros(min(ws) OVER ({by})) AS window_start,"
        f" timestamp_micros(max(we) OVER ({by})) AS window_end FROM ({united})"
    )
