"""Models in the warehouse folder: written, read, asked, measured, dropped.

``<warehouse>/models/<id>/<number>/`` holds one version as MLlib writes a ``PipelineModel``; any program with MLlib
can load it. The catalog's entry, written last, is what makes a version exist: folders without one are left-overs of
a process that was killed, and go when the warehouse is opened next.
"""

from __future__ import annotations

import hashlib
import inspect
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from pyspark.ml import PipelineModel
from pyspark.ml.functions import vector_to_array
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from warehouse.catalog import entries
from warehouse.catalog.entries import ModelEntry, ModelVersion, new_id, quote_name
from warehouse.catalog.store import Catalog
from warehouse.errors import fail
from warehouse.execution.spark_errors import RAISED
from warehouse.ml import metrics
from warehouse.ml.preparation import Recipe, any_missing, dense_at_once, for_sql, must_be_there, refusal, working
from warehouse.ml.row_functions import RowFunctions
from warehouse.planning.algorithms import Kind, kind_of, snake
from warehouse.planning.models.predictions import METRICS, Evaluation, function_name


class StoredModels:
    """The models of one warehouse; implements ``planning.context.Models``."""

    def __init__(self, spark: SparkSession, catalog: Catalog, home: Path):
        self.spark, self.catalog, self.folder = spark, catalog, home / "models"
        self.functions = RowFunctions(spark)
        self._registered: set[str] = set()
        self.load = lru_cache(maxsize=16)(self._load)

    # ---------------------------------------------------------------- in SQL

    def function(self, entry: ModelEntry, version: ModelVersion) -> str:
        """Return the SQL function that a version of a model is; made when it is first asked for."""
        name = function_name(entry, version)
        if name not in self._registered:
            recipe = Recipe.from_json(version.recipe)
            base = empty(self.spark, version.inputs)
            self.functions.register(name, base, as_struct(base, recipe, self.load(version), entry.name))
            self._registered.add(name)
        return name

    def view(self, query: str, parameters: Mapping[str, Any], version: ModelVersion) -> str:
        """Return a view of the rows of ``query`` with the outputs of a model that joins tables of its own."""
        name = _view_of("predicted", query, sorted(parameters.items()), version.folder)
        recipe = Recipe.from_json(version.recipe)
        transformed(
            self.spark.sql(query, args=dict(parameters) or None), recipe, self.load(version)
        ).createOrReplaceTempView(name)
        return name

    def contents(self, version: ModelVersion, part: str) -> str:
        """Return a view of a part of a model that is a table; read when a query reads it."""
        name = _view_of("contents", version.folder, part)
        frame = tables_inside(self.load(version))[part]()
        frame.select(*map(for_sql, frame.schema.fields)).createOrReplaceTempView(name)
        return name

    def measured(self, place: int) -> str:
        """Return the view that an evaluation's metrics will be in."""
        name = f"__w_measured_{place}"
        columns = ", ".join(f"{c.name} {c.type}" for c in METRICS)
        self.spark.createDataFrame([], columns).createOrReplaceTempView(name)
        return name

    def measure(self, evaluation: Evaluation, parameters: Mapping[str, Any]) -> None:
        """Fill the view of an evaluation."""
        entry, version = evaluation.entry, evaluation.version
        recipe = Recipe.from_json(version.recipe)
        frame = self.spark.sql(evaluation.rows.text, args=dict(parameters) or None)
        there = {f.name.lower(): f.dataType.simpleString() for f in frame.schema.fields}
        for prepared in recipe.measured:
            kind = there.get(prepared.column.lower())
            if kind is None:
                needed = ", ".join(f"{p.column} {p.declared.upper()}" for p in recipe.measured)
                fail("WAREHOUSE_MODEL_COLUMN_MISSING", model=entry.name, column=prepared.column, needed=needed)
            if kind_of(kind) is not kind_of(prepared.declared):
                fail(
                    "WAREHOUSE_MODEL_COLUMN_TYPE", model=entry.name, column=prepared.column, type=kind.upper(),
                    trained=prepared.declared.upper(),
                )  # fmt: skip
        known = frame.where(f"NOT ({any_missing(recipe.measured, recipe.nulls)})")
        if recipe.nulls == "error" and known.count() != frame.count():
            columns = ", ".join(p.column for p in recipe.measured)
            fail("WAREHOUSE_EVALUATE_NULLS", model=entry.name, columns=columns)
        if known.isEmpty():
            fail("WAREHOUSE_EVALUATE_NO_ROWS", model=entry.name)
        found = metrics.evaluated(recipe, self.load(version), working(known, recipe.measured))
        if not found:
            algorithm = dict(version.facts).get("Algorithm", "")
            fail("WAREHOUSE_MODEL_NOT_EVALUATED", model=entry.name, algorithm=algorithm)
        columns = ", ".join(f"{c.name} {c.type}" for c in METRICS)
        self.spark.createDataFrame(found, columns).createOrReplaceTempView(evaluation.view)

    # ---------------------------------------------------------------- on disk

    def new_folder(self, entry: ModelEntry | None, name: str) -> tuple[int, str]:
        """Return the number of a model's next version, and its folder."""
        number = entry.newest.number + 1 if entry else 1
        return number, f"{entry.id if entry else new_id(name)}/{number}"

    def write(self, folder: str, model: PipelineModel) -> None:
        """Write the files of a version."""
        model.write().overwrite().save(str(self.folder / folder))

    def forget(self, folder: str) -> None:
        """Remove the files of a version, and what is left of its model's folder."""
        path = self.folder / folder
        shutil.rmtree(path, ignore_errors=True)
        if path.parent.is_dir() and not any(path.parent.iterdir()):
            path.parent.rmdir()

    def drop(self, entry: ModelEntry) -> None:
        """Drop a model with all its versions."""
        self.catalog.models.drop(entry.schema, entry.name)
        shutil.rmtree(self.folder / entry.id, ignore_errors=True)

    def mend(self) -> None:
        """Remove what the catalog does not know, and make the functions that views ask for."""
        known = {v.folder for entry in self.catalog.models.all() for v in entry.versions}
        for path in self.folder.glob("*/*"):
            if str(path.relative_to(self.folder)) not in known:
                self.forget(str(path.relative_to(self.folder)))
        if self.catalog.models.all():
            self._serve_views()

    def _serve_views(self) -> None:
        """Register the functions whose names stand in the text that Spark keeps of views of ours."""
        for view in self.catalog.views.all():
            if "ml_predict" not in view.text.lower():
                continue
            try:
                told = self.spark.sql(f"DESCRIBE TABLE EXTENDED {view.qualified}").collect()
            except RAISED:
                continue
            text = next((row[1] for row in told if row[0] == "View Text"), "")
            for entry in self.catalog.models.all():
                for version in entry.versions:
                    if function_name(entry, version) in text:
                        self.function(entry, version)

    def _load(self, version: ModelVersion) -> PipelineModel:
        try:
            return PipelineModel.load(str(self.folder / version.folder))
        except RAISED as error:
            told = str(error).strip().splitlines()[0]
            fail("WAREHOUSE_MODEL_DAMAGED", folder=self.folder / version.folder, reason=told)


