"""The slices of a streaming table on disk: one folder of Parquet files per step, which only add up.

What a step adds is written and never read with what was there before; steps in which windows fire read all slices
that these hold. A folder goes when the last window of its last slice has fired, and many small ones become one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from warehouse.dataflow import slices
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.times import BEGINNING, END, moment
from warehouse.execution.frames import Folders, figures, measured
from warehouse.execution.relations import Relations
from warehouse.streaming import faults
from warehouse.streaming.layout import quoted
from warehouse.streaming.log import Commit

Bounds = tuple[int | None, int | None]
"""The start of the first of some slices, and the end of the last one; None, None without any."""

Folder = list[int]
"""Of a folder of slices: how many, and the starts of the first and of the last one."""

MOST_FOLDERS = 30
"""Folders that may pile up before some are folded into one."""

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
        assert query.slicing
        self.folder, self.query, self.window = folder, query, query.slicing
        self.columns = (*slices.slice_columns(query), "step")
        self.folders = Folders()

    def write(self, relations: Relations, step: int, lasting: str, few: int) -> Folder | None:
        """Write what a step adds, the query ``lasting``; return what there is of it, None where it is nothing.

        Up to ``few`` slices are written in this process.

        What is whole already was written before a crash: it stays as it is.
        """
        name = _name(step)
        if (self.folder / name / "_SUCCESS").exists():
            folder = self._seen(relations.session, name)
        else:
            found, _ = relations.write("__w_slices", lasting, _FIGURES, self._path(name), few)
            folder = _folder(found)
        faults.passed("slices")
        return folder

    def added(self, commit: Commit, folder: Folder | None) -> Commit:
        """Return the record to write of a step that added a ``folder``, or none.

        Folders all of whose windows have fired are named no more.
        """
        known = {**commit.slices, **({_name(commit.step): folder} if folder else {})}
        known = {name: its for name, its in known.items() if self.window.end_of_last(its[2]) > commit.after}
        return _with(commit, known)

    def holding(self, session: SparkSession, commit: Commit, before: int, after: int) -> DataFrame | None:
        """Return the slices of windows that end in (``before``, ``after``], and perhaps more; None without any."""
        first = (before - self.window.size) // SAME_FILTER * SAME_FILTER
        last = -(-after // SAME_FILTER) * SAME_FILTER
        names = [name for name, (_, start, end) in commit.slices.items() if start <= last and end >= first]
        if not names:
            return None
        return self._read(session, *names).where(f"ws BETWEEN {first}L AND {last}L")

    def text(self, commit: Commit) -> str:
        """Return SQL for all slices of ``commit``; empty without any."""
        listed = ", ".join(self.columns)
        paths = (quoted(self._path(name)) for name in commit.slices)
        return " UNION ALL ".join(f"SELECT {listed} FROM parquet.{path}" for path in paths)

    def compacted(self, session: SparkSession, commit: Commit) -> Commit:
        """Fold the folders into one when they have piled up; return the commit record to write."""
        if len(commit.slices) <= MOST_FOLDERS:
            return commit
        folded = _newest(commit.slices)
        name = f"merged-{commit.step:09}"
        self._read(session, *folded).createOrReplaceTempView("__w_folded")
        merged = session.sql(slices.compacted(self.query, "__w_folded", moment(commit.after)))
        rows = measured(merged.sortWithinPartitions("ws"), _FIGURES)
        rows.frame.write.mode("overwrite").parquet(self._path(name))
        folder = _folder(rows.figures())
        faults.passed("slices_base")
        known = {older: its for older, its in commit.slices.items() if older not in folded}
        return _with(commit, {**known, **({name: folder} if folder else {})})

    def next_due(self, session: SparkSession, commit: Commit) -> int | None:
        """Return the end of the first window that fires after ``commit``, None where no slice waits for one."""
        if not commit.slices:
            return None
        due = slices.due(self.query, moment(commit.after))
        found: int | None = figures(self._read(session, *commit.slices), {"due": f"min({due})"})["due"]
        return found

    def known_until(self, commit: Commit) -> int:
        """Return the start of the last slice that there is as of ``commit``."""
        return max((last for _, _, last in commit.slices.values()), default=BEGINNING)

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

    def _seen(self, session: SparkSession, name: str) -> Folder | None:
        return _folder(figures(self._read(session, name), _FIGURES))

    def _read(self, session: SparkSession, *names: str) -> DataFrame:
        return self.folders.read(session, *map(self._path, names))

    def _path(self, name: str) -> str:
        return str(self.folder / name)


_FIGURES = {"rows": "count(1)", "first": "min(ws)", "last": "max(ws)"}


def _folder(found: dict[str, Any]) -> Folder | None:
    return [found["rows"], found["first"], found["last"]] if found["rows"] else None


def _name(step: int) -> str:
    return f"slices-{step:09}"


def _newest(folders: dict[str, Folder]) -> dict[str, Folder]:
    """Return the newest of ``folders`` as far as one has less than twice the rows of all after it.

    So what has piled up is not written again for every little that comes: as log-structured merge trees do it.
    """
    chosen: dict[str, Folder] = {}
    for name, its in reversed(folders.items()):
        if len(chosen) > 1 and its[0] >= 2 * sum(rows for rows, _, _ in chosen.values()):
            break
        chosen = {name: its, **chosen}
    return chosen


def _with(commit: Commit, known: dict[str, Folder]) -> Commit:
    return replace(commit, slices=known, slice_rows=sum(rows for rows, _, _ in known.values()))
