"""Who is told of the steps of streaming tables: the engine's own listener of each, a session's of what it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.dataflow.times import END, shown
from warehouse.execution.results import Progress, Report
from warehouse.streaming.log import Commit


class Listeners:
    """Those who listen, of all sessions."""

    def __init__(self) -> None:
        self._of_all: list[Report] = []
        self._of_one: list[tuple[str, Report]] = []

    def of_all(self, listener: Report) -> None:
        """Let somebody hear of each step, those in the background too."""
        self._of_all.append(listener)

    @contextmanager
    def watching(self, entry: StreamingTableEntry, listener: Report) -> Iterator[None]:
        """Within this, somebody hears of the steps of a table."""
        watcher = (entry.qualified, listener)
        self._of_one.append(watcher)
        try:
            yield
        finally:
            self._of_one.remove(watcher)

    def tell(self, entry: StreamingTableEntry, commit: Commit) -> None:
        """Tell those who listen of a step."""
        told = [listener for table, listener in tuple(self._of_one) if table == entry.qualified] + self._of_all
        if not told:
            return
        lag = (commit.now - commit.after) / 1e6 if abs(commit.after) < END else None
        progress = Progress(
            entry.name, commit.step, commit.rows, commit.late, commit.panes, shown(commit.after), lag, commit.seconds
        )
        for listener in told:
            listener(progress)
