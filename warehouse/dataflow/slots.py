"""Sessions over rows that can be taken back: their state is slots, from which they are cut anew.

A row that held a session together may go, and the session falls apart. So the state of one is not one partial
result but one per proto-session [ts, ts + gap), its *slots*, in an array:

1. State and batch unite to *families*, unions of all that overlap, rows that are gone included. The standing panes
   of its members are the family's.
2. Slots of a family that begin and end together are one; those in which no row stands are gone.
3. What is left is united again, first to sessions, and these to *kin* with the standing panes that they overlap. Kin
   goes on with the trigger of the family, and what arrived for the family is pending for it.
4. The trigger looks at each session of kin. The first pane that one of them emits withdraws all that stands, and from
   then on the sessions are windows of their own. Until then kin is one row of state, from where it all starts to where
   it all ends, so that whatever comes to overlap what stands finds it.
5. Standing panes that no session overlaps, and a family of which nothing is left at all, stay as a window without rows:
   its next pane only withdraws.

This extends the merging of windows in the Dataflow Model, section 2.2.2, to its retractions, section 2.3.
"""

from __future__ import annotations

from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.select import columns
from warehouse.dataflow.windows import Sessions, Window, joins


def intervals_united(window: Window, relation: str, keys: tuple[str, ...]) -> str:
    """Return SQL that tells apart, by ``g``, the unions of overlapping half-open intervals [ws, we) of each key.

    That is where a union starts, or of windows with a merge of their own, which may start together, its number.
    The comparison is strict: intervals that only touch stay apart, so rows exactly one gap apart do.
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

    What stands of their kin is ``last`` of all that are kin, ``kin`` says of whom it is.

    Args:
        query: a block whose sessions can fall apart.
        families: the merged windows of the step.
        last_type: the Spark type of their standing panes.
    """
    keys = query.key_columns
    family = (*keys, "family")
    named = f"{columns(keys)}{', ' if keys else ''}ws AS family"
    each = f"SELECT {named}, inline(slots) FROM ({families})"
    merged = query.merged_partials
    same = f"SELECT {columns(family, 's AS ws', 'e AS we', merged)} FROM ({each}) GROUP BY {columns(family, 's', 'e')}"
    standing = f"SELECT * FROM ({same}) WHERE {query.parts.standing} <> 0"
    united = intervals_united(query.window, f"({standing})", family)
    bounds = "min(ws) AS ws", "max(we) AS we"
    listed = columns(family, bounds, merged, f"collect_list({slot(query)}) AS slots", "NULL AS pane")
    cut = f"SELECT {listed} FROM ({united}) GROUP BY {columns(family, 'g')}"
    panes = "inline(transform(last, l -> named_struct('ws', l.ws, 'we', l.we, 'pane', l)))"
    stood = columns(family, "ws", "we", tuple(f"NULL AS {p}" for p in query.partial_columns), "NULL AS slots", "pane")
    both = f"{cut} UNION ALL SELECT {stood} FROM (SELECT {named}, {panes} FROM ({families}))"
    found = _kin(query, both, family)
    matched = " AND ".join([*(f"f.{k} <=> c.{k}" for k in keys), "f.ws = c.family"])
    return (
        f"SELECT {columns(*_inherited(query, last_type))} FROM ({families}) AS f LEFT JOIN ({found}) AS c ON {matched}"
    )


def _kin(query: WindowedQuery, both: str, family: tuple[str, ...]) -> str:
    """Return SQL for the sessions among ``both``, sessions and standing panes, with what stands of their kin.

    Where only panes are kin, there is one row for them. ``place`` is a row's among its kin, ``nth`` in the family.
    """
    kin = columns(family, "g")
    own = (
        f"min(ws) OVER (PARTITION BY {kin}) AS kin_ws", f"max(we) OVER (PARTITION BY {kin}) AS kin_we",
        f"sort_array(collect_list(pane) OVER (PARTITION BY {kin})) AS last",
        f"row_number() OVER (PARTITION BY {kin} ORDER BY slots IS NULL, ws, we) AS place",
    )  # fmt: skip
    related = f"SELECT *, {columns(own)} FROM ({intervals_united(query.window, f'({both})', family)})"
    nth = f"row_number() OVER (PARTITION BY {columns(family)} ORDER BY kin_ws, g, place) AS nth"
    return f"SELECT *, {nth} FROM ({related}) WHERE slots IS NOT NULL OR place = 1"


