"""The batch answer: what the final table must hold, computed from the rows alone, without steps or triggers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.oracle.model import AGGREGATES, BEGIN, END, Fixed, Global, LateRow, Query, Row, Sessions, Sliding, Time

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
            for key in {row.key for row in kept}:
                session: list[Row] = []
                until: Time = BEGIN
                for row in sorted((row for row in kept if row.key == key), key=lambda row: row.time):  # type: ignore[arg-type,return-value]
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
