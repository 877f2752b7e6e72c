"""Spark's checkpoint of a stream, put right before it is read again.

A file source notes the files of its next micro-batch in a log of its own, ``sources/<n>/<entry>``, before the
micro-batch itself is noted in ``offsets/<batch>``. Who is killed in between finds the files noted, asks for the next
ones, and gets both in one micro-batch: nothing is lost or doubled, but the cut of the steps, and with it the panes,
would depend on the kill. So what no batch covers is forgotten here; the source then finds the same files again.

That log names every file that was ever read, in files that repeat all before them. Where a stream has a ``maxFileAge``
the source takes no file that is older than that beside the newest, whether it is in the log or not: those are forgotten
here as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any


def newest_planned(checkpoint: Path) -> int | None:
    """Return the number of the last micro-batch that was planned, run or not, None if none was."""
    return max((int(f.name) for f in (checkpoint / "offsets").glob("*") if f.name.isdigit()), default=None)


def forget_unplanned(checkpoint: Path) -> None:
    """Forget the entries of the sources' logs that no micro-batch covers.

    Args:
        checkpoint: the folder; it need not exist. No query may be running on it.
    """
    planned = newest_planned(checkpoint)
    lines = [] if planned is None else (checkpoint / "offsets" / str(planned)).read_text().splitlines()[2:]
    for log in (checkpoint / "sources").glob("*"):
        covered = _covered(lines[int(log.name)]) if log.name.isdigit() and int(log.name) < len(lines) else -1
        if covered is None:
            continue
        for entry in log.glob("[0-9]*"):
            number, _, kind = entry.name.partition(".")
            if number.isdigit() and int(number) > covered:
                entry.with_name(f".{entry.name}.crc").unlink(missing_ok=True)
                if kind == "compact":
                    _keep(entry, _noted_by(covered))
                else:
                    entry.unlink()


def forget_aged(checkpoint: Path, source: int, age: str) -> None:
    """Forget the files of a source that are too old to be taken once more; the log's newest file is rewritten for it.

    Those of its own entry stay: their micro-batch may have to be taken again.

    Args:
        checkpoint: see ``forget_unplanned``, which goes before.
        source: its number.
        age: the option ``maxFileAge`` of its stream.
    """
    log = checkpoint / "sources" / str(source)
    newest = max((f for f in log.glob("[0-9]*")), key=lambda f: int(f.name.partition(".")[0]), default=None)
    if newest is None or not newest.name.endswith(".compact"):
        return
    files = [json.loads(line) for line in newest.read_text().splitlines()[1:]]
    oldest = max((file["timestamp"] for file in files), default=0) - _milliseconds(age)
    number = int(newest.name.partition(".")[0])

    def stays(file: Mapping[str, Any]) -> bool:
        return file["batchId"] == number or file["timestamp"] >= oldest

    if not all(map(stays, files)):
        newest.with_name(f".{newest.name}.crc").unlink(missing_ok=True)
        _keep(newest, stays)


_UNITS = {"us": 0.001, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000, "": 1}


def _milliseconds(time: str) -> float:
    """Return a time as Spark reads it.

    Example:
        >>> _milliseconds("7d"), _milliseconds("90")
        (604800000, 90)
    """
    number, unit = re.fullmatch(r"\s*(\d+)\s*([a-z]*)\s*", time.lower()).groups()  # type: ignore[union-attr]
    return int(number) * _UNITS[unit]


def _covered(line: str) -> int | None:
    """Return the last entry of a source's log that a batch covers; None for sources that keep no such log."""
    if line == "-":
        return -1
    offset = json.loads(line) if line.startswith("{") else {}
    return offset.get("logOffset")


def _noted_by(last: int) -> Callable[[Mapping[str, Any]], bool]:
    """Return what says whether a file was noted by an entry up to ``last``."""
    return lambda file: bool(file["batchId"] <= last)


def _keep(entry: Path, stays: Callable[[Mapping[str, Any]], bool]) -> None:
    """Leave some files in a compacted log; those of entries before may be nowhere else."""
    version, *files = entry.read_text().splitlines()
    kept = [version, *(line for line in files if stays(json.loads(line)))]
    draft = entry.with_name(f".{entry.name}.draft")
    draft.write_text("\n".join(kept))
    draft.replace(entry)
