"""How the plans of a step run: over few rows, compiling code and starting tasks cost more than they save."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import SparkSession

from warehouse.streaming.log import Commit, Intent

FEW_ROWS = 20_000
FEW_BYTES = 64 * 1024
"""Of a source that tells its size no more than these are few rows, whatever the format."""


def are_few(intent: Intent, last: Commit, size: Callable[[], int]) -> bool:
    """Say whether a step has few rows, before these are looked at: from what the last one was like.

    Args:
        intent: the step's; a replay's steps, which are of no batch, are small.
        last: the commit before.
        size: tells about how many bytes the rows of the step are; asked where the last one had none.
    """
    return last.rows <= FEW_ROWS if last.rows or intent.batch is None else size() <= FEW_BYTES


@dataclass(frozen=True)
class Tuning:
    """Lets a session run the plans of steps.

    Attributes:
        partitions: of what is shuffled where there is much of it.
    """

    partitions: str

    def tune(self, session: SparkSession, small: bool) -> None:
        """Let plans be interpreted, and what is shuffled have one partition, or not."""
        session.conf.set("spark.sql.codegen.wholeStage", str(not small).lower())
        session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN" if small else "FALLBACK")
        session.conf.set("spark.sql.shuffle.partitions", "1" if small else self.partitions)
