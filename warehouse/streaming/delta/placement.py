"""Where the panes of a distributed streaming table belong: in the files of the partition that their keys hash to."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from warehouse.catalog.entries import Pairs, StreamingTableEntry, quote_name
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.times import bound_timestamp
from warehouse.execution.frames import measured
from warehouse.execution.session import enter
from warehouse.language.statements import Mode
from warehouse.planning.distribution import Distribution, read
from warehouse.streaming.layout import quoted

Placing = Callable[[DataFrame], tuple[DataFrame, Callable[[], bool]]]
"""Returns rows as they are to be written, and what says, when they are, whether each is in its partition."""

_ODD = "__w_odd"
_TIMES = re.compile(r"\b(?:date|timestamp)")
_UNIT, _CALENDAR = "spark.sql.parquet.outputTimestampType", "spark.sql.parquet.datetimeRebaseModeInWrite"
_BOUNDS = {"__w_start": bound_timestamp("__w_ws"), "__w_end": bound_timestamp("__w_we")}


class Keeper(Protocol):
    """Puts files of Delta tables together, and knows which version of a folder of panes was seen to be distributed."""

    def compact(self, session: SparkSession, folder: Path) -> None:
        """Put the small files of a table together that is not distributed."""

    def checkpoint(self, session: SparkSession, folder: Path, commits: int) -> str:
        """Write a checkpoint if so many commits came since the last; return Delta's own name of the table."""

    def open(self, folder: Path) -> None:
        """Take up what an earlier process knew of a folder."""

    def written(self, session: SparkSession, folder: Path, distribution: Distribution, in_place: bool) -> None:
        """Look at what a write has added; ``in_place``: its rows were seen to be in their partitions."""

    def look(self, session: SparkSession, folder: Path, distribution: Distribution) -> None:
        """Look at what was added since it was last looked, if anything."""

    def gather(self, session: SparkSession, folder: Path, distribution: Distribution, placing: Placing) -> None:
        """Put the small files of each partition together, and rows that are not in theirs where they belong."""

    def spread(self, session: SparkSession, folder: Path, distribution: Distribution, placing: Placing) -> None:
        """Write all files anew."""


@dataclass(frozen=True)
class Placement:
    """How the panes of a streaming table are put where they belong.

    Attributes:
        distribution: by what, over how many partitions.
        filled: the keys that a superseded pane, which has no values, gets from its identity: as SQL by name.
        keeper: is told of each write.
    """

    distribution: Distribution
    filled: Pairs
    keeper: Keeper

    def placed(self, panes: DataFrame) -> tuple[DataFrame, Callable[[], bool]]:
        """Place rows of ``panes``; see ``Placing``. The task that writes a row is asked whether it belongs there."""
        for name, sql in self.filled:
            panes = panes.withColumn(
                name, F.expr(f"CASE WHEN _change_type = 'superseded' THEN {sql} ELSE {quote_name(name)} END")
            )
        keys, count = [F.col(quoted(k)) for k in self.distribution.keys], self.distribution.partitions
        there = F.pmod(F.hash(*keys), F.lit(count)).eqNullSafe(F.spark_partition_id())
        spread = panes.repartition(count, *keys).withColumn(_ODD, ~there)
        watched = measured(spread, {"odd": f"count_if({_ODD})"})
        kept = _keeps(panes.sparkSession, self.distribution.types)
        return watched.frame.drop(_ODD), lambda: kept and watched.figures()["odd"] == 0

    def look(self, session: SparkSession, folder: Path) -> None:
        """Have looked at what was written past the steps, or by one that was killed before it was noted."""
        self.keeper.look(session, folder, self.distribution)

    def gather(self, session: SparkSession, folder: Path) -> None:
        """Have the small files put together; by a thread that has entered the session."""
        self.keeper.gather(session, folder, self.distribution, self.placed)

    def spread(self, session: SparkSession, folder: Path) -> None:
        """Have all panes put where they belong."""
        enter(session)
        self.keeper.spread(session, folder, self.distribution, self.placed)


def placement(entry: StreamingTableEntry, block: WindowedQuery | None, keeper: Keeper) -> Placement | None:
    """Return how the panes of a streaming table are placed; None where they come as they are."""
    distribution = read(entry.distribution)
    if distribution is None:
        return None
    filled = []
    if block and block.mode is Mode.ACCUMULATING:
        for key in distribution.keys:
            shown = block.identity(key)
            assert shown, "a key that planning would have refused"
            filled.append((key, _BOUNDS.get(shown, f"__w_key.{shown.removeprefix('__w_')}")))
    return Placement(distribution, tuple(filled), keeper)


def _keeps(session: SparkSession, types: Iterable[str]) -> bool:
    """Say whether files have values as rows do: times in microseconds, and days by the calendar of today."""
    if not any(map(_TIMES.search, types)):
        return True
    unit, calendar = session.conf.get(_UNIT), session.conf.get(_CALENDAR)
    return (unit or "").upper() == "TIMESTAMP_MICROS" and (calendar or "").upper() != "LEGACY"
