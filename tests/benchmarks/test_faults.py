"""Executors in processes of their own, one of which dies: the same rows. ``FAULTS=1``; it takes some minutes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import faults, stragglers
from benchmarks.systems import Apart, opened

cluster = pytest.mark.skipif(not os.environ.get("FAULTS"), reason="FAULTS=1 starts a cluster and kills parts of it")


@cluster
def test_an_executor_is_lost() -> None:
    """Rows that differ end it. The executors compile nothing of ours: that they answer shows that they need not."""
    with opened(Apart(measured)) as work:
        runs, happened = next(work)
    assert len(runs) == len(happened) == 12
    for fault in happened:
        assert len(fault.killed) == (1 if fault.case.startswith("failure") else 0)
        assert fault.case.startswith("failure") or fault.after == 8
    assert len({process for fault in happened for process in fault.killed}) == 4


@cluster
@pytest.mark.parametrize("speculation", [True, False])
def test_steps_whose_executors_are_slow_or_die(tmp_path: Path, speculation: bool) -> None:
    """Tables that differ from what their queries give over all files end it."""
    with opened(Apart(steps, speculation, tmp_path / "coming")) as work:
        runs = next(work)
    assert len(runs) == 2 * len(stragglers.CASES) * len(stragglers.QUERIES)


def steps(speculation: bool, coming: Path) -> Iterator[Any]:
    yield stragglers.measured(speculation, coming, 4_000, 2, 512)


def measured() -> Iterator[Any]:
    yield faults.measured(200_000, 2, 512)
