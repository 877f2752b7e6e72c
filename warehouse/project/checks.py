"""What YAML files ask to be tested in; the same tests as SQL files, like those that users write, out.

A test is a query for the rows that are wrong (dbt's data tests, https://docs.getdbt.com/docs/build/data-tests).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial

from warehouse.errors import fail
from warehouse.project.files import SqlFile
from warehouse.project.properties import Check, Described
from warehouse.project.templates import quoted

IsStream = Callable[[str], bool]
"""Says of ``ref('x')`` or the like whether that is a stream, whose rows are asked for by STREAM."""


def tests_of(tables: Iterable[Described], is_stream: Callable[[SqlFile, str], bool]) -> list[SqlFile]:
    """Return a file for each test, at a made-up place under its YAML file.

    Args:
        tables: what is tested.
        is_stream: the same as ``IsStream`` says, of what a file names.

    Raises:
        WarehouseError: two tests have one name.
    """
    found: dict[str, SqlFile] = {}
    for table in tables:
        for check in table.checks:
            path = table.file.path / check.name
            config = f"{{{{ config(severity={check.severity!r}, tags={list(check.tags)!r}) }}}}"
            text = f"{config} {query(check, table.reference, partial(is_stream, table.file))}"
            if check.name in found:
                reason = f"two tests are called {check.name}; give one of them a name"
                fail("WAREHOUSE_PROJECT_YAML", file=table.file.name, reason=reason)
            found[check.name] = SqlFile(path, f"{table.file.name}: {check.name}", text, table.file)
    return list(found.values())


def query(check: Check, reference: str, is_stream: IsStream) -> str:
    """Return SQL, with templates, for the rows that are wrong.

    Args:
        check: what is tested.
        reference: ``ref('x')`` or the like, of the table that is tested.
        is_stream: see ``IsStream``; of that reference and of the one that ``check`` names.
    """
    table, column = _template(reference, is_stream), _column(check.column)
    if check.where is not None:
        table = f"(SELECT * FROM {table} WHERE {check.where}\n)"
    match check.kind:
        case "not_null":
            return f"SELECT * FROM {table} WHERE {column} IS NULL"
        case "unique":
            return (
                f"SELECT {column}, count(*) AS n_records FROM {table} WHERE {column} IS NOT NULL"
                f" GROUP BY {column} HAVING count(*) > 1"
            )
        case "accepted_values":
            is_text = check.arguments.get("quote", True)
            listed = ", ".join(_literal(value, bool(is_text)) for value in check.arguments["values"])
            return (
                f"SELECT {column} AS value_field, count(*) AS n_records FROM {table}"
                f" WHERE {column} NOT IN ({listed}) GROUP BY {column}"
            )
    parent, field = _template(check.arguments["to"], is_stream), _column(str(check.arguments["field"]))
    return (
        f"SELECT child.* FROM {table} AS child LEFT ANTI JOIN {parent} AS parent"
        f" ON child.{column} = parent.{field} WHERE child.{column} IS NOT NULL"
    )


def _template(reference: str, is_stream: IsStream) -> str:
    return f"{'STREAM ' if is_stream(reference) else ''}{{{{ {reference} }}}}"


def _column(name: str) -> str:
    """Return a column as SQL: a name, or a path into a struct."""
    return name if re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", name) else quoted((name,))


def _literal(value: object, is_text: bool) -> str:
    """Return a value of a YAML file as SQL."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)) or not is_text:
        return str(value)
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"
