"""Units in, the same units in the order they run out."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from warehouse.errors import SourceText, WarehouseError, diagnostic, fail
from warehouse.project.checks import tests_of
from warehouse.project.files import SqlFile
from warehouse.project.properties import Described, place_of
from warehouse.project.templates import Reference, Template, find_templates
from warehouse.project.units import MODEL, Key, Target, Unit, key_of, test_of, told, unit_of


@dataclass(frozen=True)
class Project:
    """A project ready to run.

    Attributes:
        units: in the order they run: each after all it depends on, by path where that leaves a choice.
        after: positions in ``units`` that a unit depends on directly, for each unit.
    """

    units: tuple[Unit, ...]
    after: tuple[frozenset[int], ...]

    def without_tests(self) -> Project:
        """Return what runs; nothing needs a test."""
        kept = [at for at, unit in enumerate(self.units) if not unit.severity]
        place = {at: position for position, at in enumerate(kept)}
        after = (frozenset(place[before] for before in self.after[at]) for at in kept)
        return Project(tuple(self.units[at] for at in kept), tuple(after))

    def closure(self, at: int, *, up: bool, depth: int | None = None) -> set[int]:
        """Return what unit ``at`` depends on (``up``) or what depends on it, ``depth`` steps far; itself included."""
        found, edge = {at}, {at}
        while edge and (depth is None or depth > 0):
            near = (self.after[each] if up else self.needing(each) for each in edge)
            edge = set().union(*near) - found
            found |= edge
            depth = None if depth is None else depth - 1
        return found

    def needing(self, at: int) -> set[int]:
        """Return the units that depend on unit ``at`` directly."""
        return {other for other, after in enumerate(self.after) if at in after}


def project_of(files: Sequence[SqlFile], tests: Sequence[SqlFile] = (), tables: Sequence[Described] = ()) -> Project:
    """Return the project of these files, and of these tests of what they make.

    Args:
        files: what runs.
        tests: queries for rows that are wrong.
        tables: what YAML files speak of, whose tests come after those.

    Raises:
        WarehouseError: a file that does not parse, two files that make the same thing, a ref to nothing, a cycle, a
            test that is not one query, a YAML file that speaks of what no file makes.
    """
    templates = [find_templates(file) for file in files]
    drafts = [unit_of(template, _as_written) for template in templates]
    makers = _makers(drafts)
    for table in tables:
        _named(table.file, table.reference, makers)
    units = []
    for template, draft in zip(templates, drafts, strict=True):
        targets = _targets(template, makers)
        moved = any(targets[reference] != _as_written(reference) for reference in targets)
        units.append(unit_of(template, targets.__getitem__) if moved else draft)
    for template in map(find_templates, [*tests, *_asked_for(tables, makers)]):
        units.append(test_of(template, _targets(template, makers).__getitem__))
    return _ordered(units)


def _asked_for(tables: Sequence[Described], makers: Mapping[Key, Unit]) -> list[SqlFile]:
    """Return the tests that YAML files ask for."""
    streams = {made.key for unit in makers.values() for made in unit.makes if made.kind == "stream"}
    return tests_of(tables, lambda file, reference: _named(file, reference, makers).key in streams)


def _named(file: SqlFile, reference: str, makers: Mapping[Key, Unit]) -> Target:
    """Return what a YAML file names by ``ref('x')`` or the like."""
    template = find_templates(SqlFile(file.path, file.name, f"{{{{ {reference} }}}}", file))
    return _targets(template, makers)[template.references[0]]


def _makers(units: Sequence[Unit]) -> dict[Key, Unit]:
    makers: dict[Key, Unit] = {}
    for unit in units:
        for made in unit.makes:
            other = makers.setdefault(made.key, unit)
            if other is not unit:
                fail("WAREHOUSE_PROJECT_DUPLICATE", name=made.name, first=other.file.name, second=unit.file.name)
    return makers


def _as_written(reference: Reference) -> Target:
    return Target(reference.parts, key_of(reference.parts))


def _targets(template: Template, makers: Mapping[Key, Unit]) -> dict[Reference, Target]:
    return {reference: _target(template, reference, makers) for reference in template.references}


def _target(template: Template, reference: Reference, makers: Mapping[Key, Unit]) -> Target:
    """Return what a reference stands for: a table or the like, else a model."""
    if reference.kind == "source":
        return _as_written(reference)
    word = reference.parts[-1].lower()
    named = [key for key in makers if key[-1] == word]
    if not named:  # dbt's way: a file, whatever its model is called
        named = [key for key, unit in makers.items() if unit.materialized and unit.file.path.stem.lower() == word]
    keys = [(word,)] if (word,) in makers else [key for key in named if key[0] != MODEL] or named
    if len(keys) == 1:
        made = next(made for made in makers[keys[0]].makes if made.key == keys[0])
        return Target(reference.parts if keys[0] == (word,) else tuple(made.name.split(".")), made.key)
    if keys:
        reason = f"is one of {', '.join(sorted(told(key) for key in keys))}"
    else:
        near = get_close_matches(word, [key[-1] for key in makers], 1)
        reason = "is made by no file of the project" + (f"; {near[0]} is" if near else "")
    file = template.file.asked_by or template.file
    place = place_of(file, reference.parts[-1]) if template.file.asked_by else reference.span
    error = diagnostic("WAREHOUSE_PROJECT_REF", place, name=reference.parts[-1], reason=reason)
    raise WarehouseError(error, source=SourceText(file.text, file.name))


def _ordered(units: Sequence[Unit]) -> Project:
    after = _edges(units)
    left = {at: set(before) for at, before in enumerate(after)}
    ready = [at for at, before in left.items() if not before]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        at = heapq.heappop(ready)
        order.append(at)
        for other, before in left.items():
            if at in before:
                before.remove(at)
                if not before:
                    heapq.heappush(ready, other)
    if len(order) < len(units):
        files = [units[at].file.name for at in _cycle({at: left[at] for at in left if at not in order})]
        fail("WAREHOUSE_PROJECT_CYCLE", files=" needs ".join(files))
    place = {at: position for position, at in enumerate(order)}
    return Project(
        tuple(units[at] for at in order),
        tuple(frozenset(place[before] for before in after[at]) for at in order),
    )


def _edges(units: Sequence[Unit]) -> list[set[int]]:
    """Return for each unit those that run before it: readers wait for makers and writers, writers for makers."""
    makers: dict[Key, set[int]] = defaultdict(set)
    writers: dict[Key, set[int]] = defaultdict(set)
    for at, unit in enumerate(units):
        for made in unit.makes:
            makers[made.key].add(at)
        for key in unit.writes:
            writers[key].add(at)
    out = []
    for at, unit in enumerate(units):
        before: set[int] = set()
        for key in unit.reads:
            before |= makers[key] | (writers[key] if at not in writers[key] else set())
        for key in unit.writes:
            before |= makers[key]
        out.append(before - {at})
    return out


def _cycle(left: Mapping[int, set[int]]) -> list[int]:
    """Return one cycle in a graph in which everything waits for something; its first element is also the last."""
    path = [min(left)]
    while True:
        following = min(at for at in left[path[-1]] if at in left)
        if following in path:
            return [*path[path.index(following) :], following]
        path.append(following)
