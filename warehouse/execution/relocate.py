"""A warehouse folder that was moved or copied: its catalog learns the new place before anything reads it.

Hive's catalog holds absolute locations. They are rewritten in its Derby database, through JDBC, in one
transaction; the location of the default database, in that same transaction, tells whether it has happened.
Definitions that hold paths in their text (views over streaming tables) are made anew by their owner.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from warehouse.execution.folder import Folder


@dataclass(frozen=True)
class Column:
    """A column of the catalog's database that may hold locations: its table and the keys of a row."""

    table: str
    name: str
    keys: tuple[str, ...]


COLUMNS = (
    Column("DBS", "DB_LOCATION_URI", ("DB_ID",)),
    Column("SDS", "LOCATION", ("SD_ID",)),
    Column("SERDE_PARAMS", "PARAM_VALUE", ("SERDE_ID", "PARAM_KEY")),
    Column("TABLE_PARAMS", "PARAM_VALUE", ("TBL_ID", "PARAM_KEY")),
    Column("DATABASE_PARAMS", "PARAM_VALUE", ("DB_ID", "PARAM_KEY")),
)


def url(folder: Folder, create: bool = False) -> str:
    """Return the JDBC address of the folder's catalog."""
    return f"jdbc:derby:;databaseName={folder.metastore / 'db'}" + (";create=true" if create else "")


def moved(value: str, old: Path, new: Path) -> str:
    """Return ``value`` with ``old`` replaced when it is a location in there, else as it is.

    Example:
        >>> moved("file:/a/b/tables/t", Path("/a/b"), Path("/c"))
        'file:/c/tables/t'
        >>> moved("file:/a/bc/tables/t", Path("/a/b"), Path("/c"))
        'file:/a/bc/tables/t'
    """
    scheme = next((head for head in ("file://", "file:") if value.startswith(head)), "")
    path = value[len(scheme) :]
    for before, after in ((str(old), str(new)), (quote(str(old)), quote(str(new)))):
        if path == before or path.startswith(before + "/"):
            return scheme + after + path[len(before) :]
    return value


def metastore(machine: Any, folder: Folder) -> int:
    """Rewrite the locations in the folder's catalog; returns how many.

    Args:
        machine: Py4J's view of the JVM, before its Hive client has started.
        folder: one that was moved.
    """
    if folder.moved_from is None or not (folder.metastore / "db").is_dir():
        return 0
    connection = machine.java.sql.DriverManager.getConnection(url(folder))
    try:
        connection.setAutoCommit(False)
        if _default_location(connection) == f"file:{folder.tables}":
            return 0
        changed = sum(_rewrite(connection, column, folder.moved_from, folder.path) for column in COLUMNS)
        connection.commit()
        return changed
    finally:
        connection.rollback()
        connection.close()


def _default_location(connection: Any) -> str | None:
    statement = connection.createStatement()
    try:
        rows = statement.executeQuery("SELECT DB_LOCATION_URI FROM DBS WHERE NAME = 'default'")
        return rows.getString(1) if rows.next() else None
    finally:
        statement.close()


def _rewrite(connection: Any, column: Column, old: Path, new: Path) -> int:
    """Rewrite one column; returns how many rows changed."""
    changes = [
        (keys, after) for keys, before in _values(connection, column) if (after := moved(before, old, new)) != before
    ]
    keys = " AND ".join(f"{key} = ?" for key in column.keys)
    statement = connection.prepareStatement(f"UPDATE {column.table} SET {column.name} = ? WHERE {keys}")
    try:
        for values, after in changes:
            for position, value in enumerate((after, *values), start=1):
                statement.setString(position, value)
            statement.executeUpdate()
    finally:
        statement.close()
    return len(changes)


def _values(connection: Any, column: Column) -> list[tuple[list[str], str]]:
    """Return the keys and the value of each row that has a value."""
    statement = connection.createStatement()
    try:
        rows = statement.executeQuery(f"SELECT {', '.join(column.keys)}, {column.name} FROM {column.table}")
        width = len(column.keys)
        found = []
        while rows.next():
            value = rows.getString(width + 1)
            if value is not None:
                found.append(([rows.getString(position + 1) for position in range(width)], value))
        return found
    finally:
        statement.close()
