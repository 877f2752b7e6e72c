"""One statement at a time changes what has a name: statements of other sessions would cross it otherwise."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from warehouse.errors import fail
from warehouse.language import statements

_CHANGING = (
    statements.CreateStream, statements.CreateStreamingTable, statements.DropObject, statements.RefreshStreamingTable,
    statements.DrainStreamingTable, statements.StartStreamingTable, statements.StopStreamingTable,
)  # fmt: skip
"""The statements that change what has a name: each reads its definition once it is alone with it."""


_MAKING = ("CREATE", "REPLACE", "ALTER", "DROP")
"""How Spark's own statements begin that make, change or drop what has a name."""


class Claims:
    """The names that statements are changing."""

    def __init__(self) -> None:
        self._locks: dict[tuple[str, str], threading.RLock] = {}

    @contextmanager
    def of(
        self, statement: statements.Statement, schema: Callable[[], str], cancelled: threading.Event
    ) -> Iterator[None]:
        """Within this, no other statement changes what this one changes.

        Args:
            statement: the one that waits for the others.
            schema: tells where names without one are looked up.
            cancelled: is set when it is to wait no longer.

        Raises:
            WarehouseError: it was cancelled while it waited.
        """
        with ExitStack() as claimed:
            for key in sorted(_changed(statement, schema)):
                lock = self._locks.setdefault(key, threading.RLock())
                while not lock.acquire(timeout=0.2):
                    if cancelled.is_set():
                        fail("WAREHOUSE_CANCELLED")
                claimed.callback(lock.release)
            yield


def _changed(statement: statements.Statement, schema: Callable[[], str]) -> set[tuple[str, str]]:
    """Return the schemas and names, in lower case, of what a statement changes."""
    if isinstance(statement, statements.Explain) and statement.mode == "ANALYZE":
        return _changed(statement.statement, schema)
    names = [statement.name] if isinstance(statement, _CHANGING) else []
    if isinstance(statement, statements.SparkStatement | statements.QueryStatement) and statement.target:
        names = [statement.target] if statement.verb.partition(" ")[0] in _MAKING else []
    if isinstance(statement, statements.Generate):
        names = [target.name for target in (statement.table, statement.model) if target]
    return {(place.lower(), last.lower()) for place, last in (name.within(schema()) for name in names)}
