"""The texts of views as their statements were written, for as long as the views are there, and who is told of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

from warehouse.catalog.entries import ViewEntry
from warehouse.catalog.store import Catalog
from warehouse.errors import WarehouseError
from warehouse.execution.analyzer import temporary_view
from warehouse.language.statements import Statement
from warehouse.language.view_scope import view_scope
from warehouse.streaming.views.views import Views, changes, given, made_of

Temporary = dict[str, tuple[ViewEntry, str]]
"""Temporary views by name, in lower case as a query has it, with the text that Spark was given of each."""


class ViewTexts:
    """The views whose statements are remembered: in the catalog those that stay, here those that end with a session.

    Attributes:
        home: the warehouse folder.
    """

    def __init__(self, home: Path, catalog: Catalog):
        self.home, self._catalog = home, catalog
        self._global: Temporary = {}
        self._of_sessions: WeakKeyDictionary[SparkSession, Temporary] = WeakKeyDictionary()
        self._doors: list[Callable[[], None]] = []
        self._guard = threading.RLock()

    def made_of(self, view: ViewEntry) -> str | None:
        """Return what a view stands for now: see the function of that name."""
        return made_of(self.home, self._catalog, view)

    def remember(self, spark: SparkSession, view: ViewEntry) -> None:
        """Keep a view's own text, beside what Spark has of it by now."""
        scope, name = view_scope(view.text), view.name.lower()
        with self._guard:
            if scope == "GLOBAL":
                name = f"global_temp.{name}"
                self._global[name] = view, _text(spark, name)
            elif scope:
                self._of_sessions.setdefault(spark, {})[name] = view, _text(spark, name)
            else:
                self._catalog.views.put(replace(view, given=given(spark, view)))
        if self._doors and changes(view):
            self._tell()

    def forget_gone(self, spark: SparkSession, former: ViewEntry) -> None:
        """Forget a view that stays, under the name of ``former``, where Spark has something else of it, or nothing.

        A statement that drops or replaces that name may have meant a temporary view, or have found it there.
        """
        view = self._catalog.views.get(former.schema, former.name)
        if view and (view.given is None or view.given != given(spark, view)):
            self._catalog.views.drop(view.schema, view.name)

    @contextmanager
    def written(self, view: ViewEntry | None) -> Iterator[None]:
        """Know a view for ours while Spark is given it: whoever is killed in between would leave it Spark's alone."""
        if view is None or view_scope(view.text):
            yield
            return
        shelf = self._catalog.views
        former = shelf.get(view.schema, view.name)
        shelf.put(replace(view, given=None, made_of=None))
        try:
            yield
        except BaseException:
            if former:
                shelf.put(former)
            else:
                shelf.drop(view.schema, view.name)
            raise

    def when_one_changes(self, told: Callable[[], None]) -> None:
        """Have a front door told when there is a view, now or later, that is written anew before it is read.

        A door that gives statements to Spark as they stand has to ``Engine.prepare`` queries from then on.
        """
        self._doors.append(told)
        temporary = (view for known in (self._global, *self._of_sessions.values()) for view, _ in known.values())
        if any(map(changes, (*self._catalog.views.all(), *temporary))):
            self._tell()

    def bring_up_to_date(
        self, spark: SparkSession, schema: str, statement: Statement, rewrite: Callable[[ViewEntry, str | None], None]
    ) -> None:
        """Have the views that a session's statement reads say what their queries say now.

        Raises:
            WarehouseError: one of them can no longer be read.
        """
        with self._guard:
            temporary = self._temporary(spark)
            if not temporary and not self._catalog.views.all():
                return
            try:
                Views(spark, self.home, self._catalog, temporary, schema, rewrite).bring_up_to_date(statement)
            except WarehouseError as error:
                raise error.located_in(statement.source) from None

    def _temporary(self, spark: SparkSession) -> dict[str, ViewEntry]:
        """Return a session's temporary views; those that Spark has dropped, or has another text of, are forgotten."""
        its = self._of_sessions.get(spark, {})
        for known in (self._global, its):
            for name in [name for name, (_, text) in known.items() if _text(spark, name) != text]:
                del known[name]
        return {name: view for name, (view, _) in (*self._global.items(), *its.items())}

    def _tell(self) -> None:
        for told in self._doors:
            told()
        self._doors.clear()


def _text(spark: SparkSession, name: str) -> str:
    found = temporary_view(spark, name.split("."))
    return found.viewText().get() if found is not None and found.viewText().isDefined() else ""
