"""The functions of SQL, such as ``__w_unit``, that make partial results of aggregates, and values of these."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warehouse.execution import java_sources
from warehouse.execution.local_files import SOURCES

HOME = "org/apache/spark/sql/catalyst/util/WarehousePartials"
SOURCE = Path(__file__).parent / "java_in_tasks" / "WarehousePartials.java"
"""Not among the sources that are compiled ahead: who looks for a class before it is there keeps that in mind."""


def install(gateway: Any, classes: Path | None = None) -> None:
    """Make the functions known in a JVM; to be called before its first session begins.

    Args:
        gateway: the JVM's.
        classes: folder on the class path of processes other than this JVM where tasks run, if there are any.
    """
    made = java_sources.load(gateway, SOURCES, "warehouse.execution.PartialFunctions").getConstructors()[0]
    arguments = gateway.new_array(gateway.jvm.java.lang.Object, 1)
    arguments[0] = SOURCE.read_text()
    functions = made.newInstance(arguments)
    functions.register()
    if classes:
        file = (classes / HOME).with_suffix(".class")
        file.parent.mkdir(parents=True)
        file.write_bytes(functions.compiled())
