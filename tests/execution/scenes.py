"""Scenes that need engines of their own, each played in a process of its own by ``play``.

``python -m tests.execution.scenes NAME FOLDER`` plays one and writes what it saw to ``FOLDER/seen.json``; it
prints nothing, which is one of the things the tests look at.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from warehouse.errors import WarehouseError
from warehouse.execution import java, relocate, session

ROOT = Path(__file__).parent.parent.parent
SMALL = {"memory": "1g", "cores": "2"}


def play(name: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Play a scene to its end."""
    return subprocess.run(command(name, folder), cwd=ROOT, env=os.environ | environment, capture_output=True, text=True)


def command(name: str, folder: Path) -> list[str]:
    return [sys.executable, "-m", "tests.execution.scenes", name, str(folder)]


def seen(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "seen.json").read_text())


def rows(spark: Any, text: str) -> list[Any]:
    return [list(row.values()) for row in spark.sql(text).toArrow().to_pylist()]


def refusal(folder: Path, **settings: str) -> str:
    """Return the error text of a start that must not succeed."""
    try:
        session.start(folder, SMALL | settings)
    except WarehouseError as error:
        return str(error)
    raise AssertionError("it started")


def life(root: Path) -> dict[str, Any]:
    """One JVM sees folders come and go, be copied and be moved."""
    out: dict[str, Any] = {}
    house = root / "first house"
    began = time.monotonic()
    spark = session.start(house, SMALL)
    out["seconds_to_start"] = time.monotonic() - began
    out["interrupt_is_pythons"] = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    out["settings"] = {
        key: spark.conf.get(key) for key in ("spark.sql.session.timeZone", "spark.sql.shuffle.partitions")
    }
    options = spark._jvm.org.apache.spark.launcher.JavaModuleOptions.defaultModuleOptionArray()
    out["module_options_agree"] = list(options) == list(java.MODULE_OPTIONS)
    out["spark_jars"] = spark.conf.get("spark.jars", "")
    out["second_start"] = refusal(root / "other")
    spark.sql("CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p)")
    spark.sql("INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    spark.sql("CREATE TABLE q USING parquet PARTITIONED BY (p) AS SELECT * FROM t")
    spark.sql("CREATE DATABASE d")
    spark.sql("CREATE TABLE d.u AS SELECT 7 AS a")
    spark.sql(f"CREATE TABLE outside USING delta LOCATION '{root / 'outside'}' AS SELECT 8 AS a")
    spark.sql("CREATE VIEW v AS SELECT sum(a) AS s FROM t")
    out["provider"] = rows(spark, "DESCRIBE DETAIL t")[0][0]
    out["error"] = _error(spark, "SELECT nothing FROM t")
    session.stop(spark, keep_jvm=True)

    other = session.start(root / "other", SMALL)
    out["other_tables"] = rows(other, "SHOW TABLES")
    session.stop(other, keep_jvm=True)

    copy = root / "cöpy"
    shutil.copytree(house, copy)
    spark = session.start(copy, SMALL)
    engine = session.current()
    out["copy_moved_from"] = str(engine.folder.moved_from) if engine else None
    out["copy_locations"] = _locations(spark)
    out["copy_rows"] = _contents(spark)
    spark.sql("INSERT INTO t VALUES (100, 'z')")
    out["copied_again"] = relocate.metastore(spark._jvm, engine.folder) if engine else None
    session.stop(spark, keep_jvm=True)

    spark = session.start(house, SMALL)
    out["original_rows"] = _contents(spark)
    out["original_locations"] = _locations(spark)
    session.stop(spark)

    moved = root / "first house" / "inner"
    house.rename(root / "aside")
    moved.parent.mkdir()
    (root / "aside").rename(moved)
    spark = session.start(moved, SMALL)
    out["inner_rows"] = _contents(spark)
    out["inner_locations"] = _locations(spark)
    return out  # and leave without a word: the process's end closes the folder


def _error(spark: Any, text: str) -> str:
    try:
        spark.sql(text)
    except Exception as error:
        return type(error).__name__
    return "none"


def _contents(spark: Any) -> list[Any]:
    texts = ("SELECT s FROM v", "SELECT sum(a) FROM q WHERE p = 'x'", "SELECT a FROM d.u", "SELECT a FROM outside")
    return [rows(spark, text)[0][0] for text in texts]


def _locations(spark: Any) -> list[str]:
    names = ("t", "q", "d.u", "outside")
    return [
        spark.sql(f"DESCRIBE EXTENDED {name}").where("col_name = 'Location'").collect()[0].data_type for name in names
    ]


def serve(root: Path) -> dict[str, Any]:
    """Write into a table, one commit after another, until killed; notes what it found, and who it is."""
    began = time.monotonic()
    spark = session.start(root / "house", SMALL)
    seconds = time.monotonic() - began
    engine = session.current()
    assert engine is not None
    spark.sql("CREATE TABLE IF NOT EXISTS t (a INT)")
    values = [row[0] for row in rows(spark, "SELECT a FROM t ORDER BY a")]
    spark.sql(f"INSERT INTO t VALUES ({len(values)})")
    note = {
        "seconds": seconds,
        "values": values,
        "pid": os.getpid(),
        "jvm": engine.machine.process.pid,
        "watcher": engine.machine.watcher.pid,
        "scratch": str(engine.machine.scratch),
    }
    _write(root / "serving.json", note)
    for number in range(len(values) + 1, 10_000):
        spark.sql(f"INSERT INTO t VALUES ({number})")
    return {}


def intrude(root: Path) -> dict[str, Any]:
    """Try to open a folder that is served."""
    began = time.monotonic()
    return {"refusal": refusal(root / "house"), "seconds": time.monotonic() - began}


def _write(file: Path, value: object) -> None:
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(value))
    fresh.rename(file)


if __name__ == "__main__":
    _write(Path(sys.argv[2]) / "seen.json", globals()[sys.argv[1]](Path(sys.argv[2])))
