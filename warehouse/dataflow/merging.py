"""State and batch to merged windows, those that a step must look at."""

from __future__ import annotations

from warehouse.dataflow.partials import merged_partials, spread
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.select import columns
from warehouse.dataflow.slots import intervals_united, of_kin, sessions
from warehouse.dataflow.state_columns import is_due, newest, over_columns, standing_columns, standing_types
from warehouse.dataflow.times import Clock
from warehouse.dataflow.windows import Sessions, merges
from warehouse.language.statements import Mode


def merged(query: WindowedQuery, state: str | None, batch: str | None, clock: Clock, at_once: bool = False) -> str:
    """Return SQL for the windows that the step must look at, each as one row with state and batch merged.

    Args:
        query: the block.
        state: relation of *state* versions (a superset of what the step touches), or None at the first step.
        batch: the *batch* relation, or None at a step without rows. One of the two there must be.
        clock: the step's times.
        at_once: one task does all of it, so that few rows are not shuffled.
    """
    rows = together(query, state, batch, at_once)
    windows = _windows(query, rows, clock.reading().before)
    if not query.splits:
        return touched(f"({windows})", clock)
    # kin is looked at as a whole, whatever a faster watermark says of each session
    looked = f"max(hit OR {is_due(clock.reading())}) OVER {of_kin(query)} AS looked_at"
    return f"SELECT * EXCEPT (looked_at) FROM (SELECT *, {looked} FROM ({windows})) WHERE looked_at"


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
    rows = together(query, state, pieces)
    if isinstance(query.window, Sessions):
        return _plain_sessions(query, rows)
    return _windows(query, spread(query, f"({rows})") if thin else rows, before)


def together(query: WindowedQuery, state: str | None, batch: str | None, at_once: bool = False) -> str:
    """Return SQL for the rows of state and batch in one relation, ``isnew`` those of the batch."""

    def gathered(relation: str) -> str:
        return f"(SELECT /*+ COALESCE(1) */ * FROM {relation})" if at_once else relation

    standing = standing_columns(query)
    both = (*query.key_columns, "ws", "we", *query.content_columns, *query.pending_columns)
    kept = (*both, *(k.name for k in query.trigger_state), "idx", *over_columns(query), *standing)
    fresh = [*both, *(f"CAST({k.first} AS {k.type}) AS {k.name}" for k in query.trigger_state), "0 AS idx"]
    fresh += [f"false AS {c}" for c in over_columns(query)] + [f"NULL AS {c}" for c in standing]
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


_WAITING = ("max(isnew) = 1 AS hit", "min(isnew) = 1 AS opened", "min(due_wm) AS due_wm", "min(due_at) AS due_at")
"""Of the rows of a merged window: whether rows came to it, whether it is new, and since when it waits."""


def _windows(query: WindowedQuery, rows: str, before: str) -> str:
    """Return SQL for the windows of the rows of state and batch."""
    if merges(query.window):
        merged = _merged_sessions(query, rows, before)
        return sessions(query, merged, standing_types(query)["last"]) if query.splits else merged
    then = _trigger_state(query, "isnew = 0")
    standing = tuple(f"max({name}) AS {name}" for name in standing_columns(query))
    over = tuple(f"bool_or({name}) AS {name}" for name in over_columns(query))
    listed = columns(
        query.key_columns, "ws", "we", merged_partials(query), then, "max(idx) AS idx", over, standing, _WAITING,
    )  # fmt: skip
    identity = columns(query.key_columns, "ws", "we")
    if query.once:
        rows = f"SELECT * FROM ({judged(query, rows, before)}) WHERE NOT (refused AND isnew = 1)"
    return f"SELECT {listed} FROM ({rows}) GROUP BY {identity}"


def _trigger_state(query: WindowedQuery, member: str) -> tuple[str, ...]:
    """Return the select list of what the trigger remembers, of the rows for which ``member`` holds."""
    return tuple(
        f"coalesce({k.merge.format(member=member)}, CAST({k.first} AS {k.type})) AS {k.name}"
        for k in query.trigger_state
    )


def judged(query: WindowedQuery, rows: str, before: str) -> str:
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


def _merged_sessions(query: WindowedQuery, rows: str, before: str) -> str:
    """Return SQL that unites overlapping sessions of a key and merges what they hold, trigger state included."""
    keys = query.key_columns
    say = judged(query, rows, before)
    if query.once:  # what is refused unites nothing: the old sessions stay as they are
        say = (
            "SELECT * EXCEPT (ms, me), if(refused, ws, ms) AS ms, if(refused, we, me) AS me"
            f" FROM ({say}) WHERE NOT (refused AND isnew = 1)"
        )
    same = "isnew = 0 AND ws = ms AND we = me"
    member = "kept AND NOT over" if query.once else "kept"
    then = _trigger_state(query, member)
    over = tuple(f"coalesce(bool_and(CASE WHEN kept THEN {name} END), false) AS {name}" for name in over_columns(query))
    listed = columns(
        keys, "ms AS ws", "me AS we", merged_partials(query), then,
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
        query.key_columns, "g AS ws", "max(we) AS we", merged_partials(query),
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
