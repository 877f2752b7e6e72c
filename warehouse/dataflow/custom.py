"""Windows and triggers of a user's own: what a file in ``udfs/`` defines, as text that a step computes with.

A class here never sees a row. Its methods are called while a statement is planned, and each step; they get SQL
text, the names of columns, and return SQL text over them, which then runs in Spark like everything else. The same
call must always return the same text. Source: the Dataflow Model, sections 2.2 (AssignWindows, MergeWindows) and
2.3 (triggers are composed of what the user may define).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class CustomWindow:
    """A kind of windows: ``WINDOW name (ts, argument, …)``, where ``udfs/name.py`` holds the subclass.

    Example:
        >>> class HalfDays(CustomWindow):
        ...     def assign(self, ts):
        ...         day = f"date_trunc('DAY', {ts})"
        ...         noon = f"{day} + INTERVAL '12' HOUR"
        ...         start = f"if({ts} < {noon}, {day}, {noon})"
        ...         return start, f"{start} + INTERVAL '12' HOUR"
    """

    def assign(self, ts: str, *arguments: str) -> tuple[str, str] | Sequence[tuple[str, str]] | str:
        """Return the windows of a row: AssignWindows.

        Args:
            ts: SQL, the row's timestamp, a TIMESTAMP.
            arguments: SQL for what the statement gives behind the timestamp: expressions of the row.

        Returns:
            SQL for the start and the end of its window, both TIMESTAMP, half-open; a list of such pairs; or SQL for an
            array of structs of two TIMESTAMPs. A row that has no window, or one which does not end after it starts,
            is kept in ``bad_rows``.
        """
        raise NotImplementedError

    def merge(self, left_end: str, right_start: str) -> str | None:
        """Return whether a window of a group joins one that starts before it: MergeWindows. By default none does.

        Args:
            left_end: SQL, the latest end, a TIMESTAMP, of the windows that start before it.
            right_start: SQL, its start.

        Returns:
            SQL for a BOOLEAN that stays true when ``left_end`` grows; None: windows stay as they were assigned. What
            joins becomes one window from the earliest start to the latest end.
        """
        return None


@dataclass(frozen=True)
class Arrived:
    """What a trigger wants to know of the rows that arrived since the window's last pane.

    Attributes:
        type: its Spark type.
        sql: an aggregate over rows: ``count(1)``, or one of an argument, such as ``max(<argument>)``.
        merge: the name of the aggregate that makes one of several such results: ``sum``, ``max``, ``bool_or``, ….
        none: SQL for its value when nothing has arrived.
    """

    type: str
    sql: str
    merge: str
    none: str


@dataclass(frozen=True)
class Kept:
    """What a trigger remembers of a window from pane to pane.

    Attributes:
        type: its Spark type.
        first: SQL for its value in a new window.
        after_firing: SQL for its value once the trigger has fired.
        merge: the name of the aggregate that makes one of those of sessions that merge: ``min``, ``max``, ``sum``, ….
    """

    type: str
    first: str
    after_firing: str
    merge: str


@dataclass(frozen=True)
class TriggerView:
    """What a trigger may look at: SQL for what is known of one window.

    Attributes:
        start, end: the window's bounds, TIMESTAMP; NULL for GLOBAL.
        rows: how many rows have arrived since its last pane.
        first_arrival: when the first of them did, in processing time, a TIMESTAMP.
        prefix: of the columns of what ``arrived`` and ``kept`` declare.
    """

    start: str
    end: str
    rows: str
    first_arrival: str
    prefix: str

    def __getitem__(self, name: str) -> str:
        """Return SQL for what ``arrived`` or ``kept`` declared under ``name``."""
        return self.prefix + name


class CustomTrigger:
    """A unit of triggers: ``TRIGGER name (argument, …)``, where ``udfs/name.py`` holds the subclass.

    It composes with all other units, and follows their rules: it is looked at while its window has content that was
    not yet emitted, and what it counts runs from the window's last pane. It is due when one of ``on_rows``,
    ``on_watermark`` and ``on_time`` says so.

    Attributes:
        goes_on: it never finishes, as EVERY; by default it fires once and is finished, as AFTER.
    """

    goes_on = False

    def arrived(self, *arguments: str) -> Mapping[str, Arrived]:
        """Return what it wants to know of the rows, by name.

        Args:
            arguments: SQL for what the statement gives: constants as written, expressions of the row as columns.
        """
        return {}

    def kept(self, window: TriggerView, *arguments: str) -> Mapping[str, Kept]:
        """Return what it remembers of a window, by name."""
        return {}

    def on_rows(self, window: TriggerView, *arguments: str) -> str | None:
        """Return SQL for a BOOLEAN: it is due for what has arrived."""
        return None

    def on_watermark(self, window: TriggerView, *arguments: str) -> str | None:
        """Return SQL for the event time, a TIMESTAMP, at which the watermark makes it due."""
        return None

    def on_time(self, window: TriggerView, *arguments: str) -> str | None:
        """Return SQL for the processing time, a TIMESTAMP, at which it is due."""
        return None
