"""The first half of a step: its rows to partial results, measured in the one pass over them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from warehouse.dataflow import slices, step
from warehouse.dataflow.times import Clock, Reading
from warehouse.dataflow.windows import earliest_end
from warehouse.execution.frames import Measured, figures
from warehouse.streaming import lags, late, lateness
from warehouse.streaming.inputs import Inputs, Seen, seen
from warehouse.streaming.log import Intent
from warehouse.streaming.state import FEW_HITS


@dataclass(frozen=True)
class Grouped:
    """What the rows of a step came to.

    Attributes:
        windows: how many rows of partial results there are. bounds: their least start, and greatest end.
        few: those rows themselves unless they are many. passed: of slices, how many a window holds that has fired.
        seen: per source. untimed: rows without a timestamp. late: rows that miss at least one of their windows.
        lateness: see ``lateness.known``. lags: see ``lags.measures``, where a trigger has a PERCENTILE.
        gathered: rows and state are merged already, as ``windows`` whole ones of ``bounds``, their least end second.
        strays: see ``step.gathered``.
    """

    windows: int = 0
    bounds: tuple[int | None, int | None] = (None, None)
    few: DataFrame | None = None
    passed: int = 0
    seen: list[Seen] = field(default_factory=list)
    untimed: int = 0
    late: int = 0
    lateness: tuple[int, ...] = ()
    lags: dict[str, Any] = field(default_factory=dict)
    gathered: bool = False
    strays: int = 0


NO_ROWS = Grouped()

_SAMPLED = "__w_sampled"


class _Rows:
    """The rows of a step, the view ``__w_rows``, which are measured as they pass by; see ``grouped``."""

    def __init__(
        self, inputs: Inputs, folder: Path, intent: Intent, frames: list[DataFrame], kept: ExitStack, clock: Reading
    ):
        query = inputs.query.windowed
        assert query
        self.query, self.is_late = query, step.is_late(query, clock.before)
        self.session, self.observed = inputs.make(frames, clock.now)
        rows = self.session.sql(step.assigned(query, f"({inputs.query.input.text})"))
        if query.retracted:
            rows = late.without_replacements(self.session, query, folder, rows, intent, kept)
        self.behind = lags.measures(query.percentiles, _SAMPLED)
        # a column, whose code is generated, since sketches interpret what they are given for each row
        rows = rows.withColumn(_SAMPLED, F.expr(lateness.sample(query, frames)))
        self.watch = Measured(
            rows,
            {
                "untimed": "count_if(ts IS NULL)", "late": f"count_if({self.is_late})",
                **lateness.measures(query, _SAMPLED), **self.behind,
            },
        )  # fmt: skip
        self.watch.frame.drop(_SAMPLED).createOrReplaceTempView("__w_rows")

    def seen(self, grouped: Grouped) -> Grouped:
        """Return ``grouped`` with what was measured, once an action has used the rows."""
        found = self.watch.figures()
        if self.query.multiplied and (found["untimed"] or found["late"]):
            conditions = {"untimed": "ts IS NULL", "late": self.is_late}
            exactly = {name: step.source_rows(self.query, condition) for name, condition in conditions.items()}
            found |= figures(self.session.table("__w_rows"), exactly)
        return replace(
            grouped, seen=[seen(o) for o in self.observed], untimed=found["untimed"] or 0,
            late=found["late"] or 0, lateness=lateness.known(found),
            lags={name: found[name] for name in self.behind},
        )  # fmt: skip


def grouped(
    inputs: Inputs, folder: Path, intent: Intent, frames: list[DataFrame], kept: ExitStack, compiled: bool, thin: bool
) -> Grouped:
    """Group the rows of a step into partial results, the view ``__w_batch``.

    Args:
        inputs: of the streaming table's query, which has windows.
        folder: the streaming table's.
        intent: the step's.
        frames: see ``Runner.run``.
        kept: what is stored for the step is let go with it.
        compiled: see ``Clock``.
        thin: few rows will fall into one and the same group.
    """
    query = inputs.query.windowed
    assert query
    clock = Clock(intent.step, intent.now, intent.before, intent.before, compiled=compiled).reading()
    rows = _Rows(inputs, folder, intent, frames, kept, clock)
    relation = step.spread(query, "__w_rows") if thin and compiled else "__w_rows"
    text = (slices.added if query.slicing else step.partials)(query, relation, clock.before)
    batch = _stored(rows.session, text, "__w_batch", kept)
    passed = f"{earliest_end(query.window)} <= {clock.before}" if query.slicing else "false"
    found = figures(
        batch, {"windows": "count(1)", "start": "min(ws)", "end": "max(we)", "passed": f"count_if({passed})"}
    )
    few = batch if found["windows"] <= FEW_HITS else None
    return rows.seen(Grouped(found["windows"], (found["start"], found["end"]), few=few, passed=found["passed"]))


def gathered(
    inputs: Inputs, folder: Path, intent: Intent, frames: list[DataFrame], kept: ExitStack, state: str | None,
    thin: bool,
) -> Grouped:  # fmt: skip
    """Merge the rows of a step with all of the state in one pass, into the view ``__w_windows``.

    Where the rows are more than the state, reading all of it costs less than finding out first what they hit.

    Args:
        inputs: see ``grouped``, as the other arguments; the query ``comes_in_pieces``.
        folder: the streaming table's.
        intent: the step's.
        frames: see ``Runner.run``.
        kept: what is stored for the step is let go with it.
        state: the relation of all state versions, None at the first step.
        thin: see ``grouped``.
    """
    query = inputs.query.windowed
    assert query
    clock = Clock(intent.step, intent.now, intent.before, intent.before).reading()
    rows = _Rows(inputs, folder, intent, frames, kept, clock)
    pieces = f"({step.pieces(query, '__w_rows', clock.before, thin)})"
    windows = _stored(rows.session, step.gathered(query, state, pieces, clock.before, thin), "__w_windows", kept)
    strays = "sum(strays)" if "strays" in windows.columns else "0"
    found = figures(windows, {"windows": "count(1)", "start": "min(ws)", "end": "min(we)", "strays": strays})
    bounds = (found["start"], found["end"])
    return rows.seen(Grouped(found["windows"], bounds, gathered=True, strays=found["strays"] or 0))


def _stored(session: SparkSession, text: str, view: str, kept: ExitStack) -> DataFrame:
    rows = session.sql(text).persist()
    kept.callback(rows.unpersist)
    rows.createOrReplaceTempView(view)
    return rows
