"""MLlib by reflection: every class of ``pyspark.ml`` that works on DataFrames, its parameters and their documentation.

Nothing here is a list of algorithms. What a class does is told by what it derives from, what its columns may be by
asking its ``transformSchema``, what a parameter may be by its type converter and MLlib's own validators.
"""

from __future__ import annotations

import importlib
import inspect
import json
import math
import re
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.ml import Estimator, Transformer
from pyspark.ml.base import Model
from pyspark.ml.evaluation import Evaluator
from pyspark.ml.linalg import DenseMatrix, VectorUDT
from pyspark.ml.param import Param, Params
from pyspark.ml.wrapper import JavaParams
from pyspark.sql import SparkSession
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    DoubleType,
    StringType,
    StructType,
)

from warehouse.catalog.entries import Column
from warehouse.catalog.udfs import Udfs
from warehouse.errors import SourceText, Span, fail
from warehouse.execution.spark_errors import RAISED, translate
from warehouse.ml.custom import Generator
from warehouse.planning.algorithms import Algorithm, Kind, Parameter, Role, kind_of

MODULES = ("classification", "clustering", "evaluation", "feature", "fpm", "recommendation", "regression", "tuning")
"""The modules of ``pyspark.ml`` whose classes are algorithms."""

PRINCIPAL = (
    "k", "rank", "formula", "statement", "minSupport", "metricName", "numFolds", "trainRatio", "splits", "scalingVec",
    "size", "indices", "n", "degree", "threshold", "numBuckets", "numFeatures", "vocabSize", "vectorSize", "p",
    "maxCategories", "numTopFeatures", "selectionThreshold", "varianceThreshold", "labels", "pattern", "stopWords",
    "numHashTables", "strategy", "smoothing",
)  # fmt: skip
"""Which parameter a value without a name means: the first of these that there is; of predictors, the label."""

_TYPES = {
    "toInt": "INT", "toFloat": "DOUBLE", "toString": "STRING", "toBoolean": "BOOLEAN", "toListInt": "ARRAY<INT>",
    "toListFloat": "ARRAY<DOUBLE>", "toListString": "ARRAY<STRING>", "toListListFloat": "ARRAY<ARRAY<DOUBLE>>",
    "toVector": "ARRAY<DOUBLE>", "toMatrix": "ARRAY<ARRAY<DOUBLE>>", "toList": "ARRAY",
}  # fmt: skip

_SAMPLES: dict[Kind, DataType] = {
    Kind.NUMBER: DoubleType(), Kind.BOOLEAN: BooleanType(), Kind.STRING: StringType(), Kind.VECTOR: VectorUDT(),
    Kind.TOKENS: ArrayType(StringType()), Kind.ARRAY: ArrayType(DoubleType()), Kind.OTHER: DateType(),
}  # fmt: skip

_TRIALS: dict[str, Any] = {
    "INT": 1, "DOUBLE": 1.0, "STRING": "a", "BOOLEAN": True, "ARRAY<INT>": [0], "ARRAY<STRING>": ["a"],
    "ARRAY<DOUBLE>": [-math.inf, 0.0, math.inf], "ARRAY<ARRAY<DOUBLE>>": [[-math.inf, 0.0, math.inf]],
}  # fmt: skip
"""Values for parameters that have to be set before a class says which columns it takes."""

_TRIED = ("splits", "k", "scalingVec", "size", "indices", "bucketLength", "labels", "numFeatures")


