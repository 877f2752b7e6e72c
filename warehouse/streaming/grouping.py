"""The first half of a step: its rows to partial results, measured in the one pass over them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from warehouse.dataflow import step
from warehouse.dataflow.times import Clock
from warehouse.streaming import lags, late, lateness
from warehouse.streaming.inputs import Inputs, Seen, seen
from warehouse.streaming.log import Intent
from warehouse.streaming.measured import Measured
from warehouse.streaming.state import FEW_HITS


@dataclass(frozen=True)
class Grouped:
    """What the rows of a step came to.

    Attributes:
        windows: how many rows of partial results there are. bounds: their least start and greatest end.
        few: those rows themselves unless they are many.
        seen: per source. untimed: rows without a timestamp. late: rows that miss at least one of their windows.
        lateness: see ``lateness.known``. lags: see ``lags.measures``, where a trigger has a PERCENTILE.
    """

    windows: int = 0
    bounds: tuple[int | None, int | None] = (None, None)
    few: DataFrame | None = None
    seen: list[Seen] = field(default_factory=list)
    untimed: int = 0
    late: int = 0
    lateness: tuple[int, ...] = ()
    lags: dict[str, Any] = field(default_factory=dict)


NO_ROWS = Grouped()


def grouped(
    inputs: Inputs, folder: Path, intent: Intent, frames: list[DataFrame], kept: ExitStack, compiled: bool
) -> Grouped:
    """Group the rows of a step into partial results, the view ``__w_batch``.

    Args:
        inputs: of the streaming table's query, which has windows.
        folder: the streaming table's.
        intent: the step's.
        frames: see ``Runner.run``.
        kept: what is stored for the step is let go with it.
        compiled: see ``Clock``.
    """
    query = inputs.query.windowed
    assert query
    clock = Clock(intent.step, intent.now, intent.before, intent.before, compiled=compiled).reading()
    session, observed = inputs.make(frames, clock.now)
    rows = session.sql(step.assigned(query, f"({inputs.query.input.text})"))
    if query.retracted:
        rows = late.without_replacements(session, query, folder, rows, intent, kept)
    late_here = F.expr(step.is_late(query, clock.before))
    sample = lateness.sample(query, frames)
    behind = lags.measures(query.percentiles, sample)
    watch = Measured(
        rows, F.count_if(F.col("ts").isNull()).alias("untimed"), F.count_if(late_here).alias("late"),
        *lateness.measures(query, sample),
        *(F.expr(sql).alias(name) for name, sql in behind.items()),
    )  # fmt: skip
    watch.frame.createOrReplaceTempView("__w_rows")
    batch = session.sql(step.partials(query, "__w_rows", clock.before)).persist()
    kept.callback(batch.unpersist)
    batch.createOrReplaceTempView("__w_batch")
    counted, start, end = batch.agg(F.count(F.lit(1)), F.min("ws"), F.max("we")).first()
    figures = watch.figures()
    return Grouped(
        windows=counted, bounds=(start, end), few=batch if counted <= FEW_HITS else None,
        seen=[seen(o) for o in observed], untimed=figures["untimed"] or 0, late=figures["late"] or 0,
        lateness=lateness.known(figures), lags={name: figures[name] for name in behind},
    )  # fmt: skip
