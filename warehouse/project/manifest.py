"""A project in, what its ``manifest.json`` says, out.

The keys are those of dbt's manifest (https://docs.getdbt.com/reference/artifacts/manifest-json) as far as this project
has the thing; files that are statements have none of dbt's kinds and are ``operation``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from warehouse import __version__
from warehouse.project.described import About
from warehouse.project.graph import Project
from warehouse.project.units import Unit


def manifest(name: str, project: Project, about: Mapping[int, About]) -> dict[str, Any]:
    """Return the manifest as JSON's values.

    Args:
        name: of the project.
        project: with its tests.
        about: what is known of each file, by its position in ``project.units``.
    """
    ids = [unique_id(name, unit) for unit in project.units]
    parents = {ids[at]: [ids[each] for each in sorted(after)] for at, after in enumerate(project.after)}
    children = {ids[at]: [ids[each] for each in sorted(project.needing(at))] for at in range(len(ids))}
    nodes = {
        each: _node(name, unit, each, parents[each], about[at])
        for at, (each, unit) in enumerate(zip(ids, project.units, strict=True))
    }
    metadata = {"project_name": name, "adapter_type": "warehouse", "warehouse_version": __version__}
    return {"metadata": metadata, "nodes": nodes, "parent_map": parents, "child_map": children}


def unique_id(name: str, unit: Unit) -> str:
    """Return what a file is called in a manifest: ``model.flights.models.hourly``."""
    path = unit.file.path.with_suffix("") if unit.file.path.suffix == ".sql" else unit.file.path
    return ".".join((kind_of(unit), name, *path.parts))


def kind_of(unit: Unit) -> str:
    """Return dbt's word for what a file is."""
    return "test" if unit.severity else "model" if unit.materialized else "operation"


def _node(name: str, unit: Unit, its_id: str, needs: list[str], about: About) -> dict[str, Any]:
    materialized = "test" if unit.severity else unit.materialized
    config = {"materialized": materialized, "severity": unit.severity}
    return {
        "unique_id": its_id,
        "name": unit.file.path.stem,
        "resource_type": kind_of(unit),
        "package_name": name,
        "original_file_path": str(unit.file.path),
        "raw_code": unit.file.text,
        "compiled_code": ";\n".join(step.source.text for step in unit.steps),
        "relation_name": unit.makes[0].name if len(unit.makes) == 1 else None,
        "creates": [{"kind": made.kind, "name": made.name} for made in unit.makes],
        "depends_on": {"nodes": needs},
        "tags": list(unit.tags),
        "config": {**{key: value for key, value in config.items() if value}, "tags": list(unit.tags)},
        "description": about.description,
        "columns": {
            column.name: {"name": column.name, "data_type": column.type, "description": column.description}
            for table in about.tables
            for column in table.columns
        },
    }
