"""Rows that come too late: for their windows, after a withdrawal that did, or once their trigger has finished."""

from __future__ import annotations

from warehouse.dataflow.merging import judged, together
from warehouse.dataflow.partials import WITHDRAWN, in_time, in_windows, is_open, takes
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.select import columns
from warehouse.dataflow.state_columns import newest
from warehouse.dataflow.times import Clock, plus
from warehouse.dataflow.windows import earliest_end, latest_end, merges, remembered


def late_pairs(query: WindowedQuery, rows: str, before: str, out: str) -> str:
    """Return SQL for the changes, ``pair``, whose withdrawal comes too late for every window of the row it takes back.

    Their replacement must stay out too: the row that was not taken back still counts.

    Args:
        query: a block over the changes of a RETRACTING table.
        rows: the *rows* relation.
        before: the watermark against which rows are judged.
        out: relation of the rows that never came to count, by ``identity``: a withdrawal of one of them is late too.
    """
    late = f"ts IS NOT NULL AND NOT {takes(query, latest_end(query.window), before)}"
    gone = f"SELECT __w_row.pair AS pair, __w_row.identity AS its, {late} AS late FROM {rows} WHERE {WITHDRAWN}"
    return (
        f"SELECT DISTINCT pair FROM ({gone}) LEFT JOIN (SELECT DISTINCT identity FROM {out}) ON its = identity"
        " WHERE late OR identity IS NOT NULL"
    )


def behind(query: WindowedQuery, before: str) -> dict[str, str]:
    """Return measures over *rows*: how many are late by their own windows, and how many of these are withdrawals."""
    late = f"NOT {is_open(query, 'we', before)}"
    return {"late": f"count_if({late})", "withdrawn": f"count_if({late} AND {WITHDRAWN})"}


def withdrawn_behind(query: WindowedQuery, rows: str, before: str) -> str:
    """Return SQL for where withdrawals among *rows* are late by their own windows: keys, ``ws``, ``we``."""
    late = f"{WITHDRAWN} AND NOT {is_open(query, 'we', before)}"
    return f"SELECT DISTINCT {columns(query.key_columns, 'ws', 'we')} FROM {rows} WHERE {late}"


def held(query: WindowedQuery, rows: str, state: str, before: str) -> str:
    """Return SQL for *rows* with ``__w_held``: the row is taken back from a session that has state, or takes its place.

    A withdrawal is judged with the window that holds the row: while a session has state, rows that it holds can be
    taken back. What replaces one within the same bounds falls into the same window, and is judged with it.

    Args:
        query: a block over the changes of a RETRACTING table, with sessions.
        rows: the *rows* relation.
        state: relation of *state* versions; of the sessions that hold any of ``withdrawn_behind`` all there are.
        before: the watermark against which rows are judged.
    """
    keys = query.key_columns
    known = plus("we", query.lateness)
    gap = remembered(query.window)
    has_state = "true" if gap is None else f"{plus(known, gap)} > {before}"
    if query.closed is not None:
        has_state += f" AND we > {query.closed}L"
    slots = f"SELECT {columns(keys, 'inline(slots)')} FROM ({newest(query, state)}) WHERE {has_state}"
    named = columns(tuple(f"{k} AS h{k}" for k in keys), "s", "e")
    standing = f"SELECT DISTINCT {named} FROM ({slots}) WHERE {query.parts.standing} > 0"
    same = " AND ".join([*(f"{k} <=> h{k}" for k in keys), "ws = s", "we = e"])
    found = f"SELECT r.* EXCEPT (__w_held), s IS NOT NULL AS __w_slot FROM {rows} AS r LEFT JOIN ({standing}) ON {same}"
    taken = f"max({WITHDRAWN}) OVER (PARTITION BY {columns('__w_row.pair', keys, 'ws', 'we')})"
    return f"SELECT * EXCEPT (__w_slot), __w_slot AND coalesce({taken}, false) AS __w_held FROM ({found})"


