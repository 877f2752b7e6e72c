"""When in processing time: trigger trees compiled to columns over a window's merged row.

The whole algebra is data: a ``Node`` has a kind, parts and an amount; what each kind does is one row of these
tables (the Dataflow Model, section 2.3), which ``tests/unit/dataflow/test_triggers.py`` holds to
the functions below. All leaves count from the window's last pane, over the *pending* columns (``pending``: ``pn``
rows, ``pb`` bytes, ``pf`` the first arrival, ``ph`` whether a row held a condition), so the only state a tree keeps
of its own is the active part of each THEN (``t_<id>``), what a user's own trigger keeps (``dataflow.custom``) and,
under ONCE, whether it is over.

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
CUSTOM          as it says          as it says           as it says          unless it      as it says    as it says
                                                                             goes on
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
from itertools import count

from warehouse.dataflow.custom import CustomTrigger, TriggerView
from warehouse.dataflow.times import Reading


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
    CUSTOM = auto()
    NEVER = auto()
    OR = auto()
    AND = auto()
    THEN = auto()
    REPEAT = auto()


@dataclass(frozen=True)
class Own:
    """A trigger of the user's own with the arguments that a statement gives it, as SQL."""

    trigger: CustomTrigger
    arguments: tuple[str, ...]


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
        own: of CUSTOM, what the user defined.
        written: a condition or a unit of the user's own in the user's words, to be shown.
    """

    kind: Kind
    id: int
    amount: int = 0
    parts: tuple[Node, ...] = ()
    condition: str = ""
    percent: float = 0.0
    own: Own | None = None
    written: str = ""

    def walk(self) -> Iterator[Node]:
        """Yield this node and all below it, parents first."""
        yield self
        for part in self.parts:
            yield from part.walk()

    @property
    def goes_on(self) -> bool:
        """Say whether it is a leaf that is never finished."""
        return self.kind in GOES_ON or bool(self.own and self.own.trigger.goes_on)

    def kinds(self) -> frozenset[Kind]:
        """Return the kinds that occur in the tree."""
        return frozenset(node.kind for node in self.walk())


TIMES = frozenset({Kind.EVERY_TIME, Kind.AFTER_TIME})
GOES_ON = frozenset({Kind.EVERY_ROWS, Kind.EVERY_BYTES, Kind.EVERY_TIME, Kind.NEVER})
"""Built-in leaves that are never finished."""
BYTES = frozenset({Kind.EVERY_BYTES, Kind.AFTER_BYTES})
AT_END = frozenset({Kind.AT_WATERMARK, Kind.AT_PERCENTILE})
"""Leaves that fire at a window's end in event time."""


@dataclass(frozen=True)
class Pending:
    """One column of what has arrived for a window since its last pane.

    Attributes:
        name, type: the column.
        first: aggregate expression over the rows of a batch. merge: over pending columns. none: nothing arrived.
        row: what ``first`` comes to for one row, where that is an expression; else None.
    """

    name: str
    type: str
    first: str
    merge: str
    none: str
    row: str | None = None


def pending(root: Node) -> tuple[Pending, ...]:
    """Return the columns that the leaves of a tree need: rows and first arrival always, the others where asked for."""
    nodes = tuple(root.walk())
    columns = [
        Pending("pn", "bigint", "count(1)", "sum(pn)", "0L", "1L"),
        Pending("pf", "bigint", "min(__w_arrival)", "min(pf)", "CAST(NULL AS BIGINT)", "__w_arrival"),
    ]
    if any(node.kind in BYTES for node in nodes):
        columns.append(Pending("pb", "bigint", "sum(__w_size)", "sum(pb)", "0L", "__w_size"))
    for node in nodes:
        if node.kind is Kind.WHEN_ROW:
            name = f"ph_{node.id}"
            held, merge = f"bool_or({node.condition})", f"bool_or({name})"
            columns.append(Pending(name, "boolean", held, merge, "false", node.condition))
        if node.own:
            prefix = own_view(node).prefix
            for name, known in node.own.trigger.arrived(*node.own.arguments).items():
                column = prefix + name
                columns.append(Pending(column, known.type, known.sql, f"{known.merge}({column})", known.none))
    return tuple(columns)


def own_view(node: Node, first: str = "pf") -> TriggerView:
    """Return what a user's own trigger may look at; ``first`` is the column of the first arrival."""
    return TriggerView("__w_start", "__w_end", "pn", f"timestamp_micros({first})", f"c_{node.id}_")


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


def ready(node: Node, clock: Reading) -> str:
    """Return SQL that says whether ``node`` is due, children inline."""
    match node.kind:
        case Kind.AT_WATERMARK:
            return f"({clock.after} >= we)"
        case Kind.AT_PERCENTILE:
            return f"({clock.faster.get(node.percent, clock.after)} >= we)"
        case Kind.EVERY_ROWS | Kind.AFTER_ROWS:
            return f"(pn > 0 AND pn >= {node.amount})"
        case Kind.EVERY_BYTES | Kind.AFTER_BYTES:
            return f"(pn > 0 AND pb >= {node.amount})"
        case Kind.EVERY_TIME | Kind.AFTER_TIME:
            return f"(pn > 0 AND {clock.now} >= {deadline(node)})"
        case Kind.WHEN_ROW:
            return f"(pn > 0 AND ph_{node.id})"
        case Kind.WHEN_AGGREGATE:
            return f"(pn > 0 AND coalesce({node.condition}, false))"
        case Kind.CUSTOM:
            return f"(pn > 0 AND {_own_ready(node, clock)})"
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


