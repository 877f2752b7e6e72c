"""What of a step's rows goes to ``bad_rows``: records that did not parse, and rows without a place in event time."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from warehouse.catalog.entries import StreamingTableEntry, quote_name
from warehouse.dataflow import partials
from warehouse.dataflow.windows import Sessions, Window
from warehouse.execution.relations import Relations
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.planning.streams.sources import StreamSource
from warehouse.streaming import faults
from warehouse.streaming.delta import bad_rows
from warehouse.streaming.layout import OFFSETS_LOST
from warehouse.streaming.log import Intent
from warehouse.streaming.steps.inputs import Seen


def unassigned(query: StreamingQuery, relations: Relations) -> dict[str, int]:
    """Make the relation of the rows that fall into no window which they are given; return its name and how many."""
    if not query.untimed:
        return {}
    relations.put("__w_unassigned", relations.sql(query.untimed))
    return {"__w_unassigned": relations["__w_unassigned"].count()}


def keep(
    query: StreamingQuery, reader: StreamingTableEntry, home: Path, intent: Intent, frames: list[DataFrame],
    relations: Relations, seen: list[Seen], untimed: dict[str, int],
) -> int:  # fmt: skip
    """Set aside the records that did not parse and the rows without a timestamp; return how many.

    Args:
        query: the query of the streaming table ``reader``.
        reader: whose step it is.
        home: the warehouse folder.
        intent: the step's.
        frames: see ``Runner.run``.
        relations: the step's.
        seen: what was found of each source.
        untimed: how many rows without a timestamp are in which relation.
    """
    at, told = f"timestamp_micros({intent.now}L)", set()
    for number, (source, its) in enumerate(zip(query.sources, seen, strict=True)):
        parts = []
        if its.bad:
            broken = frames[number].where("__w_bad IS NOT NULL")
            known = F.col(bad_rows.WHY) if bad_rows.WHY in broken.columns else F.lit(None).cast("string")
            broken = broken.withColumn(bad_rows.WHY, F.coalesce(known, F.lit(bad_rows.NOT_PARSED)))
            if source.name in told:  # a stream that is read twice has once what is broken whoever reads it
                broken = broken.where(~F.col(bad_rows.WHY).isin(bad_rows.NOT_PARSED, OFFSETS_LOST))
            if source.name not in told or not broken.isEmpty():
                parts.append(broken)
            told.add(source.name)
        views = [view for view, count in untimed.items() if count]
        parts += [_untimed(query, relations[view], number) for view in views]
        for part in parts[1:]:
            parts[0] = parts[0].unionByName(part, allowMissingColumns=True)
        if parts:
            columns = (*_name(source, reader), source.columns)
            bad_rows.append(parts[0].sparkSession, home, columns, reader, (number, intent.step), parts[0], at)
            faults.passed("bad_rows")
    return sum(s.bad for s in seen) + sum(untimed.values())


def _untimed(query: StreamingQuery, rows: DataFrame, number: int) -> DataFrame:
    """Return those of ``rows`` that are of a source and whose timestamp gives them no window."""
    row = f"__w_row.r{number}"
    listed = [f"{row}.{quote_name(c.name)} AS {quote_name(c.name)}" for c in query.sources[number].columns]
    rows = rows.where(f"ts IS NULL AND {row} IS NOT NULL")
    if query.windowed and query.windowed.multiplied:
        rows = rows.select("__w_row", "__w_time", F.col("__w_row.number").alias("__w_number"))
        rows = rows.dropDuplicates(["__w_number"])
    return rows.selectExpr(
        *listed, "CAST(NULL AS STRING) AS __w_bad", "__w_row.position AS __w_position",
        f"CASE WHEN __w_time IS NULL THEN '{bad_rows.TIME_IS_NULL}'"
        f" WHEN {partials.is_timed(_windows(query))} THEN '{_unplaced(query)}'"
        f" ELSE '{bad_rows.TIME_OUT_OF_RANGE}' END AS {bad_rows.WHY}",
    )  # fmt: skip


def _windows(query: StreamingQuery) -> list[Window]:
    """Return all windows that a query gives its rows."""
    return [*(assigned.window for assigned in query.assigned), *([query.windowed.window] if query.windowed else [])]


def _unplaced(query: StreamingQuery) -> str:
    """Return why a row with a timestamp is in no window."""
    sessions = query.windowed is not None and isinstance(query.windowed.window, Sessions)
    return bad_rows.GAP_NOT_POSITIVE if sessions else bad_rows.NO_WINDOW


def folders(query: StreamingQuery, reader: StreamingTableEntry, home: Path) -> set[Path]:
    """Return where the bad rows of the sources of ``reader``, whose query is ``query``, are kept."""
    return {bad_rows.table_path(home, *_name(source, reader)) for source in query.sources}


def _name(source: StreamSource, reader: StreamingTableEntry) -> tuple[str, str]:
    """Return the schema and the name of what is read."""
    if source.entry:
        return source.entry.schema, source.entry.name
    return source.reference.name.within(reader.current)
