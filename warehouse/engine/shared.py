"""What all sessions of an open warehouse share."""

from __future__ import annotations

from pathlib import Path
from weakref import WeakSet

from pyspark.sql import SparkSession

from warehouse.adaptive import rules
from warehouse.catalog.started import Started
from warehouse.catalog.store import Catalog
from warehouse.catalog.udfs import Udfs
from warehouse.engine.claims import Claims
from warehouse.engine.listeners import Listeners
from warehouse.engine.planner import Planner
from warehouse.execution import frames
from warehouse.execution.functions import serve
from warehouse.ml.learning import Learning
from warehouse.planning.models.predictions import function_name
from warehouse.storage.tables import TableLayouts
from warehouse.streaming.feeding.common import Common
from warehouse.streaming.tables.tables import StreamingTables
from warehouse.streaming.views.view_texts import ViewTexts


class Shared:
    """One warehouse folder, in one Spark.

    Attributes:
        spark: the session in which the engine began.
        folder: the warehouse folder.
        catalog, udfs, started: what exists, the user's own definitions, and the streaming tables that are to run on.
        layouts: distribution, statistics and memory of tables.
        views: the texts of views.
        tables: the streaming tables.
        listeners: who is told of their steps.
        claims: the names that statements are changing.
        sessions: those that are open.
    """

    def __init__(self, spark: SparkSession, folder: Path, udfs: Path, moved: bool):
        """Open a folder.

        Args:
            spark: the session in which the engine begins.
            folder: the warehouse folder.
            udfs: the folder of the user's own definitions.
            moved: the folder was somewhere else when it was open last.
        """
        self.spark, self.folder = spark, folder
        self.catalog, self.udfs, self.started = Catalog.open(folder), Udfs(udfs), Started(folder)
        self._learning = Learning(spark, self.catalog, folder, self.udfs)
        self._learning.mend()
        self.layouts, self.views = TableLayouts(spark, folder), ViewTexts(folder, self.catalog)
        self.listeners, self.claims = Listeners(), Claims()
        self.sessions: WeakSet[SparkSession] = WeakSet([spark])
        planner = Planner(self, spark, self._learning)
        common = Common(spark, self.catalog, folder, planner.bound, self.listeners.tell, self.layouts.panes)
        self.tables = StreamingTables(common)
        self.tables.mend(moved)
        self._to_ship = [rules.ship, frames.ship]

    def begin(self, session: SparkSession) -> None:
        """Do what waits for a statement: Spark's tasks get what is ours once it is compiled, tables go into memory."""
        self.layouts.begin(session)
        self._to_ship = [ship for ship in self._to_ship if not ship(session)]

    def learning_in(self, spark: SparkSession) -> Learning:
        """Return machine learning in a session: models make views and functions, each in a session of theirs."""
        return self._learning if spark is self.spark else Learning(spark, self.catalog, self.folder, self.udfs)

    def serve_models(self, *sessions: SparkSession) -> None:
        """Let sessions, all that are open unless some are given, call the functions that models are by now."""
        names = [function_name(entry, version) for entry in self.catalog.models.all() for version in entry.versions]
        for session in (sessions or tuple(self.sessions)) if names else ():
            serve(session, names)
