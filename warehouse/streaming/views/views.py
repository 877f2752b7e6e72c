"""Views over streams and over our table functions: what Spark keeps of them is true to what is there now.

Spark is given a view's text with folders, and records of steps, in the place of what is ours. After a step, or when a
table was made again, that text says what was; so a statement that reads such a view has it written anew before. A view
that a script or EXECUTE IMMEDIATE has replaced or dropped, which only Spark reads, is none of ours any more.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from warehouse.catalog.entries import ViewEntry, quote_name
from warehouse.catalog.store import Catalog
from warehouse.errors import SourceText, Span, WarehouseError, fail
from warehouse.execution.analyzer import temporary_view
from warehouse.language.parser import parse
from warehouse.language.statements import Explain, Generate, Name, QueryShape, QueryStatement, Statement
from warehouse.language.view_scope import view_scope
from warehouse.planning.models.generate import source_of
from warehouse.streaming.delta import bad_rows, delta_tables
from warehouse.streaming.log import step_log, table_folder

OF_THE_MOMENT = ("partition_stats", "cache_stats")
"""The functions whose answer is made when it is asked for."""
_GROWING = ("stream_state", "stream_progress")


@lru_cache(512)
def shape_of(text: str) -> QueryShape | None:
    """Return what is seen of the query in a statement's text."""
    try:
        return getattr(parse(SourceText(text)), "query", None)
    except WarehouseError:
        return None


def changes(view: ViewEntry) -> bool:
    """Say whether what a view's text stands for may change."""
    shape = shape_of(view.text)
    return shape is not None and bool(shape.functions or shape.streams)


def made_of(home: Path, catalog: Catalog, entry: ViewEntry) -> str | None:
    """Return what streams and table functions in a view stand for now, in short; None if each time for something else.

    Two answers are equal as long as the text that Spark was given is the one that it would be given.
    """
    shape = shape_of(entry.text)
    if shape is None:
        return ""
    current, parts = entry.current or entry.schema, []
    for reference in shape.streams:
        schema, name = reference.name.within(current)
        parts.append(repr(catalog.streams.get(schema, name) or catalog.streaming_tables.get(schema, name)))
    for call in shape.functions:
        if call.function in OF_THE_MOMENT:
            return None
        schema, name = call.argument.within(current)
        table = catalog.streaming_tables.get(schema, name)
        parts.append(repr(table or catalog.streams.get(schema, name)))
        if call.function == "bad_rows":
            parts.append(str(bad_rows.exists(home, schema, name)))
        elif table and call.function == "late_rows":
            parts.append(str(delta_tables.exists(table_folder(home, table) / "late_rows")))
        elif table and call.function in _GROWING:
            parts.append(repr(step_log(home, table).last()))
        if table and call.step is not None:
            parts.append(repr(step_log(home, table).at(call.step)))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32] if parts else ""


