"""One of two executors is slow, or dies: what steps of WordCount and Grep take then, with speculation and without.

The tests of Zaharia's dissertation (4.6), the first of its rule that a task of more than 1.4 times the median of its
stage is started once more elsewhere. The straggler is held by signals and runs for a tenth of the time; who dies is
killed in the middle of the step. Files come and a step reads them; engines with and without speculation come one after
the other. In the end the tables must hold what the same queries give over all the files.

Usage: ``python -m benchmarks stragglers [--lines 20000] [--rounds 6] [--megabytes 1024]``; so many lines a step.
Writes ``benchmarks/out/stragglers.{md,json}``.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import islice
from pathlib import Path

from benchmarks import arguments, protocol, report, suite
from benchmarks.classics import SUITE, events
from benchmarks.executors import Cluster, settings
from benchmarks.systems import Warehouse, opened

QUERIES = ("wordcount", "grep")
FILES = 4
"""Of a step."""

USUAL, SPECULATING = "undisturbed", "speculation"
SHARE = 0.1
"""Of the time in which the straggler runs."""

CASES: Mapping[str, Callable[[Cluster, float], AbstractContextManager[None]]] = {
    USUAL: lambda cluster, usual: nullcontext(),
    "a straggler": lambda cluster, usual: cluster.slowed(SHARE),
    "one dies": lambda cluster, usual: cluster.dying(usual / 2),
    "the step after": lambda cluster, usual: nullcontext(),
}
"""What happens during a step, of which is known how long the last undisturbed one took."""

PHASES = ((USUAL, "a straggler"), ("one dies", "the step after"))
"""Which cases take turns: an executor that takes another's place has compiled nothing, and is slow for a while."""


def measured(speculation: bool, coming: Path, lines: int, rounds: int, megabytes: int) -> list[protocol.Run]:
    """Let files come and steps read them; return what the steps took.

    Args:
        speculation: whether there is.
        coming: a folder of the files, which are written where there are none.
        lines: of text, in a step.
        rounds: of each phase.
        megabytes: of each executor's memory.

    Raises:
        WrongAnswer: a table does not hold what its query gives over all files.
    """
    told = settings(megabytes) | {"spark.speculation": str(speculation).lower()}
    named = SPECULATING if speculation else "no speculation"
    runs = []
    with tempfile.TemporaryDirectory() as scratch, opened(Warehouse.open(Path(scratch, "w"), told)) as system:
        steps = 1 + rounds * len(CASES)
        if not coming.exists():
            events.write(system.spark, coming, lines * steps * len(events.SCHEMAS), FILES * steps)
        come = Path(scratch, "come")
        (come / "line").mkdir(parents=True)
        shutil.copytree(coming / "visit", come / "visit")
        files = iter(sorted((coming / "line").glob("*.parquet")))

        def arrive() -> None:
            for file in islice(files, FILES):
                shutil.copy2(file, come / "line")

        arrive()
        suite.declare(SUITE, system, come, each=FILES)
        blocks = {name: SUITE.queries()[name] for name in QUERIES}
        for (block,) in blocks.values():
            system.run(f"CREATE STREAMING TABLE {block.name} AS {block.select}")
        cluster = Cluster(system)
        usual = dict.fromkeys(QUERIES, 0.0)
        schedule = [(case, turn) for phase in PHASES for turn in range(rounds) for case in phase]
        for case, turn in schedule:
            arrive()
            for name in QUERIES:
                step = partial(system.run, f"REFRESH STREAMING TABLE {name}")
                cluster.whole()
                with CASES[case](cluster, usual[name]):
                    runs.append(protocol.timed(step, f"{name}, {case}", named, turn, system.process))
                if case == USUAL:
                    usual[name] = runs[-1].seconds
                print(runs[-1], flush=True)
        for name, each in blocks.items():
            system.run(f"DRAIN STREAMING TABLE {name}")
            suite.batched(system, each)
            if odd := suite.difference(system, each)[1]:
                raise protocol.WrongAnswer(f"{name}: {odd} rows differ from those of the files")
    return runs


def main(given: list[str]) -> int:
    """Run everything, print the table and write it down."""
    parser = arguments.parser("stragglers", __doc__)
    parser.add_argument("--lines", type=int, default=20_000, help="of text, a step")
    parser.add_argument("--megabytes", type=int, default=1024, help="of memory, for each of the two executors")
    chosen = parser.parse_args(given)
    with tempfile.TemporaryDirectory() as folder:
        runs = [
            run for speculation in (True, False)
            for run in measured(speculation, Path(folder, "coming"), chosen.lines, chosen.rounds, chosen.megabytes)
        ]  # fmt: skip
    text = "\n\n".join((
        f"Steps of {chosen.lines:,} lines on two executors, of which a straggler runs for {SHARE:.0%} of the time:"
        f" seconds by the clock, the median (least–greatest) of {chosen.rounds - 1} steps; {protocol.machine()}.",
        protocol.compared(runs, SPECULATING),
    ))  # fmt: skip
    report.keep("stragglers", text, runs)
    return 0
