"""The panes of a streaming table as the rows that another one reads: what came, and what was taken back."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from warehouse.catalog.entries import StreamingTableEntry, quote_name
from warehouse.execution.frames import figures
from warehouse.planning.streams.sources import StreamSource
from warehouse.streaming.delta import panes
from warehouse.streaming.delta.delta_tables import UNBOUNDED
from warehouse.streaming.log import table_folder

_LAID_OUT = ("CAST(NULL AS STRING) AS __w_bad", "CAST(_step AS STRING) AS __w_position")
_REPLACED = "__w_replaced"
"""The step that emitted the pane which a row replaces, and does not repeat; NULL in other rows."""


def panes_frame(session: SparkSession, home: Path, source: StreamSource) -> DataFrame:
    """Return the panes of a streaming table, as they are told, in the layout of ``streaming.layout``."""
    told = _stored(session, home, source).where("_change_type <> 'superseded'")
    return told.selectExpr(*(quote_name(c.name) for c in source.columns), *_LAID_OUT)


def changes_frame(session: SparkSession, home: Path, source: StreamSource) -> DataFrame:
    """Return what changes a streaming table, in the layout of ``streaming.layout``.

    Beside it: ``__w_change`` (``insert`` or ``delete``), ``__w_identity`` of the pane, and ``__w_pair``, in which a
    pane and the one that it replaces agree. Where panes are replaced that are not repeated, the rows that take them
    back are without values until ``restored``.

    Args:
        session: where it is read.
        home: the warehouse's folder.
        source: the table as it is read.
    """
    assert isinstance(source.entry, StreamingTableEntry)
    stateless = source.entry.stateless
    pair = ["__w_key"] if source.entry.keyed and not stateless else []
    pair += [f"{panes.ORDER[0]} AS __w_order_we", f"{panes.ORDER[1]} AS __w_order_ws", "_step"]
    emitted = "__w_at" if stateless else "coalesce(__w_at, _step)"
    return _stored(session, home, source).selectExpr(
        *(quote_name(c.name) for c in source.columns), *_LAID_OUT,
        "if(_change_type = 'insert', 'insert', 'delete') AS __w_change",
        f"{_identity(source.entry, emitted)} AS __w_identity",
        f"{_as_text(pair)} AS __w_pair",
        *([f"if(_change_type = 'superseded', __w_at, NULL) AS {_REPLACED}"] if _is_restored(source) else []),
    )  # fmt: skip


def restored(rows: DataFrame, home: Path, source: StreamSource) -> DataFrame:
    """Return the rows of a step with the values of the panes that they replace, from the steps that emitted these.

    Args:
        rows: of a step; those that ``changes_frame`` has not laid out without values are returned as they are.
        home: the warehouse's folder.
        source: the table as it is read.
    """
    if not _is_restored(source):
        return rows
    assert isinstance(source.entry, StreamingTableEntry)
    names = [quote_name(c.name) for c in source.columns]
    steps = figures(rows, {"first": f"min({_REPLACED})", "last": f"max({_REPLACED})"})
    if steps["first"] is None:
        return rows.drop(_REPLACED)
    stored = rows.sparkSession.read.format("delta").load(_folder(home, source))
    emitted = stored.where(f"_change_type = 'insert' AND _step BETWEEN {steps['first']} AND {steps['last']}")
    emitted = emitted.selectExpr(
        f"struct({', '.join(names)}) AS __w_emitted", f"{_identity(source.entry, '_step')} AS __w_whose"
    )
    is_it = F.expr(f"{_REPLACED} IS NOT NULL AND __w_identity = __w_whose")
    told = (f"if({_REPLACED} IS NULL, {n}, __w_emitted.{n}) AS {n}" for n in names)
    beside = (c for c in rows.columns if quote_name(c) not in names and c != _REPLACED)
    return rows.join(emitted, is_it, "left").selectExpr(*told, *beside)


def _is_restored(source: StreamSource) -> bool:
    """Say whether rows that take a pane back come without its values."""
    return source.replaces and isinstance(source.entry, StreamingTableEntry) and not source.entry.stateless


def _stored(session: SparkSession, home: Path, source: StreamSource) -> DataFrame:
    return session.readStream.format("delta").options(**UNBOUNDED).load(_folder(home, source))


def _folder(home: Path, source: StreamSource) -> str:
    assert isinstance(source.entry, StreamingTableEntry)
    return str(table_folder(home, source.entry) / "panes")


def _identity(entry: StreamingTableEntry, emitted: str) -> str:
    """Return SQL that tells a pane from all others of its table, given the step that emitted it."""
    return _as_text([*panes.IDENTITY[not entry.keyed : -1], f"{emitted} AS __w_at"])


def _as_text(columns: list[str]) -> str:
    """Return SQL for columns as one text, in which times have their microseconds: by itself JSON has milliseconds."""
    return f"to_json(struct({', '.join(columns)}), {_WITH_MICROSECONDS})"


_WITH_MICROSECONDS = (
    "map('timestampFormat', \"yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX\","
    " 'timestampNTZFormat', \"yyyy-MM-dd'T'HH:mm:ss.SSSSSS\")"
)
