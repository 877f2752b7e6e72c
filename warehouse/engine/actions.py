"""A plan to its result: what each does, and how its failures are told."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, SparkSession

from warehouse.adaptive import report
from warehouse.adaptive.recording import Recording
from warehouse.catalog.entries import ModelEntry, StreamEntry, StreamingTableEntry, ViewEntry
from warehouse.engine import answers
from warehouse.engine.planner import Parameters, Planner, inside, refuse
from warehouse.engine.shared import Shared
from warehouse.errors import Diagnostic, SourceText, Span, WarehouseError, diagnostic, fail
from warehouse.execution.portable import portable, readable, unpacked, unpacked_schema, zone_of, zoned
from warehouse.execution.results import Progress, Report, Result, TrainingProgress
from warehouse.execution.spark_errors import RAISED, is_disk_full, translate
from warehouse.language.statements import ShowObjects
from warehouse.ml.learning import Learning
from warehouse.planning import plans
from warehouse.planning.explaining.explain import losses
from warehouse.planning.plans import Held
from warehouse.planning.replacing.replacement import Outcome
from warehouse.planning.streams.streams import RESERVED_PREFIX, matching
from warehouse.streaming.log import step_log
from warehouse.streaming.sources import ddl

Release = Callable[[], None]
Finish = Callable[[SourceText, DataFrame, Release], Result]
"""Makes the result of rows that Spark computes, and calls the last once they were read."""


@dataclass(frozen=True)
class Actions:
    """Does what plans say, in one session.

    Attributes:
        cancelled: is set when the statement that runs is to end.
        on_progress: is told of the steps that statements run, and of what GENERATE does.
        hears_all: it is told of each step anyway, those in the background too.
    """

    shared: Shared
    spark: SparkSession
    planner: Planner
    learning: Learning
    cancelled: threading.Event
    on_progress: Report | None
    hears_all: bool

    def do(self, plan: plans.Plan, parameters: Parameters, finish: Finish | None = None) -> Result:
        """Do what a plan says.

        Args:
            plan: the plan.
            parameters: values of parameter markers.
            finish: makes the result of what Spark is to compute; unless given, one of its rows.

        Raises:
            WarehouseError: it failed, or was cancelled; located in the statement.
        """
        if self.cancelled.is_set():
            fail("WAREHOUSE_CANCELLED")
        try:
            return self._do(plan, parameters, finish or self._rows)
        except WarehouseError as error:
            told = self._of_a_variable(plan, error) or error
            raise told.placed_at(place(plan)).located_in(plan.source) from None
        except RAISED as error:
            if self.cancelled.is_set():
                fail("WAREHOUSE_CANCELLED")
            fragment = plan.fragment if isinstance(plan, plans.RunSpark) else None
            said = translate(error, plan.source, fragment)
            if isinstance(plan, plans.Refresh | plans.Start | plans.Stop | plans.DropStreamingTable):
                said = _of_a_step(said, makes=False)
            elif isinstance(plan, plans.MakeStreamingTable):
                said = _of_a_step(said, makes=True)
            raise (self._of_a_variable(plan, said) or said).placed_at(place(plan)) from None
        except OSError as error:
            if not is_disk_full(error):
                raise
            raise translate(error, plan.source).located_in(plan.source) from None

    def _of_a_variable(self, plan: plans.Plan, error: WarehouseError) -> WarehouseError | None:
        """Return what is to be said of a streaming table whose query names a variable of the session; else None."""
        told = error.diagnostics[0]
        if told.span is None or not told.condition.startswith("UNRESOLVED_COLUMN"):
            return None
        name = told.span.of(plan.source.text)
        if not isinstance(plan, plans.MakeStreamingTable) or not self.planner.is_constant(name):
            return None
        return WarehouseError(diagnostic("WAREHOUSE_SESSION_VARIABLE", told.span, name=name), source=plan.source)

    def _do(self, plan: plans.Plan, parameters: Parameters, finish: Finish) -> Result:
        source, shared = plan.source, self.shared
        match plan:
            case plans.RunSpark():
                return self._run_spark(plan, parameters, finish)
            case plans.MakeStream(statement=statement):
                acting = self.planner.acting()
                warnings = ddl.unheeded(statement, acting)
                return Result(source, message=ddl.create_stream(statement, acting), warnings=warnings)
            case plans.DropStreamPlan(statement=dropped):
                return Result(source, message=ddl.drop_stream(dropped, self.planner.acting()))
            case plans.Show(statement=asked):
                return self._shown(source, asked)
            case plans.Describe():
                return self._described(plan)
            case plans.Nothing(message=message):
                return Result(source, message=message)
            case plans.MakeStreamingTable():
                return self._make_table(plan)
            case plans.Refresh(entry=entry, full=full, drain=drain):
                with self._watching(entry):
                    commits = shared.tables.refresh(entry, full, drain)
                return _done(source, entry, f"{'drained' if drain else 'refreshed'}: {answers.summary(commits)}")
            case plans.Start(entry=entry, every=every):
                return _done(source, entry, self._start(entry, every))
            case plans.Stop(entry=entry):
                try:
                    stopped = shared.tables.running.stop(entry)
                finally:  # it fails itself where the disk is full
                    shared.started.drop(entry.qualified)
                return _done(source, entry, "stopped" if stopped else "was not running")
            case plans.DropStreamingTable(entry=entry):
                shared.started.drop(entry.qualified)
                shared.tables.drop(entry)
                return _done(source, entry, "dropped")
            case plans.Train():
                return self._train(plan, parameters, finish)
            case plans.DropModel(entry=model):
                self.learning.models.drop(model)
                return Result(source, message=f"model {model.qualified} dropped")
            case plans.Tell():
                return self._explain(plan, parameters)
            case plans.Measure():
                return self._measure(plan, parameters)
            case plans.Unjudged():
                raise AssertionError("only a draft leaves a statement unjudged")

    # ------------------------------------------------------------------ what Spark runs

    def _run_spark(self, plan: plans.RunSpark, parameters: Parameters, finish: Finish) -> Result:
        shared, schema = self.shared, self.planner.schema
        self._drop_all(plan.drops)
        for evaluation in plan.evaluations:
            self.learning.models.measure(evaluation, parameters)
        with (
            shared.views.written(plan.keep_view),
            shared.layouts.reshaped(self.spark, plan.reshapes, schema),
            shared.layouts.writing(self.spark, plan.layout, schema) as placed,
        ):
            frame = self.spark.sql(plan.fragment.text, args=dict(parameters) or None)
        if plan.keep_view:
            shared.views.remember(self.spark, plan.keep_view)
            shared.serve_models()  # the view may ask models, and be read in sessions that do not
        if plan.forget_view:
            shared.views.forget_gone(self.spark, plan.forget_view)
        result = finish(plan.source, _without_ours(frame) if plan.lists else frame, lambda: None)
        warnings = shared.layouts.apply(self.spark, plan.layout, schema, placed) if plan.layout else []
        return replace(result, warnings=tuple(warnings))

    def _drop_all(self, entries: Held) -> None:
        """Drop what goes with a schema."""
        for entry in entries:
            match entry:
                case StreamingTableEntry():
                    self.shared.started.drop(entry.qualified)
                    self.shared.tables.drop(entry)
                case StreamEntry():
                    ddl.forget_stream(entry, self.planner.acting())
                case ViewEntry():
                    self.shared.catalog.views.drop(entry.schema, entry.name)
                case ModelEntry():
                    self.learning.models.drop(entry)

    def _rows(self, source: SourceText, frame: DataFrame, release: Release) -> Result:
        """Return a frame's rows as Arrow; nothing for a statement without columns."""
        try:
            if not frame.columns:
                return Result(source)
            table = zoned(readable(portable(frame).toArrow()), zone_of(self.spark))
            return Result(source, unpacked_schema(table.schema), map(unpacked, table.to_batches()))
        finally:
            release()

    # ------------------------------------------------------------------ what is made

    def _make_table(self, plan: plans.MakeStreamingTable) -> Result:
        refuse(plan)
        entry, old, verdict = plan.entry, plan.replaces, plan.verdict
        replaced = "rebuilt from source" if old else None
        with self._watching(entry):
            if verdict and old and verdict.outcome is Outcome.CONTINUE:
                replaced = "continues"
                commits = self.shared.tables.changing.change(entry, plan.query, old, verdict.carry)
            else:
                commits = self.shared.tables.create(entry, plan.query, old)
        told = (*(verdict.changes if verdict else ()), *(f"warning: {line}" for line in losses(plan.query)))
        if verdict and verdict.entry and step_log(self.shared.folder, entry).last().drained:
            told += ("warning: it was drained: rows that come are late until REFRESH STREAMING TABLE … FULL",)
        if (zone := zone_of(self.spark)) != "UTC":
            told += (f"warning: its steps compute in UTC, where this session's time zone is {zone}",)
        made = f"replaced, {replaced}" if replaced else "created"
        result = _done(plan.source, entry, f"{made}: {answers.summary(commits)}")
        return replace(result, warnings=told, replaced=replaced)

    def _start(self, entry: StreamingTableEntry, every: int | None) -> str:
        """Let a table run on, at another interval than it does where that is so, and return what was done."""
        done = "started"
        if not self.shared.tables.running.start(entry, every):
            if self.shared.tables.running.interval(entry) == every:
                return "runs already"
            self.shared.tables.running.stop(entry, quiet=True)
            self.shared.tables.running.start(entry, every)
            done = "started again, at another interval"
        self.shared.started.put(entry.qualified, every)
        return done

    def _train(self, plan: plans.Train, parameters: Parameters, finish: Finish) -> Result:
        """Train, and return the rows or say what was made."""
        made = self.learning.generate(plan, parameters, self.on_progress)
        if made.frame is None:
            made.release()
            return Result(plan.source, message=made.message)
        return finish(plan.source, made.frame, made.release)

    @contextmanager
    def _watching(self, entry: StreamingTableEntry) -> Iterator[None]:
        """Within this, the session's listener is told of the steps of a table."""
        if self.hears_all or self.on_progress is None:
            yield
            return
        with self.shared.listeners.watching(entry, self.on_progress):
            yield

    # ------------------------------------------------------------------ what is told

    def _shown(self, source: SourceText, asked: ShowObjects) -> Result:
        if asked.kind == "STREAM":
            return ddl.show_streams(asked, self.planner.acting()).result(source)
        if asked.kind in ("MODEL", "GENERATOR"):
            return self.learning.shown(asked, self.planner.schema).result(source)
        schema = (asked.schema.last if asked.schema else self.planner.schema).lower()
        found = [entry for entry in self.shared.catalog.streaming_tables.all() if entry.schema.lower() == schema]
        wanted = matching([entry.name for entry in found], asked.pattern)
        return answers.tables((e for e in found if e.name in wanted), self.shared.tables.running).result(source)

    def _described(self, plan: plans.Describe) -> Result:
        asked, entry = plan.statement, plan.entry
        match entry:
            case StreamEntry():
                return ddl.describe_stream(asked, self.planner.acting()).result(plan.source)
            case StreamingTableEntry():
                known, home = self.shared.tables.running, self.shared.folder
                return answers.described(entry, asked.extended, known, home).result(plan.source)
            case _:
                return self.learning.described(entry, asked.extended).result(plan.source)

    def _explain(self, plan: plans.Tell, parameters: Parameters) -> Result:
        lines = list(plan.lines)
        if plan.spark is not None:
            lines += [""] if lines else []
            mode = "" if plan.mode == "simple" else plan.mode.upper()
            explained = self.spark.sql(f"EXPLAIN {mode} {plan.spark.text}", args=dict(parameters) or None)
            lines += explained.collect()[0][0].splitlines()
        return answers.explained(lines).result(plan.source)

    def _measure(self, plan: plans.Measure, parameters: Parameters) -> Result:
        """Do what a plan says, throw its rows away, and return what it took."""
        steps: list[Progress | TrainingProgress] = []
        with Recording(self.spark) as recording:

            def drained(source: SourceText, frame: DataFrame, release: Release) -> Result:
                try:
                    return Result(source, message=recording.drain(frame))
                finally:
                    release()

            try:
                measured = replace(self, on_progress=steps.append, hears_all=False)
                result = measured.do(plan.measured, parameters, drained)
            except WarehouseError as error:
                raise inside(error, plan.measured.source, plan.source) from None
        return answers.explained(report.lines(result.message, recording, steps)).result(plan.source)


