"""Sessions over rows that can be taken back: their state is slots, from which they are cut anew.

A row that held a session together may go, and the session falls apart. So the state of one is not one partial
result but one per proto-session [ts, ts + gap), its *slots*, in an array:

1. State and batch unite to *families*, unions of all that overlap, rows that are gone included. The standing panes
   of its members are the family's.
2. Slots of a family that begin and end together are one; those in which no row stands are gone.
3. What is left is united again. Each session that results goes on with the trigger of the family, and what arrived
   for the family is pending for each. The first one inherits the standing panes, which its next pane withdraws.
4. A family of which nothing is left stays as one window without rows: its next pane only withdraws.

This extends the merging of windows in the Dataflow Model, section 2.2.2, to its retractions, section 2.3.
"""

from __future__ import annotations

from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.select import columns
from warehouse.dataflow.windows import Sessions, Window, joins


def intervals_united(window: Window, relation: str, keys: tuple[str, ...]) -> str:
    """Return SQL that tells apart, by ``g``, the unions of overlapping half-open intervals [ws, we) of each key.

    That is where a union starts, or of windows with a merge of their own, which may start together, its number.
    The comparison is strict: intervals that only touch stay apart, so rows exactly one gap apart do (DIALECT 3).
    """
    by = f"PARTITION BY {columns(keys) or '1'} ORDER BY ws, we"
    ends = f"SELECT *, max(we) OVER ({by} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS pe FROM ({relation})"
    union = "max(CASE WHEN {} THEN ws END)" if isinstance(window, Sessions) else "count_if({})"
    apart = f"pe IS NULL OR NOT ({joins(window)})"
    return f"SELECT *, {union.format(apart)} OVER ({by} ROWS UNBOUNDED PRECEDING) AS g FROM ({ends})"


def slot(query: WindowedQuery) -> str:
    """Return SQL for a slot, of a row that has its bounds ``ws``, ``we`` and its partial results."""
    partials = "".join(f", '{name}', {name}" for name in query.partial_columns)
    return f"named_struct('s', ws, 'e', we{partials})"


def slots_type(query: WindowedQuery) -> str:
    """Return the Spark type of the column ``slots``."""
    partials = zip(query.partial_columns, query.parts.partials, strict=True)
    return "array<struct<s:bigint,e:bigint" + "".join(f",{name}:{p.type}" for name, p in partials) + ">>"


def sessions(query: WindowedQuery, families: str, last_type: str) -> str:
    """Return SQL for the sessions that ``families`` fall into, each with its slots and its partial results.

    Args:
        query: a block whose sessions can fall apart.
        families: the merged windows of the step.
        last_type: the Spark type of their standing panes.
    """
    keys = query.key_columns
    family = (*keys, "family")
    each = f"SELECT {columns(keys)}{', ' if keys else ''}ws AS family, inline(slots) FROM ({families})"
    merged = query.merged_partials
    same = f"SELECT {columns(family, 's AS ws', 'e AS we', merged)} FROM ({each}) GROUP BY {columns(family, 's', 'e')}"
    standing = f"SELECT * FROM ({same}) WHERE {query.parts.standing} <> 0"
    united = intervals_united(query.window, f"({standing})", family)
    place = f"row_number() OVER (PARTITION BY {columns(family)} ORDER BY min(ws)) AS place"
    listed = columns(family, "min(ws) AS ws", "max(we) AS we", merged, f"collect_list({slot(query)}) AS slots", place)
    cut = f"SELECT {listed} FROM ({united}) GROUP BY {columns(family, 'g')}"
    matched = " AND ".join([*(f"f.{k} <=> c.{k}" for k in keys), "f.ws = c.family"])
    return f"SELECT {columns(*_inherited(query, last_type))} FROM ({families}) AS f LEFT JOIN ({cut}) AS c ON {matched}"


def _inherited(query: WindowedQuery, last_type: str) -> list[str | tuple[str, ...]]:
    """Return the select list of a session ``c`` of the family ``f``, or of the family that has none."""
    first, none = "coalesce(c.place, 1) = 1", f"CAST(array() AS {last_type})"
    standing = query.parts.standing
    vanished = "CASE WHEN c.ws <> f.ws THEN f.vanished || array(f.ws) ELSE f.vanished END"
    return [
        tuple(f"f.{k}" for k in query.key_columns),
        "coalesce(c.ws, f.ws) AS ws",
        "coalesce(c.we, f.we) AS we",
        tuple(f"coalesce(c.{p}, 0L) AS {p}" if p == standing else f"c.{p}" for p in query.partial_columns),
        f"coalesce(c.slots, CAST(array() AS {slots_type(query)})) AS slots",
        tuple(f"f.{name}" for name in (*query.pending_columns, *(k.name for k in query.trigger_state))),
        f"CASE WHEN {first} AND c.ws = f.ws AND c.we = f.we THEN f.idx ELSE 0 END AS idx",
        "f.over" if query.once else "",
        f"CASE WHEN {first} THEN f.last ELSE {none} END AS last",
        f"f.opened OR NOT {first} AS opened",
        f"CASE WHEN {first} THEN {vanished} ELSE CAST(array() AS ARRAY<BIGINT>) END AS vanished",
        ("f.hit", "f.due_wm", "f.due_at"),
    ]
