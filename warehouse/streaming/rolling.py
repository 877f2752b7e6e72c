"""What a step makes of slices: it adds its rows to them, and rolls up the windows that fire."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from warehouse.dataflow import slices, step
from warehouse.dataflow.times import Clock
from warehouse.streaming.grouping import Grouped
from warehouse.streaming.log import Commit
from warehouse.streaming.slices import Slices
from warehouse.streaming.state import FEW_HITS, State


@dataclass(frozen=True)
class Rolled:
    """The windows that a step looks at.

    Attributes:
        windows: SQL for them, as ``step.merged`` has them.
        momentary: none of them outlives the step.
    """

    windows: str
    momentary: bool


def is_little(state: State, last: Commit, new: Grouped, after: int, most: int) -> bool:
    """Say whether state, and the windows that a step rolls up, are at most so many rows."""
    rows = last.base_rows + last.delta_rows
    if state.slices:
        firing = state.slices.firing(last, new.bounds, last.after, after)
        rows += (last.slice_rows + new.windows) * min(firing, state.slices.window.windows_per_slice)
    return rows <= most


def rolled_up(
    session: SparkSession, state: State, kept: Slices, last: Commit, new: Grouped, clock: Clock
) -> Rolled | None:
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
    if new.windows:
        kept.write(session, clock.step, "__w_batch")
    fired = passed = known = None
    if count := kept.firing(last, new.bounds, clock.before, clock.after):
        _held(session, kept, last, new, clock).createOrReplaceTempView("__w_slices")
        fired = slices.fired(query, "__w_slices", times.before, times.after, count, at_once)
    if new.passed and query.lateness != 0:
        passed = slices.passed(query, "__w_batch", times.before)
    if (last.base or last.deltas) and (passed or clock.after > clock.before or last.due_clock is not None):
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
        return Rolled(" UNION ALL ".join(windows), momentary=False)
    return Rolled(windows[0], momentary=query.lateness == 0 or clock.drain) if windows else None


def _held(session: SparkSession, kept: Slices, last: Commit, new: Grouped, clock: Clock) -> DataFrame:
    """Return the slices that windows hold which fire now, and perhaps more."""
    found = kept.holding(session, last, clock.before, clock.after)
    if not new.windows:
        assert found is not None
        return found
    batch = session.table("__w_batch").select(*slices.slice_columns(kept.query))
    return batch if found is None else found.unionByName(batch)