def inserted_behind(query: WindowedQuery, rows: str, before: str) -> str:
    """Return SQL for those of *rows*, by ``identity``, that are late: what takes them back finds nothing of them."""
    late = f"ts IS NOT NULL AND NOT {takes(query, 'we', before)}"
    return (
        f"SELECT __w_row.identity AS identity FROM {rows} WHERE NOT {WITHDRAWN} AND __w_row.identity IS NOT NULL"
        f" GROUP BY __w_row.identity HAVING bool_and({late})"
    )


def replacements(rows: str, pairs: str) -> str:
    """Return SQL for the rows, by ``identity``, that replace what the withdrawals of ``pairs`` take back."""
    new = f"SELECT __w_row.pair AS its, __w_row.identity AS identity FROM {rows} WHERE NOT {WITHDRAWN}"
    return f"SELECT DISTINCT identity FROM ({new}) JOIN {pairs} ON its = pair"


def with_refused(rows: str, out: str) -> str:
    """Return SQL for *rows*, those that ``out`` names by their ``identity`` marked ``__w_refused``."""
    return (
        f"SELECT r.* EXCEPT (__w_refused), o.identity IS NOT NULL AS __w_refused FROM ({rows}) AS r"
        f" LEFT JOIN (SELECT DISTINCT identity FROM {out}) AS o ON r.__w_row.identity = o.identity"
    )


def late_rows(query: WindowedQuery, rows: str, before: str) -> str:
    """Return SQL for the late ones of *rows*, once per window missed: ``__w_row``, ``ws``, ``we``."""
    refused = ", __w_refused" if query.retracted else ""
    late = f"ts IS NOT NULL AND NOT ({in_time(query, before)})"
    return _once(query, f"SELECT __w_row, ws, we{refused} FROM {in_windows(query, rows)} WHERE {late}")


def _once(query: WindowedQuery, rows: str) -> str:
    """Return SQL for ``rows``, as those of ``late_rows``, once per row of a source and window."""
    if not query.multiplied:
        return rows
    refused = ", bool_or(__w_refused) AS __w_refused" if query.retracted else ""
    return f"SELECT any_value(__w_row) AS __w_row, ws, we{refused} FROM ({rows}) GROUP BY __w_row.number, ws, we"


def is_late(query: WindowedQuery, before: str) -> str:
    """Return a condition over *rows*: the row misses at least one of its windows."""
    late = f"NOT {takes(query, earliest_end(query.window), before)}"
    return f"({late} OR ts IS NOT NULL AND __w_refused)" if query.retracted else late


def refused(query: WindowedQuery, state: str, batch: str, clock: Clock) -> str:
    """Return SQL for the windows whose trigger has finished and that rows came to: keys, ``ws``, ``we``."""
    bounds = "ms AS ws, me AS we" if merges(query.window) else "ws, we"
    return (
        f"SELECT DISTINCT {columns(query.key_columns)}{', ' if query.keys else ''}{bounds}"
        f" FROM ({judged(query, together(query, state, batch), clock.reading().before)}) WHERE refused AND isnew = 1"
    )


def finished_rows(query: WindowedQuery, rows: str, refused: str, before: str) -> str:
    """Return SQL for those of *rows* that came to a window of ``refused``: ``__w_row``, ``ws``, ``we``."""
    inside = "r.ws >= f.ws AND r.we <= f.we" if merges(query.window) else "r.ws = f.ws AND r.we = f.we"
    same = " AND ".join([*(f"r.{k} <=> f.{k}" for k in query.key_columns), inside])
    timely = f"SELECT * FROM {in_windows(query, rows)} WHERE ts IS NOT NULL AND {in_time(query, before)}"
    mark = ", r.__w_refused" if query.retracted else ""
    return _once(query, f"SELECT r.__w_row, f.ws, f.we{mark} FROM ({timely}) AS r JOIN {refused} AS f ON {same}")
