"""Runs one unit through the engine: its statements, with a REFRESH of streaming tables that were there; or a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from warehouse.errors import SourceText, WarehouseError, fail
from warehouse.project.units import Step, Unit

if TYPE_CHECKING:
    from warehouse.engine import Result, Standing

Run = Callable[[str | SourceText], Iterator["Result"]]
"""Runs a text with the values of its parameters."""

_REFRESH = "REFRESH STREAMING TABLE "

SHOWN = 10
"""Of the rows that a test finds to be wrong, so many are shown."""


class Engine(Protocol):
    """What running a unit, and asking for columns, needs of the engine."""

    def standing(self, source: SourceText) -> Standing | None:
        """Return what there is under the name that a statement creates, None where that is nothing."""

    def run(self, text: str | SourceText, *, parameters: Mapping[str, Any] = ...) -> Iterator[Result]:
        """Run a text, one result per statement."""


def run_unit(
    unit: Unit, engine: Engine, parameters: Mapping[str, Any] | None = None, *, full_refresh: bool = False
) -> Iterator[Result]:
    """Run the statements of a unit in order, lazily, and yield their results.

    A streaming table that is created ``IF NOT EXISTS`` and exists is refreshed after its statement. One that is what
    becomes of a query is refreshed where that query made it, else replaced. Where something of another kind has a
    query's name, that is dropped before if the project can make it again.

    Raises:
        WarehouseError: pointing into the user's file.
    """
    for step in unit.steps:
        with _owned(step):
            standing = engine.standing(step.source) if step.name else None
            run = partial(engine.run, parameters=parameters or {})
            if standing and step.becomes and standing.kind != step.becomes:
                tries = engine.run if step.becomes == "view" else run  # a view keeps no parameters
                yield from _in_place_of(standing, step, run, tries)
            elif standing and standing.kind == "streaming table":
                yield from _brought_up_to_date(standing, step, run, full_refresh)
            else:
                yield from run(step.source)


def _brought_up_to_date(standing: Standing, step: Step, run: Run, full_refresh: bool) -> Iterator[Result]:
    """Refresh a streaming table that is there, or replace it where another query made it.

    Where ``IF NOT EXISTS`` leaves one that another query made, that is said.
    """
    replaces = step.becomes is not None and not standing.same
    if replaces:
        yield from run(step.source)
    elif not step.becomes:
        kept = f"warning: {step.name} keeps the query that made it, as IF NOT EXISTS says: DROP it, or write OR REPLACE"
        for result in run(step.source):
            yield result if standing.same else replace(result, warnings=(*result.warnings, kept))
    if full_refresh or not replaces:
        yield from run(f"{_REFRESH}{step.name}{' FULL' if full_refresh else ''}")


def _in_place_of(standing: Standing, step: Step, run: Run, tries: Run) -> Iterator[Result]:
    """Drop what is there, make what becomes of the query, and say of that what it was.

    Raises:
        WarehouseError: the project could not make it again, or somebody reads it; or the query is wrong: then nothing
            was dropped.
    """
    drop = f"DROP {standing.kind.upper()} {step.name}"
    if not standing.of_project or standing.readers:
        why = f"is read by {', '.join(standing.readers)}" if standing.readers else _WHY[standing.kind]
        kind, becomes = standing.kind, step.becomes
        fail("WAREHOUSE_PROJECT_KIND", name=step.name, kind=kind, becomes=becomes, why=why, drop=drop)
    made = step.query().within(f"EXPLAIN {_made_beside(step)}", "")
    rows = step.query().within("SELECT * FROM (", "\n) LIMIT 0")  # Spark's EXPLAIN raises nothing
    for tried in (made,) if step.becomes == "streaming table" else (made, rows):
        with _owned(tried):
            yield from (replace(result, schema=None) for result in tries(tried.source))
    yield from run(drop)
    for result in run(step.source):
        yield replace(result, replaced=f"was a {standing.kind}")


def _made_beside(step: Step) -> str:
    """Return what stands before the user's query where that becomes something, with a name that nothing has."""
    assert step.name
    beside = f"{step.name[:-1]}_to_be`" if step.name.endswith("`") else f"{step.name}_to_be"
    return step.source.text[: step.shift].replace(step.name, beside, 1)


_WHY = {
    "table": "was made by no query of a project, which could make its rows again",
    "streaming table": "has state and panes that might not come again",
    "stream": "is declared by a statement",
}
"""Why what is there is not dropped, by its kind."""


def count_wrong(unit: Unit, engine: Engine, parameters: Mapping[str, Any] | None = None) -> int:
    """Run a test; return how many rows are wrong.

    Raises:
        WarehouseError: pointing into the user's file.
    """
    step = unit.steps[0].within("SELECT count(*) AS wrong FROM (", "\n)")
    with _owned(step):
        (result,) = engine.run(step.source, parameters=parameters or {})
        (count,) = (count for batch in result.batches for count in batch.column(0).to_pylist())
    return int(count)


def wrong_rows(unit: Unit, engine: Engine, parameters: Mapping[str, Any] | None = None) -> Iterator[Result]:
    """Run a test again, and yield the result that holds the first rows that are wrong.

    Raises:
        WarehouseError: pointing into the user's file.
    """
    step = unit.steps[0].within("SELECT * FROM (", f"\n) LIMIT {SHOWN}")
    with _owned(step):
        yield from engine.run(step.source, parameters=parameters or {})


@contextmanager
def _owned(step: Step) -> Iterator[None]:
    """Let errors about what runs be about the user's own words."""
    try:
        yield
    except WarehouseError as error:
        raise step.owned(error) from error


def is_refresh(result: Result) -> bool:
    """Say whether a result of ``run_unit`` is that of a REFRESH which it added."""
    return result.source.text.startswith(_REFRESH) and result.source.name is None


def outcome(unit: Unit, refreshed: bool, replaced: str | None = None) -> str:
    """Return what running a unit has done, in a few words.

    ``created stream flights``, ``refreshed streaming table hourly``, ``ran 4 statements``.

    Args:
        unit: it.
        refreshed: a streaming table was refreshed.
        replaced: what became of what was replaced, as ``Result`` says it.
    """
    kinds = {made.kind for made in unit.makes}
    names = ", ".join(made.name for made in unit.makes)
    if len(kinds) == 1:
        (kind,) = kinds
        things = f"{kind}{'s' if len(unit.makes) > 1 else ''} {names}"
        if replaced:
            return f"replaced {things}: {'rebuilt from source' if refreshed else replaced}"
        return f"{'refreshed' if refreshed else 'created'} {things}"
    if unit.makes:
        return f"created {', '.join(f'{made.kind} {made.name}' for made in unit.makes)}"
    return f"ran {len(unit.steps)} statement{'s' if len(unit.steps) != 1 else ''}"


def intent(unit: Unit) -> str:
    """Return what running a unit will do, as far as its text tells: ``creates or refreshes streaming table hourly``."""
    words = outcome(unit, False)
    if len(unit.makes) == 1:
        for step in unit.steps:
            if step.name and unit.makes[0].kind == "streaming table":
                verbs = "creates, refreshes or replaces" if step.becomes else "creates or refreshes"
                return words.replace("created", verbs, 1)
    return words.replace("created ", "creates ", 1).replace("ran ", "runs ", 1)
