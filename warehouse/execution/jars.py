"""The jars that Spark needs besides its own: resolved once, kept as files, started from without a network.

``ensure()`` returns the files, fetching them first when they are missing. Ivy, which comes with Spark, does the
fetching, with settings of ours that leave the machine's own Maven repository out of it. A folder of jars
appears under its final name only when it is complete, so that an interrupted set-up starts over.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from warehouse.errors import WarehouseError, fail
from warehouse.execution import java


class Package(NamedTuple):
    """What Maven's repositories know a jar by; as text ``group:artifact:version``."""

    group: str
    artifact: str
    version: str

    def __str__(self) -> str:
        return ":".join(self)


Packages = tuple[Package, ...]

PACKAGES: Packages = (Package("io.delta", "delta-spark_4.2_2.13", "4.4.0"),)
"""Ours; a user's own are those of the setting ``spark.jars.packages``."""

MANIFEST = "manifest.json"

_LOADED_MOST = ("hadoop-client-api", "scala-library", "spark-")

_VERSION = re.compile(r"-\d[^-]*(?:-[^-]*)?\.jar$")

_SETTINGS = """<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers><ibiblio name="central" m2compatible="true"/></resolvers>
</ivysettings>
"""


def spark_jars() -> list[Path]:
    """Return the jars of the PySpark package, in a fixed order: first those that most classes come from.

    Java looks for a class, and Spark for the bytes of each closure's, in one jar after the other.
    """
    return sorted((spark_home() / "jars").glob("*.jar"), key=lambda jar: (not jar.name.startswith(_LOADED_MOST), jar))


def spark_home() -> Path:
    """Return the folder of the PySpark package, without importing it."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        fail("WAREHOUSE_PACKAGE_MISSING", package="pyspark")
    return Path(spec.origin).parent


def ensure(packages: Packages = PACKAGES) -> list[Path]:
    """Return the jars of packages and of what they need, in a fixed order; fetch what this machine does not have yet.

    Raises:
        WarehouseError: they are missing and could not be fetched, or ``WAREHOUSE_JARS`` holds none of ours.
    """
    found = installed(packages)
    if found is not None:
        return found
    if override := _override(packages):
        fail("WAREHOUSE_JARS_MISSING", folder=override, packages=_coordinates(packages))
    home = next((parent for parent in _homes() if _writable(parent)), None)
    if home is None:
        fail("WAREHOUSE_JARS_UNWRITABLE", folders=", ".join(str(parent) for parent in _homes()))
    print(f"warehouse: fetching {_coordinates(packages)} (once) …", file=sys.stderr, flush=True)
    _publish(home, packages)
    return installed(packages) or fail("WAREHOUSE_JARS_UNWRITABLE", folders=str(home))


def installed(packages: Packages = PACKAGES) -> list[Path] | None:
    """Return the jars of packages when they are there and whole, else None. Reads sizes only."""
    override = _override(packages)
    folders = [Path(override)] if override else [home / _name(packages) for home in _homes()]
    for folder in folders:
        jars = _listed(folder)
        if jars:
            return jars
        if override:
            return sorted(folder.glob("*.jar")) or None
    return None


def folder() -> Path:
    """Return the folder of our jars, where what is made for engines to start sooner is kept too.

    Raises:
        WarehouseError: the jars are missing and could not be fetched.
    """
    return ensure()[0].parent


def class_archive() -> Path:
    """Return where the archive of classes is kept that this Java loads from these jars, whether there is one or not.

    Raises:
        WarehouseError: there is no Java, or the jars are missing and could not be fetched.
    """
    program = java.required().path
    wanted = [str(program), str(program.stat().st_mtime_ns), *(jar.name for jar in [*ensure(), *spark_jars()])]
    return folder() / f"classes-{hashlib.sha256('|'.join(wanted).encode()).hexdigest()[:16]}.jsa"


def broken(folder: Path) -> list[str]:
    """Return the names of files in ``folder`` that differ from its manifest, if it has one. Reads every byte."""
    if not (folder / MANIFEST).exists():
        return []
    entries = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
    return [name for name, entry in entries.items() if _digest(folder / name) != entry["sha256"]]


def _homes() -> list[Path]:
    """Return the places for folders of jars: beside the interpreter's packages, else the user's cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    homes = [Path(sys.prefix) / "share" / "warehouse" / "jars"] if sys.prefix != sys.base_prefix else []
    return [*homes, cache / "warehouse" / "jars"]


