"""The prompt's connection to an engine: the one in the background, or one in this process behind the same socket."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from warehouse.cli import frames, remote
from warehouse.cli.codes import CANCELLED, OK


class Talk:
    """Statements to an engine and what it says; the engine comes up in a thread.

    Attributes:
        trouble: why there is no engine, once that is known.
    """

    def __init__(self, folder: Path, embedded: bool):
        """Begin to find or start the engine."""
        self.trouble: str | None = None
        self._folder, self._embedded = folder, embedded
        self._connection: socket.socket | None = None
        self._own: Any = None
        self._ready = threading.Event()
        threading.Thread(target=self._open, daemon=True).start()

    @property
    def ready(self) -> bool:
        """Say whether the engine is there."""
        return self._ready.is_set() and self.trouble is None

    def wait(self) -> None:
        """Wait until it is there, or is known not to come.

        Raises:
            remote.NoEngine: it does not come.
        """
        self._ready.wait()
        if self.trouble is not None:
            raise remote.NoEngine(self.trouble)

    def run(
        self,
        words: Sequence[str],
        text: str,
        write: Callable[[bytes], Any],
        width: int | None = None,
        hear: bool = True,
    ) -> int:
        """Run a text and hand its standard output to ``write`` as it comes; return the exit code.

        Raises:
            remote.NoEngine: there is none, or it went away.
            KeyboardInterrupt: Ctrl-C was pressed twice, or when there was nothing left to cancel.
        """
        self.wait()
        assert self._connection is not None
        connection, pressed = self._connection, list[int]()

        def interrupted(number: int, frame: FrameType | None) -> None:
            if pressed:
                raise KeyboardInterrupt
            pressed.append(number)
            frames.send(connection, b"C")

        main = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, interrupted) if main else None
        asked = remote.Request(
            tuple(words), ((text, None),), str(Path.cwd()), width, width and shutil.get_terminal_size().columns
        )
        try:
            frames.send(connection, b"R", asked.to_json())
            while True:
                kind, data = frames.receive(connection)
                if kind == b"X":
                    code = int(data)
                    break
                if kind == b"E" and hear:
                    sys.stderr.buffer.write(data)
                    sys.stderr.flush()
                elif kind == b"O":
                    write(data)
        except KeyboardInterrupt:  # what still comes of this statement must not be taken for the next one's
            print("not waited for; the next statement begins a new session", file=sys.stderr)
            self.again()
            raise
        except (frames.Broken, OSError):
            raise remote.NoEngine("the engine went away; the next statement starts it again") from None
        finally:
            if main:
                signal.signal(signal.SIGINT, before)
        if pressed and code == OK:  # looked at last of all: it may have come with the statement's end
            raise KeyboardInterrupt
        return code

    def rows(self, text: str, hear: bool = True) -> list[dict[str, Any]]:
        """Return the rows of a query as objects; none when it fails, which is told where somebody is to hear it.

        Raises:
            KeyboardInterrupt: Ctrl-C was pressed.
        """
        out = io.BytesIO()
        if self.run(["--format", "jsonl", "--quiet"], text, out.write, hear=hear) == CANCELLED:
            raise KeyboardInterrupt
        return [json.loads(line) for line in out.getvalue().splitlines()]

    def again(self) -> None:
        """Look for the engine anew."""
        if self._connection is not None:
            self._connection.close()
        self._ready.clear()
        self.trouble = None
        threading.Thread(target=self._open, daemon=True).start()

    def close(self) -> None:
        """Leave; an engine of this process ends."""
        if self._connection is not None:
            self._connection.close()
        if self._own is not None:
            local, engine = self._own
            local.close()
            engine.close()

    def _open(self) -> None:
        try:
            if self._embedded:
                self._own = self._own or self._here()
                self._connection = frames.connect(self._folder)
                if self._connection is None:
                    self.trouble = "the engine of this process does not answer"
            else:
                self._connection = remote.engine(self._folder)
        except Exception as error:  # whatever it is, the prompt tells it
            self.trouble = str(error)
        finally:
            self._ready.set()

    def _here(self) -> tuple[Any, Any]:
        from warehouse.engine import Engine
        from warehouse.server.background import Local

        engine = Engine.open(self._folder)
        return Local(engine), engine


class Pager:
    """Standard output that becomes a pager's when more comes than the screen holds."""

    def __init__(self, command: str | None):
        """Page with ``command``, or never when it is None."""
        self._command, self._held, self._lines = command, bytearray(), 0
        self._process: subprocess.Popen[bytes] | None = None

    def write(self, data: bytes) -> None:
        """Take some output."""
        if self._process is None and self._command:
            self._held += data
            self._lines += data.count(b"\n")
            if self._lines < shutil.get_terminal_size().lines - 2:
                return
            self._process = subprocess.Popen(self._command, shell=True, stdin=subprocess.PIPE)
            data, self._held = bytes(self._held), bytearray()
        if self._process is None:
            sys.stdout.buffer.write(data)
            sys.stdout.flush()
            return
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # its reader has seen enough
            self._process.stdin.write(data)

    def close(self) -> None:
        """Show what is held, and wait for the reader."""
        if self._process is None:
            sys.stdout.buffer.write(bytes(self._held))
            sys.stdout.flush()
            return
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        while True:
            try:
                self._process.wait()
                return
            except KeyboardInterrupt:
                continue
