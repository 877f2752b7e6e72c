"""Windows kept as slices: rows only ever add to slices, and windows are rolled up when they fire.

A row falls into one slice, however many sliding windows hold it; a fixed window is a slice of its own. Where all that
a trigger does is to fire at the watermark, no window is looked at before its end, so the state of those to come is
their slices: partial results per key and slice, of which each step adds what its rows came to and changes nothing that
is there. Windows that have fired are rows of *state* like any other's, for the late rows to come.

Rolled up are the windows whose ends the watermark passes. A few are *folded*: each slice goes to the windows that hold
it. Many are *swept*, in the order of time, over the points at which a slice enters and leaves: what can be subtracted
is a running sum of what entered less what left, two additions a slice whatever the length of the windows; what cannot
(MIN, MAX, kept rows) is merged from the slices that are inside. Source: stateful groupwise dataflow, on reusing
partial results between overlapping windows; "slices" as in Krishnamurthy et al., "On-the-fly sharing for streamed
aggregation", 2006.

Relations by column, beside those of the package:

- *slices*: keys, ``ws``, ``we``, partials ``p…``, pending; a slice may have many rows.
- *windows*: the same, one row per window.
"""

from __future__ import annotations

from warehouse.dataflow import partials
from warehouse.dataflow.aggregates.calls import INTEGRAL, Partial
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.select import columns
from warehouse.dataflow.state_columns import standing_types, state_columns
from warehouse.dataflow.windows import Sliding, latest_end

FOLDED = 2
"""Up to so many windows of a key that fire together are folded."""


def slice_columns(query: WindowedQuery) -> tuple[str, ...]:
    """Return the columns of *slices*."""
    return (*query.key_columns, "ws", "we", *query.partial_columns, *query.pending_columns)


def added(query: WindowedQuery, rows: str, before: str) -> str:
    """Return SQL for *slices*: what the rows of a step come to, but for those that are late for all their windows.

    Args:
        query: a block with ``slicing``, as for all functions here.
        rows: the *rows* relation.
        before: the watermark against which rows are judged.
    """
    first = tuple(f"{p.sql} AS p{i}" for i, p in enumerate(query.parts.partials))
    pending = tuple(f"{p.first} AS {p.name}" for p in query.pending)
    bounds = columns(query.key_columns, "ws", "we")
    open_yet = partials.is_open(query, latest_end(_grid(query)), before)
    return f"SELECT {columns(bounds, first, pending)} FROM {rows} WHERE ts IS NOT NULL AND {open_yet} GROUP BY {bounds}"


def passed(query: WindowedQuery, slices: str, before: str) -> str:
    """Return SQL for *windows*, several rows to one, that ``slices`` came to although they have fired already."""
    window = _grid(query)
    spread = _in_windows(query, slices, window.first_start("ws"), f"{before} - {window.size}L")
    return f"SELECT {columns(slice_columns(query))} FROM ({spread}) WHERE {partials.is_open(query, 'we', before)}"


def fired(query: WindowedQuery, slices: str, before: str, after: str, count: int, at_once: bool = False) -> str:
    """Return SQL for the *windows* that end in (``before``, ``after``].

    Args:
        query: the block.
        slices: the relation of all *slices*; those that have none of these windows change nothing.
        before: SQL for the watermark before the step.
        after: SQL for the watermark after it.
        count: how many such windows a key has at most.
        at_once: see ``merging.merged``.
    """
    if is_whole(query):
        merged = columns(query.key_columns, "ws", "we", _merged(query))
        few = "/*+ COALESCE(1) */ " if at_once else ""
        ending = f"SELECT {few}* FROM {slices} WHERE {before} < we AND we <= {after}"
        return f"SELECT {merged} FROM ({ending}) GROUP BY {columns(query.key_columns, 'ws', 'we')}"
    by_key = f" DISTRIBUTE BY {columns(query.key_columns)}" if query.keys and not at_once else ""
    together = f"(SELECT {'/*+ COALESCE(1) */ ' if at_once else ''}* FROM {slices}{by_key})"
    return (_folded if count <= FOLDED else _swept)(query, together, before, after)


def is_whole(query: WindowedQuery) -> bool:
    """Say whether a slice is a window."""
    return _grid(query).size == _grid(query).slice


