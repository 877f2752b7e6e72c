"""``GENERATE [ML] F(input, …) [AS TABLE t] [AS MODEL m]``: a chain of calls over a table or a query."""

from __future__ import annotations

from warehouse.errors import fail
from warehouse.language.cursor import Cursor
from warehouse.language.keywords import starts_query
from warehouse.language.literals import string_value
from warehouse.language.query import query_shape
from warehouse.language.statements import Argument, Generate, GeneratorCall, Name, QueryShape, Target, Value, Words
from warehouse.language.tokens import Kind, Token

EXAMPLE = "GENERATE ML KMeans(user_features, 10) AS TABLE user_features_clustered"
_WORDS = {"NULL": None, "TRUE": True, "FALSE": False}


def generate(cursor: Cursor) -> Generate:
    """Return the statement whose first word, GENERATE, the cursor stands on."""
    cursor.take()
    replaces = cursor.accept("OR", "REPLACE")
    if cursor.sees("ML") and cursor.peek().is_name:
        cursor.take()
    call = _call(cursor)
    targets: dict[str, Target] = {}
    while not cursor.done and not cursor.sees(";"):
        kind, target = _target(cursor, replaces)
        if kind in targets:
            fail("WAREHOUSE_CLAUSE_TWICE", target.name.span, clause=f"AS {kind}")
        targets[kind] = target
    while cursor.accept(";"):
        pass
    if not cursor.done:
        fail("WAREHOUSE_UNEXPECTED", cursor.here(), found=cursor.token.text, clause="GENERATE", example=EXAMPLE)
    return Generate(cursor.source, call, targets.get("TABLE"), targets.get("MODEL"))


def _target(cursor: Cursor, replaces: bool) -> tuple[str, Target]:
    """Return TABLE or MODEL, and what ``AS [OR REPLACE] TABLE | MODEL name`` says of it."""
    cursor.expect("AS", "GENERATE", EXAMPLE)
    replaces |= cursor.accept("OR", "REPLACE")
    if not cursor.sees_any(("TABLE", "MODEL")):
        cursor.fail_expecting("TABLE or MODEL", "GENERATE … AS", EXAMPLE)
    kind = cursor.take().upper
    replaces |= cursor.accept("OR", "REPLACE")
    name = cursor.name(f"AS {kind}", f"AS {kind} {'clustered' if kind == 'TABLE' else 'churn'}")
    replaces |= cursor.accept("OR", "REPLACE")
    return kind, Target(name, replaces)


# ---------------------------------------------------------------- calls


def _call(cursor: Cursor) -> GeneratorCall:
    first = cursor.at
    if not cursor.token.is_name:
        cursor.fail_expecting("the name of an algorithm", "GENERATE", EXAMPLE)
    name = cursor.take()
    if cursor.token.upper != "(":
        cursor.fail_expecting("(", f"GENERATE {name.text}", f"GENERATE ML {name.text}(user_features)")
    close = cursor.closing(cursor.at)
    if cursor.tokens[close].kind is Kind.END:
        fail("WAREHOUSE_UNCLOSED", cursor.here(), clause=f"GENERATE {name.text}", example=EXAMPLE)
    cursor.take()
    read = _input(cursor, name, close)
    arguments: list[Argument] = []
    while cursor.at < close:
        cursor.expect(",", name.text, f"{name.text}(user_features, name => value)")
        arguments.append(_argument(cursor, name, close))
    cursor.at = close + 1
    return GeneratorCall(name.text, name.span, read, tuple(arguments), cursor.span(first))


def _input(cursor: Cursor, name: Token, close: int) -> GeneratorCall | Name | QueryShape:
    """Return the first argument of a call: another call, a query, or a table's name."""
    end = _argument_end(cursor, close)
    if cursor.sees("STREAM") and cursor.peek().is_name:
        words = cursor.span(cursor.at, end)
        fail("WAREHOUSE_GENERATE_STREAM", words, query=f"(SELECT * FROM {words.of(cursor.source.text)})")
    named = cursor.sees("TABLE") and cursor.peek().is_name
    if cursor.sees("TABLE", "(") or named:
        cursor.take()
    if not named and starts_query(cursor, cursor.at):
        shape = query_shape(cursor, cursor.at, end)
        cursor.at = end
        return shape
    if cursor.token.is_name and cursor.peek().upper == "(":
        return _call(cursor)
    if not cursor.token.is_name or cursor.at >= end or cursor.peek().upper == "=>":
        example = f"{name.text}(user_features, …) or {name.text}((SELECT …), …)"
        cursor.fail_expecting("a table or a query in brackets", name.text, example)
    return cursor.name(name.text, EXAMPLE)


def _argument(cursor: Cursor, call: Token, close: int) -> Argument:
    end = _argument_end(cursor, close)
    name = None
    if cursor.token.is_name and cursor.peek().upper == "=>":
        name = cursor.take()
        cursor.take()
    first = cursor.at
    if first >= end:
        cursor.fail_expecting("a value", call.text, f"{call.text}(user_features, name => value)")
    words = cursor.span(first, end)
    value = _value(cursor, first, end)
    cursor.at = end
    return Argument(name.text if name else None, name.span if name else words, value, words)


def _argument_end(cursor: Cursor, close: int) -> int:
    """Return the index of the comma outside brackets that ends the argument at the cursor, or ``close``."""
    return _comma(cursor, cursor.at, close)


def _comma(cursor: Cursor, first: int, end: int) -> int:
    index = first
    while index < end and cursor.tokens[index].upper != ",":
        index = min(cursor.closing(index), end) if cursor.tokens[index].upper in ("(", "[") else index
        index += 1
    return min(index, end)


# ---------------------------------------------------------------- values


def _value(cursor: Cursor, first: int, end: int) -> Value:
    """Return the literal between two token indexes, a list of values, or its words."""
    token = cursor.tokens[first]
    last = cursor.closing(first) if token.upper in ("(", "[") else first
    if token.upper in ("(", "[") and last == end - 1 and not starts_query(cursor, first + 1):
        return _list(cursor, first + 1, last, token.upper == "[")
    called = cursor.tokens[first + 1].upper == "(" and cursor.closing(first + 1) == end - 1
    if token.upper == "ARRAY" and called:
        return _list(cursor, first + 2, end - 1, True)
    if token.kind is Kind.STRING and all(t.kind is Kind.STRING for t in cursor.tokens[first:end]):
        return "".join(string_value(t.text) for t in cursor.tokens[first:end])
    signed = token.upper in ("-", "+") and end == first + 2
    number = cursor.tokens[first + signed]
    if number.kind is Kind.NUMBER and end == first + 1 + signed:
        return _number(number.text, -1 if token.upper == "-" else 1)
    if token.upper in _WORDS and end == first + 1:
        return _WORDS[token.upper]
    return Words(cursor.span(first, end))


def _list(cursor: Cursor, first: int, end: int, always: bool) -> Value:
    """Return the values between brackets; round ones around a single value are only brackets."""
    values: list[Value] = []
    at = first
    while at < end:
        comma = _comma(cursor, at, end)
        if comma == at:
            cursor.at = at
            cursor.fail_expecting("a value", "The list", "(0.01, 0.1, 1.0)")
        values.append(_value(cursor, at, comma))
        at = comma + 1
    return values[0] if len(values) == 1 and not always else tuple(values)


def _number(text: str, sign: int) -> int | float:
    digits = text.rstrip("LlSsYyDdFf").removesuffix("B").removesuffix("b") if text[-1].isalpha() else text
    if digits.isdigit() and text[-1] not in "DdFf":
        return sign * int(digits)
    return sign * float(digits)
