"""PageRank over links that stay where they are: what is shuffled in a round, and whose ranks come out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks import pagerank, status
from benchmarks.systems import Warehouse
from warehouse.engine import Engine

PAGES, EACH, ROUNDS = 60, 4, 3


@pytest.fixture
def system(engine: Engine, schema: str) -> Iterator[Warehouse]:
    before = engine.spark.conf.get("spark.sql.autoBroadcastJoinThreshold")
    engine.spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    yield Warehouse(engine)
    engine.spark.conf.set("spark.sql.autoBroadcastJoinThreshold", before)


@pytest.mark.soak
def test_a_round_shuffles_what_pages_give_and_nothing_else(system: Warehouse) -> None:
    system.run(pagerank.links(PAGES, EACH, together=True, cached=True))
    system.run(pagerank.first(together=True))
    for number in range(1, ROUNDS + 1):
        plan = system.run(f"EXPLAIN {pagerank.query(number)}").to_pylist()[0]["plan"]
        assert "Scan In-memory table" in plan and plan.count("Exchange") == 1
        above, _, below = plan.partition("Exchange hashpartitioning(destination")
        assert "Join" in below and "Join" not in above  # what is shuffled is what comes out of the join
        with status.watched(system.spark) as seen:
            system.run(pagerank.step(number, together=True))
        shuffles = [o.description for o in seen.operators if "hashpartitioning(destination" in o.description]
        assert len(shuffles) == 1 and "hashpartitioning(page" not in str(seen.operators)
    links = system.run("SELECT source, destination FROM links").to_pydict()
    expected = pagerank.reference(zip(links["source"], links["destination"], strict=True), ROUNDS)
    assert len(expected) == PAGES and len(set(expected.values())) > PAGES // 2
    assert pagerank.wrong(system.run(f"SELECT page, rank FROM ranks_{ROUNDS}"), expected) is None
    assert pagerank.wrong(system.run(f"SELECT page, rank FROM ranks_{ROUNDS - 1}"), expected) is not None


def test_the_reference_is_the_ranks_as_they_are_defined() -> None:
    """Two pages that link to each other, and one that both link to and that links to the first."""
    graph = [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1)]
    assert pagerank.reference(graph, 1) == pytest.approx({1: 0.15 + 0.85 * 1.5, 2: 0.15 + 0.85 * 0.5, 3: 1.0})
