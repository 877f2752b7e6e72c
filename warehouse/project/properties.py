"""A project's YAML files in; what they say of its tables and columns, and the tests they ask for, out.

dbt's property files (https://docs.getdbt.com/reference/configs-and-properties), of which is read what this project has
a use for: ``models`` and ``sources`` with their descriptions, columns and ``data_tests``. What else they may hold for
dbt's sake is passed over, but for what would be a test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from warehouse.errors import SourceText, Span, WarehouseError, diagnostic
from warehouse.project.files import SqlFile
from warehouse.project.templates import SEVERITIES

GENERIC = {
    "not_null": ((), ()),
    "unique": ((), ()),
    "accepted_values": (("values",), ("quote",)),
    "relationships": (("to", "field"), ()),
}
"""The tests that are known by name, each with the arguments it needs and those it may have."""

_ABOUT_TABLES = re.compile(r"^(models|sources|unit_tests|seeds|snapshots)\s*:", re.MULTILINE)
"""What a file says of tables, whether or not the rest of it can be read: that of other programs need not be."""

_OTHER_TESTS = ("unit_tests", "seeds", "snapshots")
_REFERENCE = re.compile(r"(ref|source)\s*\(\s*(['\"][^'\"]+['\"])\s*(?:,\s*(['\"][^'\"]+['\"])\s*)?\)")


@dataclass(frozen=True)
class Check:
    """One test that a YAML file asks for.

    Attributes:
        kind: a key of ``GENERIC``. name: the test's. column: SQL for it.
        arguments: by name. where: a condition for the rows it is about, or None.
        severity: ``error`` or ``warn``. tags: words for ``--select tag:…``.
    """

    kind: str
    name: str
    column: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    where: str | None = None
    severity: str = "error"
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Described:
    """What a YAML file says of one table.

    Attributes:
        file: the YAML file. reference: what stands for the table in a template, ``ref('x')`` or ``source('a', 'b')``.
        name: the table's. columns: what they hold, by name.
    """

    file: SqlFile
    reference: str
    name: str
    description: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()


def described(files: Iterable[SqlFile]) -> list[Described]:
    """Return what YAML files say, in their order; files that are about other things say nothing.

    Raises:
        WarehouseError: one is no YAML, or says what nobody understands.
    """
    return [each for file in files for each in _of_file(file)]


def _of_file(file: SqlFile) -> Iterator[Described]:
    try:
        document = yaml.safe_load(file.text)
    except (yaml.YAMLError, ValueError) as error:
        if _ABOUT_TABLES.search(file.text):
            _wrong(file, _told(error), _marked(error))
        return
    if not isinstance(document, dict):
        return
    for key in _OTHER_TESTS:
        if key in document and (key == "unit_tests" or _asks(document[key])):
            _wrong(file, f"{key}: tests of these are not run here; models and sources have data_tests")
    for model in _maps(file, "models", document.get("models")):
        name = _name(file, "models", model)
        yield _table(file, f"ref({name!r})", name, name, model)
    for source in _maps(file, "sources", document.get("sources")):
        schema = source.get("schema") or _name(file, "sources", source)
        if not isinstance(schema, str):
            _wrong(file, f"{source.get('name')}: schema is a name")
        for table in _maps(file, "tables", source.get("tables")):
            name = _name(file, "tables", table)
            yield _table(file, f"source({schema!r}, {name!r})", name, f"source_{schema}_{name}", table)


def _told(error: Exception) -> str:
    """Return what is wrong with a file that is no YAML, without the place."""
    if isinstance(error, yaml.MarkedYAMLError):
        return "it is no YAML: " + ", ".join(filter(None, (error.context, error.problem)))
    return f"it is no YAML: {' '.join(str(error).split())}"


def _marked(error: Exception) -> Span | None:
    mark = getattr(error, "problem_mark", None)
    return Span(mark.index, mark.index + 1) if mark else None


def place_of(file: SqlFile, word: str) -> Span | None:
    """Return where a YAML file says a word first: as a name if it does, None where it does not say it so."""
    written = rf"(?<!\w){re.escape(word)}(?!\w)"
    found = re.search(rf"\bname:\s*['\"]?({written})", file.text) or re.search(f"({written})", file.text)
    return Span(*found.span(1)) if found else None


def _asks(value: object) -> bool:
    """Say whether tests are asked for anywhere in a part of a document."""
    if isinstance(value, dict):
        return any(key in ("tests", "data_tests") or _asks(inner) for key, inner in value.items())
    return isinstance(value, list) and any(map(_asks, value))


def _table(file: SqlFile, reference: str, name: str, label: str, table: Mapping[str, Any]) -> Described:
    checks = [_check(file, label, table.get("column_name"), asked) for asked in _tests_of(file, name, table)]
    columns = {}
    for column in _maps(file, f"{name}: columns", table.get("columns")):
        its_name = _name(file, f"{name}: columns", column)
        columns[its_name] = str(column.get("description") or "").strip()
        where = f"{name}.{its_name}"
        checks += [_check(file, label, its_name, asked) for asked in _tests_of(file, where, column)]
    return Described(file, reference, name, str(table.get("description") or "").strip(), columns, tuple(checks))


def _tests_of(file: SqlFile, where: str, holder: Mapping[str, Any]) -> list[object]:
    found = [*_list(file, f"{where}: tests", holder.get("tests"))]
    return found + _list(file, f"{where}: data_tests", holder.get("data_tests"))


def _check(file: SqlFile, label: str, column: object, asked: object) -> Check:
    """Return one entry of ``data_tests``: a name, or a name with arguments and settings under it or beside it."""
    kind, given = _asked_for(asked)
    where = f"{label}: {kind}"
    if not isinstance(kind, str) or kind not in GENERIC:
        known = ", ".join(GENERIC)
        place = place_of(file, kind) if isinstance(kind, str) else None
        _wrong(file, f"{label}: there is no test {kind}; known are {known}, and queries in the folder tests", place)
    if given is not None and not isinstance(given, dict):
        _wrong(file, f"{where} takes arguments by name")
    values = dict(given or {})
    values |= _map(file, f"{where}: arguments", values.pop("arguments", None))
    settings = _map(file, f"{where}: config", values.pop("config", None))
    settings |= {key: values.pop(key) for key in ("severity", "where", "tags") if key in values}
    name, on = values.pop("name", None), values.pop("column_name", column)
    values.pop("description", None)
    needed, possible = GENERIC[kind]
    if "values" in values:
        listed = _list(file, f"{where}: values", values["values"])
        values["values"] = [value for value in listed if value is not None]  # NULL passes anyway
    for key in needed:
        if values.get(key) in (None, []):
            _wrong(file, f"{where} needs {key}")
    for key in values.keys() - {*needed, *possible}:
        _wrong(file, f"{where} takes no {key}")
    for key in settings.keys() - {"severity", "where", "tags"}:
        _wrong(file, f"{where}: {key} is not one of severity, where, tags")
    if not isinstance(on, str) or not on:
        _wrong(file, f"{where} belongs to a column, or says column_name")
    severity = str(settings.get("severity", "error")).lower()
    if severity not in SEVERITIES:
        _wrong(file, f"{where}: severity is {' or '.join(SEVERITIES)}")
    if "to" in values:
        values["to"] = _to(file, where, values["to"])
    tags = settings.get("tags")
    return Check(
        kind, _word(str(name)) if name else _named(kind, label, on, values), on, values,
        None if settings.get("where") is None else str(settings["where"]), severity,
        (tags,) if isinstance(tags, str) else tuple(map(str, _list(file, f"{where}: tags", tags))),
    )  # fmt: skip


def _asked_for(asked: object) -> tuple[object, object]:
    """Return which test is asked for, and what is said under its name or, where ``test_name`` names it, beside it."""
    if isinstance(asked, dict) and "test_name" in asked:
        return asked["test_name"], {key: value for key, value in asked.items() if key != "test_name"}
    if isinstance(asked, dict) and len(asked) == 1:
        return next(iter(asked.items()))
    return asked, None


def _named(kind: str, label: str, column: str, arguments: Mapping[str, Any]) -> str:
    """Return a test's name as dbt makes it of what it is about."""
    about = [str(value) for value in arguments.get("values", ())]
    if kind == "relationships":
        about = [str(arguments["field"]), str(arguments["to"])]
    return _word("__".join([f"{kind}_{label}_{column}", *about]))


