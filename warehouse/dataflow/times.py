"""Time inside the step: microseconds since 1970-01-01 UTC as BIGINT, with two sentinels for the ends of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

BEGINNING = -(2**60)
"""The beginning of time: where a watermark starts, and the start of the GLOBAL window."""

END = 2**60
"""The end of time: where DRAIN moves the watermark, and the end of the GLOBAL window."""

SECOND = 1_000_000
DAY = 86_400 * SECOND
CLOCKS, CLOCK = "__w_clocks", "__w_clock"
"""The relation, and its one column, in which the texts of a step find its clock."""
_ROW = f"(SELECT {CLOCK} FROM {CLOCKS})"
LAST_TIMESTAMP = "TIMESTAMP'9999-12-31 23:59:59.999999 UTC'"


@dataclass(frozen=True)
class Clock:
    """All a step may know about time; logged before the step runs, so that it repeats exactly.

    Attributes:
        step: the step's number.
        now: processing time, microseconds.
        before, after: the watermark before and after the step's rows.
        drain: the step moves the watermark to the end of time for good.
        complete: every step starts at the beginning of time and runs to its end (replay of micro-batches).
        faster: per percentage of AT WATERMARK PERCENTILE, its watermark after the step.
        compiled: code is generated for the step.
        since: of windows that are slices, the start of the last one that a step before may know.
    """

    step: int
    now: int
    before: int
    after: int
    drain: bool = False
    complete: bool = False
    faster: Mapping[float, int] = field(default_factory=dict)
    compiled: bool = True
    since: int = BEGINNING

    @property
    def values(self) -> dict[str, int]:
        """Return the fields of the one row of the relation ``CLOCKS``, its column ``CLOCK``.

        So the texts of steps that follow each other are the same, and are planned and compiled once.
        """
        values = {"step": self.step, "now": self.now, "before": self.before, "after": self.after, "since": self.since}
        for number, percent in enumerate(sorted(self.faster)):
            values[f"faster_{number}"] = max(self.after, self.faster[percent])
        return values

    def reading(self, of: str = "") -> Reading:
        """Return the clock as fields of the struct ``of``, the row itself unless given (and code is generated)."""
        of = of if of and self.compiled else _ROW
        return self._read(lambda name: f"{of}.{name}")

    def beside(self, relation: str) -> str:
        """Return SQL for ``relation`` with the clock as its column ``CLOCK``, where ``reading`` needs one."""
        return f"SELECT *, {_ROW} AS {CLOCK} FROM {relation}" if self.compiled else f"SELECT * FROM {relation}"

    def rounded_up(self, unit: int) -> Clock:
        """Return a clock at which everything is due that is due now: later by less than ``unit`` microseconds."""

        def up(moment: int) -> int:
            return min(END, -(-moment // unit) * unit)

        faster = {percent: up(moment) for percent, moment in self.faster.items()}
        return replace(self, now=up(self.now), after=up(self.after), faster=faster)

    def literals(self) -> Reading:
        """Return the clock as numbers: what Parquet's statistics are compared with has to be one."""
        values = self.values
        return self._read(lambda name: f"{values[name]}L")

    def _read(self, value: Callable[[str], str]) -> Reading:
        """Return the clock as the SQL that ``value`` gives for each field of the row."""
        step, now, before, after, since = map(value, ("step", "now", "before", "after", "since"))
        faster = {percent: value(f"faster_{i}") for i, percent in enumerate(sorted(self.faster))}
        return Reading(step, now, before, after, since, faster, self.drain, self.complete)


def moment(micros: int) -> str:
    """Return SQL for a moment which, unlike a literal, leaves the code that Spark generates as it is; see ``Clock``."""
    return f"(SELECT __w_moment FROM VALUES ({micros}L) AS __w_moments(__w_moment))"


@dataclass(frozen=True)
class Reading:
    """A ``Clock`` as SQL: BIGINT expressions of the same names, a faster watermark never before the full one."""

    step: str
    now: str
    before: str
    after: str
    since: str
    faster: Mapping[float, str]
    drain: bool
    complete: bool


def is_in_time(micros: str, reach: int = 0) -> str:
    """Return SQL that says of a moment whether what lies within ``reach`` microseconds of it is between the two ends.

    No operation in it leaves BIGINT, whatever TIMESTAMP the moment is.

    Example:
        >>> is_in_time("ts")
        'ts DIV 1152921504606846976L = 0'
    """
    return f"{micros} DIV {END - reach}L = 0" if reach < END else "false"


def plus(column: str, micros: int | None) -> str:
    """Return SQL for ``column`` + ``micros``, never beyond the end of time; None stands for an unbounded length."""
    if micros is None:
        return f"{END}L"
    return f"least({column} + {micros}L, {END}L)" if micros else column


def bound_timestamp(column: str) -> str:
    """Return SQL for a window bound as TIMESTAMP, NULL at either end of time (the GLOBAL window)."""
    return f"CASE WHEN abs({column}) < {END}L THEN timestamp_micros({column}) END"


def watermark_timestamp(micros: str) -> str:
    """Return SQL for a watermark as TIMESTAMP: NULL at the beginning of time, year 9999 at its end."""
    moment = f"WHEN {micros} >= {END}L THEN {LAST_TIMESTAMP} ELSE timestamp_micros({micros})"
    return f"CASE WHEN {micros} > {BEGINNING}L THEN CASE {moment} END END"


def shown(micros: int) -> str:
    """Return an instant in ISO 8601, ``-`` at the beginning of time and ``end`` at its end.

    Example:
        >>> shown(1_714_564_800_000_000), shown(BEGINNING), shown(END)
        ('2024-05-01 12:00:00+00:00', '-', 'end')
    """
    if micros <= BEGINNING:
        return "-"
    if micros >= END:
        return "end"
    return datetime.fromtimestamp(micros / 1e6, UTC).isoformat(sep=" ")
