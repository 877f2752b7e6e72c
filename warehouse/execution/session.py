"""The Spark session of one warehouse folder: start it, stop it, never two at a time.

``start`` takes the folder's lock, starts a JVM, and opens a session whose catalog, tables, logs and scratch
files are all inside the folder. ``stop`` ends the JVM: nothing of it is left to write or to hold the folder.
Neither prints anything, unless the jars have to be fetched first.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from warehouse.errors import fail
from warehouse.execution import folder as folders
from warehouse.execution import jars, jvm, lock, relocate
from warehouse.execution import settings as setting
from warehouse.execution.folder import Folder

DEFAULTS = Path(__file__).parent / "defaults"


@dataclass(frozen=True)
class Engine:
    """What runs in this process.

    Attributes:
        spark: the session.
        folder: the warehouse folder, with ``moved_from`` when it came from elsewhere.
        machine: the JVM.
        lock: the folder's lock.
    """

    spark: SparkSession
    folder: Folder
    machine: jvm.Machine
    lock: lock.Lock


_running: Engine | None = None


def start(folder: Path, settings: Mapping[str, str] | None = None) -> SparkSession:
    """Open the warehouse in ``folder``.

    Args:
        folder: created when it does not exist.
        settings: ``memory``, ``cores`` and ``spark.*``, over those of the folder and the environment.

    Raises:
        WarehouseError: this process or another one has a warehouse open that stands in the way, the folder
            cannot be used, a setting makes no sense, or Java or the jars are missing.
    """
    global _running
    if _running is not None:
        fail("WAREHOUSE_ENGINE_RUNNING", folder=_running.folder.path)
    place = folders.examine(Path(folder))
    told = setting.load(place.path, settings or {})
    ours = jars.ensure()
    held = lock.acquire(place.path)
    try:
        _prepare(place)
        machine = jvm.launch(
            [*ours, *jars.spark_jars()],
            told.memory,
            _properties(place),
            place.logs / "jvm.log",
            inherit=(held.inherited,),
        )
        try:
            if place.moved_from is not None:
                relocate.metastore(machine.gateway.jvm, place)
            folders.record(place)
            spark = _session(machine.gateway, _configuration(place, told, ours))
        except BaseException:
            _forget_gateway()
            jvm.end(machine)
            raise
    except BaseException:
        lock.release(held)
        raise
    _running = Engine(spark, place, machine, held)
    atexit.register(_stop_at_exit)
    return spark


def stop(spark: SparkSession) -> None:
    """Close the warehouse: end its session and its JVM, and give the folder back."""
    global _running
    engine = _running
    if engine is None or engine.spark.sparkContext is not spark.sparkContext:
        return
    _running = None
    atexit.unregister(_stop_at_exit)
    try:
        with contextlib.suppress(Exception):
            engine.spark.stop()
        with contextlib.suppress(Exception):
            _shut_derby(engine.machine.gateway.jvm)
        _forget_gateway()
        jvm.end(engine.machine)
        shutil.rmtree(engine.folder.scratch, ignore_errors=True)
    finally:
        lock.release(engine.lock)


def current() -> Engine | None:
    """Return the engine that runs in this process, or None."""
    return _running


def _stop_at_exit() -> None:
    if _running is not None:
        stop(_running.spark)


def _prepare(place: Folder) -> None:
    shutil.rmtree(place.scratch, ignore_errors=True)
    for path in (place.metastore, place.tables, place.logs, place.scratch):
        path.mkdir(exist_ok=True)


def _properties(place: Folder) -> dict[str, str]:
    """Return the JVM's system properties."""
    return {
        "user.timezone": "UTC",
        "file.encoding": "UTF-8",
        "java.io.tmpdir": str(place.scratch),
        "derby.system.home": str(place.metastore),
        "derby.stream.error.file": str(place.logs / "derby.log"),
        "log4j2.configurationFile": str(DEFAULTS / "log4j2.properties"),
        "warehouse.logs": str(place.logs),
    }


def _configuration(place: Folder, told: setting.Settings, ours: list[Path]) -> dict[str, str]:
    """Return Spark's settings: what must be so, after what may be set."""
    class_path = os.pathsep.join(map(str, ours))
    return dict(told.spark) | {
        "spark.master": f"local[{told.cores}]",
        "spark.app.name": "warehouse",
        "spark.driver.memory": told.memory,
        "spark.driver.extraClassPath": class_path,
        "spark.executor.extraClassPath": class_path,
        "spark.local.dir": str(place.scratch),
        "spark.sql.warehouse.dir": str(place.tables),
        "spark.hadoop.javax.jdo.option.ConnectionURL": relocate.url(place, create=True),
        "spark.hadoop.hive.exec.scratchdir": str(place.scratch / "hive"),
        "spark.hadoop.hive.exec.local.scratchdir": str(place.scratch / "hive-local"),
        "spark.hadoop.hive.downloaded.resources.dir": str(place.scratch / "hive-resources"),
        "spark.hadoop.hive.querylog.location": str(place.scratch / "hive-log"),
    }


def _session(gateway: Any, configuration: Mapping[str, str]) -> SparkSession:
    """Return a session on the gateway, without the signal handler and the noise PySpark brings along."""
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = SparkConf(loadDefaults=False)
    for key, value in configuration.items():
        conf.set(key, value)
    in_main_thread = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT) if in_main_thread else None
    context = SparkContext(conf=conf, gateway=gateway)
    if handler is not None:
        signal.signal(signal.SIGINT, handler)
    return SparkSession(context)


def _shut_derby(machine: Any) -> None:
    """Close the catalog's database in order; Derby reports success as an exception."""
    machine.java.sql.DriverManager.getConnection("jdbc:derby:;shutdown=true")


def _forget_gateway() -> None:
    """Make PySpark start over with the next gateway it is given."""
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None