def _word(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_")


def _to(file: SqlFile, where: str, value: object) -> str:
    found = _REFERENCE.fullmatch(str(value).strip().strip("{}").strip())
    if found is None:
        _wrong(file, f"{where}: to is ref('name') or source('schema', 'table')")
    return f"{found[1]}({', '.join(part for part in found.groups()[1:] if part)})"


def _name(file: SqlFile, where: str, value: Mapping[str, Any]) -> str:
    name = value.get("name")
    if name is not None and not isinstance(name, str):
        _wrong(file, f"{where}: the name {name} is a word of YAML's or a number: write it in quotes")
    if not isinstance(name, str) or not name:
        _wrong(file, f"{where}: one has no name")
    return name


def _map(file: SqlFile, where: str, value: object) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        _wrong(file, f"{where} are values by name")
    return value


def _maps(file: SqlFile, where: str, value: object) -> Sequence[dict[str, Any]]:
    listed = _list(file, where, value)
    if not all(isinstance(each, dict) for each in listed):
        _wrong(file, f"{where} is a list of things with a name")
    return listed


def _list(file: SqlFile, where: str, value: object) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        _wrong(file, f"{where} is a list")
    return value


def _wrong(file: SqlFile, reason: str, place: Span | None = None) -> NoReturn:
    error = diagnostic("WAREHOUSE_PROJECT_YAML", place, file=file.name, reason=reason)
    raise WarehouseError(error, source=SourceText(file.text, file.name))
