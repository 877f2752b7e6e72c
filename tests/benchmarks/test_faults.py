"""Executors in processes of their own, one of which dies: the same rows. ``FAULTS=1``; it takes a minute or two."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks import faults
from benchmarks.systems import Apart, opened


@pytest.mark.skipif(not os.environ.get("FAULTS"), reason="FAULTS=1 starts a cluster and kills parts of it")
def test_an_executor_is_lost() -> None:
    """Rows that differ end it. The executors compile nothing of ours: that they answer shows that they need not."""
    with opened(Apart(measured)) as work:
        runs, happened = next(work)
    assert len(runs) == len(happened) == 12
    for fault in happened:
        assert len(fault.killed) == (1 if fault.case.startswith("failure") else 0)
        assert fault.case.startswith("failure") or fault.after == 8
    assert len({process for fault in happened for process in fault.killed}) == 4


def measured() -> Iterator[Any]:
    yield faults.measured(200_000, 2, 512)
