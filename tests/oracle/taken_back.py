"""Sessions over rows that can be taken back, as a simulator over plain objects, and random programs for them.

``model.py`` knows no such rows; this is what the definition of the language says of them, with its triggers and panes:

- A withdrawal is judged with the window that holds the row: it is late when it is so by the row's own window and that
  window has no state, or when the row never came to count. Its replacement is late then, too; one that has the same
  window of its own is judged with it, every other one is a row like others.
- A session is what its rows say, so it falls apart when a row that held it together goes. What stands stays until a
  pane comes that overlaps it: until then the pieces belong together, with one trigger and what is pending for it; the
  first pane of any of them takes back what stood.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Hashable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, cast

from tests.oracle.model import (
    AGGREGATES,
    BEGIN,
    DAY,
    SECOND,
    AtWatermark,
    Condition,
    Every,
    LateRow,
    Look,
    Mode,
    Or,
    Pane,
    Query,
    Row,
    Sessions,
    Time,
    Trigger,
    When,
    _clusters,
    grow,
)
from tests.oracle.programs import EVENTS
from tests.oracle.text import ALIASES, CALLS, condition_sql, interval, iso, trigger_sql, window_sql


@dataclass(frozen=True)
class Change:
    """A row that came, or that went; ``pair`` is shared with what it replaces."""

    gone: bool
    identity: Hashable
    pair: Hashable
    row: Row


@dataclass
class Kin:
    """Sessions of one key that belong together, for what stands overlaps them; mostly a single one.

    Attributes:
        fresh: the changes since the last pane.
        standing: what the first pane of one of them takes back.
    """

    key: Any
    start: Time
    end: Time
    trigger: Trigger
    rows: dict[Hashable, Row] = field(default_factory=dict)
    fresh: list[Row] = field(default_factory=list)
    standing: list[Pane] = field(default_factory=list)


class TakenBack:
    """A streaming table of sessions: feed it steps of changes, read ``panes``, ``late`` and ``table()``.

    Attributes:
        out: what never came to count. held: how many changes were in time for the sake of the session alone.
        apart: how often a part alone emitted of what had stood as one.
    """

    def __init__(self, query: Query) -> None:
        assert isinstance(query.window, Sessions)
        assert query.window.gap is not None
        self.query, self.gap = query, query.window.gap
        self.kin: list[Kin] = []
        self.panes: list[Pane] = []
        self.late: list[LateRow] = []
        self.out: set[Hashable] = set()
        self.held = self.apart = 0
        self.watermark: Time = BEGIN
        self.steps = 0

    def step(self, changes: Sequence[Change], watermark: Time) -> None:
        """Take one step: "rows, then the watermark, then triggers, then closing"."""
        before, after = self.watermark, max(self.watermark, watermark)
        self._unite(self._in_time(changes, before), before)
        for kin in list(self.kin):
            self._look_at(kin, before, after)
        self.watermark = after
        self.steps += 1

    def table(self) -> list[Pane]:
        """Return ``t``."""
        return [pane for kin in self.kin for pane in kin.standing]

    # ------------------------------------------------------------ late or not

    def _in_time(self, changes: Sequence[Change], before: Time) -> list[Change]:
        came = {change.identity: change for change in changes if not change.gone}
        withdrawn: dict[Hashable, list[Change]] = defaultdict(list)
        for change in changes:
            if change.gone:
                withdrawn[change.pair].append(change)

        def is_late(change: Change) -> bool:
            alone = cast(int, change.row.time) + self.gap + self.query.lateness <= before
            if change.gone and change.identity in came:
                return is_late(came[change.identity])
            if change.gone:
                return change.identity in self.out or (alone and not self._is_held(change, before))
            replaced = withdrawn[change.pair]
            if any(is_late(one) for one in replaced):
                return True
            return alone and not any(
                (one.row.key, one.row.time) == (change.row.key, change.row.time) for one in replaced
            )

        timely = []
        for change in changes:
            if is_late(change):
                time = cast(int, change.row.time)
                self.late.append(LateRow(change.row, time, time + self.gap, "LATE", 0))
                self.out |= set() if change.gone else {change.identity}
            else:
                timely.append(change)
                self.held += cast(int, change.row.time) + self.gap + self.query.lateness <= before
        return timely

    def _is_held(self, change: Change, before: Time) -> bool:
        """Say whether the window that holds the row has state: for one gap longer than it takes rows."""
        return any(
            change.identity in kin.rows and kin.end + self.query.lateness + self.gap > before for kin in self.kin
        )

    # ------------------------------------------------------------ sessions

    def _unite(self, changes: Sequence[Change], before: Time) -> None:
        pieces: dict[Any, list[tuple[Time, Time, Change | Kin]]] = defaultdict(list)
        for change in changes:
            time = cast(int, change.row.time)
            pieces[change.row.key].append((time, time + self.gap, change))
        for kin in self.kin:
            if kin.key in pieces:
                pieces[kin.key].append((kin.start, kin.end, kin))
        for key, group in pieces.items():
            for start, end, members in _clusters(group):
                new = [member for member in members if isinstance(member, Change)]
                if new:
                    old = [member for member in members if isinstance(member, Kin)]
                    self.kin = [kin for kin in self.kin if not any(kin is one for one in old)]
                    self.kin += self._merged(key, start, end, new, old, before)

    def _merged(
        self, key: Any, start: Time, end: Time, new: Sequence[Change], old: Sequence[Kin], before: Time
    ) -> list[Kin]:
        triggers = [kin.trigger for kin in old if not kin.end <= before < end]
        trigger = triggers[0] if triggers else grow(self.query.trigger)
        trigger.join(triggers[1:])
        rows = {identity: row for kin in old for identity, row in kin.rows.items()}
        rows |= {change.identity: change.row for change in new if not change.gone}
        for change in new:
            if change.gone:
                del rows[change.identity]
        fresh = [row for kin in old for row in kin.fresh] + [change.row for change in new]
        stood = [(pane.start, pane.end, pane) for kin in old for pane in kin.standing]
        apart = list(_clusters([*self._sessions(rows), *stood]))
        if not apart:
            return [Kin(key, start, end, trigger, {}, fresh)]
        return [
            Kin(
                key, first, last, deepcopy(trigger),
                {name: row for part in parts if isinstance(part, dict) for name, row in part.items()},
                list(fresh), [part for part in parts if isinstance(part, Pane)],
            )
            for first, last, parts in apart
        ]  # fmt: skip

    def _sessions(self, rows: dict[Hashable, Row]) -> list[tuple[Time, Time, dict[Hashable, Row]]]:
        each = [(row.time, row.time + self.gap, name) for name, row in rows.items()]  # type: ignore[operator]
        return [(start, end, {n: rows[n] for n in names}) for start, end, names in _clusters(each)]  # type: ignore[arg-type]

    # ------------------------------------------------------------ triggers, closing, panes

    def _look_at(self, kin: Kin, before: Time, after: Time) -> None:
        pieces = []
        for start, end, rows in self._sessions(kin.rows) or [(kin.start, kin.end, {})]:
            piece = Kin(kin.key, start, end, deepcopy(kin.trigger), rows, kin.fresh)
            look = Look(kin.fresh, list(rows.values()), end, after, 0)
            fires = bool(kin.fresh or before < end <= after) and piece.trigger.ready(look)
            if fires and piece.trigger.fire(look):
                piece.trigger.restart()
            pieces.append((piece, fires, bool(kin.fresh) and (fires or end + self.query.lateness <= after)))
        if not any(emits for _, _, emits in pieces):
            if len(pieces) == 1:
                kin.trigger = pieces[0][0].trigger
            assert len(pieces) == 1 or not any(fires for _, fires, _ in pieces)
            return
        if self.query.mode == "RETRACTING":
            self.panes += [replace(pane, change="delete", step=self.steps) for pane in kin.standing]
        self.kin = [one for one in self.kin if one is not kin]
        self.apart += bool(kin.standing) and not pieces[0][2]
        for piece, _, emits in pieces:
            if emits:
                self._emit(piece, before, after)
            self.kin.append(piece)

    def _emit(self, piece: Kin, before: Time, after: Time) -> None:
        content = list(piece.rows.values())
        timing: Any = "EARLY" if after < piece.end else "ON_TIME" if before < piece.end else "LATE"
        values = tuple(AGGREGATES[name](content) for name in self.query.select)
        if content and (self.query.having is None or self.query.having.holds(content)):
            pane = Pane("insert", piece.key, piece.start, piece.end, values, timing, 0, 0, after, self.steps)
            piece.standing = [pane]
            self.panes.append(pane)
        piece.fresh = []


# ---------------------------------------------------------------- random programs


@dataclass(frozen=True)
class Edit:
    """What is added to what is known of an ``id``: it shows while what ``gone`` adds up to is 0."""

    scenario: int
    id: int
    at: int
    v: int
    gone: int


@dataclass(frozen=True)
class EditedProgram:
    """A table of sessions over one of edited rows.

    Attributes:
        steps: edits, and where the watermark is after them.
        reads: per step, whether the table of sessions reads what has come so far.
    """

    query: Query
    steps: tuple[tuple[tuple[Edit, ...], int], ...]
    reads: tuple[bool, ...]

    def statements(self, name: str, folder: str) -> list[str]:
        """Return how the tables are made: the edited rows ``<name>_rows``, and ``<name>``."""
        query = self.query
        listed = ", ".join(f"{CALLS[one].format(v='v')} AS {ALIASES[one]}" for one in query.select)
        having = f" HAVING {condition_sql(query.having)}" if query.having else ""
        return [
            f"CREATE STREAM {name}_edits (scenario INT, id INT, at BIGINT, v INT, gone INT, tick TIMESTAMP) USING json"
            f" OPTIONS (path '{folder}') WATERMARK tick DELAY OF INTERVAL 0 SECONDS",
            f"CREATE STREAMING TABLE {name}_rows AS SELECT scenario, id, timestamp_micros(sum(at)) AS event_time,"
            f" sum(v) AS v FROM STREAM {name}_edits GROUP BY scenario, id HAVING sum(gone) = 0"
            " TRIGGER EVERY ROW RETRACTING",
            f"CREATE STREAMING TABLE {name} AS SELECT scenario, {listed}, window_start, window_end"
            f" FROM STREAM {name}_rows GROUP BY scenario{having} {window_sql(query.window)}"
            f" TRIGGER {trigger_sql(query.trigger)} {query.mode} ALLOWED LATENESS {interval(query.lateness)}",
        ]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the aggregates' columns."""
        return tuple(ALIASES[one] for one in self.query.select)

    def file(self, step: int) -> str:
        """Return the edits of a step as JSON; one is of no scenario, so that every step brings a row."""
        edits, tick = self.steps[step]
        always = Edit(-1, step, EVENTS + DAY + 1000 * SECOND * step, 1, 0)
        lines = ({**vars(edit), "tick": iso(tick)} for edit in (*edits, always))
        return "".join(json.dumps(line) + "\n" for line in lines)

    def changes(self) -> list[list[Change]]:
        """Return what each step changes of the edited rows."""
        known: dict[tuple[int, int], list[int]] = {}
        shown: dict[tuple[int, int], tuple[Hashable, Row]] = {}
        found = []
        for step, (edits, _) in enumerate(self.steps):
            for edit in edits:
                sums = known.setdefault((edit.scenario, edit.id), [0, 0, 0])
                known[edit.scenario, edit.id] = [sums[0] + edit.at, sums[1] + edit.v, sums[2] + edit.gone]
            changes = []
            for name in dict.fromkeys((edit.scenario, edit.id) for edit in edits):
                at, value, gone = known[name]
                if name in shown:
                    identity, row = shown.pop(name)
                    changes.append(Change(True, identity, (name, step), row))
                if gone == 0:
                    row = Row(name[0], at, value, 0, name[1])
                    shown[name] = (name, step), row
                    changes.append(Change(False, (name, step), (name, step), row))
            found.append(changes)
        return found


