"""Where in event time: the window kinds with their lengths in microseconds, and how rows are assigned to them.

Source: the Dataflow Model, sections 2.2 and 2.2.1 (AssignWindows, MergeWindows). Sliding windows are not
assigned row by row: rows fall into slices of gcd(size, every), and slices are rolled up into windows.
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


@dataclass(frozen=True)
class Sessions:
    """Rows of a key less than ``gap`` apart; None: the gap is the row's own, ``__w_gap``."""

    gap: int | None


@dataclass(frozen=True)
class Global:
    """One window over all event time."""


Window = Fixed | Sliding | Sessions | Global


def assignment(window: Window, keys: tuple[str, ...]) -> tuple[str, str]:
    """Return SQL for the start and the end that a row with column ``ts`` gets.

    For ``Sliding`` the two bound the row's slice, for ``Sessions`` its proto-session [ts, ts + gap).
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
            return "ts", "ts + __w_gap" if gap is None else f"ts + {gap}L"
        case Global():
            return f"{BEGINNING}L", f"{END}L"


def earliest_end(window: Window) -> str:
    """Return SQL for the end of the first window that a row of [ws, we) falls into (only sliding ones differ)."""
    if isinstance(window, Sliding):
        # the last multiple of `every` not after the slice is its last window; its first starts up to size before
        first = (
            f"ws - pmod(ws - {window.offset}L, {window.every}L)"
            f" - {((window.size - 1) // window.every)}L * {window.every}L"
        )
        return (
            f"CASE WHEN {first} + {window.size}L > ws THEN {first} ELSE {first} + {window.every}L END + {window.size}L"
        )
    return "we"


def windows_of_slice(window: Sliding, at: str = "ws") -> str:
    """Return SQL for the array of starts of the windows that hold the slice which starts ``at``, or the instant."""
    last = f"{at} - pmod({at} - {window.offset}L, {window.every}L)"
    starts = f"transform(sequence(0, {window.windows_per_slice - 1}), __w_n -> {last} - __w_n * {window.every}L)"
    return f"filter({starts}, __w_s -> {at} < __w_s + {window.size}L)"
