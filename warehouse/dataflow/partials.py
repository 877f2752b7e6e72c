"""Rows to partial results: windows assigned, and what the rows of each key and window come to."""

from __future__ import annotations

from collections.abc import Iterable

from warehouse.dataflow.aggregates.calls import SIGN
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.select import columns
from warehouse.dataflow.slots import intervals_united, slot
from warehouse.dataflow.times import is_in_time, plus
from warehouse.dataflow.windows import (
    Custom,
    Sessions,
    Sliding,
    Window,
    are_in_time,
    assignment,
    each_window,
    merges,
    reach,
    spreads,
)


def assigned(query: WindowedQuery, source: str) -> str:
    """Return SQL for *rows*: those of the *input* ``source`` with ``ts`` and their window (slice, proto-session).

    A row whose own gap, ``__w_gap``, is not positive has no ``ts`` either: it can be in no window. Nor can one whose
    ``__w_windows`` are none, or not all of positive length, nor one whose windows would reach an end of time.
    """
    start, end = assignment(query.window, query.key_columns)
    inputs = tuple(f"{sql} AS a{i}" for i, sql in enumerate(query.parts.inputs))
    time = f"CASE WHEN {is_timed([query.window])} THEN unix_micros(__w_time) END"
    if isinstance(query.window, Sessions) and query.window.gap is None:
        time = f"CASE WHEN __w_gap > 0 THEN {time} END"
    elif isinstance(query.window, Custom):
        time = f"CASE WHEN {are_in_time('__w_windows')} THEN {time} END"
    if query.retracted:
        marks = columns("false AS __w_refused", "false AS __w_held" if query.holds else "")
        source = f"(SELECT *, if({WITHDRAWN}, -1, 1) AS {SIGN}, {marks} FROM {source})"
    size = "__w_row.size AS __w_size" if query.counts_bytes else ""  # here, or whole rows would be carried along for it
    timed = f"SELECT {columns('*', f'{time} AS ts', size, inputs)} FROM {source}"
    return f"SELECT *, {start} AS ws, {end} AS we FROM ({timed})"


def is_timed(windows: Iterable[Window]) -> str:
    """Return SQL over ``__w_time`` that says whether the windows which it gives a row are between the ends of time."""
    return is_in_time("unix_micros(__w_time)", max(map(reach, windows), default=0))


WITHDRAWN = "__w_row.change = 'delete'"


def partials(query: WindowedQuery, rows: str, before: str) -> str:
    """Return SQL for *batch*: the partial results per key and window of the rows that are not late.

    Those of a session may be several: ``merged`` unites them with each other and with the state in one pass.

    Args:
        query: the block.
        rows: the *rows* relation; those without a timestamp are left out.
        before: the watermark against which rows are judged.
    """
    keys, window = query.key_columns, query.window
    first = tuple(f"{p.sql} AS p{i}" for i, p in enumerate(query.parts.partials))
    again = merged_partials(query)
    pending = tuple(f"{p.first} AS {p.name}" for p in query.pending)
    if isinstance(window, Sliding):
        return (
            f"SELECT {columns(keys, 'ws', 'we', again)} FROM ({_slices_spread(query, rows)})"
            f" WHERE {is_open(query, 'we', before)} GROUP BY {columns(keys, 'ws', 'we')}"
        )
    kept = f"{in_windows(query, rows)} WHERE ts IS NOT NULL AND {in_time(query, before)}"
    if query.splits or not isinstance(window, Sessions):
        each = f"SELECT {columns(keys, 'ws', 'we', first, pending)} FROM {kept} GROUP BY {columns(keys, 'ws', 'we')}"
        slots = f"array({slot(query)}) AS slots"
        listed = columns(keys, "ws", "we", slots, query.pending_columns)
        return f"SELECT {listed} FROM ({each})" if query.splits else each
    # rows in one stretch of a gap's length are less than a gap apart: one session before any shuffle
    stretch = f"ts - pmod(ts, {window.gap}L)" if window.gap else "ts, we"
    return (
        f"SELECT {columns(keys, 'min(ws) AS ws', 'max(we) AS we', first, pending)} FROM {kept}"
        f" GROUP BY {columns(keys, stretch)}"
    )


def comes_in_pieces(query: WindowedQuery) -> bool:
    """Say whether state and rows can be merged in one pass: each row as a partial result, or as one of its own slice.

    What a trigger remembers of sessions that merge, or of windows where it fires ONCE, asks for whole windows.
    """
    if query.once or query.retracted or query.slicing or isinstance(query.window, Custom):
        return False
    if isinstance(query.window, Sessions):
        return not query.trigger_state
    return isinstance(query.window, Sliding) or _has_rows_as_partials(query)