# ---------------------------------------------------------------- frames


def empty(spark: SparkSession, columns: tuple[entries.Column, ...]) -> DataFrame:
    """Return a frame of columns that are not known to be anything but of their types."""
    vectors = [c for c in columns if kind_of(c.type) is Kind.VECTOR]
    if vectors:
        from pyspark.ml.linalg import VectorUDT
        from pyspark.sql.types import StructType, _parse_datatype_string

        schema = StructType()
        for c in columns:
            schema.add(c.name, VectorUDT() if c in vectors else _parse_datatype_string(c.type))
        return spark.createDataFrame([], schema)
    listed = ", ".join(f"CAST(NULL AS {c.type}) AS {quote_name(c.name)}" for c in columns)
    return spark.sql(f"SELECT {listed}")


def as_struct(base: DataFrame, recipe: Recipe, model: PipelineModel, name: str) -> DataFrame:
    """Return a frame of one column: a struct of a model's outputs for each row of ``base``."""
    features = recipe.features
    out = model.transform(working(base, features, keep=True))
    struct = F.struct(*outputs(out, recipe, vector_to_array))
    if must_be_there(features, recipe.nulls):
        missing = any_missing(features, recipe.nulls)
        otherwise = F.lit(None) if recipe.nulls == "skip" else refusal(features, recipe.nulls, name)
        struct = F.when(F.expr(missing), otherwise.cast("void")).otherwise(struct)
    return out.select(struct.alias("__w_o"))


def outputs(frame: DataFrame, recipe: Recipe, as_array: Callable[[Column], Column]) -> Iterator[Column]:
    """Yield a model's outputs as SQL has them."""
    made = {field.name: field for field in frame.schema.fields}
    for name in recipe.outputs:
        if name in made:
            yield for_sql(made[name], as_array)


def transformed(frame: DataFrame, recipe: Recipe, model: PipelineModel) -> DataFrame:
    """Return the rows of ``frame`` with a model's outputs; without them where a row is skipped."""
    features = recipe.features
    listed = [quote_name(c) for c in frame.columns]
    skipped = any_missing(features, recipe.nulls) if recipe.nulls == "skip" else None
    whole = frame if skipped is None else frame.where(f"NOT ({skipped})")
    out = model.transform(working(whole, features, keep=True))
    out = out.select(*listed, *outputs(out, recipe, dense_at_once))
    if skipped is None:
        return out
    nothing = [F.lit(None).cast(f.dataType).alias(f.name) for f in out.schema.fields[len(listed) :]]
    return out.unionByName(frame.where(skipped).select("*", *nothing))


def tables_inside(model: PipelineModel) -> dict[str, Callable[[], DataFrame]]:
    """Return what the last stage of a model tells as tables, by the names that SQL gives them.

    By reflection: each property, and each method that needs no argument, that returns a DataFrame.
    """
    last, found = model.stages[-1], dict[str, Callable[[], DataFrame]]()
    for name, member in inspect.getmembers(type(last)):
        told: Any = member.fget if isinstance(member, property) else member
        if name.startswith("_") or not inspect.isfunction(told):
            continue
        signature = inspect.signature(told)
        needed = [p for p in list(signature.parameters.values())[1:] if p.default is p.empty]
        if signature.return_annotation in ("DataFrame", DataFrame) and not needed:
            found[snake(name.removeprefix("get"))] = partial(told, last)
    return found


def output_columns(struct: DataFrame) -> tuple[entries.Column, ...]:
    """Return the columns of the struct that ``as_struct`` makes."""
    kind: Any = struct.schema["__w_o"].dataType
    return tuple(entries.Column(f.name, f.dataType.simpleString()) for f in kind.fields)


def _view_of(what: str, *of: object) -> str:
    """Return the name of a temporary view: the same for the same, or each statement would leave one of its own."""
    return f"__w_{what}_{hashlib.sha256(repr(of).encode()).hexdigest()[:20]}"
