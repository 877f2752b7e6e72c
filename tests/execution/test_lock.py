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


def test_killed_and_succeeded_at_once(tmp_path):
    served = _serve(tmp_path)
    assert lock.holder(tmp_path / "house").pid == served["pid"]

    intruder = play("intrude", tmp_path)
    assert intruder.returncode == 0, intruder.stderr
    story = seen(tmp_path)
    assert story["refusal"].startswith(
        f"[WAREHOUSE_FOLDER_IN_USE] The warehouse {tmp_path / 'house'} is in use by process {served['pid']}, since "
    )
    assert "SQLSTATE: 55006" in story["refusal"]
    assert story["seconds"] < 3

    os.kill(served["pid"], signal.SIGKILL)
    successor = play("succeed", tmp_path)
    assert successor.returncode == 0, successor.stderr
    story = seen(tmp_path)
    assert story["values"] == list(range(len(story["values"])))
    assert story["values"]
    assert not _lives(served["jvm"])
    assert not Path(served["scratch"]).exists()
    assert lock.holder(tmp_path / "house") is None


def test_a_jvm_left_behind_is_waited_for(tmp_path):
    """The JVM outlives its Python and its watcher, and hangs: the successor starts when it is gone, not before."""
    served = _serve(tmp_path)
    for pid, blow in ((served["jvm"], signal.SIGSTOP), (served["watcher"], signal.SIGKILL)):
        os.kill(pid, blow)
    os.kill(served["pid"], signal.SIGKILL)
    successor = subprocess.Popen(command("succeed", tmp_path), cwd=ROOT)
    time.sleep(5)
    os.kill(served["jvm"], signal.SIGKILL)
    assert successor.wait(90) == 0
    assert seen(tmp_path)["seconds"] > 4.5
    assert seen(tmp_path)["values"]
    shutil.rmtree(served["scratch"], ignore_errors=True)


def _serve(root: Path) -> dict:
    process = subprocess.Popen(command("serve", root), cwd=ROOT)
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
