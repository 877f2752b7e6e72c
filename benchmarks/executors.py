"""An engine whose tasks run in two processes, its executors, which can be killed and slowed."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.systems import Warehouse

EXECUTORS = 2


def settings(megabytes: int) -> dict[str, str]:
    """Return an engine's settings: two executors of a core each, with so many megabytes of heap."""
    return {"memory": "2g", "spark.master": f"local-cluster[{EXECUTORS},1,{megabytes}]"}


class Cluster:
    """The engine's executors, as processes."""

    def __init__(self, system: Warehouse):
        self.system = system
        self._context: Any = system.spark.sparkContext._jsc.sc()

    def processes(self) -> list[int]:
        """Return the ids of the executors' processes: all that the engine's JVM has started."""
        children = self.system.spark._jvm.java.lang.ProcessHandle.current().children().toArray()
        return [int(child.pid()) for child in children]

    def whole(self) -> None:
        """Wait until there are as many executors as there should be."""
        until = time.monotonic() + 300
        while self._context.statusStore().executorList(True).size() <= EXECUTORS:  # the driver is one of them
            if time.monotonic() > until:
                raise TimeoutError("an executor that was killed has no successor")
            time.sleep(0.2)

    def held(self) -> int:
        """Return how many partitions of tables are in memory; Delta keeps its logs there, too."""
        kept = (info for info in self._context.getRDDStorageInfo() if info.name().startswith("In-memory table"))
        return sum(int(info.numCachedPartitions()) for info in kept)

    def kill(self) -> int:
        """Kill the younger executor, so that who is left is warm; return the id that its process had."""
        process = max(self.processes())
        os.kill(process, signal.SIGKILL)
        return process

    @contextmanager
    def dying(self, after: float) -> Iterator[None]:
        """Kill an executor after so many seconds, if the block lasts that long."""
        killing = threading.Timer(after, self.kill)
        killing.start()
        try:
            yield
        finally:
            killing.cancel()
            killing.join()

    @contextmanager
    def slowed(self, share: float) -> Iterator[None]:
        """Let an executor run for this share of the time only, a twentieth of a second at a time."""
        process, over = self.processes()[0], threading.Event()

        def hold() -> None:
            while not over.is_set():
                os.kill(process, signal.SIGSTOP)
                over.wait(_BEAT * (1 - share) / share)
                os.kill(process, signal.SIGCONT)
                over.wait(_BEAT)

        holding = threading.Thread(target=hold)
        holding.start()
        try:
            yield
        finally:
            over.set()
            holding.join()


_BEAT = 0.05
