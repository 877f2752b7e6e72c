"""The only composer: split, parse, plan and execute, written out once.

Front doors (command line, projects, later the endpoint) call ``Engine`` and nothing behind it. Importing this
module starts nothing and loads no Spark.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import pyarrow as pa

from warehouse.catalog.entries import HIDDEN_SCHEMA, ModelEntry, StreamEntry, StreamingTableEntry, ViewEntry
from warehouse.catalog.here import standing_in
from warehouse.errors import Diagnostic, SourceText, Span, WarehouseError, diagnostic, fail, is_secret, without_secrets
from warehouse.execution.archive import archiving
from warehouse.execution.doctor import Finding, examine
from warehouse.execution.portable import (
    Json,
    portable,
    readable,
    unique_names,
    unpacked,
    unpacked_schema,
    zone_of,
    zoned,
)
from warehouse.execution.results import Progress, Result, TrainingProgress
from warehouse.language import statements
from warehouse.language.keeping import partner
from warehouse.language.parser import parse
from warehouse.language.split import split
from warehouse.language.view_scope import view_scope
from warehouse.language.words import words_of_ours
from warehouse.planning import plans
from warehouse.planning.standing import OF_PROJECT, Standing, standing
from warehouse.planning.streams import RESERVED_PREFIX

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pyspark.sql import DataFrame

    from warehouse.catalog.store import Catalog
    from warehouse.execution.analyzer import SparkAnalyzer
    from warehouse.language.statements import TableFunction
    from warehouse.planning.context import Context
    from warehouse.planning.render import FunctionRelation
    from warehouse.planning.schemas import Held
    from warehouse.planning.streaming_query import StreamingQuery
    from warehouse.streaming.ddl import Acting
    from warehouse.streaming.log import Commit

Parameters = Mapping[str, Any]
Report = Callable[[Progress | TrainingProgress], None]
Release = Callable[[], None]
Finish = Callable[[SourceText, "DataFrame", Release], Result]
"""Makes the result of rows that Spark computes, and calls the last once they were read."""


@dataclass(frozen=True)
class Prepared:
    """What a statement comes to for somebody who has Spark run it.

    Attributes:
        text: the Spark SQL that gives its rows; None for a statement that acts, which ``Engine.run`` does.
        columns: what such a statement gives back, strings all; None when it has to act before its rows are known,
            which ``Engine.begin`` does.
    """

    text: str | None
    columns: tuple[str, ...] | None = ()


class Engine:
    """One warehouse folder, open. Use ``Engine.open``."""

    def __init__(
        self,
        spark: Any,
        folder: Path,
        on_progress: Report | None,
        moved: bool,
        udfs: Path,
    ):
        from warehouse.catalog.started import Started
        from warehouse.catalog.store import Catalog
        from warehouse.catalog.udfs import Udfs
        from warehouse.execution.analyzer import SparkAnalyzer
        from warehouse.execution.cancelling import Cancelling
        from warehouse.ml.learning import Learning
        from warehouse.storage.tables import KeptTables
        from warehouse.streaming.kept_views import KeptViews
        from warehouse.streaming.tables import StreamingTables

        self.spark, self.folder, self.on_progress = spark, folder, on_progress
        self.catalog, self.udfs, self.started = Catalog.open(folder), Udfs(udfs), Started(folder)
        self.analyzer = SparkAnalyzer(spark)
        self.learning = Learning(spark, self.catalog, folder, self.udfs)
        self.kept = KeptTables(spark, folder)
        self.views = KeptViews(folder, self.catalog)
        self.tables = StreamingTables(spark, self.catalog, folder, self._bound, self._report, self.kept.panes)
        self.tables.mend(moved)
        self._cancelling, self._of_a_session = Cancelling(spark.sparkContext), False
        self._claims: dict[tuple[str, str], threading.RLock] = {}
        self._watchers: list[tuple[str, Report]] = []
        self._sessions: WeakSet[Engine] = WeakSet([self])
        self._guard = threading.Lock()

    def on(self, spark: Any, on_progress: Report | None = None) -> Engine:
        """Return this engine for another session: settings, current schema and temporary views are that one's.

        Args:
            spark: a session of the same Spark.
            on_progress: is told of the steps that its statements run.
        """
        from warehouse.execution.analyzer import SparkAnalyzer
        from warehouse.execution.cancelling import Cancelling

        other = copy.copy(self)
        other.spark, other.analyzer, other.on_progress = spark, SparkAnalyzer(spark), on_progress
        other.learning = copy.copy(self.learning)
        other.learning.spark = spark
        vars(other.learning).pop("models", None)  # they make views and functions, each in a session of theirs
        other._cancelling, other._of_a_session = Cancelling(spark.sparkContext), True
        with self._guard:
            self._sessions.add(other)
        self._serve_models([other])
        return other

    @classmethod
    def open(
        cls,
        folder: Path,
        settings: Mapping[str, str] | None = None,
        on_progress: Report | None = None,
    ) -> Engine:
        """Open the warehouse in ``folder``, starting Spark.

        Raises:
            WarehouseError: Java or the jars are missing, the folder is in use or cannot be used.
        """
        from warehouse.adaptive import rules
        from warehouse.execution import session
        from warehouse.storage import tables

        def extending(gateway: Any) -> Future[Any]:
            return rules.compiled(gateway, tables.compile_ahead)

        spark = session.start(Path(folder), settings or {}, extending)
        running = session.current()
        assert running is not None
        try:
            place = running.folder
            return cls(spark, place.path, on_progress, place.moved_from is not None, running.settings.udfs)
        except BaseException:
            session.stop(spark)
            raise

    def resume(self) -> list[str]:
        """Let the streaming tables run on that were started and not stopped; return their names.

        For a process that stays. Others leave them as they are, to be resumed by the next one that does.
        """
        resumed = []
        for name, every in self.started.all().items():
            entry = next((e for e in self.catalog.streaming_tables() if e.qualified == name), None)
            if entry is None:
                self.started.drop(name)
            elif self.tables.start(entry, every):
                resumed.append(name)
        return resumed

    def runs_something(self) -> bool:
        """Say whether a streaming table runs on in the background."""
        return any(self.tables.is_running(entry) for entry in self.catalog.streaming_tables())

    def close(self) -> None:
        """Stop what runs in the background, then Spark."""
        from warehouse.execution import session

        self.tables.close()
        session.stop(self.spark)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def hidden_schema(self) -> str:
        """Return the name of the schema that holds what the engine alone reads."""
        return HIDDEN_SCHEMA

    @property
    def hidden_prefix(self) -> str:
        """Return what the names of temporary views begin with that the engine alone reads."""
        return RESERVED_PREFIX

    @property
    def table_functions(self) -> tuple[str, ...]:
        """Return the names of the table functions that are ours."""
        from warehouse.streaming.relations import FUNCTIONS

        return (*FUNCTIONS, *self.kept.functions)

    def java(self, sources: Path, name: str) -> Any:
        """Return a class, compiled from Java sources, by which Spark calls what a front door has for it."""
        from warehouse.execution.java_sources import load

        return load(self.spark.sparkContext._gateway, sources, name)

    def for_arrow(self, java_rows: Any) -> tuple[Any, str]:
        """Return rows, as Java knows them, with types that Arrow knows, and the time zone of their instants."""
        from pyspark.sql import DataFrame

        frame = portable(DataFrame(java_rows, self.spark))
        return frame._jdf, zone_of(self.spark)

    def adopt(self, java_session: Any) -> None:
        """Give a Java session that a front door made, before it has done anything, the rules that ours has."""
        from warehouse.adaptive import rules

        rules.give(self.spark.sparkContext._gateway, java_session)
        self.kept.install(java_session)

    # ------------------------------------------------------------------ the line

    def split(self, text: str, name: str | None = None) -> list[SourceText]:
        """Return the statements of ``text``."""
        return split(text, name)

    def compile(self, text: str | SourceText, name: str | None = None) -> list[plans.Plan]:
        """Return what each statement comes to; runs nothing and changes nothing.

        Later statements see the streams, streaming tables and views of ours that earlier ones would make. One that
        reads a table or asks a model which an earlier statement has yet to make cannot be judged: it is ``Unjudged``.
        """
        from warehouse.streaming import ddl
        from warehouse.streaming.ddl import Acting

        draft = self.catalog.draft()
        made: set[str] = set()
        out: list[plans.Plan] = []
        for source in self._sources(text, name):
            try:
                planned = self._planned(parse(source), draft)
            except WarehouseError as error:
                unknown = error.condition in ("TABLE_OR_VIEW_NOT_FOUND", "WAREHOUSE_MODEL_NOT_FOUND")
                if not unknown or not any(m in str(error).lower() for m in made):
                    raise
                planned = plans.Unjudged(source)
            inner = planned.measured if isinstance(planned, plans.Measure) else planned
            match inner:
                case plans.MakeStream(statement=statement):
                    draft.put_stream(ddl.draft_stream(statement, Acting(self.spark, draft, self._schema())))
                case plans.MakeStreamingTable(entry=entry):
                    _refuse(inner)
                    draft.put_streaming_table(entry)
                    made.add(entry.name.lower())
                case plans.Train(statement=statement):
                    made |= {t.name.last.lower() for t in (statement.table, statement.model) if t}
                case plans.RunSpark(keep_view=keep, target=target):
                    if keep:
                        draft.put_view(keep)
                    if target:
                        made.add(target.lower())
            out.append(planned)
        return out

    def run(
        self, text: str | SourceText, name: str | None = None, parameters: Parameters | None = None
    ) -> Iterator[Result]:
        """Run each statement and yield its result; the next one starts when the iterator is advanced."""
        for source in self._sources(text, name):
            self.kept.begin(self.spark)
            with self._cancelling.statement():
                statement = parse(source)
                with self._alone(statement):
                    result = self._executed(self._planned(statement, None, parameters), parameters or {})
                yield result

    def prepare(self, source: SourceText) -> Prepared:
        """Return what one statement comes to; runs nothing and changes nothing.

        Raises:
            WarehouseError: it cannot be planned; rendered with its text.
        """
        match self._planned(parse(source)):
            case plans.RunSpark(
                fragment=fragment, keep_view=None, forget_view=None, drops=(), evaluations=(), keeping=None
            ):
                return Prepared(fragment.text)
            case plans.Train(table=None, model=None) | plans.RunSpark(evaluations=[_, *_], target=None):
                return Prepared(None, None)
            case plans.Show(statement=shown) if shown.kind in ("MODEL", "GENERATOR"):
                return Prepared(None, self.learning.shown(shown, self._schema()).columns)
            case plans.Describe(statement=asked, entry=entry) if asked.kind in ("MODEL", "GENERATOR"):
                return Prepared(None, self.learning.described(entry, asked.extended).columns)
            case plan:
                return Prepared(None, _columns(plan))

    def standing(self, source: SourceText) -> Standing | None:
        """Return what there is under the name that a statement creates, None where that is nothing."""
        return standing(self._context(self.catalog, {}, self.analyzer), parse(source))

    def begin(self, source: SourceText) -> tuple[DataFrame, Release]:
        """Do what a statement does before its rows are known, and return these, unread.

        Returns:
            The rows, and what lets go of what they are read from, to be called when they were read.

        Raises:
            WarehouseError: as ``run`` does.
        """
        begun: list[tuple[DataFrame, Release]] = []

        def hold(source: SourceText, frame: DataFrame, release: Release) -> Result:
            begun.append((frame, release))
            return Result(source)

        with self._cancelling.statement():
            self._executed(self._planned(parse(source)), {}, hold)
        return begun[0]

    def explain_failure(self, source: SourceText, error: BaseException) -> WarehouseError:
        """Return what Spark raised for a prepared text as an error of ours, pointing into ``source``."""
        from warehouse.execution.spark_errors import translate

        try:
            plan = self._planned(parse(source))
        except WarehouseError:
            return translate(error, source)
        fragment = plan.fragment if isinstance(plan, plans.RunSpark) else None
        return translate(error, source, fragment).placed_at(_place(plan))

    def cancel(self) -> None:
        """Cancel the statement that is running, from any thread; nothing happens when none is."""
        self._cancelling.cancel()

    @contextmanager
    def _alone(self, statement: statements.Statement) -> Iterator[None]:
        """Let one statement at a time change what has a name; sessions would cross otherwise.

        Raises:
            WarehouseError: it was cancelled while it waited.
        """
        if isinstance(statement, statements.Explain) and statement.mode == "ANALYZE":
            statement = statement.statement
        names = [statement.name] if isinstance(statement, _CHANGING) else []
        if isinstance(statement, statements.Generate):
            names = [target.name for target in (statement.table, statement.model) if target]
        keys = {((n.parts[-2] if len(n.parts) > 1 else self._schema()).lower(), n.last.lower()) for n in names}
        with ExitStack() as claims:
            for key in sorted(keys):
                claim = self._claims.setdefault(key, threading.RLock())
                while not claim.acquire(timeout=0.2):
                    if self._cancelling.asked.is_set():
                        fail("WAREHOUSE_CANCELLED")
                claims.callback(claim.release)
            yield

    def _sources(self, text: str | SourceText, name: str | None) -> list[SourceText]:
        return [text] if isinstance(text, SourceText) else split(text, name)

    def _planned(
        self, statement: statements.Statement, catalog: Catalog | None = None, parameters: Parameters | None = None
    ) -> plans.Plan:
        from warehouse.execution.analyzer import SparkAnalyzer
        from warehouse.planning.lower import plan

        analyzer = self.analyzer
        if parameters and not _keeps_its_text(statement):
            analyzer = SparkAnalyzer(self.spark, parameters)
        context = self._context(catalog or self.catalog, parameters or {}, analyzer)
        if catalog is None:
            self.views.bring_up_to_date(self.spark, self._schema(), statement, self._write_view)
        viewed = getattr(statement, "verb", "").endswith("VIEW")
        before = self.views.made_of(ViewEntry(context.schema, "", statement.source.text)) if viewed else None
        planned = plan(context, statement, self._relations(context.catalog))
        if isinstance(statement, statements.Explain):
            self._check_of_streams(statement, context.catalog)
        if viewed and isinstance(planned, plans.RunSpark) and (kept := planned.keep_view):
            return replace(planned, keep_view=replace(kept, made_of=before or kept.made_of))
        return planned

    def _check_of_streams(self, explained: statements.Explain, catalog: Catalog) -> None:
        """Refuse to explain what makes or drops a stream and would be refused itself."""
        from warehouse.streaming import ddl

        inner, acting = explained.statement, ddl.Acting(self.spark, catalog, self._schema())
        try:
            match inner:
                case statements.CreateStream():
                    ddl.draft_stream(inner, acting)
                case statements.DropObject(kind="STREAM"):
                    ddl.dropped_stream(inner, acting)
        except WarehouseError as error:
            offset = len(explained.source.text) - len(inner.source.text)
            raise WarehouseError(*error.diagnostics).shifted(offset).located_in(explained.source) from None

    def _write_view(self, view: ViewEntry, made_of: str | None) -> None:
        """Have Spark keep a view as its statement would make it now, in the schema where that was made."""
        from warehouse.execution.analyzer import SparkAnalyzer
        from warehouse.execution.spark_errors import RAISED, translate
        from warehouse.planning.context import Context
        from warehouse.planning.lower import plan
        from warehouse.streaming.views import made_again, settings_of

        source, schema, before = made_again(view), view.current or view.schema, self._schema()
        ends = bool(view_scope(view.text))
        session = self.spark if ends else self._session_in(schema, settings_of(self.spark, view))
        context = Context(
            self.catalog, SparkAnalyzer(session), schema, self.udfs, self.learning.library,
            lambda: self.learning.models,
        )  # fmt: skip
        try:
            if ends:
                session.catalog.setCurrentDatabase(schema)
            planned = plan(context, parse(source), self._relations(self.catalog))
            assert isinstance(planned, plans.RunSpark)
            session.sql(planned.fragment.text)
        except RAISED as error:
            raise translate(error, source) from None
        finally:
            if ends:
                session.catalog.setCurrentDatabase(before)
        self.views.remember(self.spark, replace(view, made_of=made_of))

    def _context(self, catalog: Catalog, parameters: Parameters, analyzer: SparkAnalyzer) -> Context:
        """Return where the session's statements are planned."""
        from warehouse.execution.session import enter
        from warehouse.planning.context import Context

        enter(self.spark)
        learning = self.learning
        return Context(
            catalog, analyzer, self._schema(), self.udfs, lambda: learning.library(parameters),
            lambda: learning.models, parameters=parameters,
        )  # fmt: skip

    def _schema(self) -> str:
        return self.spark.catalog.currentDatabase()

    def _relations(self, catalog: Catalog):  # type: ignore[no-untyped-def]
        from warehouse.planning.lower import Relations
        from warehouse.streaming import relations

        def bound(entry: StreamingTableEntry) -> StreamingQuery:
            return self._bound(entry, catalog)

        def function(context: Context) -> FunctionRelation:
            of_streams = relations.function_relation(self.folder, context, bound)

            def relation(call: TableFunction) -> str:
                if call.function not in self.kept.functions:
                    return of_streams(call)
                entry = catalog.streaming_table(*context.resolve(call.argument))
                panes = relations.table_folder(self.folder, entry) / "panes" if entry else None
                return self.kept.relation(self.spark, context, call, panes)

            return relation

        return Relations(
            lambda source: relations.stream_relation(self.spark, self.folder, source),
            function,
            lambda known, entry: self._bound(entry, known),
        )

    def _bound(self, entry: StreamingTableEntry, catalog: Catalog | None = None) -> StreamingQuery:
        """Return the query of a streaming table that exists."""
        from warehouse.planning.context import Context
        from warehouse.planning.continued import as_kept
        from warehouse.planning.lower import bound_query

        statement = parse(SourceText(entry.text))
        assert isinstance(statement, statements.CreateStreamingTable)
        catalog = catalog or self.catalog
        pinned = {name: int(version) for name, version in entry.models}
        context = Context(
            catalog, self._analyzer_in(entry.current), entry.current, self.udfs, self.learning.library,
            lambda: self.learning.models, pinned,
        )  # fmt: skip
        return as_kept(bound_query(context, statement.source, statement.query, self._relations(catalog)), entry)

    def _analyzer_in(self, schema: str) -> SparkAnalyzer:
        """Return an analyzer that looks names up in ``schema``, whatever the session's current one is by now."""
        from warehouse.execution.analyzer import SparkAnalyzer

        return SparkAnalyzer(self._session_in(schema))

    def _session_in(self, schema: str, settings: Mapping[str, str] | None = None) -> Any:
        """Return a new session whose current schema is ``schema``, where that is still there."""
        session = self.spark.newSession()
        if session.catalog.databaseExists(schema):
            session.catalog.setCurrentDatabase(schema)
        for key, value in (settings or {}).items():
            session.conf.set(key, value)
        return session

    # ------------------------------------------------------------------ execution

    def _executed(self, plan: plans.Plan, parameters: Parameters, finish: Finish | None = None) -> Result:
        """Do what a plan says; ``finish`` makes the result of what Spark is to compute, by itself one of its rows."""
        from warehouse.execution.spark_errors import RAISED, is_disk_full, translate

        if self._cancelling.asked.is_set():
            fail("WAREHOUSE_CANCELLED")
        try:
            return self._act(plan, parameters, finish or self._rows)
        except WarehouseError as error:
            told = self._of_a_variable(plan, error) or error
            raise told.placed_at(_place(plan)).located_in(plan.source) from None
        except RAISED as error:
            if self._cancelling.asked.is_set():
                fail("WAREHOUSE_CANCELLED")
            fragment = plan.fragment if isinstance(plan, plans.RunSpark) else None
            said = translate(error, plan.source, fragment)
            raise (self._of_a_variable(plan, said) or said).placed_at(_place(plan)) from None
        except OSError as error:
            if not is_disk_full(error):
                raise
            raise translate(error, plan.source).located_in(plan.source) from None

    def _of_a_variable(self, plan: plans.Plan, error: WarehouseError) -> WarehouseError | None:
        """Return what is to be said of a streaming table whose query names a variable of the session; else None."""
        told = error.diagnostics[0]
        unresolved = told.condition.startswith("UNRESOLVED_COLUMN") and told.span is not None
        if not unresolved or not isinstance(plan, plans.MakeStreamingTable):
            return None
        assert told.span
        name = told.span.of(plan.source.text)
        if not self.analyzer.is_constant(name):
            return None
        known = diagnostic("WAREHOUSE_SESSION_VARIABLE", told.span, name=name)
        return WarehouseError(known, source=plan.source)

    def _act(self, plan: plans.Plan, parameters: Parameters, finish: Finish) -> Result:
        from warehouse.planning.explain import losses
        from warehouse.planning.replacement import Outcome
        from warehouse.streaming import ddl
        from warehouse.streaming.log import step_log

        source = plan.source
        match plan:
            case plans.RunSpark(fragment=fragment, keep_view=keep, forget_view=forget, drops=drops):
                self._drop_all(drops)
                for evaluation in plan.evaluations:
                    self.learning.models.measure(evaluation, parameters)
                with self.kept.reshaped(self.spark, plan.reshapes, self._schema()):
                    frame = self.spark.sql(fragment.text, args=dict(parameters) or None)
                frame = _without_ours(frame) if plan.lists else frame
                if forget:
                    self.catalog.drop_view(forget.schema, forget.name)
                if keep:
                    self.views.remember(self.spark, keep)
                    with self._guard:
                        sessions = list(self._sessions)
                    self._serve_models(sessions)  # the view may ask models, and be read in sessions that do not
                result = finish(source, frame, lambda: None)
                warnings = self.kept.keep(self.spark, plan.keeping, self._schema()) if plan.keeping else []
                return replace(result, warnings=tuple(warnings))
            case plans.MakeStream(statement=statement):
                return Result(source, message=ddl.create_stream(statement, self._acting()))
            case plans.DropStreamPlan(statement=dropped):
                return Result(source, message=ddl.drop_stream(dropped, self._acting()))
            case plans.Show(statement=shown) if shown.kind == "STREAM" or shown.kind == "STREAMS":
                return _table(source, ddl.show_streams(shown, self._acting()))
            case plans.Show(statement=shown) if shown.kind in ("MODEL", "GENERATOR"):
                return _table(source, self.learning.shown(shown, self._schema()))
            case plans.Show(statement=shown):
                return _table(source, self._show_tables(shown))
            case plans.Describe(statement=asked) if asked.kind == "STREAM":
                return _table(source, ddl.describe_stream(asked, self._acting()))
            case plans.Describe(statement=asked, entry=StreamingTableEntry() as entry):
                return _table(source, self._describe_table(entry, asked.extended))
            case plans.Describe(statement=asked, entry=entry) if asked.kind in ("MODEL", "GENERATOR"):
                return _table(source, self.learning.described(entry, asked.extended))
            case plans.Nothing(message=message):
                return Result(source, message=message)
            case plans.Unjudged():
                raise AssertionError("only compile leaves a statement unjudged")
            case plans.MakeStreamingTable(entry=entry, query=query, replaces=old, verdict=verdict):
                _refuse(plan)
                with self._watching(entry):
                    if verdict and old and verdict.outcome is Outcome.CONTINUE:
                        replaced: str | None = "continues"
                        commits = self.tables.change(entry, query, old, verdict.carry)
                    else:
                        replaced = "rebuilt from source" if old else None
                        commits = self.tables.create(entry, query, old)
                made = f"replaced, {replaced}" if replaced else "created"
                message = f"streaming table {entry.qualified} {made}: {_summary(commits)}"
                told = (*(verdict.changes if verdict else ()), *(f"warning: {line}" for line in losses(query)))
                if verdict and verdict.entry and step_log(self.folder, entry).last().drained:
                    told += ("warning: it was drained: rows that come are late until REFRESH STREAMING TABLE … FULL",)
                if (zone := zone_of(self.spark)) != "UTC":
                    told += (f"warning: its steps compute in UTC, where this session's time zone is {zone}",)
                return Result(source, message=message, warnings=told, replaced=replaced)
            case plans.Refresh(entry=entry, full=full, drain=drain):
                with self._watching(entry):
                    commits = self.tables.refresh(entry, full, drain)
                done = "drained" if drain else "refreshed"
                return Result(source, message=f"streaming table {entry.qualified} {done}: {_summary(commits)}")
            case plans.Start(entry=entry, every=every):
                started = self.tables.start(entry, every)
                if started:
                    self.started.put(entry.qualified, every)
                return Result(
                    source, message=f"streaming table {entry.qualified} {'started' if started else 'runs already'}"
                )
            case plans.Stop(entry=entry):
                try:
                    stopped = self.tables.stop(entry)
                finally:  # it fails itself where the disk is full
                    self.started.drop(entry.qualified)
                return Result(
                    source, message=f"streaming table {entry.qualified} {'stopped' if stopped else 'was not running'}"
                )
            case plans.Train():
                return self._generated(plan, parameters, finish)
            case plans.DropModel(entry=model):
                self.learning.models.drop(model)
                return Result(source, message=f"model {model.qualified} dropped")
            case plans.DropStreamingTable(entry=entry):
                self.tables.drop(entry)
                self.started.drop(entry.qualified)
                return Result(source, message=f"streaming table {entry.qualified} dropped")
            case plans.Tell():
                return self._explained(plan, parameters)
            case plans.Measure():
                return self._measured(plan, parameters)
        raise AssertionError(plan)

    def _generated(self, plan: plans.Train, parameters: Parameters, finish: Finish) -> Result:
        """Train, and return the rows or say what was made."""
        made = self.learning.generate(plan, parameters, self.on_progress)
        if made.frame is None:
            made.release()
            return Result(plan.source, message=made.message)
        return finish(plan.source, made.frame, made.release)

    def _serve_models(self, sessions: Iterable[Engine]) -> None:
        """Let sessions call the functions that models are by now."""
        from warehouse.execution.functions import serve
        from warehouse.planning.predictions import function_name

        names = [function_name(entry, version) for entry in self.catalog.models() for version in entry.versions]
        for session in sessions if names else ():
            serve(session.spark, names)

    def _drop_all(self, entries: Held) -> None:
        """Drop what goes with a schema."""
        from warehouse.streaming import ddl

        for entry in entries:
            match entry:
                case StreamingTableEntry():
                    self.tables.drop(entry)
                case StreamEntry():
                    ddl.forget_stream(entry, self._acting())
                case ViewEntry():
                    self.catalog.drop_view(entry.schema, entry.name)
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

    def _explained(self, plan: plans.Tell, parameters: Parameters) -> Result:
        lines = list(plan.lines)
        if plan.spark is not None:
            if lines:
                lines.append("")
            explained = self.spark.sql(
                f"EXPLAIN {'' if plan.mode == 'simple' else plan.mode.upper()} " + plan.spark.text,
                args=dict(parameters) or None,
            )
            lines += explained.collect()[0][0].splitlines()
        return _table(plan.source, _Lines(EXPLAINED, [("\n".join(lines),)]))

    def _measured(self, plan: plans.Measure, parameters: Parameters) -> Result:
        """Do what a plan says, throw its rows away, and return what it took."""
        from warehouse.adaptive import report
        from warehouse.adaptive.recording import Recording

        inner = plan.measured
        steps: list[Progress | TrainingProgress] = []
        measuring = self.on(self.spark, steps.append)
        measuring._cancelling = self._cancelling
        with Recording(self.spark) as recording:

            def drained(source: SourceText, frame: DataFrame, release: Release) -> Result:
                try:
                    return Result(source, message=recording.drain(frame))
                finally:
                    release()

            try:
                result = measuring._executed(inner, parameters, drained)
            except WarehouseError as error:
                offset = len(plan.source.text) - len(inner.source.text)
                raise WarehouseError(*error.diagnostics).shifted(offset).located_in(plan.source) from None
        lines = report.lines(result.message, recording, steps)
        return _table(plan.source, _Lines(EXPLAINED, [("\n".join(lines),)]))

    def _acting(self) -> Acting:
        from warehouse.streaming.ddl import Acting

        return Acting(self.spark, self.catalog, self._schema())

    # ------------------------------------------------------------------ SHOW and DESCRIBE

    def _show_tables(self, statement: statements.ShowObjects) -> _Lines:
        from warehouse.planning.streams import matching

        schema = statement.schema.last if statement.schema else self.spark.catalog.currentDatabase()
        found = [e for e in self.catalog.streaming_tables() if e.schema.lower() == schema.lower()]
        wanted = matching([e.name for e in found], statement.pattern)
        rows = [
            (
                e.schema,
                e.name,
                "stateless" if e.stateless else e.mode,
                self._status(e).partition(":")[0],
            )
            for e in found
            if e.name in wanted
        ]
        return _Lines(TABLES, rows)

    def _describe_table(self, entry: StreamingTableEntry, extended: bool) -> _Lines:
        from warehouse.streaming.log import step_log, table_folder

        rows: list[tuple[str, str, str | None]] = [(c.name, c.type, c.comment) for c in entry.columns]
        if extended:
            folder = table_folder(self.folder, entry)
            last = step_log(self.folder, entry).last()
            facts = [("Name", entry.qualified), ("Reads", ", ".join(entry.sources)), ("Mode", entry.mode)]
            facts += [f for f in entry.facts if f[0] != "Keys"]
            facts += [("Steps", str(last.step)), ("Watermark", _instant(last.after)), ("Panes", str(folder / "panes"))]
            facts += [("Created", entry.created_at), ("Status", self._status(entry))]
            facts += [("Comment", entry.comment)] if entry.comment else []
            facts += [(f"Property {k}", "***" if is_secret(k) else v) for k, v in entry.properties]
            rows += [("", "", ""), ("# Streaming table", "", "")]
            rows += [(label, text, "") for label, text in [*facts, ("Text", without_secrets(entry.text))]]
        return _Lines(DESCRIBED, rows)

    def _status(self, entry: StreamingTableEntry) -> str:
        """Return ``running``, ``idle``, or what has ended the table's run in the background, after ``failed:``."""
        from warehouse.execution.spark_errors import translate

        if self.tables.is_running(entry):
            return "running"
        failure = self.tables.failure(entry)
        if failure is None:
            return "idle"
        told = translate(failure, SourceText("")).diagnostics[0]
        return f"failed: [{told.condition}] {told.message}"

    def _report(self, entry: StreamingTableEntry, commit: Commit) -> None:
        """Tell of a step: the engine's own listener of each, those of other sessions of what they run."""
        told = [watcher for table, watcher in tuple(self._watchers) if table == entry.qualified]
        told += [self.on_progress] if self.on_progress else []
        if not told:
            return
        from warehouse.dataflow.times import END

        finite = abs(commit.after) < END
        progress = Progress(
            entry.name, commit.step, commit.rows, commit.late, commit.panes, _instant(commit.after),
            (commit.now - commit.after) / 1e6 if finite else None, commit.seconds,
        )  # fmt: skip
        for watcher in told:
            watcher(progress)

    @contextmanager
    def _watching(self, entry: StreamingTableEntry) -> Iterator[None]:
        """Within this, a session's listener is told of the steps of a table."""
        if not self._of_a_session or self.on_progress is None:
            yield
            return
        watcher = (entry.qualified, self.on_progress)
        self._watchers.append(watcher)
        try:
            yield
        finally:
            self._watchers.remove(watcher)