class SparkLibrary:
    """Implements ``planning.algorithms.Library``.

    Attributes:
        parameters: the values of parameter markers in the statement.
    """

    def __init__(self, spark: SparkSession, udfs: Udfs, parameters: dict[str, Any]):
        self.spark, self.udfs, self.parameters = spark, udfs, parameters

    def find(self, name: str, place: Span) -> Algorithm | None:
        """Return the algorithm of that name: MLlib's, else the user's own."""
        cls = classes().get(name.lower())
        if cls is not None:
            return described(cls)  # type: ignore[arg-type]
        own = self.udfs.find_value(name, Generator, place)
        return None if own is None else own_algorithm(own)

    def own(self, name: str, place: Span) -> Generator:
        """Return the user's own generator of that name, which is there."""
        found = self.udfs.find_value(name, Generator, place)
        assert found is not None
        return found

    def names(self) -> tuple[str, ...]:
        """Return the names of all."""
        return tuple(sorted([*(c.__name__ for c in classes().values()), *self.udfs.values(Generator)], key=str.lower))

    def value(self, algorithm: Algorithm, parameter: Parameter, value: Any) -> Any:
        """Return ``value`` as the parameter takes it."""
        plain = _listed(value)
        if algorithm.role is Role.OWN:
            return _as_declared(parameter.type, plain)
        instance = classes()[algorithm.name.lower()]()
        param = instance.getParam(parameter.name)
        if parameter.type.startswith("ARRAY") and not isinstance(plain, list):
            plain = [plain]
        if param.typeConverter.__name__ == "toMatrix" and all(isinstance(row, list) for row in plain):
            flat = [float(row[i]) for i in range(len(plain[0])) for row in plain]
            plain = DenseMatrix(len(plain), len(plain[0]), flat)
        try:
            converted = param.typeConverter(plain)
        except ValueError as error:
            raise TypeError(str(error)) from None
        if isinstance(instance, JavaParams) or algorithm.role is Role.SEARCH:
            try:
                if isinstance(instance, JavaParams):
                    instance._make_java_param_pair(param, converted)
                else:  # written in Python, which checks nothing
                    tuning: Any = self.spark._jvm
                    judge = getattr(tuning.org.apache.spark.ml.tuning, algorithm.name)()
                    judge.getParam(param.name).w(converted)
            except (PySparkException, Py4JError) as error:
                raise ValueError(str(error)) from None
        return converted

    def constant(self, expression: str) -> Any:
        """Return what a constant expression comes to."""
        if re.fullmatch(r"[+-]?\s*(infinity|nan)", expression.strip(), re.IGNORECASE):
            return float(expression.replace(" ", ""))
        source = SourceText(f"SELECT {expression}")
        try:
            frame = self.spark.sql(source.text, args=self.parameters or None)
            plan = frame._jdf.queryExecution().analyzed()
            if not plan.deterministic() or "subquery" in plan.toString() or len(frame.columns) != 1:
                fail("WAREHOUSE_GENERATOR_NOT_CONSTANT")
            return _tupled(frame.collect()[0][0])
        except RAISED as error:
            raise translate(error, source) from None

    def schema(self, ddl: str) -> tuple[Column, ...]:
        """Return the columns that ``ddl`` declares."""
        try:
            fields = StructType.fromDDL(ddl).fields
        except RAISED as error:
            raise translate(error, SourceText(ddl)) from None
        return tuple(Column(f.name, f.dataType.simpleString()) for f in fields)


# ---------------------------------------------------------------- reflection


@cache
def classes() -> dict[str, type[Params]]:
    """Return MLlib's algorithms by their names in lower case."""
    found: dict[str, type[Params]] = {}
    for name in MODULES:
        module = importlib.import_module(f"pyspark.ml.{name}")
        for exported in module.__all__:
            cls = getattr(module, exported)
            if inspect.isclass(cls) and _role(cls) is not None:
                found[exported.lower()] = cls
    return found


def _role(cls: type) -> Role | None:
    """Return what a class is, None where it is no algorithm."""
    if inspect.isabstract(cls) or not issubclass(cls, Params) or issubclass(cls, Model):
        return None
    if cls.__module__.endswith(".tuning"):
        return Role.SEARCH
    if issubclass(cls, Evaluator):
        return Role.EVALUATOR
    if issubclass(cls, Estimator):
        return Role.WRAPPER if hasattr(cls, "classifier") else Role.ESTIMATOR
    if issubclass(cls, Transformer):
        return Role.TRANSFORMER
    return Role.DIRECT if direct_method(cls) else None


def direct_method(cls: type) -> str | None:
    """Return the one method of a class by which it makes rows of rows, without a model; None where there is none."""
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        signature = inspect.signature(method)
        rows = list(signature.parameters)[1:] == ["dataset"]
        if rows and not name.startswith("_") and "DataFrame" in str(signature.return_annotation):
            return name
    return None


@lru_cache(maxsize=512)
def described(cls: type[Params]) -> Algorithm:
    """Return what there is to know of a class of MLlib's. Needs a running Spark."""
    instance, role = cls(), _role(cls)
    assert role is not None
    hidden = ("estimator", "evaluator", "estimatorParamMaps", "classifier", "collectSubModels")
    parameters = tuple(_parameter(instance, p) for p in instance.params if p.name not in hidden)
    names = [p.name for p in parameters]
    predicts = "labelCol" in names and "predictionCol" in names and role is not Role.EVALUATOR
    first = "labelCol" if predicts else "metricName" if role is Role.EVALUATOR else None
    principal = [first] if first else [n for n in PRINCIPAL if n in names][:1]
    doc = plain_text(inspect.getdoc(cls) or "")
    makes = _makes(cls, parameters) if {"inputCol", "inputCols"} & set(names) else ()
    if "inputCol" in names and not makes:  # it wants to know more of the column than its type
        makes = ((Kind.VECTOR, Kind.VECTOR),)
    family = cls.__module__.rpartition(".")[2]
    summary = re.split(r"(?<=[a-z)\]])\.\s|\n\n", doc)[0].replace("\n", " ").rstrip(".")
    return Algorithm(cls.__name__, family, role, summary, doc, parameters, tuple(principal), makes)


