"""The Java that runs Spark: where it is, which version, and the options Spark wants from it.

Goes by ``JAVA_HOME`` when that is set, else by the ``java`` on the path. Never starts Spark.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from warehouse.errors import fail

MINIMUM = 17

# What Spark 4.2 gives every JVM of its own (JavaModuleOptions); a test compares this with the Spark installed.
MODULE_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    "--add-modules=jdk.incubator.vector",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.invoke=ALL-UNNAMED",
    "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/java.net=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.cs=ALL-UNNAMED",
    "--add-opens=java.base/sun.security.action=ALL-UNNAMED",
    "--add-opens=java.base/sun.util.calendar=ALL-UNNAMED",
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
)


@dataclass(frozen=True)
class Java:
    """A Java that was found.

    Attributes:
        path: its ``java`` program.
        version: its feature number (17, 21, …), or None when it would not say.
    """

    path: Path
    version: int | None


def find() -> Java | None:
    """Return the Java of this machine, or None when there is none."""
    home = os.environ.get("JAVA_HOME")
    program = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if program is None:
        return None
    path = Path(program).resolve()
    return Java(path, _version_in_release_file(path) or _version_by_asking(path))


def required() -> Java:
    """Return the Java of this machine.

    Raises:
        WarehouseError: there is none, or it is too old for Spark.
    """
    java = find()
    if java is None or java.version is None:
        home = os.environ.get("JAVA_HOME")
        fail("WAREHOUSE_JAVA_MISSING", place=f"JAVA_HOME ({home})" if home else "the PATH", minimum=MINIMUM)
    if java.version < MINIMUM:
        fail("WAREHOUSE_JAVA_TOO_OLD", path=java.path, version=java.version, minimum=MINIMUM)
    return java


def _version_in_release_file(program: Path) -> int | None:
    """Return the version that the ``release`` file of the Java home names; saves starting a JVM."""
    try:
        text = (program.parent.parent / "release").read_text(encoding="utf-8")
    except OSError:
        return None
    return _feature_number(re.search(r'^JAVA_VERSION="([^"]+)"', text, re.MULTILINE))


def _version_by_asking(program: Path) -> int | None:
    try:
        answer = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _feature_number(re.search(r'version "([^"]+)"', answer.stderr + answer.stdout))


def _feature_number(match: re.Match[str] | None) -> int | None:
    """Return 17 for ``17.0.15`` and 8 for ``1.8.0_402``."""
    numbers = re.findall(r"\d+", match.group(1)) if match else []
    if not numbers:
        return None
    return int(numbers[1]) if numbers[0] == "1" and len(numbers) > 1 else int(numbers[0])
