"""The first half of a step: its rows to partial results, measured in the one pass over them."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from warehouse.dataflow import merging, partials, slices
from warehouse.dataflow.lateness import is_late
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.times import CLOCK, CLOCKS, Clock, Reading
from warehouse.dataflow.windows import earliest_end
from warehouse.execution.relations import Relations
from warehouse.streaming.log import Intent
from warehouse.streaming.state.state import FEW_HITS
from warehouse.streaming.steps import lags, late, lateness
from warehouse.streaming.steps.inputs import Inputs, Seen, rows_seen


@dataclass(frozen=True)
class Grouped:
    """What the rows of a step came to.

    Attributes:
        windows: how many rows of partial results there are. bounds: their least start, and greatest end.
        few: those rows themselves unless they are many. held: they are in this process, or there are none.
        passed: of slices, how many a window holds that has fired.
        seen: per source. untimed: rows without a timestamp. late: rows that miss at least one of their windows.
        lateness: see ``lateness.known``. lags: see ``lags.measures``, where a trigger has a PERCENTILE.
        gathered: rows and state are merged already, as ``windows`` whole ones of ``bounds``, their least end second.
        strays: see ``merging.gathered``.
    """

    windows: int = 0
    bounds: tuple[int | None, int | None] = (None, None)
    few: DataFrame | None = None
    held: bool = False
    passed: int = 0
    seen: list[Seen] = field(default_factory=list)
    untimed: int = 0
    late: int = 0
    lateness: tuple[int, ...] = ()
    lags: dict[str, Any] = field(default_factory=dict)
    gathered: bool = False
    strays: int = 0


NO_ROWS = Grouped(held=True)

MOST_HELD = 20_000
"""Of a step of few rows, no more partial results are held in this process than so many."""

_SAMPLED = "__w_sampled"


@dataclass(frozen=True)
class Arrived:
    """What a step has to group.

    Attributes:
        inputs: of the streaming table's query, which has windows.
        relations: the step's; what the rows come to is put among them.
        folder: the streaming table's.
        intent: the step's.
        frames: see ``Runner.run``.
        kept: what is stored for the step is let go with it.
        known: see ``late.without_replacements``.
    """

    inputs: Inputs
    relations: Relations
    folder: Path
    intent: Intent
    frames: list[DataFrame]
    kept: ExitStack
    known: late.Known

    @property
    def query(self) -> WindowedQuery:
        """Return the block that the rows are for."""
        assert self.inputs.query.windowed
        return self.inputs.query.windowed

    def clock(self, compiled: bool) -> Reading:
        """Tell the texts that group rows what time it is: the watermark has not moved yet."""
        before = self.intent.before
        clock = Clock(self.intent.step, self.intent.now, before, before, compiled=compiled)
        tell(self.relations, clock)
        return clock.reading()

    def stored(self, text: str, name: str) -> DataFrame:
        """Return the rows of a text, which stay in memory once they were used, as the relation ``name``."""
        rows = self.relations.sql(text).persist()
        self.kept.callback(rows.unpersist)
        self.relations.put(name, rows)
        return rows


def tell(relations: Relations, clock: Clock) -> None:
    """Let the texts of a step find its clock; interpreted ones are planned sooner with constants."""
    relations.put_row(CLOCKS, CLOCK, clock.values, constant=not clock.compiled)


class _Rows:
    """The rows of a step, the relation ``__w_rows``, which are measured as they pass by."""

    def __init__(self, arrived: Arrived, clock: Reading):
        query, self.relations = arrived.query, arrived.relations
        self.query, self.is_late = query, is_late(query, clock.before)
        self.observed = arrived.inputs.make(self.relations, arrived.frames, clock.now)
        rows = partials.assigned(query, f"({arrived.inputs.query.input.text})")
        if query.retracted:
            rows = late.without_replacements(
                self.relations, query, arrived.folder, rows, arrived.intent, clock.before, arrived.kept, arrived.known
            )
        self.behind = lags.measures(query.percentiles, _SAMPLED)
        # a column, whose code is generated, since sketches interpret what they are given for each row
        self.watch = self.relations.measured(
            f"SELECT *, {lateness.sample(query, arrived.frames)} AS {_SAMPLED} FROM ({rows})",
            {
                "untimed": "count_if(ts IS NULL)", "late": f"count_if({self.is_late})",
                **lateness.measures(query, _SAMPLED), **self.behind,
            },
        )  # fmt: skip
        self.relations.put("__w_rows", self.watch.frame)

    def seen(self, grouped: Grouped) -> Grouped:
        """Return ``grouped`` with what was measured, once an action has used the rows."""
        found = self.watch.figures()
        if self.query.multiplied and (found["untimed"] or found["late"]):
            conditions = {"untimed": "ts IS NULL", "late": self.is_late}
            exactly = {name: partials.source_rows(self.query, condition) for name, condition in conditions.items()}
            found |= self.relations.figures("__w_rows", exactly)
        return replace(
            grouped, seen=[rows_seen(o) for o in self.observed], untimed=found["untimed"] or 0,
            late=found["late"] or 0, lateness=lateness.known(found),
            lags={name: found[name] for name in self.behind},
        )  # fmt: skip


def held(arrived: Arrived) -> Grouped | None:
    """Group the few rows of a step as ``grouped`` does, in one task, and hold what they come to in this process.

    Returns:
        None where that is more than ``MOST_HELD``, and no relation.
    """
    clock = arrived.clock(compiled=False)
    rows = _Rows(arrived, clock)
    batch = _batch(arrived.query, "(SELECT /*+ COALESCE(1) */ * FROM __w_rows)", clock)
    found = arrived.relations.hold("__w_batch", batch, _figures(arrived.query, clock), MOST_HELD)
    if found is None:
        return None
    return replace(rows.seen(_grouped(found, arrived.relations["__w_batch"])), held=True)


def grouped(arrived: Arrived, thin: bool) -> Grouped:
    """Group the rows of a step into partial results, the relation ``__w_batch``.

    Args:
        arrived: what there is to group.
        thin: few rows will fall into one and the same group.
    """
    clock = arrived.clock(compiled=True)
    rows = _Rows(arrived, clock)
    relation = partials.spread(arrived.query, "__w_rows") if thin else "__w_rows"
    batch = arrived.stored(_batch(arrived.query, relation, clock), "__w_batch")
    found = arrived.relations.figures("__w_batch", _figures(arrived.query, clock))
    return rows.seen(_grouped(found, batch))


def _batch(query: WindowedQuery, rows: str, clock: Reading) -> str:
    """Return SQL for the partial results that rows come to."""
    return (slices.added if query.slicing else partials.partials)(query, rows, clock.before)


def _figures(query: WindowedQuery, clock: Reading) -> dict[str, str]:
    passed = f"count_if({earliest_end(query.window)} <= {clock.before})" if query.slicing else "0"
    return {"windows": "count(1)", "start": "min(ws)", "end": "max(we)", "passed": passed}


def _grouped(found: dict[str, Any], batch: DataFrame) -> Grouped:
    few = batch if found["windows"] <= FEW_HITS else None
    return Grouped(found["windows"], (found["start"], found["end"]), few=few, passed=found["passed"])


def gathered(arrived: Arrived, state: str | None, thin: bool) -> Grouped:
    """Merge the rows of a step with all of the state in one pass, into the relation ``__w_windows``.

    Where the rows are more than the state, reading all of it costs less than finding out first what they hit.

    Args:
        arrived: what there is to group; its query ``comes_in_pieces``.
        state: the relation of all state versions, None at the first step.
        thin: see ``grouped``.
    """
    query, clock = arrived.query, arrived.clock(compiled=True)
    rows = _Rows(arrived, clock)
    pieces = f"({partials.pieces(query, '__w_rows', clock.before, thin)})"
    windows = arrived.stored(merging.gathered(query, state, pieces, clock.before, thin), "__w_windows")
    strays = "sum(strays)" if "strays" in windows.columns else "0"
    found = arrived.relations.figures(
        "__w_windows", {"windows": "count(1)", "start": "min(ws)", "end": "min(we)", "strays": strays}
    )
    bounds = (found["start"], found["end"])
    return rows.seen(Grouped(found["windows"], bounds, gathered=True, strays=found["strays"] or 0))
