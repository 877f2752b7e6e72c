"""Half a day in an hour: streaming tables that run on for twelve simulated hours, and what piles up meanwhile.

Each 30 simulated seconds a file of 300 rows arrives, a few of them late or broken, the clock that steps go by moves
on, and every table takes the file in a step (``REFRESH``); files that all have read are removed. The tables: tumbling
windows with lateness, retracting sessions that fire early and late, sliding windows, rows as they are, and a reader of
the sessions' changes. After a quarter of the time the engine is closed, its JVM with it, and the same folder opened
again; so the two thirds that are compared are of one process. What goes by the wall clock, the time for which files
stay that compactions replaced (``RETAINED`` of ``warehouse.streaming.delta.delta_tables``) and the stream's
``maxFileAge`` of an hour, is shortened as the simulated time is (``--pace``).

Sampled are, after a collection of garbage: the heap, memory and threads of the JVM, Python's memory and the callbacks
that the JVM may still ask it for, the files of the folder and their bytes by kind, the state, and seconds of the steps
since the sample before. All must be flat, but for the rows that the tables emit or keep aside, and the history of
steps, of which ``warehouse.streaming.log.HISTORY`` files are kept.

Usage: ``python -m benchmarks endurance [--hours 12] [--every 30] [--pace 3] [--tables a,b] [--rows 300]``. Writes
``benchmarks/out/endurance.{md,json,png}``.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks import arguments, report
from benchmarks.protocol import machine
from benchmarks.systems import Warehouse
from warehouse.streaming.delta import delta_tables
from warehouse.streaming.feeding import feed
from warehouse.streaming.log import Commit, StepLog, step_log

TABLES = {
    "tumbling": "SELECT key, count(*) AS n, sum(value) AS total, window_start FROM STREAM events GROUP BY key"
    " WINDOW FIXED (at, SIZE INTERVAL 5 MINUTES) TRIGGER AT WATERMARK ALLOWED LATENESS INTERVAL 10 MINUTES",
    "visits": "SELECT key, count(*) AS n, window_start, window_end FROM STREAM events GROUP BY key"
    " WINDOW SESSIONS (at, GAP INTERVAL 1 MINUTE) TRIGGER AT WATERMARK EARLY EVERY INTERVAL 2 MINUTES LATE EVERY ROW"
    " RETRACTING ALLOWED LATENESS INTERVAL 10 MINUTES",
    "sliding": "SELECT key, max(value) AS most, window_start FROM STREAM events GROUP BY key"
    " WINDOW SLIDING (at, SIZE INTERVAL 10 MINUTES, EVERY INTERVAL 2 MINUTES) ALLOWED LATENESS INTERVAL 0 SECONDS",
    "plain": "SELECT key, value, at FROM STREAM events WHERE value < 100",
    "hourly": "SELECT count(*) AS visits, sum(n) AS events, window_start FROM STREAM visits"
    " WINDOW FIXED (window_start, SIZE INTERVAL 1 HOUR) ALLOWED LATENESS INTERVAL 0 SECONDS",
}
BEGAN = 1_800_000_000_000_000
KEYS, GUESTS = 200, 20
"""How many keys there are, and how many of them have rows in the same few minutes."""
MUCH_LATER, LATER = 3600, 240
"""Seconds by which rows are late: for all windows, and for some."""
KEPT_FILES = 20
"""Files that stay after all tables have read them."""
FILE_AGE = 3600
"""Seconds after which the stream may forget a file."""
SETTINGS = {"memory": "2g"}

RESULT = ("rows emitted or kept aside, MB", "history, files", "history, MB")
"""What may grow."""


@dataclass(frozen=True)
class Sample:
    """What was there after so many simulated ``hours``: figures by quantity."""

    hours: float
    figures: dict[str, float]


@dataclass
class Clock:
    """The clock that steps go by, in microseconds."""

    now: int = BEGAN


class Site:
    """A warehouse with its stream and tables.

    Args:
        scratch: where everything is. clock: of its steps. rows: of a file. tables: their names.
        file_age: seconds after which the stream may forget a file.
    """

    def __init__(self, scratch: Path, clock: Clock, rows: int, tables: Sequence[str], file_age: int):
        self.home, self.arriving, self.draft = scratch / "warehouse", scratch / "events", scratch / "draft"
        self.clock, self.rows, self.number = clock, rows, 0
        self.arriving.mkdir()
        self.system = Warehouse.open(self.home, SETTINGS)
        self.steps = dict.fromkeys(tables, 0)
        self.system.run(
            f"CREATE STREAM events (key BIGINT, value INT, at TIMESTAMP) USING json OPTIONS (path '{self.arriving}',"
            f" maxFileAge '{file_age}s') WATERMARK at DELAY OF INTERVAL 30 SECONDS"
        )
        for name in tables:
            self.system.run(f"CREATE STREAMING TABLE {name} AS {TABLES[name]}")
        self.logs = {e.name: step_log(self.home, e) for e in self.system.engine.catalog.streaming_tables.all()}

    def restart(self) -> None:
        """End the engine and its JVM, and go on with another one."""
        self.system.close()
        self.system = Warehouse.open(self.home, SETTINGS)

    def step(self, seconds: int) -> None:
        """Let the next file arrive, so many seconds after the last one, and all tables take it."""
        self.number += 1
        self.clock.now += seconds * 1_000_000
        self.draft.write_text("\n".join(lines(self.number, self.rows, self.clock.now, seconds)) + "\n")
        self.draft.rename(self.arriving / f"{self.number:06}.json")
        for name in self.logs:
            self.system.run(f"REFRESH STREAMING TABLE {name}")
        (self.arriving / f"{self.number - KEPT_FILES:06}.json").unlink(missing_ok=True)

    def sample(self) -> Sample:
        """Return what is there now."""
        figures = processes(self.system) | folder(self.home) | self._delta() | self._stepped()
        return Sample((self.clock.now - BEGAN) / 3.6e9, figures)

    def _delta(self) -> dict[str, float]:
        """Return what the Delta tables hold, the rest of whose files was replaced."""
        logs = self.home.glob("stream*/*/*/_delta_log")
        details = [self.system.run(f"DESCRIBE DETAIL delta.`{log.parent}`").to_pylist()[0] for log in logs]
        return {
            "rows emitted or kept aside, files": sum(d["numFiles"] for d in details),
            "rows emitted or kept aside, MB": sum(d["sizeInBytes"] for d in details) / 1e6,
        }

    def _stepped(self) -> dict[str, float]:
        """Return what the steps since the last call took, and the state after them."""
        found: dict[str, float] = {}
        newest = {name: log.last() for name, log in self.logs.items()}
        for name, last in newest.items():
            taken = [r.seconds for r in since(self.logs[name], self.steps[name]) if r.rows]
            self.steps[name] = last.step
            if taken:
                found[f"a step of {name}, s"] = statistics.median(taken)
        found["state, rows"] = sum(r.base_rows + r.delta_rows + r.slice_rows for r in newest.values())
        return found


def since(log: StepLog, step: int) -> list[Commit]:
    """Return the commit records after a step, as far as they are not folded."""
    return [record for record in log.loose() if record.step > step]


def lines(number: int, rows: int, clock: int, every: int) -> Iterable[str]:
    """Return a file's lines: rows of the time since the last one, some of them late, and one that is broken."""
    dice = random.Random(number)
    yield f'{{"key": {number}, "value": '
    for _ in range(rows - 1):
        late = dice.choices((0, LATER, MUCH_LATER), (96, 3, 1))[0]
        moment = clock / 1e6 - dice.random() * every - late
        key = (number * every // 180 * GUESTS // 2 + dice.randrange(GUESTS)) % KEYS
        at = datetime.fromtimestamp(moment, UTC).isoformat()
        yield json.dumps({"key": key, "value": dice.randrange(1000), "at": at})


def processes(system: Warehouse) -> dict[str, float]:
    """Return memory and threads of both processes, garbage collected before."""
    jvm: Any = system.spark._jvm
    gc.collect()
    for _ in range(2):
        jvm.java.lang.System.gc()
        time.sleep(0.3)  # what Spark cleans up is told to it by its collector
    memory = jvm.java.lang.Runtime.getRuntime()
    gateway: Any = system.spark.sparkContext._gateway
    return {
        "JVM's live heap, MB": (memory.totalMemory() - memory.freeMemory()) / 1e6,
        "JVM's memory, MB": status(system.process, "VmRSS") / 1e3,
        "JVM's threads": status(system.process, "Threads"),
        "Python's memory, MB": status(os.getpid(), "VmRSS") / 1e3,
        "Python's objects, thousands": len(gc.get_objects()) / 1e3,
        "callbacks into Python": len(gateway.gateway_property.pool),
    }


def status(process: int, name: str) -> int:
    """Return a figure that Linux tells of a process; memory is in kilobytes."""
    (line,) = [x for x in Path(f"/proc/{process}/status").read_text().splitlines() if x.startswith(f"{name}:")]
    return int(line.split()[1])


def folder(home: Path) -> dict[str, float]:
    """Return how many files of each kind a warehouse folder has, and how large they are."""
    files, sizes = Counter[str](), Counter[str]()
    for place, _, names in os.walk(home):
        what = kind(Path(place).relative_to(home).parts)
        for name in names:
            try:
                sizes[what] += os.stat(os.path.join(place, name)).st_size
                files[what] += 1
            except FileNotFoundError:  # it went meanwhile
                pass
    return {f"{k}, files": files[k] for k in sorted(files)} | {f"{k}, MB": sizes[k] / 1e6 for k in sorted(files)}


def kind(place: Sequence[str]) -> str:
    """Return what the files in a place of the warehouse folder are."""
    match place:
        case [_, _, "panes" | "late_rows" | "bad_rows", "_delta_log", *_]:
            return "Delta's logs"
        case [_, _, "panes" | "late_rows" | "bad_rows", *_]:
            return "Delta's data"
        case ["streaming", _, "commits" | "intents", *_]:
            return "commits and intents"
        case ["streaming", _, what, *_]:
            return what
        case [what, *_]:
            return {"metastore": "metastore", "tmp": "scratch", "logs": "logs"}.get(what, "others")
    return "others"


def lived(chosen: argparse.Namespace, count: int) -> Iterator[Sample]:
    """Let ``count`` files arrive, and yield what there is ``chosen.samples`` times meanwhile."""
    clock = Clock()
    scaled = chosen.pace / chosen.every
    with (
        tempfile.TemporaryDirectory() as scratch,
        mock.patch.object(feed, "now", lambda: clock.now),
        mock.patch.object(delta_tables, "RETAINED", delta_tables.RETAINED * scaled),
    ):
        site = Site(Path(scratch), clock, chosen.rows, chosen.tables.split(","), round(FILE_AGE * scaled))
        try:
            for number in range(1, count + 1):
                site.step(chosen.every)
                if number * chosen.samples // count != (number - 1) * chosen.samples // count:
                    yield site.sample()
                if number == count // 4:
                    site.restart()
        finally:
            site.system.close()


def main(argv: list[str] | None = None) -> int:
    """Let the time pass, print what piled up and write it down, also where it is interrupted."""
    asked = arguments.parser("endurance", __doc__)
    asked.add_argument("--hours", type=float, default=12, help="simulated")
    asked.add_argument("--every", type=int, default=30, help="simulated seconds from file to file")
    asked.add_argument("--pace", type=float, default=3.0, help="real seconds in which about so much time passes")
    asked.add_argument("--rows", type=int, default=300, help="of a file")
    asked.add_argument("--tables", default=",".join(TABLES), help=", ".join(TABLES))
    asked.add_argument("--samples", type=int, default=48, help="how often to look")
    chosen = asked.parse_args(argv)
    count, begun = int(chosen.hours * 3600 / chosen.every), time.monotonic()
    samples: list[Sample] = []
    with suppress(KeyboardInterrupt):
        for sample in lived(chosen, count):
            samples.append(sample)
            print(f"{time.monotonic() - begun:.0f} s {sample}", file=sys.stderr, flush=True)
    told = (
        f"{samples[-1].hours:.1f} simulated hours, a file of {chosen.rows} rows each {chosen.every} seconds, tables"
        f" {chosen.tables}; {(time.monotonic() - begun) / 60:.0f} minutes, {machine()}."
        f" The engine was opened anew after {chosen.hours / 4:g} hours."
    )
    report.keep("endurance", f"{told}\n\n{verdicts(samples)}", samples)
    report.curves("endurance", series(samples), "simulated hours", chosen.hours / 4)
    return 0


def series(samples: Sequence[Sample]) -> dict[str, list[tuple[float, float]]]:
    """Return the figures of each quantity with their hours."""
    names = dict.fromkeys(name for sample in samples for name in sample.figures)
    return {n: [(s.hours, s.figures[n]) for s in samples if n in s.figures] for n in names}


def verdicts(samples: Sequence[Sample]) -> str:
    """Return a table of the quantities: the means of the last two thirds of the time, and whether it grows."""
    hours, rows = samples[-1].hours, []
    for name, points in series(samples).items():
        thirds = [[y for x, y in points if low < 3 * x / hours <= low + 1] for low in (0, 1, 2)]
        if not thirds[1] or not thirds[2]:
            continue
        first, middle, last = (statistics.fmean(third) if third else 0 for third in thirds)
        ratio = last / middle if middle else 1.0
        verdict = "may grow" if name in RESULT else "flat" if ratio < 1.1 else "GROWS"
        rows.append([name, *(f"{f:,.2f}" for f in (first, middle, last)), f"{ratio:.2f}", verdict])
    return report.table(["mean of each third", "first", "middle", "last", "last : middle", ""], rows)


if __name__ == "__main__":
    sys.exit(main())