def _has_rows_as_partials(query: WindowedQuery) -> bool:
    """Say whether a single row can be written as a partial result without an aggregation."""
    return all([*(p.row for p in query.parts.partials), *(p.row for p in query.pending)])


def spread(query: WindowedQuery, rows: str) -> str:
    """Return the relation of ``rows`` that lie together as they will be grouped; they are grouped once then, not twice.

    Spark groups the rows of each task first and what they come to again, after a shuffle. Where few of them are alike,
    a shuffle of the rows themselves costs less. (Adaptive execution as in Shark, here from step to step.)
    """
    by = columns(query.key_columns, "" if merges(query.window) else "ws")
    return f"(SELECT * FROM {rows} DISTRIBUTE BY {by})" if by else rows


def pieces(query: WindowedQuery, rows: str, before: str, thin: bool) -> str:
    """Return SQL for *batch* of which a window may have many rows.

    Args:
        query: see ``partials``, as the next two.
        rows: see there.
        before: see there.
        thin: so few rows are alike that to group them before they meet the state would cost more than it saves.
    """
    keys, window = query.key_columns, query.window
    if isinstance(window, Sessions) and not (thin and _has_rows_as_partials(query)):
        return partials(query, rows, before)
    if isinstance(window, Sliding):
        return f"SELECT * FROM ({_slices_spread(query, rows)}) WHERE {is_open(query, 'we', before)}"
    each = tuple(f"{p.row} AS p{i}" for i, p in enumerate(query.parts.partials))
    pending = tuple(f"{p.row} AS {p.name}" for p in query.pending)
    return (
        f"SELECT {columns(keys, 'ws', 'we', each, pending)} FROM {rows}"
        f" WHERE ts IS NOT NULL AND {in_time(query, before)}"
    )


def _slices_spread(query: WindowedQuery, rows: str) -> str:
    """Return SQL for the slices of *rows* with their partial results, once per window that each falls into."""
    keys, window = query.key_columns, query.window
    assert isinstance(window, Sliding)
    first = tuple(f"{p.sql} AS p{i}" for i, p in enumerate(query.parts.partials))
    pending = tuple(f"{p.first} AS {p.name}" for p in query.pending)
    slices = (
        f"SELECT {columns(keys, 'ws', first, pending)} FROM {rows}"
        f" WHERE ts IS NOT NULL{' AND NOT __w_refused' if query.retracted else ''} GROUP BY {columns(keys, 'ws')}"
    )
    return each_window(window, f"({slices})", columns(keys, query.partial_columns, query.pending_columns))


def whole_sessions(query: WindowedQuery, parts: str) -> str:
    """Return SQL for whole sessions of the partial results ``parts`` of a batch."""
    merges = columns("min(ws) AS ws", "max(we) AS we", merged_partials(query))
    united = intervals_united(query.window, f"({parts})", query.key_columns)
    return f"SELECT {columns(query.key_columns, merges)} FROM ({united}) GROUP BY {columns(query.key_columns, 'g')}"


def merged_partials(query: WindowedQuery) -> tuple[str, ...]:
    """Return the select list that merges partial results, or slots of them, and what is pending."""
    contents = ("flatten(collect_list(slots)) AS slots",) if query.splits else query.merged_partials
    return (*contents, *(f"{p.merge} AS {p.name}" for p in query.pending))


def is_open(query: WindowedQuery, end: str, before: str) -> str:
    """Return a condition: a window that ends at ``end`` still takes rows."""
    open_yet = f"{plus(end, query.lateness)} > {before}"
    return open_yet if query.closed is None else f"({open_yet} AND {end} > {query.closed}L)"


def in_time(query: WindowedQuery, before: str) -> str:
    """Return a condition over *rows*: neither late itself, nor kept out by a withdrawal that was."""
    return takes(query, "we", before) + (" AND NOT __w_refused" if query.retracted else "")


def takes(query: WindowedQuery, end: str, before: str) -> str:
    """Return a condition over *rows*: the window that ends at ``end`` takes the row, or one that holds it does."""
    open_yet = is_open(query, end, before)
    return f"({open_yet} OR __w_held)" if query.holds else open_yet


def source_rows(query: WindowedQuery, condition: str) -> str:
    """Return SQL for how many rows of the sources have become those of *rows* for which ``condition`` holds."""
    assert query.multiplied
    return f"count(DISTINCT CASE WHEN {condition} THEN __w_row.number END)"


def in_windows(query: WindowedQuery, rows: str) -> str:
    """Return the relation of *rows* once per window that they fall into."""
    if not spreads(query.window):
        return rows
    return f"({each_window(query.window, rows, '* EXCEPT (ws, we)')})"
