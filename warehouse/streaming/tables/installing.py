"""What makes a streaming table one that can be asked: its entry in the catalog, and the view that reads its panes."""

from __future__ import annotations

from pathlib import Path

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.language.literals import string_literal
from warehouse.streaming import faults
from warehouse.streaming.delta import panes
from warehouse.streaming.feeding.common import Common
from warehouse.streaming.log import table_folder


class Installation:
    """Puts streaming tables in their places in the catalog, and takes them away."""

    def __init__(self, common: Common):
        self.spark, self.catalog, self.home = common.spark, common.catalog, common.home

    def install(self, entry: StreamingTableEntry) -> None:
        """Write the entry and the view, in this order: a missing view is made again at the next start."""
        self.catalog.streaming_tables.put(entry)
        faults.passed("entry")
        self.make_view(entry)
        faults.passed("view")

    def switch(self, entry: StreamingTableEntry) -> None:
        """Put ``entry`` in its former one's place; a view that a killed process left as it was is known by the mark."""
        mark = self.mark(entry)
        mark.touch()
        self.install(entry)
        mark.unlink()

    def mark(self, entry: StreamingTableEntry) -> Path:
        """Return the file in a table's folder that is there while its entry changes."""
        return table_folder(self.home, entry) / "changing"

    def forget(self, entry: StreamingTableEntry) -> None:
        """Remove the view and the entry, in this order: a view that no entry knows would stand in the way."""
        self.spark.sql(f"DROP VIEW IF EXISTS {entry.qualified}")
        faults.passed("view_dropped")
        self.catalog.streaming_tables.drop(entry.schema, entry.name)
        faults.passed("entry_dropped")

    def make_view(self, entry: StreamingTableEntry) -> None:
        """Make the view of a table, or make it anew."""
        query = panes.latest(table_folder(self.home, entry) / "panes", entry)
        comment = f" COMMENT {string_literal(entry.comment)}" if entry.comment else ""
        self.spark.sql(f"CREATE OR REPLACE VIEW {entry.qualified}{comment} AS {query}")
