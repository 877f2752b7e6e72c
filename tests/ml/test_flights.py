"""Algorithms of MLlib's run from SQL over real flights equal the same pipelines written by hand, row by row.

What is learnt: whether an arrival is delayed, by how much, from what is known at departure; which airports are alike.
By default a morning's few algorithms over one day of one airport, enough to tell something apart; ``LEARNING=all`` runs
every one of them, ``FLIGHTS=days`` and ``FLIGHTS=year`` over ten days of all three airports, and over all of 2013.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.statements import Rows, rows_of

if TYPE_CHECKING:
    from pyspark.ml import Pipeline
    from pyspark.sql import DataFrame

    from warehouse.engine import Engine

SIZE = os.environ.get("FLIGHTS", "small")
CHOSEN = {"small": "day == 1 and month == 1 and origin == 'LGA'", "days": "month == 1 and day <= 10"}.get(
    SIZE, "day > 0"
)

FLIGHTS = """
SELECT row_number() OVER (ORDER BY month, day, sched_dep_time, carrier, flight) AS id,
       carrier, dest, distance, hour, CAST(dep_delay AS DOUBLE) AS dep_delay, CAST(arr_delay AS DOUBLE) AS arr_delay,
       arr_delay > 15 AS delayed, CAST(least(greatest(floor(arr_delay / 15), 0), 2) AS INT) AS grade,
       greatest(arr_delay, 0) + 1 AS positive, split(concat(carrier, ' ', origin, ' ', dest), ' ') AS words,
       crc32(coalesce(tailnum, '')) % 40 AS plane, crc32(dest) % 12 AS place
