# ruff: noqa: E501 - statements as users write them
"""A search from SQL is the search written by hand: the same scores, the same best model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.soak import soaked
from tests.statements import Rows, rows_in

if TYPE_CHECKING:
    from warehouse.engine import Engine

TABLE = """
CREATE TABLE houses AS
SELECT DOUBLE(id % 17) AS rooms, DOUBLE(id % 23) AS age, DOUBLE(3 * (id % 17) - (id % 23) + hash(id) % 7) AS price,
       CAST(id % 2 AS INT) AS fold
FROM range(0, 300, 1, 2)
"""
TRIED = (0.0, 20.0)


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    for rows in rows_in(engine, "searches"):
        rows(TABLE)
        yield rows


def by_hand(engine: Engine, search: str, **settings: Any) -> Any:
    from pyspark.ml import Pipeline, tuning
    from pyspark.ml.evaluation import RegressionEvaluator
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.regression import LinearRegression

    regression = LinearRegression(labelCol="price", featuresCol="features")
    pipeline = Pipeline(stages=[VectorAssembler(inputCols=["rooms", "age"], outputCol="features"), regression])
    grid = tuning.ParamGridBuilder().addGrid(regression.regParam, TRIED).build()
    searcher = getattr(tuning, search)(
        estimator=pipeline, estimatorParamMaps=grid, evaluator=RegressionEvaluator(labelCol="price"), **settings
    )
    return searcher.fit(engine.spark.table("searches.houses"))


CALLS = {
    "CrossValidator": ("folds => 2, seed => 7", {"numFolds": 2, "seed": 7}),
    "TrainValidationSplit": ("train_ratio => 0.6, seed => 7", {"trainRatio": 0.6, "seed": 7}),
}


@pytest.mark.parametrize("search", [soaked("CrossValidator"), "TrainValidationSplit"])
def test_a_search_equals_the_one_written_by_hand(engine: Engine, rows: Rows, search: str) -> None:
    written, settings = CALLS[search]
    rows(
        f"GENERATE ML {search}(LinearRegression((SELECT rooms, age, price FROM houses), price), reg_param => {TRIED}, {written})"
        f" AS MODEL best_{search}"
    )
    model = by_hand(engine, search, **settings)
    found = rows(f"SELECT * FROM ML_SCORES(MODEL best_{search}) ORDER BY reg_param")
    means = model.avgMetrics if search == "CrossValidator" else model.validationMetrics
    assert [r["reg_param"] for r in found] == list(TRIED) and {r["metric"] for r in found} == {"rmse"}
    assert [r["score"] for r in found] == means
    if search == "CrossValidator":
        assert [r["deviation"] for r in found] == model.stdMetrics
    assert [r["best"] for r in found] == [mean == min(means) for mean in means]
    table = engine.spark.table("searches.houses")
    wanted = {(r.rooms, r.age, r.price): r.prediction for r in model.transform(table).collect()}
    predicted = rows(f"SELECT * FROM ML_PREDICT(TABLE houses, MODEL best_{search})")
    assert len(predicted) == 300
    assert all(wanted[r["rooms"], r["age"], r["price"]] == r["prediction"] for r in predicted)


@pytest.mark.soak
def test_folds_may_be_told_by_a_column(engine: Engine, rows: Rows) -> None:
    rows(
        f"GENERATE ML CrossValidator(LinearRegression(houses, price), reg_param => {TRIED}, folds => 2, fold => fold) AS MODEL folded"
    )
    model = by_hand(engine, "CrossValidator", numFolds=2, foldCol="fold")
    found = rows("SELECT * FROM ML_SCORES(MODEL folded) ORDER BY reg_param")
    assert [r["score"] for r in found] == model.avgMetrics
    assert rows("SELECT count(*) AS n FROM ML_EVALUATE((SELECT rooms, age, price FROM houses), MODEL folded)") == [
        {"n": 5}
    ]
