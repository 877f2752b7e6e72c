"""The same queries over the same tables, kept in several ways: each way is a schema, ``way0``, ``way1`` and so on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from benchmarks import peers, protocol, status
from benchmarks.systems import Warehouse

NO_BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.adaptive.autoBroadcastJoinThreshold": "-1"}
"""Settings of a way that is asked for the join as it is where neither table is small."""


def timed(
    system: Warehouse,
    queries: Mapping[str, str],
    ways: Sequence[str],
    expected: Mapping[str, pa.Table],
    rounds: int,
    settings: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    beside: Mapping[str, Callable[[], AbstractContextManager[Any]]] = MappingProxyType({}),
) -> tuple[list[protocol.Run], dict[tuple[str, str], status.Watched]]:
    """Ask every query in every way in turn, judge each answer, and watch each once more.

    Args:
        system: in which the schemas are.
        queries: by their names. expected: what each gives.
        ways: their names, in the order of the schemas.
        rounds: how many, of which the first is not counted.
        settings: of Spark, by the way that is asked with them.
        beside: peers that take turns with us, by their names, as ``peers.in_turns`` takes them.

    Returns:
        The runs, and what was seen, by the names of query and way.

    Raises:
        WrongAnswer: at the first answer that differs.
    """

    def ask(number: int, text: str) -> pa.Table:
        system.spark.catalog.setCurrentDatabase(f"way{number}")
        with system.told(settings.get(ways[number], {})):
            return system.run(text)

    acts = {
        (query, way): lambda number=number, text=text: ask(number, text)
        for query, text in queries.items() for number, way in enumerate(ways)
    }  # fmt: skip
    ours = peers.rounds(acts, system.process, queries, expected)
    runs, _ = peers.in_turns({"warehouse": lambda: nullcontext(ours), **beside}, rounds)
    seen = {}
    for case, act in acts.items():
        with status.watched(system.spark) as seen[case]:
            act()
    return runs, seen
