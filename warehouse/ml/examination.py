"""A look at the rows before anything is learnt: what would fail in the middle of MLlib is refused by name here.

It is a pass over all rows, which brings them into memory where they are not there yet. Of rows that are there, a few
say enough where MLlib's own first pass refuses the rest: if it does, all are looked at then, and the reason is found.
"""

from __future__ import annotations

from typing import Any

from pyspark.ml.functions import vector_to_array
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from warehouse.catalog.entries import quote_name
from warehouse.errors import fail
from warehouse.ml.preparation import any_missing, is_missing, must_be_there
from warehouse.ml.stages import Facts
from warehouse.planning.algorithms import Kind, Role
from warehouse.planning.models.training import LABEL, Prepared, Training

FRACTION = 1e-9
FEW = 1000
"""Rows among which there are two classes, or all are looked at."""


def glance(training: Training, frame: DataFrame, rows: int) -> Facts | None:
    """Return what the stages have to know, or None where all rows have to be examined first.

    Args:
        training: what is going to be done.
        frame: the input's rows.
        rows: how many of them lie in memory, 0 where that is not known.
    """
    last = training.last.algorithm
    predicts = last.role is Role.ESTIMATOR and last.family in ("classification", "regression")
    if not predicts or training.search or training.nulls != "error" or rows == 0:
        return None
    # an assembler refuses a NULL and a NaN, whatever predicts refuses labels that are none
    assembled = {name for s in training.steps if s.assembly for name, kind in s.assembly.inputs if kind is Kind.NUMBER}
    if any(p.name != LABEL and p.name not in assembled for p in training.prepared):
        return None
    if last.classifies:
        (label,) = (p.column for p in training.prepared if p.name == LABEL)
        first = frame.select(quote_name(label)).limit(FEW).collect()
        if len({row[0] for row in first}) < 2:
            return None
    return Facts(rows)


def examine(training: Training, frame: DataFrame) -> Facts:
    """Return what the stages have to know of the rows.

    Args:
        training: what is going to be done.
        frame: the input's rows.

    Raises:
        WarehouseError: there are no rows, NULLs where none may be, labels that are no classes, or only one class.
    """
    place = training.place
    missing = any_missing(training.prepared, training.nulls)
    if training.nulls == "skip":
        frame = frame.where(f"NOT ({missing})")
    asked: dict[str, str | Column] = {"rows": "count(*)", "missing": f"count_if({missing})"}
    for prepared in training.prepared:
        asked |= _questions(training, prepared)
    columns = (F.expr(one) if isinstance(one, str) else one for one in asked.values())
    found: dict[str, Any] = dict(zip(asked, frame.agg(*columns).collect()[0], strict=True))
    learns = any(s.algorithm.role in (Role.ESTIMATOR, Role.WRAPPER, Role.DIRECT) for s in training.steps)
    if found["rows"] == 0 and learns:
        fail("WAREHOUSE_GENERATE_NO_ROWS", place, name=training.last.algorithm.name)
    if found["missing"]:
        condition = "WAREHOUSE_GENERATE_NULLS" + ("_TAUGHT" if training.nulls == "impute" else "")
        fail(condition, place, columns=_where_missing(training, frame), rows=found["rows"])
    sizes = {}
    for prepared in training.prepared:
        least, most = found.get(f"least {prepared.name}"), found.get(f"most {prepared.name}")
        if most is not None:
            if least != most:
                fail("WAREHOUSE_GENERATE_LENGTHS", place, column=prepared.column, least=least, most=most)
            sizes[prepared.name] = int(most)
    categories = {p.name: found[f"categories {p.name}"] for p in training.prepared if f"categories {p.name}" in found}
    return Facts(found["rows"], _classes(training, found), sizes, categories)


def _where_missing(training: Training, frame: DataFrame) -> str:
    """Return the columns that have NULLs where none may be, each with their number."""
    columns = {p.column: is_missing(p) for p in must_be_there(training.prepared, training.nulls)}
    counts = frame.selectExpr(*(f"count_if({missing})" for missing in columns.values())).collect()[0]
    return ", ".join(f"{name} in {count}" for name, count in zip(columns, counts, strict=True) if count)


def _questions(training: Training, prepared: Prepared) -> dict[str, str | Column]:
    """Return what is asked of one column, as SQL where SQL has words for it."""
    column, name = quote_name(prepared.column), prepared.name
    if name == LABEL:
        label = f"CAST({column} AS DOUBLE)"
        return {
            "lowest": f"min({label})", "highest": f"max({label})",
            "fractions": f"count_if({label} < 0 OR abs({label} - round({label})) > {FRACTION})",
        }  # fmt: skip
    if prepared.kind is Kind.VECTOR and not prepared.taught:
        length = F.size(F.col(column) if prepared.declared.startswith("array") else vector_to_array(F.col(column)))
        return {f"least {name}": F.min(length), f"most {name}": F.max(length)}
    if prepared.kind is Kind.STRING and any(s.algorithm.splits for s in training.steps):
        return {f"categories {name}": f"count(DISTINCT {column})"}
    return {}


def _classes(training: Training, found: dict[str, Any]) -> int | None:
    """Return how many classes the labels say, where classes are learnt."""
    label = next((p for p in training.prepared if p.name == LABEL), None)
    if label is None or found.get("highest") is None:
        return None
    learner = next((s for s in training.steps if s.setting("labelCol") == LABEL), None)
    if learner is not None and learner.algorithm.classifies:
        if found["fractions"]:
            count = found["fractions"]
            fail("WAREHOUSE_GENERATE_LABEL_VALUES", training.place, column=label.column, count=count)
        if found["lowest"] == found["highest"]:
            only = f"{found['highest']:g}"
            name = learner.algorithm.name
            fail("WAREHOUSE_GENERATE_ONE_CLASS", training.place, column=label.column, value=only, name=name)
        return int(found["highest"]) + 1
    return None
