"""The step as SQL: batch rows and touched state in, one row per touched window out.

All of it is text over named relations; whoever runs it gives the names. The stages are those of the Dataflow
Model's GroupByKeyAndWindow (section 2.2.2): assign, group, merge windows, then fire triggers. Every text is
deterministic: the only times it sees are those of the ``Clock``.

Relations by column:

- *input*: ``__w_k…``, ``__w_time`` TIMESTAMP, argument columns, ``__w_arrival`` BIGINT, ``__w_row``, whose ``number``
  tells rows of a source apart where one of them may come several times.
- *rows*: the input with ``ts`` and ``ws``, ``we``.
- *batch*: keys, ``ws``, ``we``, partials ``p…``, and what is pending: ``pn`` (rows), ``pf`` (first arrival), ….
- *state*: batch's columns and what the trigger remembers, ``idx``, under ONCE ``over``, standing panes, ``due_wm``,
  ``due_at``, ``step``, ``dropped``.
- *outcome*: the new state and, beside it, what the step emits; ``momentary`` windows, which opened and closed
  within the step, are emitted from and are no state.
"""

from __future__ import annotations

from dataclasses import replace

from warehouse.dataflow import triggers
from warehouse.dataflow.aggregates import SIGN
from warehouse.dataflow.query import Output, WindowedQuery
from warehouse.dataflow.select import columns
from warehouse.dataflow.slots import intervals_united, sessions, slot, slots_type
from warehouse.dataflow.times import BEGINNING, CLOCK, END, Clock, Reading, bound_timestamp, is_in_time, plus
from warehouse.dataflow.triggers import Kind, Node
from warehouse.dataflow.windows import (
    Custom,
    Sessions,
    Sliding,
    are_in_time,
    assignment,
    each_window,
    earliest_end,
    latest_end,
    merges,
    reach,
    remembered,
    spreads,
)
from warehouse.language.names import quote_name
from warehouse.language.statements import Mode

EARLY, ON_TIME, LATE = 0, 1, 2
"""Pane timings as the state keeps them."""


# ------------------------------------------------------------------ rows to partial results


def assigned(query: WindowedQuery, source: str) -> str:
    """Return SQL for *rows*: those of the *input* ``source`` with ``ts`` and their window (slice, proto-session).

    A row whose own gap, ``__w_gap``, is not positive has no ``ts`` either: it can be in no window. Nor can one whose
    ``__w_windows`` are none, or not all of positive length, nor one whose windows would reach an end of time.
    """
    start, end = assignment(query.window, query.key_columns)
    inputs = tuple(f"{sql} AS a{i}" for i, sql in enumerate(query.parts.inputs))
    time = f"CASE WHEN {is_timed(query)} THEN unix_micros(__w_time) END"
    if isinstance(query.window, Sessions) and query.window.gap is None:
        time = f"CASE WHEN __w_gap > 0 THEN {time} END"
    elif isinstance(query.window, Custom):
        time = f"CASE WHEN {are_in_time('__w_windows')} THEN {time} END"
    if query.retracted:
        source = f"(SELECT *, if({_WITHDRAWN}, -1, 1) AS {SIGN}, false AS __w_refused FROM {source})"
    size = "__w_row.size AS __w_size" if query.counts_bytes else ""  # here, or whole rows would be carried along for it
    timed = f"SELECT {columns('*', f'{time} AS ts', size, inputs)} FROM {source}"
    return f"SELECT *, {start} AS ws, {end} AS we FROM ({timed})"


def is_timed(query: WindowedQuery) -> str:
    """Return SQL over ``__w_time`` that says whether the windows which it gives a row are between the ends of time."""
    return is_in_time("unix_micros(__w_time)", reach(query.window))


_WITHDRAWN = "__w_row.change = 'delete'"


def late_pairs(query: WindowedQuery, rows: str, before: str, out: str) -> str:
    """Return SQL for the changes, ``pair``, whose withdrawal comes too late for every window of the row it takes back.

    Their replacement must stay out too: the row that was not taken back still counts.

    Args:
        query: a block over the changes of a RETRACTING table.
        rows: the *rows* relation.
        before: the watermark against which rows are judged.
        out: relation of the rows that never came to count, by ``identity``: a withdrawal of one of them is late too.
    """
    late = f"ts IS NOT NULL AND NOT {is_open(query, latest_end(query.window), before)}"
    gone = f"SELECT __w_row.pair AS pair, __w_row.identity AS its, {late} AS late FROM {rows} WHERE {_WITHDRAWN}"
    return (
        f"SELECT DISTINCT pair FROM ({gone}) LEFT JOIN (SELECT DISTINCT identity FROM {out}) ON its = identity"
        " WHERE late OR identity IS NOT NULL"
    )


