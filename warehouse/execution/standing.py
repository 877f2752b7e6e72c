"""A streaming query that stays between looks: starting one costs more than a small micro-batch.

``availableNow`` plans the query anew for each look, and starts a Python process for a source that is written in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.errors.exceptions.captured import convert_exception
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame
from pyspark.sql.utils import ForeachBatchFunction

from warehouse.execution import java_sources
from warehouse.execution.local_files import SOURCES


class StandingQuery:
    """A streaming query of which each look is one micro-batch at most; made with a first look.

    Args:
        rows: a streaming frame.
        checkpoint: the folder of its checkpoint.
        act: is given each micro-batch and its number, as by ``foreachBatch``.

    Raises:
        StreamingQueryException: the first look failed.
    """

    def __init__(self, rows: DataFrame, checkpoint: str, act: Callable[[DataFrame, int], None]):
        spark = rows.sparkSession
        gateway: Any = spark.sparkContext._gateway
        ensure_callback_server_started(gateway)
        self._standing = java_sources.load(gateway, SOURCES, "warehouse.execution.Standing").newInstance()
        self._standing.start(rows._jdf, checkpoint, ForeachBatchFunction(spark, act))
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
