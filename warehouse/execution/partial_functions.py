"""The functions of SQL, such as ``__w_unit``, that make partial results of aggregates, and values of these."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warehouse.execution import java_sources
from warehouse.execution.local_files import SOURCES

HOME = Path(__file__).parent / "java_in_tasks" / "WarehousePartials.java"
"""Not among the sources that are compiled ahead: who looks for a class before it is there keeps that in mind."""


def install(gateway: Any) -> None:
    """Make the functions known in a JVM; to be called before its first session begins."""
    made = java_sources.load(gateway, SOURCES, "warehouse.execution.PartialFunctions").getConstructors()[0]
    arguments = gateway.new_array(gateway.jvm.java.lang.Object, 1)
    arguments[0] = HOME.read_text()
    made.newInstance(arguments).register()
