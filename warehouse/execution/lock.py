"""Exactly one engine per warehouse folder.

Two files are locked. ``engine.lock`` is this process's and tells at once whether another one serves the folder.
``engine.jvm.lock`` is the JVM's own, taken before it touches the catalog: a JVM whose Python was killed keeps
the folder for the moment it still lives, and a successor waits for that. The operating system drops both locks
with their processes; there is nothing to clean up after a crash.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

from warehouse.errors import fail

OURS = "engine.lock"
JVMS = "engine.jvm.lock"

_PATIENCE_OURS = 0.5  # covers a look by ``holder``, and a predecessor in its last breath
_PATIENCE_JVM = 15.0


@dataclass(frozen=True)
class Holder:
    """Who serves a folder: its process id and when it began, in ISO 8601."""

    pid: int
    started: str


@dataclass(frozen=True)
class Lock:
    """A folder held by this process: an open file that is locked."""

    folder: Path
    file: int


def acquire(folder: Path) -> Lock:
    """Take the folder for this process.

    Raises:
        WarehouseError: another process serves the folder.
    """
    file = os.open(folder / OURS, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    if not _flock(file, _PATIENCE_OURS):
        os.close(file)
        _refuse(folder)
    holder = Holder(os.getpid(), datetime.now(UTC).isoformat(timespec="seconds"))
    os.ftruncate(file, 0)
    os.pwrite(file, json.dumps(asdict(holder)).encode(), 0)
    return Lock(folder, file)


def release(lock: Lock) -> None:
    """Give the folder back; call it when nothing in the JVM can write to it any more."""
    os.close(lock.file)


def acquire_in(machine: Any, folder: Path, patience: float = _PATIENCE_JVM) -> Any:
    """Take the folder for the JVM, waiting up to ``patience`` seconds for one left behind to be gone.

    Args:
        machine: Py4J's view of the JVM.
        folder: held by this process.
        patience: in seconds.

    Returns:
        The Java file that is locked; ``close`` gives the folder back.

    Raises:
        WarehouseError: the folder's last JVM is still there.
    """
    file = machine.java.io.RandomAccessFile(str(folder / JVMS), "rw")
    deadline = time.monotonic() + patience
    while file.getChannel().tryLock() is None:
        if time.monotonic() >= deadline:
            file.close()
            _refuse(folder)
        time.sleep(0.05)
    return file


def holder(folder: Path) -> Holder | None:
    """Return who serves the folder, or None when nobody does; changes nothing."""
    try:
        file = os.open(folder / OURS, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return None if _flock(file, 0, fcntl.LOCK_SH) else _recorded(folder)
    finally:
        os.close(file)


def _refuse(folder: Path) -> NoReturn:
    holder = _recorded(folder)
    fail("WAREHOUSE_FOLDER_IN_USE", folder=folder, pid=holder.pid, started=holder.started)


def _recorded(folder: Path) -> Holder:
    try:
        return Holder(**json.loads((folder / OURS).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return Holder(0, "just now")


def _flock(file: int, patience: float, kind: int = fcntl.LOCK_EX) -> bool:
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
