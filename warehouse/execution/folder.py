"""The warehouse folder: what is where in it, its format version, and where it stood when last used.

``folder.json`` holds the version and the absolute path. A path that differs from the present one means that
the folder was moved, or that it is a copy.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from warehouse import __version__
from warehouse.errors import fail

FORMAT = 1
RECORD = "folder.json"


@dataclass(frozen=True)
class Folder:
    """A warehouse folder that may be used.

    Attributes:
        path: absolute, without symbolic links.
        moved_from: where it stood when last used, or None when that is here, or it is new.
    """

    path: Path
    moved_from: Path | None = None

    @property
    def metastore(self) -> Path:
        """Return the folder of Hive's catalog."""
        return self.path / "metastore"

    @property
    def tables(self) -> Path:
        """Return the folder of tables that have no place of their own."""
        return self.path / "tables"

    @property
    def logs(self) -> Path:
        """Return the folder of logs."""
        return self.path / "logs"

    @property
    def scratch(self) -> Path:
        """Return the folder of files that only a running engine needs; emptied at every start."""
        return self.path / "tmp"


def examine(path: Path) -> Folder:
    """Return the folder at ``path``, created if need be; writes nothing into one that exists.

    Raises:
        WarehouseError: it is a file, may not be written, or was written by a newer version.
    """
    path = path.expanduser().resolve()
    if path.exists() and not path.is_dir():
        fail("WAREHOUSE_FOLDER_IS_A_FILE", folder=path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail("WAREHOUSE_FOLDER_UNWRITABLE", folder=path, reason=error.strerror or error)
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        fail("WAREHOUSE_FOLDER_UNWRITABLE", folder=path, reason="Permission denied")
    recorded = _recorded(path)
    return Folder(path, recorded if recorded != path else None)


def record(folder: Folder) -> None:
    """Note the folder's format and place, in one piece."""
    text = json.dumps({"format": FORMAT, "path": str(folder.path), "written_by": __version__}, indent=2)
    fresh = folder.path / (RECORD + ".new")
    with fresh.open("w", encoding="utf-8") as stream:
        stream.write(text + "\n")
        stream.flush()
        os.fsync(stream.fileno())
    fresh.replace(folder.path / RECORD)


def _recorded(path: Path) -> Path | None:
    """Return the path that the folder's record holds, or None without a record."""
    try:
        entry = json.loads((path / RECORD).read_text(encoding="utf-8"))
        version, place = int(entry["format"]), Path(entry["path"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        fail("WAREHOUSE_FOLDER_UNREADABLE", file=path / RECORD, reason=error)
    if version > FORMAT:
        fail("WAREHOUSE_FOLDER_NEWER", folder=path, version=version, known=FORMAT)
    return place