STREAMS = ("namespace", "streamName", "source")
TABLES = ("namespace", "tableName", "mode", "status")
DESCRIBED = ("col_name", "data_type", "comment")
EXPLAINED = ("plan",)
"""The columns of what is not Spark's to answer."""

_COUNTED = {
    "DELETE": ("num_affected_rows",),
    "UPDATE": ("num_affected_rows",),
    "MERGE": ("num_affected_rows", "num_updated_rows", "num_deleted_rows", "num_inserted_rows"),
}
"""The columns of what Delta answers to a statement that changes rows."""

_CHANGING = (
    statements.CreateStream, statements.CreateStreamingTable, statements.DropObject, statements.RefreshStreamingTable,
    statements.DrainStreamingTable,
)  # fmt: skip
"""The statements that change what has a name: each reads its definition once it is alone with it."""


def _keeps_its_text(statement: statements.Statement) -> bool:
    """Say whether a statement is read again later, when nobody gives values to markers in it."""
    if isinstance(statement, statements.Explain):
        return _keeps_its_text(statement.statement)
    view = isinstance(statement, statements.QueryStatement) and statement.verb.endswith("VIEW")
    return view or isinstance(statement, statements.CreateStreamingTable)


def _columns(plan: plans.Plan) -> tuple[str, ...]:
    """Return the names of the columns that a plan gives back when it is not Spark's to run."""
    match plan:
        case plans.Show(statement=shown):
            return STREAMS if shown.kind in ("STREAM", "STREAMS") else TABLES
        case plans.Describe():
            return DESCRIBED
        case plans.Tell() | plans.Measure():
            return EXPLAINED
        case plans.RunSpark():
            return _COUNTED.get(plan.source.text.split(None, 1)[0].upper(), ())
    return ()


