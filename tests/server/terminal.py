"""A command on a terminal of its own, typed at and read as a person would."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

PATIENCE = 120.0
"""Seconds until it is given up on what should show; machines are busy."""


class Terminal:
    """What runs ``command``, and all that it has shown since somebody typed last."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str]):
        self._process, self._terminal = pty.fork()
        if self._process == 0:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # as under a shell that runs it in the background
            os.execve(sys.executable, list(command), dict(env))
        self.seen = ""

    def until(self, wanted: str) -> str:
        """Wait until what is shown matches, and return it."""
        ends = time.monotonic() + PATIENCE
        while re.search(wanted, self.seen) is None:
            assert time.monotonic() < ends, self.seen
            self._look()
        return self.seen

    def _look(self) -> None:
        """Read what is shown, if anything is before long."""
        if not select.select([self._terminal], [], [], 0.2)[0]:
            return
        data = os.read(self._terminal, 1 << 16)
        if b"\x1b[6n" in data:  # where is the cursor
            os.write(self._terminal, b"\x1b[1;1R")
        self.seen += re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", data).decode(errors="replace")

    def types(self, text: str, wanted: str) -> str:
        """Type a text, wait until what is shown from then on matches, and return it."""
        self.seen = ""
        os.write(self._terminal, text.encode())
        return self.until(wanted)

    def breaks_off(self) -> None:
        """Press Ctrl-C and wait until the prompt is back."""
        self.types("\x03", "warehouse>")

    def leaves(self, text: str) -> int:
        """Type a text that ends the command, and return its exit code."""
        self.seen = ""
        os.write(self._terminal, text.encode())
        ends = time.monotonic() + PATIENCE
        while (ended := os.waitpid(self._process, os.WNOHANG)) == (0, 0):
            assert time.monotonic() < ends, self.seen
            with suppress(OSError):  # its end of the line is closed
                self._look()
        return os.waitstatus_to_exitcode(ended[1])
