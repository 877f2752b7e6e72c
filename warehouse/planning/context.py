"""What planning may ask of the world: the catalog, and an analyzer that knows types. Never rows."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from warehouse.catalog.entries import Column
from warehouse.catalog.store import Catalog
from warehouse.catalog.udfs import Udfs
from warehouse.language.fragments import Fragment
from warehouse.language.statements import Name


class Analyzer(Protocol):
    """Answers questions about SQL text without running it; Spark's analyzer stands behind it in the engine."""

    def columns(self, query: Fragment) -> tuple[Column, ...]:
        """Return the output columns of a query.

        Raises:
            WarehouseError: the query does not analyze; spans are those of the fragment's origin.
        """

    def is_constant(self, expression: str) -> bool:
        """Say whether an expression needs no row."""

    def table_columns(self, name: Name) -> tuple[Column, ...] | None:
        """Return the columns of a table or view that Spark knows, or None."""

    def is_deterministic(self, query: Fragment) -> bool:
        """Say whether a query gives the same rows each time it runs over the same input."""

    def aggregate_functions(self) -> frozenset[str]:
        """Return the lower-case names of all aggregate functions."""


@dataclass(frozen=True)
class Context:
    """Where a statement is planned.

    Attributes:
        schema: the current schema, for names without one.
        udfs: the user's own windows and triggers.
    """

    catalog: Catalog
    analyzer: Analyzer
    schema: str
    udfs: Udfs

    def resolve(self, name: Name) -> tuple[str, str]:
        """Return schema and name of one of our objects."""
        parts: Sequence[str] = name.parts
        return (parts[-2] if len(parts) > 1 else self.schema), parts[-1]

    def similar(self, name: Name, *kinds: str) -> str:
        """Return the end of a hint about a name that is not there: one of its schema that is near, or what lists them.

        Args:
            name: as the user wrote it.
            kinds: ``stream``, ``streaming table``; the first one is listed.
        """
        schema, last = self.resolve(name)
        there = {"stream": self.catalog.streams, "streaming table": self.catalog.streaming_tables}
        known = [e.name for kind in kinds for e in there[kind]() if e.schema.lower() == schema.lower()]
        close = difflib.get_close_matches(last, known, 1)
        return f"did you mean {close[0]}?" if close else f"SHOW {kinds[0].upper()}S lists what there is."