class _Lines:
    """Rows of strings with the names of their columns."""

    def __init__(self, columns: tuple[str, ...], rows: list):
        self.columns, self.rows = columns, rows


def _without_ours(listed: DataFrame) -> DataFrame:
    """Return what SHOW TABLES or SHOW VIEWS lists without the temporary views that stand for functions of ours."""
    for name in {"tableName", "viewName"} & set(listed.columns):
        listed = listed.where(f"NOT startswith({name}, '{RESERVED_PREFIX}')")
    return listed


def _place(plan: plans.Plan) -> Span | None:
    """Return the words to point at when running ``plan`` fails at no place of its own."""
    match plan:
        case plans.MakeStreamingTable(query=query):
            return query.place
        case (
            plans.Refresh(entry=entry)
            | plans.Start(entry=entry)
            | plans.Stop(entry=entry)
            | plans.DropStreamingTable(entry=entry)
        ):
            at = plan.source.text.lower().rfind(entry.name.lower())
            return Span(at, at + len(entry.name)) if at >= 0 else None
    return None


def _refuse(plan: plans.MakeStreamingTable) -> None:
    """Refuse a replacement under which others could not go on reading."""
    from warehouse.planning.replacement import Outcome

    if plan.verdict and plan.verdict.outcome is Outcome.REFUSED:
        reasons = "; ".join(plan.verdict.changes)
        at = plan.source.text.lower().find(plan.entry.name.lower())
        try:
            fail(
                "WAREHOUSE_REPLACE_REFUSED", Span(at, at + len(plan.entry.name)), name=plan.entry.name, reasons=reasons
            )
        except WarehouseError as error:
            raise error.located_in(plan.source) from None


