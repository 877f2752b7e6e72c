"""What has to be Java, kept as sources and compiled inside the JVM by Janino, which Spark brings along.

What was compiled is kept beside the jars, under a name that tells of the sources and of Spark, so that an engine
compiles only what no engine before it has.

No method there is both private and synchronized: Janino makes a private one static, which then locks its class and
not its object.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import Any

import pyspark

from warehouse.execution import jars

_COMPILED = "_warehouse_compiled"
_guard = threading.Lock()
_NEVER_STALE = 4_000_000_000
"""Seconds since 1970: Janino compiles again what is older than its source, and a copied source is young."""


def load(gateway: Any, sources: Path, name: str) -> Any:
    """Return the ``java.lang.Class`` called ``name``, whose source is under ``sources``.

    Each class is compiled when it is first needed, unless it is kept; Py4J knows one class of a name.
    """
    with _guard:  # two loaders would make two classes of a name, each with its own static fields
        loaders = gateway.__dict__.setdefault(_COMPILED, {})  # not getattr: Py4J has an answer for every name
        if sources not in loaders:
            there = _kept(sources)
            loaders[sources] = _loader(gateway, sources, *([there] if there.is_dir() else []))
    return loaders[sources].loadClass(name)


def keep(gateway: Any, sources: Path) -> None:
    """Compile all that is under ``sources`` for the engines to come, unless that is done or cannot be written."""
    kept = _kept(sources)
    if kept.is_dir():
        return
    try:
        fresh = Path(tempfile.mkdtemp(prefix=f"{kept.name}.", dir=kept.parent))
    except OSError:
        return
    try:
        loader = _loader(gateway, sources, fresh)
        for file in sorted(sources.rglob("*.java")):
            loader.loadClass(".".join(file.relative_to(sources).with_suffix("").parts))
        for file in fresh.rglob("*.class"):
            os.utime(file, (_NEVER_STALE, _NEVER_STALE))
        with contextlib.suppress(OSError):  # another engine was faster
            fresh.rename(kept)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def jar(sources: Path, package: str) -> Path | None:
    """Return a jar of the classes of a package, for tasks, which do not see what Janino compiled.

    Args:
        sources: see ``keep``.
        package: as a folder, such as ``warehouse/storage/tasks``.

    Returns:
        None until ``keep`` is done, and where nothing can be written.
    """
    classes = _kept(sources)
    packed = classes.with_name(f"{classes.name}-{package.replace('/', '-')}.jar")
    if packed.is_file():
        return packed
    if not classes.is_dir():
        return None
    try:
        with tempfile.NamedTemporaryFile(dir=packed.parent, delete=False) as fresh, zipfile.ZipFile(fresh, "w") as out:
            for file in sorted((classes / package).glob("*.class")):
                out.writestr(str(file.relative_to(classes)), file.read_bytes())
        return Path(fresh.name).replace(packed)
    except OSError:
        return None


def ship(spark: Any, sources: Path, package: str) -> bool:
    """Give tasks the classes of a package; say whether they have them: not as long as ``jar`` has none."""
    packed = jar(sources, package)
    if packed:
        spark.sparkContext._jsc.addJar(str(packed))
    return packed is not None


def _loader(gateway: Any, sources: Path, *kept: Path) -> Any:
    view = gateway.jvm
    folders = gateway.new_array(view.java.io.File, 1)
    folders[0] = view.java.io.File(str(sources))
    parent = view.java.lang.Thread.currentThread().getContextClassLoader()
    janino = view.org.codehaus.janino
    kind = janino.CachingJavaSourceClassLoader if kept else janino.JavaSourceClassLoader
    return kind(parent, folders, "UTF-8", *(view.java.io.File(str(folder)) for folder in kept))


def _kept(sources: Path) -> Path:
    """Return the folder of what was compiled, whether it is there or not."""
    told = hashlib.sha256(pyspark.__version__.encode())
    for file in sorted(sources.rglob("*.java")):
        told.update(file.read_bytes())
    return jars.folder() / f"compiled-{told.hexdigest()[:16]}"
