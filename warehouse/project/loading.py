"""A project's folder in; the project as it runs, with its tests and what is said of its tables, out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from warehouse.project.files import Settings, load_files, load_tests, load_yaml
from warehouse.project.graph import Project, project_of
from warehouse.project.properties import Described, described


@dataclass(frozen=True)
class Loaded:
    """Everything that a project's folder holds.

    Attributes:
        whole: its files, and its tests among them.
        tables: what its YAML files say.
    """

    whole: Project
    tables: tuple[Described, ...]


def load_project(folder: Path, settings: Settings, tests_suffice: bool = True) -> Loaded:
    """Return the project in ``folder``, with its tests, which may be all there is if they suffice.

    Raises:
        WarehouseError: as ``project_of``, or a YAML file is none.
    """
    tables = tuple(described(load_yaml(folder, settings)))
    tests = load_tests(folder, settings)
    is_tested = bool(tests) or any(table.checks for table in tables)
    files = load_files(folder, settings, may_be_none=tests_suffice and is_tested)
    return Loaded(project_of(files, tests, tables), tables)
