"""``warehouse-sql run``, ``test`` and ``plan``: a project's files in order, one line each on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from warehouse.cli.arguments import Invocation
from warehouse.cli.console import Output, ReaderGone, duration
from warehouse.cli.script import CANCELLED, FAILED, OK, TROUBLE, Runner
from warehouse.engine import Result
from warehouse.errors import WarehouseError
from warehouse.project.files import Settings, load_files, load_settings
from warehouse.project.graph import Project, project_of
from warehouse.project.loading import load_project
from warehouse.project.runs import count_wrong, is_refresh, outcome, run_unit, wrong_rows
from warehouse.project.selection import select, select_tests
from warehouse.project.units import Unit

_TESTS = {"error": "finds rows that are wrong", "warn": "warns of rows that are wrong"}


def plan(invocation: Invocation, output: Output) -> int:
    """Write the chosen files in the order they run, with what each makes and waits for; runs nothing."""
    project = project_of(load_files(invocation.project, load_settings(invocation.project)))
    chosen = select(project, invocation.select, invocation.exclude)
    output.write(_table(project, chosen).encode())
    return OK


def plan_tests(invocation: Invocation, output: Output) -> int:
    """Write the chosen tests, with what each is about; runs nothing."""
    project = load_project(invocation.project, load_settings(invocation.project)).whole
    output.write(_table(project, select_tests(project, invocation.select, invocation.exclude)).encode())
    return OK


def run(invocation: Invocation, settings: Settings, runner: Runner) -> int:
    """Run the chosen files; what depends on a failed one is skipped. Returns the exit code."""
    started = time.monotonic()
    console = runner.console
    try:
        project = project_of(load_files(invocation.project, settings))
    except WarehouseError as error:
        return runner.failed(error)
    chosen = select(project, invocation.select, invocation.exclude)
    counts = {"OK": 0, "failed": 0, "skipped": 0}
    bad: set[int] = set()
    worst = OK
    for number, at in enumerate(chosen, 1):
        unit, place = project.units[at], f"{number} of {len(chosen)}"
        if broken := bad & project.after[at]:
            names = ", ".join(str(project.units[each].file.path) for each in sorted(broken))
            console.report(f"{place} SKIPPED {unit.file.path}: {names} did not run through")
            bad.add(at)
            counts["skipped"] += 1
            continue
        begun = time.monotonic()
        code, words = _run(unit, runner, f"{place} {unit.file.path}", invocation.full_refresh)
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
    console.report(_total(settings.name, len(chosen), "file", counts, started))
    return worst


def test(invocation: Invocation, settings: Settings, runner: Runner) -> int:
    """Run the chosen tests; the first rows that are wrong go to standard output. Returns the exit code."""
    started = time.monotonic()
    console = runner.console
    try:
        project = load_project(invocation.project, settings).whole
    except WarehouseError as error:
        return runner.failed(error)
    chosen = select_tests(project, invocation.select, invocation.exclude)
    counts = dict.fromkeys(("passed", "failed", "warned", "broken"), 0)
    worst = OK
    for number, at in enumerate(chosen, 1):
        unit, place = project.units[at], f"{number} of {len(chosen)}"
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
    console.report(_total(settings.name, len(chosen), "test", counts, started))
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
    refreshed = False

    def results() -> Iterator[Result]:
        nonlocal refreshed
        for result in run_unit(unit, runner.engine, runner.parameters, full_refresh=full_refresh):
            refreshed = refreshed or is_refresh(result)
            yield result

    try:
        code = runner.results(results(), label)
    except ReaderGone:
        runner.console.error("standard output was closed")
        code = FAILED
    return code, outcome(unit, refreshed)


def _table(project: Project, chosen: list[int]) -> str:
    paths = [str(project.units[at].file.path) for at in chosen]
    width = max(map(len, paths), default=0)
    lines = []
    for number, (at, path) in enumerate(zip(chosen, paths, strict=True), 1):
        unit = project.units[at]
        what = (
            _TESTS[unit.severity]
            if unit.severity
            else outcome(unit, False).replace("created ", "creates ").replace("ran ", "runs ")
        )
        after = ", ".join(str(project.units[each].file.path) for each in sorted(project.after[at]))
        lines.append(f"{number:>{len(str(len(chosen)))}}  {path:<{width}}  {what}{f'  after {after}' if after else ''}")
    return "".join(f"{line}\n" for line in lines)
