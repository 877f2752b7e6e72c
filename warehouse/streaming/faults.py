"""Write boundaries, by name, at which a test may end the process.

Whatever is killed when, each input row counts exactly once: tests show it by dying at each boundary in turn.
``WAREHOUSE_FAULT=panes`` kills the process right after it has first written panes, ``panes:3`` the third time.
Where the variable is not set and no test has called ``arm``, a boundary costs one comparison.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

STEP = (
    "offered", "intent", "slices", "delta", "panes", "late_rows", "bad_rows", "slices_base", "base", "commit",
    "cleaned",
)  # fmt: skip
"""After: Spark has logged the batch, our intent, and each write of a step in its order."""

TABLE = (
    "folder", "entry", "view", "filled", "widened", "carried", "views_mended", "view_dropped", "entry_dropped",
    "bad_rows_forgotten",
)  # fmt: skip
"""After: each write of CREATE, CREATE OR REPLACE, REFRESH FULL, DROP and of the clean-up at a start."""

DISTRIBUTED = ("placed", "spread")
"""Of distributed panes only. After: a step writes some, before that is noted; a replacement writes all of them anew."""

SINK = ("produced", "sent", "noted")
"""Of a sink only. After: a step's records are handed to Kafka, their transaction is committed, that is noted here."""

UPKEEP = ("folded", "together")
"""After: old commit records are in a file of history, and still files of their own; small files of Delta are one."""

_wait: Callable[[str], None] | None = None


def passed(boundary: str) -> None:
    """Say that a write is done; does nothing unless a fault waits."""
    if _wait is not None:
        _wait(boundary)


def arm(fault: str | None, act: Callable[[], None] | None = None) -> None:
    """Wait for a boundary.

    Args:
        fault: ``boundary`` or ``boundary:count``; None waits for nothing any more.
        act: what happens there, once; without it the process dies as by ``kill -9``.
    """
    global _wait
    if fault is None:
        _wait = None
        return
    name, _, number = fault.partition(":")
    known = STEP + TABLE + DISTRIBUTED + SINK + UPKEEP
    if name not in known:
        raise ValueError(f"no boundary is called {name}: {', '.join(known)}")
    left = int(number or 1)

    def wait(boundary: str) -> None:
        nonlocal left
        left -= boundary == name
        if boundary == name and left == 0:
            (act or _die)()

    _wait = wait


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


arm(os.environ.get("WAREHOUSE_FAULT"))
