"""The client's side of a background engine: finds it or starts it, sends what is asked, passes on what comes.

Imports little: this is the whole way of a command whose engine is warm.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from warehouse import __version__
from warehouse.cli import frames
from warehouse.cli.console import NotWritten

STARTS_WITHIN = 120.0
MOST_IDLE = 3
"""Engines of other folders that may wait in the background when one more is started: each holds much memory."""


class NoEngine(Exception):
    """No engine could be found or started; the text says why, as the engine put it."""


@dataclass(frozen=True)
class Request:
    """What a background engine is asked to do.

    Attributes:
        words: the command line, options and all; texts are read on this side.
        texts: each SQL text with the name of its file.
        folder: where relative paths start.
        output_width, error_width: of the terminals, None for anything else.
        version: of this package; another one is refused.
    """

    words: tuple[str, ...]
    texts: tuple[tuple[str, str | None], ...]
    folder: str
    output_width: int | None
    error_width: int | None
    version: str = __version__

    def to_json(self) -> bytes:
        """Return the request as it is sent."""
        return json.dumps(self.__dict__).encode()


def request(words: Sequence[str], texts: Sequence[tuple[str, str | None]]) -> Request:
    """Return a request made here and now."""
    width = shutil.get_terminal_size().columns
    return Request(
        tuple(words), tuple(texts), os.getcwd(),
        width if sys.stdout.isatty() else None, width if sys.stderr.isatty() else None,
    )  # fmt: skip


def ask_to_give_way(folder: Path) -> None:
    """Have the folder's engine end if it is there for nobody and runs nothing; return when it has, or will not."""
    connection = frames.connect(folder)
    if connection is None:
        return
    with connection, contextlib.suppress(frames.Broken, OSError):  # it breaks when the process ends
        frames.send(connection, b"Y")
        frames.receive(connection)


def make_room() -> None:
    """Have engines of other folders end that nobody needs, but for those asked last; does not wait for them."""
    with contextlib.suppress(OSError):
        sockets = sorted(frames.home().glob("*.sock"), key=lambda path: path.lstat().st_mtime)
        for path in sockets[:-MOST_IDLE]:
            with contextlib.suppress(OSError), frames.connected(path) as connection:
                frames.send(connection, b"Y")


def engine(folder: Path, started: Any = None, settings: Mapping[str, str] | None = None) -> socket.socket:
    """Return a connection to the folder's engine, which is started when there is none.

    Args:
        folder: the warehouse folder.
        started: called when one has to be started.
        settings: of an engine that has to be started, over those of the folder and the environment.

    Raises:
        NoEngine: it does not start.
    """
    found = frames.connect(folder)
    if found is not None:
        return found
    if started is not None:
        started()
    make_room()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "warehouse.server.background", str(folder), json.dumps(dict(settings or {}))],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True,
        )  # fmt: skip
        until = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < until:
            ended = process.poll() is not None
            found = frames.connect(folder)
            if found is not None:
                return found
            if ended and process.returncode == 0:  # another one was there before it, and has gone by now
                return engine(folder, None, settings)
            if ended:
                said.seek(0)
                raise NoEngine(said.read().decode(errors="replace").strip())
            time.sleep(0.05)
    raise NoEngine(f"the engine of {folder} does not answer")


def run(connection: socket.socket, asked: Request) -> int:
    """Have a request carried out, with results on standard output and the rest on standard error; return the exit code.

    Raises:
        frames.Broken: the engine went away.
        NotWritten: standard output takes no more.
    """
    guard = threading.Lock()

    def tell(kind: bytes) -> None:
        with guard, contextlib.suppress(OSError):
            frames.send(connection, kind)

    pressed: list[float] = []

    def interrupted(number: int, frame: FrameType | None) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(time.monotonic())
        tell(b"C")

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        with guard:
            frames.send(connection, b"R", asked.to_json())
        gone, refused = False, None
        while True:
            kind, data = frames.receive(connection)
            if kind == b"X":
                if refused is not None:
                    raise refused
                return int(data)
            if kind == b"E":
                sys.stderr.buffer.write(data)
                sys.stderr.flush()
            elif kind == b"O" and not gone:
                try:
                    sys.stdout.buffer.write(data)
                    sys.stdout.buffer.flush()
                except OSError as error:
                    gone = True
                    tell(b"G")
                    refused = None if isinstance(error, BrokenPipeError) else NotWritten(error)
    finally:
        signal.signal(signal.SIGINT, before)
