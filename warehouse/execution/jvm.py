"""The JVM beside this process: started on jar files, reached through Py4J, gone when this process is gone.

Started without ``spark-submit``: no shell scripts and no second JVM to build a command line, every option in
view, output into a log file. A watcher kills it the moment this process ends in whatever way, and removes its
temporary files.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.java_gateway import launch_gateway
from pyspark.serializers import UTF8Deserializer, read_int

from warehouse.errors import fail
from warehouse.execution import archive, jars, java

START_TIMEOUT = 60.0
END_TIMEOUT = 10.0
ARCHIVE_TIMEOUT = 120.0

_WATCH = 'read -r _; kill -9 "$0" 2>/dev/null; rm -rf "$1"'

_COLLECTOR = ("-XX:+UseParallelGC", *(("-XX:+UseTransparentHugePages",) if sys.platform == "linux" else ()))
"""Huge pages, where the kernel grants them, spare a virtual machine page faults and look-ups of addresses."""

_CODE = "-XX:ReservedCodeCacheSize=512m"
"""Room for compiled code: seventy steps of one streaming table fill half of the 240 MB that Java would set aside."""

_OPTIMIZED_LATER = (
    "-XX:Tier4InvocationThreshold=50000", "-XX:Tier4MinInvocationThreshold=6000",
    "-XX:Tier4CompileThreshold=150000", "-XX:Tier4BackEdgeThreshold=400000",
)  # fmt: skip
"""Ten times Java's own counts of calls and rounds after which its optimizing compiler takes a method.