def replacements(rows: str, pairs: str) -> str:
    """Return SQL for the rows, by ``identity``, that replace what the withdrawals of ``pairs`` take back."""
    new = f"SELECT __w_row.pair AS its, __w_row.identity AS identity FROM {rows} WHERE NOT {_WITHDRAWN}"
    return f"SELECT DISTINCT identity FROM ({new}) JOIN {pairs} ON its = pair"


def with_refused(rows: str, out: str) -> str:
    """Return SQL for *rows*, those that ``out`` names by their ``identity`` marked ``__w_refused``."""
    return (
        f"SELECT r.* EXCEPT (__w_refused), o.identity IS NOT NULL AS __w_refused FROM ({rows}) AS r"
        f" LEFT JOIN (SELECT DISTINCT identity FROM {out}) AS o ON r.__w_row.identity = o.identity"
    )


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
    again = _merged_partials(query)
    pending = tuple(f"{p.first} AS {p.name}" for p in query.pending)
    if isinstance(window, Sliding):
        return (
            f"SELECT {columns(keys, 'ws', 'we', again)} FROM ({_slices_spread(query, rows)})"
            f" WHERE {is_open(query, 'we', before)} GROUP BY {columns(keys, 'ws', 'we')}"
        )
    kept = f"{_in_windows(query, rows)} WHERE ts IS NOT NULL AND {_in_time(query, before)}"
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
        f" WHERE ts IS NOT NULL AND {_in_time(query, before)}"
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


def _sessions(query: WindowedQuery, parts: str) -> str:
    """Return SQL for whole sessions of the partial results ``parts`` of a batch."""
    merges = columns("min(ws) AS ws", "max(we) AS we", _merged_partials(query))
    united = intervals_united(query.window, f"({parts})", query.key_columns)
    return f"SELECT {columns(query.key_columns, merges)} FROM ({united}) GROUP BY {columns(query.key_columns, 'g')}"


def _merged_partials(query: WindowedQuery) -> tuple[str, ...]:
    """Return the select list that merges partial results, or slots of them, and what is pending."""
    contents = ("flatten(collect_list(slots)) AS slots",) if query.splits else query.merged_partials
    return (*contents, *(f"{p.merge} AS {p.name}" for p in query.pending))


def is_open(query: WindowedQuery, end: str, before: str) -> str:
    """Return a condition: a window that ends at ``end`` still takes rows."""
    open_yet = f"{plus(end, query.lateness)} > {before}"
    return open_yet if query.closed is None else f"({open_yet} AND {end} > {query.closed}L)"


def _in_time(query: WindowedQuery, before: str) -> str:
    """Return a condition over *rows*: neither late itself, nor kept out by a withdrawal that was."""
    return is_open(query, "we", before) + (" AND NOT __w_refused" if query.retracted else "")


def late_rows(query: WindowedQuery, rows: str, before: str) -> str:
    """Return SQL for the late ones of *rows*, once per window missed: ``__w_row``, ``ws``, ``we``."""
    refused = ", __w_refused" if query.retracted else ""
    late = f"ts IS NOT NULL AND NOT ({_in_time(query, before)})"
    return _once(query, f"SELECT __w_row, ws, we{refused} FROM {_in_windows(query, rows)} WHERE {late}")


def _once(query: WindowedQuery, rows: str) -> str:
    """Return SQL for ``rows``, as those of ``late_rows``, once per row of a source and window."""
    if not query.multiplied:
        return rows
    refused = ", bool_or(__w_refused) AS __w_refused" if query.retracted else ""
    return f"SELECT any_value(__w_row) AS __w_row, ws, we{refused} FROM ({rows}) GROUP BY __w_row.number, ws, we"


def source_rows(query: WindowedQuery, condition: str) -> str:
    """Return SQL for how many rows of the sources have become those of *rows* for which ``condition`` holds."""
    assert query.multiplied
    return f"count(DISTINCT CASE WHEN {condition} THEN __w_row.number END)"


def _in_windows(query: WindowedQuery, rows: str) -> str:
    """Return the relation of *rows* once per window that they fall into."""
    if not spreads(query.window):
        return rows
    return f"({each_window(query.window, rows, '* EXCEPT (ws, we)')})"


def is_late(query: WindowedQuery, before: str) -> str:
    """Return a condition over *rows*: the row misses at least one of its windows."""
    late = f"NOT {is_open(query, earliest_end(query.window), before)}"
    return f"({late} OR ts IS NOT NULL AND __w_refused)" if query.retracted else late


