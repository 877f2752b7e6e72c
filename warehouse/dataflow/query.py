"""A query block as the step computes it: resolved, typed, with lengths in microseconds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from warehouse.dataflow.aggregates.calls import Call
from warehouse.dataflow.aggregates.decomposition import Decomposition, decompose
from warehouse.dataflow.triggers import BYTES, Kind, Node, Pending, TriggerState, pending, percentiles, trigger_state
from warehouse.dataflow.windows import Fixed, Sessions, Sliding, Window, merges
from warehouse.language.statements import Mode


@dataclass(frozen=True)
class Output:
    """One column of the result: its name, Spark type, and SQL over keys, finals and window bounds."""

    name: str
    type: str
    sql: str


@dataclass(frozen=True)
class Layer:
    """A plain SELECT around a windowed block: expressions over its columns, and perhaps a condition.

    Attributes:
        alias: the name by which the SELECT calls what is inside it, as SQL text.
        outputs: its columns over the columns inside.
        where: its condition; where it does not hold, the pane does not show.
    """

    alias: str
    outputs: tuple[Output, ...]
    where: str | None


@dataclass(frozen=True)
class WindowedQuery:
    """What, where, when and how of one query block.

    Attributes:
        keys: Spark types of the group keys, the columns ``__w_k0``, ``__w_k1``, …
        calls: the aggregates, whose results are the columns ``__w_f0``, …
        lateness: microseconds, None when unbounded.
        having: SQL over the same columns as an output, or None.
        layers: plain SELECTs around the block, from the inside out.
        first_only: a window is emitted once and never again (SELECT DISTINCT).
        once: a window whose trigger has finished takes no more rows.
        retracted: rows of its input can be taken back: it reads the changes of a RETRACTING table.
        multiplied: one row of a source may have become several of the input: by LATERAL VIEW, or a join.
        definitions: the user's own windows and triggers as they are defined now, as text.
        closed: windows that end here or before are closed, whatever the lateness says: they were when the query took
            the place of one under which rows were late sooner. Microseconds, None where it never did.
        complete: each step starts at the beginning of time and runs to its end: see ``Clock``.
    """

    keys: tuple[str, ...]
    window: Window
    trigger: Node
    mode: Mode
    lateness: int | None
    calls: tuple[Call, ...]
    having: str | None
    outputs: tuple[Output, ...]
    layers: tuple[Layer, ...] = ()
    first_only: bool = False
    once: bool = False
    retracted: bool = False
    multiplied: bool = False
    definitions: tuple[str, ...] = ()
    closed: int | None = None
    complete: bool = False

    @property
    def result(self) -> tuple[Output, ...]:
        """Return the columns that a pane shows."""
        return self.layers[-1].outputs if self.layers else self.outputs

    def identity(self, column: str) -> str | None:
        """Return what a column shows that is a group key or a bound of the window as it is; None for another one.

        ``__w_k0``, ``__w_k1``, …, ``__w_start`` or ``__w_end``.
        """
        name: str | None = column
        for layer in reversed(self.layers):
            name = _column(_computed(layer.outputs, name), layer.alias)
        sql = _computed(self.outputs, name)
        return sql if sql in (*self.key_columns, "__w_start", "__w_end") else None

    @cached_property
    def parts(self) -> Decomposition:
        """Return the aggregates taken apart."""
        return decompose(self.calls, self.retracted, self.mode is Mode.DISCARDING)

    @cached_property
    def pending(self) -> tuple[Pending, ...]:
        """Return the columns of what has arrived since the last pane."""
        return pending(self.trigger)

    @cached_property
    def trigger_state(self) -> tuple[TriggerState, ...]:
        """Return the columns of what the trigger remembers from pane to pane."""
        return trigger_state(self.trigger)

    @property
    def pending_columns(self) -> tuple[str, ...]:
        """Return the names of the pending columns."""
        return tuple(p.name for p in self.pending)

    @cached_property
    def percentiles(self) -> tuple[float, ...]:
        """Return the percentages of the trigger's faster watermarks."""
        return percentiles(self.trigger)

    @property
    def counts_bytes(self) -> bool:
        """Say whether the trigger wants to know how long rows are."""
        return bool(self.trigger.kinds() & BYTES)

    @property
    def key_columns(self) -> tuple[str, ...]:
        """Return the names of the key columns."""
        return tuple(f"__w_k{i}" for i in range(len(self.keys)))

    @property
    def slicing(self) -> Sliding | None:
        """Return how windows are kept as slices until they fire; None where they are not: see ``dataflow.slices``."""
        match self.window:
            case Fixed(size, offset, per_key=False):
                window = Sliding(size, size, offset)
            case Sliding(size, every) if size >= every:
                window = self.window
            case _:
                return None
        plain = self.trigger.kind is Kind.AT_WATERMARK and not (self.once or self.retracted or self.complete)
        return window if plain else None

    @property
    def splits(self) -> bool:
        """Say whether a session can fall apart, since a row that held it together can be taken back."""
        return self.retracted and merges(self.window)

    @property
    def holds(self) -> bool:
        """Say whether a row that is late by itself may be taken back from a session that holds it; see ``lateness``."""
        return self.retracted and isinstance(self.window, Sessions)

    @property
    def content_columns(self) -> tuple[str, ...]:
        """Return the state's columns for what a window's rows came to: partial results, or ``slots`` of them."""
        return ("slots",) if self.splits else self.partial_columns

    @property
    def partial_columns(self) -> tuple[str, ...]:
        """Return the names of the columns of partial results."""
        return tuple(f"p{i}" for i in range(len(self.parts.partials)))

    @property
    def merged_partials(self) -> tuple[str, ...]:
        """Return the select list that merges partial results."""
        named = zip(self.partial_columns, self.parts.partials, strict=True)
        return tuple(f"{partial.merge.format(name)} AS {name}" for name, partial in named)


def _computed(outputs: tuple[Output, ...], name: str | None) -> str:
    """Return the expression of the column of that name; empty where there is none."""
    return next((o.sql.strip() for o in outputs if name is not None and o.name.lower() == name.lower()), "")


def _column(sql: str, alias: str) -> str | None:
    """Return the column that an expression over a relation called ``alias`` is the name of; None for others."""
    found = re.fullmatch(rf"(?:{re.escape(alias)}\s*\.\s*)?(?:`((?:[^`]|``)+)`|(\w+))", sql, re.IGNORECASE)
    return found and (found[1].replace("``", "`") if found[1] else found[2])
