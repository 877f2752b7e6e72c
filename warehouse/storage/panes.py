"""The files of streaming tables' Delta tables, put together; of their distribution, what was verified from Delta's log.

A step reads of the log what came since the last one, so it costs no more because there is much already. What is known
is written behind each write of panes: a process that is killed in between leaves a version that nobody has looked at,
which is read as if it were not distributed until the next refresh looks at what is new.
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from math import ceil
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pyspark.sql import DataFrame, SparkSession

from warehouse.catalog.entries import quote_name
from warehouse.catalog.store import write_atomically
from warehouse.planning.distribution import Distribution
from warehouse.storage.records import Verified, verified

Placing = Callable[[DataFrame], tuple[DataFrame, Callable[[], bool]]]
"""Returns rows as they are to be written, and what says, when they are, whether each is in its partition."""

LARGE, LEAST = 64 << 20, 16 << 20
"""Bytes: a file that stays as it is, or those of all partitions together; and a file of one partition at least."""

_WRITTEN_BY = re.compile(r"part-(\d+)-")


class Panes:
    """Knows how far folders of panes are distributed as they say; those that are, are read so.

    What is known of one is in the file ``distribution.json`` beside it. Its ``good`` files are not listed: all but
    the bad ones are.

    Args:
        layouts: the Java object that asks Delta, and tells the planner.
    """

    def __init__(self, layouts: Any):
        self._layouts, self._known = layouts, dict[Path, Verified]()
        self._guards: dict[Path, threading.RLock] = {}

    def open(self, folder: Path) -> None:
        """Take up what an earlier process knew of a folder."""
        file = _file(folder)
        if file.exists():
            self._remember(folder, verified(json.loads(file.read_text("utf-8"))))

    def written(self, session: SparkSession, folder: Path, distribution: Distribution, in_place: bool) -> None:
        """Look at what a write has added.

        Args:
            session: that reads the keys where they have to be looked at.
            folder: of the panes.
            distribution: as it is to be.
            in_place: the rows of the newest version were seen to be in their partitions while they were written.
        """
        with self._guard(folder):
            before = self._known.get(folder)
            same = before is not None and before.is_of(distribution, distribution.types)
            later = _later(folder, before.version) if before and same else None
            if before is None or later is None:
                look = self._layouts.look(session._jsparkSession, str(folder))
                odd = strangers(look, session, look.files(), distribution)
                found = _seen(look, distribution, odd)
            else:
                version, added, gone = later
                seen = in_place and version == before.version + 1
                look = self._layouts.look(session._jsparkSession, str(folder)) if added and not seen else None
                odd = strangers(look, session, added, distribution) if look else set()
                found = replace(before, version=version, bad=tuple(sorted(set(before.bad) - gone | odd)))
            self._keep(folder, found)

    def look(self, session: SparkSession, folder: Path, distribution: Distribution) -> None:
        """Look at what was added since it was last looked, if anything."""
        known = self._known.get(folder)
        if known is None or _log(folder, known.version + 1).exists():
            self.written(session, folder, distribution, in_place=False)

    def compact(self, session: SparkSession, folder: Path) -> None:
        """Put the small files of a table together that is not distributed.

        Delta's OPTIMIZE does the same, but replays the log for it in Spark jobs, where the checksum of the newest
        commit names all files (``Listed.java``).
        """
        work = self._layouts.rewriting(session._jsparkSession, str(folder))
        small = {name: int(size) for name, size in _pairs(work.files()).items() if int(size) < LARGE}
        if len(small) > 1:
            rows = work.rows(list(small))
            work.commit(rows.coalesce(ceil(sum(small.values()) / (2 * LARGE))))

    def checkpoint(self, session: SparkSession, folder: Path, commits: int) -> str:
        """Write a checkpoint if so many commits came since the last; return Delta's own name of the table."""
        name: str = self._layouts.checkpoint(session._jsparkSession, str(folder), commits)
        return name

    def gather(self, session: SparkSession, folder: Path, distribution: Distribution, placing: Placing) -> None:
        """Put the small files of each partition together, and rows that are not in theirs where they belong."""
        with self._guard(folder):
            self.look(session, folder, distribution)
            bad = set(self._known[folder].bad)
            work = self._layouts.rewriting(session._jsparkSession, str(folder))
            sizes = _pairs(work.files())
            enough = max(LARGE // distribution.partitions, LEAST)
            small = {name for name, size in sizes.items() if int(size) < enough}
            most = Counter(found[1] for name in small if (found := _WRITTEN_BY.match(name))).most_common(1)
            if bad or (most and most[0][1] > 1):
                in_place = _replaced(session, work, small | bad, placing)[1]
                self.written(session, folder, distribution, in_place)

    def spread(self, session: SparkSession, folder: Path, distribution: Distribution, placing: Placing) -> None:
        """Write all files anew."""
        with self._guard(folder):
            work = self._layouts.rewriting(session._jsparkSession, str(folder))
            files = set(_pairs(work.files()))
            alone, in_place = _replaced(session, work, files, placing) if files else (False, False)
            if alone and in_place:
                self._keep(folder, _seen(self._layouts.look(session._jsparkSession, str(folder)), distribution, set()))
            else:
                self.written(session, folder, distribution, in_place=False)

    def _keep(self, folder: Path, found: Verified) -> None:
        write_atomically(_file(folder), json.dumps(asdict(found)))
        self._remember(folder, found)

    def _remember(self, folder: Path, found: Verified) -> None:
        self._known[folder] = found
        self._layouts.remember(str(folder), found.id, found.version, found.holds, list(found.keys), found.partitions)

    def _guard(self, folder: Path) -> threading.RLock:
        return self._guards.setdefault(folder, threading.RLock())


def _seen(look: Any, distribution: Distribution, odd: set[str]) -> Verified:
    """Return what is known of panes that were looked at, with these files among them that hold odd rows."""
    keys, partitions = distribution.keys, distribution.partitions
    return Verified(look.id(), look.version(), keys, partitions, (), tuple(sorted(odd)), distribution.types)


def strangers(look: Any, spark: SparkSession, files: Iterable[str], distribution: Distribution) -> set[str]:
    """Return those files that hold a row of another partition; reads the keys alone.

    Args:
        look: the version of the table that is looked at, ``Look.java``.
        spark: the session that reads.
        files: some of its files.
        distribution: says where rows belong.
    """
    listed = list(files)
    if not listed:
        return set()
    hashed = f"pmod(hash({', '.join(map(quote_name, distribution.keys))}), {distribution.partitions})"
    # a file is called part-00003-…; a search for the number would cost more than the rows do
    odd = f"NOT (TRY_CAST(substring(_metadata.file_name, 6, 5) AS INT) <=> {hashed})"
    read = DataFrame(look.rows(listed), spark)
    if not {k.lower() for k in distribution.keys} <= {c.lower() for c in read.columns}:
        return set(listed)
    by_name = {file.partition("#")[0]: file for file in listed}
    return {by_name[row[0]] for row in read.where(odd).select("_metadata.file_name").distinct().collect()}


def _replaced(session: SparkSession, work: Any, names: set[str], placing: Placing) -> tuple[bool, bool]:
    """Write files anew; return whether nobody else wrote meanwhile, and whether all rows are in their partitions."""
    frame, in_place = placing(DataFrame(work.rows(list(names)), session))
    alone = work.commit(frame._jdf) == 1
    return alone, in_place()


def _later(folder: Path, version: int) -> tuple[int, set[str], set[str]] | None:
    """Return the newest version, and the names of the files that came and went since ``version``.

    None where the log does not tell: it is too long ago, or the table is another one.
    """
    added, gone, first = set[str](), set[str](), version
    while (file := _log(folder, version + 1)).exists():
        version += 1
        actions = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        if any("metaData" in action for action in actions):
            return None
        left = {_name(action["remove"]["path"]) for action in actions if "remove" in action}
        gone |= left
        added = added - left | {_name(action["add"]["path"]) for action in actions if "add" in action}
    return (version, added, gone) if version > first else None


def _file(folder: Path) -> Path:
    return folder.with_name("distribution.json")


def _log(folder: Path, version: int) -> Path:
    return folder / "_delta_log" / f"{version:020}.json"


def _name(path: str) -> str:
    return unquote(path).rpartition("/")[2]


def _pairs(listed: list[str]) -> dict[str, str]:
    each = iter(listed)
    return dict(zip(each, each, strict=True))
