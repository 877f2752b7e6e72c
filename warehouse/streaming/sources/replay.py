"""``USING replay``: a recorded stream with its own clock.

``Schedule`` is the clock, without Spark: from the instants at which rows arrive and the watermark moves, and
the instant of the next timer, it says when the next step is and what the watermark is then. ``Recording`` is
the rows: read once, kept sorted by arrival, so that a step takes its rows from a few blocks of one partition.
``Recordings`` are those of a query that reads several: each keeps its steps, and all go by one clock.

What happens to odd rows: a record that does not parse is handed out in the step of its arrival if that much
of it could be read, else (like a record without arrival) in the recording's first step. Rows that are added
with an arrival at or before the clock would belong to steps that are over: they are never read, and
``Recording.check_overdue`` fails rather than let them vanish.
"""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from zoneinfo import ZoneInfo

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from warehouse.catalog.entries import StreamEntry
from warehouse.dataflow.times import BEGINNING, END
from warehouse.errors import fail
from warehouse.planning.streams.sources import StreamSource
from warehouse.planning.streams.streams import step_length
from warehouse.streaming.layout import ARRIVAL_IS_NULL, WHY
from warehouse.streaming.sources.paths import check_path
from warehouse.streaming.sources.sources import ARRIVAL, BAD, arrives_at, batch_frame, quoted

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ROWS_PER_PARTITION = 2_000_000

# ---------------------------------------------------------------- the clock


@dataclass(frozen=True)
class Schedule:
    """When a replay has its steps. All times are microseconds since 1970-01-01 UTC.

    Attributes:
        arrivals: the distinct instants at which rows arrive, rising.
        moves: the recorded watermark as (instant, watermark), rising in both; or ``none``, ``complete``; or
            None, when the stream's own WATERMARK clause moves it.
        step: the length of a micro-batch, or None when every instant is a step.
    """

    arrivals: tuple[int, ...]
    moves: tuple[tuple[int, int], ...] | str | None = None
    step: int | None = None

    @property
    def complete(self) -> bool:
        """Say whether each step starts at the beginning of time and ends at its end."""
        return self.moves == "complete"

    def next(self, clock: int | None, timer: int | None = None) -> int | None:
        """Return the instant of the next step, or None when no row, watermark move or timer is left.

        Args:
            clock: the instant of the last step, None before the first.
            timer: when the next processing-time timer is due. One that is already past waits for another
                reason to look at its window, and gives no step.
        """
        clock = BEGINNING if clock is None else clock
        after = self.reached(clock)
        ahead = _first(
            (
                self._first_after(self.arrivals, after), self._first_after(self._move_times, after),
                timer if timer is not None and clock < timer < END else None,
            )
        )  # fmt: skip
        return None if ahead is None else self._step_of(ahead)

    def next_row(self, clock: int) -> int | None:
        """Return the instant of the next step with rows, or None: all that is left once a table is drained."""
        arrival = self._first_after(self.arrivals, self.reached(clock))
        return None if arrival is None else self._step_of(arrival)

    def watermark(self, instant: int) -> int | None:
        """Return the watermark after the step at ``instant``; None when it follows from the rows."""
        match self.moves:
            case None:
                return None
            case "none":
                return BEGINNING
            case "complete":
                return END
        before = bisect_right(self._move_times, self.reached(instant))
        return self._recorded[before - 1][1] if before else BEGINNING

    def reached(self, instant: int) -> int:
        """Return the end of the last micro-batch that is over at ``instant``, which may be another replay's step."""
        return instant if self.step is None else instant // self.step * self.step

    def _step_of(self, instant: int) -> int:
        """Return the step that an instant belongs to: itself, or the end of its micro-batch."""
        return instant if self.step is None else -(-instant // self.step) * self.step

    @property
    def _recorded(self) -> tuple[tuple[int, int], ...]:
        return self.moves if isinstance(self.moves, tuple) else ()

    @cached_property
    def _move_times(self) -> tuple[int, ...]:
        return tuple(instant for instant, _ in self._recorded)

    @staticmethod
    def _first_after(instants: tuple[int, ...], after: int) -> int | None:
        at = bisect_right(instants, after)
        return instants[at] if at < len(instants) else None


def read_moves(text: str, zone: str = "UTC") -> tuple[tuple[int, int], ...]:
    r"""Return the recorded moves of a watermark from a CSV ``processing_time,watermark``.

    Times are ISO 8601; one without an offset is in ``zone``. An empty watermark is the beginning of time, and
    ``end`` (or the last microsecond of year 9999) its end.

    Raises:
        ValueError: with a reason that names the line.

    Example:
        >>> read_moves("processing_time,watermark\n1970-01-01 00:00:02,1970-01-01T00:00:01Z\n")
        ((2000000, 1000000),)
    """
    rows = csv.reader(io.StringIO(text.removeprefix("\ufeff")))
    header = [name.strip().lower() for name in next(rows, [])]
    if header != ["processing_time", "watermark"]:
        raise ValueError(f"its first line is {','.join(header) or 'empty'}")
    moves: list[tuple[int, int]] = []
    for row in rows:
        if not row:
            continue
        if len(row) != 2:
            raise ValueError(f"line {rows.line_num} has {len(row)} values")
        try:
            move = _micros(row[0], zone), _watermark(row[1], zone)
        except ValueError as error:
            raise ValueError(f"line {rows.line_num}: {error}") from None
        if moves and (move[0] <= moves[-1][0] or move[1] < moves[-1][1]):
            raise ValueError(f"line {rows.line_num} goes back in time")
        moves.append(move)
    return tuple(moves)


def _watermark(text: str, zone: str) -> int:
    if not text.strip():
        return BEGINNING
    if text.strip().lower() == "end":
        return END
    micros = _micros(text, zone)
    return END if micros == _micros("9999-12-31 23:59:59.999999", "UTC") else micros


def _micros(text: str, zone: str) -> int:
    moment = datetime.fromisoformat(text.strip())
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(zone))
    return (moment - _EPOCH) // _MICROSECOND


