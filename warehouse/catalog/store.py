"""The catalog's files: one JSON file per object, written so that it is there whole or not at all.

``<folder>/catalog/{streams,streaming_tables,views,models}/<schema>.<name>.json``, names in lower case and
percent-encoded, since names are data and never a path. All files are read once, at ``open``; from then on
the catalog answers from memory and writes through. One process owns a warehouse folder (the execution
layer's lock sees to that); within it any thread may call.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from pathlib import Path
from typing import Generic
from urllib.parse import quote

from warehouse.catalog.entries import (
    E,
    ModelEntry,
    StreamEntry,
    StreamingTableEntry,
    ViewEntry,
    from_json,
    qualified,
    to_json,
)
from warehouse.errors import fail

FORMAT = 2
"""Of each file. 2: a streaming table may have been changed in place (``StreamingTableEntry.revision``)."""

LONGEST_FILE_NAME = 200


def encode_name(name: str) -> str:
    """Return ``name`` for use inside a file name: lower case, and only letters, digits, ``_``, ``-`` and ``%``.

    Example:
        >>> encode_name("Plays"), encode_name("../a b.c")
        ('plays', '%2E%2E%2Fa%20b%2Ec')
    """
    return quote(name.lower(), safe="").replace(".", "%2E").replace("~", "%7E")


def file_stem(schema: str, name: str) -> str:
    """Return ``<schema>.<name>`` encoded; cut and made unique by a hash where a file system would refuse it."""
    stem = f"{encode_name(schema)}.{encode_name(name)}"
    if len(stem) <= LONGEST_FILE_NAME:
        return stem
    return f"{stem[: LONGEST_FILE_NAME - 17]}~{hashlib.sha256(stem.encode()).hexdigest()[:16]}"


def write_atomically(path: Path, text: str) -> None:
    """Write ``text`` so that ``path`` holds either what it held or all of it, also after a loss of power."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    try:
        with draft.open("w", encoding="utf-8") as out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames and removals inside ``folder`` last."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Shelf(Generic[E]):
    """All entries of one kind, by name without case, and their files."""

    def __init__(self, folder: Path, kind: type[E], guard: threading.RLock):
        self._folder, self._guard = folder, guard
        self._kind: type[E] = kind
        self._entries: dict[tuple[str, str], E] = {}
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
            entry = self._read(path)
            self._entries[_key(entry.schema, entry.name)] = entry

    def get(self, schema: str, name: str) -> E | None:
        """Return the entry of that name, or None."""
        with self._guard:
            return self._entries.get(_key(schema, name))

    def all(self) -> tuple[E, ...]:
        """Return all entries by name."""
        with self._guard:
            return tuple(entry for _, entry in sorted(self._entries.items()))

    def put(self, entry: E) -> None:
        """Keep ``entry``, in place of one of the same name."""
        with self._guard:
            self._write(entry)
            self._entries[_key(entry.schema, entry.name)] = entry

    def drop(self, schema: str, name: str) -> bool:
        """Forget the entry of that name; say whether there was one."""
        with self._guard:
            if _key(schema, name) not in self._entries:
                return False
            self._remove(schema, name)
            del self._entries[_key(schema, name)]
            return True

    def draft(self, guard: threading.RLock) -> Shelf[E]:
        """Return a copy whose changes stay in memory."""
        return _Draft(self, guard)

    def _read(self, path: Path) -> E:
        """Return the entry in ``path``, or fail naming the file."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            version = data["format"]
            if not isinstance(version, int):
                raise ValueError("format is not a number")
        except (OSError, ValueError, TypeError, KeyError) as error:
            fail("WAREHOUSE_CATALOG_FILE_BROKEN", file=path, reason=repr(error))
        if version > FORMAT:
            fail("WAREHOUSE_CATALOG_FILE_NEWER", file=path, version=version, known=FORMAT)
        try:
            entry = from_json(self._kind, data["entry"])
            if path.stem != file_stem(entry.schema, entry.name):
                raise ValueError(f"it describes {entry.qualified}, which belongs in another file")
        except (ValueError, TypeError, KeyError) as error:
            fail("WAREHOUSE_CATALOG_FILE_BROKEN", file=path, reason=repr(error))
        return entry

    def _path(self, schema: str, name: str) -> Path:
        return self._folder / f"{file_stem(schema, name)}.json"

    def _write(self, entry: E) -> None:
        text = json.dumps({"format": FORMAT, "entry": to_json(entry)}, indent=2, ensure_ascii=False)
        write_atomically(self._path(entry.schema, entry.name), text + "\n")

    def _remove(self, schema: str, name: str) -> None:
        self._path(schema, name).unlink(missing_ok=True)
        sync_folder(self._folder)


class _Draft(Shelf[E]):
    """A shelf without files."""

    def __init__(self, shelf: Shelf[E], guard: threading.RLock):
        self._folder, self._kind, self._guard = shelf._folder, shelf._kind, guard
        with shelf._guard:
            self._entries = dict(shelf._entries)

    def _write(self, entry: E) -> None:
        pass

    def _remove(self, schema: str, name: str) -> None:
        pass


class Catalog:
    """What exists in one warehouse folder besides Spark's own tables and views: a shelf for each kind.

    Attributes:
        home: the warehouse folder.
    """

    def __init__(self, home: Path):
        self.home = home
        folder, guard = home / "catalog", threading.RLock()
        self._guard = guard
        self.streams = Shelf(folder / "streams", StreamEntry, guard)
        self.streaming_tables = Shelf(folder / "streaming_tables", StreamingTableEntry, guard)
        self.views = Shelf(folder / "views", ViewEntry, guard)
        self.models = Shelf(folder / "models", ModelEntry, guard)

    @classmethod
    def open(cls, folder: Path | str) -> Catalog:
        """Return the catalog of the warehouse folder ``folder``, which need not exist yet.

        Raises:
            WarehouseError: a file of the catalog is broken, or was written by a newer version.
        """
        return cls(Path(folder))

    def draft(self) -> Catalog:
        """Return a copy whose changes are never written: to plan statements that are not run."""
        copy = Catalog.__new__(Catalog)
        copy.home, copy._guard = self.home, threading.RLock()
        copy.streams, copy.views = self.streams.draft(copy._guard), self.views.draft(copy._guard)
        copy.streaming_tables, copy.models = self.streaming_tables.draft(copy._guard), self.models.draft(copy._guard)
        return copy

    def readers_of(self, name: str) -> tuple[StreamingTableEntry, ...]:
        """Return the streaming tables that read the stream or table with this qualified name."""
        return tuple(t for t in self.streaming_tables.all() if name.lower() in {s.lower() for s in t.sources})

    def askers_of(self, model: str) -> tuple[StreamingTableEntry, ...]:
        """Return the streaming tables that ask the model with this qualified name."""
        return tuple(t for t in self.streaming_tables.all() if model in dict(t.models))

    def kind_of(self, schema: str, name: str) -> str | None:
        """Return ``stream``, ``streaming table`` or ``view`` if the name is taken by one of ours, else None."""
        kinds = (("stream", self.streams), ("streaming table", self.streaming_tables), ("view", self.views))
        with self._guard:
            return next((kind for kind, shelf in kinds if shelf.get(schema, name)), None)


def _key(schema: str, name: str) -> tuple[str, str]:
    return schema.lower(), name.lower()


__all__ = ["Catalog", "encode_name", "file_stem", "qualified", "sync_folder", "write_atomically"]
