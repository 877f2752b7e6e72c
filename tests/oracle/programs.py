"""Random programs at a seed, and a shrinker that makes a failing one small.

    python -m tests.oracle.programs --seed 7 --level full        prints program 7 as a SQL file with its data
    python -m tests.oracle.programs --seed 7 --scenario 3        scenario 3 of wide program 7

A program draws where, when and how, then a handful of rows whose event times, gaps and sizes are multiples of
one grain, so that rows fall on window ends and sessions end exactly one gap apart all the time. Level ``main``
is the part of the algebra that the first streaming tables had (issue 3); ``full`` is all of it.

A *wide* program is many of them for the price of one: the statement, the instants of its steps and the
watermark are shared, and every scenario has rows of its own, in an order of arrival of its own, with NULLs of
its own, in groups of its own. ``only`` takes one of them out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Literal

from tests.oracle.model import (
    BEGIN,
    DAY,
    END,
    MINUTE,
    SECOND,
    After,
    And,
    AtWatermark,
    Condition,
    Every,
    Fixed,
    Global,
    Mode,
    Never,
    Or,
    Query,
    Repeat,
    Replay,
    Row,
    Sessions,
    Sliding,
    Then,
    Trigger,
    When,
    WindowSpec,
)
from tests.oracle.text import ALIASES, Program, micros, script

Level = Literal["main", "full"]
GRAIN = 5 * SECOND
EVENTS = micros("12:00:00")
ARRIVALS = micros("12:05:00")
MOST_ROWS = 40
MOST_STEPS = 7
MOST_WIDE_STEPS = 8
SCENARIOS = 50
MODES: tuple[Mode, ...] = ("DISCARDING", "ACCUMULATING", "RETRACTING", "RETRACTING")

# ---------------------------------------------------------------- drawing


def random_program(seed: int, level: Level = "main", most_steps: int = MOST_STEPS) -> Program:
    """Return program number ``seed``; it takes at most ``most_steps`` steps, DRAIN included."""
    random = Random(f"{level} {seed}")
    while True:
        program = _draw(random, level)
        if program.run().steps <= most_steps:
            return program


def random_wide_program(seed: int, scenarios: int, most_steps: int = MOST_WIDE_STEPS) -> Program:
    """Return wide program number ``seed`` of level ``full``, with so many scenarios."""
    random = Random(f"wide {seed}")
    while True:
        program = _draw(random, "full", scenarios)
        if program.run().steps <= most_steps:
            return program


def only(program: Program, scenario: int) -> Program:
    """Return one scenario of a wide program as a program: its rows, and the same watermark at the same instants."""
    source = program.source
    rows = tuple(replace(row, key=row.key[1]) for row in source.rows if row.key[0] == scenario)
    watermark = source.watermark
    if not isinstance(watermark, str):  # what the others' rows moved becomes moves of its own, so their steps stay
        moves = () if isinstance(watermark, int) else watermark
        instants = sorted({row.arrival for row in source.rows} | {at for at, _ in moves})
        marks = [(at, source.watermark_at(at)) for at in instants]
        watermark = tuple((at, int(mark)) for at, mark in marks if mark != BEGIN) or "none"
    return replace(program, source=replace(source, rows=rows, watermark=watermark), wide=False)


def _draw(random: Random, level: Level, scenarios: int | None = None) -> Program:
    """Draw a program, half of the time around something that chance alone hardly ever meets."""
    window, trigger = _window(random, level), _trigger(random, level)
    span = random.choice([2, 4, 6, 12])
    instants = random.choice([1, 2, 3, 4, 4, 5, 5])
    lateness = random.choice([0, GRAIN, 3 * GRAIN, DAY, DAY, DAY, END])
    step = random.choice([None, None, 10 * SECOND, MINUTE])
    once = level == "full" and random.random() < 0.2
    watermark = _watermark(random, span)
    themes = ["any", "any", "passing"] if level == "main" else ["any", "any", "any", "passing", "merging", "deep"]
    theme = random.choice(themes)
    match theme:
        case "passing":  # the watermark passes windows that emitted all they had, and that more rows come to
            window, trigger = random.choice(_passing_windows()), _passing_trigger(random, level)
            span, instants, step, lateness = random.choice([1, 2, 3]), 5, None, random.choice([DAY, DAY, END])
            watermark = _moves(random, random.sample(range(10, 50, 4), random.choice([1, 1, 2])), span + 2)
        case "merging":  # sessions merge while their triggers stand at unlike places, finished ones too
            window, trigger = Sessions(2 * GRAIN), _nested_then(random)
            once = random.random() < 0.4
            if once and random.random() < 0.7:
                trigger = random.choice([After(rows=2), Then([After(rows=1), After(rows=1)])])
            step, lateness = None, DAY
        case "deep":  # few windows with many steps, so that the far ends of a tree are reached
            deep: list[WindowSpec] = [Global(), Fixed(MINUTE), Sessions(3 * GRAIN)]
            window = random.choice(deep)
            trigger, instants, step = _deep_tree(random), 5, None
    query = Query(
        window,
        trigger,
        once=once,
        mode=random.choice(MODES[: 2 if level == "main" else 4]),
        lateness=lateness,
        having=_aggregate_condition(random) if random.random() < 0.15 else None,
        select=("count", "sum", *random.sample(["count_v", "min", "max"], random.choice([0, 0, 1, 2]))),
    )
    times = random.sample(range(0, 61, 4), instants)

    def rows() -> tuple[Row, ...]:
        return _bridged_rows(random) if theme == "merging" else _rows(random, window, span, times)

    return Program(
        query,
        Replay(rows() if scenarios is None else _numbered([rows() for _ in range(scenarios)]), step, watermark),
        drain=random.random() < 0.7,
        keyed=random.random() < 0.95,
        wide=scenarios is not None,
        names=tuple(ALIASES[name] for name in query.select),
    )


def _numbered(scenarios: list[tuple[Row, ...]]) -> tuple[Row, ...]:
    """Return the rows of all scenarios, the scenario's number in each row's key."""
    every = [replace(row, key=(number, row.key)) for number, rows in enumerate(scenarios) for row in rows]
    return tuple(replace(row, number=place) for place, row in enumerate(every))


def _window(random: Random, level: Level) -> WindowSpec:
    size = random.choice([2, 3, 4]) * GRAIN
    offset = random.choice([0, 0, SECOND, -GRAIN // 5])
    if level == "full" and random.random() < 0.08:
        return Sessions(None)
    windows: list[WindowSpec] = [
        Fixed(size, max(offset, 0)),
        Sliding(size, random.choice([GRAIN, 2 * GRAIN, 7 * SECOND]), max(offset, 0)),
        Sessions(random.choice([1, 2, 3]) * GRAIN),
        Sessions(random.choice([1, 2, 3]) * GRAIN),
        Global(),
    ]
    return random.choice(windows)


def _leaf(random: Random, rows: tuple[int, ...] = (1, 2, 2, 3)) -> Trigger:
    kind: type[Every | After] = Every if random.random() < 0.5 else After
    if random.random() < 0.4:
        return kind(interval=random.choice([10, 20, 60]) * SECOND)
    return kind(rows=random.choice(rows))


def _early_and_late(random: Random) -> Trigger:
    """EARLY that often leaves nothing for the watermark, LATE that often waits: so that what is silent shows."""
    early = _leaf(random, (1, 1, 2, 3)) if random.random() < 0.7 else None
    return AtWatermark(early, _leaf(random, (1, 2, 2, 3)) if random.random() < 0.7 else None)


def _trigger(random: Random, level: Level) -> Trigger:
    if random.random() < (0.6 if level == "main" else 0.15):
        return _early_and_late(random)
    if level == "main":
        return _leaf(random)
    while True:
        tree = _tree(random, random.choice([1, 2, 3, 4]))
        if sensible(tree):
            return tree


def _tree(random: Random, depth: int) -> Trigger:
    if depth == 1:
        roll = random.random()
        if roll < 0.3:
            return AtWatermark()
        if roll < 0.5:
            row = Condition(None, random.choice([">", "=", "<"]), random.randint(-2, 6))
            return When(row if random.random() < 0.5 else _aggregate_condition(random))
        if roll < 0.55:
            return Never()
        if roll < 0.62:
            return (Every if random.random() < 0.5 else After)(bytes=random.choice([1, 1_000_000]))
        return _leaf(random)

    def part() -> Trigger:
        return _tree(random, random.randint(1, depth - 1))

    match random.choice(["at", "repeat", "or", "and", "then", "then"]):
        case "at":
            early = part() if random.random() < 0.7 else None
            return AtWatermark(early, part() if random.random() < 0.6 or early is None else None)
        case "repeat":
            return Repeat(part(), part() if random.random() < 0.8 else None)
        case word:
            kind = {"or": Or, "and": And, "then": Then}[word]
            return kind([part() for _ in range(random.choice([2, 2, 3]))])


def _passing_windows() -> list[WindowSpec]:
    sessions: list[WindowSpec] = [Sessions(GRAIN), Sessions(2 * GRAIN)]
    return [Fixed(2 * GRAIN), Sliding(2 * GRAIN, GRAIN), *sessions, *sessions]


def _passing_trigger(random: Random, level: Level) -> Trigger:
    early = random.choice([Every, After])(rows=1)
    later = _leaf(random, (2, 2, 3))
    if level == "main" or random.random() < 0.5:
        return AtWatermark(early, later)
    twice: list[Trigger] = [AtWatermark(), AtWatermark(), After(rows=2)]
    return random.choice([Then([AtWatermark(), _once(random), later]), Then([AtWatermark(early), later]), Then(twice)])


def _once(random: Random) -> Trigger:
    """Return something that finishes soon."""
    when = Condition("sum", ">", 3) if random.random() < 0.5 else Condition(None, ">", 2)
    return random.choice([After(rows=1), After(rows=1), After(rows=1), After(rows=2), After(rows=2), When(when)])


def _nested_then(random: Random) -> Trigger:
    inner = Then([_once(random) for _ in range(random.choice([2, 3]))])
    parts: list[Trigger] = [_once(random), inner, After(rows=3)][random.choice([0, 0, 1]) :]
    random.shuffle(parts)
    return Then(parts) if random.random() < 0.8 else Or([Then(parts), Then([After(rows=4), _once(random)])])


def _deep_tree(random: Random, depth: int = 3) -> Trigger:
    """Return a tree whose nodes all finish soon."""
    if depth == 0 or random.random() < 0.15:
        return _once(random)

    def part() -> Trigger:
        return _deep_tree(random, depth - 1)

    match random.choice(["then", "then", "or", "and", "repeat"]):
        case "then":
            return Then([part() for _ in range(random.choice([2, 2, 3]))])
        case "repeat":
            seldom = [None, AtWatermark(), After(rows=5), When(Condition(None, ">", 7)), _once(random)]
            return Repeat(part(), random.choice(seldom))
        case word:
            return (Or if word == "or" else And)([part(), part()])


def _aggregate_condition(random: Random) -> Condition:
    name, number = random.choice([("count", 2), ("sum", 4), ("sum", 0), ("max", 5), ("min", 1)])
    return Condition(name, random.choice([">", ">=", "<", "<="]), number)


def can_fire(trigger: Trigger) -> bool:
    """Say whether some input could make the trigger fire."""
    match trigger:
        case Never():
            return False
        case And(parts):
            return all(can_fire(part) for part in parts)
        case Or(parts):
            return any(can_fire(part) for part in parts)
        case Then(parts):
            return can_fire(parts[0])
        case Repeat(body, until):
            return can_fire(body) or (until is not None and can_fire(until))
    return True


def sensible(trigger: Trigger) -> bool:
    """Say whether the language accepts the trigger: neither it nor anything it repeats is dead."""
    match trigger:
        case Repeat(body, until):
            return can_fire(trigger) and sensible(body) and (until is None or sensible(until))
        case AtWatermark(early, late):
            return all(part is None or (can_fire(part) and sensible(part)) for part in (early, late))
        case Never():
            return False
        case _:
            return can_fire(trigger) and all(isinstance(p, Never) or sensible(p) for p in trigger.children())


def _rows(random: Random, window: WindowSpec, span: int, instants: list[int]) -> tuple[Row, ...]:
    """Return rows that arrive at the instants; more keys cost no more steps and are so many more trials."""
    keys: list[str | None] = list("abcdefgh"[: random.choice([1, 2, 4, 8])])
    if random.random() < 0.5:
        keys[-1] = None
    rows = []
    for number in range(min(MOST_ROWS, len(keys) * random.randint(2, 8))):
        time = EVENTS + GRAIN * random.randint(0, span) + random.choice([0, 0, 0, SECOND, -1])
        gap = random.choice([1, 2, 3, 3]) * GRAIN if random.random() < 0.9 else random.choice([0, -GRAIN, None])
        rows.append(
            Row(
                random.choice(keys),
                None if random.random() < 0.04 else time,
                None if random.random() < 0.15 else random.randint(-3, 9),
                ARRIVALS + SECOND * random.choice(instants),
                number,
                gap if window == Sessions(None) else None,
            )
        )
    return tuple(rows)


def _bridged_rows(random: Random) -> tuple[Row, ...]:
    """Return rows of two sessions per key that grow on their own for some steps and are then bridged."""
    rows: list[Row] = []
    for key in (*"abcdef", None):
        bridge = random.choice([2, 3, 4])
        for instant in range(6):
            left, right = EVENTS, EVENTS + 2 * GRAIN + 3 * SECOND
            starts = [start for start in (left, right) for _ in range(random.choice([0, 0, 1, 2])) if instant < bridge]
            if instant >= bridge:
                starts = [left + GRAIN + random.choice([0, SECOND]) for _ in range(random.choice([1, 1, 2, 3]))]
            for start in starts:
                time, value = start + random.randint(0, 1) * SECOND, random.randint(0, 5)
                rows.append(Row(key, time, value, ARRIVALS + 4 * SECOND * instant, len(rows)))
    return tuple(rows)


def _watermark(random: Random, span: int) -> Literal["none", "complete"] | tuple[tuple[int, int], ...] | int:
    roll = random.random()
    if roll < 0.12:
        return "none"
    if roll < 0.22:
        return "complete"
    if roll < 0.5:
        return random.choice([0, 1, 2, 5]) * GRAIN
    return _moves(random, random.sample(range(0, 61, 4), random.randint(1, 3)), span + 4)


def _moves(random: Random, at: list[int], most: int) -> tuple[tuple[int, int], ...]:
    to = sorted(random.randint(0, most) * GRAIN for _ in at)
    return tuple((ARRIVALS + at * SECOND, EVENTS + mark) for at, mark in zip(sorted(at), to, strict=True))


# ---------------------------------------------------------------- shrinking


def shrink(program: Program, fails: Callable[[Program], bool], tries: int = 400) -> Program:
    """Return a small program that still fails, found greedily in at most ``tries`` runs."""
    improved = True
    while improved:
        improved = False
        for smaller in _smaller(program):
            if tries == 0:
                return program
            tries -= 1
            if fails(smaller):
                program, improved = smaller, True
                break
    return program


def _smaller(program: Program) -> Iterator[Program]:
    """Yield simpler programs, the boldest cuts first."""
    query, source = program.query, program.source
    for chunk in (len(source.rows) // 2, len(source.rows) // 4, 1):
        for start in range(0, len(source.rows), chunk) if chunk else ():
            rest = source.rows[:start] + source.rows[start + chunk :]
            yield replace(program, source=replace(source, rows=rest))
    for trigger in _simpler(query.trigger):
        yield replace(program, query=replace(query, trigger=trigger))
    for change in (
        {"having": None},
        {"once": False},
        {"lateness": DAY},
        {"mode": "ACCUMULATING"},
        {"window": Global()},
        {"select": ("count", "sum")},
    ):
        if any(getattr(query, name) != value for name, value in change.items()):
            names = ("n", "s") if "select" in change else program.names
            yield replace(program, query=replace(query, **change), names=names)
    if program.drain:
        yield replace(program, drain=False)
    if source.step is not None:
        yield replace(program, source=replace(source, step=None))
    if isinstance(source.watermark, tuple):
        for position in range(len(source.watermark)):
            moves = source.watermark[:position] + source.watermark[position + 1 :]
            yield replace(program, source=replace(source, watermark=moves or "none"))
    elif source.watermark != "none":
        yield replace(program, source=replace(source, watermark="none"))
    for earlier, later in _neighbours(sorted({row.arrival for row in source.rows})):
        rows = tuple(replace(row, arrival=earlier) if row.arrival == later else row for row in source.rows)
        yield replace(program, source=replace(source, rows=rows))
    for position, row in enumerate(source.rows):
        for plain in (replace(row, key=(row.key[0], "a") if program.wide else "a"), replace(row, value=1)):
            if plain != row:
                rows = (*source.rows[:position], plain, *source.rows[position + 1 :])
                yield replace(program, source=replace(source, rows=rows))


def _neighbours(times: list[int]) -> Iterator[tuple[int, int]]:
    return pairwise(times)


def _simpler(trigger: Trigger) -> Iterator[Trigger]:
    """Yield a node's parts in its place, then the node with one part made simpler."""
    parts = trigger.children()
    if isinstance(trigger, AtWatermark):
        parts = [part for part in (trigger.early, trigger.late) if part is not None]
        if parts:
            yield AtWatermark()
            yield AtWatermark(trigger.early)
            yield AtWatermark(None, trigger.late)
    yield from (part for part in parts if sensible(part))
    match trigger:
        case Or(parts) | And(parts) | Then(parts):
            for position, part in enumerate(parts):
                rest = parts[:position] + parts[position + 1 :]
                if len(rest) > 1:
                    yield type(trigger)(rest)
                for plain in _simpler(part):
                    yield type(trigger)([*parts[:position], plain, *parts[position + 1 :]])
        case Repeat(body, until):
            for plain in _simpler(body):
                yield Repeat(plain, until)
            for plain in _simpler(until) if until is not None else ():
                yield Repeat(body, plain)
        case AtWatermark(early, late):
            for plain in _simpler(early) if early is not None else ():
                yield AtWatermark(plain, late)
            for plain in _simpler(late) if late is not None else ():
                yield AtWatermark(early, plain)


def main() -> None:
    """Print one program as a SQL file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--level", choices=["main", "full"], default="main")
    parser.add_argument("--scenario", type=int, help="of a wide program with --scenarios")
    parser.add_argument("--scenarios", type=int, default=SCENARIOS)
    arguments = parser.parse_args()
    if arguments.scenario is None:
        program = random_program(arguments.seed, arguments.level)
    else:
        program = only(random_wide_program(arguments.seed, arguments.scenarios), arguments.scenario)
    print(script(program), end="")


if __name__ == "__main__":
    main()