# ------------------------------------------------------------------ state and batch to merged windows


def _standing_columns(query: WindowedQuery) -> tuple[str, ...]:
    """Return the state's columns that remember the panes which the next one replaces."""
    if query.mode is Mode.DISCARDING:
        return ()
    if merges(query.window):
        return ("last",)
    return ("l_idx", "l_timing", "l_step") + (("l_out",) if query.mode is Mode.RETRACTING else ())


def state_columns(query: WindowedQuery) -> tuple[str, ...]:
    """Return the columns of the state that a step reads."""
    remembered = tuple(k.name for k in query.trigger_state)
    return (
        *query.key_columns, "ws", "we", *query.content_columns, *query.pending_columns, *remembered, "idx",
        *_over(query), *_standing_columns(query), "due_wm", "due_at", "step", "dropped",
    )  # fmt: skip


def _over(query: WindowedQuery) -> tuple[str, ...]:
    """Return the state's column that says whether a trigger that fires ONCE has finished."""
    return ("over",) if query.once else ()


def is_due(clock: Reading) -> str:
    """Return a condition over *state*: the row must be looked at although no row hits it."""
    watermark = "false" if clock.complete and not clock.drain else f"due_wm <= {clock.after}"
    sooner = "".join(f" OR pn > 0 AND we <= {moment}" for moment in clock.faster.values())
    return f"({watermark} OR coalesce(due_at <= {clock.now}, false){sooner})"


def newest(query: WindowedQuery, state: str, dropped: bool = False) -> str:
    """Return SQL for the live rows of *state*: of each identity the newest version, unless it was dropped.

    With ``dropped`` those that say so are kept, since they hide what other files hold. A window is known by its keys
    and its start, since one that merges grows; a custom one by its end too.
    """
    several = isinstance(query.window, Custom) and not merges(query.window)
    by = f"PARTITION BY {columns(query.key_columns, 'ws', 'we' if several else '')}"
    versions = f"SELECT *, max(step) OVER ({by}) AS newest FROM {state}"
    live = "" if dropped else " AND NOT dropped"
    return f"SELECT {columns(state_columns(query))} FROM ({versions}) WHERE step = newest{live}"


def merged(query: WindowedQuery, state: str | None, batch: str | None, clock: Clock, at_once: bool = False) -> str:
    """Return SQL for the windows that the step must look at, each as one row with state and batch merged.

    Args:
        query: the block.
        state: relation of *state* versions (a superset of what the step touches), or None at the first step.
        batch: the *batch* relation, or None at a step without rows. One of the two there must be.
        clock: the step's times.
        at_once: one task does all of it, so that few rows are not shuffled.
    """
    rows = _together(query, state, batch, at_once)
    return touched(f"({_windows(query, rows, clock.reading().before)})", clock)


def touched(windows: str, clock: Clock, at_once: bool = False) -> str:
    """Return SQL for those of the merged ``windows`` that rows came to or that are due; see ``merged``."""
    return f"SELECT {'/*+ COALESCE(1) */ ' if at_once else ''}* FROM {windows} WHERE hit OR {is_due(clock.reading())}"


def fresh(query: WindowedQuery, windows: str) -> str:
    """Return SQL for merged windows, as ``merged`` has them, that no state knows yet.

    Args:
        query: a block whose trigger remembers nothing.
        windows: SQL for keys, ``ws``, ``we``, partials and pending, one row per window.
    """
    standing = tuple(f"CAST(NULL AS {kind}) AS {name}" for name, kind in standing_types(query).items())
    waiting = ("true AS hit", "true AS opened", "CAST(NULL AS BIGINT) AS due_wm", "CAST(NULL AS BIGINT) AS due_at")
    both = columns(query.key_columns, "ws", "we", query.content_columns, query.pending_columns)
    return f"SELECT {columns(both, '0 AS idx', standing, waiting)} FROM ({windows})"


def gathered(query: WindowedQuery, state: str | None, pieces: str, before: str, thin: bool) -> str:
    """Return SQL for all windows of state and batch, merged before the watermark after the step is known.

    Sessions lack ``last`` and ``vanished``, which are dear for the few that have any; their number is ``strays``, and
    ``with_strays`` adds them.

    Args:
        query: a block that ``comes_in_pieces``.
        state: relation of all *state* versions, or None at the first step.
        pieces: the relation of the same name.
        before: the watermark before the step.
        thin: see ``pieces``.
    """
    rows = _together(query, state, pieces)
    if isinstance(query.window, Sessions):
        return _plain_sessions(query, rows)
    return _windows(query, spread(query, f"({rows})") if thin else rows, before)


