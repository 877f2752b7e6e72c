"""Runs GENERATE: rows are read once, looked at and learnt from; table and model come to be whole or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NoReturn

from py4j.protocol import Py4JJavaError
from pyspark import StorageLevel
from pyspark.ml import Estimator, PipelineModel
from pyspark.sql import DataFrame, SparkSession

from warehouse.catalog.entries import ModelEntry, ModelVersion, Pairs, quote_name
from warehouse.errors import WarehouseError, fail
from warehouse.execution.spark_errors import RAISED, is_cancellation, root
from warehouse.language.statements import Name
from warehouse.ml import metrics
from warehouse.ml.examination import examine, glance
from warehouse.ml.fitting import Fitted, fit, summary
from warehouse.ml.library import SparkLibrary, classes, direct_method
from warehouse.ml.models import StoredModels, as_struct, empty, output_columns, tables_inside, transformed
from warehouse.ml.preparation import any_missing, working
from warehouse.ml.stages import Facts, instance, stages
from warehouse.ml.watch import Watch
from warehouse.planning import plans
from warehouse.planning.algorithms import Role, snake
from warehouse.planning.explaining.explain_training import reads_once
from warehouse.planning.models.arguments import shown
from warehouse.planning.models.predictions import CONTENTS
from warehouse.planning.models.training import SEED, OwnStep, Step, Training


@dataclass(frozen=True)
class Generated:
    """What a GENERATE statement gives.

    Attributes:
        frame: its rows, or None where they were kept as a table or nobody wants them.
        message: one line on what was made.
        release: to be called when the rows were read.
    """

    frame: DataFrame | None
    message: str | None
    release: Callable[[], None]


class Generating:
    """Runs statements of one session."""

    def __init__(self, spark: SparkSession, models: StoredModels, library: SparkLibrary, watch: Watch):
        self.spark, self.models, self.library, self.watch = spark, models, library, watch

    def run(self, plan: plans.Train) -> Generated:
        """Return what comes of a statement.

        Raises:
            WarehouseError: the rows are not fit for it, or MLlib refuses them; nothing was made then.
        """
        kept = ExitStack()
        try:
            return self._run(plan, kept)
        except BaseException as error:
            kept.close()
            if isinstance(error, RAISED) and not is_cancellation(error):
                _retell(error, plan.training)
            raise

    def _run(self, plan: plans.Train, kept: ExitStack) -> Generated:
        training, fitted, facts = plan.training, None, Facts(0)
        wants_rows = plan.model is None or plan.table is not None
        for target in filter(None, (plan.statement.table, plan.statement.model)):
            self._find_schema(target.name)
        self.watch.begin("rows")
        frame = self.spark.sql(training.relation.text, args=self.library.parameters or None)
        for own in training.before:
            frame = self._own(own, frame)
        if training.steps:
            first = None
            if reads_once(training):
                frame, known = _in_memory(frame if wants_rows else _needed(training, frame), kept)
                first = glance(training, frame, known)
            facts = first or examine(training, frame)
            ready = _ready(training, frame)
            if training.makes_model:
                try:
                    fitted = fit(training, ready, facts, self.watch)
                except RAISED as error:
                    if first and not is_cancellation(error):
                        examine(training, frame)
                    raise
                if wants_rows:
                    frame = transformed(frame, fitted.recipe, fitted.model)
            else:
                frame = self._unfitted(training, frame, ready, facts)
        for own in training.after:
            frame = self._own(own, frame)
        made = []
        version = self._version(plan, fitted, ready, facts.rows) if plan.model and fitted else None
        try:  # the model first: it can be taken back, what a table that was replaced held cannot
            if version and plan.model:
                made.append(self._registered(plan.model, plan.replaces, version))
            if plan.table:
                self._write(plan.table, plan.replaces_table, frame)
                made.insert(0, f"table {plan.table} {'replaced' if plan.replaces_table else 'created'}")
        except BaseException:
            if version and plan.model:
                self._taken_back(plan.model, plan.replaces, version)
            raise
        if made:
            kept.close()
        return Generated(None if made else frame, "; ".join(made) or None, kept.close)

    def _find_schema(self, target: Name) -> None:
        """Refuse a target in a schema that is not there, before anything is learnt."""
        schema = quote_name(target.parts[0])
        if len(target.parts) == 2 and not self.spark.catalog.databaseExists(schema):
            fail("WAREHOUSE_SCHEMA_NOT_FOUND", target.span, schema=schema)

    def _unfitted(self, training: Training, frame: DataFrame, ready: DataFrame, facts: Facts) -> DataFrame:
        """Return what comes of a chain whose outermost call makes no model."""
        last = training.last
        self.watch.begin(last.algorithm.name)
        if last.whole:
            return instance(last, facts).transform(frame)
        for stage in stages(training, facts)[:-1]:
            fitted = stage.stage.fit(ready) if isinstance(stage.stage, Estimator) else stage.stage
            ready = fitted.transform(ready)
        algorithm: Any = instance(last, facts)
        if last.algorithm.role is Role.EVALUATOR:
            value = float(algorithm.evaluate(ready))
            return self.spark.createDataFrame([(algorithm.getMetricName(), value)], "metric STRING, value DOUBLE")
        method = direct_method(classes()[last.algorithm.name.lower()])
        assert method
        return getattr(algorithm, method)(ready)

    def _own(self, step: OwnStep, frame: DataFrame) -> DataFrame:
        """Return what a generator of the user's own makes of the rows; it must be what it declares."""
        name = step.algorithm.name
        self.watch.begin(name)
        try:
            made = self.library.own(name, step.place)(frame, **dict(step.given))
            if not isinstance(made, DataFrame):
                raise TypeError(f"it returned a value of type {type(made).__name__}, not a DataFrame")
            found = [(f.name, f.dataType.simpleString()) for f in made.schema.fields]
        except (WarehouseError, *RAISED):
            raise
        except (Exception, SystemExit) as error:
            fail("WAREHOUSE_GENERATOR_FAILED", step.place, name=name, reason=f"{type(error).__name__}: {error}")
        wanted = [(c.name, c.type) for c in step.columns]
        same = len(found) == len(wanted) and all(
            f[0].lower() == w[0].lower() and w[1] in ("", f[1]) for f, w in zip(found, wanted, strict=True)
        )
        if not same:
            returned, declared = (", ".join(f"{n} {k.upper()}" for n, k in listed) for listed in (found, wanted))
            fail("WAREHOUSE_GENERATOR_SCHEMA", step.place, name=name, returned=returned, declared=declared)
        return made

    # ---------------------------------------------------------------- what is kept

    def _write(self, table: str, replaces: bool, frame: DataFrame) -> None:
        """Write the rows as a table; of one that fails half way nothing is left."""
        there = self.spark.catalog.tableExists(table)
        self.watch.begin(f"table {table}")
        writer = frame.write.mode("overwrite" if replaces else "error")
        try:
            (writer.option("overwriteSchema", "true") if replaces else writer).saveAsTable(table)
        except BaseException:
            if not there:
                self._clear(table)
            raise

    def _clear(self, table: str) -> None:
        """Remove what a table that never came to be has left in its folder."""
        self.spark.sql(f"DROP TABLE IF EXISTS {table}")
        jvm: Any = self.spark._jvm
        session = self.spark._jsparkSession
        identifier = session.sessionState().sqlParser().parseTableIdentifier(table)
        path = jvm.org.apache.hadoop.fs.Path(session.sessionState().catalog().defaultTablePath(identifier))
        path.getFileSystem(session.sessionState().newHadoopConf()).delete(path, True)

    def _version(self, plan: plans.Train, fitted: Fitted, ready: DataFrame, rows: int) -> ModelVersion:
        """Write the files of a model's new version, and return what the catalog is to know of it."""
        assert plan.model
        training, recipe, model = plan.training, fitted.recipe, fitted.model
        self.watch.begin(f"model {plan.model[1]}")
        used = {p.column.lower() for p in recipe.features}
        inputs = tuple(c for c in training.trained if c.name.lower() in used)
        base = empty(self.spark, inputs)
        struct = as_struct(base, recipe, model, plan.model[1])
        learnt = any(s.algorithm.role in (Role.ESTIMATOR, Role.WRAPPER) for s in training.steps)
        measured = metrics.in_one_pass(recipe, model.transform(_some(ready, rows))) if learnt else ()
        number, folder = self.models.new_folder(plan.replaces, plan.model[1])
        version = ModelVersion(
            number, folder, plan.source.text, datetime.now(UTC).isoformat(timespec="seconds"), training.trained, inputs,
            output_columns(struct), self.models.functions.is_row_wise(base, struct), recipe.to_json(),
            (*_facts(training), *summary(model), *_contents(model)), measured, _scores(fitted),
        )  # fmt: skip
        try:
            self.models.write(folder, model)
        except BaseException:
            self.models.forget(folder)
            raise
        return version

    def _registered(self, name: tuple[str, str], old: ModelEntry | None, version: ModelVersion) -> str:
        """Make a version known, which makes it exist."""
        identity = version.folder.partition("/")[0]
        entry = ModelEntry(*name, identity, (*(old.versions if old else ()), version))
        self.models.catalog.models.put(entry)
        told = f", {version.metrics[0][0]} {version.metrics[0][1]}" if version.metrics else ""
        return f"model {entry.qualified} version {version.number} created{told}"

    def _taken_back(self, name: tuple[str, str], old: ModelEntry | None, version: ModelVersion) -> None:
        """Make a version unknown again, and remove its files."""
        if old:
            self.models.catalog.models.put(old)
        else:
            self.models.catalog.models.drop(*name)
        self.models.forget(version.folder)


