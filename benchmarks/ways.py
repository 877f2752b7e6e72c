"""The same queries over the same tables, kept in several ways: each way is a schema, ``way0``, ``way1`` and so on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa

from benchmarks import answers, protocol, status
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
) -> tuple[list[protocol.Run], dict[tuple[str, str], status.Watched]]:
    """Ask every query in every way in turn, judge each answer, and watch each once more.

    Args:
        system: in which the schemas are.
        queries: by their names. expected: what each gives.
        ways: their names, in the order of the schemas.
        rounds: see ``protocol.turns``.
        settings: of Spark, by the way that is asked with them.

    Returns:
        The runs, and what was seen, by the names of query and way.

    Raises:
        WrongAnswer: at the first answer that differs.
    """

    def ask(number: int, text: str) -> pa.Table:
        system.spark.catalog.setCurrentDatabase(f"way{number}")
        its = settings.get(ways[number], {})
        for key, value in its.items():
            system.spark.conf.set(key, value)
        try:
            return system.run(text)
        finally:
            for key in its:
                system.spark.conf.unset(key)

    acts = {
        (query, way): lambda number=number, text=text: ask(number, text)
        for query, text in queries.items() for number, way in enumerate(ways)
    }  # fmt: skip
    runs = protocol.turns(
        acts, rounds, system.process, lambda query, answer: answers.difference(queries[query], answer, expected[query])
    )
    seen = {}
    for case, act in acts.items():
        with status.watched(system.spark) as seen[case]:
            act()
    return runs, seen