def _own_ready(node: Node, clock: Reading) -> str:
    """Return SQL that says whether a user's own trigger is due: by rows, by the watermark, or by the clock."""
    assert node.own
    view, given = own_view(node), node.own.arguments
    rows = node.own.trigger.on_rows(view, *given)
    parts = [f"coalesce({rows}, false)"] if rows else []
    parts += [f"coalesce({clock.after} >= {moment}, false)" for moment in own_watermarks(node)]
    parts += [f"coalesce({clock.now} >= {moment}, false)" for moment in own_times(node)]
    return f"({' OR '.join(parts) or 'false'})"


def own_watermarks(node: Node) -> tuple[str, ...]:
    """Return SQL for the watermark, in microseconds, that makes a user's own trigger due; none or one."""
    moment = node.own.trigger.on_watermark(own_view(node), *node.own.arguments) if node.own else None
    return (f"unix_micros({moment})",) if moment else ()


def own_times(node: Node, first: str = "pf") -> tuple[str, ...]:
    """Return SQL for the processing time, in microseconds, that makes a user's own trigger due; none or one."""
    moment = node.own.trigger.on_time(own_view(node, first), *node.own.arguments) if node.own else None
    return (f"unix_micros({moment})",) if moment else ()


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
    if node.goes_on:
        return "false"
    match node.kind:
        case Kind.OR | Kind.AND:
            return "(" + " OR ".join(finished(part) for part in node.parts) + ")"
        case Kind.THEN:
            return finished(node.parts[-1])
        case Kind.REPEAT:
            return f"f_{node.parts[1].id}" if len(node.parts) == 2 else "false"
    return f"f_{node.id}"


def enclosing(root: Node) -> dict[int, tuple[Node, ...]]:
    """Return, for each node, its ancestors from the root down."""
    out: dict[int, tuple[Node, ...]] = {root.id: ()}
    for node in root.walk():
        for part in node.parts:
            out[part.id] = (*out[node.id], node)
    return out


@dataclass(frozen=True)
class TriggerState:
    """One column of what a tree remembers of a window from pane to pane.

    Attributes:
        name, type: the column.
        first: SQL for its value in a new window.
        merge: an aggregate over the rows of windows that merge, with ``{member}`` for which of them have a say.
        next: SQL for its value after the step, over ``f_<id>``, ``z_<id>`` and the columns themselves.
        shown: how ``stream_state`` calls it.
    """

    name: str
    type: str
    first: str
    merge: str
    next: str
    shown: str


def trigger_state(root: Node) -> tuple[TriggerState, ...]:
    """Return what a tree remembers: the active part of each THEN, and what the user's own triggers keep."""
    columns: list[TriggerState] = []
    numbers = count()
    for node in root.walk():
        if node.kind is Kind.THEN:
            merge, shown = _least_advanced(root, node), f"trigger_part_{next(numbers)}"
            columns.append(TriggerState(f"t_{node.id}", "int", "0", merge, _advanced(root, node), shown))
        if node.own:
            view = own_view(node)
            for name, its in node.own.trigger.kept(view, *node.own.arguments).items():
                column = view[name]
                merge = f"{its.merge}(CASE WHEN {{member}} THEN {column} END)"
                after = f"CASE WHEN {_starts_again(root, node)} THEN {its.first} WHEN f_{node.id}"
                after += f" THEN {its.after_firing} ELSE {column} END"
                columns.append(TriggerState(column, its.type, its.first, merge, f"CAST({after} AS {its.type})", name))
    return tuple(columns)


def _starts_again(root: Node, node: Node) -> str:
    """Return SQL over ``z_<id>``: the node or one above it is finished."""
    return "(" + " OR ".join(f"z_{n.id}" for n in [node, *enclosing(root)[node.id]]) + ")"


def _advanced(root: Node, node: Node) -> str:
    """Return SQL for the new active part of the THEN ``node``, over ``z_<id>`` and ``t_<id>``."""
    moves = " ".join(f"WHEN t_{node.id} = {i} AND z_{part.id} THEN {i + 1}" for i, part in enumerate(node.parts[:-1]))
    return f"CASE WHEN {_starts_again(root, node)} THEN 0 {moves} ELSE t_{node.id} END"


def _least_advanced(root: Node, node: Node) -> str:
    """Return SQL for a THEN's part after a session merge: the least advanced of the members that have a say."""
    chain = [n for n in enclosing(root)[node.id] if n.kind is Kind.THEN] + [node]
    if len(chain) == 1:
        return f"min(CASE WHEN {{member}} THEN t_{node.id} END)"
    places = ", ".join(f"t_{n.id}" for n in chain)
    return f"min(CASE WHEN {{member}} THEN array({places}) END)[{len(chain) - 1}]"
