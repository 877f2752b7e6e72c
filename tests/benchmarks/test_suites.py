"""The suites' texts mean the same over streams and over tables, on few events; ``SUITES=all`` runs them all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks import classics, nexmark, suite
from benchmarks.systems import Warehouse

if TYPE_CHECKING:
    from warehouse.engine import Engine

QUERIES = {"nexmark": ("q5",), "classics": ("yahoo",)}
BOTH = pytest.mark.parametrize("its", [classics.SUITE, nexmark.SUITE], ids=lambda its: its.name)


@pytest.mark.soak
@BOTH
def test_streams_say_what_tables_say(engine: Engine, schema: str, tmp_path: Path, its: suite.Suite) -> None:
    system, queries = Warehouse(engine), its.queries()
    suite.prepare(its, system, tmp_path, 6_000, 2, schema)
    for name in queries if os.environ.get("SUITES") == "all" else QUERIES[its.name]:
        suite.streamed(system, queries[name])
        suite.batched(system, queries[name], schema)
        rows, odd = suite.difference(system, queries[name], schema)
        assert rows > 0 and odd == 0, name


@BOTH
def test_every_peer_is_a_query(its: suite.Suite) -> None:
    for store in suite.STORES:
        assert set(its.peers(store)) <= set(its.queries()) and its.peers(store)
    assert all(blocks and blocks[-1].name == name for name, blocks in its.queries().items())


@BOTH
def test_every_text_of_flink_is_a_query(its: suite.Suite) -> None:
    texts = its.queries("flink")
    assert texts and set(texts) <= set(its.queries())
    assert all(blocks and blocks[-1].name == name for name, blocks in texts.items())
