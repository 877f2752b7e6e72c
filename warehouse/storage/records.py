"""What is known of the tables whose rows are laid out, in the warehouse folder: it outlives a process."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from warehouse.planning.distribution import Distribution


@dataclass(frozen=True)
class Verified:
    """How far a table was seen to be distributed as it says.

    Attributes:
        id: of the table in Delta's log: one that takes its place has another.
        version: that was looked at.
        keys, partitions: how its rows are spread.
        good: files whose rows are where their keys say, by what ``Look.files`` tells them apart by.
        bad: files with rows that are not.
        types: of the keys, which make their hashes.
    """

    id: str
    version: int
    keys: tuple[str, ...]
    partitions: int
    good: tuple[str, ...]
    bad: tuple[str, ...]
    types: tuple[str, ...] = ()

    def is_of(self, distribution: Distribution, types: tuple[str, ...]) -> bool:
        """Say whether what was looked at counts for a distribution by keys of these types."""
        known = (self.keys, self.partitions, self.types)
        return known == (distribution.keys, distribution.partitions, types)

    @property
    def holds(self) -> bool:
        """Say whether each row of that version is in its partition."""
        return not self.bad


class Records:
    """A file of what was verified, by the tables' paths, and of the names of the tables that are in memory."""

    def __init__(self, folder: Path):
        self._folder, self._file = folder, folder / "catalog" / "kept.json"
        read = json.loads(self._file.read_text("utf-8")) if self._file.exists() else {}
        self.verified = {self._absolute(path): verified(found) for path, found in read.get("verified", {}).items()}
        self.cached: set[str] = set(map(str.lower, read.get("cached", [])))

    def save(self) -> None:
        """Write what is known, of tables that are still there."""
        kept = {self._relative(path): asdict(found) for path, found in self.verified.items() if Path(path).exists()}
        self._file.parent.mkdir(exist_ok=True)
        fresh = self._file.with_suffix(".new")
        text = json.dumps({"verified": kept, "cached": sorted(self.cached)}, indent=1)
        with open(fresh, "w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        fresh.replace(self._file)

    def _relative(self, path: str) -> str:
        """Return a path inside the warehouse folder from there: the folder may be moved."""
        return str(Path(path).relative_to(self._folder)) if Path(path).is_relative_to(self._folder) else path

    def _absolute(self, path: str) -> str:
        return str(self._folder / path)


def verified(found: dict[str, Any]) -> Verified:
    """Return what was written as a dict."""
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in found.items()}
    return Verified(**fields)