def watermark_option(entry: StreamEntry) -> tuple[tuple[int, int], ...] | str | None:
    """Return what the option ``watermark`` of a replay stands for.

    Raises:
        WarehouseError: it names a file that cannot be read, or that is no recording of a watermark.
    """
    value = entry.option("watermark")
    if value is None or value.strip().lower() in ("none", "complete"):
        return value and value.strip().lower()
    try:
        return read_moves(Path(value).read_text(encoding="utf-8"), entry.option("timeZone") or "UTC")
    except OSError as error:
        return fail("WAREHOUSE_REPLAY_WATERMARK", file=value, reason=(error.strerror or str(error)).lower())
    except ValueError as error:
        return fail("WAREHOUSE_REPLAY_WATERMARK", file=value, reason=error)


# ---------------------------------------------------------------- the rows


@dataclass
class Recording:
    """A recording, read: its clock and, step by step, its rows.

    Attributes:
        schedule: when it has its steps.
    """

    schedule: Schedule
    entry: StreamEntry
    _rows: DataFrame
    _before: tuple[int, ...]

    def rows(self, previous: int | None, instant: int) -> DataFrame:
        """Return what arrived in (``previous``, ``instant``].

        The columns are the stream's, ``BAD``, ``POSITION``, ``ARRIVAL`` and ``WHY``. A first step (``previous`` None)
        takes everything up to ``instant``.
        """
        arrived = f"{ARRIVAL} <= {self.schedule.reached(instant)}L"
        if previous is not None:
            arrived += f" AND {ARRIVAL} > {self.schedule.reached(previous)}L"
        return self._rows.where(arrived)

    def count(self, instant: int | None) -> int:
        """Return how many rows a step at ``instant`` and those before it take; none before the first step."""
        at = 0 if instant is None else bisect_right(self.schedule.arrivals, self.schedule.reached(instant))
        return self._before[at - 1] if at else 0

    def close(self) -> None:
        """Forget the rows that are kept in memory."""
        self._rows.unpersist()


