"""The slices of a streaming table on disk: one folder of Parquet files per step, which only add up.

What a step adds is written and never read with what was there before; steps in which windows fire read all slices
that these hold. A folder goes when the last window of its last slice has fired, and many small ones become one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from warehouse.dataflow import slices
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.times import END
from warehouse.dataflow.windows import Sliding
from warehouse.streaming import faults
from warehouse.streaming.layout import quoted
from warehouse.streaming.log import Commit

Bounds = tuple[int | None, int | None]
"""The start of the first of some slices, and the end of the last one; None, None without any."""

MOST_FOLDERS = 10
"""Folders that may pile up before they are folded into one."""

SAME_FILTER = 1 << 23
"""Microseconds, eight seconds: the literals with which state is filtered, for the sake of Parquet's statistics, move
by as much, or every step would compile its reading anew. So some windows are read that are due later."""


class Slices:
    """The slices of one streaming table.

    Args:
        folder: of its state.
        query: one that keeps slices.
    """

    def __init__(self, folder: Path, query: WindowedQuery):
        assert isinstance(query.window, Sliding)
        self.folder, self.query, self.window = folder, query, query.window
        self.columns = (*slices.slice_columns(query), "step")

    def write(self, session: SparkSession, step: int, batch: str) -> None:
        """Write what a step adds, the view ``batch``, which afterwards is what stands in the files.

        What is whole already was written before a crash and may have been emitted from: it stays as it is.
        """
        path = self._path(_name(step))
        if (self.folder / _name(step) / "_SUCCESS").exists():
            session.read.parquet(path).createOrReplaceTempView(batch)
        else:
            session.table(batch).withColumn("step", F.lit(step).cast("bigint")).write.mode("overwrite").parquet(path)
        faults.passed("slices")

    def added(self, commit: Commit, rows: int, bounds: Bounds) -> Commit:
        """Return the record to write of a step that added ``rows`` slices, or none, within ``bounds``.

        Folders all of whose windows have fired are named no more.
        """
        known = {**commit.slices}
        if bounds[0] is not None and bounds[1] is not None:
            known[_name(commit.step)] = [rows, bounds[0], bounds[1] - self.window.slice]
        known = {name: its for name, its in known.items() if self.window.end_of_last(its[2]) > commit.after}
        return _with(commit, known)

    def holding(self, session: SparkSession, commit: Commit, before: int, after: int) -> DataFrame | None:
        """Return the slices of windows that end in (``before``, ``after``], and perhaps more; None without any."""
        first = (before - self.window.size) // SAME_FILTER * SAME_FILTER
        last = -(-after // SAME_FILTER) * SAME_FILTER
        names = [name for name, (_, start, end) in commit.slices.items() if start <= last and end >= first]
        if not names:
            return None
        found = session.read.parquet(*map(self._path, names)).where(f"ws BETWEEN {first}L AND {last}L")
        return found.select(*slices.slice_columns(self.query))

    def text(self, commit: Commit) -> str:
        """Return SQL for all slices of ``commit``; empty without any."""
        listed = ", ".join(self.columns)
        paths = (quoted(self._path(name)) for name in commit.slices)
        return " UNION ALL ".join(f"SELECT {listed} FROM parquet.{path}" for path in paths)

    def compacted(self, session: SparkSession, commit: Commit) -> Commit:
        """Fold the folders into one when they have piled up; return the commit record to write."""
        if len(commit.slices) <= MOST_FOLDERS:
            return commit
        name = f"merged-{commit.step:09}"
        merged = session.sql(slices.compacted(self.query, f"({self.text(commit)})", f"{commit.after}L"))
        merged.sortWithinPartitions("ws").write.mode("overwrite").parquet(self._path(name))
        faults.passed("slices_base")
        figures = F.count(F.lit(1)), F.min("ws"), F.max("ws")
        rows, first, last = session.read.parquet(self._path(name)).agg(*figures).collect()[0]
        return _with(commit, {name: [rows, first, last]} if rows else {})

    def next_due(self, session: SparkSession, commit: Commit) -> int | None:
        """Return the end of the first window that fires after ``commit``, None where no slice waits for one."""
        if not commit.slices:
            return None
        due = slices.due(self.query, f"{commit.after}L")
        return session.sql(self.text(commit)).agg(F.min(F.expr(due))).collect()[0][0]

    def firing(self, commit: Commit, added: Bounds, before: int, after: int) -> int:
        """Return how many windows a key may have that end in (``before``, ``after``].

        Args:
            commit: the newest; whose slices there are.
            added: of the slices that the step adds.
            before: the watermark before the step.
            after: the watermark after it.
        """
        starts = [start for _, first, last in commit.slices.values() for start in (first, last)]
        if added[0] is not None and added[1] is not None:
            starts += [added[0], added[1] - self.window.slice]
        if not starts or after <= before:
            return 0
        first = max(self.window.end_of_first(min(starts)), self.window.end_of_first(before))
        last = min(self.window.end_of_last(max(starts)), after)
        return max(0, (last - first) // self.window.every + 1)

    def due(self, first: int | None, after: int) -> int | None:
        """Return when windows of slices that start from ``first`` fire next; at once where that is not known."""
        if first is None or after >= END:
            return None
        end = max(self.window.end_of_first(first), self.window.end_of_first(after))
        return end if end <= self.window.end_of_last(first) else after + 1

    def _path(self, name: str) -> str:
        return str(self.folder / name)


def _name(step: int) -> str:
    return f"slices-{step:09}"


def _with(commit: Commit, known: dict[str, list[int]]) -> Commit:
    return replace(commit, slices=known, slice_rows=sum(rows for rows, _, _ in known.values()))
