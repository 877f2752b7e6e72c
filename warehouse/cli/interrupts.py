"""Ctrl-C: the first one cancels the running statement through the engine, the second one stops waiting for that."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Remembers that the user pressed Ctrl-C.

    Attributes:
        happened: True from the first Ctrl-C on.
    """

    def __init__(self) -> None:
        """Start with nothing pressed."""
        self.happened = False
        self._cancel: Callable[[], None] | None = None

    @contextmanager
    def cancelling(self, cancel: Callable[[], None]) -> Iterator[None]:
        """Within this, Ctrl-C calls ``cancel`` instead of breaking off where the program stands."""
        self._cancel = cancel
        before = signal.getsignal(signal.SIGINT)
        # Set anew for every statement: PySpark puts a handler of its own in place when it starts.
        ours = threading.current_thread() is threading.main_thread()
        if ours:
            signal.signal(signal.SIGINT, self._handle)
        try:
            yield
        finally:
            self._cancel = None
            if ours:
                signal.signal(signal.SIGINT, before)

    def press(self) -> None:
        """Do what the first Ctrl-C does, on behalf of a client that is elsewhere."""
        self.happened = True
        if self._cancel is not None:
            self._cancel()

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.happened or self._cancel is None:
            self.happened = True
            raise KeyboardInterrupt
        self.happened = True
        # On a thread of its own: this one may stand in the middle of a call to the engine.
        threading.Thread(target=self._cancel, daemon=True).start()