FROM flights_of_the_package
"""


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    """Return what runs statements, in a schema with a table of flights."""
    import pandas

    from sql import prepare

    frame = pandas.read_csv(next(Path(prepare.package()).rglob("flights.csv*"))).query(CHOSEN)
    frame = frame[frame.arr_delay.notna()].astype({"tailnum": "str"})
    engine.spark.createDataFrame(frame).createOrReplaceTempView("flights_of_the_package")
    list(engine.run(f"CREATE SCHEMA learning; USE learning; CREATE TABLE flights AS {FLIGHTS}"))
    yield lambda text: rows_of(engine, text)
    list(engine.run("USE default"))


NUMBERS = ("distance", "hour", "dep_delay")
PLAIN = "(SELECT id, distance, hour, dep_delay, delayed, grade, arr_delay, positive FROM flights)"
FEATURES = f"features => ({', '.join(NUMBERS)})"


def assembled(*stages: Any, columns: tuple[str, ...] = NUMBERS) -> Pipeline:
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import VectorAssembler

    return Pipeline(stages=[VectorAssembler(inputCols=list(columns), outputCol="features"), *stages])


def by_hand(name: str) -> tuple[str, Pipeline]:
    """Return a call of GENERATE, and the same written by hand."""
    from pyspark.ml import Pipeline, classification, clustering, feature, fpm, recommendation, regression

    mixed = [
        feature.StringIndexer(inputCols=["carrier", "dest"], outputCols=["c", "d"]),
        feature.VectorAssembler(inputCols=["c", "d", *NUMBERS], outputCol="features"),
    ]
    spread = [
        feature.StringIndexer(inputCols=["carrier", "dest"], outputCols=["c", "d"]),
        feature.OneHotEncoder(inputCols=["c", "d"], outputCols=["co", "do"]),
        feature.VectorAssembler(inputCols=["co", "do", *NUMBERS], outputCol="features"),
    ]
    all_features = "features => (carrier, dest, distance, hour, dep_delay)"
    delayed = {"labelCol": "y", "featuresCol": "features"}
    late = {"labelCol": "arr_delay", "featuresCol": "features"}
    c, r = classification, regression
    cases: dict[str, tuple[str, Pipeline]] = {
        "LogisticRegression": (
            f"LogisticRegression(flights, delayed, {all_features}, max_iter => 15, reg_param => 0.01)",
            Pipeline(stages=[*spread, c.LogisticRegression(maxIter=15, regParam=0.01, **delayed)]),
        ),
        "LinearSVC": (
            f"LinearSVC({PLAIN}, 'delayed', {FEATURES}, maxIter => 8)",
            assembled(c.LinearSVC(maxIter=8, **delayed)),
        ),
        "DecisionTreeClassifier": (
            f"DecisionTreeClassifier(flights, delayed, {all_features}, max_depth => 4, max_bins => 120)",
            Pipeline(stages=[*mixed, c.DecisionTreeClassifier(maxDepth=4, maxBins=120, seed=42, **delayed)]),
        ),
        "RandomForestClassifier": (
            f"RandomForestClassifier(flights, grade, {all_features}, num_trees => 5, max_bins => 120, seed => 7)",
            Pipeline(
                stages=[
                    *mixed,
                    c.RandomForestClassifier(
                        numTrees=5, maxBins=120, seed=7, labelCol="grade", featuresCol="features"
                    ),
                ]
            ),
        ),
        "GBTClassifier": (
            f"GBTClassifier(flights, delayed, {FEATURES}, max_iter => 3, max_depth => 3)",
            assembled(c.GBTClassifier(maxIter=3, maxDepth=3, seed=42, **delayed)),
        ),
        "NaiveBayes": (
            "NaiveBayes(flights, delayed, features => (distance, hour), model_type => 'gaussian')",
            assembled(c.NaiveBayes(modelType="gaussian", **delayed), columns=("distance", "hour")),
        ),
        "MultilayerPerceptronClassifier": (
            f"MultilayerPerceptronClassifier(flights, grade, {FEATURES}, layers => (3, 4, 3), max_iter => 5)",
            assembled(
                c.MultilayerPerceptronClassifier(
                    layers=[3, 4, 3], maxIter=5, seed=42, labelCol="grade", featuresCol="features"
                )
            ),
        ),
        "OneVsRest": (
            f"OneVsRest(LogisticRegression(flights, grade, {FEATURES}, max_iter => 4))",
            assembled(
                c.OneVsRest(
                    classifier=c.LogisticRegression(maxIter=4), labelCol="grade", featuresCol="features"
                )
            ),
        ),
        "LinearRegression": (
            f"LinearRegression(flights, arr_delay, {FEATURES}, elastic_net_param => 0.5, reg_param => 0.1)",
            assembled(r.LinearRegression(elasticNetParam=0.5, regParam=0.1, **late)),
        ),
        "GeneralizedLinearRegression": (
            f"GeneralizedLinearRegression(flights, positive, {FEATURES}, family => 'gamma', link => 'log', maxIter=>5)",
            assembled(
                r.GeneralizedLinearRegression(
                    family="gamma", link="log", maxIter=5, labelCol="positive", featuresCol="features"
                )
            ),
        ),
        "DecisionTreeRegressor": (
            f"DecisionTreeRegressor(flights, arr_delay, {FEATURES})",
            assembled(r.DecisionTreeRegressor(seed=42, **late)),
        ),
        "RandomForestRegressor": (
            f"RandomForestRegressor(flights, arr_delay, {FEATURES}, num_trees => 4)",
            assembled(r.RandomForestRegressor(numTrees=4, seed=42, **late)),
        ),
        "GBTRegressor": (
            f"GBTRegressor(flights, arr_delay, {FEATURES}, max_iter => 2)",
            assembled(r.GBTRegressor(maxIter=2, seed=42, **late)),
        ),
        "IsotonicRegression": (
            "IsotonicRegression(flights, arr_delay, features => dep_delay)",
            assembled(r.IsotonicRegression(**late), columns=("dep_delay",)),
        ),
        "FMRegressor": (
            f"FMRegressor(MinMaxScaler(flights, {FEATURES}), arr_delay, max_iter => 4, factor_size => 2)",
            assembled(
                feature.MinMaxScaler(inputCol="features", outputCol="scaled"),
                r.FMRegressor(maxIter=4, factorSize=2, seed=42, labelCol="arr_delay", featuresCol="scaled"),
            ),
        ),
        "KMeans": (f"KMeans(flights, 4, {FEATURES})", assembled(clustering.KMeans(k=4, seed=42))),
        "BisectingKMeans": (
            f"BisectingKMeans(flights, 3, {FEATURES}, max_iter => 4)",
            assembled(clustering.BisectingKMeans(k=3, maxIter=4, seed=42)),
        ),
        "GaussianMixture": (
            f"GaussianMixture(flights, 2, {FEATURES}, max_iter => 5)",
            assembled(clustering.GaussianMixture(k=2, maxIter=5, seed=42)),
        ),
        "PCA": (
            f"PCA(StandardScaler(flights, {FEATURES}), k => 2, output_col => 'main')",
            assembled(
                feature.StandardScaler(inputCol="features", outputCol="scaled"),
                feature.PCA(k=2, inputCol="scaled", outputCol="main"),
            ),
        ),
        "Word2Vec": (
            "Word2Vec(flights, 4, features => words, min_count => 1, output_col => 'meant')",
            Pipeline(
                stages=[feature.Word2Vec(vectorSize=4, minCount=1, seed=42, inputCol="words", outputCol="meant")]
            ),
        ),
        "LDA": (
            "LDA(CountVectorizer(flights, features => words), 2, max_iter => 3)",
            Pipeline(
                stages=[
                    feature.CountVectorizer(inputCol="words", outputCol="counts"),
                    clustering.LDA(k=2, maxIter=3, seed=42, featuresCol="counts"),
                ]
            ),
        ),
        "ALS": (
            "ALS(flights, 3, user => plane, item => place, rating => positive, max_iter => 3)",
            Pipeline(
                stages=[
                    recommendation.ALS(
                        rank=3, userCol="plane", itemCol="place", ratingCol="positive", maxIter=3, seed=42
                    )
                ]
            ),
        ),
        "FPGrowth": (
            "FPGrowth(flights, 0.1, items => words, min_confidence => 0.2)",
            Pipeline(stages=[fpm.FPGrowth(minSupport=0.1, minConfidence=0.2, itemsCol="words")]),
        ),
        "QuantileDiscretizer": (
            "QuantileDiscretizer(flights, 4, features => dep_delay, output_col => 'quarter')",
            Pipeline(
                stages=[feature.QuantileDiscretizer(numBuckets=4, inputCol="dep_delay", outputCol="quarter")]
            ),
        ),
    }  # fmt: skip
    return cases[name]


ALGORITHMS = (
    "LogisticRegression", "LinearSVC", "DecisionTreeClassifier", "RandomForestClassifier", "GBTClassifier",
    "NaiveBayes", "MultilayerPerceptronClassifier", "OneVsRest", "LinearRegression", "GeneralizedLinearRegression",
    "DecisionTreeRegressor", "RandomForestRegressor", "GBTRegressor", "IsotonicRegression", "FMRegressor", "KMeans",
    "BisectingKMeans", "GaussianMixture", "PCA", "Word2Vec", "LDA", "ALS", "FPGrowth", "QuantileDiscretizer",
)  # fmt: skip


def plain(value: Any) -> Any:
    """Return a value of a hand-written pipeline as SQL has it."""
    from pyspark.ml.linalg import Vector

    return value.toArray().tolist() if isinstance(value, Vector) else value


FEW = ("DecisionTreeClassifier", "KMeans")
CHOICE = ALGORITHMS if os.environ.get("LEARNING") == "all" else FEW


@pytest.mark.parametrize("name", CHOICE)
def test_an_algorithm_equals_its_pipeline_by_hand(engine: Engine, rows: Any, name: str) -> None:
    call, pipeline = by_hand(name)
    table: DataFrame = engine.spark.table("learning.flights")
    wanted = pipeline.fit(_with_label(table)).transform(_with_label(table)).collect()
    got = {row["id"]: row for row in rows(f"GENERATE ML {call}")}
    added = [c for c in next(iter(got.values())) if c not in table.columns]
    assert added and len(got) == len(wanted) == table.count()
    for row in wanted:
        for column in added:
            assert _same(got[row["id"]][column], plain(row[column])), (row["id"], column)


AIRPORTS = """
SELECT dest, avg(distance) AS distance, avg(arr_delay) AS arr_delay, avg(hour) AS hour FROM flights GROUP BY dest
"""


def test_airports_that_are_alike_are_found_as_by_hand(engine: Engine, rows: Any) -> None:
    from pyspark.ml import clustering, feature

    columns = ("distance", "arr_delay", "hour")
    by_dest: DataFrame = engine.spark.sql(AIRPORTS.replace("flights", "learning.flights")).orderBy("dest").coalesce(1)
    scaler = feature.StandardScaler(inputCol="features", outputCol="scaled")
    pipeline = assembled(scaler, clustering.KMeans(k=3, seed=42, featuresCol="scaled"), columns=columns)
    wanted = {row["dest"]: row["prediction"] for row in pipeline.fit(by_dest).transform(by_dest).collect()}
    ordered = f"SELECT /*+ COALESCE(1) */ * FROM ({AIRPORTS}) ORDER BY dest"
    call = f"KMeans(StandardScaler(({ordered}), features => ({', '.join(columns)})), k => 3)"
    got = rows(f"GENERATE ML {call} AS TABLE airports; SELECT dest, prediction FROM airports")
    assert {row["dest"]: row["prediction"] for row in got} == wanted
    assert len(wanted) > 20 and len(set(wanted.values())) == 3


def _with_label(table: DataFrame) -> DataFrame:
    return table.withColumn("y", table["delayed"].cast("double"))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, float) or (isinstance(one, list) and one and isinstance(one[0], float)):
        return bool(np.array_equal(np.array(one), np.array(other), equal_nan=True))
    return sorted(one) == sorted(other) if isinstance(one, list) else one == other