def _table(source: SourceText, rows: Any) -> Result:
    schema = pa.schema([(name, pa.string()) for name in rows.columns])
    columns = list(zip(*rows.rows, strict=True)) if rows.rows else [()] * len(rows.columns)
    batch = pa.record_batch([pa.array(c, pa.string()) for c in columns], schema=schema)
    return Result(source, schema, iter([batch]))


def _summary(commits: list[Commit]) -> str:
    rows, panes = sum(c.rows for c in commits), sum(c.panes for c in commits)
    late = sum(c.late for c in commits)
    text = f"{len(commits)} step{'s' if len(commits) != 1 else ''}, {rows} rows, {panes} panes"
    finished = sum(c.finished or 0 for c in commits)
    return (
        text
        + (f", {late} late" if late else "")
        + (f", {finished} after their trigger had finished" if finished else "")
    )


def _instant(micros: int) -> str:
    from warehouse.dataflow.times import BEGINNING, END

    if micros <= BEGINNING:
        return "-"
    if micros >= END:
        return "end"
    return datetime.fromtimestamp(micros / 1e6, UTC).isoformat(sep=" ")


__all__ = [
    "OF_PROJECT",
    "Diagnostic",
    "Engine",
    "Finding",
    "Json",
    "Parameters",
    "Progress",
    "Result",
    "SourceText",
    "Standing",
    "TrainingProgress",
    "WarehouseError",
    "archiving",
    "examine",
    "parse",
    "partner",
    "replace",
    "split",
    "standing_in",
    "statements",
    "unique_names",
    "unpacked",
    "unpacked_schema",
    "words_of_ours",
]