def _together(query: WindowedQuery, state: str | None, batch: str | None, at_once: bool = False) -> str:
    """Return SQL for the rows of state and batch in one relation, ``isnew`` those of the batch."""

    def gathered(relation: str) -> str:
        return f"(SELECT /*+ COALESCE(1) */ * FROM {relation})" if at_once else relation

    standing = _standing_columns(query)
    both = (*query.key_columns, "ws", "we", *query.content_columns, *query.pending_columns)
    kept = (*both, *(k.name for k in query.trigger_state), "idx", *_over(query), *standing)
    fresh = [*both, *(f"CAST({k.first} AS {k.type}) AS {k.name}" for k in query.trigger_state), "0 AS idx"]
    fresh += [f"false AS {c}" for c in _over(query)] + [f"NULL AS {c}" for c in standing]
    fresh += ["CAST(NULL AS BIGINT) AS due_wm", "CAST(NULL AS BIGINT) AS due_at", "1 AS isnew"]
    new = f"SELECT {columns(tuple(fresh))} FROM {batch}"
    if state is None:
        return gathered(f"({_typed_nulls(query, new)})")
    live = newest(query, gathered(state))
    old = f"SELECT {columns(kept, 'due_wm', 'due_at')}, 0 AS isnew FROM ({live})"
    return old if batch is None else gathered(f"({old} UNION ALL {new})")


def _typed_nulls(query: WindowedQuery, new: str) -> str:
    """Return the batch's rows with typed standing columns, where no state gives the types."""
    kinds = standing_types(query)
    if not kinds:
        return new
    rest = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in kinds.items())
    return f"SELECT * EXCEPT ({columns(tuple(kinds))}), {rest} FROM ({new})"


def out_type(query: WindowedQuery) -> str:
    """Return the Spark type of an emitted pane's values."""
    return "struct<" + ",".join(f"o{i}:{o.type}" for i, o in enumerate(query.result)) + ">"


def content_types(query: WindowedQuery) -> dict[str, str]:
    """Return the types of the columns that hold what a window's rows came to."""
    if query.splits:
        return {"slots": slots_type(query)}
    return {name: partial.type for name, partial in zip(query.partial_columns, query.parts.partials, strict=True)}


def standing_types(query: WindowedQuery) -> dict[str, str]:
    """Return the types of the columns that remember standing panes."""
    out = f",out:{out_type(query)}" if query.mode is Mode.RETRACTING else ""
    kinds = {
        "last": f"array<struct<we:bigint,ws:bigint,idx:int,timing:int,step:bigint{out}>>",
        "l_idx": "int", "l_timing": "int", "l_step": "bigint", "l_out": out_type(query),
    }  # fmt: skip
    return {name: kinds[name] for name in _standing_columns(query)}


_WAITING = ("max(isnew) = 1 AS hit", "min(isnew) = 1 AS opened", "min(due_wm) AS due_wm", "min(due_at) AS due_at")
"""Of the rows of a merged window: whether rows came to it, whether it is new, and since when it waits."""


def _windows(query: WindowedQuery, rows: str, before: str) -> str:
    """Return SQL for the windows of the rows of state and batch."""
    if merges(query.window):
        merged = _merged_sessions(query, rows, before)
        return sessions(query, merged, standing_types(query)["last"]) if query.splits else merged
    then = _trigger_state(query, "isnew = 0")
    standing = tuple(f"max({name}) AS {name}" for name in _standing_columns(query))
    over = tuple(f"bool_or({name}) AS {name}" for name in _over(query))
    listed = columns(
        query.key_columns, "ws", "we", _merged_partials(query), then, "max(idx) AS idx", over, standing, _WAITING,
    )  # fmt: skip
    identity = columns(query.key_columns, "ws", "we")
    if query.once:
        rows = f"SELECT * FROM ({_judged(query, rows, before)}) WHERE NOT (refused AND isnew = 1)"
    return f"SELECT {listed} FROM ({rows}) GROUP BY {identity}"


def _trigger_state(query: WindowedQuery, member: str) -> tuple[str, ...]:
    """Return the select list of what the trigger remembers, of the rows for which ``member`` holds."""
    return tuple(
        f"coalesce({k.merge.format(member=member)}, CAST({k.first} AS {k.type})) AS {k.name}"
        for k in query.trigger_state
    )


