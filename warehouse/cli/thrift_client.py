"""``--server``: the engine at the other end of a Thrift endpoint, as the command line's runner wants one.

Who asks is told by ``WAREHOUSE_USER`` and ``WAREHOUSE_PASSWORD``, the certificates to trust for TLS by ``WAREHOUSE_CA``
(a PEM file): a command line is everybody's to read.
"""

from __future__ import annotations

import base64
import getpass
import logging
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from warehouse.cli.arguments import UsageError
from warehouse.engine import Result, split, unpacked, unpacked_schema
from warehouse.errors import Diagnostic, SourceText, WarehouseError

ARROW = "warehouse.rows.arrow"
"""What a session is told to get its rows in Arrow's format, and the one column in which they come then."""
PARCELS = 2
"""How many are fetched at once: the first of a result has its schema alone, the others up to a thousand rows."""


LONGEST_PAUSE = 0.1
"""Seconds between two questions whether a statement has run; the first ones follow each other quickly."""


class ServerError(WarehouseError):
    """An error that the server has rendered."""

    def __init__(self, text: str, state: str | None):
        """Keep the server's text as it is."""
        self.text = text
        super().__init__(Diagnostic("WAREHOUSE_SERVER", text, state))

    def render(self) -> str:
        """Return the server's text."""
        return self.text


class ThriftEngine:
    """A session on a server."""

    def __init__(self, address: str):
        """Connect to ``HOST:PORT``, or over HTTP to ``http://HOST:PORT`` or ``https://HOST:PORT``.

        Raises:
            UsageError: nobody answers there, or it does not let this user in.
        """
        try:
            from pyhive import hive
        except ImportError:
            raise UsageError("--server needs a client: pip install 'warehouse[client]'") from None
        logging.getLogger("thrift").setLevel(logging.CRITICAL + 1)  # what it says of a failure is said here
        user = os.environ.get("WAREHOUSE_USER") or getpass.getuser()
        password = os.environ.get("WAREHOUSE_PASSWORD") or ""
        try:
            transport = _transport(address, user, password, os.environ.get("WAREHOUSE_CA"))
            self._connection = hive.Connection(
                thrift_transport=transport, configuration={f"set:hivevar:{ARROW}": "true"}
            )
        except Exception as error:
            cause = getattr(getattr(error, "inner", None), "strerror", None)
            said = cause or getattr(error, "message", None) or str(error) or type(error).__name__
            raise UsageError(f"--server {address}: {said}") from None
        self._asked = threading.Event()

    def split(self, text: str, name: str | None = None) -> list[SourceText]:
        """Return the statements of a text."""
        return split(text, name)

    def compile(self, text: str, name: str | None = None) -> Sequence[object]:
        """Refuse: a server runs what it is given.

        Raises:
            UsageError: always.
        """
        raise UsageError("--dry-run does not go with --server\nhint: EXPLAIN before a statement runs nothing")

    def run(self, text: str | SourceText, *, parameters: Mapping[str, Any] | None = None) -> Iterator[Result]:
        """Run a text, one result per statement.

        Raises:
            WarehouseError: as the server tells it.
        """
        for source in [text] if isinstance(text, SourceText) else split(text):
            self._asked.clear()
            cursor = self._connection.cursor(arraysize=PARCELS)
            try:
                with _telling():
                    cursor.execute(source.text, async_=True)
                    self._wait(cursor)
                    said = " ".join(cursor.fetch_logs()[-1:]) or None
                    names = [name for name, *_ in cursor.description or ()]
                    first = cursor.fetchmany(PARCELS)
                if names == ["Result"]:  # what the protocol says for: no rows
                    yield Result(source, message=said)
                    continue
                if names != [ARROW]:
                    raise ServerError("the server is not warehouse-sql serve, or of an older version", "08004")
                schema = unpacked_schema(pa.ipc.open_stream(first[0][0]).schema)
                yield Result(source, schema, _batches(first[1:], cursor), said)
            finally:
                cursor.close()

    def _wait(self, cursor: Any) -> None:
        """Wait until a statement has run; one that is no longer wanted is cancelled.

        Whoever asks for that is on another thread, and the connection carries one call at a time.

        Raises:
            ServerError: it failed, or was cancelled.
        """
        from TCLIService.ttypes import TOperationState as State

        pause = 0.001
        while True:
            told = cursor.poll(get_progress_update=False)
            if told.operationState == State.FINISHED_STATE:
                return
            if told.operationState == State.ERROR_STATE:
                raise ServerError(told.errorMessage, told.sqlState)
            gone = told.operationState not in (State.INITIALIZED_STATE, State.PENDING_STATE, State.RUNNING_STATE)
            if gone or self._asked.wait(pause):
                if not gone:
                    cursor.cancel()
                raise ServerError("the statement was cancelled", "HY008")
            pause = min(2 * pause, LONGEST_PAUSE)

    def cancel(self) -> None:
        """Have the statement that runs cancelled, from any thread."""
        self._asked.set()

    def close(self) -> None:
        """Leave the server."""
        self._connection.close()


def _batches(parcels: list[tuple[bytes]], cursor: Any) -> Iterator[pa.RecordBatch]:
    while parcels:
        for (parcel,) in parcels:
            yield from map(unpacked, pa.ipc.open_stream(parcel))
        with _telling():
            parcels = cursor.fetchmany(PARCELS)


@contextmanager
def _telling() -> Iterator[None]:
    """Within this, what PyHive raises is an error as the server tells it."""
    from pyhive.exc import Error

    try:
        yield
    except Error as error:
        raise _told(error) from None


def _told(error: Exception) -> ServerError:
    status = getattr(error.args[0], "status", None) if error.args else None
    if status is not None:
        return ServerError(status.errorMessage or str(error), status.sqlState)
    return ServerError(
        getattr(error.args[0], "errorMessage", None) or str(error), getattr(error.args[0], "sqlState", None)
    )


def _transport(address: str, user: str, password: str, authority: str | None) -> Any:
    """Return a transport, not open yet: who asks is told in HTTP's own way, else in SASL's."""
    import ssl

    context = ssl.create_default_context(cafile=authority) if authority else None
    scheme, _, place = address.rpartition("://")
    if scheme:
        from thrift.transport.THttpClient import THttpClient

        wire = THttpClient(f"{address}/cliservice", ssl_context=context)
        wire.setCustomHeaders(
            {"Authorization": "Basic " + base64.b64encode(f"{user}:{password or '-'}".encode()).decode()}
        )
        return wire
    from pyhive import hive
    from thrift.transport.TSocket import TSocket
    from thrift.transport.TSSLSocket import TSSLSocket
    from thrift_sasl import TSaslClientTransport

    host, _, port = place.rpartition(":")
    host = host.strip("[]")
    socket = TSSLSocket(host, int(port), ssl_context=context) if context else TSocket(host, int(port))
    sasl = lambda: hive.get_installed_sasl(host, "PLAIN", "hive", user, password or "-")  # noqa: E731
    return TSaslClientTransport(sasl, "PLAIN", socket)
