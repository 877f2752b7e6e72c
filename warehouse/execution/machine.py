"""How much of this machine the engine may use, seen from inside a container too."""

from __future__ import annotations

import os
from pathlib import Path

GIB = 1 << 30

_CGROUP = Path("/sys/fs/cgroup")
_SHARE = 0.45
_LEAST = GIB
_MOST = 28 * GIB  # beyond about 31 GiB a JVM's pointers double in size


def memory() -> int:
    """Return the bytes of memory of this machine, or of the container around this process."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [_number(_CGROUP / "memory.max"), _number(_CGROUP / "memory" / "memory.limit_in_bytes")]
    return min([total, *(limit for limit in limits if limit)])


def cores() -> int:
    """Return the number of cores this process may use, at least one."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, _quota() or allowed))


def heap(total: int) -> str:
    """Return the heap for the engine on a machine of ``total`` bytes, as ``-Xmx`` takes it."""
    return f"{max(_LEAST, min(_MOST, int(total * _SHARE))) >> 20}m"


def _quota() -> int | None:
    """Return the whole cores that the container's quota pays for, or None without one."""
    try:
        limit, period = (_CGROUP / "cpu.max").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(1, int(limit) // int(period))


def _number(file: Path) -> int | None:
    try:
        text = file.read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None
