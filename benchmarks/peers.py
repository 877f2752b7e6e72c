"""Peers: others who answer a benchmark's queries from the same Parquet files, each in a process of its own.

Where there is memory for all at once they take turns with us, a round of all queries each, so that an hour in which
the machine is slow is slow for all; else one comes after the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks import answers, protocol
from benchmarks.systems import Apart, Duck, Newcomer, System, Tuned, opened

PEERS: Mapping[str, Callable[[Mapping[str, Path]], Any]] = {
    "newcomer": Newcomer,
    "tuned": Tuned,
    "DuckDB on Parquet": Duck,
    "DuckDB": partial(Duck, own_tables=True),
}
JVM = 7 * 2**30
"""As many bytes a Spark with that heap is given room for; DuckDB takes what is left."""


@dataclass(frozen=True)
class Held:
    """The most memory that a system held, and the seconds that making its tables took."""

    memory: int
    loading: float


Rounds = Iterator[tuple[list[protocol.Run], Held]]
"""The runs of one round after the other, and what was held so far."""


def rounds(
    acts: Mapping[tuple[str, str], Callable[[], pa.Table]],
    process: int,
    queries: Mapping[str, str],
    expected: Mapping[str, pa.Table],
    loading: float = 0,
) -> Rounds:
    """Let every query be answered, round after round, and judge each answer.

    Args:
        acts: by the names of query and system, as ``protocol.turn`` takes them.

    Raises:
        WrongAnswer: at the first answer that differs.
    """
    for turn in count():
        runs = protocol.turn(acts, turn, process, lambda q, a: answers.difference(queries[q], a, expected[q]))
        yield runs, Held(protocol.peak_memory(process), loading)


def asked(system: System, name: str, queries: Mapping[str, str]) -> dict[tuple[str, str], Callable[[], pa.Table]]:
    """Return what asks a system for each query."""
    return {(query, name): partial(system.run, text) for query, text in queries.items()}


def peer(name: str, files: Mapping[str, Path], queries: Mapping[str, str], expected: Mapping[str, pa.Table]) -> Rounds:
    """Let one of ``PEERS`` do so, over the files of each table; for a process of its own."""
    begun = time.perf_counter()
    with opened(PEERS[name](files)) as system:
        loading = time.perf_counter() - begun
        yield from rounds(asked(system, name, queries), system.process, queries, expected, loading)


def apart(work: Callable[..., Rounds], *arguments: Any) -> Callable[[], AbstractContextManager[Any]]:
    """Return what starts a process of its own for work, and ends it."""
    return lambda: opened(Apart(work, *arguments))


def fit(names: Sequence[str]) -> bool:
    """Say whether there is memory for all of them at once."""
    return JVM * sum("DuckDB" not in name for name in names) <= protocol.memory()


def in_turns(
    workers: Mapping[str, Callable[[], AbstractContextManager[Any]]], number: int
) -> tuple[list[protocol.Run], dict[str, Held]]:
    """Let each do so many rounds; return all their runs, and what each held."""
    runs, held = list[protocol.Run](), dict[str, Held]()
    for group in [list(workers)] if fit(list(workers)) else [[name] for name in workers]:
        with ExitStack() as stack:
            started = {name: stack.enter_context(workers[name]()) for name in group}
            for _ in range(number):
                for name, each in started.items():
                    own, held[name] = next(each)
                    runs += own
    return runs, held
