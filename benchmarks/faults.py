"""An executor is killed: between queries over a table in memory, and in the middle of one. Same rows, at which price?

The engine runs with two executors (``spark.master`` is ``local-cluster``), each of which holds half of a distributed
table in memory. What one held is made anew from the table's files, by both, and from then on is in memory again; the
paper's comparison is to loading all of it (Zaharia's dissertation, 3.6.4). Times by the clock.

Usage: ``python -m benchmarks faults [--rows 4000000] [--rounds 6] [--megabytes 1024]``. Writes
``benchmarks/out/faults.{md,json}``.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import arguments, protocol, report
from benchmarks.executors import EXECUTORS, Cluster, settings
from benchmarks.systems import Warehouse, opened

TABLE = (
    "CREATE TABLE facts TBLPROPERTIES ('cache' = 'true') AS SELECT pmod(xxhash64(id), 100000) AS k, id AS v,"
    " md5(CAST(id AS STRING)) AS said, CAST(id % 100000 / 100 AS DECIMAL(12, 2)) AS price"
    " FROM range(0, {rows}, 1, 8) DISTRIBUTE BY k"
)
QUERY = (
    "SELECT count(*) AS n, sum(total) AS total, bit_xor(xxhash64(k, most)) AS mixed FROM"
    " (SELECT v % 1000 AS k, sum(price) AS total, max(sha2(said, 256)) AS most FROM facts GROUP BY v % 1000)"
)


@dataclass(frozen=True)
class Fault:
    """What there was besides the answer, once per run.

    Attributes:
        killed: the ids of the processes that were killed.
        before, after: how many partitions of the table were in memory before and after the query.
    """

    case: str
    turn: int
    killed: tuple[int, ...]
    before: int
    after: int


def measured(rows: int, rounds: int, megabytes: int) -> tuple[list[protocol.Run], list[Fault]]:
    """Run everything; return what it took and what happened.

    Raises:
        WrongAnswer: a query's rows were not those of the first one.
    """
    runs: list[protocol.Run] = []
    faults: list[Fault] = []
    with tempfile.TemporaryDirectory() as folder, opened(Warehouse.open(Path(folder), settings(megabytes))) as system:
        cluster = Cluster(system)
        system.run(TABLE.format(rows=rows))
        expected = system.run(QUERY).to_pylist()

        def once(case: str, turn: int, first: Callable[[], list[int]] = list, also: str = "") -> float:
            cluster.whole()
            before, answer = cluster.held(), []
            killed = first()
            run = protocol.timed(
                lambda: answer.extend(system.run(also + QUERY).to_pylist()), case, "seconds", turn, system.process
            )
            if answer != expected:
                raise protocol.WrongAnswer(f"{case}: {answer} instead of {expected}")
            runs.append(run)
            faults.append(Fault(case, turn, tuple(killed), before, cluster.held()))
            return run.seconds

        def killed_at_once() -> list[int]:
            return [cluster.kill()]

        for turn in range(rounds):
            usual = once("no failure", turn)
            once("failure before", turn, killed_at_once)
            once("afterwards", turn)
            killed: list[int] = []
            timer = threading.Timer(usual / 2, lambda killed=killed: killed.append(cluster.kill()))
            once("failure in the middle", turn, lambda timer=timer, killed=killed: timer.start() or killed)
            timer.join()
            faults[-1] = Fault(faults[-1].case, turn, tuple(killed), faults[-1].before, faults[-1].after)
            once("afterwards again", turn)
            once("full reload", turn, also="UNCACHE TABLE facts; CACHE TABLE facts; ")
    return runs, faults


def main(given: list[str]) -> int:
    """Run everything, print the tables and write them down."""
    parser = arguments.parser("faults", __doc__)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--megabytes", type=int, default=1024, help="of memory, for each of the two executors")
    chosen = parser.parse_args(given)
    runs, faults = measured(chosen.rows, chosen.rounds, chosen.megabytes)
    cases = list(dict.fromkeys(run.case for run in runs))
    last = {fault.case: fault for fault in faults}
    lines = [
        [case, protocol.counted(runs, case, "seconds"), f"{last[case].before} → {last[case].after}"] for case in cases
    ]
    text = "\n\n".join((
        f"{chosen.rows:,} rows in memory on {EXECUTORS} executors, of which one is killed: the median (least–greatest)"
        f" of {chosen.rounds - 1} runs; {protocol.machine()}.",
        report.table(["", "seconds by the clock", "partitions in memory, in the last run"], lines),
    ))  # fmt: skip
    report.keep("faults", text, {"runs": runs, "faults": faults})
    return 0
