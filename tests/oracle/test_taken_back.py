"""Sessions over rows that are edited and taken back, on the engine and on the model of ``taken_back``."""

from __future__ import annotations

import os
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest

from tests.oracle.harness import Rig
from tests.oracle.model import END, Pane
from tests.oracle.taken_back import APART, EditedProgram, TakenBack, edited_program

SCENARIOS = 40
SEED = int(os.environ.get("ORACLE_SEED", "3"))
MORE = int(os.environ.get("ORACLE_PROGRAMS", "40")) // SCENARIOS * (5 if os.environ.get("ORACLE_ALL") else 1)


class Run:
    """A program on the engine beside the model, step for step."""

    def __init__(self, rig: Rig, program: EditedProgram, name: str) -> None:
        self.rig, self.program, self.name = rig, program, name
        self.model, self.step = TakenBack(program.query), -1
        self.folder = rig.folder / name
        self.folder.mkdir(parents=True)

    def check(self) -> TakenBack:
        """Run all steps and hold panes, ``t`` and late rows to the model's; return the model."""
        waiting: list[Any] = []
        made = False
        for step, changes in enumerate(self.program.changes()):
            (self.folder / f"{step}.json").write_text(self.program.file(step))
            waiting += changes
            if step == 0:
                *inner, outer = self.program.statements(self.name, str(self.folder))
                for statement in inner:
                    self.rig.rows(statement)
            else:
                self.rig.rows(f"REFRESH STREAMING TABLE {self.name}_rows")
            if self.program.reads[step]:
                self.rig.rows(f"REFRESH STREAMING TABLE {self.name}" if made else outer)
                self.model.step(waiting, self.program.steps[step][1])
                waiting, made = [], True
                self._compare(f"step {step}")
        self._compare_late()
        self.rig.rows(f"DRAIN STREAMING TABLE {self.name}")
        self.model.step([], END)
        self._compare("DRAIN")
        return self.model

    def _compare(self, when: str) -> None:
        rows = self.rig.rows(f"SELECT * FROM panes('{self.name}') WHERE _step > {self.step} AND scenario >= 0")
        self.step = max([self.step, *(row["_step"] for row in rows)])
        found = Counter((row["_change_type"], *self._line(row), row["_pane_timing"]) for row in rows)
        last = self.model.steps - 1
        wanted = Counter((p.change, *_line(p), p.timing) for p in self.model.panes if p.step == last)
        assert (wanted - found, found - wanted) == (Counter(), Counter()), f"panes, {when}"
        table = [self._line(row) for row in self.rig.rows(f"SELECT * FROM {self.name} WHERE scenario >= 0")]
        assert sorted(table) == sorted(map(_line, self.model.table())), f"t, {when}"
        for one, other in pairwise(sorted(table, key=lambda line: (line[0], line[-2]))):
            assert one[0] != other[0] or one[-1] <= other[-2], f"both are in t, {when}"

    def _compare_late(self) -> None:
        sql = f"SELECT scenario, id, v, window_start, window_end FROM late_rows('{self.name}') WHERE scenario >= 0"
        found = Counter(tuple(row.values()) for row in self.rig.rows(sql))
        wanted = Counter(
            (late.row.key, late.row.number, late.row.value, late.start, late.end) for late in self.model.late
        )
        assert (wanted - found, found - wanted) == (Counter(), Counter()), "late"

    def _line(self, row: dict[str, Any]) -> tuple[Any, ...]:
        return row["scenario"], *(row[n] for n in self.program.names), row["window_start"], row["window_end"]


def _line(pane: Pane) -> tuple[Any, ...]:
    return pane.key, *pane.values, pane.start, pane.end


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(SEED, SEED + MORE))
def test_edited_rows(seed: int, rig: Rig) -> None:
    """Every change is judged with the session that holds its row, and each session is what its rows say."""
    Run(rig, edited_program(seed, SCENARIOS), f"edited_{seed}").check()


@pytest.mark.parametrize("seed", range(SEED, SEED + MORE))
@pytest.mark.soak
def test_what_falls_apart(seed: int, rig: Rig) -> None:
    """What stood of a session stays until a pane comes that overlaps it, whichever part of it that is of."""
    Run(rig, edited_program(seed, SCENARIOS, APART), f"apart_{seed}").check()


def test_random_programs_meet_what_they_are_about() -> None:
    """Rows that sessions alone keep in time, late ones, and parts of what stood as one that emit before the first."""
    met = [_modelled(edited_program(seed, SCENARIOS, under)) for seed in range(SEED, SEED + 5) for under in ((), APART)]
    assert sum(model.held for model in met) > 50
    assert sum(len(model.late) for model in met) > 50
    assert sum(model.apart for model in met) > 5


def _modelled(program: EditedProgram) -> TakenBack:
    model, waiting = TakenBack(program.query), []
    for changes, (_, tick), is_read in zip(program.changes(), program.steps, program.reads, strict=True):
        waiting += changes
        if is_read:
            model.step(waiting, tick)
            waiting = []
    return model
