"""GENERATE bound without Spark: which argument is which parameter, which columns go in, what comes out."""

from __future__ import annotations

from typing import Any

import pytest

from warehouse.catalog.entries import Column, ModelEntry
from warehouse.errors import SourceText, Span, WarehouseError
from warehouse.language.fragments import of
from warehouse.language.parser import parse
from warehouse.language.statements import Generate
from warehouse.planning import plans
from warehouse.planning.algorithms import Algorithm, Kind, Parameter, Role
from warehouse.planning.explaining import explain
from warehouse.planning.models.generate import Source, bind
from warehouse.planning.models.training import LABEL, Training

COLUMNS = (
    Column("age", "int"), Column("country", "string"), Column("paid", "boolean"), Column("spots", "array<double>"),
    Column("day", "date"),
)  # fmt: skip


def parameter(name: str, kind: str = "STRING", default: str | None = None) -> Parameter:
    return Parameter(name, kind, f"what {name} is", default)


TREE = Algorithm(
    "Tree", "classification", Role.ESTIMATOR, "", "",
    (
        parameter("featuresCol"), parameter("labelCol", default="label"), parameter("predictionCol"),
        parameter("maxDepth", "INT", "5"), parameter("maxBins", "INT", "32"), parameter("seed", "INT"),
    ),
    ("labelCol",),
)  # fmt: skip
LINES = Algorithm(
    "Lines", "regression", Role.ESTIMATOR, "", "",
    (
        parameter("featuresCol"), parameter("labelCol", default="label"), parameter("predictionCol"),
        parameter("regParam", "DOUBLE", "0.0"), parameter("fitIntercept", "BOOLEAN", "True"), parameter("weightCol"),
    ),
    ("labelCol",),
)  # fmt: skip
GROUPS = Algorithm(
    "Groups", "clustering", Role.ESTIMATOR, "", "",
    (parameter("featuresCol"), parameter("predictionCol"), parameter("k", "INT", "2")), ("k",),
)  # fmt: skip
SCALED = Algorithm(
    "Scaled", "feature", Role.ESTIMATOR, "", "", (parameter("inputCol"), parameter("outputCol")), (),
    ((Kind.VECTOR, Kind.VECTOR),),
)  # fmt: skip
SEARCH = Algorithm(
    "Search", "tuning", Role.SEARCH, "", "",
    (parameter("numFolds", "INT", "3"), parameter("foldCol"), parameter("seed", "INT")), ("numFolds",),
)  # fmt: skip


class Known:
    """A library of five algorithms; a value is right if it is of the parameter's type, and not negative."""

    listed = (TREE, LINES, GROUPS, SCALED, SEARCH)

    def find(self, name: str, place: Span) -> Algorithm | None:
        return next((a for a in self.listed if a.name.lower() == name.lower()), None)

    def names(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.listed)

    def value(self, algorithm: Algorithm, its: Parameter, value: Any) -> Any:
        if not isinstance(value, {"INT": int, "DOUBLE": (int, float), "BOOLEAN": bool, "STRING": str}[its.type]):  # type: ignore[arg-type]
            raise TypeError(its.type)
        if its.type != "STRING" and value < 0:
            raise ValueError("negative")
        return value

    def constant(self, expression: str) -> Any:
        raise AssertionError(f"{expression} is not a literal")

    def schema(self, ddl: str) -> tuple[Column, ...]:
        raise AssertionError(ddl)


def bound(text: str) -> Training:
    statement = parse(SourceText(text))
    assert isinstance(statement, Generate)
    return bind(Known(), statement, Source(of("SELECT * FROM u"), COLUMNS, Span(0, 0)))


def settings(training: Training, step: int = -1) -> dict[str, Any]:
    return dict(training.steps[step].settings)


@pytest.mark.parametrize("written", ["max_depth => 3", "maxDepth => 3", "MAXDEPTH => 3", "max_Depth=>3"])
def test_a_parameter_goes_by_either_spelling(written: str) -> None:
    assert settings(bound(f"GENERATE ML Tree(u, label => paid, {written})"))["maxDepth"] == 3


def test_a_value_without_a_name_is_the_principal_one() -> None:
    assert settings(bound("GENERATE Groups(u, 7, features => age)"))["k"] == 7
    training = bound("GENERATE ML Tree(u, 'paid')")
    assert training.label == "paid" and settings(training)["labelCol"] == LABEL


def test_the_seed_is_the_same_in_each_run() -> None:
    assert settings(bound("GENERATE ML Tree(u, paid)"))["seed"] == 42
    assert settings(bound("GENERATE ML Tree(u, paid, seed => 1)"))["seed"] == 1


def test_features_are_what_can_be_one_and_is_no_label() -> None:
    assembly = bound("GENERATE ML Tree(u, paid)").last.assembly
    assert assembly and not assembly.onehot
    assert [kind for _, kind in assembly.inputs] == [Kind.NUMBER, Kind.STRING, Kind.VECTOR]
    chosen = bound("GENERATE ML Tree(u, paid, features => ('country', age))")
    assert [p.column for p in chosen.prepared if not p.taught] == ["country", "age"]


