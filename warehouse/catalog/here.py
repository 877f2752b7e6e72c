"""The folder that relative paths start from: the process's, or that of the client for whom a thread works."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_HERE: ContextVar[str | None] = ContextVar("here", default=None)


def here() -> str:
    """Return the folder."""
    return _HERE.get() or os.getcwd()


@contextmanager
def standing_in(folder: str) -> Iterator[None]:
    """Within this, paths of this thread start from ``folder``."""
    token = _HERE.set(folder)
    try:
        yield
    finally:
        _HERE.reset(token)
