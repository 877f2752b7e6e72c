"""Class names that are no classes, found out once.

``gateway.jvm.org.apache.spark.sql.functions`` makes Py4J ask for a class ``org``, in each package that PySpark
imports, then for ``org.apache``, and so on; Janino asks likewise for what may be a class in each text that it
compiles. Each time that is a look into some three hundred jars.
"""

from __future__ import annotations

from typing import Any

from warehouse.execution import java_sources
from warehouse.execution.local_files import SOURCES


def install(gateway: Any) -> None:
    """Let the JVM remember what it did not find; to be called before Spark starts in it."""
    java_sources.load(gateway, SOURCES, "warehouse.execution.Lookups").newInstance().install()