# ---------------------------------------------------------------- rows


def _needed(training: Training, frame: DataFrame) -> DataFrame:
    """Return the columns that training reads, as they are."""
    names = dict.fromkeys(p.column for p in training.prepared)
    return frame.select(*(quote_name(name) for name in names))


def _ready(training: Training, frame: DataFrame) -> DataFrame:
    """Return the rows to learn from, made ready."""
    if training.nulls == "skip":
        frame = frame.where(f"NOT ({any_missing(training.prepared, 'skip')})")
    return working(frame, training.prepared)


MEASURED = 100_000
"""Rows that a model is measured on when it is stored; ML_EVALUATE takes all that it is given."""


def _some(ready: DataFrame, rows: int) -> DataFrame:
    """Return the rows to measure on: all of them, or a sample that is the same in each run."""
    return ready if rows <= MEASURED else ready.sample(MEASURED / rows, SEED)


_SAME_ROWS = ("Project", "SubqueryAlias", "View")
_CHEAP = (*_SAME_ROWS, "Filter", "LocalLimit", "GlobalLimit")


def _in_memory(frame: DataFrame, kept: ExitStack) -> tuple[DataFrame, int]:
    """Return the rows kept in memory, and how many they are if they lie there already and were counted, else 0."""
    node, same = frame._jdf.queryExecution().withCachedData(), True
    while node.nodeName() in _CHEAP:
        same &= node.nodeName() in _SAME_ROWS
        node = node.child()
    if node.nodeName() == "InMemoryRelation" and same and node.cacheBuilder().isCachedColumnBuffersLoaded():
        counted = node.computeStats().rowCount()
        return frame, int(str(counted.get())) if counted.isDefined() else 0
    if node.nodeName() in ("InMemoryRelation", "LocalRelation"):
        return frame, 0
    held = frame.persist(StorageLevel.MEMORY_AND_DISK)
    kept.callback(held.unpersist)
    return held, 0


