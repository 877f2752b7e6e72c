"""What users define in Python: one thing per file of a folder, ``udfs/<name>.py``, imported when it is named."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from warehouse.errors import Span, WarehouseError, fail

T = TypeVar("T")


@contextlib.contextmanager
def blamed_on(file: str, place: Span) -> Iterator[None]:
    """Let whatever a user's own code raises be an error about its file.

    Also what is no ``Exception``: ``sys.exit()`` would end the thread that serves a client without a word to it.
    Ctrl-C, which Python raises in the main thread alone, stays what it is.

    Raises:
        WarehouseError: something was raised.
    """
    try:
        yield
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
            raise
        told = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        fail("WAREHOUSE_UDF_BROKEN", place, file=file, reason=told)


@dataclass(frozen=True)
class Udfs:
    """The folder of the user's own definitions. Nothing in it runs before a statement names it.

    Attributes:
        folder: it need not exist.
    """

    folder: Path
    _loaded: dict[Path, tuple[int, ModuleType]] = field(default_factory=dict, compare=False, repr=False)

    def find(self, name: str, kind: type[T], place: Span) -> T | None:
        """Return an instance of the class that ``<name>.py`` defines, or None when there is no such file.

        Args:
            name: an identifier; anything else names no file.
            kind: what the class derives from.
            place: the name in the user's words, to point at.

        Raises:
            WarehouseError: the file cannot be imported, or holds no such class, or several.
        """
        file = self._file(name)
        if file is None:
            return None
        with blamed_on(file.name, place):
            module = self._module(file)
            own = [c for c in vars(module).values() if isinstance(c, type) and c.__module__ == module.__name__]
            found = [c for c in own if issubclass(c, kind)]
            if len(found) == 1:
                return found[0]()
        if own and not found:
            return None
        fail("WAREHOUSE_UDF_NOT_ONE", place, file=file.name, kind=kind.__name__, count=len(found))

    def find_value(self, name: str, kind: type[T], place: Span) -> T | None:
        """Return the value of a type that ``<name>.py`` defines, or None when there is none.

        Raises:
            WarehouseError: the file cannot be imported, or defines several.
        """
        file = self._file(name)
        if file is None:
            return None
        with blamed_on(file.name, place):
            found = [v for v in vars(self._module(file)).values() if isinstance(v, kind)]
        if len(found) > 1:
            fail("WAREHOUSE_UDF_SEVERAL", place, file=file.name, kind=kind.__name__.lower(), count=len(found))
        return found[0] if found else None

    def values(self, kind: type[T]) -> dict[str, T]:
        """Return the values of a type that the folder's files define, by name; files that are broken are left out."""
        found = {}
        for name in self.names():
            with contextlib.suppress(WarehouseError):
                value = self.find_value(name, kind, Span(0, 0))
                if value is not None:
                    found[name] = value
        return found

    def _file(self, name: str) -> Path | None:
        """Return the file of a definition, None where there is none of that name."""
        file = self.folder / f"{name.lower()}.py"
        return file if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and file.is_file() else None

    def names(self) -> tuple[str, ...]:
        """Return the names that the folder's files give, in order."""
        return tuple(sorted(f.stem for f in self.folder.glob("*.py") if not f.name.startswith("_")))

    def told(self, kind: type) -> tuple[list[str], list[str]]:
        """Return what the folder's files say that they define, without running any.

        Returns:
            The names of those with a class that derives from ``kind``, and of the files that are no Python.
        """
        names, broken = [], []
        for name in self.names():
            try:
                body = ast.parse((self.folder / f"{name}.py").read_bytes()).body
            except (OSError, SyntaxError, ValueError):
                broken.append(f"{name}.py")
                continue
            bases = [ast.unparse(base) for cls in body if isinstance(cls, ast.ClassDef) for base in cls.bases]
            if any(base.rpartition(".")[2] == kind.__name__ for base in bases):
                names.append(name)
        return names, broken

    def _module(self, file: Path) -> ModuleType:
        changed = file.stat().st_mtime_ns
        if file in self._loaded and self._loaded[file][0] == changed:
            return self._loaded[file][1]
        spec = importlib.util.spec_from_file_location(f"udfs.{file.stem}", file)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self._loaded[file] = (changed, module)
        return module