@dataclass(frozen=True)
class Views:
    """The views that one session's statements may read.

    Attributes:
        home: the warehouse folder.
        temporary: those that end with the session or with Spark, by name in lower case as a query has it.
        schema: the session's current schema.
        rewrite: has Spark keep a view as it would be made now; takes it and what it is made of.
    """

    spark: SparkSession
    home: Path
    catalog: Catalog
    temporary: Mapping[str, ViewEntry]
    schema: str
    rewrite: Callable[[ViewEntry, str | None], None]

    def bring_up_to_date(self, statement: Statement) -> None:
        """Have the views that a statement reads written anew where they say what was; forget those that are gone.

        Raises:
            WarehouseError: one of them can no longer be read.
        """
        inner = statement.statement if isinstance(statement, Explain) else statement
        offset = len(statement.source.text) - len(inner.source.text)
        read = source_of(inner) if isinstance(inner, Generate) else getattr(inner, "query", None)
        names = (read,) if isinstance(read, Name) else tuple(_read(read)) if read else ()
        looked: set[tuple[str, str]] = set()
        for name in (getattr(inner, "target", None), getattr(inner, "name", None), *names):
            if isinstance(name, Name):
                self._forget_gone(name, self.schema, looked)
        views = (*self.catalog.views.all(), *self.temporary.values())
        if not any(_is_stale(view, self._made_of(view)) for view in views if changes(view)):
            return
        brought: set[tuple[str, str]] = set()
        for name in names:
            try:
                self._bring(name, self.schema, brought)
            except WarehouseError as error:
                place = Span(name.span.start + offset, name.span.end + offset)
                reason = error.diagnostics[0].message.partition("\n")[0]
                fail("WAREHOUSE_VIEW_BROKEN", place, name=name.written, reason=reason)

    def _made_of(self, view: ViewEntry) -> str | None:
        return made_of(self.home, self.catalog, view)

    def _forget_gone(self, name: Name, schema: str, looked: set[tuple[str, str]]) -> None:
        """Forget what a name means in ``schema``, and what that reads, where Spark has something else of it by now.

        Names that were ``looked`` at, with their schemas, are not looked at again.
        """
        known = schema, name.written.lower()
        if known in looked:
            return
        looked.add(known)
        view = self._ours(name, schema)
        if view and (shape := shape_of(view.text)):
            for read in _read(shape):
                self._forget_gone(read, view.current or view.schema, looked)

    def _bring(self, name: Name, schema: str, brought: set[tuple[str, str]]) -> None:
        """Bring what a name means in ``schema`` up to date, what it reads before it; each of them once."""
        known = schema, name.written.lower()
        if known in brought:
            return
        brought.add(known)
        view = self._ours(name, schema)
        text, current = (view.text, view.current or view.schema) if view else self._of_spark(name, schema)
        shape = shape_of(text) if text else None
        for read in _read(shape) if shape else ():
            self._bring(read, current, brought)
        if view and changes(view) and _is_stale(view, now := self._made_of(view)):
            self.rewrite(view, now)

    def _ours(self, name: Name, schema: str) -> ViewEntry | None:
        """Return the view of ours that a name means, None where it means nothing or something of Spark's."""
        temporary = self.temporary.get(name.written.lower())
        if temporary is not None:
            return temporary
        view = self.catalog.views.get(*name.within(schema))
        if view and view.given is not None and view.given != given(self.spark, view):
            self.catalog.views.drop(view.schema, view.name)
            return None
        return view

    def _of_spark(self, name: Name, schema: str) -> tuple[str, str]:
        """Return the text of a view of Spark's, and the schema it was made in; nothing where it is none."""
        found = stored(self.spark, name.parts, schema)
        if found is None or not found.viewText().isDefined():
            return "", schema
        where = found.viewCatalogAndNamespace()
        return found.viewText().get(), where.last() if where.nonEmpty() else schema


def _is_stale(view: ViewEntry, now: str | None) -> bool:
    """Say whether Spark has another text of a view than it would be given for what that is made of now."""
    return now is None or now != view.made_of


def _read(shape: QueryShape) -> Iterator[Name]:
    """Yield the names of tables and views that a query reads."""
    for reference in shape.relations:
        if shape.cte_of(reference) is None:
            yield reference.name


def made_again(view: ViewEntry) -> SourceText:
    """Return the statement that gives a view that is there its query anew.

    Comments and properties stay; where its columns have names of their own these are in the statement.
    """
    made = parse(SourceText(view.text))
    assert isinstance(made, QueryStatement) and made.target
    at = made.target.span.end
    if scope := view_scope(view.text):
        head = "CREATE OR REPLACE " + ("GLOBAL TEMPORARY" if scope == "GLOBAL" else "TEMPORARY")
        return SourceText(f"{head} VIEW {quote_name(view.name)}" + view.text[at:], f"view {view.name}")
    if view.text[at:].lstrip().startswith("("):
        return SourceText(f"CREATE OR REPLACE VIEW {view.qualified}" + view.text[at:], f"view {view.qualified}")
    query = made.query.span.of(view.text)
    return SourceText(f"ALTER VIEW {view.qualified} AS {query}", f"view {view.qualified}")


def settings_of(spark: SparkSession, view: ViewEntry) -> dict[str, str]:
    """Return the settings with which a view was made, which count for its query."""
    found, jvm = stored(spark, (view.schema, view.name), view.schema), spark._jvm
    assert jvm
    if found is None or not found.viewText().isDefined():
        return {}
    return dict(jvm.scala.jdk.javaapi.CollectionConverters.asJava(found.viewSQLConfigs()))


def given(spark: SparkSession, view: ViewEntry) -> str | None:
    """Return in short what Spark has of a view that stays, None where it has no such view."""
    found = stored(spark, (view.schema, view.name), view.schema)
    if found is None or not found.viewText().isDefined():
        return None
    return hashlib.sha256(found.viewText().get().encode()).hexdigest()[:32]


def stored(spark: SparkSession, parts: tuple[str, ...], schema: str) -> Any:
    """Return what Spark keeps of a table or view, None where there is none."""
    jvm: Any = spark._jvm
    some = jvm.scala.Option.apply
    if len(parts) == 1 and (found := temporary_view(spark, parts)) is not None:
        return found
    catalog = spark._jsparkSession.sessionState().catalog()
    identifier = jvm.org.apache.spark.sql.catalyst.TableIdentifier(
        parts[-1], some(parts[-2] if len(parts) > 1 else schema)
    )
    try:
        return catalog.getTableMetadata(identifier) if catalog.tableExists(identifier) else None
    except AnalysisException:  # a schema that is none, such as a path's format
        return None
