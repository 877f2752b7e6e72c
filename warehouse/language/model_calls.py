"""Table functions that ask models: ``ML_PREDICT(TABLE t, MODEL m)``, ``ML_EVALUATE``, ``ML_SCORES``, ``ML_CONTENTS``.

The names are soft: without ``MODEL`` and a name among the arguments, a call is one of Spark's.
"""

from __future__ import annotations

from collections.abc import Callable

from warehouse.errors import Span, fail
from warehouse.language.cursor import Cursor
from warehouse.language.statements import ModelCall
from warehouse.language.tokens import Kind

EXAMPLES = {
    "ML_PREDICT": "ML_PREDICT(TABLE new_customers, MODEL churn)",
    "ML_EVALUATE": "ML_EVALUATE(TABLE known_customers, MODEL churn)",
    "ML_SCORES": "ML_SCORES(MODEL churn)",
    "ML_CONTENTS": "ML_CONTENTS(MODEL baskets, association_rules)",
}


def model_call_here(cursor: Cursor) -> bool:
    """Say whether a function that asks a model stands at the cursor, bare or in ``TABLE( … )``."""
    at = cursor.at
    wrapped = cursor.accept("TABLE", "(")
    found = cursor.token.upper in EXAMPLES and cursor.peek().upper == "("
    if wrapped and found:
        found = cursor.closing(at + 1) == cursor.closing(cursor.at + 1) + 1
    cursor.at = at
    return found


def model_call(cursor: Cursor, relation: Callable[[int], None]) -> ModelCall:
    """Return the call at the cursor, without an alias, and move behind it.

    Args:
        cursor: stands where ``model_call_here``.
        relation: reads the relation at the cursor, up to the index it is given.

    Raises:
        WarehouseError: the relation or the model is missing, or something else stands there.
    """
    start = cursor.at
    wrapped = cursor.accept("TABLE", "(")
    function = cursor.take().upper
    example = EXAMPLES[function]
    close = cursor.closing(cursor.at)
    if cursor.tokens[close].kind is Kind.END:
        fail("WAREHOUSE_UNCLOSED", cursor.here(), clause=function, example=example)
    cursor.take()
    read = None
    if function not in ("ML_SCORES", "ML_CONTENTS"):
        read = _relation(cursor, function, close, relation)
    cursor.expect("MODEL", function, example)
    model = cursor.name("MODEL", example)
    version = None
    if cursor.accept("VERSION"):
        cursor.accept("AS", "OF")
        if not cursor.token.text.isdigit():
            cursor.fail_expecting("a number", "VERSION", f"{model.last} VERSION 1")
        version = int(cursor.take().text)
    part = None
    if function == "ML_CONTENTS":
        cursor.expect(",", function, example)
        if cursor.token.kind is not Kind.STRING and not cursor.token.is_name:
            cursor.fail_expecting("the name of a part", function, example)
        part = cursor.take().span
    if cursor.at < close:
        cursor.fail_expecting(")", function, example)
    cursor.at = close + 1 + wrapped
    return ModelCall(cursor.span(start), function.lower(), read, model, version, part)


def _relation(cursor: Cursor, function: str, close: int, relation: Callable[[int], None]) -> Span:
    """Return the words of the relation in ``[TABLE] relation,`` and move behind the comma."""
    example = EXAMPLES[function]
    if cursor.sees("MODEL") and cursor.peek().is_name:
        cursor.fail_expecting("TABLE and a name", function, example)
    if cursor.peek().is_name or cursor.peek().upper == "(":
        cursor.accept("TABLE")
    first = cursor.at
    if cursor.at >= close or not (cursor.token.is_name or cursor.token.upper == "("):
        cursor.fail_expecting("TABLE and a name", function, example)
    relation(close)
    read = cursor.span(first)
    cursor.expect(",", function, example)
    return read
