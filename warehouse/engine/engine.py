"""One session of an open warehouse: text in, results out. Spark is loaded when one is opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warehouse.catalog.entries import HIDDEN_SCHEMA
from warehouse.errors import SourceText, WarehouseError
from warehouse.execution.portable import portable, zone_of
from warehouse.execution.results import Report, Result
from warehouse.language.parser import parse
from warehouse.language.split import split
from warehouse.planning import plans
from warehouse.planning.replacing.standing import Standing
from warehouse.planning.streams.streams import RESERVED_PREFIX

if TYPE_CHECKING:
    from concurrent.futures import Future

    from pyspark.sql import DataFrame

    from warehouse.engine.actions import Release
    from warehouse.engine.shared import Shared


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
    """A session of an open warehouse. Use ``Engine.open``, and ``on`` for further sessions.

    Attributes:
        spark: the session: settings, current schema and temporary views are its.
        folder: the warehouse folder.
        catalog, layouts, views, tables: see ``shared.Shared``.
        learning: machine learning in this session.
    """

    def __init__(self, shared: Shared, spark: Any, on_progress: Report | None = None, hears_all: bool = False):
        from warehouse.engine.actions import Actions
        from warehouse.engine.planner import Planner
        from warehouse.execution.cancelling import Cancelling

        self._shared, self.spark, self.folder = shared, spark, shared.folder
        self.catalog, self.layouts = shared.catalog, shared.layouts
        self.views, self.tables = shared.views, shared.tables
        self.learning = shared.learning_in(spark)
        self._cancelling = Cancelling(spark.sparkContext)
        self._planner = Planner(shared, spark, self.learning)
        self._actions = Actions(
            shared, spark, self._planner, self.learning, self._cancelling.asked, on_progress, hears_all
        )

    @classmethod
    def open(
        cls,
        folder: Path,
        settings: Mapping[str, str] | None = None,
        on_progress: Report | None = None,
    ) -> Engine:
        """Open the warehouse in ``folder``, starting Spark.

        Args:
            folder: the warehouse folder; it need not exist.
            settings: by name, instead of those of the folder's file.
            on_progress: is told of each step of a streaming table, and of what GENERATE does.

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
            return cls.within(spark, place.path, running.settings.udfs, place.moved_from is not None, on_progress)
        except BaseException:
            session.stop(spark)
            raise

    @classmethod
    def within(
        cls, spark: Any, folder: Path, udfs: Path, moved: bool = False, on_progress: Report | None = None
    ) -> Engine:
        """Open a folder in a Spark that was started for it.

        Args:
            spark: its session.
            folder: the warehouse folder.
            udfs: the folder of the user's own definitions.
            moved: the folder was somewhere else when it was open last.
            on_progress: see ``open``.
        """
        from warehouse.engine.shared import Shared

        shared = Shared(spark, folder, udfs, moved)
        if on_progress:
            shared.listeners.of_all(on_progress)
        return cls(shared, spark, on_progress, hears_all=True)

    def on(self, spark: Any, on_progress: Report | None = None) -> Engine:
        """Return an engine for another session: settings, current schema and temporary views are that one's.

        Args:
            spark: a session of the same Spark.
            on_progress: is told of the steps that its statements run.
        """
        self._shared.sessions.add(spark)
        self._shared.serve_models(spark)
        return Engine(self._shared, spark, on_progress)

    def resume(self) -> list[str]:
        """Let the streaming tables run on that were started and not stopped; return their names.

        For a process that stays. Others leave them as they are, to be resumed by the next one that does.
        """
        self._shared.begin(self.spark)
        resumed, started = [], self._shared.started
        for name, every in started.all().items():
            entry = next((e for e in self.catalog.streaming_tables.all() if e.qualified == name), None)
            if entry is None:
                started.drop(name)
            elif self.tables.running.start(entry, every):
                resumed.append(name)
        return resumed

    def runs_something(self) -> bool:
        """Say whether a streaming table runs on in the background."""
        return any(self.tables.running.runs(entry) for entry in self.catalog.streaming_tables.all())

    def close(self) -> None:
        """Stop what runs in the background, then Spark."""
        from warehouse.execution import session

        self.tables.close()
        session.stop(self.spark)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------ the line

    def split(self, text: str, name: str | None = None) -> list[SourceText]:
        """Return the statements of ``text``."""
        return split(text, name)

    def compile(self, text: str | SourceText, name: str | None = None) -> list[plans.Plan]:
        """Return what each statement comes to; runs nothing and changes nothing.

        Later statements see the streams, streaming tables and views of ours that earlier ones would make. One that
        reads a table or asks a model which an earlier statement has yet to make cannot be judged: it is ``Unjudged``.

        Raises:
            WarehouseError: one cannot be planned; rendered with its text.
        """
        return self._planner.draft(_sources(text, name))

    def run(
        self, text: str | SourceText, name: str | None = None, parameters: Mapping[str, Any] | None = None
    ) -> Iterator[Result]:
        """Run each statement and yield its result; the next one starts when the iterator is advanced.

        Args:
            text: statements.
            name: what errors call the text, a file's name.
            parameters: values of parameter markers.

        Raises:
            WarehouseError: one cannot be planned, failed, or was cancelled.
        """
        for source in _sources(text, name):
            self._shared.begin(self.spark)
            with self._cancelling.statement():
                statement = parse(source)
                with self._shared.claims.of(statement, lambda: self._planner.schema, self._cancelling.asked):
                    result = self._actions.do(self._planner.plan(statement, parameters), parameters or {})
                yield result

    def prepare(self, source: SourceText) -> Prepared:
        """Return what one statement comes to; runs nothing, but has Spark know by now the views of ours that it reads.

        Raises:
            WarehouseError: it cannot be planned; rendered with its text.
        """
        from warehouse.engine import answers

        match self._planner.plan(parse(source)):
            case plans.RunSpark(
                fragment=fragment, keep_view=None, forget_view=None, drops=(), evaluations=(),
                layout=None, reshapes=None,
            ):  # fmt: skip
                return Prepared(fragment.text)
            case plans.Train(table=None, model=None) | plans.RunSpark(evaluations=[_, *_], target=None):
                return Prepared(None, None)
            case plans.Show(statement=shown) if shown.kind in ("MODEL", "GENERATOR"):
                return Prepared(None, self.learning.shown(shown, self._planner.schema).columns)
            case plans.Describe(statement=asked, entry=entry) if asked.kind in ("MODEL", "GENERATOR"):
                return Prepared(None, self.learning.described(entry, asked.extended).columns)
            case plan:
                return Prepared(None, answers.columns(plan))

    def standing(self, source: SourceText) -> Standing | None:
        """Return what there is under the name that a statement creates, None where that is nothing."""
        return self._planner.standing(source)

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
            self._actions.do(self._planner.plan(parse(source)), {}, hold)
        return begun[0]

    def explain_failure(self, source: SourceText, error: BaseException) -> WarehouseError:
        """Return what Spark raised for a prepared text as an error of ours, pointing into ``source``."""
        from warehouse.engine.actions import place
        from warehouse.execution.spark_errors import translate

        try:
            plan = self._planner.plan(parse(source))
        except WarehouseError:
            return translate(error, source)
        fragment = plan.fragment if isinstance(plan, plans.RunSpark) else None
        return translate(error, source, fragment).placed_at(place(plan))

    def cancel(self) -> None:
        """Cancel the statement that is running, from any thread; nothing happens when none is."""
        self._cancelling.cancel()

    # ------------------------------------------------------------------ what front doors are for Spark

    @property
    def hidden_schema(self) -> str:
        """Return the name of the schema that holds what the engine alone reads."""
        return HIDDEN_SCHEMA

    @property
    def hidden_prefix(self) -> str:
        """Return what the names of temporary views and functions begin with that the engine alone calls."""
        return RESERVED_PREFIX

    @property
    def table_functions(self) -> tuple[str, ...]:
        """Return the names of the table functions that are ours."""
        from warehouse.streaming.views.relations import FUNCTIONS

        return (*FUNCTIONS, *self.layouts.functions)

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
        self.layouts.install(java_session)


def _sources(text: str | SourceText, name: str | None) -> list[SourceText]:
    return [text] if isinstance(text, SourceText) else split(text, name)
