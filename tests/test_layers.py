"""The maps in the docstrings of ``warehouse`` and of its packages of packages are true: who imports whom.

A row of the map may import what its last column names, and what those may import in turn; nobody reaches
through ``engine`` to what it composes. Places in one row may import each other; a row that imports nothing
may be imported by all.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

import warehouse
import warehouse.planning
import warehouse.streaming

COMPOSER = "engine"


@dataclass(frozen=True)
class Row:
    places: tuple[str, ...]
    may_import: str


def rows(docstring: str) -> list[Row]:
    """Return the rows of the one table in ``docstring``; a line with an empty first column continues its row."""
    lines = docstring.splitlines()
    borders = [number for number, line in enumerate(lines) if re.fullmatch(r"=+( +=+)+", line)]
    assert len(borders) == 3, "the docstring holds one table"
    starts = [match.start() for match in re.finditer(r"=+", lines[borders[0]])]
    found: list[Row] = []
    for line in lines[borders[1] + 1 : borders[2]]:
        places = tuple(re.findall(r"\w+", line[: starts[1]]))
        if places:
            found.append(Row(places, line[starts[-1] :].strip()))
    return found


def allowed(table: list[Row]) -> dict[str, set[str]]:
    """Return what each place may import, itself included."""
    row_of = {place: row for row in table for place in row.places}
    base = {place for row in table if row.may_import == "nothing" for place in row.places}

    def named(row: Row) -> set[str]:
        if row.may_import == "nothing":
            return set()
        if row.may_import == "all of the above":
            return {place for above in table[: table.index(row)] for place in above.places}
        names = set(re.findall(r"\w+", row.may_import))
        assert names <= row_of.keys(), f"the map names {names - row_of.keys()}, which has no row"
        return names

    def reach(row: Row) -> set[str]:
        names = named(row)
        return names.union(*(reach(row_of[name]) for name in names if name != COMPOSER))

    return {place: reach(row) | set(row.places) | base for place, row in row_of.items()}


def imported(file: Path, package: str) -> set[tuple[str, int]]:
    """Return the places of a package that a file imports, wherever in it, with the line."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno} imports relatively"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            place = name.removeprefix(f"{package}.").partition(".")[0]
            if name.startswith(f"{package}.") and not place.startswith("__"):
                found.add((place, node.lineno))
    return found


def places(package: ModuleType) -> dict[str, list[Path]]:
    """Return the files of each place in a package."""
    home = Path(str(package.__file__)).parent
    found: dict[str, list[Path]] = {}
    for file in sorted(home.rglob("*.py")):
        place = file.relative_to(home).parts[0].removesuffix(".py")
        if place != "__init__":
            found.setdefault(place, []).append(file)
    return found


MAPPED = [
    (package, place) for package in (warehouse, warehouse.planning, warehouse.streaming) for place in places(package)
]


@pytest.mark.parametrize(("package", "place"), MAPPED, ids=[f"{package.__name__}.{place}" for package, place in MAPPED])
def test_a_place_is_on_the_map_and_imports_what_that_allows(package, place):
    the_map = allowed(rows(package.__doc__))
    assert place in the_map, f"{place} has no row in the docstring of {package.__name__}"
    wrong = [
        f"{file}:{line} imports {name}"
        for file in places(package)[place]
        for name, line in sorted(imported(file, package.__name__))
        if name not in the_map[place]
    ]
    assert not wrong, f"{place} may import {sorted(the_map[place])}"


SAMPLE = """
======  =====  ================
place   is     may import
======  =====  ================
``e``   base   nothing
``a``   one,   e
        two
``b``   three  a
engine  x      all of the above
c, d    doors  engine
======  =====  ================
"""


def test_the_map_is_read_as_it_is_meant():
    table = rows(SAMPLE)
    assert allowed(table) == {
        "e": {"e"},
        "a": {"a", "e"},
        "b": {"a", "b", "e"},
        "engine": {"a", "b", "e", "engine"},
        "c": {"c", "d", "e", "engine"},
        "d": {"c", "d", "e", "engine"},
    }
