"""The step log of one streaming table: an intent before a step runs, a commit record after it.

A step without its commit record is run again with the intent's clock and input, which gives the same bytes;
what it had already written is recognised by the step's number. A commit record is whole in itself: it names
the state files, the watermarks and the next time at which anything is due, so the newest one is all that a
restart reads. (D-Streams, section 3: deterministic steps make recovery a repetition.) Older records are history: they
are folded into files of many lines, and the oldest of those go, so that no step costs more because there were others.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.catalog.store import write_atomically
from warehouse.dataflow.times import BEGINNING, END
from warehouse.errors import fail
from warehouse.streaming import faults

FORMAT = 10
LOOSE = 100
"""So many commit records, and up to twice as many, are files of their own; older ones are folded, so many to a file."""
HISTORY = 1000
"""Files of history that are kept."""
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
        slices: per folder of slices (``dataflow.slices``), oldest first, their rows, and the starts of the first and of
            the last one; ``slice_rows``: all of them.
        unfired: where windows of base and deltas that have not fired end at most, since they came to be before their
            query kept slices.
        due_watermark, due_clock: the least watermark and processing time at which a window must be looked at
            without rows (perhaps too early, never too late), None when nothing waits. ``due_windows``: the least
            watermark for those in base and deltas alone; of records that do not tell, it may be any.
        rows, late, bad, panes: counts of this step. seconds: wall time.
        groups: partial results that the rows came to, at least; thousands of rows may come to one, or each to its own.
        finished: rows kept aside because the trigger of their window had finished, once per window missed.
        early, on_time, behind: the panes by timing. withdrawn: panes taken back.
        lateness: how long after their timestamps the rows arrived, microseconds: see ``lateness.measures``; empty
            without rows that have one.
        arrived: per source number, processing time of its newest rows, or of the table's first where it has none yet,
            for the idle time-out.
        lags: fields of ``lags.Lags``, where a trigger has a PERCENTILE.
        revision: of the table under which it was written.
        read: the rows of all steps so far. undrained: the watermark for the table's readers, whom a DRAIN of the table
            does not drain.

    Records of format 1 lack what is None here; before format 3 there is no ``revision``, which is then 0, before
    format 4 neither ``read`` nor ``undrained``, and before format 5 there are no slices: any window may be ``unfired``.
    Before format 6 the state has rows where it has sets now, and before format 9 where it has sums of squares and
    registers: ``State.check_format``. Before format 7 there are no ``groups``, and deltas are never ``folded-…``;
    before format 8 ``lags`` do not say what they ``reached``, and before format 10 ``arrived`` is one time for all
    sources.
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
    slices: dict[str, list[int]] = field(default_factory=dict)
    slice_rows: int = 0
    unfired: int = END
    due_watermark: int | None = None
    due_windows: int | None = BEGINNING
    due_clock: int | None = None
    rows: int = 0
    groups: int = 0
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
    arrived: dict[str, int] = field(default_factory=dict)
    lags: dict[str, Any] = field(default_factory=dict)
    revision: int = 0
    read: int | None = None
    undrained: int | None = None
    format: int = FORMAT

    def idle(self, **changes: Any) -> Commit:
        """Return the record of a step after this one that reads no row and emits nothing."""
        nothing = {"rows": 0, "groups": 0, "late": 0, "finished": 0, "bad": 0, "panes": 0, "withdrawn": 0}
        timings = {"early": 0, "on_time": 0, "behind": 0}
        return replace(self, **{**nothing, **timings, "lateness": (), "seconds": 0.0, **changes})

    @property
    def passed_by(self) -> bool:
        """Say whether nothing but the clock and the watermark moved, which is recorded without a step."""
        return self.step > 0 and self.seconds == 0.0

    @property
    def window_rows(self) -> int:
        """Return the rows in base and deltas together."""
        return self.base_rows + self.delta_rows


START = Commit(
    step=0, batch=None, now=BEGINNING, before=BEGINNING, after=BEGINNING, unfired=BEGINNING, due_windows=None, read=0,
    undrained=BEGINNING,
)  # fmt: skip
"""Where a streaming table stands before its first step."""


def is_reached(due: int | None, point: int) -> bool:
    """Say whether something waits, and until no later than ``point``: one of the dues of a ``Commit``."""
    return due is not None and due <= point


class StepLog:
    """Intents and commit records as small JSON files, written whole or not at all.

    Args:
        folder: the streaming table's.
        revision: the table's. A record of a later one was written for a query that never took this one's place.
    """

    def __init__(self, folder: Path, revision: int = 0):
        self.intents, self.commits, self.revision = folder / "intents", folder / "commits", revision
        self.history = folder / "history"

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
        """Record that a step is done; ``read`` and ``undrained`` follow from the last one."""
        last = self.last()
        undrained = self.undrained(last) if record.drained else record.after
        record = replace(
            record, revision=self.revision, format=FORMAT, read=self.rows_read(last) + record.rows, undrained=undrained
        )
        write_atomically(self.commits / f"{record.step:09}.json", json.dumps(asdict(record)))
        self._fold()

    def rows_read(self, last: Commit) -> int:
        """Return how many rows all steps up to ``last``, the newest, have read."""
        return sum(record.rows for record in self.all()) if last.read is None else last.read

    def undrained(self, last: Commit) -> int:
        """Return the watermark for the table's readers after ``last``, the newest step."""
        if last.undrained is not None:
            return last.undrained
        return next((record.after for record in self._newest_first() if not record.drained), BEGINNING)

    def _fold(self) -> None:
        """Fold the oldest commit records into a file of history once there are many, and forget what is too old."""
        loose = sorted(self.commits.glob("*.json"))
        if len(loose) < 2 * LOOSE:
            return
        done = max((file.stem.partition("-")[2] for file in self.folded()), default="")
        left = [file for file in loose if file.stem <= done]  # by whoever died while folding
        folded = loose[len(left) :][:LOOSE]
        if len(loose) - len(left) < 2 * LOOSE:
            self._forget(left)
            return
        lines = "".join(json.dumps(_read(file)) + "\n" for file in folded)
        write_atomically(self.history / f"{folded[0].stem}-{folded[-1].stem}.jsonl", lines)
        faults.passed("folded")
        self._forget([*left, *folded])
        for file in self.folded()[:-HISTORY]:
            file.unlink(missing_ok=True)

    def _forget(self, folded: list[Path]) -> None:
        """Remove the files of commit records that are folded, the oldest first, and their intents."""
        for file in (*folded, *(i for i in self.intents.glob("*.json") if folded and i.stem <= folded[-1].stem)):
            file.unlink(missing_ok=True)

    def folded(self) -> list[Path]:
        """Return the files of history, oldest first: one commit record a line, as JSON."""
        return sorted(self.history.glob("*.jsonl"))

    def last(self) -> Commit:
        """Return the newest commit record, ``START`` when there is none."""
        newest = max(self.commits.glob("*.json"), default=None)
        record = self._commit(newest) if newest else START
        return record if record.revision <= self.revision else next(self._newest_first(), START)

    def at(self, step: int) -> Commit | None:
        """Return the commit record of ``step``, None where there is none."""
        file = self.commits / f"{step:09}.json"
        if file.exists():
            record = self._commit(file)
            return record if record.revision <= self.revision else None
        its = (f for f in self.folded() if int(f.stem.partition("-")[0]) <= step <= int(f.stem.partition("-")[2]))
        return next((r for f in its for r in self._commits(f) if r.step == step), None)

    def loose(self) -> list[Commit]:
        """Return the commit records that are not folded, oldest first."""
        return list(self._loose())[::-1]

    def _loose(self) -> Iterator[Commit]:
        """Yield the commit records that are not folded, newest first."""
        for file in sorted(self.commits.glob("*.json"), reverse=True):
            if not file.exists():  # it was folded meanwhile, and so are all before it
                return
            record = self._commit(file)
            if record.revision <= self.revision:
                yield record

    def recent(self, count: int = KEPT) -> list[Commit]:
        """Return the newest commit records, newest first."""
        return list(islice(self._newest_first(), count))

    def all(self) -> list[Commit]:
        """Return all commit records, oldest first."""
        return list(self._newest_first())[::-1]

    def _newest_first(self) -> Iterator[Commit]:
        oldest = None
        for record in self._loose():
            oldest = record.step
            yield record
        for file in reversed(self.folded()):
            # whoever died while folding left both
            yield from (r for r in reversed(self._commits(file)) if oldest is None or r.step < oldest)

    def _commit(self, file: Path) -> Commit:
        return _record(_read(file), file)

    def _commits(self, file: Path) -> list[Commit]:
        return [_record(found, file) for found in _lines(file)]


def _record(found: dict, file: Path) -> Commit:
    if found.get("format", 0) > FORMAT:
        fail("WAREHOUSE_FOLDER_NEWER", folder=file.parent.parent, version=found["format"], known=FORMAT)
    arrived = found.get("arrived")
    if not isinstance(arrived, dict):
        arrived = {} if arrived is None else dict.fromkeys(found["watermarks"], arrived)
    tuples = {name: tuple(found.get(name, ())) for name in ("deltas", "lateness")}
    return Commit(**{**found, **tuples, "arrived": arrived})


def _lines(file: Path) -> list[dict]:
    try:
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() or [""]]
    except (OSError, ValueError) as error:
        fail("WAREHOUSE_STEP_LOG_DAMAGED", file=file.name, folder=file.parent.parent.name, reason=error)


def _read(file: Path) -> dict:
    (found,) = _lines(file)
    return found


def table_folder(home: Path, entry: StreamingTableEntry) -> Path:
    """Return the folder that holds everything of a streaming table."""
    return home / "streaming" / entry.id


def step_log(home: Path, entry: StreamingTableEntry) -> StepLog:
    """Return the step log of a streaming table."""
    return StepLog(table_folder(home, entry), entry.revision)
