"""SQL texts that are run again and again over other rows: analysed once, and what changes is put into their plans.

Source: Spark's own streaming queries (``MicroBatchExecution``) put each micro-batch in the place of its source in one
analysed plan, under the identities that the plan knows its columns by.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from warehouse.execution import java_sources
from warehouse.execution.frames import SEPARATOR, Measured, named, parsed, write
from warehouse.execution.local_files import SOURCES


class Plans:
    """The plans of texts that are kept from one use to the next; of one streaming table, say."""

    def __init__(self, spark: SparkSession):
        self._java = java_sources.load(spark.sparkContext._gateway, SOURCES, "warehouse.execution.Plans").newInstance()

    def relations(self, session: SparkSession) -> Relations:
        """Return no relations yet, for texts that are run in ``session``."""
        return Relations(session, self._java.relations(session._jsparkSession))

    @property
    def count(self) -> int:
        """Return of how many texts it is known whether there is a plan to keep."""
        return int(self._java.size())


class Relations:
    """Relations by name, which SQL texts read as if they were views.

    No text may read what came of itself, as the columns of both would have the same identities.

    Attributes:
        session: in which texts are run.
    """

    def __init__(self, session: SparkSession, java: Any):
        self.session, self._java = session, java

    def put(self, name: str, rows: DataFrame) -> None:
        """Let ``name`` stand for ``rows`` from now on."""
        self._java.put(name, rows._jdf)

    def put_row(self, name: str, column: str, values: Mapping[str, int], constant: bool) -> None:
        """Let ``name`` stand for one row with one column, a struct of BIGINT fields.

        Spark plans a subquery over it without running it, and generates the same code whatever the values are. As a
        ``constant`` it becomes a literal in the plan, which is sooner planned where no code is generated.
        """
        self._java.putRow(name, column, list(values), list(values.values()), constant)

    def put_nothing(self, name: str, columns: Mapping[str, str]) -> None:
        """Let ``name`` stand for no rows, under the plans of texts that read held rows of the same columns next time.

        Args:
            name: the relation.
            columns: Spark's types by the columns' names.
        """
        self._java.putNothing(name, ", ".join(f"{column} {kind}" for column, kind in columns.items()))

    def hold(self, name: str, text: str, measures: Mapping[str, str], most: int) -> dict[str, Any] | None:
        """Let ``name`` stand for what a query comes to now, held in this process: what reads it starts no task.

        Over relations that are held, its plan is made once and filled with their rows each time.

        Returns:
            figures of the rows, SQL aggregates, by name; None, and ``name`` is as before, where there are more than
            ``most``.
        """
        told = self._java.hold(name, text, named(measures, SEPARATOR), most)
        return None if told is None else parsed(told)

    def write(
        self, name: str, text: str, measures: Mapping[str, str], folder: str, few: int
    ) -> tuple[dict[str, Any], DataFrame | None]:
        """Write what a query comes to into a folder of Parquet files, in the place of what was there.

        Args:
            name: what it comes to is held under, where it is few.
            text: the query.
            measures: SQL aggregates of its rows by name.
            folder: where.
            few: so many rows at most are held, and written without a task; 0 where there are likely more.

        Returns:
            the figures, and the rows where they are held.
        """
        found = self.hold(name, text, measures, few) if few else None
        if found is not None:
            rows = self[name]
            write(rows, folder)
            return found, rows
        watched = self.measured(text, measures)
        watched.frame.write.mode("overwrite").parquet(folder)
        return watched.figures(), None

    def __getitem__(self, name: str) -> DataFrame:
        """Return the rows of a relation."""
        return DataFrame(self._java.get(name), self.session)

    def sql(self, text: str) -> DataFrame:
        """Return the frame of a query."""
        return DataFrame(self._java.sql(text), self.session)

    def measured(self, text: str, measures: Mapping[str, str]) -> Measured:
        """Return the frame of a query with figures, SQL aggregates by name, that are taken as its rows pass by."""
        return Measured(
            self.session, measures, lambda watch, texts: self._java.measured(text, watch, texts), self._figures_of
        )

    def figures(self, relation: str, measures: Mapping[str, str]) -> dict[str, Any]:
        """Return figures of a relation, by SQL aggregates: numbers, arrays of numbers or None, by name."""
        return parsed(self._java.figures(f"SELECT {named(measures, ', ')} FROM {relation}"))

    def _figures_of(self, rows: DataFrame, measures: Mapping[str, str]) -> dict[str, Any]:
        self.put("__w_unmeasured", rows)  # the aggregates may read relations as well
        return self.figures("__w_unmeasured", measures)
