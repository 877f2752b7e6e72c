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
from warehouse.execution.jars import Package, Packages

FILE = "warehouse.toml"
ENVIRONMENT = {"WAREHOUSE_MEMORY": "memory", "WAREHOUSE_CORES": "cores", "WAREHOUSE_UDFS": "udfs"}

_LEAST_MEGABYTES = 512  # Spark's executors refuse to start with less than 450 MB


SPECULATION = {
    "spark.speculation": "true", "spark.speculation.multiplier": "1.4", "spark.speculation.quantile": "0.5",
    "spark.speculation.task.duration.threshold": "5s",
}  # fmt: skip
"""A task that runs 1.4 times as long as the one in the middle of its stage, once half of them are done, is started
once more on another executor (Zaharia's dissertation, 4.5.2); where it is alone in its stage, after five seconds."""


@dataclass(frozen=True)
class Executors:
    """Processes on this machine that run tasks, each with so many cores and megabytes of heap."""

    count: int
    cores: int
    megabytes: int


@dataclass(frozen=True)
class Settings:
    """The settings of one engine.

    Attributes:
        memory: the heap, as ``-Xmx`` takes it.
        cores: tasks that run at a time.
        executors: in which tasks run, processes beside the engine's; None where its own runs them.
        udfs: the folder of the user's own windows and triggers, seen from the current folder; it need not exist.
        jars: files of the user's own for the class path.
        packages: whose jars are to be on the class path, too.
        spark: Spark's own settings.
    """

    memory: str
    cores: int
    executors: Executors | None
    udfs: Path
    jars: tuple[Path, ...]
    packages: Packages
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
    heap = _memory(merged["memory"])
    executors = _executors(spark["spark.master"]) if "spark.master" in spark else None
    if executors:
        cores = executors.count * executors.cores
        spark |= {"spark.executor.memory": f"{executors.megabytes}m", "spark.executor.cores": str(executors.cores)}
        spark = SPECULATION | spark
    spark.setdefault("spark.master", f"local[{cores}]")
    spark.setdefault("spark.sql.shuffle.partitions", str(cores))
    spark.setdefault("spark.sql.autoBroadcastJoinThreshold", str(_broadcast(heap)))
    jars, packages = _jars(spark.pop("spark.jars", "")), _packages(spark.pop("spark.jars.packages", ""))
    for key in _SUBMITTED & spark.keys():
        fail("WAREHOUSE_SETTING_INVALID", setting=key, value=spark[key], wanted=_NOT_SUBMITTED)
    return Settings(heap, cores, executors, Path(merged["udfs"]).absolute(), jars, packages, spark)


_SUBMITTED = frozenset({
    "spark.jars.excludes", "spark.jars.ivy", "spark.jars.ivySettings", "spark.jars.repositories",
    "spark.driver.extraClassPath", "spark.executor.extraClassPath",
})  # fmt: skip
"""What ``spark-submit`` would read, which starts nothing here."""
_NOT_SUBMITTED = (
    "no value here: spark.jars names files and spark.jars.packages group:artifact:version, and WAREHOUSE_IVY_SETTINGS"
    " an ivysettings.xml by which packages are fetched"
)


def _jars(text: str) -> tuple[Path, ...]:
    """Return the files of ``spark.jars``."""
    files = tuple(Path(name.strip().removeprefix("file://")).expanduser() for name in text.split(",") if name.strip())
    for file in files:
        if not file.is_file():
            wanted = f"jar files of this machine, with commas between them; {file} is none"
            fail("WAREHOUSE_SETTING_INVALID", setting="spark.jars", value=text, wanted=wanted)
    return tuple(file.absolute() for file in files)


def _packages(text: str) -> Packages:
    """Return the packages of ``spark.jars.packages``."""
    found = [name.strip().split(":") for name in text.split(",") if name.strip()]
    if not all(len(parts) == 3 and all(re.fullmatch(r"[\w.+-]+", part) for part in parts) for parts in found):
        wanted = "group:artifact:version, with commas between several"
        fail("WAREHOUSE_SETTING_INVALID", setting="spark.jars.packages", value=text, wanted=wanted)
    return tuple(Package(*parts) for parts in found)


def _executors(master: str) -> Executors:
    """Return what ``spark.master`` says of processes on this machine; the engine runs on no other cluster."""
    found = re.fullmatch(r"local-cluster\[\s*([1-9]\d*)\s*,\s*([1-9]\d*)\s*,\s*([1-9]\d*)\s*\]", master)
    if found is None or int(found[3]) < _LEAST_MEGABYTES:
        fail(
            "WAREHOUSE_SETTING_INVALID", setting="spark.master", value=master,
            wanted=f"local-cluster[PROCESSES,CORES,MEGABYTES], each with {_LEAST_MEGABYTES} megabytes or more; without"
            " it the engine's own process does everything, with as many cores as `cores` says",
        )  # fmt: skip
    return Executors(*map(int, found.groups()))


def _broadcast(heap: str) -> int:
    """Return how many bytes a table may have that is sent whole to a join: Spark's 10 MB, more with a large heap.

    A table on disk grows by a factor of five to ten when it is hashed, and several joins may run at a time.
    """
    unit = {"m": 1 << 20, "g": 1 << 30}[heap[-1].lower()]
    return max(10 << 20, int(heap[:-1]) * unit // 256)


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
