"""Streaming tables that run in the background, started and stopped by several sessions at once."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import pytest

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.streaming.feeding import running as runs
from warehouse.streaming.feeding.common import Common

ENTRY = StreamingTableEntry("default", "t", "t-1", "CREATE", None, (), (), (), False, "ACCUMULATING", False, (), "2024")


class SlowToStart(threading.Thread):
    """A thread that others overtake while it is started."""

    def start(self) -> None:
        time.sleep(0.1)
        super().start()


@pytest.fixture
def running(monkeypatch: pytest.MonkeyPatch) -> runs.Running:
    """Return what starts and stops tables whose runs do nothing until they are stopped."""
    nothing: Any = None
    found = runs.Running(Common(*[nothing] * 6), nothing)
    monkeypatch.setattr(runs, "enter", lambda _: None)
    monkeypatch.setattr(found, "_run_on", lambda _, pacer: pacer.stop.wait(10))
    monkeypatch.setattr(runs, "threading", SimpleNamespace(Thread=SlowToStart, Event=threading.Event))
    return found


def test_of_two_starts_at_once_one_starts(running: runs.Running) -> None:
    with ThreadPoolExecutor(2) as sessions:
        assert sorted(sessions.map(lambda _: running.start(ENTRY, None), range(2))) == [False, True]
    assert running.stop(ENTRY)


def test_a_stop_during_a_start_comes_before_or_after_it(running: runs.Running) -> None:
    with ThreadPoolExecutor(1) as other:
        started = other.submit(running.start, ENTRY, None)
        time.sleep(0.05)
        stopped = running.stop(ENTRY)
        assert started.result()
    assert running.runs(ENTRY) is not stopped
    running.stop(ENTRY)