def _judged(query: WindowedQuery, rows: str, before: str) -> str:
    """Return SQL that adds to the rows of state and batch what the windows they fall into say about them.

    Added are, of sessions: ``g``, ``ms``, ``me``, what tells the union apart that a row belongs to and its bounds, and
    ``kept``: the row is of the state and has a say in what becomes of the trigger. Under ONCE: ``refused``, the
    trigger of the row's window has finished.
    """
    if not merges(query.window):
        by = f"PARTITION BY {columns(query.key_columns, 'ws', 'we')}"
        return f"SELECT *, bool_or(over) OVER ({by}) AS refused FROM ({rows})"
    keys = query.key_columns
    by = f"PARTITION BY {columns(keys, 'g')}"
    united = intervals_united(query.window, rows, keys)
    bounded = f"SELECT *, min(ws) OVER ({by}) AS ms, max(we) OVER ({by}) AS me FROM ({united})"
    # a session that the watermark had passed and that grows beyond it is early again: it has no say
    say = f"SELECT *, isnew = 0 AND NOT (we <= {before} AND {before} < me) AS kept FROM ({bounded})"
    if not query.once:
        return say
    return f"SELECT *, coalesce(bool_and(CASE WHEN kept THEN over END) OVER ({by}), false) AS refused FROM ({say})"


def refused(query: WindowedQuery, state: str, batch: str, clock: Clock) -> str:
    """Return SQL for the windows whose trigger has finished and that rows came to: keys, ``ws``, ``we``."""
    bounds = "ms AS ws, me AS we" if merges(query.window) else "ws, we"
    return (
        f"SELECT DISTINCT {columns(query.key_columns)}{', ' if query.keys else ''}{bounds}"
        f" FROM ({_judged(query, _together(query, state, batch), clock.reading().before)}) WHERE refused AND isnew = 1"
    )


def finished_rows(query: WindowedQuery, rows: str, refused: str, before: str) -> str:
    """Return SQL for those of *rows* that came to a window of ``refused``: ``__w_row``, ``ws``, ``we``."""
    inside = "r.ws >= f.ws AND r.we <= f.we" if merges(query.window) else "r.ws = f.ws AND r.we = f.we"
    same = " AND ".join([*(f"r.{k} <=> f.{k}" for k in query.key_columns), inside])
    in_time = f"SELECT * FROM {_in_windows(query, rows)} WHERE ts IS NOT NULL AND {_in_time(query, before)}"
    mark = ", r.__w_refused" if query.retracted else ""
    return _once(query, f"SELECT r.__w_row, f.ws, f.we{mark} FROM ({in_time}) AS r JOIN {refused} AS f ON {same}")


def _merged_sessions(query: WindowedQuery, rows: str, before: str) -> str:
    """Return SQL that unites overlapping sessions of a key and merges what they hold, trigger state included."""
    keys = query.key_columns
    say = _judged(query, rows, before)
    if query.once:  # what is refused unites nothing: the old sessions stay as they are
        say = (
            "SELECT * EXCEPT (ms, me), if(refused, ws, ms) AS ms, if(refused, we, me) AS me"
            f" FROM ({say}) WHERE NOT (refused AND isnew = 1)"
        )
    same = "isnew = 0 AND ws = ms AND we = me"
    member = "kept AND NOT over" if query.once else "kept"
    then = _trigger_state(query, member)
    over = tuple(f"coalesce(bool_and(CASE WHEN kept THEN {name} END), false) AS {name}" for name in _over(query))
    listed = columns(
        keys, "ms AS ws", "me AS we", _merged_partials(query), then,
        f"coalesce(max(CASE WHEN {same} THEN idx END), 0) AS idx", over, _strays(query, "ms"), _WAITING,
    )  # fmt: skip
    return f"SELECT {listed} FROM ({say}) GROUP BY {columns(keys, 'g', 'ms', 'me')}"


def _strays(query: WindowedQuery, start: str) -> tuple[str, ...]:
    """Return the select list of what sessions hold of those that they took in: their standing panes and starts."""
    last = () if query.mode is Mode.DISCARDING else ("sort_array(flatten(collect_list(last))) AS last",)
    return (*last, f"sort_array(collect_list(CASE WHEN isnew = 0 AND ws <> {start} THEN ws END)) AS vanished")


