"""The hot part of the state: what recent steps wrote stays in memory too, for the steps that follow.

It is made of the files and holds what they hold, survives nothing, and where memory runs short Spark lets go of it and
reads the files again (D-Streams, section 3.2: state in memory, with lineage to what is on disk).
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from pyspark import StorageLevel
from pyspark.sql import DataFrame

MOST_ROWS = 1_000_000
"""Base and deltas, or else the deltas alone, are in memory when they have no more rows, of some hundred bytes each."""


class Hot:
    """The parts of one table's state that are in memory, by the names of their folders."""

    def __init__(self) -> None:
        self._frames: dict[str, DataFrame] = {}

    @property
    def names(self) -> frozenset[str]:
        """Return the names of the folders whose parts are in memory."""
        return frozenset(self._frames)

    def get(self, name: str, read: Callable[[], DataFrame]) -> DataFrame:
        """Return a part, which stays in memory once its rows were used.

        Args:
            name: of its folder.
            read: reads it from disk.
        """
        if name not in self._frames:
            self._frames[name] = read().persist(StorageLevel.MEMORY_ONLY)
        return self._frames[name]

    def keep(self, named: Collection[str | None]) -> None:
        """Let go of all parts but those that are ``named``."""
        for name in self.names - frozenset(named):
            self._frames.pop(name).unpersist()
