"""What planning may ask of the world: the catalog, and an analyzer that knows types. Never rows."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from warehouse.catalog.entries import Column, ModelEntry, ModelVersion, qualified
from warehouse.catalog.store import Catalog
from warehouse.catalog.udfs import Udfs
from warehouse.errors import Span
from warehouse.language.fragments import Fragment
from warehouse.language.statements import Name
from warehouse.planning.algorithms import Library


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

    def relation_kind(self, name: Name) -> str | None:
        """Return ``table`` or ``view``, as Spark knows that name whoever's session asks, or None."""

    def is_temporary_view(self, name: Name) -> bool:
        """Say whether a name is that of a temporary view, which ends with its session or its process."""

    def temporary_functions(self) -> frozenset[str]:
        """Return the names, in lower case, of the functions that end with the session."""

    def table_properties(self, name: Name) -> Mapping[str, str] | None:
        """Return the properties of a table that Spark knows, or None."""

    def is_deterministic(self, query: Fragment) -> bool:
        """Say whether a query gives the same rows each time it runs over the same input."""

    def unrepeatable(self, query: Fragment) -> Span | None:
        """Return the user's words for which a query is not deterministic, None where they are not known."""

    def misuse(self, query: Fragment, mark: str) -> str | None:
        """Return what a query does that no stream allows, of relations with a ``mark`` in a filter; see ``checks``."""

    def delta_tables(self, query: Fragment) -> tuple[tuple[str, Path], ...]:
        """Return names and folders of the Delta tables that a query reads as they are when it runs."""

    def multiplies(self, query: Fragment) -> bool:
        """Say whether a query may make several rows of one."""

    def aggregate_functions(self) -> frozenset[str]:
        """Return the lower-case names of all aggregate functions."""

    def switches(self) -> frozenset[str]:
        """Return the names of the warehouse's own settings of a session."""


class Models(Protocol):
    """Makes stored models answer SQL. Nothing is predicted before a query runs."""

    def function(self, entry: ModelEntry, version: ModelVersion) -> str:
        """Return the SQL function that makes the model's outputs, as a struct, of its inputs in order."""

    def view(self, query: str, parameters: Mapping[str, Any], version: ModelVersion) -> str:
        """Return a view of the rows of ``query`` with the outputs of a model that needs more than one row."""

    def contents(self, version: ModelVersion, part: str) -> str:
        """Return a view of a part of a model that is a table."""

    def measured(self, place: int) -> str:
        """Return a view for the metrics of an evaluation; it is empty until they are measured."""


@dataclass(frozen=True)
class Context:
    """Where a statement is planned.

    Attributes:
        schema: the current schema, for names without one.
        udfs: the user's own windows, triggers and generators.
        library, models: the algorithms of GENERATE, and what answers for stored models; asked for when needed.
        pinned: the versions that models of these qualified names are asked in, where no version is written.
        parameters: the values of parameter markers.
        viewed: the statements of the views of ours with these qualified names, in lower case, where they are not those
            of the catalog.
    """

    catalog: Catalog
    analyzer: Analyzer
    schema: str
    udfs: Udfs
    library: Callable[[], Library]
    models: Callable[[], Models]
    pinned: Mapping[str, int] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    viewed: Mapping[str, str] = field(default_factory=dict)

    def resolve(self, name: Name) -> tuple[str, str]:
        """Return schema and name of one of our objects."""
        return name.within(self.schema)

    def view(self, name: Name) -> tuple[str, str] | None:
        """Return the qualified name and the statement of a view of ours; None where the name means something else."""
        schema, last = self.resolve(name)
        whole, entry = qualified(schema, last), self.catalog.views.get(schema, last)
        text = self.viewed.get(whole.lower()) or (entry.text if entry else None)
        return (whole, text) if text else None

    def similar(self, name: Name, *kinds: str) -> str:
        """Return the end of a hint about a name that is not there: what it is, one that is near, or what lists them.

        Args:
            name: as the user wrote it.
            kinds: ``stream``, ``streaming table``, ``model``; the first one is listed.
        """
        schema, last = self.resolve(name)
        kind = self.catalog.kind_of(schema, last) or self.analyzer.relation_kind(name)
        if kind:
            return f"{name.written} is a {kind}."
        there = {
            "stream": self.catalog.streams.all, "streaming table": self.catalog.streaming_tables.all,
            "model": self.catalog.models.all,
        }  # fmt: skip
        known = [e.name for kind in kinds for e in there[kind]() if e.schema.lower() == schema.lower()]
        close = difflib.get_close_matches(last, known, 1)
        return f"did you mean {close[0]}?" if close else f"SHOW {kinds[0].upper()}S lists what there is."
