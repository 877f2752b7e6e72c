"""What the steps of one streaming table work with, whatever its query is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.dataflow.times import BEGINNING, END
from warehouse.execution.relations import Plans, Relations
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.streaming.delta.appends import Appends
from warehouse.streaming.log import Commit, Intent
from warehouse.streaming.steps import rejected
from warehouse.streaming.steps.inputs import NOTHING, Inputs, Seen


@dataclass(frozen=True)
class Parts:
    """What every step of one streaming table works with.

    Attributes:
        home: the warehouse's folder. folder: the table's own.
        entry, query: what the catalog says of it, and what its text means.
        session: what steps run in that have no rows.
        plans, inputs: the texts of its steps and of its sources, analysed once.
        appends: writes its panes and late rows.
    """

    home: Path
    folder: Path
    entry: StreamingTableEntry
    query: StreamingQuery
    session: SparkSession
    plans: Plans
    inputs: Inputs
    appends: Appends

    def relations(self, frames: list[DataFrame] | None) -> Relations:
        """Return the relations of a step, in the session of its rows."""
        return self.plans.relations(frames[0].sparkSession if frames else self.session)

    def watermarks(self, intent: Intent, last: Commit, seen: list[Seen]) -> tuple[dict[str, int], int]:
        """Return the watermark of each source, and the query's after the step: the least, and never going back."""
        if intent.complete:
            return {}, END
        found: dict[str, int] = {}
        for number, source in enumerate(self.query.sources):
            its = seen[number] if seen else NOTHING
            candidates = [last.watermarks.get(str(number), BEGINNING), intent.given.get(str(number), BEGINNING)]
            if source.watermark and its.high is not None and str(number) not in intent.given:
                candidates.append(its.high - source.watermark[1])
            found[str(number)] = max(candidates)
        after = max(intent.before, min(found.values(), default=BEGINNING))
        return found, END if intent.drain else after

    def arrived(self, intent: Intent, last: Commit, seen: list[Seen]) -> dict[str, int]:
        """Return when rows of each source came last, as of a step: see ``Commit.arrived``."""
        before = last.arrived or {str(number): intent.now for number, _ in enumerate(seen)}
        return before | {str(number): intent.now for number, its in enumerate(seen) if its.rows}

    def set_aside(
        self, frames: list[DataFrame] | None, relations: Relations, intent: Intent, seen: list[Seen],
        untimed: dict[str, int],
    ) -> int:  # fmt: skip
        """Set aside the bad rows of a step, those in the relations ``untimed`` among them; return how many."""
        if frames is None:
            return 0
        untimed = untimed | rejected.unassigned(self.query, relations)
        return rejected.keep(self.query, self.entry, self.home, intent, frames, relations, seen, untimed)