def _plain_sessions(query: WindowedQuery, rows: str) -> str:
    """Return SQL for sessions whose trigger remembers nothing: one sort, and sums of fixed size; see ``gathered``."""
    old = "isnew = 0 AND ws = g"
    same = f"max(CASE WHEN {old} THEN we END) = max(we)"
    stray = "ws <> g" if query.mode is Mode.DISCARDING else "(ws <> g OR size(last) > 0)"
    listed = columns(
        query.key_columns, "g AS ws", "max(we) AS we", _merged_partials(query),
        f"CASE WHEN {same} THEN max(CASE WHEN {old} THEN idx END) ELSE 0 END AS idx",
        f"count_if(isnew = 0 AND {stray}) AS strays", _WAITING,
    )  # fmt: skip
    united = intervals_united(query.window, rows, query.key_columns)
    return f"SELECT {listed} FROM ({united}) GROUP BY {columns(query.key_columns, 'g')}"


def with_strays(query: WindowedQuery, windows: str, state: str | None) -> str:
    """Return SQL for merged ``windows`` as ``merged`` has them, of ``gathered`` ones.

    Args:
        query: the block.
        windows: the relation of what ``gathered`` returned.
        state: relation of all *state* versions; None when no session has strays.
    """
    if not isinstance(query.window, Sessions):
        return f"SELECT * FROM {windows}"
    kinds = standing_types(query) | {"vanished": "array<bigint>"}
    none = tuple(f"CAST(array() AS {kind}) AS {name}" for name, kind in kinds.items())
    alone = f"SELECT {columns('* EXCEPT (strays)', none)} FROM {windows}"
    if state is None:
        return alone
    same = " AND ".join([*(f"s.{k} <=> m.{k}" for k in query.key_columns), "s.ws >= m.ws AND s.we <= m.we"])
    taken = (
        f"SELECT m.ws AS g, 0 AS isnew, s.* FROM ({newest(query, state)}) AS s"
        f" JOIN (SELECT {columns(query.key_columns, 'ws', 'we')} FROM {windows} WHERE strays > 0) AS m ON {same}"
    )
    by = columns(query.key_columns, "g")
    found = f"SELECT {by}, {columns(_strays(query, 'g'))} FROM ({taken}) GROUP BY {by}"
    its = " AND ".join([*(f"f.{k} <=> m.{k}" for k in query.key_columns), "f.g = m.ws"])
    return (
        f"{alone} WHERE strays = 0 UNION ALL SELECT {columns('m.* EXCEPT (strays)', tuple(f'f.{c}' for c in kinds))}"
        f" FROM {windows} AS m JOIN ({found}) AS f ON {its} WHERE m.strays > 0"
    )


# ------------------------------------------------------------------ merged windows to outcome


def with_finals(query: WindowedQuery, windows: str) -> str:
    """Return SQL that adds to ``windows`` the results of the aggregates, ``__w_f…``, and the window's bounds."""
    finals = tuple(f"{sql} AS __w_f{i}" for i, sql in enumerate(query.parts.finals) if sql is not None)
    bounds = (f"{bound_timestamp('ws')} AS __w_start", f"{bound_timestamp('we')} AS __w_end")
    if query.parts.kept:
        windows = _with_kept_results(query, windows)
    return f"SELECT {columns('*', finals, bounds)} FROM ({windows})"


def _with_kept_results(query: WindowedQuery, windows: str) -> str:
    """Return SQL that runs the aggregates without a partial form over the rows that each window kept."""
    identity = (*query.key_columns, "ws", "we")
    kept = f"sort_array({query.parts.rows})" if query.parts.sortable else query.parts.rows
    if query.retracted:
        windows = _with_standing_rows(query, windows)
        kept = f"flatten(transform({query.parts.rows}, k -> array_repeat(k.r, CAST(k.n AS INT))))"
    rows = f"SELECT {columns(identity)}, inline({kept}) FROM ({windows})"
    calls = tuple(f"{sql} AS __w_f{i}" for i, sql in query.parts.kept)
    results = f"SELECT {columns(identity, calls)} FROM ({rows}) GROUP BY {columns(identity)}"
    same = " AND ".join(f"__w_m.{name} <=> __w_r.{name}" for name in identity)
    chosen = tuple(f"__w_r.__w_f{i}" for i, _ in query.parts.kept)
    return f"SELECT {columns('__w_m.*', chosen)} FROM ({windows}) AS __w_m LEFT JOIN ({results}) AS __w_r ON {same}"


