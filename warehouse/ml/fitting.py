"""Fits the stages of a bound chain to rows, one after the other, or searches for the best values of some parameters."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from pyspark.ml import Estimator, Pipeline, PipelineModel
from pyspark.sql import DataFrame

from warehouse.catalog.entries import Pairs
from warehouse.errors import fail
from warehouse.ml import metrics
from warehouse.ml.library import classes
from warehouse.ml.preparation import Recipe, recipe_of
from warehouse.ml.stages import Facts, Stage, stages
from warehouse.ml.watch import Watch
from warehouse.planning.algorithms import snake
from warehouse.planning.models.arguments import advice
from warehouse.planning.models.training import Search, Training


@dataclass(frozen=True)
class Fitted:
    """What came of a training.

    Attributes:
        scores: of a search: names of columns, and a row for each combination.
    """

    model: PipelineModel
    recipe: Recipe
    scores: tuple[tuple[str, ...], list[list[Any]]] | None = None


def fit(training: Training, frame: DataFrame, facts: Facts, watch: Watch) -> Fitted:
    """Return the chain fitted to the rows of ``frame``, which are made ready."""
    recipe, listed = recipe_of(training), stages(training, facts)
    if training.search:
        return _searched(training.search, recipe, listed, frame, facts, watch)
    fitted = []
    for stage in listed:
        watch.begin(stage.name)
        model = stage.stage.fit(frame) if isinstance(stage.stage, Estimator) else stage.stage
        fitted.append(model)
        if stage is not listed[-1]:
            frame = model.transform(frame)
    return Fitted(PipelineModel(fitted), recipe)


def _searched(
    search: Search, recipe: Recipe, listed: list[Stage], frame: DataFrame, facts: Facts, watch: Watch
) -> Fitted:
    evaluators = metrics.evaluators(recipe, facts.classes == 2)
    metric = _metric(search, list(evaluators))
    asked: list[tuple[Any, Any, tuple[Any, ...]]] = []
    for number, name, values in search.grid:
        stage: Any = next(s.stage for s in reversed(listed) if s.step == number)
        owner = stage if stage.hasParam(name) else stage.getClassifier()
        asked.append((owner.getParam(name), name, values))
    combinations = list(product(*(values for _, _, values in asked)))
    grid = [{p: v for (p, _, _), v in zip(asked, values, strict=True)} for values in combinations]
    searcher: Any = classes()[search.algorithm.name.lower()]()
    searcher._set(
        estimator=Pipeline(stages=[s.stage for s in listed]), estimatorParamMaps=grid, evaluator=evaluators[metric],
        **dict(search.settings),
    )  # fmt: skip
    watch.begin(search.algorithm.name)
    model = searcher.fit(frame)
    means = model.avgMetrics if hasattr(model, "avgMetrics") else model.validationMetrics
    deviations = getattr(model, "stdMetrics", None) or [None] * len(means)
    better = max if evaluators[metric].isLargerBetter() else min
    best = list(means).index(better(means))
    names = (*(snake(name) for _, name, _ in asked), "metric", "score", "deviation", "best")
    rows = [
        [*_plain(values), metric, float(mean), None if deviation is None else float(deviation), number == best]
        for number, (values, mean, deviation) in enumerate(zip(combinations, means, deviations, strict=True))
    ]
    return Fitted(model.bestModel, recipe, (names, rows))


def _metric(search: Search, known: list[str]) -> str:
    """Return the metric by which models are compared."""
    if not known:
        fail("WAREHOUSE_GENERATE_NOTHING_TO_SEARCH", search.place, name=search.algorithm.name)
    if search.metric is None:
        return known[0]
    found = next((m for m in known if m.lower() == search.metric.lower()), None)
    if found is None:
        told = advice(search.metric, known, f"There are {', '.join(known)}.")
        fail("WAREHOUSE_GENERATE_METRIC", search.place, metric=search.metric, advice=told)
    return found


def _plain(values: tuple[Any, ...]) -> list[Any]:
    """Return the values of a combination as JSON has them."""
    return [v if isinstance(v, (bool, int, float, str, list)) else str(v) for v in values]


def summary(model: PipelineModel) -> Pairs:
    """Return what the last stage tells of its training without another pass over the data."""
    last: Any = model.stages[-1]
    told: list[tuple[str, str]] = []
    if getattr(last, "hasSummary", False):
        its = last.summary
        for label, name in (("Iterations", "totalIterations"), ("Iterations", "numIter")):
            if (value := _asked(its, name)) is not None:
                told.append((label, str(value)))
        history = _asked(its, "objectiveHistory")
        if history:
            told.append(("Objective", f"{history[0]:.6g} at first, {history[-1]:.6g} in the end"))
        for label, name in (("Training cost", "trainingCost"), ("Log likelihood", "logLikelihood")):
            if (value := _asked(its, name)) is not None:
                told.append((label, f"{value:.6g}"))
    for label, name in (
        ("Coefficients", "coefficients"), ("Intercept", "intercept"), ("Importance of features", "featureImportances"),
        ("Trees", "getNumTrees"), ("Explained variance", "explainedVariance"), ("Rank", "rank"),
    ):  # fmt: skip
        if (value := _asked(last, name)) is not None:
            told.append((label, _clipped(str(value))))
    return tuple(dict(told).items())


def _asked(owner: Any, name: str) -> Any:
    """Return an attribute of a model or a summary, None where it has none for this model."""
    try:
        return getattr(owner, name)
    except Exception:
        return None


def _clipped(text: str, most: int = 500) -> str:
    return text if len(text) <= most else text[:most] + " …"
