"""Which streaming tables are to run on, and at what pace: ``catalog/started.json``, which outlives a process."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from warehouse.catalog.store import write_atomically
from warehouse.errors import fail


class Started:
    """The streaming tables that ``START`` has set going and no ``STOP`` has stopped."""

    def __init__(self, folder: Path):
        """Remember in the warehouse folder ``folder``."""
        self._file = folder / "catalog" / "started.json"
        self._guard = threading.Lock()

    def all(self) -> dict[str, int | None]:
        """Return the pace of each by qualified name: microseconds between steps, None for step after step.

        Raises:
            WarehouseError: the file is broken.
        """
        try:
            found = json.loads(self._file.read_text(encoding="utf-8"))
            return {str(name): None if every is None else int(every) for name, every in found.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, TypeError, AttributeError) as error:
            fail("WAREHOUSE_CATALOG_FILE_BROKEN", file=self._file, reason=repr(error))

    def put(self, name: str, every: int | None) -> None:
        """Remember that a table was started."""
        with self._guard:
            self._write(self.all() | {name: every})

    def drop(self, name: str) -> None:
        """Forget a table, if it is known."""
        with self._guard:
            left = self.all()
            if name in left:
                del left[name]
                self._write(left)

    def _write(self, tables: dict[str, int | None]) -> None:
        write_atomically(self._file, json.dumps(tables, indent=2, ensure_ascii=False) + "\n")
