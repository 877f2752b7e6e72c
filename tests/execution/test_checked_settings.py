"""Settings of Spark's are read before it starts, as it will read them itself, most of them in some first statement."""

from __future__ import annotations

import pytest

from warehouse.engine import Engine
from warehouse.errors import WarehouseError
from warehouse.execution import session


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.sql.shuffle.partitions", "x"),
        ("spark.sql.shuffle.partitions", "-3"),
        ("spark.sql.shuffle.partitions", "${spark.default.parallelism}"),
        ("spark.sql.session.timeZone", "Mars/Base"),
        ("spark.speculation.multiplier", "fast"),
        ("spark.memory.fraction", "lots"),
        ("spark.scheduler.mode", "BEST"),
    ],
)
def test_what_spark_does_not_take_is_refused(engine: Engine, name: str, value: str) -> None:
    with pytest.raises(WarehouseError) as caught:
        session._check(engine.spark._jvm, {"spark.app.name": "w", name: value})
    assert caught.value.condition == "WAREHOUSE_SETTING_INVALID"
    assert f"{name} cannot be {value}" in str(caught.value)


def test_what_it_takes_or_does_not_know_is_left(engine: Engine) -> None:
    taken = {
        "spark.sql.shuffle.partitions": "5", "spark.speculation": "TRUE", "spark.driver.maxResultSize": "2g",
        "spark.sql.session.timeZone": "+02:00", "spark.hadoop.fs.s3a.endpoint": "x", "spark.of.nobody": "",
    }  # fmt: skip
    session._check(engine.spark._jvm, taken)