@dataclass(frozen=True)
class Recordings:
    """The recordings that a query reads, by the numbers of its sources. ``close`` gives their memory back."""

    each: tuple[Recording, ...]

    @property
    def complete(self) -> bool:
        """Say whether each step starts at the beginning of time and ends at its end."""
        return all(recording.schedule.complete for recording in self.each)

    def next(self, clock: int | None, timer: int | None = None) -> int | None:
        """Return the instant of the next step of any of them; see ``Schedule.next``."""
        return _first(recording.schedule.next(clock, timer) for recording in self.each)

    def next_row(self, clock: int) -> int | None:
        """Return the instant of the next step with rows; see ``Schedule.next_row``."""
        return _first(recording.schedule.next_row(clock) for recording in self.each)

    def watermarks(self, instant: int) -> dict[str, int]:
        """Return the recorded watermarks after the step at ``instant``, by source number."""
        found = {str(number): r.schedule.watermark(instant) for number, r in enumerate(self.each)}
        return {number: watermark for number, watermark in found.items() if watermark is not None}

    def rows(self, previous: int | None, instant: int) -> list[DataFrame] | None:
        """Return the rows of the step at ``instant``, which follows the one at ``previous``, or None without any."""
        if self.count(instant) == self.count(previous):
            return None
        return [recording.rows(previous, instant) for recording in self.each]

    def count(self, instant: int | None) -> int:
        """Return how many rows the steps up to ``instant`` take."""
        return sum(recording.count(instant) for recording in self.each)

    def check_overdue(self, clock: int | None, read: int) -> None:
        """Fail when more rows lie at or before ``clock`` than were read up to it.

        Args:
            clock: the instant of the last step, None before the first.
            read: how many rows all steps so far have read, broken ones included.
        """
        if clock is not None and self.count(clock) > read:
            moment = (_EPOCH + timedelta(microseconds=clock)).isoformat()
            names = " and ".join(dict.fromkeys(recording.entry.qualified for recording in self.each))
            fail("WAREHOUSE_REPLAY_OVERDUE", count=self.count(clock) - read, name=names, clock=moment)

    def close(self) -> None:
        """Forget the rows that are kept in memory."""
        for recording in self.each:
            recording.close()


def _first(instants: Iterable[int | None]) -> int | None:
    return min((instant for instant in instants if instant is not None), default=None)


def open_recordings(spark: SparkSession, sources: Sequence[StreamSource]) -> Recordings:
    """Read the recordings of replays that a query reads, one that is named twice once.

    Raises:
        WarehouseError: a recording or its watermark cannot be read.
    """
    named = {source.name: source.entry for source in sources if isinstance(source.entry, StreamEntry)}
    opened = {name: open_recording(spark, entry) for name, entry in named.items()}
    return Recordings(tuple(_as_asked(opened[source.name], source) for source in sources))


def _as_asked(recording: Recording, source: StreamSource) -> Recording:
    """Return a recording as a query reads it, whose own WATERMARK clause wins over the watermark that was recorded."""
    if source.reference.watermark is None or recording.schedule.complete:
        return recording
    return replace(recording, schedule=replace(recording.schedule, moves=None))


def open_recording(spark: SparkSession, entry: StreamEntry) -> Recording:
    """Read the recording of a replay stream.

    Raises:
        WarehouseError: the recording or its watermark cannot be read.
    """
    check_path(spark, entry)
    watermark = watermark_option(entry)
    arrives = F.expr(f"unix_micros({arrives_at(entry)})")
    read = batch_frame(spark, entry, entry.parsed_format).withColumn(ARRIVAL, arrives)
    never = f"{ARRIVAL} IS NULL AND {BAD} IS NULL"
    read = read.withColumn(WHY, F.expr(f"if({never}, '{ARRIVAL_IS_NULL}', NULL)"))
    read = read.withColumn(BAD, F.expr(f"if({never}, {_as_text(entry)}, {BAD})"))
    raw = read.persist(StorageLevel.MEMORY_AND_DISK)
    counted = {row[0]: row[1] for row in raw.groupBy(ARRIVAL).count().collect()}
    without = counted.pop(None, 0)
    first = min(counted, default=0)
    if without:
        counted[first] = counted.get(first, 0) + without
    arrivals = tuple(sorted(counted))
    before = tuple(accumulate(counted[instant] for instant in arrivals))
    parts = 1 + (before[-1] if before else 0) // _ROWS_PER_PARTITION
    dated = raw.withColumn(ARRIVAL, F.coalesce(F.col(ARRIVAL), F.lit(first).cast("bigint")))
    spread = dated.coalesce(1) if parts == 1 else dated.repartitionByRange(parts, ARRIVAL)
    kept = spread.sortWithinPartitions(ARRIVAL).persist(StorageLevel.MEMORY_AND_DISK)
    kept.count()
    raw.unpersist()
    schedule = Schedule(arrivals, watermark, step_length(entry.option("step") or "arrival"))
    return Recording(schedule, entry, kept, before)


def _as_text(entry: StreamEntry) -> str:
    """Return SQL for a row as text, where its record's own text is not known."""
    return f"to_json(struct({', '.join(quoted(c.name) for c in entry.columns)}))"