def _parameter(instance: Params, param: Param[Any]) -> Parameter:
    default = None
    if instance.hasDefault(param):
        default = str(instance.getOrDefault(param))
        if param.name in ("outputCol", "outputCols") or "__output" in default:
            default = None
        if param.name == "seed":
            default = None
    kind = _TYPES.get(param.typeConverter.__name__) or ("BOOLEAN" if default in ("True", "False") else "STRING")
    return Parameter(param.name, kind, re.sub(r"\s+", " ", param.doc).strip(), default)


def _makes(cls: type[Params], parameters: tuple[Parameter, ...]) -> tuple[tuple[Kind, Kind], ...]:
    """Return what a column that a class reads by itself may be, each with what it makes of it."""
    instance: Any = cls()
    names = {p.name for p in parameters}
    several = "inputCol" not in names
    trials = {p.name: _TRIALS[p.type] for p in parameters if p.default is None and p.name in _TRIED}
    columns: dict[str, Any] = {"inputCols": ["c"]} if several else {"inputCol": "c"}
    columns |= {"outputCols": ["o"]} if several and "outputCols" in names else {"outputCol": "o"}
    for name, value in {**trials, **columns}.items():
        if name in names:
            instance._set(**{name: value})
    java = instance._to_java()
    session, found = SparkSession.active(), dict[Kind, Kind]()
    for kind, sample in _SAMPLES.items():
        schema = StructType().add("c", sample).add("label", DoubleType())
        try:
            out_schema = java.transformSchema(session._jsparkSession.parseDataType(schema.json()))
        except (PySparkException, Py4JError):
            continue
        out = StructType.fromJson(json.loads(out_schema.json()))
        kinds = {f.name: kind_of(f.dataType.simpleString()) for f in out.fields}
        found[kind] = kinds.get("o", kind)
    if Kind.OTHER in found:  # it does not look at types before it runs
        found = {kind: made for kind, made in found.items() if kind in (Kind.NUMBER, Kind.BOOLEAN, Kind.VECTOR)}
    return tuple(found.items())


def own_algorithm(own: Generator) -> Algorithm:
    """Return what there is to know of a generator of the user's own."""
    parameters = tuple(Parameter(p.name, p.type, "", p.default, p.default is None) for p in own.parameters)
    summary = own.doc.split("\n\n")[0].replace("\n", " ").rstrip(".")
    names = tuple(p.name for p in parameters)
    return Algorithm(own.name, "udfs", Role.OWN, summary, own.doc, parameters, names, returns=own.returns)


def plain_text(doc: str) -> str:
    r"""Return a docstring without the marks of its markup, up to where its notes and examples begin.

    Example:
        >>> plain_text("K-means, see :py:class:`KMeans`.\n\n.. versionadded:: 1.5.0\n\nExamples")
        'K-means, see KMeans.'
    """
    doc = re.split(r"\n\s*(?:\.\. |Examples\n|Notes\n|Parameters\n|See Also\n|>>> )|\nExamples$", doc)[0]
    doc = re.sub(r":[a-z:]+:`~?([^`<]+?)(?:\s*<[^>]*>)?`", r"\1", doc)
    doc = re.sub(r"`([^`<]+?)\s*<[^>]*>`_+", r"\1", doc)
    return doc.replace("``", "").replace("`", "").strip()


# ---------------------------------------------------------------- values


def _listed(value: Any) -> Any:
    return [_listed(v) for v in value] if isinstance(value, tuple) else value


def _tupled(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    return tuple(_tupled(v) for v in value) if isinstance(value, (list, tuple)) else value


def _as_declared(declared: str, value: Any) -> Any:
    """Return a value for a parameter of the user's own generator."""
    if declared.startswith("ARRAY<"):
        return [_as_declared(declared[6:-1], v) for v in (value if isinstance(value, list) else [value])]
    kinds = {"INT": int, "DOUBLE": (int, float), "STRING": str, "BOOLEAN": bool}
    if not isinstance(value, kinds[declared]) or (isinstance(value, bool) and declared != "BOOLEAN"):  # type: ignore[arg-type]
        raise TypeError(declared)
    return float(value) if declared == "DOUBLE" else value
