"""Runs one unit through the engine: its statements, with a REFRESH of streaming tables that were there; or a test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from warehouse.errors import SourceText, WarehouseError
from warehouse.project.units import Step, Unit

if TYPE_CHECKING:
    from warehouse.engine import Result

_REFRESH = "REFRESH STREAMING TABLE "

SHOWN = 10
"""Of the rows that a test finds to be wrong, so many are shown."""


class Engine(Protocol):
    """What running a unit, and asking for columns, needs of the engine."""

    def run(self, text: str | SourceText, *, parameters: Mapping[str, Any] = ...) -> Iterator[Result]:
        """Run a text, one result per statement."""


def run_unit(
    unit: Unit, engine: Engine, parameters: Mapping[str, Any] | None = None, *, full_refresh: bool = False
) -> Iterator[Result]:
    """Run the statements of a unit in order, lazily, and yield their results.

    A streaming table that is created ``IF NOT EXISTS`` and exists is refreshed after its statement.

    Raises:
        WarehouseError: pointing into the user's file.
    """
    for step in unit.steps:
        with _owned(step):
            existed = step.refreshes is not None and _exists(engine, step.refreshes)
            yield from engine.run(step.source, parameters=parameters or {})
            if existed:
                yield from engine.run(f"{_REFRESH}{step.refreshes}{' FULL' if full_refresh else ''}")


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


def outcome(unit: Unit, refreshed: bool) -> str:
    """Return what running a unit has done, in a few words.

    ``created stream flights``, ``refreshed streaming table hourly``, ``ran 4 statements``.
    """
    kinds = {made.kind for made in unit.makes}
    names = ", ".join(made.name for made in unit.makes)
    if len(kinds) == 1:
        (kind,) = kinds
        return f"{'refreshed' if refreshed else 'created'} {kind}{'s' if len(unit.makes) > 1 else ''} {names}"
    if unit.makes:
        return f"created {', '.join(f'{made.kind} {made.name}' for made in unit.makes)}"
    return f"ran {len(unit.steps)} statement{'s' if len(unit.steps) != 1 else ''}"


def _exists(engine: Engine, name: str) -> bool:
    try:
        for result in engine.run(f"DESCRIBE STREAMING TABLE {name}"):
            for _ in result.batches:
                pass
    except WarehouseError:
        return False
    return True
