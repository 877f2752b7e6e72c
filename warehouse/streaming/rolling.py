"""What a step makes of slices: it adds its rows to them, and rolls up the windows that fire."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

from warehouse.dataflow import slices, step
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.times import BEGINNING, Clock, moment
from warehouse.streaming.grouping import Grouped
from warehouse.streaming.log import Commit
from warehouse.streaming.slices import Folder, Slices
from warehouse.streaming.state import FEW_HITS, State


@dataclass(frozen=True)
class Rolled:
    """What a step makes of slices.

    Attributes:
        added: the folder of those that it added, None without any.
        windows: SQL for the windows that it looks at, as ``step.merged`` has them; None without any.
        momentary: none of these outlives the step.
    """

    added: Folder | None
    windows: str | None = None
    momentary: bool = False


def is_little(state: State, last: Commit, new: Grouped, after: int, most: int) -> bool:
    """Say whether state, and the windows that a step rolls up, are at most so many rows."""
    rows = last.window_rows
    if state.slices:
        firing = state.slices.firing(last, new.bounds, last.after, after)
        rows *= _reads_windows(state.query, last, new, after)
        rows += (last.slice_rows + new.windows) * min(firing, state.slices.window.windows_per_slice)
    return rows <= most


def _reads_windows(query: WindowedQuery, last: Commit, new: Grouped, after: int) -> bool:
    """Say whether a step may touch windows of base and deltas: late rows hit them, they close, slices add to them."""
    closing = last.due_clock is not None or (last.due_windows is not None and last.due_windows <= after)
    hit = bool(new.passed) and query.lateness != 0
    return bool(last.base or last.deltas) and (hit or closing or last.after < last.unfired)


def rolled_up(session: SparkSession, state: State, kept: Slices, last: Commit, new: Grouped, clock: Clock) -> Rolled:
    """Add what the rows of a step came to, and return the windows that fire, and those that had and got rows.

    Args:
        session: the step's.
        state: of the streaming table.
        kept: its slices.
        last: the commit record before.
        new: what the rows came to, the view ``__w_batch``.
        clock: the step's times.
    """
    query, times, at_once = state.query, clock.reading(), not clock.compiled
    state.check(last)
    added = None
    if new.bounds[1] is not None and kept.window.end_of_last(new.bounds[1] - 1) > clock.after:
        added = kept.write(session, clock.step, slices.lasting(query, "__w_batch", times.after))
    fired = passed = known = None
    if count := kept.firing(last, new.bounds, clock.before, clock.after):
        fired = _fired(session, kept, last, new, clock, count)
    if new.passed and query.lateness != 0:
        passed = slices.passed(query, "__w_batch", times.before)
    if _reads_windows(query, last, new, clock.after):
        few = passed and new.passed * kept.window.windows_per_slice <= FEW_HITS
        bounds = new.bounds if passed else (None, None)
        versions = state.touched(session, last, clock, session.sql(passed) if few else None, bounds)
        if versions is not None:
            versions.createOrReplaceTempView("__w_state")
            known = "__w_state"
    alone = clock.before >= last.unfired  # windows that fire now are in slices and nowhere else
    windows = [step.fresh(query, fired)] if fired and alone else []
    batch = " UNION ALL ".join(part for part in (passed, None if alone else fired) if part)
    if known or batch:
        windows.append(step.merged(query, known, f"({batch})" if batch else None, clock, at_once))
        return Rolled(added, " UNION ALL ".join(windows))
    return Rolled(added, windows[0] if windows else None, momentary=query.lateness == 0 or clock.drain)


def _fired(session: SparkSession, kept: Slices, last: Commit, new: Grouped, clock: Clock, count: int) -> str:
    """Return SQL for the windows that fire, ``count`` of a key at most."""
    query, times = kept.query, clock.reading()
    found = kept.holding(session, last, clock.before, clock.after)
    batch = session.table("__w_batch").select(*slices.slice_columns(query)) if new.windows else None
    since = None
    if batch is not None and slices.is_whole(query):
        since = moment(max((end for _, _, end in last.slices.values()), default=BEGINNING))
        apart = slices.alone(query, "__w_batch", since, times.before, times.after)
        if found is None:
            return apart
        batch = batch.where(f"ws <= {since}")
    both = [frame for frame in (found, batch) if frame is not None]
    reduce(DataFrame.unionByName, both).createOrReplaceTempView("__w_slices")
    fired = slices.fired(query, "__w_slices", times.before, times.after, count, not clock.compiled)
    return fired if since is None else f"{apart} UNION ALL {fired}"
