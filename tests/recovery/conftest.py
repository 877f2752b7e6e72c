"""The one engine, on which deaths are played without ending its JVM."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from warehouse.engine import Engine
from warehouse.streaming import faults
from warehouse.streaming.feeding import feed


class Death(BaseException):
    """What a step dies of: nothing of ours catches it to write anything."""


@dataclass
class Mortal:
    """An engine that dies and is reborn, and the clock that its streaming tables go by."""

    engine: Engine
    folder: Path
    clock: int = 1_800_000_000_000_000

    def run(self, text: str) -> None:
        for result in self.engine.run(text):
            list(result.batches)

    def dies(self, text: str, fault: str) -> bool:
        """Run a statement whose steps die at a boundary; say whether they got there."""

        def die() -> None:
            raise Death

        faults.arm(fault, die)
        try:
            self.run(text)
        except Death:
            self.reborn()
            return True
        finally:
            faults.arm(None)
        return False

    def freezes(self, text: str, fault: str) -> None:
        """Run a statement that never gets past a boundary, not even to clean up after itself."""
        frozen, ended = threading.Event(), threading.Event()

        def freeze() -> None:
            frozen.set()
            threading.Event().wait()

        def run() -> None:
            self.run(text)
            ended.set()

        faults.arm(fault, freeze)
        threading.Thread(target=run, daemon=True).start()
        assert frozen.wait(120), f"{fault} was not reached"
        faults.arm(None)
        self.reborn()

    def reborn(self) -> None:
        """Do as a new process does: nothing is known but what the folder holds."""
        self.engine = Engine.within(self.engine.spark, self.engine.folder, self.engine._shared.udfs.folder)


@pytest.fixture(scope="module")
def mortal(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mortal]:
    found = Mortal(engine, tmp_path_factory.mktemp("recovery"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feed, "now", lambda: found.clock)
        found.run("CREATE SCHEMA IF NOT EXISTS recovery; USE recovery")
        yield found
        found.run("USE default")
