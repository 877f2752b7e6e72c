"""What the engine is told: packaged defaults, the folder's file, the environment, the program; later wins."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from warehouse.errors import fail
from warehouse.execution import machine

FILE = "warehouse.toml"
ENVIRONMENT = {"WAREHOUSE_MEMORY": "memory", "WAREHOUSE_CORES": "cores", "WAREHOUSE_UDFS": "udfs"}


@dataclass(frozen=True)
class Settings:
    """The settings of one engine.

    Attributes:
        memory: the heap, as ``-Xmx`` takes it.
        cores: tasks that run at a time.
        udfs: the folder of the user's own windows and triggers, seen from the current folder; it need not exist.
        spark: Spark's own settings.
    """

    memory: str
    cores: int
    udfs: Path
    spark: Mapping[str, str]


def load(folder: Path, given: Mapping[str, str]) -> Settings:
    """Return the settings for the warehouse in ``folder``.

    Raises:
        WarehouseError: the folder's file is no TOML, or a setting is unknown or has no meaning.
    """
    defaults = files("warehouse.execution").joinpath("defaults", FILE).read_text(encoding="utf-8")
    merged = _flat(tomllib.loads(defaults)) | _of_folder(folder / FILE)
    merged |= {key: os.environ[name] for name, key in ENVIRONMENT.items() if os.environ.get(name)}
    merged |= {key: _text(value) for key, value in given.items()}
    spark = {key: value for key, value in merged.items() if key.startswith("spark.")}
    for key in merged.keys() - spark.keys() - {"memory", "cores", "udfs"}:
        fail("WAREHOUSE_SETTING_UNKNOWN", setting=key)
    cores = _cores(merged["cores"])
    spark.setdefault("spark.sql.shuffle.partitions", str(cores))
    return Settings(_memory(merged["memory"]), cores, Path(merged["udfs"]).absolute(), spark)


def _of_folder(file: Path) -> dict[str, str]:
    try:
        return _flat(tomllib.loads(file.read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        fail("WAREHOUSE_SETTINGS_UNREADABLE", file=file, reason=error)


def _flat(document: Mapping[str, object]) -> dict[str, str]:
    """Return the leaves of a TOML document by dotted name; names that start with their table's are whole already."""
    return dict(_leaves(document, ""))


def _leaves(table: Mapping[str, object], prefix: str) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        name = key if key.startswith(prefix) else prefix + key
        if isinstance(value, Mapping):
            yield from _leaves(value, name + ".")
        else:
            yield name, _text(value)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _memory(text: str) -> str:
    if text == "auto":
        return machine.heap(machine.memory())
    if not re.fullmatch(r"[1-9][0-9]*[mMgG]", text):
        fail("WAREHOUSE_SETTING_INVALID", setting="memory", value=text, wanted="auto, or a size such as 6g or 4000m")
    return text


def _cores(text: str) -> int:
    if text == "auto":
        return machine.cores()
    if not re.fullmatch(r"[1-9][0-9]*", text):
        fail("WAREHOUSE_SETTING_INVALID", setting="cores", value=text, wanted="auto, or a number from 1")
    return int(text)
