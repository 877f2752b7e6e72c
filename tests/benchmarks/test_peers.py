"""Peers take turns with us where there is memory for all, else one comes after the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

import pytest

from benchmarks import peers, protocol


@pytest.mark.parametrize(
    ("memory", "order"),
    [(3 * peers.JVM, "ours 0, newcomer 0, ours 1, newcomer 1"), (peers.JVM, "ours 0, ours 1, newcomer 0, newcomer 1")],
)
def test_in_turns(memory: int, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "memory", lambda: memory)
    ended = []

    @contextmanager
    def worker(name: str) -> Iterator[peers.Rounds]:
        yield (([protocol.Run("q", name, turn, 1.0, 1.0)], peers.Held(turn, 0)) for turn in range(9))
        ended.append(name)

    workers: dict[str, partial[AbstractContextManager[peers.Rounds]]] = {
        name: partial(worker, name) for name in ("ours", "newcomer")
    }
    runs, held = peers.in_turns(workers, 2)
    assert ", ".join(f"{run.system} {run.turn}" for run in runs) == order
    assert held == {name: peers.Held(1, 0) for name in workers} and sorted(ended) == ["newcomer", "ours"]
