"""Runs the steps of one streaming table: rows in, windows merged, panes out, each exactly once.

A step writes in this order: intent, state delta, panes, late and bad rows, commit record. Whatever is killed
when, the next run finds the newest commit record, repeats the step that has none under its logged clock, and
writes nothing twice.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.dataflow.times import BEGINNING
from warehouse.errors import fail
from warehouse.execution.relations import Plans
from warehouse.execution.spark_errors import RAISED
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.streaming import faults
from warehouse.streaming.delta import changes, joined, upkeep
from warehouse.streaming.delta.appends import Appends
from warehouse.streaming.delta.placement import Keeper, placement
from warehouse.streaming.log import START, Commit, Intent, StepLog, table_folder
from warehouse.streaming.state.state import State
from warehouse.streaming.steps import rejected
from warehouse.streaming.steps.inputs import Inputs
from warehouse.streaming.steps.parts import Parts
from warehouse.streaming.steps.stateless import Stateless
from warehouse.streaming.steps.tuning import Tuning
from warehouse.streaming.steps.windowed import Windowed

Report = Callable[[Commit], None]

SETTINGS = {
    # every stage of a small step would become a job of its own
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # what is stored lives for one step, and finding the best scheme for each column takes longer than it saves
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
}
"""What a step's session differs in from a user's: no user's SET can change what a step computes."""


class Runner:
    """Runs steps of one streaming table; one step at a time, whoever asks."""

    def __init__(
        self, spark: SparkSession, home: Path, entry: StreamingTableEntry, query: StreamingQuery, report: Report,
        keeper: Keeper,
    ):  # fmt: skip
        folder, session = table_folder(home, entry), spark.newSession()
        for key, value in SETTINGS.items():
            session.conf.set(key, value)
        if spark.catalog.databaseExists(entry.current):
            session.catalog.setCurrentDatabase(entry.current)
        plans = Plans(session)
        appends = Appends(session, folder, placement(entry, query.windowed, keeper))
        self.parts = Parts(home, folder, entry, query, session, plans, Inputs(query, plans), appends)
        self.state, tuning = None, Tuning(spark.conf.get("spark.sql.shuffle.partitions"))
        self.step: Windowed | Stateless = Stateless(self.parts, tuning)
        if query.windowed:
            self.state = State(folder / "state", query.windowed)
            self.step = Windowed(self.parts, query.windowed, self.state, tuning)
        self.log, self.report, self.keeper = StepLog(folder, entry.revision), report, keeper
        self.lock = threading.Lock()
        self._looked_up = START, START
        """A commit record, and the same with the dues that the state has: they are looked up once between two steps."""
        self.meanwhile: Executor | None = None
        """Does what need not be done when the next step begins; None: it is done before."""

    def run(self, intent: Intent, frames: list[DataFrame] | None) -> Commit:
        """Run one step and commit it.

        Args:
            intent: recorded before; its clock is the only time the step sees.
            frames: per source the rows of the step in the layout of ``streaming.layout``; None: no rows.
        """
        started = time.monotonic()
        last, parts, query = self.log.last(), self.parts, self.parts.query
        begun = last.step > 0 or intent.repeated
        if table := joined.changed(parts.folder, query.joined, begun) if query.joined else None:
            fail("WAREHOUSE_JOINED_TABLE_CHANGED", table=table, name=parts.entry.name)
        if frames:
            frames = [changes.restored(f, parts.home, s) for f, s in zip(frames, query.sources, strict=True)]
        with ExitStack() as kept:
            try:
                record = self.step.computed(intent, last, frames, kept)
            except RAISED as error:
                again = replace(intent, repeated=True)
                record = self.step.computed(again, last, parts.inputs.without_poison(error, frames), kept)
        record = replace(record, seconds=round(time.monotonic() - started, 3))
        self.log.commit(record)
        faults.passed("commit")
        if self.state:
            self.state.clean(self.log.recent())
            faults.passed("cleaned")
        self._follow(last, record)
        self.report(record)
        return record

    def pass_by(self, intent: Intent, last: Commit) -> Commit:
        """Commit a record in which only the clock and the watermark move and nothing is due.

        Args:
            intent: with the number of ``last`` itself where that is such a record, which this one takes the place of.
            last: the newest commit record, with its dues as far as they are known.
        """
        watermarks, after = self.parts.watermarks(intent, last, [])
        record = last.idle(
            step=intent.step, now=intent.now, before=intent.before,
            after=BEGINNING if intent.complete else after, watermarks=watermarks,
        )  # fmt: skip
        self.log.commit(record)
        self._follow(last, record)
        return record

    def _follow(self, last: Commit, record: Commit) -> None:
        """Do what is due after a commit, beside what comes next where that is possible."""
        parts = self.parts
        aside = rejected.folders(parts.query, parts.entry, parts.home)
        place = parts.appends.placement
        follow = partial(upkeep.after, parts.session, parts.folder, last, record, self.keeper, place, aside)
        if self.meanwhile:
            self.meanwhile.submit(follow)
        else:
            follow()

    def forget(self) -> None:
        """Let go of what is in memory of the state; a step that still comes reads it again."""
        if self.state:
            self.state.hot.keep(())

    def dues(self, last: Commit) -> Commit:
        """Return ``last`` with the dues that are known no better than "from now on" looked up in the state."""
        if self.state is None or (last.due_watermark != last.after + 1 and last.due_clock != last.now + 1):
            return last
        if last != self._looked_up[0]:
            self._looked_up = last, self.state.with_dues(self.parts.session, last)
        return self._looked_up[1]
