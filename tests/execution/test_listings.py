"""Listings of files that were read."""

from __future__ import annotations

from warehouse.engine import Engine


def test_are_not_kept_in_the_heap(engine: Engine) -> None:
    """A step's files are read by their paths, which no other query does: their listings would be for nothing."""
    files = engine.spark._jvm.org.apache.spark.sql.execution.datasources.FileStatusCache
    kept = files.getOrCreate(engine.spark._jsparkSession)
    assert kept.getClass().getSimpleName() == "NoopCache$"
