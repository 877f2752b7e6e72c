"""Executors: processes beside the engine's that run its tasks, where ``spark.master`` asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warehouse.execution import java_sources
from warehouse.execution.local_files import SOURCES
from warehouse.execution.settings import Executors


def start(gateway: Any, wanted: Executors, configuration: Mapping[str, str]) -> tuple[Any, str]:
    """Start workers, which will start an executor each for the session that names their master.

    Args:
        gateway: into the JVM.
        wanted: how many, and of which size.
        configuration: Spark's settings of that session.

    Returns:
        What holds the workers, whose ``stop`` ends them, and the address of their master.
    """
    conf = gateway.jvm.org.apache.spark.SparkConf(False)
    for name, value in configuration.items():
        conf.set(name, value)
    workers = java_sources.load(gateway, SOURCES, "warehouse.execution.Workers").newInstance()
    return workers, workers.start(conf, wanted.count, wanted.cores, wanted.megabytes)
