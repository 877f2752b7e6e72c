"""When in processing time: trigger trees compiled to columns over a window's merged row.

The whole algebra is data: a ``Node`` has a kind, parts and an amount; what each kind does is one row of these
tables (the Dataflow Model, section 2.3; DIALECT section 3), which ``tests/unit/dataflow/test_triggers.py`` holds to
the functions below. All leaves count from the window's last pane, over the *pending* columns (``pending``: ``pn``
rows, ``pb`` bytes, ``pf`` the first arrival, ``ph`` whether a row held a condition), so the only state a tree keeps
of its own is the active part of each THEN (``t_<id>``) and, under ONCE, whether it is over.

==============  ==================  ===================  ==================  =============  ============  ============
leaf            on rows             on the watermark     on the clock        finished       after firing  on merge
==============  ==================  ===================  ==================  =============  ============  ============
AT_WATERMARK    -                   due from the end on  -                   when it fires  -             -
AT_PERCENTILE   -                   due by a faster one  -                   when it fires  -             -
EVERY_ROWS      due at n            -                    -                   never          pn = 0L       sum(pn)
AFTER_ROWS      due at n            -                    -                   when it fires  pn = 0L       sum(pn)
EVERY_BYTES     due at n            -                    -                   never          pb = 0L       sum(pb)
AFTER_BYTES     due at n            -                    -                   when it fires  pb = 0L       sum(pb)
EVERY_TIME      the first is kept   -                    at a full interval  never          pf = NULL     min(pf)
AFTER_TIME      the first is kept   -                    an interval later   when it fires  pf = NULL     min(pf)
WHEN_ROW        due if one held it  -                    -                   when it fires  ph = false    bool_or(ph)
WHEN_AGGREGATE  due while it holds  -                    -                   when it fires  -             -
NEVER           -                   -                    -                   never          -             -
==============  ==================  ===================  ==================  =============  ============  ============

======  ==================  ====================  ==========================  =====================  ==================
inner   due                 of its parts fire     finished                    after firing           on merge
======  ==================  ====================  ==========================  =====================  ==================
OR      when a part is      those that are due    when a part that fired is   -                      its parts do
AND     when all parts are  all                   when a part that fired is   -                      its parts do
THEN    when the active is  the active one        when its last part is       the next part's turn,  the least advanced
                                                                              if that is finished
REPEAT  when a part is      UNTIL if due, or      when UNTIL fired            the body starts again  its parts do
                            else the body                                     if that is finished
======  ==================  ====================  ==========================  =====================  ==================

A finished root starts again, unless it is to fire ONCE. A node that starts again needs no reset of its own: its
THENs below return to their first part, and there is nothing else to reset.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from warehouse.dataflow.times import Clock


class Kind(Enum):
    """What a node of a trigger tree is."""

    AT_WATERMARK = auto()
    AT_PERCENTILE = auto()
    EVERY_ROWS = auto()
    AFTER_ROWS = auto()
    EVERY_BYTES = auto()
    AFTER_BYTES = auto()
    EVERY_TIME = auto()
    AFTER_TIME = auto()
    WHEN_ROW = auto()
    WHEN_AGGREGATE = auto()
    NEVER = auto()
    OR = auto()
    AND = auto()
    THEN = auto()
    REPEAT = auto()


@dataclass(frozen=True)
class Node:
    """One node of a trigger tree.

    Attributes:
        kind: see the module's table.
        id: its number in the tree, unique, parents before children.
        amount: rows, bytes, or microseconds; 0 where the kind has none.
        parts: children; REPEAT has the body and, optionally, the until.
        condition: of WHEN_ROW the column of the input that says whether it holds, of WHEN_AGGREGATE SQL over
            finals, keys and bounds.
        percent: of AT_PERCENTILE, how many percent of the recent rows it trusts to be on time.
        written: the condition in the user's words, to be shown.
    """

    kind: Kind
    id: int
    amount: int = 0
    parts: tuple[Node, ...] = ()
    condition: str = ""
    percent: float = 0.0
    written: str = ""

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it, parents first."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def kinds(self) -> frozenset[Kind]:
        """Return the kinds that occur in the tree."""
        return frozenset(node.kind for node in self.walk())


TIMES = frozenset({Kind.EVERY_TIME, Kind.AFTER_TIME})
BYTES = frozenset({Kind.EVERY_BYTES, Kind.AFTER_BYTES})
AT_END = frozenset({Kind.AT_WATERMARK, Kind.AT_PERCENTILE})
"""Leaves that fire at a window's end in event time."""
INNER = frozenset({Kind.NEVER, Kind.OR, Kind.AND, Kind.THEN, Kind.REPEAT})
"""What fires only as something else does."""


@dataclass(frozen=True)
class Pending:
    """One column of what has arrived for a window since its last pane.

    Attributes:
        name, type: the column.
        first: aggregate expression over the rows of a batch. merge: over pending columns. none: nothing arrived.
    """

    name: str
    type: str
    first: str
    merge: str
    none: str


def pending(root: Node) -> tuple[Pending, ...]:
    """Return the columns that the leaves of a tree need: rows and first arrival always, the others where asked for."""
    nodes = tuple(root.walk())
    columns = [
        Pending("pn", "bigint", "count(1)", "sum(pn)", "0L"),
        Pending("pf", "bigint", "min(__w_arrival)", "min(pf)", "CAST(NULL AS BIGINT)"),
    ]
    if any(node.kind in BYTES for node in nodes):
        columns.append(Pending("pb", "bigint", "sum(__w_size)", "sum(pb)", "0L"))
    for node in nodes:
        if node.kind is Kind.WHEN_ROW:
            name = f"ph_{node.id}"
            columns.append(Pending(name, "boolean", f"bool_or({node.condition})", f"bool_or({name})", "false"))
    return tuple(columns)