def alone(query: WindowedQuery, slices: str, since: str, before: str, after: str) -> str:
    """Return SQL for the *windows* that end in (``before``, ``after``] and start after ``since``, as slices are them.

    Args:
        query: a block of which a slice ``is_whole``.
        slices: *slices*, one row each, of which there are no others after ``since``.
        since: SQL for the start of the last slice that others may know too.
        before: see ``fired``, as ``after``.
        after: see there.
    """
    listed = columns(slice_columns(query))
    return f"SELECT {listed} FROM {slices} WHERE {before} < we AND we <= {after} AND ws > {since}"


def lasting(query: WindowedQuery, slices: str, after: str) -> str:
    """Return SQL for those of ``slices`` that a window holds which has not fired at the watermark ``after``."""
    return f"SELECT {columns(slice_columns(query))} FROM {slices} WHERE {latest_end(_grid(query))} > {after}"


def live(query: WindowedQuery, slices: str, watermark: str) -> str:
    """Return SQL for the windows of ``slices`` that have not fired at ``watermark``, as live rows of *state*.

    Args:
        query: the block.
        slices: *slices* with ``step``, when they were added.
        watermark: SQL for where it stands.
    """
    kinds = standing_types(query)
    columns_of_state = {
        "idx": "0", "due_wm": "we", "due_at": "CAST(NULL AS BIGINT)", "step": "max(step)", "dropped": "false",
        **{name: f"CAST(NULL AS {kind})" for name, kind in kinds.items()},
    }  # fmt: skip
    merged = _merged_by_name(query)
    listed = tuple(f"{(columns_of_state | merged).get(name, name)} AS {name}" for name in state_columns(query))
    first = _first_open(query, watermark)
    spread = _in_windows(query, slices, f"greatest({_grid(query).first_start('ws')}, {first})", None, "step")
    return f"SELECT {columns(listed)} FROM ({spread}) GROUP BY {columns(query.key_columns, 'ws', 'we')}"


def united(query: WindowedQuery, windows: str) -> str:
    """Return SQL for live rows of *state*, of which a window that has not fired may have one of its own and slices."""
    bounds = (*query.key_columns, "ws", "we")
    merged = _merged_by_name(query) | {"due_wm": "min(due_wm)", "due_at": "min(due_at)", "dropped": "false"}
    listed = tuple(f"{merged.get(n, f'max({n})')} AS {n}" for n in state_columns(query) if n not in bounds)
    return f"SELECT {columns(bounds, listed)} FROM {windows} GROUP BY {columns(bounds)}"


def compacted(query: WindowedQuery, slices: str, watermark: str) -> str:
    """Return SQL for ``slices``, each of which may still be needed at ``watermark``, in one row."""
    bounds = columns(query.key_columns, "ws", "we")
    needed = f"{latest_end(_grid(query))} > {watermark}"
    listed = columns(bounds, _merged(query), "max(step) AS step")
    return f"SELECT {listed} FROM {slices} WHERE {needed} GROUP BY {bounds}"


def due(query: WindowedQuery, watermark: str) -> str:
    """Return SQL over *slices*: the end of the first window of a slice that fires after ``watermark``, or NULL."""
    window = _grid(query)
    first = f"greatest({window.first_start('ws')}, {_first_open(query, watermark)})"
    return f"CASE WHEN {latest_end(window)} > {watermark} THEN {first} + {window.size}L END"


# ------------------------------------------------------------------ rolling up


def _folded(query: WindowedQuery, slices: str, before: str, after: str) -> str:
    """Return SQL for *windows* of which each slice goes to those that hold it; see ``fired``."""
    first = f"greatest({_grid(query).first_start('ws')}, {_first_open(query, before)})"
    spread = _in_windows(query, slices, first, f"{after} - {_grid(query).size}L")
    bounds = columns(query.key_columns, "ws", "we")
    return f"SELECT {columns(bounds, _merged(query))} FROM ({spread}) GROUP BY {bounds}"


