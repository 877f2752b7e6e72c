"""What a streaming table emits: panes in a Delta table, and the view that reads the latest of them.

Layout of ``panes`` (documented: other tools may read it): the table's own columns, ``_change_type``
(``insert``; ``delete`` for a withdrawal; ``superseded`` for an ACCUMULATING pane that a later one replaced,
without values but those that the table is distributed by), the pane's columns of ``panes('t')``, and the identity of
the pane in ``__w_…`` columns: ``__w_key``, ``__w_ws``, ``__w_we`` (bounds, microseconds) and ``__w_at`` (the step that
inserted it; NULL in an ``insert``, whose ``_step`` it is). ``__w_order_we`` and ``__w_order_ws`` are the bounds of the
window that made a row pass, where those are not its own; of a row that a stateless table passes on, the step and the
hash of the change that it was part of. What is NULL in all rows of a step is not written at all.
"""

from __future__ import annotations

from pathlib import Path

from warehouse.catalog.entries import Column, StreamingTableEntry, quote_name
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.select import columns
from warehouse.dataflow.state_columns import EARLY, ON_TIME
from warehouse.dataflow.times import CLOCK, Clock, Reading, watermark_timestamp
from warehouse.language.statements import Mode
from warehouse.planning.distribution import read
from warehouse.streaming.delta.delta_tables import relation

IDENTITY = ("__w_key", "__w_ws", "__w_we", "__w_at")
_ONLY_OF_CHANGES = ("__w_at", "__w_order_we", "__w_order_ws")
QUOTED_INSERT = "'insert'"
ORDER = ("coalesce(__w_order_we, __w_we)", "coalesce(__w_order_ws, __w_ws)")
"""SQL for the bounds of the window that made a row pass."""


def pane_schema(table: tuple[Column, ...], keys: tuple[str, ...]) -> str:
    """Return the DDL of ``panes``; without keys there is no ``__w_key``."""
    listed = [f"{quote_name(c.name)} {c.type}" for c in table]
    listed += [
        "_change_type string", "_pane_timing string", "_pane_index int",
        "_emitted_at timestamp", "_watermark timestamp", "_step bigint",
    ]  # fmt: skip
    if keys:
        listed.append("__w_key struct<" + ",".join(f"k{i}:{kind}" for i, kind in enumerate(keys)) + ">")
    listed += [f"{name} bigint" for name in (*IDENTITY[1:], *_ONLY_OF_CHANGES[1:])]
    return ", ".join(listed)


def inserts(query: WindowedQuery, outcome: str, at: Clock, beside_changes: bool) -> str:
    """Return SQL for the rows of ``panes`` that are a step's new panes.

    Args:
        query: the block.
        outcome: the relation of the step's outcome.
        at: the step's times.
        beside_changes: they are written together with ``changes``.
    """
    relation, clock = f"({at.beside(outcome)})", at.reading(CLOCK)
    only = tuple(f"CAST(NULL AS BIGINT) AS {name}" for name in _ONLY_OF_CHANGES) if beside_changes else ()
    listed = columns(
        tuple(f"out.o{i} AS {quote_name(o.name)}" for i, o in enumerate(query.result)), "'insert' AS _change_type",
        f"{_timing('timing')} AS _pane_timing", "pane_idx AS _pane_index", _stamp(query, clock),
        "ws AS __w_ws", "we AS __w_we", only,
    )  # fmt: skip
    return f"SELECT {listed} FROM {relation} WHERE shown"


def changes(query: WindowedQuery, outcome: str, at: Clock) -> str:
    """Return SQL for the rows of ``panes`` that withdraw what the panes of ``outcome`` replace; see ``inserts``."""
    relation, clock = f"({at.beside(outcome)})", at.reading(CLOCK)
    retracting = query.mode is Mode.RETRACTING
    values = tuple(
        f"{f'g.out.o{i}' if retracting else f'CAST(NULL AS {o.type})'} AS {quote_name(o.name)}"
        for i, o in enumerate(query.result)
    )
    listed = columns(
        values, f"'{'delete' if retracting else 'superseded'}' AS _change_type",
        f"{_timing('g.timing')} AS _pane_timing", "g.idx AS _pane_index", _stamp(query, clock),
        "g.ws AS __w_ws", "g.we AS __w_we", "g.step AS __w_at", "we AS __w_order_we", "ws AS __w_order_ws",
    )  # fmt: skip
    return f"SELECT {listed} FROM {relation} LATERAL VIEW explode(gone) AS g"


def _stamp(query: WindowedQuery, clock: Reading) -> tuple[str, ...]:
    """Return the select list of when a row passes, and of the key."""
    key = "named_struct(" + ", ".join(f"'k{i}', {k}" for i, k in enumerate(query.key_columns)) + ") AS __w_key"
    return (
        f"timestamp_micros({clock.now}) AS _emitted_at",
        f"{watermark_timestamp(clock.after)} AS _watermark",
        f"{clock.step} AS _step",
        *((key,) if query.keys else ()),
    )


