"""The log of a Delta table to which steps append: of its many commits, those before a checkpoint are forgotten.

Delta keeps commits for thirty days, and every commit lists the whole folder of them: a step a second would make five
million files of it. So they go once they are old enough for other readers. Streaming tables that read the table are
waited for, however far behind they are.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

KEPT = 64
"""The newest versions, whose commits stay however old they are."""

_FILE = re.compile(r"\.?(\d{20})\.(?:json|crc|checkpoint\.parquet)(?:\.crc)?")
_CHECKPOINT = "checkpoint.parquet"


def trim(table: Path, old: int, needed: int | None) -> None:
    """Remove the commits before the newest checkpoint that leaves all that may still be read, and ``KEPT`` versions.

    Args:
        table: the folder of the Delta table.
        old: the newest version that is old enough.
        needed: the least version that a streaming table reads from, None where none does.
    """
    log = table / "_delta_log"
    newest, known = newest_version(table), _last_checkpoint(log)
    until = min(newest - KEPT, old, known, newest if needed is None else needed)
    checkpoints = [number for number, file in _files(log) if number <= until and file.name.endswith(_CHECKPOINT)]
    if checkpoints:
        for _, file in sorted(f for f in _files(log) if f[0] < max(checkpoints)):
            file.unlink(missing_ok=True)


def newest_version(table: Path, before: float = 0.0) -> int:
    """Return the newest version of a Delta table that is older than ``before`` seconds, -1 where there is none."""
    until = time.time() - before
    commits = (f for f in _files(table / "_delta_log") if f[1].suffix == ".json")
    return max((number for number, file in commits if file.stat().st_mtime <= until), default=-1)


def needed_by_readers(home: Path, identity: str) -> int | None:
    """Return the least version of a Delta table from which a streaming table may read on; None without a reader.

    Args:
        home: the warehouse folder.
        identity: Delta's own of the table.
    """
    found = [
        offset["reservoirVersion"] - 1  # the first micro-batch is found again by the version before
        for checkpoint in (home / "streaming").glob("*/checkpoint")
        for offset in _offsets(checkpoint)
        if offset.get("reservoirId") == identity
    ]
    return min(found, default=None)


def _offsets(checkpoint: Path) -> Iterator[dict]:
    """Yield what the last two micro-batches of a checkpoint noted of each source: the last may have to be repeated."""
    batches = sorted((f for f in (checkpoint / "offsets").glob("*") if f.name.isdigit()), key=lambda f: int(f.name))
    for file in batches[-2:]:
        for line in file.read_text().splitlines()[2:]:
            yield json.loads(line) if line.startswith("{") else {}


def _files(log: Path) -> Iterator[tuple[int, Path]]:
    """Yield the files of a log that belong to one version, with its number."""
    for file in log.iterdir():
        if match := _FILE.fullmatch(file.name):
            yield int(match[1]), file


def _last_checkpoint(log: Path) -> int:
    """Return the version of the last checkpoint that was written to its end, -1 where there is none."""
    file = log / "_last_checkpoint"
    return json.loads(file.read_text())["version"] if file.exists() else -1
