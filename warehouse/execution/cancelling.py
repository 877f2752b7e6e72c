"""The end of a statement that the user wants to end.

Spark cancels jobs, not statements: one whose next job has yet to begin, because it is being planned, would run on. So
what is cancelled is cancelled again and again, until the statement has given up.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Iterator

from pyspark import SparkContext

INTERVAL = 0.1
"""Seconds between two looks for jobs of a statement that was cancelled."""


class Cancelling:
    """Cancels the statements of one session, one at a time, from any thread.

    Attributes:
        asked: whether the statement that runs, or the last one that ran, was cancelled.
    """

    def __init__(self, context: SparkContext):
        self._context = context
        self._tag = f"warehouse-{secrets.token_hex(8)}"
        self._ended = threading.Event()
        self._ended.set()
        self._guard = threading.RLock()
        """Held while a statement ends and while jobs are cancelled: the next statement has the same tag.

        One thread may come to both at once: a statement that nobody reads to its end ends when Python clears up.
        """
        self.asked = threading.Event()

    @contextlib.contextmanager
    def statement(self) -> Iterator[None]:
        """Within this, the jobs of this thread are those that ``cancel`` ends."""
        self.asked.clear()
        ended = self._ended = threading.Event()
        self._context.addJobTag(self._tag)
        try:
            yield
        finally:
            with self._guard:
                ended.set()
            with contextlib.suppress(Exception):  # the session may end under a statement
                self._context.removeJobTag(self._tag)

    def cancel(self) -> None:
        """Cancel the statement that is running; nothing happens when none is."""
        self.asked.set()
        threading.Thread(target=self._insist, args=(self._ended,), name=f"cancel-{self._tag}", daemon=True).start()

    def _insist(self, ended: threading.Event) -> None:
        while not ended.is_set():
            with self._guard, contextlib.suppress(Exception):
                if not ended.is_set():
                    self._context.cancelJobsWithTag(self._tag)
            ended.wait(INTERVAL)
