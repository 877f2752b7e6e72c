"""What follows a step does not fail it."""

from __future__ import annotations

import errno
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from warehouse.streaming.delta import upkeep
from warehouse.streaming.log import START


class Full:
    """Where panes belong, on a disk that is full."""

    def gather(self, session: Any, folder: Path) -> None:
        raise OSError(errno.ENOSPC, f"no room in {folder.name}")


def test_a_full_disk_is_met_again_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(upkeep.delta_tables, "exists", lambda folder: folder.name == "panes")
    monkeypatch.setattr(upkeep, "enter", lambda session: None)
    steps = replace(START, step=upkeep.STEPS - 1), replace(START, step=upkeep.STEPS)
    given: Any = (None, tmp_path, *steps, None, Full())
    upkeep.after(*given)
    assert "no room in panes" in caplog.text
