"""The batch answer: what the final table must hold, computed from the rows alone, without steps or triggers.

``broken_prefixes`` holds every pane of an outcome to it. It needs no model: which rows were late it takes from
``late_rows``, and when a window fired from the panes; what the windows must then hold follows from the rows.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from tests.oracle.model import AGGREGATES, BEGIN, END, Fixed, Global, LateRow, Query, Row, Sessions, Sliding, Time
from tests.oracle.outcome import Line, Outcome, row_line, window_line
from tests.oracle.text import Program, clock, micros

Answer = dict[tuple[Any, Time, Time], tuple[Any, ...]]


def batch_answer(query: Query, rows: Sequence[Row], missed: Sequence[LateRow] = ()) -> Answer:
    """Return the aggregates of every window over all rows but those that a window missed."""
    left_out = {(late.row, late.start, late.end) for late in missed}
    groups: dict[tuple[Any, Time, Time], list[Row]] = {}
    match query.window:
        case Global():
            for row in rows:
                groups.setdefault((row.key, BEGIN, END), []).append(row)
        case Fixed(size, offset):
            return batch_answer(_with(query, Sliding(size, size, offset)), rows, missed)
        case Sliding(size, every, offset):
            for row in rows:
                if row.time is None:
                    continue
                for number in range((row.time - size - offset) // every, (row.time - offset) // every + 2):
                    start = number * every + offset
                    if start <= row.time < start + size:
                        groups.setdefault((row.key, start, start + size), []).append(row)
        case Sessions() as sessions:
            gone = {late.row for late in missed}
            kept = [row for row in rows if row.time is not None and row not in gone and sessions.gap_of(row) > 0]
            by_key: dict[Any, list[Row]] = defaultdict(list)
            for row in sorted(kept, key=lambda row: row.time):  # type: ignore[arg-type,return-value]
                by_key[row.key].append(row)
            for key, ordered in by_key.items():
                session: list[Row] = []
                until: Time = BEGIN
                for row in ordered:
                    assert row.time is not None
                    if session and row.time >= until:
                        groups[key, session[0].time, until] = session  # type: ignore[index]
                        session, until = [], BEGIN
                    session.append(row)
                    until = max(until, row.time + sessions.gap_of(row))
                groups[key, session[0].time, until] = session  # type: ignore[index]
    kept_groups = {
        name: [row for row in group if (row, name[1], name[2]) not in left_out] for name, group in groups.items()
    }
    return {
        name: tuple(AGGREGATES[aggregate](group) for aggregate in query.select)
        for name, group in kept_groups.items()
        if group and (query.having is None or query.having.holds(group))
    }


def _with(query: Query, window: Sliding) -> Query:
    return Query(window, having=query.having, select=query.select)


# ---------------------------------------------------------------- every pane against the batch answer so far


def broken_prefixes(program: Program, found: Outcome) -> list[str]:
    """Return where an outcome is not what a batch would have said at that instant, one line each.

    A pane holds what the batch query over the rows that had arrived by then, and that its window did not
    miss, says of that window; under DISCARDING the window's panes together do, those of the sessions that it
    swallowed too. After DRAIN ``t`` is the whole batch answer.
    """
    query, rows = program.query, program.grouped_rows()
    discarding = query.mode == "DISCARDING"
    if discarding and query.having is not None:
        return []  # what HAVING hides is in no pane
    missed, problems = _missed(program, rows, found.late)
    emitted: dict[tuple[str, ...], list[Line]] = defaultdict(list)
    steps: dict[str, list[Line]] = {}
    for pane in found.panes:
        steps.setdefault(pane["step"], []).append(pane)
    for panes in steps.values():
        now = micros(panes[0]["emitted_at"])
        lines = _lines(program, [row for row in rows if row.arrival <= now], missed)
        shown = [pane for pane in panes if pane["change"] == "insert"]
        for pane in shown:
            emitted[_group(pane)].append(pane)
        for pane in shown:
            wanted = lines.get(_name(pane))
            if discarding and wanted is not None:
                pane = _together(program, pane, emitted[_group(pane)])
            if wanted is None or any(pane[column] != text for column, text in wanted.items()):
                problems.append(f"prefix: the batch so far says {wanted} of {pane}")
    if program.drain and not discarding:
        last = _lines(program, rows, missed)
        table = {_name(line): line for line in found.t}
        for name in sorted(last.keys() | table.keys()):
            if last.get(name) != table.get(name):
                problems.append(f"prefix: after DRAIN the batch says {last.get(name)}, not {table.get(name)}")
    return problems


def _lines(program: Program, rows: Sequence[Row], missed: Sequence[LateRow]) -> dict[tuple[str, ...], Line]:
    answer = batch_answer(program.query, rows, missed)
    lines = [window_line(program, name, values) for name, values in answer.items()]
    return {_name(line): line for line in lines}


def _group(line: Line) -> tuple[str, ...]:
    return tuple(line[name] for name in ("scenario", "k") if name in line)


def _name(line: Line) -> tuple[str, ...]:
    return (*_group(line), line["window_start"], line["window_end"])


def _together(program: Program, pane: Line, earlier: Sequence[Line]) -> Line:
    """Return a DISCARDING pane with what the panes of its window, or within its session, held before."""
    within = [
        line
        for line in earlier
        if (line["window_start"] == pane["window_start"] and line["window_end"] == pane["window_end"])
        or (
            isinstance(program.query.window, Sessions)
            and pane["window_start"] <= line["window_start"]
            and line["window_end"] <= pane["window_end"]
        )
    ]
    total = dict(pane)
    for column, aggregate in zip(program.names, program.query.select, strict=True):
        known = [int(line[column]) for line in within if line[column] != "NULL"]
        fold = {"min": min, "max": max}.get(aggregate, sum)
        total[column] = str(fold(known)) if known else "NULL"  # type: ignore[operator]
    return total


def _missed(program: Program, rows: Sequence[Row], late: Sequence[Line]) -> tuple[list[LateRow], list[str]]:
    """Return which row missed which window, and what no row explains; rows that look alike are worth the same."""
    alike: dict[tuple[tuple[str, str], ...], list[Row]] = defaultdict(list)
    for row in rows:
        alike[_looks(program, row)].append(row)
    taken: Counter[Any] = Counter()
    missed, problems = [], []
    for line in late:
        bounds = (line["window_start"], line["window_end"])
        looks = tuple((name, line[name]) for name in line if name not in ("window_start", "window_end", "why", "at"))
        window = program.query.window
        candidates = alike[looks]
        if window == Sessions(None) and line["why"] == "LATE":
            candidates = [row for row in candidates if clock(window.assign(row)[0][1]) == bounds[1]]
        place = taken[looks, bounds]
        if place == len(candidates):
            problems.append(f"late: more often than such a row came {line}")
            continue
        taken[looks, bounds] += 1
        missed.append(LateRow(candidates[place], *_times(bounds), line["why"], micros(line["at"])))  # type: ignore[arg-type]
    return missed, problems


def _looks(program: Program, row: Row) -> tuple[tuple[str, str], ...]:
    line = {**row_line(program, row), "event_time": clock(BEGIN if row.time is None else row.time)}
    return tuple(line.items())


def _times(bounds: tuple[str, str]) -> tuple[Time, Time]:
    if bounds == ("NULL", "NULL"):
        return BEGIN, END
    return micros(bounds[0]), micros(bounds[1])
