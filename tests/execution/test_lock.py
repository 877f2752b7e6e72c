"""One engine per folder, whoever is killed when."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.execution.scenes import ROOT, command, play, seen
from warehouse.execution import lock


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("RECOVERY") != "full", reason="starts four engines: make soak")
def test_the_folder_outlives_its_engines(tmp_path):
    first = _serving(tmp_path, _serve(tmp_path))
    assert lock.holder(tmp_path / "house").pid == first["pid"]
    _is_refused(tmp_path, first["pid"])

    # Killed, and succeeded at once.
    os.kill(first["pid"], signal.SIGKILL)
    second = _serving(tmp_path, _serve(tmp_path))
    assert second["values"] == list(range(len(second["values"])))
    assert second["values"]
    assert not _lives(first["jvm"])
    assert not Path(first["scratch"]).exists()

    # Killed with its watcher while the JVM hangs: the successor starts when that is gone, not before.
    os.kill(second["jvm"], signal.SIGSTOP)
    os.kill(second["watcher"], signal.SIGKILL)
    os.kill(second["pid"], signal.SIGKILL)
    process = _serve(tmp_path)
    time.sleep(5)
    os.kill(second["jvm"], signal.SIGKILL)
    third = _serving(tmp_path, process)
    assert third["seconds"] > 4.5
    assert third["values"] == list(range(len(third["values"])))
    assert len(third["values"]) > len(second["values"])
    shutil.rmtree(second["scratch"], ignore_errors=True)
    os.kill(third["pid"], signal.SIGKILL)


def _is_refused(root: Path, pid: int) -> None:
    intruder = play("intrude", root)
    assert intruder.returncode == 0, intruder.stderr
    story = seen(root)
    assert story["refusal"].startswith(
        f"[WAREHOUSE_FOLDER_IN_USE] The warehouse {root / 'house'} is in use by process {pid}, since "
    )
    assert "SQLSTATE: 55006" in story["refusal"]
    assert story["seconds"] < 15


def _serve(root: Path) -> subprocess.Popen:
    (root / "serving.json").unlink(missing_ok=True)
    return subprocess.Popen(command("serve", root), cwd=ROOT)


def _serving(root: Path, process: subprocess.Popen) -> dict:
    """Return what an engine notes once it has written its first row."""
    deadline = time.monotonic() + 90
    while not (root / "serving.json").exists():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            pytest.fail("it never served")
        time.sleep(0.1)
    return json.loads((root / "serving.json").read_text())


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[-1].split()[0] != "Z"
    except FileNotFoundError:
        return False
