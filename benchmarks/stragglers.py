"""One of two executors is slow, or dies: what steps of WordCount and Grep take then, with speculation and without.

The paper's tests (003, 4.6), the first of its rule that a task of more than 1.4 times the median of its stage is
started once more elsewhere. The straggler is held by signals and runs for a tenth of the time; who dies is killed in
the middle of the step. Files come and a step reads them, undisturbed and disturbed in turn; engines with and without
speculation come one after the other. In the end the tables must hold what the same queries give over all the files.

Usage: ``python -m benchmarks stragglers [--lines 200000] [--rounds 6] [--megabytes 1024]``; so many lines a step.
Writes ``benchmarks/out/stragglers.{md,json}``.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import islice, product
from pathlib import Path

from benchmarks import arguments, protocol, report, suite
from benchmarks.classics import SUITE, events
from benchmarks.executors import Cluster, settings
from benchmarks.systems import Warehouse, opened

QUERIES = ("wordcount", "grep")
FILES = 4
"""Of a step."""

SHARE = 0.1
"""Of the time in which the straggler runs."""

CASES: Mapping[str, Callable[[Cluster, float], AbstractContextManager[None]]] = {
    "undisturbed": lambda cluster, usual: nullcontext(),
    "a straggler": lambda cluster, usual: cluster.slowed(SHARE),
    "one dies": lambda cluster, usual: cluster.dying(usual / 2),
}
"""What happens during a step, of which is known how long the undisturbed one before it took."""


def measured(speculation: bool, lines: int, rounds: int, megabytes: int) -> list[protocol.Run]:
    """Let files come and steps read them; return what the steps took.

    Raises:
        WrongAnswer: a table does not hold what its query gives over all files.
    """
    told = settings(megabytes) | {"spark.speculation": str(speculation).lower()}
    named = "speculation" if speculation else "no speculation"
    runs = []
    with tempfile.TemporaryDirectory() as scratch, opened(Warehouse.open(Path(scratch, "w"), told)) as system:
        coming, come = Path(scratch, "coming"), Path(scratch, "come")
        steps = 1 + rounds * len(CASES)
        events.write(system.spark, coming, lines * steps * len(events.SCHEMAS), FILES * steps)
        (come / "line").mkdir(parents=True)
        (coming / "visit").rename(come / "visit")
        files = iter(sorted((coming / "line").glob("*.parquet")))

        def arrive() -> None:
            for file in islice(files, FILES):
                file.rename(come / "line" / file.name)

        arrive()
        suite.declare(SUITE, system, come, each=FILES)
        blocks = {name: SUITE.queries()[name] for name in QUERIES}
        for (block,) in blocks.values():
            system.run(f"CREATE STREAMING TABLE {block.name} AS {block.select}")
        cluster = Cluster(system)
        usual = dict.fromkeys(QUERIES, 0.0)
        for turn, (case, disturbed) in product(range(rounds), CASES.items()):
            arrive()
            for name in QUERIES:
                step = partial(system.run, f"REFRESH STREAMING TABLE {name}")
                cluster.whole()
                with disturbed(cluster, usual[name]):
                    runs.append(protocol.timed(step, name, f"{case}, {named}", turn, system.process))
                if case == "undisturbed":
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
    parser.add_argument("--lines", type=int, default=200_000, help="of text, a step")
    parser.add_argument("--megabytes", type=int, default=1024, help="of memory, for each of the two executors")
    chosen = parser.parse_args(given)
    runs = [
        run for speculation in (True, False)
        for run in measured(speculation, chosen.lines, chosen.rounds, chosen.megabytes)
    ]  # fmt: skip
    ways = list(dict.fromkeys(run.system for run in runs))
    text = "\n\n".join((
        f"Steps of {chosen.lines:,} lines on two executors, of which a straggler runs for {SHARE:.0%} of the time:"
        f" seconds by the clock, the median (least–greatest) of {chosen.rounds - 1} steps; {protocol.machine()}.",
        report.table(["", *ways], [[name, *(protocol.counted(runs, name, way) for way in ways)] for name in QUERIES]),
    ))  # fmt: skip
    report.keep("stragglers", text, runs)
    return 0
