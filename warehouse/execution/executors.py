"""Executors: processes beside the engine's that run its tasks, where ``spark.master`` asks for them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from warehouse.execution import java_sources
from warehouse.execution.local_files import SOURCES
from warehouse.execution.settings import Executors

_GUARDED = {
    "spark.authenticate": "true", "spark.master.rest.enabled": "false", "spark.ui.killEnabled": "false",
    "spark.shuffle.service.enabled": "false",
}  # fmt: skip
"""Master and workers listen on the loopback, where others of this machine could send them work: they ask for a secret,
and what asks for none is not there or takes no orders."""


def start(gateway: Any, wanted: Executors, configuration: Mapping[str, str]) -> tuple[Any, dict[str, str]]:
    """Start workers, which will start an executor each for the session that names their master.

    Args:
        gateway: into the JVM.
        wanted: how many, and of which size.
        configuration: Spark's settings of that session.

    Returns:
        What holds the workers, whose ``stop`` ends them, and those settings with what reaches them.
    """
    told = {**configuration, **_GUARDED, "spark.authenticate.secret": secrets.token_hex()}
    conf = gateway.jvm.org.apache.spark.SparkConf(False)
    for name, value in told.items():
        conf.set(name, value)
    workers = java_sources.load(gateway, SOURCES, "warehouse.execution.Workers").newInstance()
    address = workers.start(conf, wanted.count, wanted.cores, wanted.megabytes)
    return workers, told | {"spark.master": address}
