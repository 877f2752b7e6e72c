"""Feeds a streaming table its steps: what has arrived, a replay's instants, timers, the drain.

What has arrived comes in the micro-batches of Structured Streaming (``arrivals``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import replace

from pyspark.sql import DataFrame

from warehouse.catalog.entries import StreamEntry
from warehouse.dataflow.times import BEGINNING
from warehouse.errors import fail
from warehouse.streaming import faults
from warehouse.streaming.feeding.arrivals import Arrivals, Frames
from warehouse.streaming.feeding.checkpoint import newest_planned
from warehouse.streaming.feeding.pace import Bound
from warehouse.streaming.log import Commit, Intent, is_reached
from warehouse.streaming.sources.replay import Recordings
from warehouse.streaming.steps.runner import Runner

Upstream = Callable[[], dict[str, int]]
Halt = Callable[[Commit | None], bool]


def now() -> int:
    """Return the clock in microseconds."""
    return time.time_ns() // 1000


def _never(_: Commit | None) -> bool:
    return False


class _Halted(Exception):
    """A step was not begun because the feed is to stop."""


class Feed:
    """Decides which steps a streaming table runs.

    Args:
        runner: runs them.
        frames: opens the streaming frames of the table's sources, of which a step takes no more than a bound.
        upstream: returns the watermarks of the streaming tables it reads, by source number.
        recordings: opens the replays, or None when the sources are none.
        is_read: says whether other streaming tables read this one.
    """

    def __init__(
        self, runner: Runner, frames: Frames, upstream: Upstream, recordings: Callable[[], Recordings] | None,
        is_read: Callable[[], bool],
    ):  # fmt: skip
        self.runner, self.upstream, self.recordings, self.is_read = runner, upstream, recordings, is_read
        self.query, self.log = runner.parts.query, runner.log
        self.arrivals = Arrivals(self.query.sources, frames, runner.parts.folder / "checkpoint")
        self._opened: Recordings | None = None
        self._is_complete = False

    def refresh(
        self, halt: Halt | None = None, bound: Bound | None = None, meanwhile: Executor | None = None
    ) -> Iterator[Commit]:
        """Run the steps for everything that is there; yield their commit records.

        Args:
            halt: asked after the steps so far, with the newest one's record: whether to begin no further step.
            bound: what a step takes of each source at most, where the stream's own options do not say.
            meanwhile: given where another refresh will follow soon: does what can follow a step, and what can stay open
                until then does; ``close`` closes it.
        """
        halt = halt or _never
        with self.runner.lock:
            self.runner.meanwhile = meanwhile
            if self.runner.state:
                self.runner.state.check_format(self.log.last())
            try:
                yield from self._pending()
                if self.recordings:
                    yield from self._replayed(halt)
                else:
                    given = self.upstream()
                    yield from self._arrived(given, halt, bound, stays=meanwhile is not None)
                    if not halt(None):
                        yield from self._due(given)
            finally:
                self._forget()

    def drain(self) -> Iterator[Commit]:
        """Read what is there, then move the watermark to the end of time."""
        yield from self.refresh()
        with self.runner.lock:
            last = self.log.last()
            if last.drained and last.rows == 0:
                return
            clock = last.now if self.recordings and last.step else self._now(last)
            before = BEGINNING if self._is_complete else last.after
            yield self._step(Intent(last.step + 1, None, clock, before, True, self._is_complete), None)

    def look(self) -> None:
        """See whether panes that are distributed are where they belong, as far as no step has."""
        parts = self.runner.parts
        if parts.appends.placement:
            parts.appends.placement.look(parts.session, parts.folder / "panes")

    # ------------------------------------------------------------------ steps

    def _step(self, intent: Intent, frames: list[DataFrame] | None) -> Commit:
        return self.runner.run(self.log.begin(intent), frames)

    def _pending(self) -> Iterator[Commit]:
        """Repeat a step that was begun and not committed, before anything else can take its number.

        One with a micro-batch is left to Structured Streaming, which offers that batch first.
        """
        last = self.log.last()
        begun = self.log.intent(last.step + 1)
        if begun is None or begun.batch is not None:
            return
        frames = None
        if self.recordings and not begun.drain:
            if begun.replayed is not None:
                self._open().check_overdue(begun.now, begun.replayed)
            frames = self._open().rows(self._clock(last), begun.now)
        yield self.runner.run(begun, frames)

    def _now(self, last: Commit) -> int:
        """Return the clock, which never goes back from step to step even where the machine's does."""
        return max(now(), last.now)

    def _arrived(self, given: dict[str, int], halt: Halt, bound: Bound | None, stays: bool) -> Iterator[Commit]:
        done: list[Commit] = []
        planned = newest_planned(self.arrivals.checkpoint)

        def take(frames: list[DataFrame], number: int) -> None:
            last = self.log.last()
            if number == last.batch:  # a process died between our commit and Spark's
                return
            if last.batch is not None and number < last.batch:
                folder, reason = self.log.commits.parent.name, f"micro-batch {number} comes after {last.batch}"
                fail("WAREHOUSE_STEP_LOG_DAMAGED", folder=folder, file="checkpoint", reason=reason)
            if halt(done[-1] if done else None):
                raise _Halted
            faults.passed("offered")
            # rows that were planned before are not all that an upstream's watermark of now speaks of
            told = given if planned is None or number > planned else {}
            intent = Intent(last.step + 1, number, self._now(last), last.after, given=told)
            done.append(self._step(intent, frames))

        with suppress(_Halted):
            if stays and self.arrivals.can_stay:
                while self.arrivals.look(take, bound):
                    pass
            else:
                self.arrivals.all(take, bound)
        yield from done

    def _due(self, given: dict[str, int]) -> Iterator[Commit]:
        """Run a step without rows when a timer is due, or a watermark that moves without rows reaches a window.

        One that reaches none is recorded where other tables read this one: it is their watermark too.
        """
        last = self.log.last()
        clock = self._now(last)
        intent = Intent(last.step + 1, None, clock, last.after, given=given | self._idle(last, clock))
        _, after = self.runner.parts.watermarks(intent, last, [])

        def is_due(record: Commit) -> bool:
            passed = after > last.after and is_reached(record.due_watermark, after)
            return passed or is_reached(record.due_clock, clock)

        known = self.runner.dues(last) if is_due(last) else last
        if is_due(known):
            yield self._step(intent, None)
        elif after > last.after and self.is_read():
            # one record says it however often it moves until the next step
            yield self.runner.pass_by(replace(intent, step=last.step) if last.passed_by else intent, known)

    def _idle(self, last: Commit, clock: int) -> dict[str, int]:
        """Return the watermarks, by source number, of the sources without rows for as long as their time-out."""
        found = {}
        for number, source in enumerate(self.query.sources):
            patience = source.entry.idle_timeout if isinstance(source.entry, StreamEntry) else None
            arrived = last.arrived.get(str(number))
            if patience and source.watermark and arrived is not None and clock - arrived >= patience:
                found[str(number)] = clock - source.watermark[1]
        return found

    # ------------------------------------------------------------------ replay

    def _replayed(self, halt: Halt) -> Iterator[Commit]:
        """Run the recordings' steps until no row, watermark move or timer is left."""
        recordings = self._open()
        last = self.log.last()
        recordings.check_overdue(self._clock(last), self.log.rows_read(last))
        while not halt(None):
            last = self.log.last()
            if last.due_clock is not None:
                last = self.runner.dues(last)
            clock = self._clock(last)
            at = recordings.next_row(last.now) if last.drained else recordings.next(clock, last.due_clock)
            if at is None:
                return
            intent = Intent(
                last.step + 1, None, at, BEGINNING if recordings.complete else last.after, False, recordings.complete,
                recordings.watermarks(at), recordings.count(at),
            )  # fmt: skip
            frames = recordings.rows(clock, at)
            _, reached = self.runner.parts.watermarks(intent, last, [])
            if frames is None and is_reached(last.due_watermark, reached):
                last = self.runner.dues(last)
            due = is_reached(last.due_watermark, reached) or is_reached(last.due_clock, at)
            if frames is not None or due:
                yield self._step(intent, frames)
            else:
                yield self.runner.pass_by(intent, last)

    def _clock(self, last: Commit) -> int | None:
        return last.now if last.step else None

    def _open(self) -> Recordings:
        assert self.recordings
        if self._opened is None:
            self._opened = self.recordings()
            self._is_complete = self._opened.complete
        return self._opened

    def close(self) -> None:
        """End what a refresh has left open."""
        with self.runner.lock:
            self.arrivals.close()

    def _forget(self) -> None:
        """Give back what a replay keeps in memory."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None
