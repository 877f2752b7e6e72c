"""The query of a streaming table, bound: which streams it reads, and the one stateful block it may hold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warehouse.catalog.entries import Column, Pairs
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.triggers import Kind
from warehouse.dataflow.windows import Window, merges
from warehouse.errors import SourceText, Span
from warehouse.language.fragments import Fragment
from warehouse.planning.streams.sources import SourceKind, StreamSource

HIDDEN = "__w_row, __w_arrival"
"""Columns that every relation of a step carries along: the source row with its position, and its arrival."""


def source_view(number: int) -> str:
    """Return the name of the relation that stands for the query's stream ``number`` in a step."""
    return f"__w_source{number}"


@dataclass(frozen=True)
class Assigned:
    """Windows that rows are given and that nothing is aggregated over.

    Attributes:
        untimed: SQL over the source views for the rows that fall into none, as ``__w_row, __w_time, ts``; None
            where there can be no such rows.
    """

    window: Window
    untimed: Fragment | None


@dataclass(frozen=True)
class StreamingQuery:
    """What a streaming table computes.

    Attributes:
        source: the text whose spans ``input`` remembers (views and common table expressions written out).
        sources: the streams it reads, in the order of ``source_view`` numbers.
        input: SQL over the source views: the *input* relation of ``warehouse.dataflow``, or, without windows, the
            table's rows; either with the hidden columns.
        windowed: the stateful block, or None for a stateless table.
        columns: the table's columns.
        assigned: the windows that its rows are given without being aggregated.
        place: the user's words for the first stream, to point at when reading it fails.
        named: the columns that ``input`` computes for each row, by name, as SQL; empty where they cannot be told apart.
        joined: names and folders of the Delta tables beside rows that can be taken back.
        origin: what ``input`` computes them from, as text: FROM, WHERE and the WITH list.
        views: the views of ours that were written out in it, by qualified name, with their statements.
    """

    source: SourceText
    sources: tuple[StreamSource, ...]
    input: Fragment
    windowed: WindowedQuery | None
    columns: tuple[Column, ...]
    assigned: tuple[Assigned, ...] = ()
    place: Span | None = None
    named: tuple[tuple[str, str], ...] = ()
    origin: str = ""
    joined: tuple[tuple[str, Path], ...] = ()
    views: Pairs = ()

    @property
    def untimed(self) -> str:
        """Return SQL for the rows of a step that fall into no window which they are given; empty without any."""
        return " UNION ALL ".join(f"SELECT * FROM ({a.untimed.text})" for a in self.assigned if a.untimed)

    @property
    def definitions(self) -> tuple[str, ...]:
        """Return the user's own windows and triggers that it computes with, as they are defined."""
        return self.windowed.definitions if self.windowed else ()

    @property
    def bounded(self) -> bool:
        """Say whether all input ends (replays)."""
        return all(s.bounded for s in self.sources)

    @property
    def repeats(self) -> bool:
        """Say whether a window may be emitted more than once."""
        block = self.windowed
        if block is None:
            return any(getattr(s.entry, "repeats", False) for s in self.sources if s.kind is SourceKind.CHANGES)
        if block.first_only:
            return False
        ends = block.once and not block.trigger.parts and not block.trigger.goes_on
        if ends or (block.trigger.kind is Kind.AT_WATERMARK and block.lateness == 0 and not block.complete):
            return merges(block.window)
        return True

    @property
    def reads_changes(self) -> bool:
        """Say whether it reads the changes of a streaming table, withdrawals included."""
        return any(s.kind is SourceKind.CHANGES for s in self.sources)
