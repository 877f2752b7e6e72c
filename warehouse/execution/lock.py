"""Exactly one engine per warehouse folder.

Two files are locked. ``engine.lock`` belongs to this process and tells at once whether another one serves the
folder. ``engine.jvm.lock`` is inherited by the JVM: an open file stays locked until the last process that has
it ends, so a JVM whose Python was killed keeps the folder until it is gone too, and a successor waits for it.
The operating system drops both locks with their processes; there is nothing to clean up after a crash.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from warehouse.errors import fail

OURS = "engine.lock"
INHERITED = "engine.jvm.lock"

_PATIENCE_OURS = 0.5  # covers a look by ``holder``, and a predecessor in its last breath
_PATIENCE_INHERITED = 15.0


@dataclass(frozen=True)
class Holder:
    """Who serves a folder: its process id and when it began, in ISO 8601."""

    pid: int
    started: str


@dataclass(frozen=True)
class Lock:
    """A folder held by this process.

    Attributes:
        folder: the folder.
        ours: descriptor that stays in this process.
        inherited: descriptor for the JVM to inherit.
    """

    folder: Path
    ours: int
    inherited: int


def acquire(folder: Path, patience: float = _PATIENCE_INHERITED) -> Lock:
    """Take the folder for this process; waits up to ``patience`` seconds for a JVM left behind to go.

    Raises:
        WarehouseError: another process serves the folder.
    """
    ours = _open(folder / OURS)
    if not _lock(ours, _PATIENCE_OURS):
        os.close(ours)
        _refuse(folder)
    inherited = _open(folder / INHERITED)
    if not _lock(inherited, patience):
        os.close(inherited)
        os.close(ours)
        _refuse(folder)
    holder = Holder(os.getpid(), datetime.now(UTC).isoformat(timespec="seconds"))
    os.ftruncate(ours, 0)
    os.pwrite(ours, json.dumps(asdict(holder)).encode(), 0)
    return Lock(folder, ours, inherited)


def release(lock: Lock) -> None:
    """Give the folder back; call it after the JVM has ended."""
    os.close(lock.inherited)
    os.close(lock.ours)


def holder(folder: Path) -> Holder | None:
    """Return who serves the folder, or None when nobody does."""
    for name in (OURS, INHERITED):
        try:
            file = os.open(folder / name, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            if not _lock(file, 0, fcntl.LOCK_SH):
                return _recorded(folder)
        finally:
            os.close(file)
    return None


def _refuse(folder: Path) -> None:
    holder = _recorded(folder)
    fail("WAREHOUSE_FOLDER_IN_USE", folder=folder, pid=holder.pid, started=holder.started)


def _recorded(folder: Path) -> Holder:
    try:
        return Holder(**json.loads((folder / OURS).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return Holder(0, "just now")


def _open(file: Path) -> int:
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)


def _lock(file: int, patience: float, kind: int = fcntl.LOCK_EX) -> bool:
    """Lock an open file, trying for ``patience`` seconds."""
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(0.05)
