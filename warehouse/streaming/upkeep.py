"""Work that can follow the commit of a step: the small files that steps left in Delta tables become larger ones.

Readers lose nothing: a compaction moves rows and changes none, which a stream over the table skips, and the files that
it replaces stay until Delta's own retention (a week) has passed for whoever reads an older version.
"""

from __future__ import annotations

import logging
from pathlib import Path

from pyspark.sql import SparkSession

from warehouse.execution.spark_errors import RAISED
from warehouse.streaming import faults, panes
from warehouse.streaming.log import Commit
from warehouse.streaming.placement import Placement

STEPS = 64
"""Steps from one compaction to the next."""
VACUUMED = 64 * STEPS
"""Steps from one removal of files that compactions replaced, and are older than the retention, to the next."""

SETTINGS = {
    # what is this large stays as it is: a compaction costs no more because there is much already
    "spark.databricks.delta.optimize.minFileSize": str(64 << 20),
    "spark.databricks.delta.optimize.maxFileSize": str(128 << 20),
}

_TOGETHER = "OPTIMIZE {}"
_log = logging.getLogger(__name__)


def after(session: SparkSession, folder: Path, last: Commit, record: Commit, placement: Placement | None) -> None:
    """Do what is due after the step ``record``, which followed ``last``.

    What fails here is tried again later: the step stands.

    Args:
        session: whose settings include ``SETTINGS``.
        folder: the streaming table's.
        last: the commit record before.
        record: the newest commit record.
        placement: of the panes, whose files are put together partition by partition; None: with no regard to it.
    """
    for steps, text in ((STEPS, _TOGETHER), (VACUUMED, "VACUUM {}")):
        if record.step // steps == last.step // steps:
            continue
        for kind in ("panes", "late_rows"):
            if panes.exists(folder / kind):
                try:
                    if placement and (kind, text) == ("panes", _TOGETHER):
                        placement.gather(session, folder / kind)
                    else:
                        session.sql(text.format(panes.delta_path(folder / kind))).collect()
                    faults.passed("together")
                except (*RAISED, OSError) as error:
                    _log.warning("%s of %s: %s", text.partition(" ")[0], folder.name, error)
