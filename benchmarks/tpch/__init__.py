"""TPC-H: the 22 queries, with their validation parameters, on data that is generated once.

We have the data in tables that this project's own statements make, as files, and as files that are kept in memory. The
others have the same rows: PySpark as a newcomer has it and PySpark tuned on Parquet files, DuckDB on the same files and
on tables of its own. Each has a process of its own, and they take turns where there is memory (``benchmarks.peers``).
Every answer of every run is compared with DuckDB's, and DuckDB's with the reference answers where the scale factor has
them.

Usage: ``python -m benchmarks tpch [--scale 1] [--rounds 6] [--only q1,q5] [--systems "memory,warehouse,newcomer,…"]
[--scratch FOLDER] [--profile q9|all]``. Writes ``benchmarks/out/tpch.{md,json,svg}``; ``--profile`` runs ours alone
and shows where the time of a query goes, or in a line each what all queries come to.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pyarrow as pa

from benchmarks import answers, arguments, peers, protocol, report
from benchmarks.peers import PEERS
from benchmarks.profile import of_queries, profile
from benchmarks.systems import HEAP, Duck, Warehouse, opened
from benchmarks.tpch import data, layout

OURS = {"memory": True, "warehouse": False}
"""Our own, and whether the tables are in memory."""

SYSTEMS = (*OURS, *PEERS)

EACH = "all"
"""What ``--profile`` takes for a line of each query."""


def warehouse(folder: Path, files: Mapping[str, Path], in_memory: bool) -> tuple[Warehouse, float]:
    """Return our engine with the tables made in a new folder, and the seconds that this took."""
    shutil.rmtree(folder, ignore_errors=True)
    system = Warehouse.open(folder, {"memory": HEAP})
    begun = time.perf_counter()
    for statement in layout.statements(files, in_memory):
        system.run(statement)
    return system, time.perf_counter() - begun


def ours(
    name: str, folder: Path, files: Mapping[str, Path], queries: Mapping[str, str], expected: Mapping[str, pa.Table]
) -> peers.Rounds:
    """Let our engine answer every query, round after round; for a process of its own."""
    system, loading = warehouse(folder / name, files, OURS[name])
    with opened(system):
        acts = peers.asked(system, name, queries)
        yield from peers.rounds(acts, system.process, queries, expected, loading)


def expectations(scale: float, files: Mapping[str, Path], queries: Mapping[str, str]) -> dict[str, pa.Table]:
    """Return DuckDB's answers, which are the reference answers where these exist.

    Raises:
        protocol.WrongAnswer: they are not.
    """
    with opened(Duck(files)) as duck:
        expected = {name: duck.run(text) for name, text in queries.items()}
    for name, answer in expected.items():
        known = data.reference(scale, name, answer.schema)
        if known is not None and (wrong := answers.difference(queries[name], answer, known)):
            raise protocol.WrongAnswer(f"{name}, DuckDB against the reference answer: {wrong}")
    return expected


def main(given: list[str]) -> int:
    """Run everything, print the tables and write them down."""
    parser = arguments.parser("tpch", __doc__, keeps_data=True)
    parser.add_argument("--scale", type=float, default=1.0, help="scale factor")
    parser.add_argument("--only", default="", help="queries, such as q1,q5")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="whom to run")
    parser.add_argument(
        "--profile", default="", metavar="QUERY", help="show where a query of ours, or all, spends its time"
    )
    chosen = parser.parse_args(given)
    systems = [name.strip() for name in chosen.systems.split(",")]
    files, queries = data.files(chosen.scratch, chosen.scale), data.queries()
    alone = chosen.profile not in ("", EACH)
    wanted = [chosen.profile] if alone else [q.strip() for q in chosen.only.split(",") if q.strip()]
    for unknown in [s for s in systems if s not in SYSTEMS] + [q for q in wanted if q not in queries]:
        parser.error(f"{unknown} is not known; there are {', '.join((*SYSTEMS, *queries))}")
    queries = {name: queries[name] for name in wanted or queries}
    folder = chosen.scratch / "tpch-warehouses"
    if chosen.profile:
        system, _ = warehouse(folder / "profiled", files, OURS.get(systems[0], False))
        with opened(system):
            if alone:
                print(profile(system.spark, lambda: system.run(queries[chosen.profile])))
            else:
                print(of_queries(system.spark, {q: partial(system.run, text) for q, text in queries.items()}))
        return 0
    expected = expectations(chosen.scale, files, queries)
    workers = {
        name: peers.apart(ours, name, folder, files, queries, expected)
        if name in OURS else peers.apart(peers.peer, name, files, queries, expected)
        for name in systems
    }  # fmt: skip
    runs, outcomes = peers.in_turns(workers, chosen.rounds)
    mine = next((name for name in OURS if name in systems), systems[0])
    held = report.table(
        ["", "most memory", "tables made in"],
        [[name, f"{o.memory / 2**30:.1f} GiB", f"{o.loading:.1f} s"] for name, o in outcomes.items()],
    )
    checked = "DuckDB's and the reference" if chosen.scale in data.REFERENCE else "DuckDB's"
    text = "\n\n".join((
        f"TPC-H at scale factor {chosen.scale:g}: the median (least–greatest) of {chosen.rounds - 1} runs;"
        f" {protocol.machine()}. Every answer equals {checked}. Both PySparks and we have a heap of {HEAP}, and"
        f" {'take turns' if peers.fit(systems) else 'come one after the other'}.",
        "Seconds by the clock:", protocol.compared(runs, mine),
        "Seconds in which cores were busy:", protocol.compared(runs, mine, "cpu"), held,
    ))  # fmt: skip
    report.keep("tpch", text, {"scale": chosen.scale, "runs": runs, "held": outcomes})
    protocol.picture("tpch", f"TPC-H at scale factor {chosen.scale:g}", runs)
    return 0
