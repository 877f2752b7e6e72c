"""A full disk stops a step with a clear error; once there is room, it goes on, and no row is lost or counts twice.

On a file system of its own, which takes root: ``RECOVERY=full`` (or ``RECOVERY_DISK=20`` for as many times) runs it,
for tables that are refreshed and for tables that run on; one of them reads files, one a topic of Kafka.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import broker as brokers
from tests.recovery.conftest import Mortal
from tests.recovery.full_disk import BAD, LATE, ROWS
from tests.recovery.scenery import TOPIC
from tests.statements import rows_of
from warehouse.errors import SourceText, WarehouseError
from warehouse.execution.spark_errors import is_disk_full, translate
from warehouse.streaming import faults

TIMES = int(os.environ.get("RECOVERY_DISK", "8" if os.environ.get("RECOVERY") == "full" else "0"))
SEED = int(os.environ.get("RECOVERY_SEED", "0"))
HERE = Path(__file__).parents[2]


def test_the_error_says_what_to_do() -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    told = translate(full, SourceText("REFRESH STREAMING TABLE t")).render()
    assert "[WAREHOUSE_DISK_FULL]" in told
    assert "SQLSTATE: 53100" in told
    assert "run the statement again" in told
    assert not is_disk_full(OSError(errno.EACCES, "no"))


def test_a_table_that_runs_on_stops_and_says_why(mortal: Mortal) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def status() -> str:
        (row,) = rows_of(mortal.engine, "SHOW STREAMING TABLES LIKE 'stopped'")
        return row["status"]

    def until(wanted: str) -> None:
        deadline = time.monotonic() + 300
        while status() != wanted and time.monotonic() < deadline:
            time.sleep(0.05)
        assert status() == wanted

    data = mortal.folder / "stopped"
    data.mkdir()
    mortal.run(
        f"CREATE STREAM some (v INT) USING json OPTIONS (path '{data}');"
        "CREATE STREAMING TABLE stopped AS SELECT v FROM STREAM some"
    )
    (data / "1.json").write_text('{"v": 1}\n')
    entry = mortal.engine.catalog.streaming_tables.get("recovery", "stopped")
    assert entry is not None
    faults.arm("panes", full)
    try:
        mortal.run("START STREAMING TABLE stopped")
        until("failed")
        faults.arm(None)
        told = rows_of(mortal.engine, "DESCRIBE EXTENDED STREAMING TABLE stopped")
        assert "failed: [WAREHOUSE_DISK_FULL] No space is left on a disk that the warehouse writes to." in str(told)
        with pytest.raises(WarehouseError, match="WAREHOUSE_DISK_FULL"):
            mortal.run("STOP STREAMING TABLE stopped")
        assert status() == "idle"
        mortal.run("START STREAMING TABLE stopped; STOP STREAMING TABLE stopped; REFRESH STREAMING TABLE stopped")
        assert rows_of(mortal.engine, "SELECT v, _step FROM panes('stopped')") == [{"v": 1, "_step": 1}]
    finally:
        faults.arm(None)
        mortal.engine.tables.running.stop(entry, quiet=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128m", "tmpfs", place], check=False, capture_output=True)
    if made.returncode:
        pytest.skip("a file system of its own takes root")
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.skipif(not TIMES, reason="RECOVERY=full: make soak")
@pytest.mark.parametrize("act", ["refresh", "run"])
def test_a_disk_that_fills_up_again_and_again(disk: Path, tmp_path: Path, act: str) -> None:
    data = tmp_path / "data"
    data.mkdir()
    with brokers.running() as broker:
        broker.topic(TOPIC)
        given = (act, str(disk), str(data), str(TIMES), str(SEED), broker.servers)
        command = [sys.executable, "-m", "tests.recovery.full_disk", *given]
        ran = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=3600, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    told = json.loads(ran.stdout.splitlines()[-1])
    print(act, told)
    assert told["full"]
    rows, late, bad = (TIMES + 1) * ROWS + 2 * LATE, (TIMES - 1) * LATE, (TIMES + 1) * BAD
    for table, found in told["found"].items():
        assert found["stands"] == found["wanted"], table
        counted = [found[what] for what in ("net", "late", "late in all", "bad", "read")]
        assert found["stands"][1] == rows, table
        assert counted == [rows, late, late, bad, rows + late + bad], table