Spark runs much of its own code, and generates classes for each query, that is called some thousand times and then no
more; to optimize these keeps cores from the tasks. A loop over rows reaches ten times as much in milliseconds.
Source: ``java -XX:+PrintFlagsFinal``, and ``compilationPolicy.hpp`` of OpenJDK.
"""

_PAGES = "-Dspark.buffer.pageSize=4m"
"""Of the memory of aggregations, sorts and hash tables. With gigabytes of heap Spark would take 64 MB at once, and
clear them, for each task and each table sent to a join, however few its rows. The latter see no other setting."""


@dataclass(frozen=True)
class Machine:
    """A running JVM.

    Attributes:
        process: the JVM itself; its standard input is held open for as long as it shall live.
        watcher: a shell that waits for this process to end, and then kills the JVM.
        gateway: the Py4J gateway into it.
        class_path: its jar files, in order.
        memory: its heap, as ``-Xmx`` takes it.
        scratch: its folder for temporary files.
        apart: whether it can start executors, in processes of their own.
    """

    process: subprocess.Popen[bytes]
    watcher: subprocess.Popen[bytes]
    gateway: Any
    class_path: tuple[Path, ...]
    memory: str
    scratch: Path
    apart: bool

    @property
    def view(self) -> Any:
        """Return Py4J's view of the JVM, by which Java's classes are reached."""
        return self.gateway.jvm

    def suits(self, class_path: Sequence[Path], memory: str, apart: bool) -> bool:
        """Say whether a JVM launched with these would be the same."""
        return (self.class_path, self.memory, self.apart) == (tuple(class_path), memory, apart)

    @property
    def alive(self) -> bool:
        """Say whether the JVM still runs."""
        return self.process.poll() is None


def launch(
    class_path: Sequence[Path], memory: str, properties: Mapping[str, str], output: Path, apart: bool = False
) -> Machine:
    """Start a JVM with Spark's gateway in it.

    Args:
        class_path: jar files, in order.
        memory: the heap, as ``-Xmx`` takes it.
        properties: system properties.
        output: file to which the JVM's standard output and error are appended.
        apart: whether it is to start executors, in processes of their own, which need Spark's scripts to be found.

    Raises:
        WarehouseError: no Java, too old a Java, or the JVM ended before it could be reached.
    """
    program = java.required().path
    scratch = Path(tempfile.mkdtemp(prefix="warehouse-"))
    address = scratch / "address"
    command = [
        *(str(program), "-cp", os.pathsep.join(map(str, class_path)), f"-Xmx{memory}"),
        *(*_COLLECTOR, _CODE, *_OPTIMIZED_LATER, _PAGES, "-Xss4m", *java.MODULE_OPTIONS, *archive.options()),
        f"-Djava.io.tmpdir={scratch}",
        *(f"-D{name}={value}" for name, value in properties.items()),
        "org.apache.spark.api.python.PythonGatewayServer",
    ]
    with output.open("ab") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=_environment(address) | (_for_executors(scratch, program) if apart else {}),
            start_new_session=True,
        )
    watcher = subprocess.Popen(
        ["/bin/sh", "-c", _WATCH, str(process.pid), str(scratch)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        port, secret = _await_address(process, address, output)
        return Machine(process, watcher, _connect(port, secret), tuple(class_path), memory, scratch, apart)
    except BaseException:
        _end(process, watcher, scratch, patience=0)
        raise


def end(machine: Machine) -> None:
    """End the JVM in order; kill it when it does not go."""
    with contextlib.suppress(Exception):
        machine.gateway.shutdown()
    patience = ARCHIVE_TIMEOUT if archive.is_being_written() else END_TIMEOUT
    _end(machine.process, machine.watcher, machine.scratch, patience)


def _end(process: subprocess.Popen[bytes], watcher: subprocess.Popen[bytes], scratch: Path, patience: float) -> None:
    watcher.kill()
    watcher.wait()
    if watcher.stdin:
        watcher.stdin.close()
    if process.stdin:
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(scratch, ignore_errors=True)


def _environment(address: Path) -> dict[str, str]:
    """Return the JVM's environment: ours, but no other Spark, no other Java options and no other endpoint leaking in.

    Hive's server takes address and ports from its variables before it looks at the settings that it is given.
    """
    dropped = ("SPARK_HOME", "SPARK_CONF_DIR", "SPARK_DIST_CLASSPATH", "CLASSPATH", "JDK_JAVA_OPTIONS")
    kept = {k: v for k, v in os.environ.items() if k not in dropped and not k.startswith("HIVE_SERVER2_")}
    locale = next((kept[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if kept.get(name)), "C")
    if "utf" not in locale.lower():  # Java would read and write file names in ASCII
        kept["LC_ALL"] = "C.UTF-8"
    return kept | {
        "SPARK_HOME": str(jars.spark_home()),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONHASHSEED": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(address),
    }


def _for_executors(scratch: Path, program: Path) -> dict[str, str]:
    """Return what starts executors: a Spark of links, since they write beside it, this Java, and this machine alone."""
    home = scratch / "spark"
    home.mkdir()
    for part in jars.spark_home().iterdir():
        (home / part.name).symlink_to(part)
    return {
        "SPARK_HOME": str(home),
        "SPARK_SCALA_VERSION": "2.13",  # else it looks for folders of Spark's own build
        "SPARK_LOCAL_IP": "127.0.0.1",
        "JAVA_HOME": str(program.parent.parent),
    }


def _await_address(process: subprocess.Popen[bytes], address: Path, output: Path) -> tuple[int, str]:
    """Return the port and the secret that the JVM writes (in one piece, by a rename) once it listens."""
    deadline = time.monotonic() + START_TIMEOUT
    while not address.is_file():
        if process.poll() is not None or time.monotonic() > deadline:
            fail("WAREHOUSE_JAVA_FAILED", reason=_last_line(output), log=output)
        time.sleep(0.02)
    with address.open("rb") as stream:
        return read_int(stream), UTF8Deserializer().loads(stream)


def _last_line(output: Path) -> str:
    lines = [line.strip() for line in output.read_text(encoding="utf-8", errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line), "it said nothing")


def _connect(port: int, secret: str) -> Any:
    """Return PySpark's own gateway object; it reads the address of a running JVM from the environment."""
    names = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": secret}
    os.environ.update(names)
    try:
        return launch_gateway()
    finally:
        for name in names:
            os.environ.pop(name, None)
