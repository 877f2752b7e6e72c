"""Merged windows to the outcome: which fire, the panes that they emit, and the state after the step."""

from __future__ import annotations

from warehouse.dataflow import slots, triggers
from warehouse.dataflow.query import Output, WindowedQuery
from warehouse.dataflow.select import columns
from warehouse.dataflow.state_columns import EARLY, LATE, ON_TIME, over_columns, standing_columns, standing_types
from warehouse.dataflow.times import CLOCK, END, Clock, Reading, bound_timestamp, plus
from warehouse.dataflow.windows import merges, remembered
from warehouse.language.names import quote_name
from warehouse.language.statements import Mode


def with_finals(query: WindowedQuery, windows: str) -> str:
    """Return SQL that adds to ``windows`` the results of the aggregates, ``__w_f…``, and the window's bounds."""
    finals = tuple(f"{sql} AS __w_f{i}" for i, sql in enumerate(query.parts.finals) if sql is not None)
    bounds = (f"{bound_timestamp('ws')} AS __w_start", f"{bound_timestamp('we')} AS __w_end")
    if query.parts.holistic:
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
    calls = tuple(f"{sql} AS __w_f{i}" for i, sql in query.parts.holistic)
    results = f"SELECT {columns(identity, calls)} FROM ({rows}) GROUP BY {columns(identity)}"
    same = " AND ".join(f"__w_m.{name} <=> __w_r.{name}" for name in identity)
    chosen = tuple(f"__w_r.__w_f{i}" for i, _ in query.parts.holistic)
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
    if query.splits:
        level = slots.with_takers(query, level, standing_types(query)["last"])
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
        **dict.fromkeys(over_columns(query), f"over OR z_{tree.id}"),
        **_standing_next(query, clock),
        "due_wm": _due_watermark(query, clock, gap),
        "due_at": _due_clock(query, clock),
    }
    # what is forgotten is not written: most columns of windows that open and close within a step
    kept = tuple(f"CASE WHEN NOT dropped THEN {sql} END AS {name}" for name, sql in next_state.items())
    vanished = "vanished" if merges(query.window) else ""
    made = "SELECT " + columns(
        query.key_columns, "ws", "we", kept, f"{clock.step} AS step", "dropped", "opened AND dropped AS momentary",
        vanished, "emit", "shown", "idx AS pane_idx", "timing", "out", _gone(query),
        ("kin", "taker") if query.splits else "",
    ) + f" FROM ({level})"  # fmt: skip
    return slots.with_kin_together(query, made) if query.splits else made


def _standing_next(query: WindowedQuery, clock: Reading) -> dict[str, str]:
    """Return the standing panes after the step: the new one where it shows, none where HAVING hides it."""
    values = {"l_idx": "idx", "l_timing": "timing", "l_step": clock.step, "l_out": "out"}
    if query.mode is Mode.DISCARDING:
        return {}
    if not merges(query.window):
        return {c: f"CASE WHEN shown THEN {values[c]} WHEN NOT emit THEN {c} END" for c in standing_columns(query)}
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
