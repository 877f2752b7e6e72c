"""``warehouse-sql run`` and ``plan``: a project's files in order, one line each on standard error."""

from __future__ import annotations

import time
from collections.abc import Iterator

from warehouse.cli.arguments import Invocation
from warehouse.cli.console import Output, ReaderGone, duration
from warehouse.cli.script import CANCELLED, FAILED, OK, TROUBLE, Runner
from warehouse.engine import Result
from warehouse.errors import WarehouseError
from warehouse.project.files import Settings, load_files, load_settings
from warehouse.project.graph import Project, project_of
from warehouse.project.runs import is_refresh, outcome, run_unit
from warehouse.project.selection import select
from warehouse.project.units import Unit


def plan(invocation: Invocation, output: Output) -> int:
    """Write the chosen files in the order they run, with what each makes and waits for; runs nothing."""
    project = project_of(load_files(invocation.project, load_settings(invocation.project)))
    chosen = select(project, invocation.select, invocation.exclude)
    output.write(_table(project, chosen).encode())
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
    counts = {"OK": 0, "FAILED": 0, "SKIPPED": 0}
    bad: set[int] = set()
    worst = OK
    for number, at in enumerate(chosen, 1):
        unit, place = project.units[at], f"{number} of {len(chosen)}"
        if broken := bad & project.after[at]:
            names = ", ".join(str(project.units[each].file.path) for each in sorted(broken))
            console.report(f"{place} SKIPPED {unit.file.path}: {names} did not run through")
            bad.add(at)
            counts["SKIPPED"] += 1
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
            counts["FAILED"] += 1
            word = "CANCELLED" if code == CANCELLED else "FAILED"
            console.error(f"{place} {word} {unit.file.path} ({taken})")
            if code in (CANCELLED, TROUBLE):
                break
    total = f"{settings.name}: {len(chosen)} file{'s' if len(chosen) != 1 else ''}"
    rest = len(chosen) - sum(counts.values())
    parts = [f"{counts['OK']} OK", f"{counts['FAILED']} failed", f"{counts['SKIPPED']} skipped"]
    parts += [f"{rest} not run"] if rest else []
    console.report(f"{total}, {', '.join(parts)} ({duration(time.monotonic() - started)})")
    return worst


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
        what = outcome(unit, False).replace("created ", "creates ").replace("ran ", "runs ")
        after = ", ".join(str(project.units[each].file.path) for each in sorted(project.after[at]))
        lines.append(f"{number:>{len(str(len(chosen)))}}  {path:<{width}}  {what}{f'  after {after}' if after else ''}")
    return "\n".join(lines) + "\n"
