"""What all streaming tables of a warehouse work with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyspark.sql import SparkSession

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.catalog.store import Catalog
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.streaming.delta.placement import Keeper
from warehouse.streaming.log import Commit

Report = Callable[[StreamingTableEntry, Commit], None]


class Binder(Protocol):
    """Returns the bound query of an entry; its names are looked up in ``catalog``, or in the one there is."""

    def __call__(self, entry: StreamingTableEntry, catalog: Catalog | None = None) -> StreamingQuery:
        """Return the query."""


@dataclass(frozen=True)
class Common:
    """What all streaming tables of a warehouse work with.

    Attributes:
        spark: the session from which theirs come.
        catalog: names them. home: the warehouse's folder.
        bind: returns the bound query of an entry, for tables that exist already.
        report: is told of every step.
        keeper: is told of the panes that are distributed.
    """

    spark: SparkSession
    catalog: Catalog
    home: Path
    bind: Binder
    report: Report
    keeper: Keeper
