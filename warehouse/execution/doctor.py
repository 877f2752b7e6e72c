"""What keeps an engine from starting here: a list of findings, each with a way out. Starts and changes nothing."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from warehouse.errors import WarehouseError
from warehouse.execution import folder as folders
from warehouse.execution import jars, java, lock, machine, settings

# The versions that work together, as far as they are fixed; a test holds them to pyproject.toml.
PINS = {"pyspark": "4.2.0", "delta-spark": "4.4.0", "sqlglot": "30.30", "pyarrow": "26"}

LEAST_MEMORY = 2 * machine.GIB
LEAST_DISK = machine.GIB


@dataclass(frozen=True)
class Finding:
    """One thing looked at.

    Attributes:
        ok: whether it is as it should be.
        what: a word or two: ``Java``, ``sqlglot``, ``folder``.
        detail: what was found.
        way_out: what to do, empty when it is well.
    """

    ok: bool
    what: str
    detail: str
    way_out: str = ""


def examine(folder: Path) -> list[Finding]:
    """Return what was found on this machine and in ``folder``, in the order of a start."""
    folder = folder.expanduser().resolve()
    return [
        _python(),
        _java(),
        *(_package(name, version) for name, version in PINS.items()),
        *_compiled_sqlglot(),
        _jars(),
        *_class_archive(),
        _folder(folder),
        *_settings(folder),
        _memory(),
        _disk(folder),
    ]


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    ok = sys.version_info >= (3, 11)
    return Finding(ok, "Python", f"{version} ({sys.executable})", "" if ok else "use Python 3.11 or newer")


def _java() -> Finding:
    try:
        found = java.required()
    except WarehouseError as error:
        return _of_error("Java", error)
    home = os.environ.get("JAVA_HOME")
    by = f"by JAVA_HOME={home}" if home else "on the PATH, JAVA_HOME is not set"
    return Finding(True, "Java", f"{found.version} ({found.path}, found {by})")


def _package(name: str, wanted: str) -> Finding:
    version = wanted if wanted.count(".") == 2 else wanted + ".*"
    way_out = f"run `make setup`, or `pip install --force-reinstall '{name}=={version}'`"
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return Finding(False, name, "not installed", way_out)
    if (version + ".").startswith(wanted + "."):
        return Finding(True, name, version)
    return Finding(False, name, f"{version}, but {wanted} is what works with the rest", way_out)


def _compiled_sqlglot() -> list[Finding]:
    """Return a finding when sqlglot's compiled build is installed; its classes cannot be extended."""
    try:
        version = importlib.metadata.version("sqlglotc")
    except importlib.metadata.PackageNotFoundError:
        return []
    detail = f"{version} is installed; it replaces sqlglot by a compiled build that cannot be extended"
    return [Finding(False, "sqlglotc", detail, "run `pip uninstall sqlglotc`")]


def _jars() -> Finding:
    try:
        found = jars.installed()
    except WarehouseError as error:
        return _of_error("jars", error)
    if found is None:
        way_out = "run `make setup`, or start any warehouse, with a network; it is needed this once"
        return Finding(False, "jars", "not on this machine yet", way_out)
    folder = found[0].parent
    damaged = jars.broken(folder)
    if damaged:
        return Finding(False, "jars", f"damaged in {folder}: {', '.join(damaged)}", "delete that folder and try again")
    return Finding(True, "jars", f"{len(found)} in {folder}")


def _class_archive() -> list[Finding]:
    """Return whether engines start from an archive of classes; nothing where there are no jars that it could be of."""
    try:
        if jars.installed() is None:
            return []
        archive = jars.class_archive()
    except WarehouseError:
        return []
    none = "none; engines start sooner with one (`make warm`, or `python -m warehouse.cli.warm`)"
    return [Finding(True, "class archive", str(archive) if archive.exists() else none)]


def _folder(folder: Path) -> Finding:
    what = "folder"
    if not folder.exists():
        parent = _nearest(folder)
        ok = parent.is_dir() and os.access(parent, os.W_OK | os.X_OK)
        if ok:
            return Finding(True, what, f"{folder} will be created")
        return Finding(False, what, f"{folder} cannot be created in {parent}", "name another folder with --warehouse")
    try:
        found = folders.examine(folder)
    except WarehouseError as error:
        return _of_error(what, error)
    holder = lock.holder(folder)
    if holder is not None:
        detail = f"{folder} is in use by process {holder.pid}, since {holder.started}"
        return Finding(False, what, detail, f"wait for that process, or end it (`kill {holder.pid}`)")
    moved = f", moved here from {found.moved_from}" if found.moved_from else ""
    return Finding(True, what, f"{folder} can be opened{moved}")


def _settings(folder: Path) -> list[Finding]:
    """Return a finding when the settings cannot be used."""
    try:
        settings.load(folder, {})
    except WarehouseError as error:
        return [_of_error("settings", error)]
    return []


def _memory() -> Finding:
    total = machine.memory()
    heap = machine.heap(total).removesuffix("m")
    detail = f"{total / machine.GIB:.1f} GB, of which the engine takes {heap} MB unless told otherwise"
    ok = total >= LEAST_MEMORY
    return Finding(ok, "memory", detail, "" if ok else "use a machine or container with 2 GB or more")


def _disk(folder: Path) -> Finding:
    place = _nearest(folder)
    free = shutil.disk_usage(place).free
    ok = free >= LEAST_DISK
    detail = f"{free / machine.GIB:.1f} GB free at {place}"
    return Finding(ok, "disk", detail, "" if ok else "free some space, or name another folder with --warehouse")


def _nearest(path: Path) -> Path:
    """Return ``path`` or the nearest folder above it that exists."""
    return next(place for place in (path, *path.parents) if place.exists())


def _of_error(what: str, error: WarehouseError) -> Finding:
    found = error.diagnostics[0]
    return Finding(False, what, found.message, found.hint or "")
