"""Nexmark's texts mean the same over streams and over tables, on few events; ``NEXMARK=all`` runs all of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import nexmark
from benchmarks.systems import Warehouse

if TYPE_CHECKING:
    from warehouse.engine import Engine

QUERIES = os.environ.get("NEXMARK", "q5,q15").split(",")


def test_streams_say_what_tables_say(engine: Engine, schema: str, tmp_path: Path) -> None:
    system, queries = Warehouse(engine), nexmark.queries()
    nexmark.prepare(system, tmp_path, 6_000, 2, schema)
    for name in queries if QUERIES == ["all"] else QUERIES:
        nexmark.streamed(system, queries[name])
        nexmark.batched(system, queries[name], schema)
        rows, odd = nexmark.difference(system, queries[name], schema)
        assert rows > 0 and odd == 0, name


def test_every_peer_is_a_query() -> None:
    assert set(nexmark.peers()) <= set(nexmark.queries()) and "q2" in nexmark.peers()
    assert all(blocks and blocks[-1].name == name for name, blocks in nexmark.queries().items())
