"""The state's columns and their types, which of its rows are live, and which are due."""

from __future__ import annotations

from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.select import columns
from warehouse.dataflow.slots import slots_type
from warehouse.dataflow.times import Reading
from warehouse.dataflow.windows import Custom, merges
from warehouse.language.statements import Mode

EARLY, ON_TIME, LATE = 0, 1, 2
"""Pane timings as the state keeps them."""


def standing_columns(query: WindowedQuery) -> tuple[str, ...]:
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
        *over_columns(query), *standing_columns(query), "due_wm", "due_at", "step", "dropped",
    )  # fmt: skip


def state_types(query: WindowedQuery) -> dict[str, str]:
    """Return the types of the state's columns, in their order."""
    kinds = dict(zip(query.key_columns, query.keys, strict=True)) | content_types(query) | standing_types(query)
    kinds |= {p.name: p.type for p in query.pending} | {k.name: k.type for k in query.trigger_state}
    kinds |= {"idx": "int", **dict.fromkeys(("ws", "we", "due_wm", "due_at", "step"), "bigint")}
    kinds |= dict.fromkeys(("over", "dropped"), "boolean")
    return {name: kinds[name] for name in state_columns(query)}


def over_columns(query: WindowedQuery) -> tuple[str, ...]:
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
    return {name: kinds[name] for name in standing_columns(query)}
