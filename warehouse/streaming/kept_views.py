"""The texts of views as their statements were written, for as long as the views are there, and who is told of them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import SparkSession

from warehouse.catalog.entries import ViewEntry
from warehouse.catalog.store import Catalog
from warehouse.errors import WarehouseError
from warehouse.language.statements import Statement
from warehouse.streaming.views import Views, changes, made_of, scope_of


class KeptViews:
    """The views whose statements are remembered: in the catalog those that stay, here those that end with a session.

    Attributes:
        home: the warehouse folder.
    """

    def __init__(self, home: Path, catalog: Catalog):
        self.home, self._catalog = home, catalog
        self._temporary: dict[tuple[str, str], ViewEntry] = {}
        self._doors: list[Callable[[], None]] = []
        self._rewriting = threading.RLock()

    def made_of(self, view: ViewEntry) -> str | None:
        """Return what a view stands for now: see the function of that name."""
        return made_of(self.home, self._catalog, view)

    def remember(self, spark: SparkSession, view: ViewEntry) -> None:
        """Keep a view's own text, beside what Spark has of it."""
        match scope_of(view.text):
            case "GLOBAL":
                self._temporary["global", f"global_temp.{view.name}".lower()] = view
            case "TEMPORARY":
                self._temporary[_identity(spark), view.name.lower()] = view
            case _:
                self._catalog.put_view(view)
        self._tell()

    def forget_temporary(self, spark: SparkSession, name: str) -> None:
        """Forget the text of a temporary view that a statement has dropped, or put another in the place of."""
        if self._temporary:
            self._temporary.pop((_identity(spark), name.lower()), None)
            self._temporary.pop(("global", f"global_temp.{name}".lower()), None)

    def when_one_changes(self, told: Callable[[], None]) -> None:
        """Have a front door told when there is a view, now or later, that is written anew before it is read.

        A door that gives statements to Spark as they stand has to ``Engine.prepare`` queries from then on.
        """
        self._doors.append(told)
        self._tell()

    def bring_up_to_date(
        self, spark: SparkSession, schema: str, statement: Statement, rewrite: Callable[[ViewEntry, str | None], None]
    ) -> None:
        """Have the views that a session's statement reads say what their queries say now.

        Raises:
            WarehouseError: one of them can no longer be read.
        """
        if not self._temporary and not self._catalog.views():
            return
        session = _identity(spark) if self._temporary else ""
        temporary = {name: view for (its, name), view in tuple(self._temporary.items()) if its in (session, "global")}
        try:
            with self._rewriting:
                Views(spark, self.home, self._catalog, temporary, schema, rewrite).bring_up_to_date(statement)
        except WarehouseError as error:
            raise error.located_in(statement.source) from None

    def _tell(self) -> None:
        if self._doors and any(map(changes, (*self._catalog.views(), *self._temporary.values()))):
            for told in self._doors:
                told()
            self._doors.clear()


def _identity(spark: SparkSession) -> str:
    return str(spark._jsparkSession.sessionUUID())
