"""The fault points themselves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from warehouse.streaming import faults


def test_the_environment_names_a_boundary_and_how_often_it_is_passed_before() -> None:
    script = "from warehouse.streaming import faults\nfor n in range(5): print(n, flush=True); faults.passed('panes')"
    environment = os.environ | {"WAREHOUSE_FAULT": "panes:3"}
    ended = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL
    assert ended.stdout.split() == ["0", "1", "2"]


def test_a_fault_happens_once() -> None:
    seen: list[str] = []
    faults.arm("delta:2", lambda: seen.append("died"))
    for boundary in ("delta", "panes", "delta", "delta"):
        faults.passed(boundary)
        seen.append(boundary)
    faults.arm(None)
    faults.passed("delta")
    assert seen == ["delta", "panes", "died", "delta", "delta"]


def test_no_boundary_of_that_name() -> None:
    with pytest.raises(ValueError, match="no boundary is called pane: offered, "):
        faults.arm("pane")
