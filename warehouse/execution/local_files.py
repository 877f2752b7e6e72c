"""Writing files without starting a process for each of them.

Hadoop's file system for ``file:`` runs ``chmod`` and ``readlink`` as commands where its native library is missing, as
in PySpark: some sixty processes for one small step of a streaming table.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warehouse.execution import java_sources

SOURCES = Path(__file__).parent / "java"

SETTINGS = {
    # Both would otherwise go through Hadoop's FileContext, whose file system is another one and always its own. Both
    # write aside and rename, too, and are for one writer at a time, which is what the folder's lock admits.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.delta.logStore.file.impl": "io.delta.storage.LocalLogStore",
}
"""Settings under which all that is written goes through what ``install`` installs."""


def install(gateway: Any) -> None:
    """Make the JVM write files itself; to be called before Spark starts in it."""
    java_sources.load(gateway, SOURCES, "warehouse.execution.LocalFiles").newInstance().register()
    java_sources.keep(gateway, SOURCES)