def _override(packages: Packages) -> str | None:
    """Return the folder that the environment names for our own jars."""
    return os.environ.get("WAREHOUSE_JARS") or None if packages == PACKAGES else None


def _name(packages: Packages) -> str:
    return "+".join(f"{package.artifact}-{package.version}" for package in packages)


def _coordinates(packages: Packages) -> str:
    return ", ".join(map(str, packages))


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _listed(folder: Path) -> list[Path] | None:
    """Return the files of the manifest in ``folder`` when all have their size, else None."""
    try:
        entries = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        whole = all((folder / name).stat().st_size == entry["bytes"] for name, entry in entries.items())
    except (OSError, ValueError, KeyError):
        return None
    return [folder / name for name in sorted(entries)] if whole else None


def _publish(home: Path, packages: Packages) -> None:
    """Fetch into a temporary folder beside the final one and rename it; a rival's result is as good as ours."""
    final = home / _name(packages)
    with _scratch(home) as scratch:
        jars = scratch / "jars"
        _resolve(scratch, jars, packages)
        files = {jar.name: {"bytes": jar.stat().st_size, "sha256": _digest(jar)} for jar in sorted(jars.glob("*.jar"))}
        manifest = {"packages": [str(package) for package in packages], "files": files}
        (jars / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
        if final.exists() and _listed(final) is None:
            shutil.rmtree(final)
        try:
            jars.rename(final)
        except OSError:
            if _listed(final) is None:
                raise


@contextmanager
def _scratch(home: Path) -> Iterator[Path]:
    scratch = Path(tempfile.mkdtemp(prefix=".fetching-", dir=home))
    scratch.chmod(0o755)
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _resolve(scratch: Path, target: Path, packages: Packages) -> None:
    """Let Ivy fetch the packages and what they need into ``target``."""
    settings = scratch / "ivysettings.xml"
    settings.write_text(_SETTINGS, encoding="utf-8")
    module = scratch / "ivy.xml"
    module.write_text(_module(packages), encoding="utf-8")
    command = [
        *(str(java.required().path), "-cp", os.pathsep.join(map(str, spark_jars())), "org.apache.ivy.Main"),
        *("-settings", os.environ.get("WAREHOUSE_IVY_SETTINGS") or str(settings)),
        *("-ivy", str(module), "-cache", str(scratch / "cache"), "-types", "jar"),
        *("-retrieve", str(target / "[artifact]-[revision].[ext]")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    missing = [p for p in packages if not (target / f"{p.artifact}-{p.version}.jar").exists()]
    if done.returncode or missing:
        fail("WAREHOUSE_JARS_UNREACHABLE", packages=_coordinates(packages), reason=_reason(done.stdout + done.stderr))


def _module(packages: Packages) -> str:
    """Return the module whose dependencies are the packages, without what PySpark has, often newer, already.

    Nothing may stand on the class path twice.
    """
    there = "|".join(sorted({re.escape(_VERSION.sub("", jar.name)) for jar in spark_jars()}))
    wanted = "\n".join(f'    <dependency org="{o}" name="{n}" rev="{r}"/>' for o, n, r in packages)
    return f"""<ivy-module version="2.0">
  <info organisation="warehouse" module="jars"/>
  <configurations defaultconfmapping="default->default"><conf name="default"/></configurations>
  <dependencies>
{wanted}
    <exclude module="^(?:{there})$" matcher="regexp"/>
  </dependencies>
</ivy-module>
"""


def _reason(output: str) -> str:
    """Return the line of Ivy's output that tells most: its first error, else the first thing it did not find."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if ":::: ERRORS" in lines[:-1]:
        return lines[lines.index(":::: ERRORS") + 1].removeprefix("HttpClientHandler: ")
    missing = [line.removeprefix("module ") for line in lines if "not found: " in line]
    return (missing or lines[-1:] or ["no output"])[0]


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def main() -> int:
    """Fetch the jars if they are missing: the last step of ``make setup``."""
    try:
        ensure()
    except WarehouseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
