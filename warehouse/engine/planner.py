"""A statement to its plan: what planning is given of a session and of the folder."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import SparkSession

from warehouse.catalog.entries import StreamingTableEntry, ViewEntry
from warehouse.catalog.store import Catalog
from warehouse.errors import SourceText, WarehouseError, fail
from warehouse.execution.analyzer import SparkAnalyzer
from warehouse.execution.session import enter
from warehouse.execution.spark_errors import RAISED, translate
from warehouse.language import statements
from warehouse.language.parser import parse
from warehouse.language.statements import TableFunction
from warehouse.language.view_scope import view_scope
from warehouse.ml.learning import Learning
from warehouse.planning import plans
from warehouse.planning.context import Context
from warehouse.planning.lowering.lower import plan
from warehouse.planning.lowering.relations import Relations
from warehouse.planning.lowering.tables import bound_query
from warehouse.planning.queries.render import FunctionRelation
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.planning.replacing.continued import as_kept
from warehouse.planning.replacing.replacement import Outcome
from warehouse.planning.replacing.standing import Standing, standing
from warehouse.streaming.log import table_folder
from warehouse.streaming.sources import ddl
from warehouse.streaming.sources.ddl import Acting
from warehouse.streaming.views import relations
from warehouse.streaming.views.views import made_again, settings_of

if TYPE_CHECKING:
    from warehouse.engine.shared import Shared

Parameters = Mapping[str, Any]

_DECLARING = ("DECLARE", "DROP", "BEGIN", "EXECUTE")
"""The first words of statements after which a name may be a variable, or none any more."""


class Planner:
    """Plans the statements of one session; runs none and changes nothing but views, which are to say what is there."""

    def __init__(self, shared: Shared, spark: SparkSession, learning: Learning):
        self._shared, self._spark, self._learning = shared, spark, learning
        self._analyzer = SparkAnalyzer(spark)

    @property
    def schema(self) -> str:
        """Return the current schema."""
        return self._spark.catalog.currentDatabase()

    def acting(self, catalog: Catalog | None = None) -> Acting:
        """Return where statements about streams act: in the catalog there is, unless one is given."""
        return Acting(self._spark, catalog or self._shared.catalog, self.schema)

    def is_constant(self, expression: str) -> bool:
        """Say whether an expression needs no row."""
        return self._analyzer.is_constant(expression)

    def plan(self, statement: statements.Statement, parameters: Parameters | None = None) -> plans.Plan:
        """Return what a statement comes to by now.

        Raises:
            WarehouseError: it cannot be planned; located in its text.
        """
        enter(self._spark)
        if getattr(statement, "verb", "").partition(" ")[0] in _DECLARING:
            self._analyzer = SparkAnalyzer(self._spark)  # it has kept what is constant
        self._shared.views.bring_up_to_date(self._spark, self.schema, statement, self._write_view)
        return self._plan(statement, self._shared.catalog, parameters or {})

    def draft(self, sources: Iterable[SourceText]) -> list[plans.Plan]:
        """Return what each statement comes to where those before it would have run.

        One that reads a table or asks a model which an earlier statement has yet to make is ``Unjudged``.

        Raises:
            WarehouseError: one cannot be planned; located in its text.
        """
        enter(self._spark)
        catalog, made, drafted = self._shared.catalog.draft(), set[str](), []
        for source in sources:
            try:
                drafted.append(self._drafted(source, catalog, made))
            except WarehouseError as error:
                raise error.located_in(source) from None
        return drafted

    def bound(self, entry: StreamingTableEntry, catalog: Catalog | None = None) -> StreamingQuery:
        """Return the query of a streaming table that exists; names are looked up where it was made."""
        catalog, statement = catalog or self._shared.catalog, parse(SourceText(entry.text))
        assert isinstance(statement, statements.CreateStreamingTable)
        pinned = {name: int(version) for name, version in entry.models}
        viewed = {name.lower(): text for name, text in entry.views}
        analyzer = SparkAnalyzer(self._session_in(entry.current))
        context = self._context(catalog, analyzer, entry.current, pinned=pinned, viewed=viewed)
        return as_kept(bound_query(context, statement.source, statement.query, self._relations(catalog)), entry)

    def standing(self, source: SourceText) -> Standing | None:
        """Return what there is under the name that a statement creates, None where that is nothing."""
        enter(self._spark)
        return standing(self._context(self._shared.catalog, self._analyzer, self.schema), parse(source))

    # ------------------------------------------------------------------ one statement

    def _plan(self, statement: statements.Statement, catalog: Catalog, parameters: Parameters) -> plans.Plan:
        keeps_values = bool(parameters) and not _keeps_its_text(statement)
        analyzer = SparkAnalyzer(self._spark, parameters) if keeps_values else self._analyzer
        context = self._context(catalog, analyzer, self.schema, parameters)
        viewed = getattr(statement, "verb", "").endswith("VIEW")
        before = self._shared.views.made_of(ViewEntry(context.schema, "", statement.source.text)) if viewed else None
        planned = plan(context, statement, self._relations(catalog))
        if isinstance(statement, statements.Explain):
            self._check_of_streams(statement, catalog)
        if viewed and isinstance(planned, plans.RunSpark) and (kept := planned.keep_view):
            return replace(planned, keep_view=replace(kept, made_of=before or kept.made_of))
        return planned

    def _drafted(self, source: SourceText, catalog: Catalog, made: set[str]) -> plans.Plan:
        """Return a statement's plan, and put what it would make into the catalog, or its name among those ``made``."""
        try:
            planned = self._plan(parse(source), catalog, {})
        except WarehouseError as error:
            unknown = error.condition in ("TABLE_OR_VIEW_NOT_FOUND", "WAREHOUSE_MODEL_NOT_FOUND")
            if not unknown or not _named(error, source) & made:
                raise
            return plans.Unjudged(source)
        match planned.measured if isinstance(planned, plans.Measure) else planned:
            case plans.MakeStream(statement=statement):
                catalog.streams.put(ddl.draft_stream(statement, self.acting(catalog)))
            case plans.MakeStreamingTable(entry=entry) as making:
                refuse(making)
                catalog.streaming_tables.put(entry)
                made.add(entry.name.lower())
            case plans.Train(statement=statement):
                made |= {t.name.last.lower() for t in (statement.table, statement.model) if t}
            case plans.RunSpark(fragment=fragment, keep_view=keep, target=target):
                self._analyzer.check_syntax(fragment, source)
                if keep:
                    catalog.views.put(keep)
                if target:
                    made.add(target.lower())
        return planned

    def _check_of_streams(self, explained: statements.Explain, catalog: Catalog) -> None:
        """Refuse to explain what makes or drops a stream and would be refused itself."""
        inner, acting = explained.statement, self.acting(catalog)
        try:
            match inner:
                case statements.CreateStream():
                    ddl.draft_stream(inner, acting)
                case statements.DropObject(kind="STREAM"):
                    ddl.dropped_stream(inner, acting)
        except WarehouseError as error:
            raise inside(error, inner.source, explained.source) from None

    # ------------------------------------------------------------------ what it is given

    def _context(
        self, catalog: Catalog, analyzer: SparkAnalyzer, schema: str, parameters: Parameters | None = None,
        pinned: Mapping[str, int] | None = None, viewed: Mapping[str, str] | None = None,
    ) -> Context:  # fmt: skip
        """Return where a statement is planned."""
        learning, values = self._learning, parameters or {}
        return Context(
            catalog, analyzer, schema, self._shared.udfs, lambda: learning.library(values), lambda: learning.models,
            pinned or {}, values, viewed or {},
        )  # fmt: skip

    def _relations(self, catalog: Catalog) -> Relations:
        shared, spark = self._shared, self._spark

        def bound(entry: StreamingTableEntry) -> StreamingQuery:
            return self.bound(entry, catalog)

        def function(context: Context) -> FunctionRelation:
            of_streams = relations.function_relation(shared.folder, context, bound)

            def relation(call: TableFunction) -> str:
                if call.function not in shared.layouts.functions:
                    return of_streams(call)
                entry = catalog.streaming_tables.get(*context.resolve(call.argument))
                panes = table_folder(shared.folder, entry) / "panes" if entry else None
                return shared.layouts.relation(spark, context, call, panes)

            return relation

        return Relations(
            lambda source: relations.stream_relation(spark, shared.folder, source),
            function,
            lambda known, entry: self.bound(entry, known),
        )

    def _session_in(self, schema: str, settings: Mapping[str, str] | None = None) -> SparkSession:
        """Return a new session whose current schema is ``schema``, where that is still there."""
        session = self._spark.newSession()
        if session.catalog.databaseExists(schema):
            session.catalog.setCurrentDatabase(schema)
        for key, value in (settings or {}).items():
            session.conf.set(key, value)
        return session

    # ------------------------------------------------------------------ views

    def _write_view(self, view: ViewEntry, made_of: str | None) -> None:
        """Have Spark keep a view as its statement would make it now, in the schema where that was made."""
        source, schema, before = made_again(view), view.current or view.schema, self.schema
        ends = bool(view_scope(view.text))
        session = self._spark if ends else self._session_in(schema, settings_of(self._spark, view))
        catalog = self._shared.catalog
        try:
            if ends:
                session.catalog.setCurrentDatabase(schema)
            context = self._context(catalog, SparkAnalyzer(session), schema)
            planned = plan(context, parse(source), self._relations(catalog))
            assert isinstance(planned, plans.RunSpark)
            with self._shared.views.written(view):
                session.sql(planned.fragment.text)
        except RAISED as error:
            raise translate(error, source) from None
        finally:
            if ends:
                session.catalog.setCurrentDatabase(before)
        self._shared.views.remember(self._spark, replace(view, made_of=made_of))


