"""How good a model is: the metrics of MLlib's evaluators that fit it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from pyspark.ml import PipelineModel
from pyspark.ml.evaluation import (
    BinaryClassificationEvaluator,
    ClusteringEvaluator,
    Evaluator,
    MulticlassClassificationEvaluator,
    RegressionEvaluator,
)
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from warehouse.catalog.entries import Pairs
from warehouse.ml.preparation import Recipe
from warehouse.planning.models.training import LABEL

BINARY = ("areaUnderROC", "areaUnderPR")
CLASSES = ("accuracy", "f1", "weightedPrecision", "weightedRecall")
NUMBERS = ("rmse", "mse", "mae", "r2", "var")


def evaluators(recipe: Recipe, binary: bool) -> dict[str, Evaluator]:
    """Return MLlib's evaluators by the metrics that fit a model, the one that it is chosen by first.

    Args:
        recipe: of the model.
        binary: there are two classes.
    """
    columns = recipe.columns
    prediction = {"predictionCol": columns.get("predictionCol", "prediction")}
    match recipe.family:
        case "classification":
            found: dict[str, Evaluator] = {}
            # by probability: the raw prediction of a tree or of naive Bayes does not rank rows as the model does
            ranked = columns.get("probabilityCol") or columns.get("rawPredictionCol")
            if binary and ranked:
                by = {"rawPredictionCol": ranked, "labelCol": LABEL}
                found |= {m: BinaryClassificationEvaluator(metricName=m, **by) for m in BINARY}
            several = {
                m: MulticlassClassificationEvaluator(metricName=m, labelCol=LABEL, **prediction) for m in CLASSES
            }
            found |= several if found else {"f1": several["f1"], **several}
            if "probabilityCol" in columns:
                probability = {"probabilityCol": columns["probabilityCol"], **prediction}
                found["logLoss"] = MulticlassClassificationEvaluator(
                    metricName="logLoss", labelCol=LABEL, **probability
                )
            return found
        case "regression" | "recommendation":
            label = LABEL if recipe.family == "regression" else columns.get("ratingCol", "rating")
            return {m: RegressionEvaluator(metricName=m, labelCol=label, **prediction) for m in NUMBERS}
        case "clustering" if "predictionCol" in columns:
            return {"silhouette": ClusteringEvaluator(featuresCol=columns["featuresCol"], **prediction)}
    return {}


def evaluated(recipe: Recipe, model: PipelineModel, frame: DataFrame) -> list[tuple[str, float]]:
    """Return all metrics of a model over rows that are made ready for it, labels included."""
    predictions = model.transform(frame).persist()
    try:
        if recipe.family == "clustering" and "topicDistributionCol" in recipe.columns:
            topics: Any = model.stages[-1]
            return [(n, float(getattr(topics, n)(predictions))) for n in ("logLikelihood", "logPerplexity")]
        binary = recipe.family == "classification" and predictions.where(F.col(LABEL) > 1).isEmpty()
        return [(name, float(e.evaluate(predictions))) for name, e in evaluators(recipe, binary).items()]
    finally:
        predictions.unpersist()


def in_one_pass(recipe: Recipe, predictions: DataFrame) -> Pairs:
    """Return what one pass over predictions tells, for a model that was just trained.

    There are few of them: to count them here takes less than the shuffle that counts them there.
    """
    prediction = recipe.columns.get("predictionCol")
    if prediction is None or prediction not in predictions.columns:
        return ()
    found: dict[str, float] = {}
    match recipe.family:
        case "classification":
            found = _of_confusion(_counts(predictions, LABEL, prediction))
        case "regression" | "recommendation":
            label = F.col(LABEL if recipe.family == "regression" else recipe.columns.get("ratingCol", "rating"))
            error = label - F.col(prediction)
            row = predictions.agg(
                F.avg(error * error).alias("mse"), F.avg(F.abs(error)).alias("mae"), F.var_pop(label).alias("spread")
            ).collect()[0]
            found = {"rmse": row["mse"] ** 0.5, "mse": row["mse"], "mae": row["mae"]}
            if row["spread"]:
                found["r2"] = 1 - row["mse"] / row["spread"]
        case "clustering":
            counts = _counts(predictions, prediction)
            listed = ", ".join(str(counts[cluster]) for cluster in sorted(counts))
            return (("clusters", str(len(counts))), ("rows per cluster", listed))
    return tuple((name, f"{value:.6g}") for name, value in found.items())


def _counts(predictions: DataFrame, *columns: str) -> Counter[tuple[Any, ...]]:
    """Return how many rows there are of each combination of values."""
    read = predictions.select(*columns).toArrow()
    return Counter(zip(*(column.to_pylist() for column in read.columns), strict=True))


def _of_confusion(counts: Mapping[tuple[Any, ...], int]) -> dict[str, float]:
    """Return accuracy, and F1, precision and recall weighted by class, of counts by label and prediction."""
    total = sum(counts.values())
    labels = sorted({label for label, _ in counts})
    precision = recall = f1 = 0.0
    for label in labels:
        right = counts.get((label, label), 0)
        there = sum(n for (l, _), n in counts.items() if l == label)  # noqa: E741
        said = sum(n for (_, p), n in counts.items() if p == label)
        its_precision, its_recall = (right / said if said else 0.0), right / there
        weight = there / total
        precision += weight * its_precision
        recall += weight * its_recall
        if right:
            f1 += weight * 2 * its_precision * its_recall / (its_precision + its_recall)
    accuracy = sum(n for (label, said), n in counts.items() if label == said) / total
    return {"accuracy": accuracy, "f1": f1, "weightedPrecision": precision, "weightedRecall": recall}
