"""The step log of one streaming table: an intent before a step runs, a commit record after it.

A step without its commit record is run again with the intent's clock and input, which gives the same bytes;
what it had already written is recognised by the step's number. A commit record is whole in itself: it names
the state files, the watermarks and the next time at which anything is due, so the newest one is all that a
restart reads. (D-Streams, section 3: deterministic steps make recovery a repetition.)
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from warehouse.catalog.store import write_atomically
from warehouse.dataflow.times import BEGINNING
from warehouse.errors import fail
from warehouse.streaming import faults

FORMAT = 3
KEPT = 3
"""Commit records whose state files stay on disk: the current one and those a reader may still hold."""


@dataclass(frozen=True)
class Intent:
    """What a step is about to do.

    Attributes:
        step: its number, from 1.
        batch: the source's micro-batch it reads, or None for a step without rows.
        now: processing time in microseconds.
        before: the watermark against which rows are judged.
        drain, complete: see ``dataflow.times.Clock``.
        given: watermarks that do not come from rows, by source number (an upstream table's, a replay's).
        replayed: how many rows a recording holds up to ``now``, None where there is none.
        repeated: it was recorded before, and some of the step may be written already.
    """

    step: int
    batch: int | None
    now: int
    before: int
    drain: bool = False
    complete: bool = False
    given: dict[str, int] = field(default_factory=dict)
    replayed: int | None = None
    repeated: bool = False


@dataclass(frozen=True)
class Commit:
    """What a step did, and all that the next one needs.

    Attributes:
        step, batch, now: as in the intent; ``batch`` is the newest micro-batch that is in the state.
        after: the watermark after the step.
        watermarks: per source number.
        drained: a DRAIN has happened: rows read later are late.
        base: folder name of the state's base, or None. deltas: folder names of its deltas, oldest first.
        files: of each of these folders, the files and their bytes.
        base_rows, delta_rows: rows in them, whether live or not.
        due_watermark, due_clock: the least watermark and processing time at which a window must be looked at
            without rows (perhaps too early, never too late), None when nothing waits.
        rows, late, bad, panes: counts of this step. seconds: wall time.
        finished: rows kept aside because the trigger of their window had finished, once per window missed.
        early, on_time, behind: the panes by timing. withdrawn: panes taken back.
        lateness: how long after their timestamps the rows arrived, microseconds: see ``lateness.measures``; empty
            without rows that have one.
        arrived: processing time of the newest rows, for the idle time-out.
        lags: fields of ``lags.Lags``, where a trigger has a PERCENTILE.
        revision: of the table under which it was written.

    Records of format 1 lack what is None here; before format 3 there is no ``revision``, which is then 0.
    """

    step: int
    batch: int | None
    now: int
    before: int
    after: int
    watermarks: dict[str, int] = field(default_factory=dict)
    drained: bool = False
    base: str | None = None
    deltas: tuple[str, ...] = ()
    files: dict[str, dict[str, int]] = field(default_factory=dict)
    base_rows: int = 0
    delta_rows: int = 0
    due_watermark: int | None = None
    due_clock: int | None = None
    rows: int = 0
    late: int = 0
    bad: int = 0
    panes: int = 0
    finished: int | None = None
    early: int | None = None
    on_time: int | None = None
    behind: int | None = None
    withdrawn: int | None = None
    lateness: tuple[int, ...] = ()
    state_bytes: int = 0
    seconds: float = 0.0
    arrived: int | None = None
    lags: dict[str, Any] = field(default_factory=dict)
    revision: int = 0
    format: int = FORMAT


START = Commit(step=0, batch=None, now=BEGINNING, before=BEGINNING, after=BEGINNING)
"""Where a streaming table stands before its first step."""


class StepLog:
    """Intents and commit records as small JSON files, written whole or not at all.

    Args:
        folder: the streaming table's.
        revision: the table's. A record of a later one was written for a query that never took this one's place.
    """

    def __init__(self, folder: Path, revision: int = 0):
        self.intents, self.commits, self.revision = folder / "intents", folder / "commits", revision

    def begin(self, intent: Intent) -> Intent:
        """Record ``intent``, or return the one recorded before a crash under the same number.

        Raises:
            WarehouseError: that one was for other input, and may have been emitted from already.
        """
        found = self.intent(intent.step)
        if found is None:
            write_atomically(self._intent_file(intent.step), json.dumps(asdict(intent)))
            faults.passed("intent")
            return intent
        if (found.batch, found.drain) != (intent.batch, intent.drain):
            folder, file = self.intents.parent.name, self._intent_file(intent.step).name
            reason = f"it was begun for micro-batch {found.batch}, and {intent.batch} came"
            fail("WAREHOUSE_STEP_LOG_DAMAGED", folder=folder, file=file, reason=reason)
        return found

    def intent(self, step: int) -> Intent | None:
        """Return the recorded intent of ``step``."""
        file = self._intent_file(step)
        return Intent(**{**_read(file), "repeated": True}) if file.exists() else None

    def _intent_file(self, step: int) -> Path:
        return self.intents / f"{step:09}.json"

    def forget(self, step: int) -> None:
        """Forget the intent of ``step``, of which nothing was written."""
        self._intent_file(step).unlink(missing_ok=True)

    def commit(self, record: Commit) -> None:
        """Record that a step is done."""
        text = json.dumps(asdict(replace(record, revision=self.revision, format=FORMAT)))
        write_atomically(self.commits / f"{record.step:09}.json", text)

    def last(self) -> Commit:
        """Return the newest commit record, ``START`` when there is none."""
        newest = max(self.commits.glob("*.json"), default=None)
        record = self._commit(newest) if newest else START
        return record if record.revision <= self.revision else next(self._newest_first(), START)

    def at(self, step: int) -> Commit | None:
        """Return the commit record of ``step``, None where there is none."""
        file = self.commits / f"{step:09}.json"
        record = self._commit(file) if file.exists() else None
        return record if record and record.revision <= self.revision else None

    def recent(self, count: int = KEPT) -> list[Commit]:
        """Return the newest commit records, newest first."""
        return list(islice(self._newest_first(), count))

    def all(self) -> list[Commit]:
        """Return all commit records, oldest first."""
        return list(self._newest_first())[::-1]

    def _newest_first(self) -> Iterator[Commit]:
        for file in sorted(self.commits.glob("*.json"), reverse=True):
            record = self._commit(file)
            if record.revision <= self.revision:
                yield record

    def _commit(self, file: Path) -> Commit:
        found = _read(file)
        if found.get("format", 0) > FORMAT:
            fail("WAREHOUSE_FOLDER_NEWER", folder=file.parent.parent, version=found["format"], known=FORMAT)
        return Commit(**{**found, "deltas": tuple(found["deltas"]), "lateness": tuple(found.get("lateness", ()))})


def _read(file: Path) -> dict:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        fail("WAREHOUSE_STEP_LOG_DAMAGED", file=file.name, folder=file.parent.parent.name, reason=error)
