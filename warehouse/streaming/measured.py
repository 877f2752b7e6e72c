"""Figures about rows that are taken while the rows pass by, in the one pass that uses them."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame, Observation


class Measured:
    """Rows that are measured when they are first used.

    Attributes:
        frame: the rows; use these.
    """

    def __init__(self, rows: DataFrame, *measures: Column):
        self._rows, self._measures, self._watch = rows, measures, Observation()
        self.frame = rows.observe(self._watch, *measures)

    def figures(self) -> dict[str, Any]:
        """Return the measures by name, once ``frame`` was used in an action that succeeded.

        Where the optimizer saw that the action needs none of the rows (after a drain all of them may be late), it
        left the measuring out as well. Then the rows are read for it.
        """
        assert self._watch._jo is not None
        if self._watch._jo.getRow().length():
            return self._watch.get
        return self._rows.agg(*self._measures).collect()[0].asDict()