def percentiles(root: Node) -> tuple[float, ...]:
    """Return the percentages of the tree's faster watermarks, rising."""
    return tuple(sorted({node.percent for node in root.walk() if node.kind is Kind.AT_PERCENTILE}))


def deadline(node: Node, first: str = "pf") -> str:
    """Return SQL for the processing time at which a time leaf is due, NULL without pending rows.

    Args:
        node: the leaf.
        first: the column of the first arrival since the last pane.
    """
    if node.kind is Kind.AFTER_TIME:
        return f"{first} + {node.amount}L"
    return f"{first} + pmod({node.amount}L - pmod({first}, {node.amount}L), {node.amount}L)"


def ready(node: Node, clock: Clock) -> str:
    """Return SQL that says whether ``node`` is due, children inline."""
    match node.kind:
        case Kind.AT_WATERMARK:
            return f"({clock.after}L >= we)"
        case Kind.AT_PERCENTILE:
            return f"({max(clock.after, clock.faster.get(node.percent, clock.after))}L >= we)"
        case Kind.EVERY_ROWS | Kind.AFTER_ROWS:
            return f"(pn > 0 AND pn >= {node.amount})"
        case Kind.EVERY_BYTES | Kind.AFTER_BYTES:
            return f"(pn > 0 AND pb >= {node.amount})"
        case Kind.EVERY_TIME | Kind.AFTER_TIME:
            return f"(pn > 0 AND {clock.now}L >= {deadline(node)})"
        case Kind.WHEN_ROW:
            return f"(pn > 0 AND ph_{node.id})"
        case Kind.WHEN_AGGREGATE:
            return f"(pn > 0 AND coalesce({node.condition}, false))"
        case Kind.NEVER:
            return "false"
        case Kind.OR | Kind.REPEAT:
            return "(" + " OR ".join(ready(part, clock) for part in node.parts) + ")"
        case Kind.AND:
            return "(" + " AND ".join(ready(part, clock) for part in node.parts) + ")"
        case Kind.THEN:
            whens = " ".join(f"WHEN {i} THEN {ready(p, clock)}" for i, p in enumerate(node.parts))
            return f"(CASE t_{node.id} {whens} END)"
    raise AssertionError(node.kind)


def fired(root: Node) -> dict[int, str]:
    """Return SQL for each node below a THEN-holding tree: whether it fires, over columns ``r_<id>`` and ``looked``."""
    out = {root.id: f"(looked AND r_{root.id})"}
    for node in root.walk():
        above = out[node.id]
        for position, part in enumerate(node.parts):
            match node.kind:
                case Kind.OR | Kind.AND:
                    out[part.id] = f"({above} AND r_{part.id})"
                case Kind.THEN:
                    out[part.id] = f"({above} AND t_{node.id} = {position})"
                case Kind.REPEAT:
                    until_is_due = f"r_{node.parts[1].id}" if len(node.parts) == 2 else "false"
                    out[part.id] = f"({above} AND {until_is_due if position else f'NOT {until_is_due}'})"
    return out


def finished(node: Node) -> str:
    """Return SQL that says whether ``node`` finished in this step, over the columns ``f_<id>``."""
    match node.kind:
        case Kind.EVERY_ROWS | Kind.EVERY_BYTES | Kind.EVERY_TIME | Kind.NEVER:
            return "false"
        case Kind.OR | Kind.AND:
            return "(" + " OR ".join(finished(part) for part in node.parts) + ")"
        case Kind.THEN:
            return finished(node.parts[-1])
        case Kind.REPEAT:
            return f"f_{node.parts[1].id}" if len(node.parts) == 2 else "false"
    return f"f_{node.id}"


def thens(root: Node) -> tuple[Node, ...]:
    """Return the THEN nodes, outer ones first."""
    return tuple(node for node in root.walk() if node.kind is Kind.THEN)


def enclosing(root: Node) -> dict[int, tuple[Node, ...]]:
    """Return, for each node, its ancestors from the root down."""
    out: dict[int, tuple[Node, ...]] = {root.id: ()}
    for node in root.walk():
        for part in node.parts:
            out[part.id] = (*out[node.id], node)
    return out


def advanced(root: Node, node: Node) -> str:
    """Return SQL for the new active part of the THEN ``node``, over ``z_<id>`` and ``t_<id>``."""
    over = [node, *enclosing(root)[node.id]]
    restart = " OR ".join(f"z_{n.id}" for n in over)
    moves = " ".join(f"WHEN t_{node.id} = {i} AND z_{part.id} THEN {i + 1}" for i, part in enumerate(node.parts[:-1]))
    return f"CASE WHEN {restart} THEN 0 {moves} ELSE t_{node.id} END"


def merged_part(root: Node, node: Node, member: str) -> str:
    """Return SQL for a THEN's part after a session merge: the least advanced of the members that have a say.

    Args:
        root: the tree.
        node: the THEN.
        member: a condition that says which rows of the group have a say.
    """
    chain = [n for n in enclosing(root)[node.id] if n.kind is Kind.THEN] + [node]
    if len(chain) == 1:
        return f"coalesce(min(CASE WHEN {member} THEN t_{node.id} END), 0)"
    places = ", ".join(f"t_{n.id}" for n in chain)
    return f"coalesce(min(CASE WHEN {member} THEN array({places}) END)[{len(chain) - 1}], 0)"
