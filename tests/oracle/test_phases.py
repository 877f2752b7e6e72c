"""What ``dataflow.phases`` promises of trigger trees, EXPLAIN's words rest on it, is what the model does."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.oracle.model import Model, Sessions, Then, Window
from tests.oracle.programs import random_program
from tests.oracle.text import trigger_sql
from warehouse.dataflow.custom import CustomTrigger
from warehouse.dataflow.phases import Chance, Phase, due, finished, turns
from warehouse.dataflow.triggers import Kind, Node, Own
from warehouse.errors import SourceText
from warehouse.language.parser import parse
from warehouse.language.statements import QueryStatement
from warehouse.planning.windows.windowing import Resolve, planned_trigger

PROGRAMS = 10 * int(os.environ.get("ORACLE_PROGRAMS", "60"))


def tree(trigger: str) -> Node:
    """Return the tree of a trigger in words of SQL."""
    text = f"SELECT count(*) FROM t WINDOW GLOBAL TRIGGER {trigger}"
    statement = parse(SourceText(text))
    assert isinstance(statement, QueryStatement)
    (block,) = statement.query.blocks
    assert block.clauses
    resolve = Resolve(lambda _: (Kind.WHEN_AGGREGATE, ""), lambda _: Own(CustomTrigger(), ()))
    return planned_trigger(text, block.clauses.trigger, resolve)


def test_no_and_sure_are_kept_by_every_step_of_random_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    root = Node(Kind.NEVER, 0)
    kept: Counter[tuple[Phase, bool, Chance, Chance]] = Counter()
    known: set[int] = set()
    look_at = Model._look_at

    def watched(model: Model, window: Window, before: float, after: float, clock: float, drain: bool) -> None:
        trigger, rows, over = window.trigger, bool(window.fresh), window.finished
        phase = Phase.EARLY if after < window.end else Phase.ON_TIME if before < window.end else Phase.LATE
        looked = not over and (rows or phase is Phase.ON_TIME)
        if looked and phase is Phase.ON_TIME:
            known.add(id(trigger))
        if looked and isinstance(trigger, Then):
            is_known = phase is Phase.LATE and id(trigger) in known and not isinstance(model.query.window, Sessions)
            assert trigger.active in turns(root, phase, is_known), root
        fired: list[bool] = []
        fire = type(trigger).fire

        def watched_fire(look: object) -> bool:
            fired.append(fire(trigger, look))  # type: ignore[arg-type]
            return fired[-1]

        trigger.fire = watched_fire  # type: ignore[method-assign]
        look_at(model, window, before, after, clock, drain)
        del trigger.fire
        if looked:
            promises = due(root, phase, rows), finished(root, phase, rows)
            for promise, happened in zip(promises, (bool(fired), fired == [True]), strict=True):
                assert promise is Chance.MAYBE or happened == (promise is Chance.SURE), (root, phase, rows)
            kept[(phase, rows, *promises)] += 1

    monkeypatch.setattr(Model, "_look_at", watched)
    for seed in range(PROGRAMS):
        known.clear()
        monkeypatch.setattr(Model, "_look_at", look_at)
        program = random_program(seed, "full")
        monkeypatch.setattr(Model, "_look_at", watched)
        if program.source.watermark != "complete":  # there every step is on time
            root = tree(trigger_sql(program.query.trigger))
            program.run()
    promised = {(phase, chance) for phase, _, *chances in kept for chance in chances}
    assert promised == {(phase, chance) for phase in Phase for chance in Chance}, "the programs reach everything"


@pytest.mark.parametrize(
    ("trigger", "early", "on_time", "late"),
    [
        ("AT WATERMARK", "NO", "SURE", "SURE"),
        ("AT WATERMARK PERCENTILE 99", "MAYBE", "SURE", "SURE"),
        ("AT WATERMARK EARLY EVERY ROW", "SURE", "SURE", "SURE"),
        ("AT WATERMARK LATE AFTER 10 ROWS", "NO", "SURE", "MAYBE"),
        ("AT WATERMARK AND AFTER 2 ROWS", "NO", "MAYBE", "MAYBE"),
        ("AT WATERMARK THEN NEVER", "NO", "SURE", "MAYBE"),
        ("AFTER 1 ROW THEN AFTER 1 ROW", "SURE", "SURE", "SURE"),
        ("NEVER OR EVERY INTERVAL 1 MINUTE", "MAYBE", "MAYBE", "MAYBE"),
    ],
)
def test_when_a_trigger_is_due(trigger: str, early: str, on_time: str, late: str) -> None:
    assert [due(tree(trigger), phase).name for phase in Phase] == [early, on_time, late]