def edited_program(seed: int, scenarios: int, triggers: Sequence[Trigger] = ()) -> EditedProgram:
    """Return random program number ``seed``, under EVERY ROW, or under one of the triggers; then more falls apart."""
    random = Random(f"edited {seed}")
    trigger = random.choice(list(triggers)) if triggers else Every(rows=1)
    gap = random.choice([10, 15]) * SECOND
    lateness: Time = random.choice([5 * SECOND, 10 * SECOND, DAY] if triggers else [0, 0, 5 * SECOND, 10 * SECOND, DAY])
    mode: Mode = random.choice(["RETRACTING", "RETRACTING", "ACCUMULATING"])
    having = Condition("count", "<", 5) if random.random() < 0.2 else None
    query = Query(Sessions(gap), trigger, mode=mode, lateness=lateness, having=having, select=("count", "sum", "max"))
    known: dict[tuple[int, int], list[int]] = {}
    tick, steps = 10, []
    for step in range(6):
        edits = []
        for scenario in range(scenarios):
            if triggers and step == 0:  # one long session, for most gaps
                edits += [_edit(random, (scenario, id), known, 5 * id) for id in range(1, 9)]
                continue
            some = random.randint(3, 7) if step == 0 else random.choice([0, 1, 1, 2, 3])
            for _ in range(some):
                name = scenario, random.randint(1, 8)
                edits.append(_edit(random, name, known, 5 * random.randint(0, 8 + step), bool(triggers) and step == 1))
        steps.append((tuple(edits), EVENTS + tick * SECOND))
        tick += random.choice([0, 0, 5] if triggers else [0, 5, 5, 10, 15])
    reads = tuple(random.random() < 0.7 for _ in steps[:-1])
    return EditedProgram(query, tuple(steps), (*reads, True))


