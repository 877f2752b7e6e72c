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


class _Shelf(Generic[E]):
    """All entries of one kind, by name without case, and their files."""

    def __init__(self, folder: Path, kind: type[E]):
        self.folder = folder
        self.kind: type[E] = kind
        self.entries: dict[tuple[str, str], E] = {}
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
            entry = self._read(path)
            self.entries[_key(entry.schema, entry.name)] = entry

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
            entry = from_json(self.kind, data["entry"])
            if path.stem != file_stem(entry.schema, entry.name):
                raise ValueError(f"it describes {entry.qualified}, which belongs in another file")
        except (ValueError, TypeError, KeyError) as error:
            fail("WAREHOUSE_CATALOG_FILE_BROKEN", file=path, reason=repr(error))
        return entry

    def _path(self, schema: str, name: str) -> Path:
        return self.folder / f"{file_stem(schema, name)}.json"

    def put(self, entry: E) -> None:
        text = json.dumps({"format": FORMAT, "entry": to_json(entry)}, indent=2, ensure_ascii=False)
        write_atomically(self._path(entry.schema, entry.name), text + "\n")
        self.entries[_key(entry.schema, entry.name)] = entry

    def drop(self, schema: str, name: str) -> bool:
        if _key(schema, name) not in self.entries:
            return False
        self._path(schema, name).unlink(missing_ok=True)
        sync_folder(self.folder)
        del self.entries[_key(schema, name)]
        return True

    def sorted(self) -> tuple[E, ...]:
        return tuple(entry for _, entry in sorted(self.entries.items()))

    def draft(self) -> _Draft[E]:
        return _Draft(self)


class _Draft(_Shelf[E]):
    """A shelf whose changes stay in memory."""

    def __init__(self, shelf: _Shelf[E]):
        self.folder, self.kind, self.entries = shelf.folder, shelf.kind, dict(shelf.entries)

    def put(self, entry: E) -> None:
        self.entries[_key(entry.schema, entry.name)] = entry

    def drop(self, schema: str, name: str) -> bool:
        return self.entries.pop(_key(schema, name), None) is not None


class Catalog:
    """What exists in one warehouse folder besides Spark's own tables and views.

    Attributes:
        home: the warehouse folder.
    """

    def __init__(self, home: Path):
        self.home = home
        folder = home / "catalog"
        self._guard = threading.RLock()
        self._streams = _Shelf(folder / "streams", StreamEntry)
        self._tables = _Shelf(folder / "streaming_tables", StreamingTableEntry)
        self._views = _Shelf(folder / "views", ViewEntry)
        self._models = _Shelf(folder / "models", ModelEntry)

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
        copy._streams, copy._tables, copy._views = self._streams.draft(), self._tables.draft(), self._views.draft()
        copy._models = self._models.draft()
        return copy

    # streams

    def stream(self, schema: str, name: str) -> StreamEntry | None:
        """Return the stream of that name, or None."""
        with self._guard:
            return self._streams.entries.get(_key(schema, name))

    def streams(self) -> tuple[StreamEntry, ...]:
        """Return all streams by name."""
        with self._guard:
            return self._streams.sorted()

    def put_stream(self, entry: StreamEntry) -> None:
        """Keep ``entry``, in place of one of the same name."""
        with self._guard:
            self._streams.put(entry)

    def drop_stream(self, schema: str, name: str) -> bool:
        """Forget the stream; say whether there was one."""
        with self._guard:
            return self._streams.drop(schema, name)

    # streaming tables

    def streaming_table(self, schema: str, name: str) -> StreamingTableEntry | None:
        """Return the streaming table of that name, or None."""
        with self._guard:
            return self._tables.entries.get(_key(schema, name))

    def streaming_tables(self) -> tuple[StreamingTableEntry, ...]:
        """Return all streaming tables by name."""
        with self._guard:
            return self._tables.sorted()

    def put_streaming_table(self, entry: StreamingTableEntry) -> None:
        """Keep ``entry``, in place of one of the same name."""
        with self._guard:
            self._tables.put(entry)

    def drop_streaming_table(self, schema: str, name: str) -> bool:
        """Forget the streaming table; say whether there was one."""
        with self._guard:
            return self._tables.drop(schema, name)

    # views

    def view(self, schema: str, name: str) -> ViewEntry | None:
        """Return the view of that name, or None."""
        with self._guard:
            return self._views.entries.get(_key(schema, name))

    def views(self) -> tuple[ViewEntry, ...]:
        """Return all views by name."""
        with self._guard:
            return self._views.sorted()

    def put_view(self, entry: ViewEntry) -> None:
        """Keep ``entry``, in place of one of the same name."""
        with self._guard:
            self._views.put(entry)

    def drop_view(self, schema: str, name: str) -> bool:
        """Forget the view; say whether there was one."""
        with self._guard:
            return self._views.drop(schema, name)

    # models

    def model(self, schema: str, name: str) -> ModelEntry | None:
        """Return the model of that name, or None."""
        with self._guard:
            return self._models.entries.get(_key(schema, name))

    def models(self) -> tuple[ModelEntry, ...]:
        """Return all models by name."""
        with self._guard:
            return self._models.sorted()

    def put_model(self, entry: ModelEntry) -> None:
        """Keep ``entry``, in place of one of the same name."""
        with self._guard:
            self._models.put(entry)

    def drop_model(self, schema: str, name: str) -> bool:
        """Forget the model; say whether there was one."""
        with self._guard:
            return self._models.drop(schema, name)

    # across kinds

    def readers_of(self, name: str) -> tuple[StreamingTableEntry, ...]:
        """Return the streaming tables that read the stream or table with this qualified name."""
        with self._guard:
            return tuple(t for t in self._tables.sorted() if name.lower() in {s.lower() for s in t.sources})

    def askers_of(self, model: str) -> tuple[StreamingTableEntry, ...]:
        """Return the streaming tables that ask the model with this qualified name."""
        with self._guard:
            return tuple(t for t in self._tables.sorted() if model in dict(t.models))

    def kind_of(self, schema: str, name: str) -> str | None:
        """Return ``stream``, ``streaming table`` or ``view`` if the name is taken by one of ours, else None."""
        with self._guard:
            kinds = (("stream", self._streams), ("streaming table", self._tables), ("view", self._views))
            return next((kind for kind, shelf in kinds if _key(schema, name) in shelf.entries), None)


def _key(schema: str, name: str) -> tuple[str, str]:
    return schema.lower(), name.lower()


__all__ = ["Catalog", "encode_name", "file_stem", "qualified", "sync_folder", "write_atomically"]
