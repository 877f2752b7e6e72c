"""Which files a table has is known from its last commit: who reads next waits for no replay of the log."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import status
from tests.statements import Rows, rows_in
from warehouse.engine import Engine

CHECKSUM = "spark.databricks.delta.writeChecksumFile.enabled"
LARGE_ONES = "SELECT sum(id) AS s FROM t WHERE id > 3"


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    yield from rows_in(engine, "listed")


def test_no_read_after_a_commit_replays_the_log(engine: Engine, rows: Rows) -> None:
    rows("DROP TABLE IF EXISTS t; CREATE TABLE t AS SELECT id FROM range(10)")
    changes = ("INSERT INTO t VALUES (100)", "DELETE FROM t WHERE id = 9", "INSERT INTO t VALUES (1000)")
    for change, wanted in zip(changes, (139, 130, 1130), strict=True):
        rows(change)
        with status.watched(engine.spark) as seen:
            assert rows(LARGE_ONES) == [{"s": wanted}]
        assert len(seen.plans) == 1, change  # a replay is a query of its own


def test_a_table_without_the_file_is_read_too(engine: Engine, rows: Rows) -> None:
    engine.spark.conf.set(CHECKSUM, "false")
    try:
        rows("DROP TABLE IF EXISTS t; CREATE TABLE t AS SELECT id FROM range(10); INSERT INTO t VALUES (100)")
    finally:
        engine.spark.conf.unset(CHECKSUM)
    log = Path(rows("DESCRIBE DETAIL t")[0]["location"].removeprefix("file:")) / "_delta_log"
    assert len(list(log.glob("*.json"))) == 2 and not list(log.glob("0*.crc"))
    assert rows(LARGE_ONES) == [{"s": 139}]
    assert rows("INSERT INTO t VALUES (1000); " + LARGE_ONES) == [{"s": 1139}]
