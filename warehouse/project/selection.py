"""``--select`` and ``--exclude``: words in, positions of a project's units out. A subset of dbt's grammar.

``name`` (a file's stem, or anything it creates), ``path/to/file.sql``, ``folder``, a glob over paths or names,
``tag:x``, ``path:x``. ``+word`` adds what it depends on, ``word+`` what depends on it, ``2+word`` two steps far.
Words with spaces between are a union, with commas an intersection.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from warehouse.errors import fail
from warehouse.project.graph import Project
from warehouse.project.units import Unit, told


def select(project: Project, words: Iterable[str] = (), exclude: Iterable[str] = ()) -> list[int]:
    """Return the positions in ``project.units`` that are chosen, in order; all of them for no words.

    Raises:
        WarehouseError: a word that matches nothing.
    """
    return sorted(_chosen(project, words) - _any_of(project, _words(exclude)))


def select_tests(project: Project, words: Iterable[str] = (), exclude: Iterable[str] = ()) -> list[int]:
    """Return the positions of the tests that are chosen, themselves or by what they read; all of them for no words.

    Raises:
        WarehouseError: a word that matches nothing.
    """
    chosen = _tests_about(project, _chosen(project, words))
    return sorted(chosen - _tests_about(project, _any_of(project, _words(exclude))))


def _tests_about(project: Project, chosen: set[int]) -> set[int]:
    tests = (at for at, unit in enumerate(project.units) if unit.severity)
    return {at for at in tests if at in chosen or project.after[at] & chosen}


def _chosen(project: Project, texts: Iterable[str]) -> set[int]:
    words = _words(texts)
    return _any_of(project, words) if words else set(range(len(project.units)))


def _any_of(project: Project, words: Iterable[str]) -> set[int]:
    return set().union(*(_intersection(project, word) for word in words))


def _words(texts: Iterable[str]) -> list[str]:
    return [word for text in texts for word in text.split()]


def _intersection(project: Project, word: str) -> set[int]:
    found = [_one(project, part) for part in word.split(",") if part]
    return set.intersection(*found) if found else set()


def _one(project: Project, word: str) -> set[int]:
    match = re.fullmatch(r"(?P<up>(?P<far>\d*)\+)?(?P<core>.+?)(?P<down>\+(?P<deep>\d*))?", word)
    core = match["core"] if match else word
    found = {at for at, unit in enumerate(project.units) if _matches(unit, core)}
    if not found:
        fail("WAREHOUSE_PROJECT_SELECT", word=core)
    out = set(found)
    for at in found:
        if match and match["up"]:
            out |= project.closure(at, up=True, depth=int(match["far"]) if match["far"] else None)
        if match and match["down"]:
            out |= project.closure(at, up=False, depth=int(match["deep"]) if match["deep"] else None)
    return out


def _matches(unit: Unit, word: str) -> bool:
    method, colon, rest = word.partition(":")
    path = str(unit.file.path)
    if colon and method == "tag":
        return rest in unit.tags
    if colon and method == "path":
        return _path_matches(path, rest)
    names = {unit.file.path.stem.lower(), *(told(made.key) for made in unit.makes)}
    names |= {made.key[-1] for made in unit.makes}
    return _path_matches(path, word) or any(fnmatchcase(name, word.lower()) for name in names)


def _path_matches(path: str, word: str) -> bool:
    word = word.removeprefix("./").rstrip("/")
    return path == word or path.startswith(word + "/") or (("/" in word or ".sql" in word) and fnmatchcase(path, word))
