"""A trigger in words: its tree, when a window fires early, on time and late, and what to beware of."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.dataflow.phases import (
    Chance,
    Phase,
    due,
    finished_by_the_watermark,
    is_ever_finished,
    turns,
    waits_for_the_end,
)
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.triggers import Kind, Node
from warehouse.dataflow.windows import Global
from warehouse.planning.lengths import duration

EACH_STEP, AT_ONCE = "in each step that brings rows", "in the step that brings rows"


def leaf_text(node: Node) -> str:
    """Return a leaf as it is written."""
    match node.kind:
        case Kind.AT_WATERMARK:
            return "AT WATERMARK"
        case Kind.AT_PERCENTILE:
            return f"AT WATERMARK PERCENTILE {node.percent:g}"
        case Kind.EVERY_BYTES:
            return f"EVERY {node.amount} BYTES"
        case Kind.AFTER_BYTES:
            return f"AFTER {node.amount} BYTES"
        case Kind.WHEN_ROW | Kind.WHEN_AGGREGATE:
            return f"WHEN ({node.written})"
        case Kind.CUSTOM:
            return node.written
        case Kind.EVERY_ROWS:
            return f"EVERY {_rows(node.amount)}"
        case Kind.AFTER_ROWS:
            return f"AFTER {_rows(node.amount)}"
        case Kind.EVERY_TIME:
            return f"EVERY {duration(node.amount)}"
        case Kind.AFTER_TIME:
            return f"AFTER {duration(node.amount)}"
        case Kind.NEVER:
            return "NEVER"
    raise AssertionError(node.kind)


def _rows(amount: int) -> str:
    return "1 ROW" if amount == 1 else f"{amount} ROWS"


def trigger_text(node: Node) -> str:
    """Return a trigger tree as a clause, EARLY and LATE spelled out."""
    if not node.parts:
        return leaf_text(node)
    parts = [trigger_text(p) for p in node.parts]
    if node.kind is Kind.REPEAT:
        return f"REPEAT {parts[0]}" + (f" UNTIL {parts[1]}" if len(parts) == 2 else "")
    return "(" + f" {node.kind.name} ".join(parts) + ")"


def tree_lines(node: Node, depth: int = 0) -> Iterator[str]:
    """Yield a trigger tree, a node a line, parts below what they are parts of."""
    until = "REPEAT … UNTIL" if len(node.parts) == 2 else "REPEAT"
    name = (until if node.kind is Kind.REPEAT else node.kind.name) if node.parts else leaf_text(node)
    yield "  " * depth + name
    for part in node.parts:
        yield from tree_lines(part, depth + 1)


def words(node: Node, phase: Phase, known: bool = False) -> str:
    """Return when a node that is not ruled out fires in a phase, to go after "fires".

    Args:
        node: of a tree.
        phase: that of the window.
        known: see ``phases.turns``.
    """
    match node.kind:
        case Kind.AT_PERCENTILE if phase is Phase.EARLY:
            return f"when a watermark that trusts {node.percent:g} % of recent rows reaches it"
        case Kind.AT_WATERMARK | Kind.AT_PERCENTILE:
            return AT_ONCE
        case Kind.EVERY_TIME:
            return f"at each full {_one(duration(node.amount))} of processing time while there are new rows"
        case Kind.AFTER_TIME:
            return f"{duration(node.amount)} after the first new row arrived"
        case Kind.EVERY_ROWS | Kind.AFTER_ROWS if node.amount == 1:
            return EACH_STEP if node.kind is Kind.EVERY_ROWS else AT_ONCE
        case Kind.EVERY_ROWS | Kind.AFTER_ROWS:
            return f"when {node.amount} rows have come since the last pane"
        case Kind.EVERY_BYTES | Kind.AFTER_BYTES:
            return f"when {node.amount} bytes have come since the last pane"
        case Kind.WHEN_ROW:
            return f"when a row comes for which ({node.written}) holds"
        case Kind.WHEN_AGGREGATE:
            return f"when ({node.written}) holds for what the pane would show"
        case Kind.CUSTOM:
            return f"when {node.written} says so"
        case Kind.OR | Kind.REPEAT:
            able = [part for part in node.parts if due(part, phase) > Chance.NO]
            sure = any(due(part, phase) is Chance.SURE for part in able)
            return EACH_STEP if sure else _joined([words(part, phase) for part in able], "or")
        case Kind.AND:
            open_yet = [part for part in node.parts if due(part, phase) is not Chance.SURE]
            return _joined([words(part, phase) for part in open_yet], "and") if open_yet else EACH_STEP
        case Kind.THEN:
            active = [node.parts[turn] for turn in sorted(turns(node, phase, known))]
            told = [words(part, phase) if due(part, phase) > Chance.NO else _waiting(phase) for part in active]
            return ", then ".join(dict.fromkeys(told))
    raise AssertionError(node.kind)


def _waiting(phase: Phase) -> str:
    return "not before the watermark" if phase is Phase.EARLY else "not any more"


def _one(length: str) -> str:
    """Return a length without its number where that is one: "full minute"."""
    return length.removeprefix("1 ")


def _joined(texts: list[str], word: str) -> str:
    different = list(dict.fromkeys(texts))
    if len(different) == 1:
        return different[0]
    return f" {word} ".join(f"({t})" if " or " in t or " and " in t or ", then " in t else t for t in different)


def fires_lines(query: WindowedQuery, reached: bool) -> Iterator[str]:
    """Yield when the windows of a block fire: while early, when the watermark reaches their end, and after it.

    Args:
        query: the block.
        reached: there is a watermark that can reach the end of a window.
    """
    tree = query.trigger
    early = words(tree, Phase.EARLY) if due(tree, Phase.EARLY) > Chance.NO else None
    if isinstance(query.window, Global) or not reached:
        yield early or "not before DRAIN"
        if early:
            yield "at DRAIN, what was not emitted yet"
        return
    if not waits_for_the_end(tree):
        yield f"{early}, before window_end and after it"
    else:
        yield f"before window_end: {early or 'not'}"
        yield f"at window_end:     {_at_end(tree)}"
        if query.lateness != 0:
            yield f"late rows:         {_late(tree, query.once)}"
    yield f"{_closing(query)}: what was not emitted yet"


def _at_end(tree: Node) -> str:
    match due(tree, Phase.ON_TIME):
        case Chance.NO:
            return "not"
        case Chance.SURE:
            return "when the watermark reaches it, if anything is new"
    return f"when the watermark reaches it, if due then: {words(tree, Phase.ON_TIME)}"


def _late(tree: Node, once: bool) -> str:
    """Return when late rows are emitted; a window without a row before begins with the first part of a THEN."""
    if due(tree, Phase.LATE) is Chance.NO:
        return "not"
    if once and finished_by_the_watermark(tree):
        return f"to late_rows (the first ones of a window: {words(tree, Phase.LATE)})"
    if tree.kind is not Kind.THEN or 0 in turns(tree, Phase.LATE, known=True):
        return words(tree, Phase.LATE)
    late, first = words(tree, Phase.LATE, known=True), words(tree.parts[0], Phase.LATE)
    return late if late == first else f"{late} (the first ones of a window: {first})"


def _closing(query: WindowedQuery) -> str:
    if query.lateness is None:
        return "at DRAIN"
    return f"at window_end + {duration(query.lateness)}" if query.lateness else "at window_end"


# ------------------------------------------------------------------ warnings


def trigger_warnings(tree: Node, once: bool) -> Iterator[str]:
    """Yield what to beware of in a trigger tree, whatever the window."""
    if once and is_ever_finished(tree):
        yield (
            "TRIGGER ONCE may lose rows: those that come to a window whose trigger has finished go to late_rows"
            " (_why = FINISHED), not into the result; without ONCE the trigger starts again"
        )
    elif once:
        yield "TRIGGER ONCE changes nothing: this trigger is never finished before its window closes"
    if due(tree, Phase.EARLY) is Chance.SURE:
        yield (
            "fires early in each step for each window that gets a row: as many panes as windows touched, in every step;"
            " EARLY EVERY INTERVAL … emits fewer"
        )
