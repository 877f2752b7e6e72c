"""Where an expression ends: a walk that knows whether an operand or an operator comes next.

Almost every word of Spark SQL may also be a name, so ``LIMIT`` in ``SELECT limit FROM t`` is a clause or a column
by its place alone. The walk keeps track of that place and asks its caller, wherever no operand is expected,
whether a clause starts here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from warehouse.errors import Span, fail
from warehouse.language.cursor import Cursor
from warehouse.language.intervals import UNITS
from warehouse.language.tokens import Kind

_PREFIX = frozenset({"NOT", "CASE"})
_BINARY = frozenset(
    [
        "AND",
        "OR",
        "NOT",
        "IN",
        "LIKE",
        "ILIKE",
        "RLIKE",
        "REGEXP",
        "BETWEEN",
        "DIV",
        "ESCAPE",
        "COLLATE",
        "OVER",
        "AS",
        "USING",
    ]
)
_ENDS_OPERAND = frozenset({",", ")", "]", "}", ".", "=", "<", ">", "<=", ">=", "<>", "!=", "/", "||", "|>", ":", "::"})


@dataclass(frozen=True)
class Walked:
    """What a walk passed.

    Attributes:
        items: for each comma-separated item, its first token's index, the index behind its last one, and the
            index of an alias (with or without AS) or None.
        brackets: the index of each opening parenthesis passed, in order.
    """

    items: tuple[tuple[int, int, int | None], ...]
    brackets: tuple[int, ...]


@dataclass
class _State:
    operand: bool = True
    cases: int = 0
    alias: int | None = None
    items: list[tuple[int, int, int | None]] = field(default_factory=list)
    brackets: list[int] = field(default_factory=list)


def walk(cursor: Cursor, end: int, stop: Callable[[Cursor], bool], commas: bool = True) -> Walked:
    """Move over expressions up to index ``end`` or the first place where ``stop`` says that a clause starts.

    With ``commas``, they separate items; else the first one at this depth ends the walk.
    """
    state = _State()
    first = cursor.at
    while cursor.at < end:
        token = cursor.token
        if token.upper == "," and not state.cases:
            if not commas:
                break
            state.items.append((first, cursor.at, state.alias if state.alias == cursor.at - 1 else None))
            cursor.take()
            state.operand, state.alias, first = True, None, cursor.at
        elif not state.operand and not state.cases and stop(cursor):
            break
        elif token.upper in ("(", "[", "{"):
            if token.upper == "(":
                state.brackets.append(cursor.at)
            cursor.at = min(cursor.closing(cursor.at) + 1, end)
            state.operand = False
        elif token.kind is Kind.WORD:
            _word(cursor, state)
        elif token.kind is Kind.SYMBOL:
            _symbol(cursor, state)
        else:
            after_as = cursor.at > 0 and cursor.tokens[cursor.at - 1].upper == "AS"
            if token.kind is Kind.IDENTIFIER_QUOTED and (after_as or not state.operand):
                state.alias = cursor.at
            cursor.take()
            state.operand = state.operand and token.kind is Kind.HINT
    if first < cursor.at:
        state.items.append((first, cursor.at, state.alias if state.alias == cursor.at - 1 else None))
    return Walked(tuple(state.items), tuple(state.brackets))


def arguments(cursor: Cursor, clause: str, example: str) -> tuple[Span, ...]:
    """Return the expressions of the bracket that opens at the cursor, and move behind it.

    Raises:
        WarehouseError: the bracket is not closed, or nothing stands beside a comma.
    """
    close = cursor.closing(cursor.at)
    if cursor.tokens[close].kind is Kind.END:
        fail("WAREHOUSE_UNCLOSED", cursor.here(), clause=clause, example=example)
    cursor.take()
    found: list[Span] = []
    while cursor.at < close:
        first = cursor.at
        walk(cursor, close, lambda c: False, commas=False)
        if cursor.at == first or (cursor.token.upper == "," and cursor.at + 1 == close):
            cursor.fail_expecting("an expression", clause, example)
        found.append(cursor.span(first))
        cursor.accept(",")
    cursor.take()
    return tuple(found)


def _word(cursor: Cursor, state: _State) -> None:
    word = cursor.token.upper
    after = cursor.peek()
    if state.operand:
        ends = after.kind is Kind.END or after.upper in _ENDS_OPERAND or after.upper in ("FROM", "AS")
        if word == "INTERVAL" and not ends:
            _skip_interval(cursor)
            state.operand = False
            return
        if word == "CASE" and not ends:
            state.cases += 1
        after_as = cursor.tokens[cursor.at - 1].upper == "AS"
        after_dot = cursor.tokens[cursor.at - 1].upper == "."
        if after_as:
            state.alias = cursor.at
        first_when = word == "WHEN" and cursor.tokens[cursor.at - 1].upper == "CASE"
        state.operand = (word in _PREFIX or first_when) and not ends and not after_as and not after_dot
        cursor.take()
        if cursor.token.upper == "<" and cursor.tokens[cursor.at - 2].upper == "::":
            _skip_angles(cursor)
        return
    if word == "IS":
        cursor.take()
        cursor.accept("NOT")
        if not cursor.accept("DISTINCT", "FROM"):
            cursor.take()
            return
        state.operand = True
        return
    if word == "END" and state.cases:
        state.cases -= 1
    elif word in _BINARY or (state.cases and word in ("WHEN", "THEN", "ELSE")):
        state.operand = True
    elif not (word == "NULLS" and cursor.tokens[cursor.at - 1].upper in ("IGNORE", "RESPECT")):
        state.alias = cursor.at
    cursor.take()


def _symbol(cursor: Cursor, state: _State) -> None:
    symbol = cursor.take().upper
    if symbol == "?" or (symbol == "*" and state.operand):
        state.operand = False
    elif symbol not in (")", "]", "}"):
        state.operand = True


def _skip_interval(cursor: Cursor) -> None:
    """Move over INTERVAL and the value and units of a literal."""
    cursor.take()
    while True:
        ahead = 1 if cursor.token.upper in ("+", "-") else 0
        if cursor.peek(ahead).kind not in (Kind.STRING, Kind.NUMBER):
            if cursor.token.upper == "(":
                cursor.skip_brackets()
                if cursor.token.upper in UNITS:
                    cursor.take()
            return
        if ahead and cursor.tokens[cursor.at - 1].upper != "INTERVAL":
            return
        cursor.at += ahead
        while cursor.token.kind in (Kind.STRING, Kind.NUMBER):
            cursor.take()
        if cursor.token.upper not in UNITS:
            return
        cursor.take()
        if cursor.token.upper == "TO" and cursor.peek().upper in UNITS:
            cursor.at += 2


def _skip_angles(cursor: Cursor) -> None:
    """Move over ``<…>`` of a type behind ``::``."""
    depth = 0
    while not cursor.done:
        symbol = cursor.take().upper
        depth += (symbol == "<") - (symbol == ">")
        if depth == 0:
            return