def _swept(query: WindowedQuery, slices: str, before: str, after: str) -> str:
    """Return SQL for *windows* by one sweep per key over the starts at which what they hold changes; see ``fired``.

    A window that starts at ``at`` holds a slice from ``enter`` on and until ``leave``. Between two such points all
    windows hold the same.
    """
    window, keys = _grid(query), query.key_columns
    by = f"PARTITION BY {columns(keys)} " if keys else ""
    reach = window.size - window.slice
    so_far = f"({by}ORDER BY at RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
    inside = f"({by}ORDER BY at RANGE BETWEEN {reach}L PRECEDING AND CURRENT ROW)"
    points = f"inline(array(named_struct('at', ws - {reach}L, 'sign', 1), named_struct('at', we, 'sign', -1)))"
    kept = columns(keys, query.partial_columns, "pn")
    moved = f"SELECT {kept}, at, sign FROM {slices} LATERAL VIEW {points} AS at, sign"
    contents = tuple(
        f"{_running(partial, name, so_far) if is_invertible(partial) else _within(partial, name, inside)} AS {name}"
        for name, partial in zip(query.partial_columns, query.parts.partials, strict=True)
    )
    swept = (
        f"SELECT {columns(keys, contents)}, at, sum(sign * pn) OVER {so_far} AS pn,"
        f" lead(at) OVER ({by}ORDER BY at) AS until FROM ({moved})"
    )
    first = f"greatest({window.start_from('at')}, {_first_open(query, before)})"
    last = f"least(until - 1, {after} - {window.size}L)"
    bounded = f"SELECT *, {first} AS __w_first, {last} AS __w_last FROM ({swept}) WHERE pn > 0"
    pending = tuple("pn" if p.name == "pn" else f"{p.none} AS {p.name}" for p in query.pending)
    listed = columns(keys, "__w_start AS ws", f"__w_start + {window.size}L AS we", query.partial_columns, pending)
    return f"SELECT {listed} FROM ({bounded}) {_STARTS.format(window.every)}"


def is_invertible(partial: Partial) -> bool:
    """Say whether of a partial result of a window that of some of its rows can be taken away, exactly."""
    exact = partial.type in INTEGRAL or partial.type.startswith("decimal")
    return exact and partial.merge in ("sum({})", f"CAST(sum({{}}) AS {partial.type})")


def _running(partial: Partial, name: str, so_far: str) -> str:
    """Return SQL for what entered less what left; NULL, as a sum of nothing is, where nothing known is inside."""
    # a sum may leave BIGINT between a slice that enters and another one that leaves at the same point
    value = name if partial.small or partial.type.startswith("decimal") else f"CAST({name} AS DECIMAL(38,0))"
    total = f"CAST(sum(CASE WHEN sign > 0 THEN {value} ELSE -{value} END) OVER {so_far} AS {partial.type})"
    if partial.sql.startswith("count"):
        return total
    return f"CASE WHEN sum(CASE WHEN {name} IS NOT NULL THEN sign END) OVER {so_far} > 0 THEN {total} END"


def _within(partial: Partial, name: str, inside: str) -> str:
    """Return SQL for the merge of the slices inside."""
    return partial.merge.replace("({})", f"(CASE WHEN sign > 0 THEN {name} END) OVER {inside}")


# ------------------------------------------------------------------ the grid


def _grid(query: WindowedQuery) -> Sliding:
    assert query.slicing
    return query.slicing


def _first_open(query: WindowedQuery, watermark: str) -> str:
    """Return SQL for the start of the first window that ends after ``watermark``."""
    return _grid(query).first_start(watermark)


def _in_windows(query: WindowedQuery, slices: str, first: str, last: str | None, *more: str) -> str:
    """Return SQL for ``slices`` once per window that holds them and starts from ``first``, on the grid, to ``last``."""
    window = _grid(query)
    latest = window.last_start("ws") if last is None else f"least({window.last_start('ws')}, {last})"
    listed = columns(query.key_columns, query.partial_columns, query.pending_columns, tuple(more))
    bounded = f"SELECT *, {first} AS __w_first, {latest} AS __w_last FROM {slices}"
    bounds = f"__w_start AS ws, __w_start + {window.size}L AS we"
    return f"SELECT {listed}, {bounds} FROM ({bounded}) {_STARTS.format(window.every)}"


_STARTS = (
    "LATERAL VIEW explode(CASE WHEN __w_first <= __w_last THEN sequence(__w_first, __w_last, {}L) END) AS __w_start"
)
"""One row per start of a window from ``__w_first`` to ``__w_last``, so many microseconds apart."""


def _merged_by_name(query: WindowedQuery) -> dict[str, str]:
    """Return SQL that merges rows of a slice, or of a window, by the column of which it makes the same."""
    partials = zip(query.partial_columns, query.parts.partials, strict=True)
    return {name: p.merge.format(name) for name, p in partials} | {p.name: p.merge for p in query.pending}


def _merged(query: WindowedQuery) -> tuple[str, ...]:
    return tuple(f"{sql} AS {name}" for name, sql in _merged_by_name(query).items())
