"""A project's folder in, its files and settings out."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from warehouse.errors import fail

CONFIG = "warehouse.toml"
TESTS = "tests"
"""The folder of a project whose queries find rows that are wrong; ``paths`` may say otherwise."""


@dataclass(frozen=True)
class SqlFile:
    """One file.

    Attributes:
        path: its place in the project, with slashes.
        name: its path as the user would type it, for messages.
        asked_by: of a test that a YAML file asks for, that file: nobody has written the text.
    """

    path: PurePosixPath
    name: str
    text: str
    asked_by: SqlFile | None = None


@dataclass(frozen=True)
class Settings:
    """What ``warehouse.toml`` says.

    Attributes:
        name: of the project; the folder's name unless given.
        warehouse: the warehouse folder, relative paths being relative to the project; None when not given.
        paths: the folders, inside the project, that hold its files.
        settings: handed to the engine.
        base: the folder that the project's is relative to: the current one, or that of the client for whom it is read.
    """

    name: str
    warehouse: Path | None = None
    paths: tuple[str, ...] = (".",)
    settings: Mapping[str, str] = field(default_factory=dict)
    base: Path = Path()


def load_settings(folder: Path, base: Path = Path()) -> Settings:
    """Return the settings of the project in ``folder``; every key is optional, and so is the file.

    Args:
        folder: as the user typed it.
        base: see ``Settings``.

    Raises:
        WarehouseError: no such folder, or a file that cannot be read or holds what nobody knows.
    """
    place, file = base / folder, folder / CONFIG
    if not place.is_dir():
        fail("WAREHOUSE_PROJECT_FOLDER", folder=str(folder))
    if not (base / file).exists():
        return Settings(place.resolve().name, base=base)
    try:
        values = tomllib.loads((base / file).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        fail("WAREHOUSE_PROJECT_CONFIG", file=str(file), reason=str(error))

    def take(key: str, kind: type, default: Any) -> Any:
        value = values.pop(key, default)
        if not isinstance(value, kind):
            fail("WAREHOUSE_PROJECT_CONFIG", file=str(file), reason=f"{key} is not {_KINDS[kind]}")
        return value

    name = take("name", str, place.resolve().name)
    warehouse = take("warehouse", str, "")
    paths = take("paths", list, ["."])
    settings = take("settings", dict, {})
    if values:
        fail("WAREHOUSE_PROJECT_CONFIG", file=str(file), reason=f"unknown: {', '.join(sorted(values))}")
    for path in paths:
        if not isinstance(path, str) or not (place / path).is_dir():
            fail("WAREHOUSE_PROJECT_CONFIG", file=str(file), reason=f"paths: there is no folder {path}")
    return Settings(
        name,
        folder / Path(warehouse).expanduser() if warehouse else None,
        tuple(paths),
        {key: _setting(value) for key, value in settings.items()},
        base,
    )


def load_files(folder: Path, settings: Settings, may_be_none: bool = False) -> list[SqlFile]:
    """Return the project's ``.sql`` files, sorted by path; hidden folders and its tests are left out.

    Raises:
        WarehouseError: there are none, and that may not be; or one is not text.
    """
    files = _load(folder, settings.base, settings.paths, (".sql",))
    if not _tests_are_files(settings):
        files = [file for file in files if file.path.parts[0] != TESTS]
    if not files and not may_be_none:
        fail("WAREHOUSE_PROJECT_EMPTY", folder=" or ".join(str(folder / root) for root in settings.paths))
    return files


def load_tests(folder: Path, settings: Settings) -> list[SqlFile]:
    """Return the ``.sql`` files of the project's folder ``tests``, sorted by path.

    Raises:
        WarehouseError: one is not text.
    """
    return [] if _tests_are_files(settings) else _load(folder, settings.base, (TESTS,), (".sql",))


def load_yaml(folder: Path, settings: Settings) -> list[SqlFile]:
    """Return the project's YAML files, sorted by path.

    Raises:
        WarehouseError: one is not text.
    """
    return _load(folder, settings.base, (*settings.paths, TESTS), (".yml", ".yaml"))


def _tests_are_files(settings: Settings) -> bool:
    return any(PurePosixPath(path).parts[:1] == (TESTS,) for path in settings.paths)


def _load(folder: Path, base: Path, roots: Iterable[str], suffixes: tuple[str, ...]) -> list[SqlFile]:
    found: dict[PurePosixPath, SqlFile] = {}
    for root in roots:
        for place, folders, names in os.walk(base / folder / root):
            folders[:] = sorted(each for each in folders if not each.startswith(".") and each not in _WRITTEN)
            for name in names:
                if name.endswith(suffixes) and not name.startswith("."):
                    file = Path(place, name)
                    path = PurePosixPath(os.path.relpath(file, base / folder).replace(os.sep, "/"))
                    if path not in found:
                        shown = str(folder / Path(*path.parts))
                        found[path] = SqlFile(path, shown, _read(file, shown))
    return [found[path] for path in sorted(found)]


_WRITTEN = frozenset(["target", "dbt_packages"])
"""Folders that dbt, and ``warehouse-sql docs``, write copies of queries and other people's queries to."""

_KINDS: dict[type, str] = {str: "a string", list: "a list", dict: "a table"}


def _setting(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(file: Path, shown: str) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        fail("WAREHOUSE_PROJECT_FILE", file=shown, reason=str(error))
