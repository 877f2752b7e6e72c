"""``kill -9`` at random moments of a REFRESH, again and again on one folder; a second process is refused meanwhile.

``RECOVERY_KILLS=20 RECOVERY_SEED=1 pytest tests/recovery/test_kills.py -s`` kills twenty times and tells when.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.recovery.scenery import TABLES, write

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("RECOVERY_KILLS", "0"))
SEED = int(os.environ.get("RECOVERY_SEED", "0"))
FILES = 1


@pytest.mark.slow
@pytest.mark.skipif(not KILLS, reason="lives of its own take minutes: make soak")
def test_killed_again_and_again(tmp_path: Path) -> None:
    dice, files, killed, longest = random.Random(SEED), 0, 0, 8.0
    while killed < KILLS:
        for _ in range(FILES):
            files += 1
            write(tmp_path / "data", files)
        process = _refreshing(tmp_path, dice.sample(list(TABLES), len(TABLES)))
        began = time.monotonic()
        if files == 2 * FILES:
            _is_refused(tmp_path, process)
        # The first life makes the tables; where there are many to come, the second shows how long a REFRESH takes.
        moment = dice.uniform(0.0, longest) if files > (FILES if KILLS < 3 else 2 * FILES) else 600.0
        while time.monotonic() < began + moment and not (tmp_path / "refreshed").exists():
            assert process.poll() is None, (tmp_path / "life.log").read_text()
            time.sleep(0.01)
        if (tmp_path / "refreshed").exists():
            longest = time.monotonic() - began
            assert process.wait(60) == 0
            continue
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        killed += 1
        print(f"kill {killed}: {moment:.1f} s into a REFRESH that takes {longest:.1f} s", flush=True)
    judged = subprocess.run(_command("judge", tmp_path), cwd=ROOT, capture_output=True, text=True)
    assert judged.returncode == 0, judged.stderr
    judgement = json.loads((tmp_path / "judgement.json").read_text())
    assert not judgement["differences"], "\n".join(judgement["differences"])
    assert judgement["rows"] == files * 26
    print(f"{killed} kills, {files} files, {judgement['rows']} rows, {judgement['panes']} panes: all the same")


def _command(act: str, root: Path, *names: str) -> list[str]:
    return [sys.executable, "-m", "tests.recovery.life", act, str(root), *names]


def _refreshing(root: Path, names: list[str]) -> subprocess.Popen[bytes]:
    """Start a process that refreshes the tables in the order of ``names``, and wait until it does."""
    for name in ("refreshing", "refreshed"):
        (root / name).unlink(missing_ok=True)
    log = (root / "life.log").open("ab")
    process = subprocess.Popen(_command("refresh", root, *names), cwd=ROOT, stdout=log, stderr=log)
    log.close()
    deadline = time.monotonic() + 300
    while not (root / "refreshing").exists():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            pytest.fail((root / "life.log").read_text())
        time.sleep(0.02)
    return process


def _is_refused(root: Path, process: subprocess.Popen[bytes]) -> None:
    """A second process on the folder is told whose it is, at once."""
    command = [sys.executable, "-m", "warehouse.cli.main", "--warehouse", str(root / "house"), "-e", "SELECT 1"]
    refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "[WAREHOUSE_FOLDER_IN_USE]" in refused.stderr
    assert f"in use by process {process.pid}" in refused.stderr
    assert process.poll() is None
