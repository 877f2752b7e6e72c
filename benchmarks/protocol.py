"""Six runs, the first dropped: how a thing is timed here, and what is told of its times.

Zaharia's dissertation (3.5.1) runs each query six times, drops the first, in which the JVM still compiles, and takes
the mean. Here it is the median, with the least and the greatest beside it, since a shared machine disturbs single
runs; and seconds in which the process kept cores busy beside those of the clock, since these hold on a machine that
others use too.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from benchmarks import report

T = TypeVar("T")
ROUNDS = 6


@dataclass(frozen=True)
class Run:
    """One run of one case by one system.

    Attributes:
        seconds: by the clock. cpu: seconds in which its process kept cores busy. turn: 0 is the run that is dropped.
    """

    case: str
    system: str
    turn: int
    seconds: float
    cpu: float


@dataclass(frozen=True)
class Spread:
    """The median of some figures, the least and the greatest of them."""

    median: float
    least: float
    greatest: float

    @classmethod
    def of(cls, figures: Iterable[float]) -> Spread:
        """Return the spread of figures, at least one."""
        values = list(figures)
        return cls(statistics.median(values), min(values), max(values))

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f}–{self.greatest:.2f})"


def timed(act: Callable[[], object], case: str, system: str, turn: int, process: int) -> Run:
    """Do something once; return what it took. ``process`` is the one that does the work, by its id."""
    busy, begun = cpu_seconds(process), time.perf_counter()
    act()
    return Run(case, system, turn, time.perf_counter() - begun, cpu_seconds(process) - busy)


def counted(runs: Iterable[Run], case: str, system: str, measure: str = "seconds") -> Spread | None:
    """Return the spread of the runs that count of a case by a system; None if there is none."""
    figures = [getattr(r, measure) for r in runs if (r.case, r.system) == (case, system) and r.turn]
    return Spread.of(figures) if figures else None


def geometric_mean(figures: Iterable[float]) -> float:
    """Return the geometric mean of positive figures, NaN of none."""
    values = list(figures)
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


def cpu_seconds(process: int) -> float:
    """Return for how many seconds a process has kept cores busy so far (Linux)."""
    figures = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(figures[11]) + int(figures[12])) / os.sysconf("SC_CLK_TCK")


def peak_memory(process: int) -> int:
    """Return the most bytes of memory that a process has held at a time (Linux)."""
    (line,) = [x for x in Path(f"/proc/{process}/status").read_text().splitlines() if x.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def memory() -> int:
    """Return the bytes of memory that the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def machine() -> str:
    """Return a line on the machine: cores, memory, and how many processes wanted a core in the last minute."""
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores, {memory() / 2**30:.0f} GiB of memory, load {os.getloadavg()[0]:.1f}"


class WrongAnswer(Exception):
    """A system gave an answer to a case that is not the expected one."""


def turns(
    acts: Mapping[tuple[str, str], Callable[[], T]],
    rounds: int,
    process: int,
    differs: Callable[[str, T], str | None] = lambda case, answer: None,
) -> list[Run]:
    """Let everybody do everything in turn, ``rounds`` times over, and look at every answer.

    Args:
        acts: what to time, by the case's and the system's name; ``differs`` says what is wrong with an answer.

    Raises:
        WrongAnswer: at the first answer that differs.
    """
    return [run for number in range(rounds) for run in turn(acts, number, process, differs)]


def turn(
    acts: Mapping[tuple[str, str], Callable[[], T]],
    number: int,
    process: int,
    differs: Callable[[str, T], str | None] = lambda case, answer: None,
) -> list[Run]:
    """Let everybody do everything once, as ``turns`` does."""
    runs = []
    for (case, system), act in acts.items():
        answers: list[T] = []
        runs.append(timed(lambda act=act, answers=answers: answers.append(act()), case, system, number, process))
        print(f"round {number} {case} {system} {runs[-1].seconds:.3f} s", file=sys.stderr, flush=True)
        if wrong := differs(case, answers[0]):
            raise WrongAnswer(f"{case}, {system}: {wrong}")
    return runs


def compared(runs: Sequence[Run], mine: str, measure: str = "seconds") -> str:
    """Return a table of the runs: a line a case, a column a system, and the others in multiples of ``mine``."""
    cases, systems = (list(dict.fromkeys(getattr(r, name) for r in runs)) for name in ("case", "system"))
    others = [s for s in systems if s != mine]
    found = {(c, s): counted(runs, c, s, measure) for c in cases for s in systems}

    def ratio(case: str, other: str) -> float:
        own, its = found[case, mine], found[case, other]
        return its.median / own.median if own and its and own.median and its.median else math.nan

    def cells(case: str) -> list[str]:
        ratios = [ratio(case, other) for other in others]
        return [*(str(found[case, s] or "") for s in systems), *("" if math.isnan(r) else f"{r:.2f}" for r in ratios)]

    means = [geometric_mean(f.median for c in cases if (f := found[c, s]) and f.median) for s in systems]
    multiples = [geometric_mean(r for c in cases if not math.isnan(r := ratio(c, o))) for o in others]
    rows = [[case, *cells(case)] for case in cases]
    rows.append(["geometric mean", *(f"{m:.2f}" for m in means), *(f"{m:.2f}" for m in multiples)])
    return report.table(["", *systems, *(f"{other} : {mine}" for other in others)], rows)


def picture(name: str, title: str, runs: Sequence[Run]) -> None:
    """Draw the medians of the runs."""
    cases, systems = (list(dict.fromkeys(getattr(r, name) for r in runs)) for name in ("case", "system"))
    series = {s: [f.median if (f := counted(runs, c, s)) else math.nan for c in cases] for s in systems}
    report.bars(name, title, cases, series)
