"""Appends to the Delta tables of a streaming table, each step's once however often the step runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from warehouse.streaming import faults, panes
from warehouse.streaming.log import Intent


@dataclass(frozen=True)
class Appends:
    """Writes what steps emit.

    Attributes:
        session: that reads what was written. folder: the streaming table's.
    """

    session: SparkSession
    folder: Path

    def append(self, frame: DataFrame, kind: str, intent: Intent) -> bool:
        """Append the rows of a step unless it is repeated and did so before; say whether they were appended.

        Delta could tell by its ``txnVersion``, but looks that up in the whole table, in every step.
        """
        wanted = not intent.repeated or self.of_step(kind, intent.step).isEmpty()
        if wanted:
            panes.append(frame, self.folder / kind)
        faults.passed(kind)
        return wanted

    def of_step(self, kind: str, number: int) -> DataFrame:
        """Return what a step has written to one of the tables."""
        return self.session.read.format("delta").load(str(self.folder / kind)).where(F.col("_step") == number)
