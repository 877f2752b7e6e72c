"""The model against the paper, against hand-made transcripts, against the batch answer, and at its corners.

``[point n]``: of ``tests/checklist.md``.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.oracle.batch import batch_answer, broken_prefixes
from tests.oracle.harness import Rig
from tests.oracle.model import (
    BEGIN,
    DAY,
    END,
    SECOND,
    After,
    And,
    AtWatermark,
    Every,
    Fixed,
    Global,
    LateRow,
    Model,
    Never,
    Or,
    Pane,
    Query,
    Repeat,
    Replay,
    Row,
    Sessions,
    Sliding,
    Then,
    Time,
    Trigger,
    replay,
)
from tests.oracle.outcome import Outcome, broken_promises, differences, of_model
from tests.oracle.programs import Level, only, random_program, random_wide_program, shrink
from tests.oracle.text import Program, read, script

TESTS = Path(__file__).parents[1]
SCRIPTS = [*sorted((TESTS / "sql" / "figures").glob("*.sql")), *sorted((TESTS / "transcripts").glob("*.sql"))]
LEVELS: tuple[Level, ...] = ("main", "full")


def seeds(count: int) -> range:
    """Return the seeds of ``count`` random programs; of a fifth of them unless ``ORACLE_ALL=1``."""
    return range(count if os.environ.get("ORACLE_ALL") else count // 5)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_script(path: Path) -> None:
    """The figures 6 to 14, their variations, and the transcripts: every pane, in order, as the file promises."""
    program = read(path.read_text(), TESTS / "data")
    assert not broken_promises(program.expected, of_model(program))


def test_a_wrong_promise_is_noticed() -> None:
    path = TESTS / "sql" / "figures" / "figure_12.sql"
    for wrong in (("--   14 ", "--   15 "), ("LATE    | 1", "LATE    | 0"), ("12:07:30", "12:07:31")):
        program = read(path.read_text().replace(*wrong), TESTS / "data")
        assert broken_promises(program.expected, of_model(program))
    without = [line for line in path.read_text().splitlines() if "12:09:20" not in line]
    program = read("\n".join(without), TESTS / "data")
    assert broken_promises(program.expected, of_model(program)) != []


# ---------------------------------------------------------------- laws over random programs


def _rows(program: Program) -> tuple[Row, ...]:
    return program.source.rows if program.keyed else tuple(replace(row, key=None) for row in program.source.rows)


def _final(model: Model) -> dict[Any, Any]:
    return {(pane.key, pane.start, pane.end): pane.values for pane in model.table()}


@pytest.mark.parametrize("level", LEVELS)
def test_drained_table_is_the_batch_answer(level: Level) -> None:
    """After DRAIN ``t`` is the batch query over all rows that were not late, whatever the trigger."""
    for seed in seeds(1500):
        program = replace(random_program(seed, level), drain=True)
        if program.query.mode == "DISCARDING":
            program = replace(program, query=replace(program.query, mode="ACCUMULATING"))
        model = program.run()
        assert _final(model) == batch_answer(program.query, _rows(program), model.late), seed


def test_discarding_panes_add_up() -> None:
    for seed in seeds(1500):
        program = random_program(seed, "full")
        query = replace(program.query, mode="DISCARDING", having=None, window=Fixed(10 * SECOND))
        program = replace(program, query=query, drain=True)
        model = program.run()
        total: dict[Any, int] = defaultdict(int)
        for pane in model.panes:
            total[pane.key, pane.start, pane.end] += pane.values[0]
        wanted = batch_answer(query, _rows(program), model.late)
        assert total == {name: values[0] for name, values in wanted.items()}, seed


def test_withdrawals_cancel_what_stood() -> None:
    """Under RETRACTING the panes net to ``t``, at no time below nothing, and each withdrawal repeats its pane."""
    for seed in seeds(1500):
        program = random_program(seed, "full")
        program = replace(program, query=replace(program.query, mode="RETRACTING"))
        model = program.run()
        net: Counter[Any] = Counter()
        for pane in model.panes:
            net[_identity(pane)] += 1 if pane.change == "insert" else -1
            assert net[_identity(pane)] in (0, 1), seed
        assert +net == Counter(_identity(pane) for pane in model.table()), seed


def _identity(pane: Pane) -> tuple[Any, ...]:
    return (pane.key, pane.start, pane.end, pane.values, pane.timing, pane.index)


def test_finals_do_not_depend_on_steps() -> None:
    """With nothing late, arrival order and step cuts do not change the drained table."""
    for seed in seeds(500):
        random = Random(seed)
        program = random_program(seed, "full")
        query = replace(program.query, lateness=END, once=False, mode="ACCUMULATING")
        rows, arrivals = _rows(program), [row.arrival for row in program.source.rows]
        finals = []
        for step in (None, 10 * SECOND):
            random.shuffle(arrivals)
            shuffled = tuple(replace(row, arrival=at) for row, at in zip(rows, arrivals, strict=True))
            finals.append(_final(replay(query, replace(program.source, rows=shuffled, step=step), drain=True)))
        assert finals[0] == finals[1], seed


@pytest.mark.parametrize("level", LEVELS)
def test_order_of_rows_in_a_step_is_nothing(level: Level) -> None:
    for seed in seeds(500):
        program = random_program(seed, level)
        backwards = replace(program.source, rows=tuple(reversed(program.source.rows)))
        assert not differences(of_model(program), of_model(replace(program, source=backwards))), seed


def test_idle_steps_change_nothing() -> None:
    """Looking more often than needed shows nothing new (but that DRAIN has the last step's clock)."""
    for seed in seeds(1500):
        program = replace(random_program(seed, "full"), drain=False)
        if not isinstance(program.source.watermark, tuple):
            continue
        moves = program.source.watermark
        times = [at + number * SECOND for number in (1, 3, 7, 30) for at, _ in moves]
        idle = tuple((at, int(program.source.watermark_at(at))) for at in times)
        busy = replace(program, source=replace(program.source, watermark=(*moves, *idle)))
        assert not differences(of_model(program), of_model(busy)), seed


class Forgetful(Model):
    """A model that drops a window when its lateness ends, a session one GAP later, with all it knew of it."""

    def step(self, rows: Sequence[Row], clock: Time, watermark: Time = BEGIN, drain: bool = False) -> None:
        super().step(rows, clock, watermark, drain)
        gap = self.query.window.gap or 0 if isinstance(self.query.window, Sessions) else 0
        for window in list(self.windows):
            if window.end + self.query.lateness + gap <= self.watermark:
                self.windows.remove(window)
                self._emitted.pop((window.key, window.start, window.end), None)


def test_forgetting_cannot_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """State may be dropped exactly when the language says: panes and late rows stay what they are."""
    seen = 0
    for seed in seeds(3000):
        program = random_program(seed, LEVELS[seed % 2])
        if program.query.window == Sessions(None):
            continue  # one GAP later is not enough where every row has its own, see the next test
        model = program.run()
        with monkeypatch.context() as patch:
            patch.setattr("tests.oracle.model.Model", Forgetful)
            other = program.run()
        seen += len(other.windows) < len(model.windows)
        assert (other.panes, other.late) == (model.panes, model.late), seed
    assert seen > len(seeds(500))


def test_rows_lie_within_their_windows() -> None:
    """No row is stamped with an end (its output's time) that is not after its own time. [point 10]"""
    for seed in seeds(300):
        for window in random_program(seed, "full").run().windows:
            times = [row.time for row in window.rows if row.time is not None]
            assert all(window.start <= time < window.end for time in times), seed


def test_the_default_trigger_is_at_watermark_repeated() -> None:
    """Without TRIGGER is AT WATERMARK is REPEAT AT WATERMARK. [point 14]"""
    for seed in seeds(300):
        program = random_program(seed, "full")
        default = replace(Query(), **{**vars(program.query), "trigger": Query().trigger, "once": False})
        repeated = replace(default, trigger=Repeat(AtWatermark()))
        outcomes = [of_model(replace(program, query=query)) for query in (default, repeated)]
        assert not differences(*outcomes), seed
        text = script(replace(program, query=default)).replace("TRIGGER AT WATERMARK\n", "")
        assert not differences(outcomes[0], of_model(read(text))), seed


def test_engines_of_the_figures_end_alike() -> None:
    """Batch, micro-batch and streaming, early panes or not: the final values are one set. [point 39]"""
    finals = []
    for number in (10, 11, 12, 13):
        program = read((TESTS / "sql" / "figures" / f"figure_{number}.sql").read_text(), TESTS / "data")
        finals.append(sorted(values for (_, _, _), values in _final(program.run()).items()))
    assert finals == [[(3,), (12,), (14,), (22,)]] * 4


def test_sql_text_round_trip() -> None:
    """What is printed is read back as the same program."""
    for seed in seeds(500):
        program = random_program(seed, LEVELS[seed % 2])
        again = read(script(program))
        assert (again.query, again.drain, again.keyed) == (program.query, program.drain, program.keyed)
        assert not differences(of_model(program), of_model(again)), seed


def test_a_scenario_of_a_wide_program_is_a_program() -> None:
    """It has the panes that it had among the others, and late rows, whenever its steps can be told by a watermark."""
    compared = 0
    for seed in range(40):
        wide = random_wide_program(seed, 5)
        if isinstance(wide.source.watermark, str):
            continue
        together = of_model(wide)
        for scenario in range(5):
            alone = of_model(only(wide, scenario))
            for name in ("panes", "late", "bad"):
                mine = [line for line in getattr(together, name) if line["scenario"] == str(scenario)]
                assert _apart(mine) == _apart(getattr(alone, name)), (seed, scenario)
                compared += len(mine)
    assert compared > 1000


def _apart(lines: Sequence[dict[str, str]]) -> Counter[Any]:
    """Return lines without what numbers them among others: scenario, step, and DRAIN's clock."""
    left_out = (
        ("scenario", "step", "emitted_at")
        if any(line.get("watermark") == "end" for line in lines)
        else ("scenario", "step")
    )
    return Counter(tuple(sorted((name, line[name]) for name in line if name not in left_out)) for line in lines)


def test_every_pane_is_the_batch_answer_so_far() -> None:
    """The panes of a window say, at every step, what a batch over the rows so far would. [points 26, 27]"""
    for seed in seeds(600):
        program = random_program(seed, LEVELS[seed % 2])
        assert not broken_prefixes(program, of_model(program)), seed


def test_a_pane_that_is_not_the_batch_answer_is_noticed() -> None:
    """A wrong value, a row counted twice, a late row that counted: each is told."""
    noticed: Counter[str] = Counter()
    for seed in range(300):
        program = random_program(seed, "full")
        if program.query.having is not None and program.query.mode == "DISCARDING":
            continue
        right = of_model(program)
        if right.panes:
            wrong = [{**right.panes[0], "n": str(int(right.panes[0]["n"]) + 1)}, *right.panes[1:]]
            assert broken_prefixes(program, replace(right, panes=wrong)), seed
            noticed["value"] += 1
        twice = replace(program, source=replace(program.source, rows=(*program.source.rows, *program.source.rows)))
        noticed["twice"] += bool(broken_prefixes(program, of_model(twice)))
        if right.late:
            noticed["late"] += bool(broken_prefixes(program, replace(right, late=[])))
    assert min(noticed[kind] for kind in ("value", "twice", "late")) > 10


def test_shrinker_keeps_the_failure_and_drops_the_rest() -> None:
    program = next(p for p in (random_program(seed, "full") for seed in range(100)) if p.run().late)
    small = shrink(program, lambda one: bool(one.run().late))
    assert small.run().late
    assert len(small.source.rows) <= 3


class Forgets(Rig):
    """An engine that is the model, but for the panes of NULL keys, which it never shows."""

    def outcome(self, program: Program) -> Outcome:
        found = of_model(program)
        return replace(found, panes=[line for line in found.panes if line.get("k") != "NULL"])


def test_a_failure_of_a_wide_program_is_reported_as_one_scenario(tmp_path: Path) -> None:
    """The report is a runnable SQL file of a row or two, with what went wrong above it."""
    rig = Forgets(None, tmp_path)
    wide = next(w for w in (random_wide_program(seed, 5) for seed in range(40)) if rig.check(w))
    report = rig.report(wide, rig.check(wide), tries=200)
    assert "missing" in report
    assert "scenario" not in report.split("-- file")[1]
    small = read(report)
    assert len(small.source.rows) <= 2
    assert rig.check(small)


# ---------------------------------------------------------------- corners, one rule each


def _row(time: float | None, arrival: int = 0, value: int = 1, key: Any = "a") -> Row:
    return Row(key, None if time is None else int(time * SECOND), value, arrival * SECOND)


def _at(*steps: tuple[Sequence[float], float], query: Query) -> Model:
    """Run steps of (event times in seconds, watermark after in seconds); the clock is the step's number."""
    model = Model(query)
    for number, (times, watermark) in enumerate(steps):
        model.step([_row(time, number) for time in times], number * SECOND, watermark * SECOND)
    return model


def _brief(model: Model) -> list[tuple[int, float, float, int, str]]:
    """Return (step, start, end, rows, timing) of each pane."""
    return [(p.step, p.start / SECOND, p.end / SECOND, p.values[0], p.timing) for p in model.panes]


SESSIONS = Sessions(10 * SECOND)


def test_session_membership_ignores_arrival_order() -> None:
    """All orders of five rows, alone or in pairs, end in the same sessions; exact gaps among them. [point 9]"""
    rows = [_row(time) for time in (0, 9, 19, 29, 38)]
    wanted = {("a", 0, 19 * SECOND), ("a", 19 * SECOND, 29 * SECOND), ("a", 29 * SECOND, 48 * SECOND)}
    for order in permutations(rows):
        for size in (1, 2, 5):
            model = Model(Query(SESSIONS, lateness=END))
            for start in range(0, 5, size):
                model.step(order[start : start + size], start * SECOND, 0)
            model.step([], 9 * SECOND, END, drain=True)
            assert _final(model).keys() == wanted


def test_paper_sessions_in_any_order() -> None:
    """Any arrival order of the paper's rows gives the sessions 39 and 12. [point 9]"""
    program = read((TESTS / "sql" / "figures" / "sessions_batch.sql").read_text(), TESTS / "data")
    random = Random(0)
    arrivals = [row.arrival for row in program.source.rows]
    for _ in range(300):
        random.shuffle(arrivals)
        rows = tuple(replace(row, arrival=at) for row, at in zip(program.source.rows, arrivals, strict=True))
        assert sorted(_final(replay(program.query, Replay(rows), drain=True)).values()) == [(12,), (39,)]


def test_figure_4_sessions() -> None:
    """Four rows of two keys, 30 minutes apart or not; the out-of-order row merges, and per key only. [points 5, 6]"""
    minute = 60
    rows = [_row(2 * minute, 0, 1, "k1"), _row(14 * minute, 0, 2, "k2"), _row(57 * minute, 0, 3, "k1")]
    rows.append(_row(20 * minute, 0, 4, "k1"))
    for order in permutations(rows):
        model = replay(Query(Sessions(30 * minute * SECOND)), Replay(order), drain=True)
        bounds = {
            (key, start // SECOND // minute, end // SECOND // minute): v
            for (key, start, end), v in _final(model).items()
        }
        assert bounds == {("k1", 2, 50): (2, 5), ("k1", 57, 87): (1, 3), ("k2", 14, 44): (1, 2)}


def test_windows_are_half_open() -> None:
    """A row on a window's end is in the next one; before 1970 too. [points 2, 3, 4]"""
    assert Fixed(10).assign(replace(_row(0), time=10)) == [(10, 20)]
    assert Fixed(10).assign(replace(_row(0), time=-1)) == [(-10, 0)]
    assert Fixed(10, 3).assign(replace(_row(0), time=12)) == [(3, 13)]
    assert Sliding(20, 10).assign(replace(_row(0), time=10)) == [(-0, 20), (10, 30)]
    assert Sliding(20, 7).assign(replace(_row(0), time=20)) == [(7, 27), (14, 34)]
    assert Sliding(20, 20).assign(_row(1)) == Fixed(20).assign(_row(1))


def test_late_is_at_or_below_the_watermark_before_the_step() -> None:
    query = Query(Fixed(10 * SECOND), lateness=5 * SECOND)
    in_time = _at(([1], 0), ([], 14.999999), ([2], 14.999999), query=query)
    assert _brief(in_time) == [(1, 0, 10, 1, "ON_TIME"), (2, 0, 10, 2, "LATE")]
    late = _at(([1], 0), ([], 15), ([2], 15), query=query)
    assert [one.why for one in late.late] == ["LATE"]
    same_step = _at(([1], 0), ([2], 15), query=query)
    assert _brief(same_step) == [(1, 0, 10, 2, "ON_TIME")]


def test_session_in_time_by_its_own_window_joins_a_closed_one() -> None:
    """A row that is not late finds a session that closed less than one GAP ago, and opens it again."""
    query = Query(SESSIONS, lateness=0)
    model = _at(([0, 4], 0), ([], 14), ([5], 14), ([], 15), query=query)
    assert _brief(model) == [(1, 0, 14, 2, "ON_TIME"), (3, 0, 15, 3, "ON_TIME")]
    assert _final(model).keys() == {("a", 0, 15 * SECOND)}
    assert _at(([0, 4], 0), ([], 14), ([4], 14), query=query).late[0].end == 14 * SECOND


def test_bridging_row_may_reach_over_a_closed_session_to_a_live_one() -> None:
    query = Query(SESSIONS, lateness=0, mode="RETRACTING")
    model = _at(([0, 4], 0), ([15], 14), ([6], 14), ([], 25), query=query)
    assert [(p.change, p.step, p.end // SECOND) for p in model.panes] == [
        ("insert", 1, 14),
        ("delete", 3, 14),
        ("insert", 3, 25),
    ]


def test_growth_beyond_the_watermark_is_early_again_growth_below_it_is_not() -> None:
    """What a session's trigger had reached counts only if the merged session ends at or below the watermark."""
    trigger = AtWatermark(Every(rows=2), Every(rows=1))
    beyond = _at(([0], 0), ([], 12), ([5], 12), ([6], 12), query=Query(SESSIONS, trigger))
    assert _brief(beyond) == [(1, 0, 10, 1, "ON_TIME"), (3, 0, 16, 3, "EARLY")]
    below = _at(([0], 0), ([], 20), ([5], 20), query=Query(SESSIONS, trigger))
    assert _brief(below) == [(1, 0, 10, 1, "ON_TIME"), (2, 0, 15, 2, "LATE")]
    up_to = _at(([0], 0), ([], 15), ([5], 15), query=Query(SESSIONS, trigger))
    assert _brief(up_to) == [(1, 0, 10, 1, "ON_TIME"), (2, 0, 15, 2, "LATE")]


def test_growth_and_watermark_in_one_step() -> None:
    """Rows come before the watermark: the session grows beyond it, is early again, and on time at once."""
    trigger = AtWatermark(Every(rows=9), Every(rows=9))
    model = _at(([0], 0), ([], 12), ([5], 15), query=Query(SESSIONS, trigger))
    assert _brief(model) == [(1, 0, 10, 1, "ON_TIME"), (2, 0, 15, 2, "ON_TIME")]


def test_passed_session_has_no_say_but_gives_its_rows_and_panes() -> None:
    """A late session not yet emitted is taken in by a live one: its pending rows count there."""
    trigger = AtWatermark(Every(rows=3), Every(rows=9))
    query = Query(SESSIONS, trigger, mode="RETRACTING")
    model = _at(([0], 0), ([], 12), ([0], 12), ([15], 12), ([8], 12), query=query)
    # [0,10) passed and holds one late row; [15,25) is early with one; the bridge makes three new rows.
    assert [(p.change, p.step, p.end // SECOND, p.values[0]) for p in model.panes] == [
        ("insert", 1, 10, 1),
        ("delete", 4, 10, 1),
        ("insert", 4, 25, 4),
    ]


def test_merge_of_nested_thens_follows_the_least_advanced_outer_one() -> None:
    """The inner position of a session whose outer THEN is further on does not count."""
    trigger = Then([Then([After(rows=1), After(rows=1), After(rows=4)]), Then([After(rows=1), After(rows=5)])])
    # One session goes to outer 0, inner 2; the other through all of outer 0 to outer 1, inner 0.
    steps = [([0], 0), ([1], 0), ([20], 0), ([21], 0), ([22, 22, 22, 22], 0)]
    query = Query(SESSIONS, trigger)
    model = _at(*steps, ([10], 0), query=query)  # 10 touches [20, …) not, [0,11) yes: extends it to [0,20)
    assert [p.step for p in model.panes] == [0, 1, 2, 3, 4]
    merged = _at(*steps, ([10, 10, 11], 0), query=query)
    (window,) = merged.windows
    assert isinstance(window.trigger, Then)
    assert window.trigger.active == 0
    inner = window.trigger.parts[0]
    assert isinstance(inner, Then)
    assert inner.active == 2  # not 0, which is the inner position of the more advanced session
    assert _at(*steps, ([10, 10, 11, 12], 0), query=query).panes[-1].step == 5


def test_every_interval_counts_from_the_first_row_of_the_pane() -> None:
    query = Query(Global(), Every(interval=10 * SECOND))
    rows = [_row(0, 10), _row(0, 11), _row(0, 25), _row(0, 30)]
    model = replay(query, Replay(tuple(rows)))
    assert [(p.emitted_at // SECOND, p.values[0]) for p in model.panes] == [(10, 1), (20, 2), (30, 4)]


def test_due_interval_waits_for_the_other_part_of_and() -> None:
    """ "Stays due until the next pane": the interval ran out before the second row came."""
    query = Query(Global(), And([Every(interval=10 * SECOND), Every(rows=2)]))
    model = replay(query, Replay((_row(0, 1), _row(0, 33))))
    assert [p.emitted_at // SECOND for p in model.panes] == [33]


def test_counts_run_from_the_last_pane_whichever_unit_emitted_it() -> None:
    """UNTIL five rows never comes true when every second row makes a pane."""
    query = Query(Global(), Then([Repeat(Every(rows=2), After(rows=5)), Never()]))
    model = _at(*[([0], 0)] * 9, query=query)
    assert [p.step for p in model.panes] == [1, 3, 5, 7]
    together = _at(([0], 0), ([0] * 4, 0), ([0] * 9, 0), query=query)
    assert [p.step for p in together.panes] == [1]


def test_or_is_finished_when_the_part_that_fired_is() -> None:
    """EVERY never finishes an OR, AFTER does; then the OR's THEN starts again from its first part."""
    then: Trigger = Then([After(rows=1), After(rows=3)])
    goes_on = Query(Global(), Or([then, Every(rows=2)]))
    model = _at(([0], 0), ([0], 0), ([0], 0), ([0], 0), query=goes_on)
    assert [p.step for p in model.panes] == [0, 2]  # part two of THEN and EVERY 2 ROWS from here on
    restarts = Query(Global(), Or([then, After(rows=2)]))
    model = _at(([0], 0), ([0], 0), ([0], 0), ([0], 0), query=restarts)
    assert [p.step for p in model.panes] == [0, 2, 3]  # AFTER finished the OR, so AFTER 1 ROWS is first again


def test_silent_firing_only_where_the_watermark_reaches_the_end() -> None:
    """There alone a firing with nothing new moves the trigger on; an idle step later does not."""
    trigger = Then([Every(rows=1), AtWatermark()])  # EVERY never finishes: THEN stays
    stays = _at(([1], 0), ([], 10), ([2], 10), query=Query(Fixed(10 * SECOND), trigger))
    assert [p.step for p in stays.panes] == [0, 2]
    moved = Then([AtWatermark(), After(rows=2)])
    model = _at(([1], 10), ([2], 10), ([3], 10), query=Query(Fixed(10 * SECOND), moved))
    assert [p.step for p in model.panes] == [0, 2]
    once = Query(Fixed(10 * SECOND), AtWatermark(Every(rows=1)), once=True)
    silent = _at(([1], 0), ([], 10), ([2], 10), query=once)
    assert [p.step for p in silent.panes] == [0]
    assert [late.why for late in silent.late] == ["FINISHED"]


def test_without_late_the_whole_trigger_repeats_at_each_late_row() -> None:
    query = Query(Fixed(10 * SECOND), AtWatermark(Every(rows=5)))
    model = _at(([1], 0), ([], 10), ([2], 10), ([3], 10), query=query)
    assert _brief(model) == [(1, 0, 10, 1, "ON_TIME"), (2, 0, 10, 2, "LATE"), (3, 0, 10, 3, "LATE")]


def test_closing_emits_leftovers_under_every_trigger() -> None:
    for seed in seeds(300):
        program = random_program(seed, "full")
        query = replace(program.query, window=Fixed(10 * SECOND), lateness=5 * SECOND, having=None)
        model = _at(([1], 0), ([], 10), ([], 15), query=query)
        assert sum(p.values[0] for p in model.panes) == (1 if query.mode != "RETRACTING" else len(model.panes))
        assert not any(window.fresh for window in model.windows)


def test_row_and_close_in_the_same_step_and_never() -> None:
    query = Query(Fixed(10 * SECOND), Never(), lateness=0)
    assert _brief(_at(([1], 10), query=query)) == [(0, 0, 10, 1, "ON_TIME")]


def test_unbounded_lateness_closes_only_at_drain() -> None:
    model = _at(([1], 0), ([2], 10**6), query=Query(Fixed(10 * SECOND), Never(), lateness=END))
    assert not model.panes
    model.step([], 5 * SECOND, drain=True)
    assert [(p.timing, p.watermark) for p in model.panes] == [("LATE", END)]
    model.step([_row(1)], 6 * SECOND)
    assert [late.why for late in model.late] == ["LATE"]


def test_global_window_is_on_time_at_drain_and_late_after() -> None:
    model = _at(([1, 2], 50), query=Query())
    assert not model.panes
    model.step([], 5 * SECOND, drain=True)
    assert _brief(model) == [(1, BEGIN, END, 2, "ON_TIME")]
    model.step([_row(1)], 6 * SECOND)
    assert len(model.late) == 1


def test_complete_fires_pending_windows_and_closes_none() -> None:
    """Micro-batches from the beginning to the end of time: always ON_TIME, nothing late, leftovers at DRAIN."""
    model = Model(Query(Fixed(10 * SECOND), Every(rows=2), lateness=0), complete=True)
    model.step([_row(1), _row(2), _row(11)], SECOND)
    model.step([_row(1)], 2 * SECOND)
    assert [p.timing for p in model.panes] == ["ON_TIME"]
    assert not model.late
    model.step([], 3 * SECOND, drain=True)
    assert [(p.timing, p.values[0]) for p in model.panes[1:]] == [("ON_TIME", 3), ("ON_TIME", 1)]


def test_finished_sessions() -> None:
    """Under ONCE: finished alone keeps new rows out; with an unfinished one it merges; beyond the watermark too."""
    query = Query(SESSIONS, After(rows=2), once=True)
    alone = _at(([0, 1], 0), ([5], 0), query=query)
    assert [(late.why, late.end // SECOND) for late in alone.late] == [("FINISHED", 15)]
    assert alone.windows[0].end == 11 * SECOND
    merged = _at(([0, 1], 0), ([15], 0), ([8], 0), query=query)
    assert [p.values[0] for p in merged.panes] == [2, 4]
    assert not merged.late
    beyond = _at(([0, 1], 0), ([], 11), ([5], 11), query=query)
    assert not beyond.late
    assert not beyond.windows[0].finished


def test_bad_rows_are_not_late_and_feed_no_watermark() -> None:
    rows = (_row(None, 0), _row(5, 0), _row(50, 1))
    model = replay(Query(Fixed(10 * SECOND)), Replay(rows, watermark=0))
    assert [row.time for row in model.bad] == [None]
    assert _brief(model) == [(1, 0, 10, 1, "ON_TIME")]
    assert replay(Query(), Replay(rows, watermark=0), drain=True).panes[0].values[0] == 3


def test_no_rows_no_panes() -> None:
    model = replay(Query(Fixed(10 * SECOND), lateness=DAY), Replay(()), drain=True)
    assert (model.panes, model.late, model.table()) == ([], [], [])


def test_watermark_never_goes_back() -> None:
    model = _at(([1], 20), ([2], 5), ([3], 5), query=Query(Fixed(10 * SECOND), lateness=5 * SECOND))
    assert model.watermark == 20 * SECOND
    assert [late.start for late in model.late] == [0, 0]


def test_late_row_says_where_and_when() -> None:
    model = _at(([1], 30), ([12], 30), query=Query(Sliding(20 * SECOND, 10 * SECOND), lateness=0))
    row = _row(12, 1)
    assert model.late == [
        LateRow(row, 0, 20 * SECOND, "LATE", SECOND),
        LateRow(row, 10 * SECOND, 30 * SECOND, "LATE", SECOND),
    ]
