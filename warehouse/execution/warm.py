"""An archive of loaded classes: a JVM that has one starts in about two thirds of the time.

``python -m warehouse.execution.warm`` makes it, once, by running an engine through its usual work in a folder
that is thrown away (half a minute, 230 MB beside the jars). Nothing needs it, and a JVM that it does not fit,
because Java or a jar has changed, starts without.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from warehouse.errors import WarehouseError
from warehouse.execution import jars, jvm, session

WORK = (
    "CREATE TABLE t (a INT, at TIMESTAMP, s STRING)",
    "INSERT INTO t SELECT id, current_timestamp(), string(id % 7) FROM range(100)",
    "SELECT s, count(*), sum(a), max(at) FROM t JOIN range(50) ON a = id WHERE a > 1 GROUP BY s ORDER BY s",
    "SELECT a, row_number() OVER (PARTITION BY s ORDER BY a) AS n FROM t WHERE a IN (SELECT id FROM range(9))",
    "CREATE VIEW v AS SELECT s, collect_list(a) AS l FROM t GROUP BY s",
    "SELECT * FROM v",
    "DROP VIEW v",
    "DROP TABLE t",
)


def main() -> int:
    """Make the archive unless it is there."""
    try:
        archive = jars.class_archive()
        if archive.exists():
            return 0
        print("warehouse: making the class archive (once, half a minute) …", file=sys.stderr, flush=True)
        train(archive)
    except WarehouseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def train(archive: Path) -> None:
    """Run an engine that writes ``archive`` as its JVM ends; the file appears under its name when it is whole."""
    fresh = archive.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    jvm.archive_to = fresh
    try:
        with tempfile.TemporaryDirectory(prefix="warehouse-") as folder:
            spark = session.start(Path(folder))
            for text in WORK:
                spark.sql(text).toArrow()
            session.stop(spark)
    finally:
        jvm.archive_to = None
    if fresh.exists():
        fresh.rename(archive)


if __name__ == "__main__":
    raise SystemExit(main())