def place(plan: plans.Plan) -> Span | None:
    """Return the words to point at when running ``plan`` fails at no place of its own."""
    match plan:
        case plans.MakeStreamingTable(query=query):
            return query.place
        case plans.Refresh() | plans.Start() | plans.Stop() | plans.DropStreamingTable():
            return plan.named
    return None


def _of_a_step(error: WarehouseError, makes: bool) -> WarehouseError:
    """Return an error of a streaming table's step with what to do about it.

    Args:
        error: it.
        makes: it is the first step of the statement's own query; else that stands in another text, and has no place.
    """

    def told(found: Diagnostic) -> Diagnostic:
        fails = (found.sqlstate or "").startswith(_OF_VALUES)
        lost = None if makes else _LOST.get(found.condition)
        hint = found.hint or lost or ((_AVOID if makes else _FAILS) if fails else None)
        message = _ADVICE.sub("", found.message)
        return replace(found, message=message, span=found.span if makes else None, hint=hint)

    return WarehouseError(*map(told, error.diagnostics), source=error.source)


_OF_VALUES = ("22", "P0001")
"""How SQLSTATEs of expressions begin that fail over some values; the latter is that of ``raise_error``."""
_ADVICE = re.compile(r' If necessary set "?spark\.sql\.ansi\.enabled"? to "?false"? to bypass this error\.')
"""What Spark says to do about them. Steps take no settings of a session."""
_FAILS = (
    "An expression of its query fails over some rows: CREATE OR REPLACE STREAMING TABLE with one that does not"
    " (try_divide, nullif, CASE). Until then the rows wait, and none is lost."
)
_AVOID = (
    "An expression of the query fails over some rows: write one that does not (try_divide, nullif, CASE). Nothing was"
    " made or changed."
)
_LOST = {
    "UNRESOLVED_ROUTINE": "The streaming table computes with that function: CREATE FUNCTION makes it again, or CREATE"
    " OR REPLACE STREAMING TABLE does without it.",
}
"""What to do about a step that fails since what its query names is gone."""


def _done(source: SourceText, entry: StreamingTableEntry, what: str) -> Result:
    return Result(source, message=f"streaming table {entry.qualified} {what}")


def _without_ours(listed: DataFrame) -> DataFrame:
    """Return what SHOW lists without the views and functions that the engine alone calls."""
    for name in {"tableName", "viewName", "function"} & set(listed.columns):
        listed = listed.where(f"NOT startswith({name}, '{RESERVED_PREFIX}')")
    return listed
