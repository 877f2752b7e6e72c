"""What travels between the command line and a background engine: a letter, a length, bytes.

From the client: ``R`` a request (JSON), ``C`` cancel, ``G`` nobody reads the results any more, ``Q`` end the engine,
``Y`` end it if nobody else needs it.
From the engine: ``O`` for standard output, ``E`` for standard error, ``X`` the exit code, ``N`` no, it stays.
"""

from __future__ import annotations

import hashlib
import os
import socket
import struct
import tempfile
from pathlib import Path

_HEAD = struct.Struct("!cI")
LONGEST = 1 << 28


class Broken(Exception):
    """The other side is gone, or does not speak this."""


def send(connection: socket.socket, kind: bytes, data: bytes = b"") -> None:
    """Send one frame.

    Raises:
        OSError: the other side is gone.
    """
    connection.sendall(_HEAD.pack(kind, len(data)) + data)


def receive(connection: socket.socket) -> tuple[bytes, bytes]:
    """Return the next frame.

    Raises:
        Broken: there is none.
    """
    kind, size = _HEAD.unpack(_exactly(connection, _HEAD.size))
    if size > LONGEST:
        raise Broken
    return kind, _exactly(connection, size)


def _exactly(connection: socket.socket, size: int) -> bytes:
    parts = []
    while size:
        try:
            part = connection.recv(min(size, 1 << 16))
        except OSError:
            raise Broken from None
        if not part:
            raise Broken
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def connect(folder: Path) -> socket.socket | None:
    """Return a connection to the folder's engine, None when none listens."""
    try:
        return connected(address(folder))
    except OSError:
        return None


def connected(path: Path) -> socket.socket:
    """Return a connection to who listens at ``path``.

    Raises:
        OSError: nobody does.
    """
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        raise
    return connection


def address(folder: Path) -> Path:
    """Return where the engine of a warehouse folder listens: not in the folder, for the path of a socket must be short.

    Raises:
        OSError: somebody else owns the place.
    """
    return home() / (hashlib.sha256(str(folder.expanduser().resolve()).encode()).hexdigest()[:20] + ".sock")


def home() -> Path:
    """Return the place of the sockets, which only this user may enter.

    Raises:
        OSError: somebody else owns it.
    """
    base = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    place = base / f"warehouse-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    found = place.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or not place.is_dir() or place.is_symlink():
        raise PermissionError(f"{place} is not this user's alone")
    return place