# ---------------------------------------------------------------- what is told


def _facts(training: Training) -> Pairs:
    """Return what DESCRIBE tells of how a model was made."""
    chain = " → ".join(step.algorithm.name for step in training.steps)
    given = [
        f"{snake(name)} => {shown(value)}"
        for step in training.steps
        for one in filter(None, (step.inner, step))
        for name, value in one.given
    ]
    found = [("Algorithm", training.last.algorithm.name), ("Pipeline", chain), ("Parameters", ", ".join(given))]
    if training.label:
        found.append(("Label", training.label))
    found += [("Nulls", training.nulls), ("Seed", str(training.last.setting("seed") or ""))]
    if training.search:
        found.append(("Search", training.search.algorithm.name))
    return tuple((label, text) for label, text in found if text)


def _contents(model: PipelineModel) -> Pairs:
    """Return what ML_CONTENTS has of a model."""
    listed = ", ".join(tables_inside(model))
    return ((CONTENTS, listed),) if listed else ()


def _scores(fitted: Fitted) -> str:
    if fitted.scores is None:
        return ""
    names, rows = fitted.scores
    return json.dumps({"columns": list(names), "rows": rows})


_OF_MLLIB = ("FAILED_EXECUTE_UDF", "FAILED_EXECUTE_USER_DEFINED_FUNCTION")
"""Conditions under which MLlib's own functions fail."""


def _retell(error: BaseException, training: Training) -> NoReturn:
    """Raise what MLlib refuses in its own words, at the call that it refuses; other errors as they are."""
    inner = root(error)
    condition = getattr(inner, "getCondition", lambda: None)()
    said = str(inner.java_exception) if isinstance(inner, Py4JJavaError) else str(inner)
    step: Step | OwnStep = (training.steps or training.before or training.after)[-1]
    missing = re.search(r"(?:Failed to find a default value for|must be defined but are not set:) (\w+)", said)
    if missing:
        for one in training.steps:
            if one.algorithm.has(missing[1]):
                step = one
        name, parameter = step.algorithm.name, snake(missing[1])
        fail("WAREHOUSE_GENERATOR_PARAMETER_MISSING", step.place, name=name, parameter=parameter)
    unseen = re.search(r"Unseen label: (.*?)\.\s", said)
    if unseen:
        fail("WAREHOUSE_MODEL_UNSEEN", step.place, value=unseen[1])
    of_mllib = condition in _OF_MLLIB or (condition == "USER_RAISED_EXCEPTION" and "Vector values MUST NOT" in said)
    if condition and not of_mllib:
        raise error
    for prepared in training.prepared:
        said = re.sub(rf"\b{re.escape(prepared.name)}\b", prepared.column, said)
    reason = re.split(r"\n\s*at |\nJVM stacktrace|\n", said.strip())[0]
    reason = re.sub(r"^(java|org)[\w.]*(Exception|Error): |requirement failed: |^\[\w+\] | SQLSTATE: \w+$", "", reason)
    if reason.startswith("Job aborted"):  # by the task that failed, which is behind where that was
        reason = re.split(r"(?:Exception|Error): ", reason)[-1]
    fail("WAREHOUSE_GENERATE_FAILED", step.place, name=step.algorithm.name, reason=reason.rstrip("."))