def refuse(making: plans.MakeStreamingTable) -> None:
    """Refuse a replacement under which others could not go on reading.

    Raises:
        WarehouseError: it is one; located in its text.
    """
    if making.verdict is None or making.verdict.outcome is not Outcome.REFUSED:
        return
    try:
        fail(
            "WAREHOUSE_REPLACE_REFUSED", making.named, name=making.entry.name, reasons="; ".join(making.verdict.changes)
        )
    except WarehouseError as error:
        raise error.located_in(making.source) from None


def inside(error: WarehouseError, inner: SourceText, outer: SourceText) -> WarehouseError:
    """Return an error of a statement as one of the statement that ends with it, such as EXPLAIN."""
    return WarehouseError(*error.diagnostics).shifted(len(outer.text) - len(inner.text)).located_in(outer)


def _named(error: WarehouseError, source: SourceText) -> set[str]:
    """Return the names, in lower case, in the words that an error points at, in its message where it points at none."""
    span = error.diagnostics[0].span
    words = span.of(source.text) if span else str(error)
    return {name.strip("`").lower() for name in re.findall(r"`[^`]+`|\w+", words)}


def _keeps_its_text(statement: statements.Statement) -> bool:
    """Say whether a statement is read again later, when nobody gives values to markers in it."""
    if isinstance(statement, statements.Explain):
        return _keeps_its_text(statement.statement)
    view = isinstance(statement, statements.QueryStatement) and statement.verb.endswith("VIEW")
    return view or isinstance(statement, statements.CreateStreamingTable)