def _with_standing_rows(query: WindowedQuery, windows: str) -> str:
    """Return SQL that leaves, of the rows that each window kept, those that were not taken back, in order."""
    identity, kept = (*query.key_columns, "ws", "we"), query.parts.rows
    net = (
        f"SELECT {columns(identity)}, r, sum(n) AS n FROM (SELECT {columns(identity)}, inline({kept}) FROM ({windows}))"
        f" GROUP BY {columns(identity)}, r HAVING sum(n) <> 0"
    )
    gathered = (
        f"SELECT {columns(identity)}, sort_array(collect_list(named_struct('r', r, 'n', n))) AS {kept} FROM ({net})"
        f" GROUP BY {columns(identity)}"
    )
    same = " AND ".join(f"__w_m.{name} <=> __w_n.{name}" for name in identity)
    return (
        f"SELECT __w_m.* EXCEPT ({kept}), __w_n.{kept} FROM ({windows}) AS __w_m"
        f" LEFT JOIN ({gathered}) AS __w_n ON {same}"
    )


def _values(outputs: tuple[Output, ...]) -> str:
    """Return SQL for a pane's values as one struct."""
    fields = ", ".join(f"'o{i}', CAST({o.sql} AS {o.type})" for i, o in enumerate(outputs))
    return f"named_struct({fields})"


def _with_layers(query: WindowedQuery, level: str) -> str:
    """Return SQL that runs the SELECTs around the block over ``shown`` and ``out``, everything else passed through."""
    inside = query.outputs
    for layer in query.layers:
        named = tuple(f"out.o{i} AS {quote_name(o.name)}" for i, o in enumerate(inside))
        packed = f"SELECT {columns('struct(*) AS __w_i', named)} FROM ({level})"
        shown = "__w_i.shown" + (f" AND coalesce({layer.where}, false)" if layer.where else "")
        level = (
            f"SELECT __w_i.* EXCEPT (shown, out), {shown} AS shown,"
            f" CASE WHEN {shown} THEN {_values(layer.outputs)} END AS out FROM ({packed}) AS {layer.alias}"
        )
        inside = layer.outputs
    return level


def outcome(query: WindowedQuery, windows: str, clock: Clock) -> str:
    """Return SQL for *outcome*: trigger decisions, panes and the new state of the merged ``windows``."""
    finals = clock.beside(f"({with_finals(query, windows)})")
    return _outcome(query, finals, clock.reading(CLOCK))


def forgets(query: WindowedQuery, clock: Clock, end: int | None) -> bool:
    """Say whether a step may forget a window, when the first of them ends at ``end``."""
    gap = remembered(query.window)
    if end is None or (clock.complete and not clock.drain):
        return False
    if clock.drain:
        return True
    return query.lateness is not None and gap is not None and end + query.lateness + gap <= clock.after


def _outcome(query: WindowedQuery, finals: str, clock: Reading) -> str:
    tree = query.trigger
    all_nodes = tuple(tree.walk())
    moves = query.once or bool(query.trigger_state)
    close = plus("we", query.lateness)
    gap = remembered(query.window)
    reached = "false" if clock.complete else f"({clock.before} < we AND we <= {clock.after})"
    may_close = "true" if clock.drain or not clock.complete else "false"
    chosen = all_nodes if moves else (tree,)
    ready = tuple(f"{triggers.ready(node, clock)} AS r_{node.id}" for node in chosen)
    level = (
        f"SELECT *, pn > 0 OR {reached} AS looked, {may_close} AND {close} <= {clock.after} AS closing,"
        f" {columns(ready)} FROM ({finals})"
    )
    fires = triggers.fired(tree)
    level = f"SELECT *, {columns(tuple(f'{fires[n.id]} AS f_{n.id}' for n in chosen))} FROM ({level})"
    again = " AND idx = 0" if query.first_only else ""
    level = f"SELECT *, pn > 0 AND (f_{tree.id} OR closing){again} AS emit FROM ({level})"
    if moves:
        level = f"SELECT *, {columns(tuple(f'{triggers.finished(n)} AS z_{n.id}' for n in all_nodes))} FROM ({level})"
    having = f"coalesce({query.having}, false)" if query.having else "true"
    if query.parts.standing and query.mode is not Mode.DISCARDING:
        having += f" AND {query.parts.standing} > 0"  # a window all of whose rows were taken back is no window
    level = f"SELECT *, CASE WHEN emit THEN {having} ELSE false END AS shown FROM ({level})"
    timing = f"CASE WHEN {clock.after} < we THEN {EARLY} WHEN {clock.before} < we THEN {ON_TIME} ELSE {LATE} END"
    level = f"SELECT *, {timing} AS timing, CASE WHEN shown THEN {_values(query.outputs)} END AS out FROM ({level})"
    level = _with_layers(query, level)
    pending = tuple(f"CASE WHEN emit THEN {p.none} ELSE {p.name} END AS {p.name}_next" for p in query.pending)
    level = f"SELECT *, {columns(pending)} FROM ({level})"

    forgotten = "false" if gap is None else f"{plus(close, gap)} <= {clock.after}"
    drop = f"closing AND ({'true' if clock.drain else 'false'} OR {forgotten})"
    level = f"SELECT *, {drop} AS dropped FROM ({level})"

    fresh = "NOT emit" if query.mode is Mode.DISCARDING else "true"
    next_state = {
        **{name: f"CASE WHEN {fresh} THEN {name} END" for name in query.content_columns},
        **{name: f"{name}_next" for name in query.pending_columns},
        **{k.name: k.next for k in query.trigger_state},
        "idx": "CASE WHEN emit THEN idx + 1 ELSE idx END",
        **dict.fromkeys(_over(query), f"over OR z_{tree.id}"),
        **_standing_next(query, clock),
        "due_wm": _due_watermark(query, clock, gap),
        "due_at": _due_clock(query, clock),
    }
    # what is forgotten is not written: most columns of windows that open and close within a step
    kept = tuple(f"CASE WHEN NOT dropped THEN {sql} END AS {name}" for name, sql in next_state.items())
    vanished = "vanished" if merges(query.window) else ""
    return "SELECT " + columns(
        query.key_columns, "ws", "we", kept, f"{clock.step} AS step", "dropped", "opened AND dropped AS momentary",
        vanished, "emit", "shown", "idx AS pane_idx", "timing", "out", _gone(query),
    ) + f" FROM ({level})"  # fmt: skip


