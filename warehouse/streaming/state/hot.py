"""The hot part of the state: what recent steps wrote stays in memory too, for the steps that follow.

It is made of the files, or as they are written, and holds what they hold. It survives nothing. What was held in this
process when it was written stays there; all else is in Spark's cache, which lets go of it where memory runs short and
reads the files again (D-Streams, section 3.2: state in memory, with lineage to what is on disk).
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from pyspark import StorageLevel
from pyspark.sql import DataFrame

SMALL_PART = 5_000
"""A part of no more rows is held in this process as it is written."""

MOST_ROWS = 1_000_000
"""Base and deltas, or else the deltas alone, are in memory when they have no more rows, of some hundred bytes each."""


class Hot:
    """The parts of one table's state that are in memory, by the names of their folders."""

    def __init__(self) -> None:
        self._held: dict[str, DataFrame] = {}
        self._cached: dict[str, DataFrame] = {}

    @property
    def names(self) -> frozenset[str]:
        """Return the names of the folders whose parts are in memory."""
        return frozenset(self._held) | frozenset(self._cached)

    def get(self, name: str, read: Callable[[], DataFrame]) -> DataFrame:
        """Return a part, which stays in memory once its rows were used.

        Args:
            name: of its folder.
            read: reads it from disk.
        """
        if name in self._held:
            return self._held[name]
        if name not in self._cached:
            self._cached[name] = read().persist(StorageLevel.MEMORY_ONLY)
        return self._cached[name]

    def hold(self, name: str, rows: DataFrame) -> None:
        """Hold the few rows of a part in this process, as it was just written."""
        self._held[name] = rows

    def keep(self, named: Collection[str | None]) -> None:
        """Let go of all parts but those that are ``named``."""
        for name in self.names - frozenset(named):
            self._held.pop(name, None)
            if name in self._cached:
                self._cached.pop(name).unpersist()
