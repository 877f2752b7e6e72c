"""How a streaming table that runs on is paced: when its next step begins, and how much a step may take at most.

A backlog, as after a stop of hours, is not one step: what a step takes is bounded by what fits its interval, and the
bound follows what steps cost (back-pressure, as D-Streams need it to be stable: section 3.3 of Zaharia et al. 2013).
Without an interval one is found: a step rests for a share of its own time, so that the interval is the shortest whose
steps fit it with some room (the fixed point of Das et al., Adaptive Stream Processing using Dynamic Batch Sizing).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

from warehouse.catalog.entries import StreamEntry
from warehouse.planning.streams.streams import FILE_FORMATS
from warehouse.streaming.log import Commit

ROWS, BYTES = 25_000, 4 * 1024 * 1024
"""What a step may take of each source at level 0, below which all steps cost about the same."""
BEGINNING_LEVEL, MOST = 3, 12
"""Each level is twice the one before."""

LONGEST = 10.0
"""Seconds that a step should take at most where no interval is given."""
BUSY = 0.8
"""Share of the time in which steps run where no interval is given."""
SOON, IDLE = 0.1, 1.0
"""Seconds from a look for new rows to the next, at least; and at most, once several have found none."""


@dataclass(frozen=True)
class Bound:
    """What one step takes of each source at most: ``rows`` where records are counted, else ``bytes`` of files."""

    rows: int
    bytes: int

    def options(self, source: str, given: frozenset[str]) -> dict[str, str]:
        """Return the options of Spark's reader that bound a step.

        Args:
            source: the format.
            given: names of the user's own options, in lower case; a bound among them stays the only one.
        """
        own = {"maxfilespertrigger", "maxbytespertrigger", "maxoffsetspertrigger"}
        if given & own:
            return {}
        if source == "kafka":
            return {"maxOffsetsPerTrigger": str(self.rows)}
        return {"maxBytesPerTrigger": str(self.bytes)} if source in FILE_FORMATS | {"delta"} else {}

    def of(self, entry: StreamEntry) -> StreamEntry:
        """Return a stream's entry with the options that bound a step."""
        given = frozenset(name.lower() for name, _ in entry.options)
        return replace(entry, options=(*entry.options, *self.options(entry.format, given).items()))


@dataclass(frozen=True)
class Pace:
    """The pace of a streaming table.

    Attributes:
        every: seconds from the beginning of a step to that of the next, None where it is to be found.
        level: of the bound.
        idle: how many looks in a row have found nothing.
    """

    every: float | None = None
    level: int = BEGINNING_LEVEL
    idle: int = 0

    @property
    def bound(self) -> Bound:
        """Return what the next step may take."""
        return Bound(ROWS << self.level, BYTES << self.level)

    def stepped(self, seconds: float, more: bool) -> Pace:
        """Return the pace after a step.

        Args:
            seconds: how long it took.
            more: whether it was as large as the bound let it be, since more has arrived than it took.
        """
        fits = self.every or LONGEST
        level = self.level
        if more and seconds > fits:
            level = max(0, level - 1)
        elif more and seconds < fits / 3:  # twice as much will still fit
            level = min(MOST, level + 1)
        return replace(self, level=level, idle=0)

    def rested(self) -> Pace:
        """Return the pace after a look that found nothing."""
        return replace(self, idle=self.idle + 1)

    def rest(self, spent: float) -> float:
        """Return for how many seconds to rest.

        Args:
            spent: seconds that have passed since the last rest.
        """
        if self.every is not None:
            return max(0.0, self.every - spent)
        if self.idle:
            return min(IDLE, SOON * 2.0 ** min(self.idle - 1, 10))
        return max(SOON, spent * (1 / BUSY - 1))


class Pacer:
    """Keeps the pace of one table while it runs on.

    Args:
        every: seconds from step to step, None: to be found.
        stop: once it is set, no further step begins.
    """

    def __init__(self, every: float | None, stop: threading.Event):
        self.pace, self.stop = Pace(every), stop
        self._left = False

    def halts(self, before: Commit | None) -> bool:
        """Say whether to begin no further step in this look for rows.

        Args:
            before: the step before in the same look, which left something to take; a new bound holds from the next
                look on.
        """
        level = self.pace.level
        if before:
            self.pace = self.pace.stepped(before.seconds, more=True)
        self._left |= self.pace.level != level
        return self.stop.is_set() or self._left

    def rest(self, commits: list[Commit], spent: float) -> None:
        """Rest after a look that gave ``commits`` and took ``spent`` seconds, unless it left rows for a new bound.

        Records in which nothing but the watermark moves are no reason to look again soon.
        """
        if self._left:
            self._left = False
            return
        steps = [commit for commit in commits if not commit.passed_by]
        self.pace = self.pace.stepped(steps[-1].seconds, more=False) if steps else self.pace.rested()
        self.stop.wait(self.pace.rest(spent))
