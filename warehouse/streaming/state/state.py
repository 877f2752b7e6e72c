"""State on disk: a compacted base and one delta per step, as Parquet files that are never changed.

The identity of a row is (keys, ws) and the newest step wins. A step reads the base where its rows hit or
something is due, which Parquet's statistics narrow down, and all of the deltas, which are few and small.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from warehouse.dataflow import slices, state_columns
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.times import BEGINNING, Clock
from warehouse.dataflow.windows import Custom, merges
from warehouse.errors import fail
from warehouse.execution.frames import Folders, alike, figures, held, measured, selected, united, write
from warehouse.execution.types import type_text
from warehouse.streaming import faults
from warehouse.streaming.log import Commit, is_reached
from warehouse.streaming.state.hot import MOST_ROWS, Hot
from warehouse.streaming.state.slices import SAME_FILTER, Slices

MOST_DELTAS = 10
"""Deltas that may pile up before they are folded, into a new base or into one of them."""
LITTLE = 16
"""Deltas of less than one in so many rows of the base are folded among themselves: the base is dear to write."""

_UNSURE = ("float", "double", "collate")
"""In the types of keys: there are two zeros, many NaNs, and texts that are the same but for their case."""

FEW_HITS, SMALL_BASE = 200_000, 50_000
"""Up to so many windows hit by a batch, a base of more than so many rows is joined with them before it is shuffled."""


class State:
    """The state files of one streaming table.

    Attributes:
        slices: of the windows that have not fired; None where these are like all others.
        hot: what is in memory of it.
    """

    def __init__(self, folder: Path, query: WindowedQuery):
        self.folder, self.query = folder, query
        self.slices = Slices(folder, query) if query.slicing else None
        self.columns = list(state_columns.state_columns(query))
        self.hot = Hot()
        self.deltas, self.bases = Folders(), Folders()

    def path(self, name: str) -> str:
        """Return the path of a base or a delta."""
        return str(self.folder / name)

    def read(self, spark: SparkSession, *names: str) -> DataFrame:
        """Return the rows of a base, or of some deltas, which have more columns than a base."""
        folders = self.bases if names[0].startswith("base") else self.deltas
        return folders.read(spark, *map(self.path, names))

    def delta_name(self, number: int) -> str:
        """Return the folder name of a step's delta."""
        return f"delta-{number:09}"

    def is_whole(self, name: str) -> bool:
        """Say whether a base or a delta is there and was written to its end."""
        return (self.folder / name / "_SUCCESS").exists()

    def touched(
        self, spark: SparkSession, last: Commit, clock: Clock, hits: DataFrame | None, bounds: tuple
    ) -> DataFrame | None:
        """Return all versions of the state rows that a step can touch, or None when there is no state.

        Args:
            spark: the step's session.
            last: the newest commit record.
            clock: the step's times.
            hits: the batch's windows, when they are few; else None.
            bounds: least start and greatest end of the batch's windows, (None, None) without rows.
        """
        self.check(last)
        base = [self._base(spark, last, clock, hits, bounds)] if last.base else []
        return _together(spark, *base, *self._deltas(spark, last))

    def all(self, spark: SparkSession, commit: Commit) -> DataFrame | None:
        """Return all versions of all state rows as of ``commit``, or None when there are none."""
        self.check(commit)
        base = [self._whole_base(spark, commit)] if commit.base else []
        return _together(spark, *base, *self._deltas(spark, commit))

    def _base(
        self, spark: SparkSession, last: Commit, clock: Clock, hits: DataFrame | None, bounds: tuple
    ) -> DataFrame:
        base = self._whole_base(spark, last)
        due = F.expr(state_columns.is_due(clock.rounded_up(SAME_FILTER).literals()))
        low, high = bounds
        if low is None:
            return base.where(due)
        # sessions that only touch a row's proto-session are not hit: half-open on both sides
        near = f"we > {low // SAME_FILTER * SAME_FILTER}L AND ws < {-(-high // SAME_FILTER) * SAME_FILTER}L"
        is_merging = merges(self.query.window)
        any_reach = is_merging and isinstance(self.query.window, Custom)  # its own merge says what is near
        within = F.expr("true" if any_reach else near)
        if hits is None or last.base_rows <= SMALL_BASE:
            return base.where(due | within)
        if not _may_be_due(last, clock):
            return self._hit(base.where(within), hits, any_reach)
        return base.where(due).unionByName(self._hit(base.where(within & ~due), hits, any_reach))

    def _hit(self, base: DataFrame, hits: DataFrame, any_reach: bool) -> DataFrame:
        """Return the rows of the base that the windows ``hits`` hit, and maybe a few others.

        They are looked up by a hash each, where values that are the same are sure to have the same; else as rows.
        """
        keys, is_merging = list(self.query.key_columns), merges(self.query.window)
        identity = keys if is_merging else [*keys, "ws"]
        if identity and not any(word in kind.lower() for kind in self.query.keys for word in _UNSURE):
            return alike(base, hits, f"xxhash64({', '.join(identity)})")
        wanted, same = [f"{c} AS h_{c}" for c in identity], [f"{c} <=> h_{c}" for c in identity]
        if is_merging:
            hits = hits.groupBy(*keys).agg(F.min("ws").alias("h_ws"), F.max("we").alias("h_we"))
            wanted += ["h_ws", "h_we"]
            same += [] if any_reach else ["ws < h_we", "h_ws < we"]
        few = F.broadcast(hits.selectExpr(*wanted).distinct())
        return base.join(few, F.expr(" AND ".join(same) or "true"), "left_semi")

    def _whole_base(self, spark: SparkSession, commit: Commit) -> DataFrame:
        base = commit.base or ""

        def read() -> DataFrame:
            return selected(self.read(spark, base), *self.columns)

        if commit.window_rows > MOST_ROWS:
            return read()
        return self.hot.get(base, read)

    def _deltas(self, spark: SparkSession, commit: Commit) -> list[DataFrame]:
        def read(*names: str) -> DataFrame:
            return self._versions(self.read(spark, *names))

        if not commit.deltas:
            return []
        if commit.delta_rows > MOST_ROWS:
            return [read(*commit.deltas)]
        return [self.hot.get(name, partial(read, name)) for name in commit.deltas]

    def _versions(self, deltas: DataFrame) -> DataFrame:
        """Return the rows of state that deltas hold, with those that say of a session that another one took it in."""
        deltas = deltas.where("NOT momentary")
        rows = selected(deltas, *self.columns)
        if not merges(self.query.window):
            return rows
        gone = {"ws": "explode(vanished) AS ws", "dropped": "true AS dropped"}
        taken_in = selected(deltas.where("size(vanished) > 0"), *(gone.get(c, c) for c in self.columns))
        return rows.unionByName(taken_in)

    def hold(self, delta: str, rows: DataFrame) -> None:
        """Let the steps that follow find a delta, of which the rows are held, in memory."""
        self.hot.hold(delta, united(rows.sparkSession, [self._versions(rows)]))

    def live(self, spark: SparkSession, commit: Commit) -> DataFrame | None:
        """Return the live windows as of ``commit``, or None when there never were any."""
        windows = self._live(spark, commit)
        if self.slices is None or not commit.slices:
            return windows
        known = None
        if windows is not None:
            known = self._view("windows")
            windows.createOrReplaceTempView(known)
        return spark.sql(self.with_slices(commit, known))

    def with_slices(self, commit: Commit, windows: str | None) -> str:
        """Return SQL for all live windows: the relation ``windows`` of those that are whole, and those in slices."""
        assert self.slices
        waiting = slices.live(self.query, f"({self.slices.text(commit)})", f"{commit.after}L")
        if windows is None:
            return waiting
        both = f"SELECT * FROM {windows} UNION ALL {waiting}"
        return slices.united(self.query, f"({both})") if commit.after < commit.unfired else both

    def _live(self, spark: SparkSession, commit: Commit) -> DataFrame | None:
        """Return the live windows that base and deltas hold."""
        whole = self.all(spark, commit)
        if whole is None:
            return None
        view = self._view("live")
        whole.createOrReplaceTempView(view)
        return spark.sql(state_columns.newest(self.query, view))

    def _view(self, what: str) -> str:
        return f"__w_{what}_{self.folder.parent.name.replace('-', '_')}"

    def compacted(self, spark: SparkSession, commit: Commit, drained: bool, few: int) -> Commit:
        """Fold deltas, and slices, that have piled up, at a DRAIN all of them; return the commit record to write.

        Up to ``few`` windows are held in this process as they are written.
        """
        if self.slices:
            commit = self.slices.compacted(spark, commit)
        if not drained:
            if len(commit.deltas) <= MOST_DELTAS and commit.delta_rows <= max(200_000, 2 * commit.base_rows):
                return commit
            if commit.delta_rows * LITTLE < commit.base_rows:
                return self._with_one_delta(spark, commit)
        live = self._live(spark, commit)
        return commit if live is None else self.with_base(commit, live, commit.delta_rows, few)

    def _with_one_delta(self, spark: SparkSession, commit: Commit) -> Commit:
        """Write what the deltas say of each window last as one that takes their place; return the record to write."""
        name, view = f"folded-{commit.step:09}", self._view("deltas")
        versions = united(spark, self._deltas(spark, commit))
        versions.createOrReplaceTempView(view)
        last = spark.sql(state_columns.newest(self.query, view, dropped=True))
        same = {"momentary": "false AS momentary", **{c: c for c in self.columns}}
        fields = self.read(spark, *commit.deltas).schema
        rest = (f"CAST(NULL AS {type_text(f.dataType)}) AS {f.name}" for f in fields if f.name not in same)
        one = measured(selected(last, *same.values(), *rest), {"rows": "count(1)"})
        one.frame.write.mode("overwrite").parquet(self.path(name))
        faults.passed("base")
        return replace(commit, deltas=(name,), delta_rows=one.figures()["rows"])

    def with_base(self, commit: Commit, live: DataFrame, about: int, few: int = 0) -> Commit:
        """Write the live windows as the base of a step; return the commit record to write.

        Args:
            commit: of the step.
            live: all live windows, in the columns of the state.
            about: how many rows there may be.
            few: so many at most are held in this process; 0 where there are likely more.
        """
        name = f"base-{commit.step:09}"
        order = ["we", *self.query.key_columns]
        measures = {
            "rows": "count(1)", "due": "min(due_wm)",
            "unfired": f"max(CASE WHEN we > {commit.after}L THEN we ELSE {BEGINNING}L END)",
        }  # fmt: skip
        # the live view partitions by key: sorting it into ranges of window ends lets a step skip row groups
        ordered = live.repartitionByRange(max(1, about // 500_000), *order).sortWithinPartitions(*order)
        base = measured(ordered, measures)
        rows = held(base.frame, few) if few else None
        if rows is not None:
            write(rows, self.path(name))
            self.hot.hold(name, rows)
        else:
            # few rows hit most of its pages: taking compressed ones apart costs more than their bytes
            base.frame.write.option("compression", "uncompressed").mode("overwrite").parquet(self.path(name))
        faults.passed("base")
        found = base.figures()
        unfired = BEGINNING if found["unfired"] is None else found["unfired"]
        return replace(
            commit, base=name if found["rows"] else None, deltas=(), base_rows=found["rows"], delta_rows=0,
            unfired=unfired, due_windows=found["due"],
        )  # fmt: skip

    def with_dues(self, spark: SparkSession, commit: Commit) -> Commit:
        """Return ``commit`` with the next dues after it looked up in the state."""
        waiting = self.slices.next_due(spark, commit) if self.slices else None
        parts = [names for names in (commit.deltas, (commit.base,) if commit.base else ()) if names]
        whole = _together(
            spark, *(selected(self.read(spark, *names), "dropped", "due_wm", "due_at") for names in parts)
        )
        if whole is None:
            return replace(commit, due_watermark=waiting, due_windows=None, due_clock=None)
        # old versions may answer too: an idle look is harmless, a missed one is not
        found = figures(
            whole,
            {
                "due_wm": f"min(CASE WHEN NOT dropped AND due_wm > {commit.after}L THEN due_wm END)",
                "due_at": f"min(CASE WHEN NOT dropped AND due_at > {commit.now}L THEN due_at END)",
            },
        )
        due_watermark = min((due for due in (waiting, found["due_wm"]) if due is not None), default=None)
        return replace(
            commit, due_watermark=due_watermark, due_windows=found["due_wm"], due_clock=found["due_at"]
        )  # fmt: skip

    def listed(self, commit: Commit, last: Commit) -> Commit:
        """Return the commit record to write with the files of its state; ``last`` lists those written before."""
        names = (*((commit.base,) if commit.base else ()), *commit.deltas, *commit.slices)
        files = {name: last.files.get(name) or self._files(name) for name in names}
        return replace(commit, files=files, state_bytes=sum(size for its in files.values() for size in its.values()))

    def check(self, commit: Commit) -> None:
        """Look whether the files of the state are all there and as long as they were; what they hold, Hadoop checks.

        Raises:
            WarehouseError: they are not: rows would be missing from windows without anybody noticing.
        """
        self.check_format(commit)
        for name, known in commit.files.items():
            found = self._files(name)
            if found == known:
                continue
            wrong = min(file for file in known | found if known.get(file) != found.get(file))
            reason = f"{name}/{wrong} has {found.get(wrong, 0)} bytes, not {known.get(wrong, 0)}"
            fail("WAREHOUSE_STATE_DAMAGED", folder=self.folder.parent.name, reason=reason)

    def check_format(self, commit: Commit) -> None:
        """Refuse a state of an earlier version that kept the rows where partial results are kept now.

        Raises:
            WarehouseError: it is one.
        """
        holds = commit.base or commit.deltas or commit.slices
        if holds and any(commit.format < partial.since for partial in self.query.parts.partials):
            fail("WAREHOUSE_STATE_OLDER", folder=self.folder.parent.name, version=commit.format)

    def _files(self, name: str) -> dict[str, int]:
        return {file.name: file.stat().st_size for file in (self.folder / name).glob("*.parquet")}

    def discard(self, step: int) -> None:
        """Remove what a step wrote that has no commit record, and that no later one of its number is to take up."""
        for folder in self.folder.glob(f"*-{step:09}"):
            shutil.rmtree(folder)

    def clean(self, kept: list[Commit]) -> None:
        """Remove the files that none of the ``kept`` commit records names and that no step is writing."""
        named = {n for c in kept for n in (*c.deltas, c.base, *c.slices)}
        newest = max((c.step for c in kept), default=0)
        self.hot.keep(named)
        for folder in self.folder.glob("*-*"):
            number = int(folder.name.rpartition("-")[2])
            if folder.name not in named and number <= newest:
                shutil.rmtree(folder, ignore_errors=True)


def _together(spark: SparkSession, *parts: DataFrame) -> DataFrame | None:
    return united(spark, parts) if parts else None


def _may_be_due(last: Commit, clock: Clock) -> bool:
    """Say whether a window that ``last`` knows may be due at a clock, be it one in the base or not."""
    return is_reached(last.due_windows, clock.after) or is_reached(last.due_clock, clock.now) or bool(clock.faster)
