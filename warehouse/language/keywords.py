"""Spark's own clauses and query heads: where one starts, and where the same word is only a name."""

from __future__ import annotations

from warehouse.language.cursor import Cursor
from warehouse.language.tokens import Kind

SET_OPERATORS = frozenset({"UNION", "EXCEPT", "INTERSECT", "MINUS"})
NEVER_ALIAS = frozenset(
    [
        "ANTI",
        "CROSS",
        "EXCEPT",
        "FULL",
        "INNER",
        "INTERSECT",
        "JOIN",
        "LATERAL",
        "LEFT",
        "NATURAL",
        "ON",
        "RIGHT",
        "SEMI",
        "MINUS",
        "UNION",
        "USING",
    ]
)
_JOIN_WORDS = frozenset(["JOIN", "INNER", "CROSS", "LEFT", "RIGHT", "FULL", "OUTER", "SEMI", "ANTI", "NATURAL"])
_AFTER_ALIAS = _JOIN_WORDS | {"FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LATERAL", "ON", "USING"}
_BEFORE_BY = frozenset({"GROUP", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE"})
_OPERATORS = frozenset({",", ")", "]", ".", "=", "<", ">", "<=", ">=", "<>", "!=", "/", "||", "%", "::", "->", "=="})
BEFORE_BRACKET = frozenset(
    ["AS", "FROM", "HAVING", "IN", "LIMIT", "PIVOT", "TABLESAMPLE", "UNPIVOT", "VALUES", "VIEW", "WHERE"]
)
"""Words of Spark's that may stand before a bracket behind an alias, where a name would be a call."""
TAILS = frozenset({"ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "LIMIT", "OFFSET"})


def clause_start(cursor: Cursor) -> str | None:
    """Return the word that opens a clause of Spark's at the cursor, or None when the word is only a name there.

    The cursor stands where no operand is expected: behind an expression or a relation.
    """
    word, after = cursor.token.upper, cursor.peek()
    ends = after.kind is Kind.END or after.upper in _OPERATORS
    if word in ("|>", ";"):
        return word
    if word in _BEFORE_BY:
        return word if after.upper == "BY" else None
    if word in ("FROM", "WHERE", "HAVING"):
        return None if ends else word
    if word in ("LIMIT", "OFFSET", "QUALIFY"):
        goes_on = after.upper in _AFTER_ALIAS and cursor.peek(2).upper != "("
        return None if ends or goes_on else word
    if word in SET_OPERATORS:
        return word if _set_operator(cursor) else None
    if word == "LATERAL":
        return word if after.upper == "VIEW" else None
    if word == "WINDOW":
        return word if named_window(cursor) else None
    if word == "SELECT":
        return word if not ends else None
    if word == "INSERT":
        return word if after.upper in ("INTO", "OVERWRITE") else None
    return None


def named_window(cursor: Cursor) -> bool:
    """Say whether ``WINDOW name AS (…)`` of Spark's stands at the cursor."""
    return cursor.sees("WINDOW") and cursor.peek(1).is_name and cursor.peek(2).upper == "AS"


def _set_operator(cursor: Cursor) -> bool:
    after = cursor.peek()
    if after.upper in ("ALL", "DISTINCT", "SELECT", "VALUES", "TABLE", "FROM", "WITH", "MAP", "REDUCE"):
        return True
    return after.upper == "(" and starts_query(cursor, cursor.at + 2)


def starts_query(cursor: Cursor, index: int) -> bool:
    """Say whether a query starts at token ``index``, the first one behind an opening bracket or a head."""
    tokens = cursor.tokens
    if index >= len(tokens) - 1:
        return False
    word, after = tokens[index].upper, tokens[index + 1]
    if word == "(":
        return starts_query(cursor, index + 1)
    if word in ("SELECT", "MAP", "REDUCE"):
        return (
            after.kind is not Kind.END
            and after.upper not in _OPERATORS
            and not (word != "SELECT" and after.upper == "(")
        )
    if word in ("FROM", "TABLE"):
        return after.is_name or (word == "FROM" and after.upper == "(")
    if word == "VALUES":
        return after.kind is not Kind.END and after.upper not in _OPERATORS
    if word == "WITH":
        return after.is_name
    return False


def join_start(cursor: Cursor) -> bool:
    """Say whether a join starts at the cursor."""
    ahead = 0
    while ahead < 4 and cursor.peek(ahead).upper in _JOIN_WORDS:
        if cursor.peek(ahead).upper == "JOIN":
            return True
        ahead += 1
    return False


def relation_suffix(cursor: Cursor) -> bool:
    """Say whether something that belongs to the relation before the cursor starts here (sample, pivot, version)."""
    if cursor.sees_any(("TABLESAMPLE", "PIVOT")):
        return cursor.peek().upper == "("
    if cursor.sees("UNPIVOT"):
        return cursor.peek().upper in ("(", "INCLUDE", "EXCLUDE")
    return time_travel(cursor)


def time_travel(cursor: Cursor) -> bool:
    """Say whether ``[FOR] VERSION|TIMESTAMP|SYSTEM_VERSION|SYSTEM_TIME AS OF`` stands at the cursor."""
    ahead = 1 if cursor.sees("FOR") else 0
    what = cursor.peek(ahead).upper in ("VERSION", "TIMESTAMP", "SYSTEM_VERSION", "SYSTEM_TIME")
    return what and cursor.peek(ahead + 1).upper == "AS" and cursor.peek(ahead + 2).upper == "OF"