def _edit(
    random: Random, name: tuple[int, int], known: dict[tuple[int, int], list[int]], at: int, going: bool = False
) -> Edit:
    if name not in known:
        edit = Edit(*name, EVENTS + at * SECOND, random.randint(0, 4), 0)
    elif known[name][2]:
        edit = Edit(*name, 0, 0, -1)
    else:
        other = Edit(*name, 0, random.randint(1, 5), 0)
        moved = Edit(*name, 5 * SECOND * random.choice([-2, -1, 1, 2]), 1, 0)
        gone = Edit(*name, 0, 0, 1)
        edit = gone if going else random.choice([gone, gone, other, other, moved])
    sums = known.setdefault(name, [0, 0, 0])
    known[name] = [sums[0] + edit.at, sums[1] + edit.v, sums[2] + edit.gone]
    return edit


APART: tuple[Trigger, ...] = (
    AtWatermark(Every(rows=3), Every(rows=1)),
    AtWatermark(Every(rows=2), Every(rows=2)),
    AtWatermark(),
    When(Condition("sum", ">=", 10)),
    When(Condition("sum", ">=", 10)),
    AtWatermark(When(Condition("sum", ">=", 8)), Every(rows=1)),
    Or([When(Condition("max", ">", 6)), AtWatermark()]),
)
"""Triggers under which one part of what was a session fires and another one does not."""
