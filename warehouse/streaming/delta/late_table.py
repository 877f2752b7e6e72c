"""The Delta table of late rows: what was read of each, the window that it missed, and why, when and from where.

Where the sources have columns of the names that are added, these get underscores in front.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from warehouse.catalog.entries import Column, quote_name
from warehouse.dataflow.select import columns
from warehouse.dataflow.times import Clock, bound_timestamp
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.streaming.delta import delta_tables, panes
from warehouse.streaming.layout import free_name, schema_of

FOLDER = "late_rows"
OWN_STEP = "__w_step"
"""The number of the step, where ``_step`` is a column of what is read."""


@dataclass(frozen=True)
class LateTable:
    """The table's columns.

    Attributes:
        sources: name and columns of what is read; of one its columns are the table's, of several each is a struct.
    """

    sources: tuple[tuple[str, tuple[Column, ...]], ...]

    @classmethod
    def of(cls, query: StreamingQuery) -> LateTable:
        """Return the table of a streaming table's query."""
        return cls(tuple((s.reference.name.last, s.columns) for s in query.sources))

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return what ``late_rows`` shows."""
        start, end = self._bounds
        at, position = self._free("_at"), self._free("_position")
        added = (
            (start, "timestamp"),
            (end, "timestamp"),
            (self.why, "string"),
            (at, "timestamp"),
            (position, "string"),
        )
        return tuple(Column(name, kind) for name, kind in (*self._read, *added))

    @property
    def why(self) -> str:
        """Return the name of the column that says why a row is in the table, as SQL text."""
        return self._free("_why")

    @property
    def step(self) -> str:
        """Return the name of the column that numbers steps."""
        return OWN_STEP if "_step" in self._taken else "_step"

    def create(self, spark: SparkSession, folder: Path, retracted: bool) -> None:
        """Make the table, which comes with the first late row.

        Where rows can be taken back, ``__w_identity`` tells those which never came to count although they were in time.
        """
        listed = ", ".join(f"{quote_name(c.name)} {c.type}" for c in self.columns)
        identity = ", __w_identity string" if retracted else ""
        names = tuple(c.name for _, read in self.sources for c in read)
        delta_tables.create(spark, folder, f"{listed}, {self.step} bigint{identity}", names, step=self.step)

    def widen(self, session: SparkSession, folder: Path) -> None:
        """Give the table, if it is there, the columns that it does not have yet; NULL in the rows that are."""
        if not delta_tables.exists(folder):
            return
        present = {f.name.lower(): f.dataType for f in session.read.format("delta").load(str(folder)).schema}
        if any(present.get(f.name.lower()) != f.dataType for f in schema_of(self.columns)):
            delta_tables.widen(session, folder, self.columns)

    def rows(self, missed: str, why: str, at: Clock, retracted: bool) -> str:
        """Return SQL for rows of the table from ``__w_row``, ``ws``, ``we`` of the query ``missed``.

        ``why`` is ``LATE``, or ``FINISHED`` where a trigger that fires ONCE was over.
        """
        clock, (start, end) = at.reading(), self._bounds
        if len(self.sources) == 1:
            values = [f"__w_row.r0.{quote_name(name)} AS {quote_name(name)}" for name, _ in self._read]
        else:
            values = [f"__w_row.r{i} AS {quote_name(name)}" for i, (name, _) in enumerate(self._read)]
        seen, position = map(self._free, ("_at", "_position"))
        identity = "if(__w_refused AND __w_row.change = 'insert', __w_row.identity, NULL) AS __w_identity"
        return "SELECT " + columns(
            tuple(values), f"{bound_timestamp('ws')} AS {start}", f"{bound_timestamp('we')} AS {end}",
            f"'{why}' AS {self.why}", f"timestamp_micros({clock.now}) AS {seen}", f"__w_row.position AS {position}",
            f"{clock.step} AS {self.step}", identity if retracted else "",
        ) + f" FROM ({missed})"  # fmt: skip

    @property
    def _read(self) -> list[tuple[str, str]]:
        if len(self.sources) == 1:
            return [(c.name, c.type) for c in self.sources[0][1]]
        return [(name, panes.struct_type(read)) for name, read in self.sources]

    @property
    def _taken(self) -> frozenset[str]:
        return frozenset(name.lower() for name, _ in self._read)

    def _free(self, name: str) -> str:
        return free_name(name, self._taken)

    @property
    def _bounds(self) -> tuple[str, str]:
        """Return the names of the missed window's bounds: with an underscore where one of them is taken."""
        bounds = "window_start", "window_end"
        while not self._taken.isdisjoint(bounds):
            bounds = f"_{bounds[0]}", f"_{bounds[1]}"
        return bounds
