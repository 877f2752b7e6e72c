"""Spark's checkpoint of a stream, put right before it is read again.

A file source notes the files of its next micro-batch in a log of its own, ``sources/<n>/<entry>``, before the
micro-batch itself is noted in ``offsets/<batch>``. Who is killed in between finds the files noted, asks for the next
ones, and gets both in one micro-batch: nothing is lost or doubled, but the cut of the steps, and with it the panes,
would depend on the kill. So what no batch covers is forgotten here; the source then finds the same files again.
"""

from __future__ import annotations

import json
from pathlib import Path


def forget_unplanned(checkpoint: Path) -> None:
    """Forget the entries of the sources' logs that no micro-batch covers.

    Args:
        checkpoint: the folder; it need not exist. No query may be running on it.
    """
    batches = sorted(int(f.name) for f in (checkpoint / "offsets").glob("*") if f.name.isdigit())
    lines = (checkpoint / "offsets" / str(batches[-1])).read_text().splitlines()[2:] if batches else []
    for log in (checkpoint / "sources").glob("*"):
        covered = _covered(lines[int(log.name)]) if log.name.isdigit() and int(log.name) < len(lines) else -1
        if covered is None:
            continue
        for entry in log.glob("[0-9]*"):
            number, _, kind = entry.name.partition(".")
            if number.isdigit() and int(number) > covered:
                entry.with_name(f".{entry.name}.crc").unlink(missing_ok=True)
                if kind == "compact":
                    _without(entry, covered)
                else:
                    entry.unlink()


def _covered(line: str) -> int | None:
    """Return the last entry of a source's log that a batch covers; None for sources that keep no such log."""
    if line == "-":
        return -1
    offset = json.loads(line) if line.startswith("{") else {}
    return offset.get("logOffset")


def _without(entry: Path, covered: int) -> None:
    """Leave out of a compacted log the files of entries after ``covered``; those before it may be nowhere else."""
    version, *files = entry.read_text().splitlines()
    kept = [version, *(line for line in files if json.loads(line)["batchId"] <= covered)]
    draft = entry.with_name(f".{entry.name}.draft")
    draft.write_text("\n".join(kept))
    draft.replace(entry)
