"""``warehouse-sql run``, ``test`` and ``plan``: a project's files in order, one line each on standard error."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from warehouse.cli import documenting
from warehouse.cli.arguments import Invocation
from warehouse.cli.console import Console, Output, ReaderGone, duration
from warehouse.cli.script import CANCELLED, FAILED, OK, TROUBLE, Engine, Runner, failed
from warehouse.engine import Result
from warehouse.errors import WarehouseError
from warehouse.project.files import Settings
from warehouse.project.graph import Project
from warehouse.project.loading import Loaded, load_project
from warehouse.project.runs import count_wrong, intent, is_refresh, outcome, run_unit, wrong_rows
from warehouse.project.selection import select, select_tests
from warehouse.project.units import Unit

_TESTS = {"error": "finds rows that are wrong", "warn": "warns of rows that are wrong"}


@dataclass(frozen=True)
class Chosen:
    """What of a project is to run, or to be tested: positions among its units, in order."""

    name: str
    project: Project
    order: list[int]


def read(invocation: Invocation, settings: Settings) -> Loaded:
    """Return the project; runs nothing.

    Raises:
        WarehouseError: the project is none; tests and YAML files count, whether or not they are asked for.
    """
    runs = invocation.command in ("run", "plan")
    return load_project(invocation.project, settings, tests_suffice=not runs)


def choose(invocation: Invocation, name: str, whole: Project) -> Chosen:
    """Return what of the project called ``name`` was asked for.

    Raises:
        WarehouseError: a word names nothing in it.
    """
    if invocation.command == "test":
        return Chosen(name, whole, select_tests(whole, invocation.select, invocation.exclude))
    project = whole.without_tests()
    return Chosen(name, project, select(project, invocation.select, invocation.exclude))


def refused(error: WarehouseError, console: Console, debug: bool) -> int:
    """Print why a folder is no project, and return the exit code: of SQL, or of what is beside it."""
    code = failed(error, console, debug)
    return TROUBLE if error.sqlstate in _BESIDE_SQL else code


_BESIDE_SQL = ("F0000", "58030")
"""The SQLSTATEs of settings and YAML that nobody understands, and of files that are not there."""


def plan(invocation: Invocation, settings: Settings, output: Output, console: Console) -> int:
    """Write what would run or be tested, in order, with what each makes and waits for; return the exit code."""
    try:
        loaded = read(invocation, settings)
    except WarehouseError as error:
        return refused(error, console, invocation.debug)
    output.write(_table(choose(invocation, settings.name, loaded.whole)).encode())
    return OK


def carry_out(
    invocation: Invocation,
    settings: Settings,
    opened: AbstractContextManager[Engine],
    runner_on: Callable[[Engine], Runner],
    console: Console,
) -> int:
    """Run, test or tell about a project, on an engine that is opened once its files were read; return the exit code."""
    try:
        loaded = read(invocation, settings)
    except WarehouseError as error:
        return refused(error, console, invocation.debug)
    if invocation.command == "docs":
        asked = select(loaded.whole, invocation.select, invocation.exclude)
        return documenting.write(invocation, settings, loaded, asked, None if invocation.dry_run else opened, console)
    chosen = choose(invocation, settings.name, loaded.whole)
    with opened as engine:
        runner = runner_on(engine)
        if invocation.command == "test":
            return test(chosen, runner)
        return run(chosen, runner, invocation.full_refresh)


def run(chosen: Chosen, runner: Runner, full_refresh: bool = False) -> int:
    """Run the chosen files; what depends on a failed one is skipped. Returns the exit code."""
    started = time.monotonic()
    console, project, order = runner.console, chosen.project, chosen.order
    counts = {"OK": 0, "failed": 0, "skipped": 0}
    bad: set[int] = set()
    worst = OK
    for number, at in enumerate(order, 1):
        unit, place = project.units[at], f"{number} of {len(order)}"
        if broken := bad & project.after[at]:
            names = ", ".join(str(project.units[each].file.path) for each in sorted(broken))
            console.report(f"{place} SKIPPED {unit.file.path}: {names} did not run through")
            bad.add(at)
            counts["skipped"] += 1
            continue
        begun = time.monotonic()
        code, words = _run(unit, runner, f"{place} {unit.file.path}", full_refresh)
        taken = duration(time.monotonic() - begun)
        worst = max(worst, code)
        if code == OK:
            counts["OK"] += 1
            console.report(f"{place} OK {words} ({taken})")
        else:
            bad.add(at)
            counts["failed"] += 1
            word = "CANCELLED" if code == CANCELLED else "FAILED"
            console.error(f"{place} {word} {unit.file.path} ({taken})")
            if code in (CANCELLED, TROUBLE):
                break
    console.report(_total(chosen.name, len(order), "file", counts, started))
    return worst


def test(chosen: Chosen, runner: Runner) -> int:
    """Run the chosen tests; the first rows that are wrong go to standard output. Returns the exit code."""
    started = time.monotonic()
    console, project, order = runner.console, chosen.project, chosen.order
    counts = dict.fromkeys(("passed", "failed", "warned", "broken"), 0)
    worst = OK
    for number, at in enumerate(order, 1):
        unit, place = project.units[at], f"{number} of {len(order)}"
        begun, name = time.monotonic(), unit.file.path.stem
        code, wrong = _judged(unit, runner, f"{place} {name}")
        taken = duration(time.monotonic() - begun)
        if code != OK:
            counts["broken"] += 1
            worst = max(worst, code)
            console.error(f"{place} {'CANCELLED' if code == CANCELLED else 'ERROR'} {name} ({taken})")
            if code in (CANCELLED, TROUBLE):
                break
        elif not wrong:
            counts["passed"] += 1
            console.report(f"{place} PASS {name} ({taken})")
        else:
            is_warning = unit.severity == "warn"
            counts["warned" if is_warning else "failed"] += 1
            say = console.warning if is_warning else console.error
            say(f"{place} {'WARN' if is_warning else 'FAIL'} {name}: {_many(wrong, 'row')} wrong ({taken})")
            worst = worst if is_warning else max(worst, FAILED)
            try:
                worst = max(
                    worst, runner.results(wrong_rows(unit, runner.engine, runner.parameters), f"{place} {name}")
                )
            except ReaderGone:
                runner.console.error("standard output was closed")
                return FAILED
    console.report(_total(chosen.name, len(order), "test", counts, started))
    return worst


def _judged(unit: Unit, runner: Runner, label: str) -> tuple[int, int]:
    """Run a test; return the exit code, and how many rows are wrong."""
    wrong = 0

    def results() -> Iterator[Result]:
        nonlocal wrong
        wrong = count_wrong(unit, runner.engine, runner.parameters)
        yield from ()

    return runner.results(results(), label), wrong


def _total(name: str, chosen: int, noun: str, counts: Mapping[str, int], started: float) -> str:
    """Return the last line: how many there were, and what became of how many of them."""
    rest = chosen - sum(counts.values())
    parts = [f"{count} {word}" for word, count in counts.items()] + ([f"{rest} not run"] if rest else [])
    return f"{name}: {_many(chosen, noun)}, {', '.join(parts)} ({duration(time.monotonic() - started)})"


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'s' if count != 1 else ''}"


def _run(unit: Unit, runner: Runner, label: str, full_refresh: bool) -> tuple[int, str]:
    refreshed, replaced = False, None

    def results() -> Iterator[Result]:
        nonlocal refreshed, replaced
        for result in run_unit(unit, runner.engine, runner.parameters, full_refresh=full_refresh):
            refreshed = refreshed or is_refresh(result)
            replaced = result.replaced or replaced
            yield result

    try:
        code = runner.results(results(), label)
    except ReaderGone:
        runner.console.error("standard output was closed")
        code = FAILED
    return code, outcome(unit, refreshed, replaced)


def _table(chosen: Chosen) -> str:
    project, order = chosen.project, chosen.order
    paths = [str(project.units[at].file.path) for at in order]
    width = max(map(len, paths), default=0)
    lines = []
    for number, (at, path) in enumerate(zip(order, paths, strict=True), 1):
        unit = project.units[at]
        what = _TESTS[unit.severity] if unit.severity else intent(unit)
        after = ", ".join(str(project.units[each].file.path) for each in sorted(project.after[at]))
        lines.append(f"{number:>{len(str(len(order)))}}  {path:<{width}}  {what}{f'  after {after}' if after else ''}")
    return "".join(f"{line}\n" for line in lines)