def _inherited(query: WindowedQuery, last_type: str) -> list[str | tuple[str, ...]]:
    """Return the select list of a session ``c`` of the family ``f``, or of the family that has none."""
    standing = query.parts.standing
    start, end, kin_start, kin_end = (
        f"coalesce(c.{c}, f.{of})" for c, of in (("ws", "ws"), ("we", "we"), ("kin_ws", "ws"), ("kin_we", "we"))
    )
    vanished = f"CASE WHEN {start} <> f.ws THEN f.vanished || array(f.ws) ELSE f.vanished END"
    first = "coalesce(c.nth, 1) = 1"
    rows = "c.slots IS NOT NULL"
    return [
        tuple(f"f.{k}" for k in query.key_columns),
        f"if({rows}, {start}, {kin_start}) AS ws",
        f"if({rows}, {end}, {kin_end}) AS we",
        tuple(f"coalesce(c.{p}, 0L) AS {p}" if p == standing else f"c.{p}" for p in query.partial_columns),
        f"coalesce(c.slots, CAST(array() AS {slots_type(query)})) AS slots",
        tuple(f"f.{name}" for name in (*query.pending_columns, *(k.name for k in query.trigger_state))),
        f"CASE WHEN {start} = f.ws AND {end} = f.we THEN f.idx ELSE 0 END AS idx",
        "f.over" if query.once else "",
        f"coalesce(c.last, CAST(array() AS {last_type})) AS last",
        f"f.opened OR NOT {first} AS opened",
        f"CASE WHEN {first} THEN {vanished} ELSE CAST(array() AS ARRAY<BIGINT>) END AS vanished",
        ("f.hit", "f.due_wm", "f.due_at"),
        f"named_struct('family', f.ws, 'g', c.g, 'ws', {kin_start}, 'we', {kin_end}, 'place', coalesce(c.place, 1),"
        f" 'idx', CASE WHEN {kin_start} = f.ws AND {kin_end} = f.we THEN f.idx ELSE 0 END) AS kin",
    ]


def of_kin(query: WindowedQuery) -> str:
    """Return the window, as of SQL's OVER, of the sessions that are kin."""
    return f"(PARTITION BY {columns(query.key_columns, 'kin.family', 'kin.g')})"


def with_takers(query: WindowedQuery, level: str, last_type: str) -> str:
    """Return SQL that leaves what stands of kin to one session, if any has a pane to ``emit``: the ``taker`` by place.

    Args:
        query: a block whose sessions can fall apart.
        level: SQL for its windows.
        last_type: the Spark type of their standing panes.
    """
    taker = f"min(CASE WHEN emit THEN kin.place END) OVER {of_kin(query)} AS taker"
    last = f"CASE WHEN coalesce(taker = kin.place, true) THEN last ELSE CAST(array() AS {last_type}) END AS last"
    return f"SELECT * EXCEPT (last), {last} FROM (SELECT *, {taker} FROM ({level}))"


def with_kin_together(query: WindowedQuery, outcome: str) -> str:
    """Return SQL for *outcome* where sessions of which none has emitted are one row with their kin."""
    kin = of_kin(query)
    together = {
        "ws": "kin.ws", "we": "kin.we", "idx": "kin.idx", "slots": f"flatten(collect_list(slots) OVER {kin})",
        "due_wm": f"min(due_wm) OVER {kin}", "due_at": f"min(due_at) OVER {kin}",
        "vanished": "filter(vanished, v -> v <> kin.ws)",
    }  # fmt: skip
    listed = tuple(f"if(taker IS NULL AND NOT dropped, {sql}, {name}) AS {name}" for name, sql in together.items())
    all_of_it = f"SELECT * EXCEPT ({columns(tuple(together))}), {columns(listed)} FROM ({outcome})"
    return f"SELECT * EXCEPT (kin, taker) FROM ({all_of_it}) WHERE taker IS NOT NULL OR kin.place = 1"
