"""The connections by which Spark's threads call Python, a thread and two sockets each.

Every streaming query has a thread of its own, and Py4J ends a connection with Python's thread, never with Java's: a
step for which a query is started would leave one behind.
"""

from __future__ import annotations

from typing import Any

from warehouse.execution import java_sources
from warehouse.execution.local_files import SOURCES


def caller(gateway: Any) -> int | None:
    """Return the port of the JVM from which this thread is called; None where no thread of Java's calls it."""
    connection = gateway._gateway_client.get_thread_connection()
    return connection.socket.getpeername()[1] if connection and connection.socket else None


def hang_up(gateway: Any, port: int) -> None:
    """End the connection from a port of the JVM, whose thread has ended."""
    client = gateway.java_gateway_server.getCallbackClient()
    java_sources.load(gateway, SOURCES, "warehouse.execution.Callbacks").newInstance().hangUp(client, port)
