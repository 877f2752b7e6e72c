"""Streaming tables that run on in the background, each in a thread of its own, from START to STOP."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.execution.session import enter
from warehouse.streaming.feeding.common import Common
from warehouse.streaming.feeding.feeds import Feeds
from warehouse.streaming.feeding.pace import Pacer


@dataclass
class _Run:
    """A table's thread, the bell that stops it, its pace, and what went wrong."""

    thread: threading.Thread
    stop: threading.Event
    every: int | None
    failure: list[BaseException]


class Running:
    """Starts tables and stops them."""

    def __init__(self, common: Common, feeds: Feeds):
        self.spark, self.catalog, self.feeds = common.spark, common.catalog, feeds
        self._runs: dict[str, _Run] = {}
        self._switch = threading.Lock()
        """Held by START and STOP while they look at what runs and change it, never while they wait for a step."""

    def start(self, entry: StreamingTableEntry, every: int | None) -> bool:
        """Run a streaming table in the background; say whether it was not running yet.

        Args:
            entry: of the table.
            every: microseconds from one step to the next; None: the table chooses.
        """
        bell, failure = threading.Event(), list[BaseException]()
        pacer = Pacer(every / 1e6 if every else None, bell)

        def run() -> None:
            enter(self.spark)
            try:
                self._run_on(entry, pacer)
            except BaseException as error:
                failure.append(error)

        thread = threading.Thread(target=run, name=f"warehouse-{entry.name}", daemon=True)
        with self._switch:
            if self.runs(entry):
                return False
            thread.start()
            self._runs[entry.id] = _Run(thread, bell, every, failure)
        return True

    def _run_on(self, entry: StreamingTableEntry, pacer: Pacer) -> None:
        """Refresh a table at a pace until it is stopped; its sources stay open in between."""
        with ThreadPoolExecutor(max_workers=1) as meanwhile, ExitStack() as opened:
            feed = None
            while not pacer.stop.is_set():
                begun, before = time.monotonic(), feed
                feed = self.feeds.of(entry)
                if feed is not before:
                    opened.close()
                    opened.callback(feed.close)
                commits = list(feed.refresh(pacer.halts, pacer.pace.bound, meanwhile))
                feed.look()
                self.feeds.send(entry)
                pacer.rest(commits, time.monotonic() - begun)

    def stop(self, entry: StreamingTableEntry, quiet: bool = False) -> bool:
        """Stop a background run after its current step; say whether there was one.

        Raises:
            BaseException: what stopped it before, unless ``quiet``.
        """
        with self._switch:
            run = self._runs.pop(entry.id, None)
        if run is None:
            return False
        run.stop.set()
        run.thread.join()
        if run.failure and not quiet:
            raise run.failure[0]
        return True

    @contextmanager
    def resting(self, entry: StreamingTableEntry) -> Iterator[None]:
        """Let a table rest; what has its name then runs on at the same pace, if it did."""
        run = self._runs.get(entry.id) if self.runs(entry) else None
        self.stop(entry, quiet=True)
        try:
            yield
        finally:
            if run:
                self.start(self.catalog.streaming_tables.get(entry.schema, entry.name) or entry, run.every)

    def runs(self, entry: StreamingTableEntry) -> bool:
        """Say whether the table runs in the background of this process."""
        found = self._runs.get(entry.id)
        return found is not None and found.thread.is_alive()

    def interval(self, entry: StreamingTableEntry) -> int | None:
        """Return the microseconds between steps of a table that runs in the background; None where it chooses them."""
        found = self._runs.get(entry.id)
        return found.every if found else None

    def failure(self, entry: StreamingTableEntry) -> BaseException | None:
        """Return what has ended the table's run in the background, None if nothing has, or if STOP has told it."""
        found = self._runs.get(entry.id)
        return found.failure[0] if found and found.failure else None
