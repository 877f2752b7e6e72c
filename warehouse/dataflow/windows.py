"""Where in event time: the window kinds with their lengths in microseconds, and how rows are assigned to them.

Source: the Dataflow Model, sections 2.2 and 2.2.1 (AssignWindows, MergeWindows). Sliding windows are not
assigned row by row: rows fall into slices of gcd(size, every), and slices are rolled up into windows. Custom
windows are: the input's column ``__w_windows`` lists those of each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, gcd

from warehouse.dataflow.times import BEGINNING, END


@dataclass(frozen=True)
class Fixed:
    """Tumbling windows of ``size``, shifted by ``offset``, or by a phase of each key's own."""

    size: int
    offset: int = 0
    per_key: bool = False


@dataclass(frozen=True)
class Sliding:
    """Windows of ``size`` that start every ``every``."""

    size: int
    every: int
    offset: int = 0

    @property
    def slice(self) -> int:
        """Return the length of a slice: every window is a whole number of slices."""
        return gcd(self.size, self.every)

    @property
    def windows_per_slice(self) -> int:
        """Return how many windows a slice can fall into at most."""
        return ceil(self.size / self.every)

    def start_from(self, at: str) -> str:
        """Return SQL for the first start of a window not before ``at``."""
        return f"{at} + pmod({self.offset}L - ({at}), {self.every}L)"

    def first_start(self, at: str) -> str:
        """Return SQL for the start of the first window that holds the slice which starts ``at``, or the instant."""
        return self.start_from(f"({at} - {self.size - 1}L)")

    def last_start(self, at: str) -> str:
        """Return SQL for the start of the last window that holds it."""
        return f"{at} - pmod({at} - {self.offset}L, {self.every}L)"

    def end_of_first(self, at: int) -> int:
        """Return the end of the first window that holds ``at``, or the first end after it: that is the same."""
        return at + 1 + (self.offset + self.size - at - 1) % self.every

    def end_of_last(self, at: int) -> int:
        """Return the end of the last window that holds ``at``."""
        return at - (at - self.offset) % self.every + self.size


@dataclass(frozen=True)
class Sessions:
    """Rows of a key less than ``gap`` apart; None: the gap is the row's own, ``__w_gap``."""

    gap: int | None


@dataclass(frozen=True)
class Global:
    """One window over all event time."""


@dataclass(frozen=True)
class Custom:
    """Windows that a user's ``assign`` gives to each row, the input's column ``__w_windows``.

    Attributes:
        name: the clause as written, to be shown.
        merge: SQL over ``left_end`` and ``right_start``, TIMESTAMPs: whether a window joins those that start
            before it; None where windows stay as they were assigned.
    """

    name: str
    merge: str | None


Window = Fixed | Sliding | Sessions | Global | Custom


def merges(window: Window) -> bool:
    """Say whether windows of a key may unite."""
    return isinstance(window, Sessions) or (isinstance(window, Custom) and window.merge is not None)


def spreads(window: Window) -> bool:
    """Say whether a row may fall into several windows."""
    return isinstance(window, Sliding | Custom)


def remembered(window: Window) -> int | None:
    """Return for how long a closed window must still be known, so that a row which is not late finds it.

    None: for ever, since no bound is known for how far a row's own window may reach.
    """
    if isinstance(window, Sessions):
        return window.gap
    return None if merges(window) else 0


def reach(window: Window) -> int:
    """Return how far from a row's timestamp its windows can reach, as far as the query tells."""
    match window:
        case Fixed(size) | Sliding(size):
            return size
        case Sessions(gap):
            return gap or 0
    return 0


def joins(window: Window) -> str:
    """Return SQL over ``pe``, the end of what starts before, and ``ws``: whether a window of a key joins it."""
    if isinstance(window, Custom) and window.merge is not None:
        return f"coalesce({window.merge}, false)"
    return "ws < pe"


def are_in_time(listed: str) -> str:
    """Return SQL that says of an array of a row's own windows that there are some, of positive length, all in time."""
    each = f"w.ws < w.we AND {BEGINNING}L < w.ws AND w.we < {END}L"
    return f"coalesce(size({listed}) > 0 AND forall({listed}, w -> coalesce({each}, false)), false)"


def assignment(window: Window, keys: tuple[str, ...]) -> tuple[str, str]:
    """Return SQL for the start and the end that a row with column ``ts`` gets.

    For ``Sliding`` the two bound the row's slice, for ``Sessions`` its proto-session [ts, ts + gap), for ``Custom``
    all its windows.
    """
    match window:
        case Fixed(size, offset, per_key):
            phase = f"pmod(xxhash64({', '.join(keys)}), {size}L)" if per_key and keys else f"{offset}L"
            start = f"ts - pmod(ts - {phase}, {size}L)"
            return start, f"{start} + {size}L"
        case Sliding(offset=offset):
            start = f"ts - pmod(ts - {offset}L, {window.slice}L)"
            return start, f"{start} + {window.slice}L"
        case Sessions(gap):
            return "ts", f"ts + least(__w_gap, {END - 1}L - ts)" if gap is None else f"ts + {gap}L"
        case Global():
            return f"{BEGINNING}L", f"{END}L"
        case Custom():
            return "array_min(__w_windows.ws)", "array_max(__w_windows.we)"


def earliest_end(window: Window) -> str:
    """Return SQL for the end of the first window that a row of [ws, we) falls into (where there may be several)."""
    if isinstance(window, Custom):
        return "array_min(__w_windows.we)"
    if isinstance(window, Sliding):
        return f"{window.first_start('ws')} + {window.size}L"
    return "we"


def latest_end(window: Window) -> str:
    """Return SQL for the end of the last window that a row of [ws, we) falls into."""
    if isinstance(window, Sliding):
        return f"{window.last_start('ws')} + {window.size}L"
    return "array_max(__w_windows.we)" if isinstance(window, Custom) else "we"


def each_window(window: Window, relation: str, listed: str) -> str:
    """Return SQL for the rows of ``relation`` once per window that they fall into, with ``ws`` and ``we`` its bounds.

    Args:
        window: one that spreads.
        relation: *rows* of the step, or for ``Sliding`` slices.
        listed: the other columns to keep.
    """
    if isinstance(window, Sliding):
        return (
            f"SELECT {listed}, __w_start AS ws, __w_start + {window.size}L AS we FROM {relation}"
            f" LATERAL VIEW explode({windows_of_slice(window)}) AS __w_start"
        )
    return (
        f"SELECT {listed}, __w_window.ws AS ws, __w_window.we AS we FROM {relation}"
        " LATERAL VIEW explode(__w_windows) AS __w_window"
    )


def windows_of_slice(window: Sliding, at: str = "ws") -> str:
    """Return SQL for the array of starts of the windows that hold the slice which starts ``at``, or the instant."""
    first, last = window.first_start(at), window.last_start(at)
    starts = f"sequence({first}, {last}, {window.every}L)"
    # where windows are further apart than they are long, an instant may be in none
    return starts if window.size >= window.every else f"CASE WHEN {first} <= {last} THEN {starts} ELSE array() END"
