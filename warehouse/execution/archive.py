"""The archive of loaded classes: a JVM that has one starts sooner. ``warehouse.cli.warm`` makes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warehouse.execution import jars

_writing: Path | None = None


@contextmanager
def archiving() -> Iterator[Path]:
    """Let the JVM that starts meanwhile write the archive as it ends; it appears under its name when it is whole.

    Raises:
        WarehouseError: the jars are missing.
    """
    global _writing
    archive = jars.class_archive()
    fresh = archive.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    _writing = fresh
    try:
        yield archive
    finally:
        _writing = None
    if fresh.exists():
        for older in archive.parent.glob("classes*.jsa"):
            older.unlink()
        fresh.rename(archive)


def is_being_written() -> bool:
    """Say whether a JVM takes its time to end."""
    return _writing is not None


def options() -> list[str]:
    """Return the options by which a JVM writes the archive, or uses it when there is one."""
    quiet = ["-Xlog:disable", "-Xlog:all=error:stderr"]
    if _writing is not None:
        return [*quiet, f"-XX:ArchiveClassesAtExit={_writing}"]
    archive = jars.class_archive()
    return [*quiet, f"-XX:SharedArchiveFile={archive}"] if archive.exists() else []