def _standing_next(query: WindowedQuery, clock: Reading) -> dict[str, str]:
    """Return the standing panes after the step: the new one where it shows, none where HAVING hides it."""
    values = {"l_idx": "idx", "l_timing": "timing", "l_step": clock.step, "l_out": "out"}
    if query.mode is Mode.DISCARDING:
        return {}
    if not merges(query.window):
        return {c: f"CASE WHEN shown THEN {values[c]} WHEN NOT emit THEN {c} END" for c in _standing_columns(query)}
    out = ", 'out', out" if query.mode is Mode.RETRACTING else ""
    pane = f"array(named_struct('we', we, 'ws', ws, 'idx', idx, 'timing', timing, 'step', {clock.step}{out}))"
    kind = standing_types(query)["last"]
    return {"last": f"CASE WHEN shown THEN {pane} WHEN emit THEN CAST(array() AS {kind}) ELSE last END"}


def _gone(query: WindowedQuery) -> str:
    """Return the standing panes that this firing replaces, as an array, NULL where there are none."""
    if query.mode is Mode.DISCARDING:
        return ""
    if merges(query.window):
        return "CASE WHEN emit AND size(last) > 0 THEN last END AS gone"
    out = ", 'out', l_out" if query.mode is Mode.RETRACTING else ""
    pane = f"array(named_struct('we', we, 'ws', ws, 'idx', l_idx, 'timing', l_timing, 'step', l_step{out}))"
    return f"CASE WHEN emit AND l_step IS NOT NULL THEN {pane} END AS gone"


def _due_watermark(query: WindowedQuery, clock: Reading, gap: int | None) -> str:
    """Return SQL for the next watermark at which the window must be looked at without new rows."""
    close = plus("we", query.lateness)
    forgotten = () if gap is None else (plus(close, gap),)
    own = [moment for node in query.trigger.walk() for moment in triggers.own_watermarks(node)]
    points = (f"CASE WHEN {point} > {clock.after} THEN {point} END" for point in ("we", close, *forgotten, *own))
    return f"coalesce(least({', '.join(points)}), {END}L)"


def _due_clock(query: WindowedQuery, clock: Reading) -> str:
    """Return SQL for the next processing time at which a time leaf is due, NULL when none is."""
    leaves = [node for node in query.trigger.walk() if node.kind in triggers.TIMES]
    moments = [triggers.deadline(node, "pf_next") for node in leaves]
    moments += [moment for node in query.trigger.walk() for moment in triggers.own_times(node, "pf_next")]
    points = [f"CASE WHEN {moment} > {clock.now} THEN {moment} END" for moment in moments]
    return f"least({', '.join(points)})" if len(points) > 1 else (points or ["CAST(NULL AS BIGINT)"])[0]


# ------------------------------------------------------------------ the batch answer


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
        windows = _sessions(query, windows)
    finals = with_finals(query, windows)
    having = f" WHERE {query.having}" if query.having else ""
    return f"SELECT {values} FROM ({finals}){having}"
