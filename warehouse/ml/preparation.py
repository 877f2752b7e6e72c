"""Columns of a table as MLlib takes them, and MLlib's columns as SQL has them.

What is made of a column is kept with a model as its recipe, so that prediction does the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

from pyspark.ml.functions import array_to_vector, vector_to_array
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, StructField

from warehouse.catalog.entries import quote_name
from warehouse.execution.spark_errors import raising
from warehouse.language.literals import string_literal
from warehouse.planning.algorithms import Kind
from warehouse.planning.models.training import LABEL, RATING, Prepared, Training

MOST_DIMENSIONS = 1000
"""A vector of more dimensions, which is mostly zeros, does not become an array."""


@dataclass(frozen=True)
class Recipe:
    """How rows are made ready for a model, and what it adds to them.

    Attributes:
        nulls: ``error``, ``skip`` or ``impute``.
        outputs: the columns that it adds.
        family: MLlib's module of the outermost algorithm.
        columns: the names in the frame of that algorithm's columns, by its parameters.
    """

    prepared: tuple[Prepared, ...]
    nulls: str
    outputs: tuple[str, ...]
    family: str
    columns: dict[str, str]

    @property
    def features(self) -> tuple[Prepared, ...]:
        """Return what prediction needs."""
        return tuple(p for p in self.prepared if not p.taught)

    @property
    def measured(self) -> tuple[Prepared, ...]:
        """Return what it takes to say how good predictions are: the features, and what should come out."""
        return tuple(p for p in self.prepared if not p.taught or p.name in (LABEL, RATING))

    def to_json(self) -> str:
        """Return the recipe as text."""
        listed = [{**asdict(p), "kind": p.kind.name} for p in self.prepared]
        return json.dumps({**asdict(self), "prepared": listed}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """Return the recipe that ``to_json`` wrote."""
        data = json.loads(text)
        prepared = tuple(Prepared(**{**p, "kind": Kind[p["kind"]]}) for p in data.pop("prepared"))
        return cls(**{**data, "prepared": prepared, "outputs": tuple(data["outputs"])})


def recipe_of(training: Training) -> Recipe:
    """Return the recipe of the model that a training makes."""
    last = training.last
    columns = {name: value for name, value in last.settings if name.endswith("Col") and isinstance(value, str)}
    outputs = tuple(name for name, _ in last.outputs)
    return Recipe(training.prepared, training.nulls, outputs, last.algorithm.family, columns)


def made(prepared: Prepared) -> Column:
    """Return a column of the input as the stages take it."""
    column, name = quote_name(prepared.column), quote_name(prepared.name)
    match prepared.kind:
        case Kind.NUMBER:
            return F.expr(f"CAST({column} AS DOUBLE) AS {name}")
        case Kind.VECTOR if prepared.declared.startswith("array"):
            return array_to_vector(F.expr(f"CAST({column} AS ARRAY<DOUBLE>)")).alias(prepared.name)
    return F.expr(f"{column} AS {name}")


def is_missing(prepared: Prepared) -> str:
    """Return SQL for whether a value is one that nothing can be made of: NULL, or NaN among the numbers."""
    column = quote_name(prepared.column)
    if prepared.declared in ("double", "float") and prepared.kind is Kind.NUMBER:
        return f"({column} IS NULL OR isnan({column}))"
    return f"{column} IS NULL"


def must_be_there(prepared: Iterable[Prepared], nulls: str) -> tuple[Prepared, ...]:
    """Return the columns in which a NULL is an error, or makes a row be skipped."""
    imputed = (Kind.NUMBER, Kind.STRING) if nulls == "impute" else ()
    return tuple(p for p in prepared if not p.nullable and (p.taught or p.kind not in imputed))


def any_missing(prepared: Iterable[Prepared], nulls: str) -> str:
    """Return SQL for whether a row has a NULL where none may be; never NULL itself."""
    return " OR ".join(is_missing(one) for one in must_be_there(prepared, nulls)) or "FALSE"


def working(frame: DataFrame, prepared: Iterable[Prepared], keep: bool = False) -> DataFrame:
    """Return the columns as the stages take them; with ``keep``, beside those of the input."""
    new = [made(p) for p in prepared if p.name != p.column]
    same = [quote_name(p.column) for p in prepared if p.name == p.column]
    return frame.select("*", *new) if keep else frame.select(*same, *new)


def refusal(prepared: Iterable[Prepared], nulls: str, model: str) -> Column:
    """Return an error that says which column of a row is NULL where none may be."""
    names = (f"if({is_missing(p)}, {string_literal(p.column)}, NULL)" for p in must_be_there(prepared, nulls))
    missing = {"column": f"concat_ws(', ', {', '.join(names)})"}
    return F.expr(raising("WAREHOUSE_MODEL_INPUT_NULL", missing, model=model))


def dense_at_once(vector: Column) -> Column:
    """Return a vector's array: that of a dense one is there already, and nothing is made anew for each row.

    It reads the vector several times: for a column that is there, not for an expression to be folded into others.
    """
    stored = F.unwrap_udt(vector)
    return F.when(stored["type"] == _DENSE, stored["values"]).otherwise(vector_to_array(vector))


_DENSE = 1
"""What ``VectorUDT`` stores as the type of a dense vector; a sparse one is 0."""


def for_sql(field: StructField, as_array: Callable[[Column], Column] = vector_to_array) -> Column:
    """Return a column of MLlib's as SQL has it: a vector is an array, but for one of many dimensions."""
    column, kind = F.col(quote_name(field.name)), field.dataType
    if isinstance(kind, ArrayType) and kind.elementType.simpleString() == "vector":
        column = F.transform(column, lambda vector: vector_to_array(vector))
    elif kind.simpleString() == "vector":
        attributes = field.metadata.get("ml_attr", {})
        dimensions = attributes.get("num_attrs") if isinstance(attributes, dict) else None
        column = column if dimensions and int(dimensions) > MOST_DIMENSIONS else as_array(column)
    return column.alias(field.name)
