"""What is known of a file besides its SQL: what its author says, and the columns that the warehouse has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from warehouse.project.loading import Loaded
from warehouse.project.properties import Described
from warehouse.project.units import Key, Made

Columns = Mapping[Key, Mapping[str, tuple[str, str]]]
"""By the names of what is in the warehouse its columns' types and comments."""


@dataclass(frozen=True)
class Column:
    """A column as the page shows it; ``type`` is "" where the warehouse does not have it."""

    name: str
    type: str
    description: str


@dataclass(frozen=True)
class Table:
    """One thing that a file creates, with its columns."""

    made: Made
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class About:
    """What is known of a file.

    Attributes:
        description: what its YAML file says, else the comment that it begins with.
        tables: what it creates.
    """

    description: str
    tables: tuple[Table, ...]


def about(loaded: Loaded, columns: Columns) -> dict[int, About]:
    """Return what is known of each file, by its position in the project."""
    said = {each.name.lower(): each for each in loaded.tables if each.reference.startswith("ref(")}
    out = {}
    for at, unit in enumerate(loaded.whole.units):
        tables, descriptions = [], []
        for made in unit.makes:
            told = said.get(made.key[-1])
            descriptions += [told.description] if told and told.description else []
            tables.append(Table(made, _columns(told.columns if told else {}, columns.get(made.key, {}))))
        description = "\n\n".join(descriptions) or _first_comment(unit.file.text)
        out[at] = About(description, tuple(tables))
    return out


def unknown_columns(loaded: Loaded, columns: Columns) -> Iterator[tuple[Described, str]]:
    """Yield the columns that YAML files speak of and that what the warehouse has does not have."""
    keys = {key[-1]: key for key in columns}
    for table in loaded.tables:
        key = keys.get(table.name.lower())
        if key and table.reference.startswith("ref("):
            known = {name.lower() for name in columns[key]}
            yield from ((table, name) for name in table.columns if name.lower() not in known)


def _columns(said: Mapping[str, str], known: Mapping[str, tuple[str, str]]) -> tuple[Column, ...]:
    """Return the columns that the warehouse has, then those that only the YAML file knows."""
    texts = {name.lower(): text for name, text in said.items()}
    found = [Column(name, kind, texts.get(name.lower()) or comment) for name, (kind, comment) in known.items()]
    names = {name.lower() for name in known}
    return (*found, *(Column(name, "", text) for name, text in said.items() if name.lower() not in names))


def _first_comment(text: str) -> str:
    r"""Return the lines of comment that a file begins with.

    Example:
        >>> _first_comment("-- Who flew,\n-- and when.\nSELECT 1")
        'Who flew, and when.'
    """
    found = re.match(r"\s*((?:--[^\n]*\n\s*)+)", text)
    lines = re.findall(r"--+([^\n]*)", found[1]) if found else []
    return " ".join(line.strip() for line in lines if "depends_on:" not in line).strip()
