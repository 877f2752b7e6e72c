"""``warehouse-sql docs``: a page about a project, and its manifest, with the columns that the warehouse has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from warehouse.cli.arguments import Invocation, UsageError
from warehouse.cli.codes import OK
from warehouse.cli.console import Console
from warehouse.errors import WarehouseError
from warehouse.project.described import Columns, about, unknown_columns
from warehouse.project.files import Settings
from warehouse.project.loading import Loaded
from warehouse.project.manifest import manifest
from warehouse.project.page import page
from warehouse.project.runs import Engine
from warehouse.project.templates import quoted
from warehouse.project.units import Made

TARGET = "target"


def write(
    invocation: Invocation,
    settings: Settings,
    loaded: Loaded,
    asked: list[int],
    opened: AbstractContextManager[Engine] | None,
    console: Console,
) -> int:
    """Write ``index.html`` and ``manifest.json`` of the whole project.

    Args:
        invocation: the command.
        settings: of the project.
        loaded: the project.
        asked: positions among its units, of those whose columns the warehouse is asked for.
        opened: the warehouse; None: it is asked for none, and columns have no types.
        console: where it is told what was written.

    Raises:
        UsageError: the folder cannot be written.
    """
    made = [each for at in asked for each in loaded.whole.units[at].makes]
    columns: Columns = {}
    if opened:
        with opened as engine:
            columns = {each.key: found for each in made if (found := dict(_described(engine, each)))}
    for table, column in unknown_columns(loaded, columns):
        console.warning(f"{table.file.name}: {table.name} has no column {column} in the warehouse")
    known = about(loaded, columns)
    folder: Path = invocation.target or invocation.project / TARGET
    told = manifest(settings.name, loaded.whole, known)
    texts = {
        "index.html": page(settings.name, loaded.whole, known),
        "manifest.json": json.dumps(told, indent=2, ensure_ascii=False) + "\n",
    }
    try:
        place = settings.base / folder
        place.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (place / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror or error}") from None
    console.report(f"{settings.name}: wrote {' and '.join(str(folder / name) for name in texts)}")
    return OK


def _described(engine: Engine, made: Made) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the columns of one thing with their types and comments; none where it is not in the warehouse yet."""
    if made.kind == "model":
        return
    name = quoted(made.key)
    try:
        for result in engine.run(f"DESCRIBE {'STREAM' if made.kind == 'stream' else 'TABLE'} {name}"):
            for batch in result.batches:
                for row in batch.to_pylist():
                    column, kind, comment, *_ = row.values()
                    if not column or column.startswith("#"):
                        return  # what follows is about partitions
                    yield column, (kind or "", comment or "")
    except WarehouseError:
        return
