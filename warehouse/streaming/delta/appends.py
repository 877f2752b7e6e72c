"""Appends to the Delta tables of a streaming table, each step's once however often the step runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from warehouse.execution.frames import append
from warehouse.streaming import faults
from warehouse.streaming.delta.late_table import OWN_STEP
from warehouse.streaming.delta.placement import Placement
from warehouse.streaming.log import Intent


@dataclass(frozen=True)
class Appends:
    """Writes what steps emit.

    Attributes:
        session: that reads what was written. folder: the streaming table's.
        placement: of its panes, None where they are not distributed.
    """

    session: SparkSession
    folder: Path
    placement: Placement | None

    def append(self, frame: DataFrame, kind: str, intent: Intent) -> bool:
        """Append the rows of a step unless it is repeated and did so before; say whether they were appended.

        Delta could tell by its ``txnVersion``, but looks that up in the whole table, in every step.
        """
        wanted = not intent.repeated or self.of_step(kind, intent.step).isEmpty()
        if wanted:
            self._append(frame, kind)
        faults.passed(kind)
        return wanted

    def _append(self, frame: DataFrame, kind: str) -> None:
        place, folder = self.placement, self.folder / kind
        if place is None or kind != "panes":
            append(frame, folder)
            return
        frame, in_place = place.placed(frame)
        append(frame, folder)
        faults.passed("placed")
        place.keeper.written(self.session, folder, place.distribution, in_place())

    def of_step(self, kind: str, number: int) -> DataFrame:
        """Return what a step has written to one of the tables."""
        stored = self.session.read.format("delta").load(str(self.folder / kind))
        return stored.where(F.col(OWN_STEP if OWN_STEP in stored.columns else "_step") == number)
