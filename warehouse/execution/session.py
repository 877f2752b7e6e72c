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
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from py4j.protocol import Py4JJavaError
from pyspark import SparkConf, SparkContext
from pyspark.errors import IllegalArgumentException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from warehouse.errors import fail
from warehouse.execution import (
    executors,
    jars,
    jvm,
    known_tables,
    local_files,
    lock,
    lookups,
    partial_functions,
    relocate,
    switches,
)
from warehouse.execution import folder as folders
from warehouse.execution import settings as setting
from warehouse.execution.folder import Folder

DEFAULTS = Path(__file__).parent / "defaults"

_RESOURCES = "hive-resources"
"""Where Hive puts jars for its sessions, in a folder for each: it removes a session's with all that is there."""

_CLASSES = "classes"
"""What executors in processes of their own find on their class path besides jars."""

Rules = Callable[[Any], "Future[Any]"]


@dataclass(frozen=True)
class Running:
    """What runs in this process.

    Attributes:
        spark: the session.
        folder: the warehouse folder, with ``moved_from`` when it came from elsewhere.
        machine: the JVM.
        lock: the folder, held by this process.
        jvm_lock: the folder, held by the JVM.
        settings: what it was told.
        workers: what starts executors and holds them, where tasks run in processes of their own.
    """

    spark: SparkSession
    folder: Folder
    machine: jvm.Machine
    lock: lock.Lock
    jvm_lock: Any
    settings: setting.Settings
    workers: Any | None


_running: Running | None = None
_idle: jvm.Machine | None = None


def start(folder: Path, settings: Mapping[str, str] | None = None, rules: Rules | None = None) -> SparkSession:
    """Open the warehouse in ``folder``.

    Args:
        folder: created when it does not exist.
        settings: ``memory``, ``cores`` and ``spark.*``, over those of the folder and the environment.
        rules: compiles, for a gateway and while Spark starts, what extends its sessions.

    Raises:
        WarehouseError: this process or another one has a warehouse open that stands in the way, the folder
            cannot be used, a setting makes no sense, or Java or the jars are missing.
    """
    global _running
    if _running is not None:
        fail("WAREHOUSE_ENGINE_RUNNING", folder=_running.folder.path)
    place = folders.examine(Path(folder))
    told = setting.load(place.path, settings or {})
    ours, theirs = jars.ensure(), _their_jars(told)
    _quiet()
    held = lock.acquire(place.path)
    try:
        place.logs.mkdir(exist_ok=True)
        machine = _machine(place, told, [*ours, *jars.spark_jars(), *theirs])
        try:
            _running = _open(place, told, [*ours, *theirs], machine, held, rules)
        except BaseException:
            _forget_gateway()
            jvm.end(machine)
            raise
    except BaseException:
        lock.release(held)
        raise
    return _running.spark


def stop(spark: SparkSession, keep_jvm: bool = False) -> None:
    """Close the warehouse: end its session and its JVM, and give the folder back.

    Args:
        spark: what ``start`` returned.
        keep_jvm: keep the JVM for the next ``start`` of this process, which then takes a tenth of a second.
            For tests: no other thread of this process may have used the session.
    """
    global _running, _idle
    engine = _running
    if engine is None or engine.spark.sparkContext is not spark.sparkContext:
        return
    _running = None
    try:
        with contextlib.suppress(Exception):
            engine.spark.stop()
        with contextlib.suppress(Exception):
            _close_catalog(engine.machine.view)
        if engine.workers is not None:
            with contextlib.suppress(Exception):
                engine.workers.stop()
        _forget_gateway()
        if keep_jvm and engine.machine.alive:
            engine.jvm_lock.close()
            _idle = engine.machine
        else:
            jvm.end(engine.machine)
        shutil.rmtree(engine.folder.scratch, ignore_errors=True)
    finally:
        lock.release(engine.lock)


def enter(spark: SparkSession) -> None:
    """Let the settings of a session count for what this thread does.

    Spark builds much of a session when it is first needed, with the settings of the thread's active session. A thread
    without one gets Spark's defaults, such as a cache of the listings of folders, which never sees a new file.
    """
    assert spark._jvm
    spark._jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(spark._jsparkSession)


