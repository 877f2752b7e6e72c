"""Work that can follow the commit of a step: the small files that steps left in Delta tables become larger ones.

Readers lose nothing: a compaction moves rows and changes none, which a stream over the table skips, and the files that
it replaces stay for ``delta_tables.RETAINED`` hours, as the commits do, for whoever reads an older version, and longer
for a streaming table that has yet to read them.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import SparkSession

from warehouse.execution.session import enter
from warehouse.execution.spark_errors import RAISED
from warehouse.streaming import faults
from warehouse.streaming.delta import delta_log, delta_tables
from warehouse.streaming.delta.placement import Keeper, Placement
from warehouse.streaming.log import Commit

STEPS = 64
"""Steps from one compaction to the next."""
CHECKPOINTED = 100
"""Commits from one checkpoint to the next at least."""

_log = logging.getLogger(__name__)
_cleaned: dict[Path, float] = {}
"""When the files of a table that were replaced were last removed, in seconds of the machine's own."""
_guards: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)


def guard(table: Path) -> threading.Lock:
    """Return what whoever rewrites a Delta table of several streaming tables holds meanwhile."""
    return _guards[table]


def after(
    session: SparkSession, folder: Path, last: Commit, record: Commit, keeper: Keeper, placement: Placement | None,
    aside: Iterable[Path] = (),
) -> None:  # fmt: skip
    """Do what is due after the step ``record``, which followed ``last``.

    What fails here is tried again later: the step stands.

    Args:
        session: of the steps.
        folder: the streaming table's.
        last: the commit record before.
        record: the newest commit record.
        keeper: puts files together.
        placement: of the panes, whose files are put together partition by partition; None: with no regard to it.
        aside: the Delta tables of bad rows to which it adds.
    """
    if record.step // STEPS == last.step // STEPS:
        return
    enter(session)
    for table in filter(delta_tables.exists, (folder / "panes", folder / "late_rows", *aside)):
        try:
            with guard(table):
                if placement and table == folder / "panes":
                    placement.gather(session, table)
                else:
                    keeper.compact(session, table)
                faults.passed("together")
                _forget(session, folder.parent.parent, table, keeper.checkpoint(session, table, CHECKPOINTED))
        except (*RAISED, OSError) as error:
            _log.warning("upkeep of %s: %s", table, error)


def _forget(session: SparkSession, home: Path, table: Path, identity: str) -> None:
    """Remove what nobody reads any more: old commits, and, a few times in ``RETAINED`` hours, files replaced before.

    Args:
        session: of the steps.
        home: the warehouse folder.
        table: the Delta table.
        identity: Delta's own of it.
    """
    needed = delta_log.needed_by_readers(home, identity)
    retained, now = delta_tables.RETAINED * 3600, time.monotonic()
    old = delta_log.newest_version(table, retained)
    is_due = table not in _cleaned or now - _cleaned[table] >= retained / 4
    if is_due and (needed is None or needed >= old) and _has_files(table, retained):
        session.sql(f"VACUUM {delta_tables.relation(table)}").collect()
        _cleaned[table] = now
    delta_log.trim(table, old, needed)


def _has_files(table: Path, age: float) -> bool:
    """Say whether a Delta table has files of rows, read by anybody or not, that are older than so many seconds."""
    until = time.time() - age
    found = (f for f in table.rglob("*.parquet") if f.parent.name != "_delta_log")
    return any(file.stat().st_mtime <= until for file in found)
