"""The engine's log: what each step of a stream would say again and again is left out, all else is there."""

from __future__ import annotations

import pytest

from warehouse.engine import Engine

ENDED = "Failed to cancel job group {}. Cannot find active jobs for it."


@pytest.mark.parametrize(
    ("logger", "repeated"),
    [
        ("org.apache.spark.scheduler.DAGScheduler", ENDED),
        ("org.apache.hadoop.hive.conf.HiveConf", "HiveConf of name {} does not exist"),
    ],
)
def test_what_each_step_repeats_is_left_out(engine: Engine, logger: str, repeated: str) -> None:
    log = engine.spark.sparkContext._jvm.org.apache.logging.log4j.LogManager.getLogger(logger)
    log.warn(repeated.format(f"left out by {logger}"))
    log.error(f"also of {logger}")
    written = (engine.folder / "logs" / "engine.log").read_text()
    assert f"also of {logger}" in written and f"left out by {logger}" not in written


def test_other_warnings_are_kept(engine: Engine) -> None:
    manager = engine.spark.sparkContext._jvm.org.apache.logging.log4j.LogManager
    manager.getLogger("org.apache.spark.scheduler.DAGScheduler").warn("Failed to cancel job group 7: why is not known")
    manager.getLogger("org.apache.spark.scheduler.TaskSetManager").warn(ENDED.format("8"))
    written = (engine.folder / "logs" / "engine.log").read_text()
    assert "job group 7" in written and "job group 8" in written
