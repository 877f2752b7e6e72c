"""An aggregate of a query as it is bound, and what one is taken apart into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Argument:
    """An argument of an aggregate: SQL over the source row, its Spark type, and whether it is a constant."""

    sql: str
    type: str
    constant: bool = False


@dataclass(frozen=True)
class Call:
    """One aggregate call of a query, as bound.

    Attributes:
        function: lower case name.
        arguments: ``*`` is written as no argument.
        distinct: DISTINCT was written.
        filter: the FILTER condition over the source row, or None.
        rest: what follows the closing parenthesis apart from FILTER, with ``{0}`` for ordering arguments
            (``WITHIN GROUP (ORDER BY {0} DESC)``), or "".
        ordering: the ordering arguments of ``rest``.
        type: the result's Spark type.
    """

    function: str
    arguments: tuple[Argument, ...]
    distinct: bool
    filter: str | None
    type: str
    rest: str = ""
    ordering: tuple[Argument, ...] = ()


@dataclass(frozen=True)
class Partial:
    """One column of partial results.

    Attributes:
        sql: aggregate expression over the argument columns of the batch.
        merge: the same kind of result from partial results; ``{}`` is the column.
        type: its Spark type, so that an empty one can be written as a typed NULL.
        row: what ``sql`` comes to for one row, over the same columns, where that is an expression; else None.
        small: a sum of numbers so small that no rows there can be make it leave its type, in whatever order.
        since: the format of states (``streaming/log.py``) since which it is kept; before, there were rows instead.
    """

    sql: str
    merge: str
    type: str
    row: str | None = None
    small: bool = False
    since: int = 0


@dataclass(frozen=True)
class Form:
    """A call taken apart. ``inputs`` are columns computed per row; ``final`` reads partials as ``{0}``."""

    inputs: tuple[str, ...]
    partials: tuple[Partial, ...]
    final: str


INTEGRAL = frozenset({"tinyint", "smallint", "int", "bigint"})
FLOATING = frozenset({"float", "double"})

Build = Callable[[Call], Form | None]
"""Takes a call apart; None where that cannot be done for its types."""

SIGN = "__w_sign"
"""Column of the input: 1 for a row, -1 for the withdrawal of one."""


def comparable(kind: str) -> bool:
    """Say whether values of a type can be compared, hence sorted, grouped and found again."""
    return "map<" not in kind and "variant" not in kind


def values_of(call: Call) -> tuple[str, ...]:
    """Return the arguments as column expressions, NULL where the FILTER does not hold."""
    if call.filter is None:
        return tuple(a.sql for a in call.arguments)
    return tuple(f"CASE WHEN {call.filter} THEN {a.sql} END" for a in call.arguments)