@pytest.mark.parametrize(
    ("call", "onehot"),
    [
        ("Tree(u, paid)", False), ("Lines(u, age)", True), ("Lines(u, age, strings => 'index')", False),
        ("Groups(u, strings => 'onehot')", True),
    ],
)  # fmt: skip
def test_strings_are_spread_out_where_features_are_weighed(call: str, onehot: bool) -> None:
    assembly = bound(f"GENERATE ML {call}").last.assembly
    assert assembly and assembly.onehot is onehot


def test_a_weight_is_no_feature() -> None:
    training = bound("GENERATE ML Lines(u, paid, weight => age)")
    assert [p.column for p in training.prepared if p.taught] == ["paid", "age"]
    assert settings(training)["weightCol"] == "__w_weight"


def test_an_outer_call_reads_what_the_inner_one_makes() -> None:
    training = bound("GENERATE ML Groups(Scaled(u, features => (age, spots)), 3, nulls => 'skip')")
    assert training.nulls == "skip" and [s.algorithm.name for s in training.steps] == ["Scaled", "Groups"]
    assert settings(training)["featuresCol"] == settings(training, 0)["outputCol"]
    assert [name for name, _ in training.last.outputs] == ["prediction"]


def test_lists_are_what_a_search_tries() -> None:
    search = bound("GENERATE ML Search(Lines(u, paid, features => age), reg_param => (0.1, 1), folds => 4)").search
    assert search and search.grid == ((0, "regParam", (0.1, 1)),)
    assert dict(search.settings) == {"seed": 42, "numFolds": 4}
    folded = bound("GENERATE ML Search(Lines(u, paid), reg_param => (0.1, 1), fold => age)")
    assert folded.search and dict(folded.search.settings)["foldCol"] == "__w_fold"
    assert "age" not in [p.column for p in folded.prepared if not p.taught]


REFUSED = {
    "Treee(u, paid)": ("WAREHOUSE_GENERATOR_NOT_FOUND", "Treee", "Did you mean Tree?"),
    "Tree(u, paid, max_dept => 3)": ("WAREHOUSE_GENERATOR_PARAMETER_UNKNOWN", "max_dept", "max_depth"),
    "Tree(u, paid, max_depth => 'x')": ("WAREHOUSE_GENERATOR_PARAMETER_TYPE", "max_depth => 'x'", "INT"),
    "Tree(u, paid, max_depth => -3)": ("WAREHOUSE_GENERATOR_PARAMETER_RANGE", "max_depth => -3", "what maxDepth is"),
    "Tree(u, paid, 3)": ("WAREHOUSE_GENERATOR_POSITION", "3", "label"),
    "Tree(u, paid, label => age)": ("WAREHOUSE_GENERATOR_PARAMETER_TWICE", "label", "label"),
    "Tree(u)": ("WAREHOUSE_GENERATE_LABEL_MISSING", "Tree", "label"),
    "Tree(u, country)": ("WAREHOUSE_GENERATE_LABEL_TYPE", "country", "string"),
    "Tree(u, paid, features => (age, dya))": ("WAREHOUSE_GENERATE_COLUMN_NOT_FOUND", "dya", "day"),
    "Tree(u, paid, features => day)": ("WAREHOUSE_GENERATE_COLUMN_TYPE", "features => day", "date"),
    "Tree(u, paid, features => 3)": ("WAREHOUSE_GENERATE_COLUMN_NAME", "features => 3", "features"),
    "Tree(u, paid, nulls => 'drop')": ("WAREHOUSE_GENERATOR_PARAMETER_RANGE", "nulls => 'drop'", "'skip'"),
    "Groups(u, prediction_col => 'age', features => spots)": ("WAREHOUSE_GENERATE_OUTPUT_TAKEN", "prediction", "age"),
    "Groups(Search(u))": ("WAREHOUSE_GENERATE_OUTERMOST", "Search", "Search"),
    "Search(u)": ("WAREHOUSE_GENERATE_NOTHING_TO_SEARCH", "Search", "Search"),
}  # fmt: skip


@pytest.mark.parametrize("call", REFUSED)
def test_a_mistake_has_a_condition_a_place_and_a_word(call: str) -> None:
    text = f"GENERATE ML {call}"
    with pytest.raises(WarehouseError) as caught:
        bound(text)
    (told,) = caught.value.diagnostics
    condition, at, word = REFUSED[call]
    assert told.condition == condition
    assert told.span and told.span.of(text).startswith(at)
    assert word in str(caught.value)


def test_dropping_a_model_is_explained_in_words() -> None:
    planned = plans.DropModel(SourceText("DROP MODEL m"), ModelEntry("default", "m", "m-1", ()))
    assert explain.act(planned) == "drop model default.m with all its versions"
