"""What a trigger tree can do while a window is early, on time or late: what EXPLAIN and its warnings are made of.

An abstract run of ``dataflow.triggers``: instead of one step's columns, all steps of a phase at once. Every answer
is one of three: ``NO``, it does not happen in this phase, whatever arrives; ``SURE``, it happens in each step that
brings the window rows; ``MAYBE``, it depends. ``NO`` and ``SURE`` are promises, which ``tests/oracle`` holds to the
model. (A replay whose watermark is 'complete' has no phases: each of its steps is on time.)
"""

from __future__ import annotations

from enum import Enum, IntEnum, auto

from warehouse.dataflow.triggers import AT_END, Kind, Node


class Phase(Enum):
    """Where the watermark stands after a step: below the window's end, reaching it in this step, beyond it before."""

    EARLY = auto()
    ON_TIME = auto()
    LATE = auto()


class Chance(IntEnum):
    """Whether something happens in a phase."""

    NO = 0
    MAYBE = 1
    SURE = 2


def due(node: Node, phase: Phase, rows: bool = True) -> Chance:
    """Return whether ``node`` is due in a step of a phase.

    Args:
        node: of a tree.
        phase: that of the window.
        rows: the step finds rows that are not emitted yet; without them only the watermark makes anything due.
    """
    match node.kind:
        case Kind.AT_WATERMARK:
            return Chance.NO if phase is Phase.EARLY else Chance.SURE
        case Kind.AT_PERCENTILE:
            return Chance.MAYBE if phase is Phase.EARLY else Chance.SURE
        case Kind.EVERY_ROWS | Kind.AFTER_ROWS if rows and node.amount == 1:
            return Chance.SURE
        case Kind.OR | Kind.REPEAT:
            return max(due(part, phase, rows) for part in node.parts)
        case Kind.AND:
            return min(due(part, phase, rows) for part in node.parts)
        case Kind.THEN:
            chances = {due(node.parts[turn], phase, rows) for turn in turns(node, phase)}
            return chances.pop() if len(chances) == 1 else Chance.MAYBE
        case Kind.NEVER:
            return Chance.NO
    return Chance.MAYBE if rows else Chance.NO


def finished(node: Node, phase: Phase, rows: bool = True) -> Chance:
    """Return whether ``node``, were it the whole tree, fires in a step of a phase and is finished by it."""
    if node.goes_on:
        return Chance.NO
    match node.kind:
        case Kind.OR:
            return max(finished(part, phase, rows) for part in node.parts)
        case Kind.AND:
            return min(due(node, phase, rows), max(finished(part, phase, rows) for part in node.parts))
        case Kind.THEN:
            last = len(node.parts) - 1
            active = turns(node, phase)
            if last not in active:
                return Chance.NO
            whole = finished(node.parts[last], phase, rows)
            return whole if active == {last} else min(whole, Chance.MAYBE)
        case Kind.REPEAT:
            return due(node.parts[1], phase, rows) if len(node.parts) == 2 else Chance.NO
    return due(node, phase, rows)


def turns(node: Node, phase: Phase, known: bool = False) -> frozenset[int]:
    """Return which parts of a THEN can be the active one in a phase.

    Args:
        node: the THEN.
        phase: that of the window.
        known: of a THEN that is the whole tree: only of windows that the watermark found when it reached their end.
    """
    if phase is Phase.EARLY:
        return _onward(node, frozenset({0}), phase)
    before = turns(node, Phase.EARLY)
    if phase is Phase.ON_TIME:
        return before
    reached = {_next(node, turn) for turn in before if finished(node.parts[turn], Phase.ON_TIME) > Chance.NO}
    stayed = {turn for turn in before if not finished_by_the_watermark(node.parts[turn])}
    return _onward(node, frozenset(reached | stayed | (set() if known else {0})), phase)


def _onward(node: Node, start: frozenset[int], phase: Phase) -> frozenset[int]:
    """Return ``start`` and all turns that parts which finish in a phase lead to."""
    found = set(start)
    waiting = list(start)
    while waiting:
        turn = waiting.pop()
        if finished(node.parts[turn], phase) > Chance.NO and (following := _next(node, turn)) not in found:
            found.add(following)
            waiting.append(following)
    return frozenset(found)


def _next(node: Node, turn: int) -> int:
    return (turn + 1) % len(node.parts)


def finished_by_the_watermark(node: Node) -> bool:
    """Say whether the watermark's reaching the end finishes ``node``, with or without rows that are not emitted."""
    return min(finished(node, Phase.ON_TIME), finished(node, Phase.ON_TIME, rows=False)) is Chance.SURE


def is_ever_finished(root: Node) -> bool:
    """Say whether a tree can be finished before its window closes: under ONCE, rows that come then are kept aside."""
    return any(finished(root, phase) > Chance.NO for phase in Phase)


def waits_for_the_end(root: Node) -> bool:
    """Say whether a tree has a part that fires at a window's end in event time."""
    return bool(root.kinds() & AT_END)
