"""What came out, as tables of text, and how two of them differ.

The model and the engine are both turned into an ``Outcome``. Steps are renumbered by the panes they emitted,
because only their order is promised. Within a step windows come in any order, but withdrawals stand directly
before the pane that replaces what they take back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracle.model import BEGIN, END, Pane, Row, Time
from tests.oracle.text import Program, clock

Line = dict[str, str]


@dataclass(frozen=True)
class Outcome:
    """The four tables of a streaming table, as text; ``panes`` in order, the others sorted."""

    panes: list[Line]
    t: list[Line]
    late: list[Line]
    bad: list[Line]


def cell(value: object) -> str:
    """Return a value as expectations spell it."""
    return "NULL" if value is None else str(value)


def bound(time: Time) -> str:
    """Return a window's bound; GLOBAL's are NULL."""
    return "NULL" if abs(time) == END else clock(time)


def by_text(lines: Sequence[Line]) -> list[Line]:
    """Return the lines in the order of their text."""
    return sorted(lines, key=lambda line: tuple(line.items()))


def ranked(steps: Sequence[object]) -> list[str]:
    """Return each step's rank among those that emitted something."""
    ranks = {step: str(rank) for rank, step in enumerate(dict.fromkeys(steps))}
    return [ranks[step] for step in steps]


def _group(program: Program, key: Any) -> Line:
    scenario = {"scenario": cell(key[0])} if program.wide else {}
    return {**scenario, **({"k": cell(key[1] if program.wide else key)} if program.keyed else {})}


def window_line(program: Program, name: tuple[Any, Time, Time], values: Sequence[Any]) -> Line:
    """Return the line of a window (key, start, end) that holds these values."""
    key, start, end = name
    found = {column: cell(value) for column, value in zip(program.names, values, strict=True)}
    return {**_group(program, key), **found, "window_start": bound(start), "window_end": bound(end)}


def row_line(program: Program, row: Row) -> Line:
    """Return the line of an input row."""
    return {**_group(program, row.key), "v": cell(row.value), "arrival": clock(row.arrival)}


def of_model(program: Program) -> Outcome:
    """Run the program on the model and return what came out."""
    model = program.run()

    def values(pane: Pane) -> Line:
        return window_line(program, (pane.key, pane.start, pane.end), pane.values)

    panes = [
        {
            "change": pane.change,
            **values(pane),
            "timing": pane.timing,
            "index": str(pane.index),
            "emitted_at": clock(pane.emitted_at),
            "watermark": clock(pane.watermark),
            "step": step,
        }
        for pane, step in zip(model.panes, ranked([pane.step for pane in model.panes]), strict=True)
    ]
    late = [
        {
            **row_line(program, late.row),
            "event_time": clock(BEGIN if late.row.time is None else late.row.time),
            "window_start": bound(late.start),
            "window_end": bound(late.end),
            "why": late.why,
            "at": clock(late.at),
        }
        for late in model.late
    ]
    return Outcome(
        panes,
        by_text([values(pane) for pane in model.table()]),
        by_text(late),
        by_text([row_line(program, row) for row in model.bad]),
    )


def differences(wanted: Outcome, found: Outcome) -> list[str]:
    """Return what is wrong with ``found``, one line each; nothing when they agree."""
    problems = [*_steps(wanted.panes, found.panes), *_misplaced(wanted.panes, found.panes)]
    for name in ("t", "late", "bad"):
        problems += _bag(name, getattr(wanted, name), getattr(found, name))
    return problems


def broken_promises(expected: dict[str, list[Line]], found: Outcome) -> list[str]:
    """Return how an outcome breaks a SQL file's expectations, which may name some of the columns only.

    Pane tables are compared in order, up to the order of windows within one step.
    """
    problems: list[str] = []
    for name, lines in expected.items():
        columns = list(lines[0]) if lines else []
        actual = getattr(found, name)
        if name == "panes" and columns:
            for step in dict.fromkeys(line["step"] for line in actual):
                found_here = [line for line in actual if line["step"] == step]
                here, lines = lines[: len(found_here)], lines[len(found_here) :]
                problems += _bag(name, here, [{column: line[column] for column in columns} for line in found_here])
            problems += _bag(name, lines, [])
        else:
            problems += _bag(name, lines, [{column: line[column] for column in columns or line} for line in actual])
    return problems


def _bag(name: str, wanted: Sequence[Line], found: Sequence[Line]) -> list[str]:
    """Return what one bag of lines has and the other has not."""

    def count(lines: Sequence[Line]) -> Counter[str]:
        return Counter(" ".join(f"{column}={line[column]}" for column in sorted(line)) for line in lines)

    more, less = count(wanted) - count(found), count(found) - count(wanted)
    return [f"{name}: missing    {line}" for line in more.elements()] + [
        f"{name}: unexpected {line}" for line in less.elements()
    ]


def _steps(wanted: Sequence[Line], found: Sequence[Line]) -> list[str]:
    problems = _bag("panes", wanted, found)
    order = [line["step"] for line in found]
    if order != sorted(order, key=int):
        problems.append("panes: steps out of order")
    return problems


def _misplaced(wanted: Sequence[Line], found: Sequence[Line]) -> list[str]:
    """Check that withdrawals stand directly before their pane."""
    problems = []
    places = {frozenset(line.items()): place for place, line in enumerate(found)}
    withdrawn: list[Line] = []
    for line in wanted:
        if line["change"] == "delete":
            withdrawn.append(line)
            continue
        # A window that HAVING hides leaves withdrawals without a pane of their own: skip those.
        mine, withdrawn = [one for one in withdrawn if _belongs(one, line)], []
        place = places.get(frozenset(line.items()))
        if place is None:
            continue
        before = found[max(0, place - len(mine)) : place]
        if _bag("", mine, before):
            problems.append(f"panes: withdrawals not directly before {line}")
    return problems


def _belongs(withdrawal: Line, pane: Line) -> bool:
    """Say whether a withdrawn window lies within the pane's (a session may have grown)."""
    return (
        withdrawal["step"] == pane["step"]
        and all(withdrawal.get(name) == pane.get(name) for name in ("scenario", "k"))
        and withdrawal["window_start"] >= pane["window_start"]
        and withdrawal["window_end"] <= pane["window_end"]
    )
