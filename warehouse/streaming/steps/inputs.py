"""The rows of a step as the relations that the query reads, measured as they pass by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from pyspark.sql import DataFrame

from warehouse.catalog.entries import StreamEntry, quote_name
from warehouse.dataflow.times import is_in_time
from warehouse.execution.frames import Measured, figures
from warehouse.execution.relations import Plans, Relations
from warehouse.language.literals import string_literal
from warehouse.planning.queries.streaming_query import StreamingQuery, source_view
from warehouse.planning.streams.sources import SourceKind, StreamSource
from warehouse.streaming.delta import panes
from warehouse.streaming.layout import OFFSETS_LOST, WHY
from warehouse.streaming.sources import sources
from warehouse.streaming.steps import poison
from warehouse.streaming.steps.json_size import json_size

ARRIVAL = "__w_arrival"
"""Column of a replay's rows, which arrive one by one; others arrive with their step."""


@dataclass(frozen=True)
class Seen:
    """What one pass over a source's rows of a step found.

    Attributes:
        rows, bad: how many came, and how many did not parse. high: the highest timestamp, or None.
    """

    rows: int
    bad: int
    high: int | None


NOTHING = Seen(0, 0, None)


class Inputs:
    """Makes the source views of the steps of one query; a frame is in the layout of ``streaming.layout``."""

    def __init__(self, query: StreamingQuery, plans: Plans):
        self.query, self.plans = query, plans

    def make(self, relations: Relations, frames: list[DataFrame], now: str) -> list[Measured]:
        """Make the source views of a step among its relations; return, per source, the observation of its rows."""
        observed = []
        for number, source in enumerate(self.query.sources):
            if isinstance(source.entry, StreamEntry):
                sources.refuse_bad(source.entry, frames[number])
            arrived = f"__w_arrived{number}"
            relations.put(arrived, frames[number])
            measured = relations.measured(f"SELECT * FROM {arrived}", _measures(source))
            self._make_view(relations, number, measured.frame, now)
            observed.append(measured)
        return observed

    def looked_at(self, relations: Relations, frames: list[DataFrame], few: bool) -> list[Seen]:
        """Return what a pass over the rows of a step, before any other, finds of each source; of few, by one task."""
        found = []
        for number, source in enumerate(self.query.sources):
            arrived = f"__w_arrived{number}"
            relations.put(arrived, frames[number])
            rows = f"(SELECT /*+ COALESCE(1) */ * FROM {arrived})" if few else arrived
            found.append(_seen(relations.figures(rows, _measures(source))))
        return found

    def without_poison(self, error: BaseException, frames: list[DataFrame] | None) -> list[DataFrame]:
        """Return the rows of a step with those marked as bad on which the query's expressions fail.

        Raises:
            BaseException: ``error``, where no row is to blame or its stream says ON ERROR FAIL.
        """
        if frames is None or not poison.is_data_error(error):
            raise error
        cleared = []
        for number, (source, frame) in enumerate(zip(self.query.sources, frames, strict=True)):
            stops = isinstance(source.entry, StreamEntry) and source.entry.fail_on_error
            marked = None if stops else poison.set_aside(frame, source.columns, partial(self._probe, number))
            if marked is None:
                raise error
            cleared.append(marked)
        if not any(frame.where(f"{WHY} <> '{OFFSETS_LOST}'").head(1) for frame in cleared):
            raise error
        return cleared

    def _probe(self, number: int, rows: DataFrame) -> None:
        """Run the row-wise part of the query over some rows of one source, and nothing of the others."""
        relations = self.plans.relations(rows.sparkSession)
        for other in range(len(self.query.sources)):
            relations.put(source_view(other), relations.sql(f"SELECT * FROM {self._no_rows(other)}"))
        figures(rows, _measures(self.query.sources[number]))
        self._make_view(relations, number, rows, "0L")
        relations.sql(self.query.input.text).write.format("noop").mode("overwrite").save()

    def _make_view(self, relations: Relations, number: int, frame: DataFrame, now: str) -> None:
        """Make the view of a source from the good ones among its rows."""
        measured = f"__w_measured{number}"
        relations.put(measured, frame)
        arrival = ARRIVAL if ARRIVAL in frame.columns else now
        listed = ", ".join(quote_name(c.name) for c in self.query.sources[number].columns)
        text = f"SELECT {listed}, {self._row(number)} AS __w_row, {arrival} AS {ARRIVAL} FROM {measured}"
        relations.put(source_view(number), relations.sql(f"{text} WHERE __w_bad IS NULL"))

    @property
    def _counts_bytes(self) -> bool:
        return self.query.windowed is not None and self.query.windowed.counts_bytes

    @property
    def _multiplied(self) -> bool:
        return self.query.windowed is not None and self.query.windowed.multiplied

    def _row(self, number: int) -> str:
        """Return SQL for the hidden column that carries the source's row: one field per source, the others NULL."""
        source = self.query.sources[number]
        fields = ["'position', CAST(__w_position AS STRING)"]
        if self._counts_bytes:
            fields.append(f"'size', {json_size(source.columns)}")
        if self._multiplied:
            fields.append(f"'number', concat('{number}:', monotonically_increasing_id())")
        for other, its in enumerate(self.query.sources):
            kind = panes.struct_type(its.columns)
            values = ", ".join(f"{string_literal(c.name)}, {quote_name(c.name)}" for c in its.columns)
            value = f"named_struct({values})" if other == number else "NULL"
            fields.append(f"'r{other}', CAST({value} AS {kind})")
        if self.query.reads_changes:
            changes = source.kind is SourceKind.CHANGES
            fields.append(f"'change', {'__w_change' if changes else chr(39) + 'insert' + chr(39)}")
            several = f"concat('{number}:', {{}})" if len(self.query.sources) > 1 else "{}"
            for name in ("identity", "pair"):
                fields.append(f"'{name}', {several.format(f'__w_{name}') if changes else 'CAST(NULL AS STRING)'}")
        return f"named_struct({', '.join(fields)})"

    def _no_rows(self, number: int) -> str:
        """Return a relation like the view of a source, without rows."""
        rows = [f"'r{i}', CAST(NULL AS {panes.struct_type(s.columns)})" for i, s in enumerate(self.query.sources)]
        changes = ["'change', ''", "'identity', ''", "'pair', ''"] if self.query.reads_changes else []
        size = ["'size', 0"] if self._counts_bytes else []
        its_number = ["'number', ''"] if self._multiplied else []
        hidden = ", ".join(["'position', ''", *size, *its_number, *rows, *changes])
        listed = ", ".join(
            f"CAST(NULL AS {c.type}) AS {quote_name(c.name)}" for c in self.query.sources[number].columns
        )
        return f"(SELECT {listed}, named_struct({hidden}) AS __w_row, CAST(NULL AS BIGINT) AS {ARRIVAL} WHERE false)"


def size_of(frames: list[DataFrame]) -> int:
    """Return about how many bytes the rows of ``frames`` are, by what their sources know."""
    return sum(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes() for frame in frames)


def rows_seen(measured: Measured) -> Seen:
    """Return what was observed of a source's rows, after the action that used them."""
    return _seen(measured.figures())


def _seen(found: dict[str, Any]) -> Seen:
    return Seen(found.get("rows") or 0, found.get("bad") or 0, found.get("high"))


def _measures(source: StreamSource) -> dict[str, str]:
    """Return what is observed of a source's rows: their count, how many are bad, and the highest timestamp."""
    high = "CAST(NULL AS BIGINT)"
    if source.watermark:
        moment = f"unix_micros(CAST(({source.watermark[0]}) AS TIMESTAMP))"
        high = f"max(CASE WHEN __w_bad IS NULL AND {is_in_time(moment)} THEN {moment} END)"
    return {"rows": "count(1)", "bad": "count(__w_bad)", "high": high}