def current() -> Running | None:
    """Return the engine that runs in this process, or None."""
    return _running


def close_all() -> None:
    """Close whatever this process has open; called by itself when the process ends."""
    global _idle
    if _running is not None:
        stop(_running.spark)
    if _idle is not None:
        jvm.end(_idle)
        _idle = None


atexit.register(close_all)


def _their_jars(told: setting.Settings) -> list[Path]:
    """Return the jars that the user has asked for."""
    return [*told.jars, *(jars.ensure(told.packages) if told.packages else ())]


def _machine(place: Folder, told: setting.Settings, class_path: list[Path]) -> jvm.Machine:
    """Return a JVM for the folder: the idle one when it suits, else a new one."""
    global _idle
    idle, _idle = _idle, None
    if idle is not None and idle.alive and idle.suits(class_path, told.memory, bool(told.executors)):
        for name, value in _properties(place).items():
            idle.view.java.lang.System.setProperty(name, value)
        idle.view.org.apache.logging.log4j.core.config.Configurator.reconfigure()
        return idle
    if idle is not None:
        jvm.end(idle)
    return jvm.launch(class_path, told.memory, _properties(place), place.logs / "jvm.log", bool(told.executors))


def _open(
    place: Folder, told: setting.Settings, added: list[Path], machine: jvm.Machine, held: lock.Lock, rules: Rules | None
) -> Running:
    """Open the folder in the JVM, whose jars beside Spark's are ``added``.

    Nothing in there touches the catalog before its lock is taken.
    """
    extending = rules(machine.gateway) if rules else None
    jvm_lock = lock.acquire_in(machine.view, place.path)
    shutil.rmtree(place.scratch, ignore_errors=True)
    _clear_unfinished(place)
    for path in (place.metastore, place.tables, place.scratch, place.scratch / _RESOURCES):
        path.mkdir(exist_ok=True)
    if place.moved_from is not None:
        relocate.metastore(machine.view, place)
    folders.record(place)
    lookups.install(machine.gateway)
    local_files.install(machine.gateway)
    partial_functions.install(machine.gateway, place.scratch / _CLASSES if told.executors else None)
    switches.install(machine.view)
    _check(machine.view, told.spark)
    configuration = _configuration(place, told, added)
    workers = None
    if told.executors is not None:
        workers, configuration = executors.start(machine.gateway, told.executors, configuration)
    try:
        spark = _session(machine.gateway, configuration)
    except (Py4JJavaError, IllegalArgumentException) as error:
        _blame_setting(error, told.spark)
        raise
    known_tables.install(spark)
    if extending is not None:
        extending.result().into(spark._jsparkSession.extensions())
    return Running(spark, place, machine, held, jvm_lock, told, workers)


def _clear_unfinished(place: Folder) -> None:
    """Remove a catalog that a first start was making when it was killed; Derby writes its properties last.

    Raises:
        WarehouseError: there are tables, so the catalog was whole once and has lost a file.
    """
    database, last = place.metastore / "db", place.metastore / "db" / "service.properties"
    if not database.is_dir() or last.is_file():
        return
    if place.tables.is_dir() and any(place.tables.iterdir()):
        fail("WAREHOUSE_CATALOG_DAMAGED", file=last)
    shutil.rmtree(database)


def _properties(place: Folder) -> dict[str, str]:
    """Return the JVM's system properties."""
    return {
        "user.timezone": "UTC",
        "file.encoding": "UTF-8",
        "derby.system.home": str(place.metastore),
        "derby.stream.error.file": str(place.logs / "derby.log"),
        "log4j2.configurationFile": str(DEFAULTS / "log4j2.properties"),
        "warehouse.logs": str(place.logs),
    }


