"""Streaming queries whose micro-batches Python acts on: of all that is there, or of one look after the other.

Each is handed over as a frame that reads its files (``MicroBatches.java``), where Spark's ``foreachBatch`` hands over
rows of which all columns were read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.errors.exceptions.captured import convert_exception
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame
from pyspark.sql.streaming import StreamingQuery
from pyspark.sql.utils import ForeachBatchFunction

from warehouse.execution import java_sources
from warehouse.execution.local_files import SOURCES

Act = Callable[[DataFrame, int], None]
"""Is given each micro-batch and its number."""


def query_of_all(rows: DataFrame, checkpoint: str, act: Act) -> StreamingQuery:
    """Return a query, started, whose micro-batches are all that is there now.

    Args:
        rows: a streaming frame.
        checkpoint: the folder of its checkpoint.
        act: see ``Act``.
    """
    return StreamingQuery(_java(rows, "MicroBatches").ofAll(*_arguments(rows, checkpoint, act)))


class StandingQuery:
    """A streaming query that stays between looks, of which each is one micro-batch at most; made with a first look.

    Starting a query costs more than a small micro-batch: it is planned, and a source in Python has a process started.

    Args:
        rows: a streaming frame.
        checkpoint: the folder of its checkpoint.
        act: see ``Act``.

    Raises:
        StreamingQueryException: the first look failed.
    """

    def __init__(self, rows: DataFrame, checkpoint: str, act: Act):
        self._standing = _java(rows, "Standing")
        self._standing.start(*_arguments(rows, checkpoint, act))
        self._settle()

    def look(self) -> bool:
        """Look for rows and act on them; return whether the query still stands: Spark stops one that has a rival.

        Raises:
            StreamingQueryException: it failed.
        """
        self._standing.look()
        return self._settle()

    def last_batch(self) -> list[tuple[str, str]]:
        """Return for each source that tells, up to which offset the last micro-batch went, and the latest one then."""
        progress = self._standing.query().lastProgress()
        told = [] if progress is None else [(s.endOffset(), s.latestOffset()) for s in progress.sources()]
        return [(end, latest) for end, latest in told if end is not None and latest is not None]

    def close(self) -> None:
        """Stop the query."""
        self._standing.query().stop()

    def _settle(self) -> bool:
        if self._standing.settled():
            return True
        failure = self._standing.query().exception()
        if failure.isDefined():
            raise convert_exception(failure.get())
        return False


def _java(rows: DataFrame, name: str) -> Any:
    gateway: Any = rows.sparkSession.sparkContext._gateway
    return java_sources.load(gateway, SOURCES, f"warehouse.execution.{name}").newInstance()


def _arguments(rows: DataFrame, checkpoint: str, act: Act) -> tuple[Any, str, ForeachBatchFunction]:
    ensure_callback_server_started(rows.sparkSession.sparkContext._gateway)
    return rows._jdf, checkpoint, ForeachBatchFunction(rows.sparkSession, act)
