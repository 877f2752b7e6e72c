"""``ML_PREDICT`` and its like as SQL: a model is a function of a row, its outputs are columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from warehouse.catalog.entries import Column, ModelEntry, ModelVersion, Pairs, quote_name
from warehouse.catalog.store import Catalog
from warehouse.errors import Span, fail
from warehouse.language.fragments import Fragment
from warehouse.language.literals import string_literal
from warehouse.language.statements import ModelCall
from warehouse.planning.algorithms import Kind, kind_of, plainly
from warehouse.planning.context import Context
from warehouse.planning.models.arguments import advice

METRICS = (Column("metric", "string"), Column("value", "double"))
"""The columns of ``ML_EVALUATE``."""

_FUNCTION = re.compile(r"__w_model_(\w+)_(\d+)\b")


@dataclass(frozen=True)
class Evaluation:
    """A model to be measured before a statement runs.

    Attributes:
        view: where the statement reads the metrics.
        rows: a query for the rows to measure it on.
    """

    view: str
    rows: Fragment
    entry: ModelEntry
    version: ModelVersion


def function_name(entry: ModelEntry, version: ModelVersion) -> str:
    """Return the name of the SQL function that a version of a model is.

    Example:
        >>> from warehouse.catalog.entries import ModelVersion
        >>> first = ModelVersion(1, "", "", "", (), (), (), True, "", (), ())
        >>> function_name(ModelEntry("default", "churn", "churn-0a1b2c3d", (first,)), first)
        '__w_model_churn_0a1b2c3d_1'
    """
    return f"__w_model_{entry.id.replace('-', '_')}_{version.number}"


def asked(catalog: Catalog, texts: Iterable[str]) -> Pairs:
    """Return the models that rewritten SQL asks, by qualified name, each with its version."""
    found = {match.groups() for text in texts for match in _FUNCTION.finditer(text)}
    named = {entry.id.replace("-", "_"): entry for entry in catalog.models.all()}
    return tuple(sorted((named[i].qualified, number) for i, number in found if i in named))


def named(context: Context, call: ModelCall) -> tuple[ModelEntry, ModelVersion]:
    """Return the model that a call names, and the version it means.

    Raises:
        WarehouseError: there is no such model, or no such version of it.
    """
    entry = context.catalog.models.get(*context.resolve(call.model))
    if entry is None:
        similar = context.similar(call.model, "model")
        fail("WAREHOUSE_MODEL_NOT_FOUND", call.model.span, name=call.model.written, similar=similar)
    version = entry.version(call.version or context.pinned.get(entry.qualified))
    if version is None:
        known = ", ".join(str(v.number) for v in entry.versions)
        fail("WAREHOUSE_MODEL_VERSION_NOT_FOUND", call.model.span, name=entry.name, version=call.version, known=known)
    return entry, version


def predicted(
    context: Context, call: ModelCall, relation: Fragment, columns: tuple[Column, ...], rows: Fragment | None
) -> Fragment:
    """Return the relation that stands for ``ML_PREDICT``: the rows with the model's outputs.

    Args:
        context: where the statement is planned.
        call: the call.
        relation: the rows, as a relation.
        columns: theirs.
        rows: a query for the rows that stands alone, or None where the rows are a stream's.

    Raises:
        WarehouseError: a column that the model needs is missing or of another kind, or a name is taken.
    """
    entry, version = named(context, call)
    assert call.relation
    there = {c.name.lower(): c for c in columns}
    for column in version.inputs:
        found = there.get(column.name.lower())
        if found is None:
            needed = ", ".join(f"{c.name} {c.type.upper()}" for c in version.inputs)
            fail("WAREHOUSE_MODEL_COLUMN_MISSING", call.relation, model=entry.name, column=column.name, needed=needed)
        if kind_of(found.type) is not kind_of(column.type):
            fail(
                "WAREHOUSE_MODEL_COLUMN_TYPE", call.relation, model=entry.name, column=found.name,
                type=found.type.upper(), trained=column.type.upper(),
            )  # fmt: skip
    taken = [c.name for c in version.outputs if c.name.lower() in there]
    if taken:
        fail("WAREHOUSE_MODEL_OUTPUT_TAKEN", call.relation, model=entry.name, column=taken[0])
    wide = next((o for o in version.outputs if rows is None and kind_of(o.type) is Kind.VECTOR), None)
    if wide:
        fail("WAREHOUSE_MODEL_WIDE_VECTOR", call.span, model=entry.name, column=wide.name)
    if not version.row_wise:
        if rows is None:
            fail("WAREHOUSE_MODEL_NOT_ROW_WISE", call.span, model=entry.name)
        return Fragment(()) + context.models().view(f"SELECT * FROM ({rows.text})", context.parameters, version)
    given = ", ".join(_argument(there[c.name.lower()].name, c.type) for c in version.inputs)
    outputs = "".join(f", __w_o.{quote_name(o.name)} AS {quote_name(o.name)}" for o in version.outputs)
    function = context.models().function(entry, version)
    return f"(SELECT * EXCEPT (__w_o){outputs} FROM (SELECT *, {function}({given}) AS __w_o FROM " + relation + "))"


def _argument(name: str, kind: str) -> str:
    """Return a column as a model's function takes it; SQL has no word for MLlib's vectors."""
    return quote_name(name) if kind_of(kind) is Kind.VECTOR else f"CAST({quote_name(name)} AS {kind})"


def refuse_in_view(context: Context, call: ModelCall) -> None:
    """Refuse a call in a view if what it comes to is made for one statement.

    Raises:
        WarehouseError: it is no function of a row, and no list of scores.
    """
    by_rows = call.function == "ml_scores" or (call.function == "ml_predict" and named(context, call)[1].row_wise)
    if not by_rows:
        fail("WAREHOUSE_MODEL_IN_VIEW", call.span, function=call.function.upper(), model=call.model.last)


def scores(context: Context, call: ModelCall) -> str:
    """Return the relation that stands for ``ML_SCORES``: a row for each combination that a search has tried."""
    entry, version = named(context, call)
    if not version.scores:
        fail("WAREHOUSE_MODEL_NOT_SEARCHED", call.model.span, model=entry.name)
    table = json.loads(version.scores)
    rows = ", ".join(f"({', '.join(map(_literal, row))})" for row in table["rows"])
    names = ", ".join(quote_name(n) for n in table["columns"])
    return f"(SELECT * FROM VALUES {rows} AS __w_scores ({names}))"


def contents(context: Context, call: ModelCall, part: Span, text: str) -> str:
    """Return the relation that stands for ``ML_CONTENTS``: a part of a model that is a table."""
    entry, version = named(context, call)
    listed = dict(version.facts).get(CONTENTS, "")
    known = listed.split(", ") if listed else []
    written = part.of(text).strip("`'\"")
    found = next((name for name in known if plainly(name) == plainly(written)), None)
    if found is None:
        told = advice(written, known, f"It has {listed}." if known else "It has no such tables.")
        fail("WAREHOUSE_MODEL_PART_NOT_FOUND", part, model=entry.name, part=written, advice=told)
    return context.models().contents(version, found)


CONTENTS = "Contents"
"""The fact of a model that lists its parts that are tables."""


def _literal(value: object) -> str:
    """Return a JSON value as SQL."""
    if isinstance(value, list):
        return f"array({', '.join(map(_literal, value))})"
    if isinstance(value, bool) or value is None:
        return str(value).upper().replace("NONE", "NULL")
    if isinstance(value, float):
        return f"double('{value!r}')"
    return str(value) if isinstance(value, int) else string_literal(str(value))
