"""What a training is doing.

MLlib runs a Spark job for each pass over the data, and names it after the line of its own code that asked for it. The
jobs of one statement are a group: a thread looks at it now and then, and tells how far it has come.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from types import TracebackType

from pyspark import SparkContext

from warehouse.execution.results import TrainingProgress

INTERVAL = 0.25
_OF_MLLIB = re.compile(r" at (?!DatabricksLogging)\w+\.scala:\d+$")
"""Names of jobs that Scala's code asks for: those of plain queries are named after Java's and Python's."""

_numbers = count(1)


class Watch:
    """Watches the jobs of one statement, from the thread that runs it."""

    def __init__(self, context: SparkContext, report: Callable[[TrainingProgress], None] | None):
        self.context, self.report = context, report
        self.group = f"warehouse-generate-{next(_numbers)}"
        self._stage = ""
        self._passes: Counter[str] = Counter()
        self._seen: set[int] = set()
        self._started = time.monotonic()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name=self.group, daemon=True)

    def __enter__(self) -> Watch:
        self.context.setJobGroup(self.group, "GENERATE")
        if self.report is not None:
            self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()
        for name in ("spark.jobGroup.id", "spark.job.description"):
            self.context.setLocalProperty(name, None)

    def begin(self, stage: str) -> None:
        """Say what is fitted from now on."""
        self._stage = stage
        self._passes.clear()

    def _run(self) -> None:
        while not self._done.wait(INTERVAL):
            with contextlib.suppress(Exception):  # the session may end under a statement
                self._look()

    def _look(self) -> None:
        """Report how often the line of MLlib that runs now has run in this stage."""
        tracker, latest = self.context.statusTracker(), None
        for job in sorted(set(tracker.getJobIdsForGroup(self.group)) - self._seen):
            self._seen.add(job)
            info = tracker.getJobInfo(job)
            stage = tracker.getStageInfo(max(info.stageIds)) if info and info.stageIds else None
            if stage is not None and _OF_MLLIB.search(stage.name):
                latest = stage.name
                self._passes[latest] += 1
        if latest is not None and self.report is not None:
            seconds = time.monotonic() - self._started
            self.report(TrainingProgress(self._stage, latest, self._passes[latest], seconds))