def _configuration(place: Folder, told: setting.Settings, added: list[Path]) -> dict[str, str]:
    """Return Spark's settings: what must be so, after what may be set."""
    class_path = os.pathsep.join(map(str, added))
    return (
        dict(told.spark)
        | local_files.SETTINGS
        | {
            "spark.app.name": "warehouse",
            "spark.driver.memory": told.memory,
            "spark.driver.extraClassPath": class_path,
            "spark.executor.extraClassPath": os.pathsep.join((class_path, str(place.scratch / _CLASSES))),
            "spark.executor.extraJavaOptions": "-Duser.timezone=UTC -Dfile.encoding=UTF-8",
            "spark.local.dir": str(place.scratch),
            "spark.sql.warehouse.dir": str(place.tables),
            "spark.hadoop.javax.jdo.option.ConnectionURL": relocate.url(place, create=True),
            "spark.hadoop.hive.exec.scratchdir": str(place.scratch / "hive"),
            "spark.hadoop.hive.exec.local.scratchdir": str(place.scratch / "hive-local"),
            "spark.hadoop.hive.downloaded.resources.dir": str(place.scratch / _RESOURCES / "${hive.session.id}"),
            "spark.hadoop.hive.querylog.location": str(place.scratch / "hive-log"),
        }
    )


def _quiet() -> None:
    """Keep PySpark off the terminal: its records and tracebacks of errors that we report, its opinion on pandas."""
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas", category=FutureWarning)
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)
    logging.getLogger("py4j.clientserver").setLevel(logging.CRITICAL + 1)


def _session(gateway: Any, configuration: Mapping[str, str]) -> SparkSession:
    """Return a session on the gateway, without the signal handler that PySpark brings along."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    conf = SparkConf(loadDefaults=False)
    for key, value in configuration.items():
        conf.set(key, value)
    in_main_thread = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT) if in_main_thread else None
    context = SparkContext(conf=conf, gateway=gateway)
    if handler is not None:
        signal.signal(signal.SIGINT, handler)
    _forget_origins(context._jsc.hadoopConfiguration())
    return SparkSession(context)


def _check(view: Any, told: Mapping[str, str]) -> None:
    """Read settings as Spark will, which reads most of them in the first statement that needs them.

    Source: ``ConfigEntry`` of Spark, which knows the type and the values of every documented setting by its name.

    Raises:
        WarehouseError: a setting's value is none that Spark takes.
    """
    config = view.org.apache.spark.internal.config
    known = getattr(getattr(config, "ConfigEntry$"), "MODULE$")
    values = view.java.util.HashMap()
    for name, value in told.items():
        values.put(name, value)
    reader = config.ConfigReader(values)
    for name in told:
        entry = known.findEntry(name)
        try:
            if entry is not None and name.startswith("spark.sql."):  # a session puts nothing in for ``${another}``
                entry.valueConverter().apply(told[name])
            elif entry is not None:
                entry.readFrom(reader)
        except (Py4JJavaError, IllegalArgumentException) as error:
            _refuse(name, told[name], _said(error))


def _blame_setting(error: Any, told: Mapping[str, str]) -> None:
    """Refuse the setting that Spark's error is about, if it names one of those told or repeats its value.

    Raises:
        WarehouseError: it does.
    """
    said = _said(error)
    for name in sorted(told, key=len, reverse=True):  # a name may begin with another one
        if name in said or f'"{told[name]}"' in said:
            _refuse(name, told[name], said)


def _said(error: Any) -> str:
    java = error.java_exception if isinstance(error, Py4JJavaError) else error._origin
    return str(java.getMessage())


def _refuse(name: str, value: str, said: str) -> NoReturn:
    fail("WAREHOUSE_SETTING_INVALID", setting=name, value=value, wanted=f"what Spark takes; it says: {said}")


def _forget_origins(hadoop: Any) -> None:
    """Forget which file each of Hadoop's thousand settings is from: they are zipped, one by one, into each job."""
    origins = hadoop.getClass().getDeclaredField("updatingResource")
    origins.setAccessible(True)
    origins.get(hadoop).clear()


def _close_catalog(view: Any) -> None:
    """Close the catalog's database in order, and forget this thread's handle on it."""
    view.org.apache.hadoop.hive.metastore.HiveMetaStore.HMSHandler.removeRawStore()
    with contextlib.suppress(Py4JJavaError):  # Derby reports success as an exception
        view.java.sql.DriverManager.getConnection("jdbc:derby:;shutdown=true;deregister=false")


def _forget_gateway() -> None:
    """Make PySpark start over with the next gateway it is given."""
    SparkContext._gateway = None
    SparkContext._jvm = None
    SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None