def passed_on(table: tuple[Column, ...], rows: str, changes: bool, at: Clock) -> str:
    """Return SQL for the rows of ``panes`` of a stateless table: one pane per row of ``rows``.

    Args:
        table: its columns.
        rows: the relation of its rows, with ``__w_row``.
        changes: it reads the changes of a streaming table, whose panes' identity its own rows take over, in which step
            they came, and which of them were one change.
        at: the step's times.
    """
    rows, clock = f"({at.beside(rows)})", at.reading(CLOCK)
    taken_over = (
        "named_struct('k0', __w_row.identity) AS __w_key",
        f"try_cast(__w_row.position AS BIGINT) AS {_ONLY_OF_CHANGES[1]}",
        f"xxhash64(__w_row.pair) AS {_ONLY_OF_CHANGES[2]}",
    ) if changes else ()  # fmt: skip
    return "SELECT " + columns(
        tuple(quote_name(c.name) for c in table), f"{'__w_row.change' if changes else QUOTED_INSERT} AS _change_type",
        f"timestamp_micros({clock.now}) AS _emitted_at", f"{watermark_timestamp(clock.after)} AS _watermark",
        f"{clock.step} AS _step", taken_over,
    ) + f" FROM {rows}"  # fmt: skip


def _timing(column: str) -> str:
    return f"CASE {column} WHEN {EARLY} THEN 'EARLY' WHEN {ON_TIME} THEN 'ON_TIME' ELSE 'LATE' END"


def latest(folder: Path, entry: StreamingTableEntry, step: int | None = None) -> str:
    """Return the query of the view ``t``: the panes that stand, or stood after ``step``.

    Panes that are distributed by columns stay so: a pane and what takes it back agree in these, so they are brought
    together by a window over them, which needs no shuffle where a join on the identity, NULL or not, would.
    """
    # aliases that no column can have: `p.x` would be a field of a column called p
    listed = ", ".join("__w_pane." + quote_name(c.name) for c in entry.columns)
    source = _up_to(folder, step)
    kept = f"SELECT {listed} FROM {source} AS __w_pane WHERE __w_pane._change_type = 'insert'"
    if entry.appends_only:
        return kept
    if distribution := read(entry.distribution):
        whose = [f"__w_pane.{name}" for name in (*map(quote_name, distribution.keys), *IDENTITY[not entry.keyed : -1])]
        whose.append("coalesce(__w_pane.__w_at, __w_pane._step)")
        taken = f"max(__w_pane._change_type <> 'insert') OVER (PARTITION BY {', '.join(whose)})"
        inside = f"SELECT {listed}, {taken} AS __w_taken FROM {source} AS __w_pane"
        return f"SELECT {listed} FROM ({inside}) AS __w_pane WHERE NOT __w_pane.__w_taken"
    same = " AND ".join(f"__w_gone.{name} <=> __w_pane.{name}" for name in IDENTITY[not entry.keyed : -1])
    same += " AND coalesce(__w_gone.__w_at = __w_pane._step, true)"  # a stateless table's rows are known by their keys
    taken = f"SELECT 1 FROM {source} AS __w_gone WHERE __w_gone._change_type <> 'insert' AND {same}"
    return f"{kept} AND NOT EXISTS ({taken})"


def _up_to(folder: Path, step: int | None) -> str:
    """Return the relation of the rows that were there after ``step``, of all of them unless it is given."""
    source = relation(folder)
    return source if step is None else f"(SELECT * FROM {source} WHERE _step <= {step})"


def pane_rows(folder: Path, entry: StreamingTableEntry, step: int | None = None) -> str:
    """Return the relation behind ``panes('t')``: every pane in order, withdrawals before their pane.

    Args:
        folder: of the panes.
        entry: the table.
        step: the last step whose panes are wanted, None for all.
    """
    visible = [quote_name(c.name) for c in entry.columns]
    visible += ["_change_type", "_pane_timing", "_pane_index", "_emitted_at", "_watermark", "_step"]
    key = ["__w_key"] if entry.keyed else []
    changed = [*ORDER, "_change_type", *key] if entry.stateless else [*key, *ORDER, "_change_type"]
    order = ["_step", *changed, "__w_ws"]
    # 'delete' sorts before 'insert', so a withdrawal stands directly before its pane
    return (
        f"(SELECT {', '.join(visible)} FROM {_up_to(folder, step)} WHERE _change_type <> 'superseded'"
        f" ORDER BY {', '.join(order)})"
    )


def struct_type(table: tuple[Column, ...]) -> str:
    """Return the struct type of a row of ``table``."""
    return "struct<" + ",".join(f"{quote_name(c.name)}:{c.type}" for c in table) + ">"
