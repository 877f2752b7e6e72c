"""``serve``, and the two commands that make what it lets people in by."""

from __future__ import annotations

import getpass
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from warehouse.cli.arguments import Invocation, UsageError
from warehouse.cli.codes import OK
from warehouse.cli.console import Console, Output

GRACE = 8.0
"""Seconds after which a server that was told to end does, whatever is still to be ended in it."""


def serve(invocation: Invocation, folder: Path, opener: Callable[..., Any], console: Console) -> int:
    """Serve until the process is told to end.

    Raises:
        WarehouseError: the options do not fit or leave a door open, a port is taken, or the folder is in use.
    """
    from warehouse.server.options import Options, check

    options = Options(**dict(invocation.serving))
    if options.http_port is not None and "port" not in dict(invocation.serving):
        options = replace(options, port=None)
    check(options)  # before anything takes seconds
    console.begin("starting")
    from warehouse.server.background import Local
    from warehouse.server.endpoint import Endpoint

    engine = opener(folder, {}, on_progress=console.progress)
    try:
        resumed = engine.resume()
        with Endpoint(engine, options) as endpoint, ExitStack() as local:
            console.end()
            try:
                local.enter_context(closing(Local(engine, lasting=True)))
            except OSError as error:
                console.report(f"commands on this machine do not reach this engine: {error}")
            for name in resumed:
                console.report(f"streaming table {name} runs on")
            for transport, port in (("binary", endpoint.port), ("http", endpoint.http_port)):
                if port is not None:
                    console.report(f"{transport}: {_url(options.host, port, transport, bool(options.certificate))}")
            if not options.authenticates:
                console.report("anybody who reaches the port may do everything: there is no authentication")
            _until_told()
            console.report("stopping")
            _end_within(GRACE, console)
    finally:
        engine.close()
    return 0


def password(invocation: Invocation) -> int:
    """Write a user's password into the file.

    Raises:
        UsageError: the two do not agree.
    """
    from warehouse.server.access import set_password

    assert invocation.file is not None
    if sys.stdin.isatty():
        given = getpass.getpass(f"password of {invocation.user}: ")
        if getpass.getpass("once more: ") != given:
            raise UsageError("the two passwords differ")
    else:
        given = sys.stdin.readline().rstrip("\n")
    set_password(invocation.file, invocation.user, given)
    return 0


def token(invocation: Invocation, output: Output) -> int:
    """Print a token."""
    from warehouse.server import access

    assert invocation.file is not None
    made = access.token(access.signing_key(invocation.file), invocation.user, invocation.expires)
    output.write(f"{made}\n".encode())
    return 0


def _url(host: str, port: int, transport: str, tls: bool) -> str:
    """Return what a JDBC client connects to."""
    extras = ";transportMode=http;httpPath=cliservice" if transport == "http" else ""
    return f"jdbc:hive2://{host}:{port}/default{extras}{';ssl=true' if tls else ''}"


def _until_told() -> None:
    """Wait for SIGINT or SIGTERM."""
    told: SimpleQueue[int] = SimpleQueue()  # an event's lock may be held by the very code that a signal interrupts
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: told.put(number))
    told.get()


def _end_within(seconds: float, console: Console) -> None:
    """End the process when it has not ended by then; what runs is broken off as if it had been killed."""

    def end() -> None:
        console.report("what had not stopped was broken off")
        os._exit(OK)  # the JVM's watcher ends that

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
