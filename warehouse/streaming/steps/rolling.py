"""What a step makes of slices: it adds its rows to them, and rolls up the windows that fire."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.dataflow import merging, slices
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.select import columns
from warehouse.dataflow.times import BEGINNING, Clock
from warehouse.execution.relations import Relations
from warehouse.streaming.log import Commit, is_reached
from warehouse.streaming.state.slices import Folder, Slices
from warehouse.streaming.state.state import FEW_HITS, State
from warehouse.streaming.steps.grouping import Grouped


@dataclass(frozen=True)
class Rolled:
    """What a step makes of slices.

    Attributes:
        added: the folder of those that it added, None without any.
        windows: SQL for the windows that it looks at, as ``merging.merged`` has them; None without any.
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
    closing = last.due_clock is not None or is_reached(last.due_windows, after)
    hit = bool(new.passed) and query.lateness != 0
    return bool(last.base or last.deltas) and (hit or closing or last.after < last.unfired)


def rolled_up(
    relations: Relations, state: State, kept: Slices, last: Commit, new: Grouped, clock: Clock, few: int
) -> Rolled:
    """Add what the rows of a step came to, and return the windows that fire, and those that had and got rows.

    Args:
        relations: the step's.
        state: of the streaming table.
        kept: its slices.
        last: the commit record before.
        new: what the rows came to, the relation ``__w_batch``.
        clock: the step's times.
        few: see ``Slices.write``.
    """
    query, times, at_once = state.query, clock.reading(), not clock.compiled
    state.check(last)
    added = None
    if new.bounds[1] is not None and kept.window.end_of_last(new.bounds[1] - 1) > clock.after:
        lasting = f"SELECT *, {times.step} AS step FROM ({slices.lasting(query, '__w_batch', times.after)})"
        added = kept.write(relations, clock.step, lasting, few)
    fired = passed = known = None
    if count := kept.firing(last, new.bounds, clock.before, clock.after):
        fired = _fired(relations, kept, last, new, clock, count)
    if new.passed and query.lateness != 0:
        passed = slices.passed(query, "__w_batch", times.before)
    if _reads_windows(query, last, new, clock.after):
        narrow = passed and new.passed * kept.window.windows_per_slice <= FEW_HITS
        bounds = new.bounds if passed else (None, None)
        hits = relations.sql(passed) if passed and narrow else None
        versions = state.touched(relations.session, last, clock, hits, bounds)
        if versions is not None:
            known = "__w_state"
            relations.put(known, versions)
    alone = clock.before >= last.unfired  # windows that fire now are in slices and nowhere else
    windows = [merging.fresh(query, fired)] if fired and alone else []
    batch = " UNION ALL ".join(part for part in (passed, None if alone else fired) if part)
    if known or batch:
        windows.append(merging.merged(query, known, f"({batch})" if batch else None, clock, at_once))
        return Rolled(added, " UNION ALL ".join(windows))
    return Rolled(added, windows[0] if windows else None, momentary=query.lateness == 0 or clock.drain)


def _fired(relations: Relations, kept: Slices, last: Commit, new: Grouped, clock: Clock, count: int) -> str | None:
    """Return SQL for the windows that fire, ``count`` of a key at most; None where nothing fell into them."""
    query, times = kept.query, clock.reading()
    whole = slices.is_whole(query)
    found = kept.holding(relations.session, last, clock.before, clock.after)
    if found is None and whole and new.windows:
        return slices.alone(query, "__w_batch", f"{BEGINNING}L", times.before, times.after)
    listed = columns(slices.slice_columns(query))
    parts, apart = [], ""
    if found is not None:
        relations.put("__w_slices", found)
        parts.append(f"SELECT {listed} FROM __w_slices")
    if new.windows and whole:
        apart = slices.alone(query, "__w_batch", times.since, times.before, times.after)
        parts.append(f"SELECT {listed} FROM __w_batch WHERE ws <= {times.since}")
    elif new.windows:
        parts.append(f"SELECT {listed} FROM __w_batch")
    if not parts:
        return None
    fired = slices.fired(query, f"({' UNION ALL '.join(parts)})", times.before, times.after, count, not clock.compiled)
    return f"{apart} UNION ALL {fired}" if apart else fired
