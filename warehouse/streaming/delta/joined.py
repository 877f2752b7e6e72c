"""Tables that are joined with rows which can be taken back have to stay as they were.

A withdrawal is joined with the table as it is by then. Where a row of the table has come, gone or changed since what is
withdrawn was joined, it would take back something else than what was added.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from warehouse.catalog.store import write_atomically
from warehouse.streaming.delta.delta_log import newest_version

_FILE = "joined.json"


def changed(folder: Path, tables: tuple[tuple[str, Path], ...], begun: bool) -> str | None:
    """Return the name of a table that holds other rows than when it was first joined, None where all are as they were.

    Args:
        folder: the streaming table's.
        tables: names and folders of the Delta tables that its query joins.
        begun: whether rows were joined before. What is found is noted if not.
    """
    file = folder / _FILE
    known: dict[str, list] = json.loads(file.read_text()) if begun and file.exists() else {}
    now = {name: _stand(table) for name, table in tables}
    for name, table in tables:
        then = known.get(name, now[name])
        if then != now[name] and not _same_rows(table, then, now[name]):
            return name
    if now != known:
        write_atomically(file, json.dumps(now))
    return None


def _stand(table: Path) -> list:
    """Return a table's newest version and what tells its commit from any other; of a table that is gone, nothing."""
    if not (table / "_delta_log").is_dir():
        return []
    version = newest_version(table)
    return [version, _digest(table, version)]


def _digest(table: Path, version: int) -> str:
    return hashlib.sha256(_commit(table, version).read_bytes()).hexdigest()


def _commit(table: Path, version: int) -> Path:
    return table / "_delta_log" / f"{version:020}.json"


def _same_rows(table: Path, then: list, now: list) -> bool:
    """Say whether the commits between, of a table that is still the same, changed no row; such as OPTIMIZE's."""
    if not then or not now:
        return False
    (version, digest), newest = then, now[0]
    commits = [_commit(table, number) for number in range(version, newest + 1)]
    if not commits or not all(commit.exists() for commit in commits) or _digest(table, version) != digest:
        return False
    lines = (line for commit in commits[1:] for line in commit.read_text().splitlines())
    actions = (action for line in lines for action in json.loads(line).values() if isinstance(action, dict))
    return not any(action.get("dataChange") for action in actions)
