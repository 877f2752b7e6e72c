"""A full disk stops a step with a clear error; once there is room, it goes on, and no row is lost or counts twice.

On a file system of its own, which takes root: ``RECOVERY=full`` (or ``RECOVERY_DISK=20`` for as many times) runs it.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.recovery.full_disk import ROWS
from warehouse.errors import SourceText
from warehouse.execution.spark_errors import is_disk_full, translate

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


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", place], check=False, capture_output=True)
    if made.returncode:
        pytest.skip("a file system of its own takes root")
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.skipif(not TIMES, reason="RECOVERY=full: make soak")
def test_a_disk_that_fills_up_again_and_again(disk: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    command = [sys.executable, "-m", "tests.recovery.full_disk", str(disk), str(data), str(TIMES), str(SEED)]
    ran = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=1800, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    found = json.loads(ran.stdout.splitlines()[-1])
    rows = (TIMES + 1) * ROWS
    assert found["full"] > 0
    assert found["stands"] == found["wanted"]
    assert (found["stands"][0]["n"], found["net"][0]["n"], found["read"][0]["n"]) == (rows, rows, rows)
