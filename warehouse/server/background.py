"""An engine in the background, one per warehouse folder: it answers the command line, and ends when nobody asks.

``python -m warehouse.server.background FOLDER [SETTINGS]`` runs one. The command line's own runner does the work here,
with standard output and standard error at the other end of a socket.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from warehouse import __version__
from warehouse.cli import frames
from warehouse.cli.arguments import Invocation, UsageError, parse_arguments
from warehouse.cli.console import Console, Output
from warehouse.cli.formats import FORMATS
from warehouse.cli.interrupts import Interrupts
from warehouse.cli.projects import carry_out
from warehouse.cli.script import TROUBLE, Runner, Text
from warehouse.engine import Engine, WarehouseError, standing_in
from warehouse.project.files import load_settings

IDLE = 300.0
"""Seconds without a client after which the engine ends; ``WAREHOUSE_IDLE`` says otherwise."""
PREDECESSOR = 5.0
"""Seconds that an engine may take to give the folder back once it listens no more."""


class _Stream(io.RawIOBase):
    """A stream whose bytes travel as frames; a terminal where the client has one."""

    def __init__(self, client: _Client, kind: bytes, terminal: bool):
        self._client, self._kind, self._terminal = client, kind, terminal

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._terminal

    def write(self, data: Any) -> int:
        if self._kind == b"O" and self._client.reader_gone:
            raise BrokenPipeError
        self._client.send(self._kind, bytes(data))
        return len(data)


class _Client:
    """One connection: a session of its own, and the requests that come over it, one after the other."""

    def __init__(self, connection: socket.socket, engine: Engine, local: Local):
        self._connection, self._engine, self._local = connection, engine, local
        self._guard = threading.Lock()
        self._interrupts: Interrupts | None = None
        self.reader_gone = False

    def send(self, kind: bytes, data: bytes) -> None:
        """Send a frame.

        Raises:
            BrokenPipeError: the client is gone.
        """
        try:
            with self._guard:
                frames.send(self._connection, kind, data)
        except OSError:
            self.reader_gone = True
            raise BrokenPipeError from None

    def cancel(self) -> None:
        """Cancel what runs for the client."""
        if self._interrupts:
            self._interrupts.press()

    def serve(self) -> None:
        """Read frames until the client leaves."""
        working: threading.Thread | None = None
        try:
            while True:
                kind, data = frames.receive(self._connection)
                if kind == b"R":
                    self._interrupts, self.reader_gone = Interrupts(), False
                    working = threading.Thread(target=self._work, args=(data, self._interrupts), daemon=True)
                    working.start()
                elif kind == b"C":
                    self.cancel()
                elif kind == b"G":
                    self.reader_gone = True
                elif kind in (b"Q", b"Y"):
                    if self._local.may_end(told=kind == b"Q"):
                        self._local.end()
                    else:
                        with suppress(BrokenPipeError):
                            self.send(b"N", b"")
        except frames.Broken:
            self.reader_gone = True
            if working is not None and working.is_alive():
                self.cancel()
                working.join()
        finally:
            self._connection.close()

    def _work(self, data: bytes, interrupts: Interrupts) -> None:
        try:
            code = self._carried_out(json.loads(data), interrupts)
        except BrokenPipeError:
            return
        except BaseException as error:  # whatever ends this thread, a client that is told nothing waits for ever
            code = TROUBLE
            with suppress(BrokenPipeError):
                self.send(b"E", f"internal error: {type(error).__name__}: {error}\n".encode())
        with suppress(BrokenPipeError):
            self.send(b"X", str(code).encode())

    def _carried_out(self, asked: dict[str, Any], interrupts: Interrupts) -> int:
        if asked["version"] != __version__:
            self.send(b"E", f"the engine in the background is of version {__version__}: warehouse-sql stop\n".encode())
            return TROUBLE
        try:
            invocation = parse_arguments(asked["words"])
        except UsageError as error:
            self.send(b"E", f"warehouse-sql: {error}\n".encode())
            return TROUBLE
        wire = io.BufferedWriter(_Stream(self, b"E", asked["error_width"] is not None), 1 << 12)
        errors = io.TextIOWrapper(wire, "utf-8", write_through=True)
        console = Console(errors, verbose=invocation.verbose, quiet=invocation.quiet, columns=asked["error_width"])
        stream = io.BufferedWriter(_Stream(self, b"O", asked["output_width"] is not None), 1 << 16)
        output = Output(stream, console, columns=asked["output_width"])
        runner = Runner(
            self._engine.on(self._engine.spark, console.progress), console, output, interrupts,
            invocation.format or ("table" if output.terminal else "csv"), dict(invocation.parameters),
            keep_going=invocation.keep_going, debug=invocation.debug,
        )  # fmt: skip
        if FORMATS[runner.format].binary and output.terminal:
            self.send(b"E", f"warehouse-sql: --format {runner.format} is not for a terminal\n".encode())
            return TROUBLE
        texts = [Text(text, name) for text, name in asked["texts"]]
        with standing_in(asked["folder"]):
            if invocation.command != "sql":
                return self._with_project(invocation, Path(asked["folder"]), runner)
            return runner.check(texts) if invocation.dry_run else runner.run(texts)

    def _with_project(self, invocation: Invocation, base: Path, runner: Runner) -> int:
        """Run, test or tell about the project of a client in the folder ``base``."""
        try:
            settings = load_settings(invocation.project, base)
            if other := sorted(dict(settings.settings.items() - self._local.settings.items())):
                runner.console.warning(
                    f"the engine in the background was started without the project's settings {', '.join(other)}\n"
                    "hint: warehouse-sql stop ends it, and the next command starts it with them"
                )
            return carry_out(invocation, settings, nullcontext(runner.engine), lambda _: runner, runner.console)
        except UsageError as error:
            runner.console.error(f"warehouse-sql: {error}")
        except WarehouseError as error:
            runner.console.error(error.render())
        return TROUBLE


class Local:
    """Listens for the command line of this machine's user, beside whatever else an engine does."""

    def __init__(self, engine: Engine, settings: Mapping[str, str] | None = None, lasting: bool = False):
        """Begin to listen.

        Args:
            engine: carries out what is asked.
            settings: those that it was started with.
            lasting: it is here for others as well, and no client's to end.

        Raises:
            OSError: the place for the socket is somebody else's.
        """
        self._engine, self.settings, self._lasting = engine, settings or {}, lasting
        self._path = frames.address(engine.folder)
        self._path.unlink(missing_ok=True)  # the lock of the folder says that it is nobody's
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self._path))
        self._path.chmod(0o600)
        self._socket.listen(64)
        self._clients: dict[socket.socket, _Client | None] = {}  # None: its session is being made
        self._guard, self._making = threading.Lock(), threading.Lock()
        self._last = time.monotonic()
        self._told = threading.Event()
        self._spare: Any = None
        self._closed = False
        threading.Thread(target=self._accept, name="warehouse-local", daemon=True).start()

    def end(self) -> None:
        """Tell ``wait`` that it is time."""
        self._told.set()

    def may_end(self, told: bool) -> bool:
        """Say whether a client may end the engine: when ``told`` to, or when it runs nothing, and for nobody else."""
        return not self._lasting and (told or not self._is_needed(but_for=1))

    def _is_needed(self, but_for: int = 0) -> bool:
        """Say whether more than so many clients are connected, or a streaming table runs on."""
        return len(self._clients) > but_for or self._engine.runs_something()

    def wait(self, idle: float) -> None:
        """Return when told to end, after ``idle`` seconds without a client or a running table, or without a folder."""
        while not self._told.wait(1):
            if not self._engine.folder.exists():
                return
            if time.monotonic() - self._last > idle and not self._is_needed():
                return

    def close(self) -> None:
        """Listen no more, cancel what runs, and make no session: the engine may end."""
        self._path.unlink(missing_ok=True)
        self._socket.close()
        with self._guard:
            clients = list(self._clients.values())
        for client in filter(None, clients):
            client.cancel()
        with self._making:
            self._closed = True

    def _accept(self) -> None:
        self._make_spare()
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _make_spare(self) -> None:
        """Have a session ready for who comes next."""
        with self._making:
            if self._spare is None and not self._closed:
                self._spare = self._session()

    def _session(self) -> SparkSession:
        """Return a new session that has begun: its first statement does not wait for its catalog and functions."""
        spark = self._engine.spark
        session = SparkSession(spark.sparkContext, spark._jsparkSession.newSession())
        session.sql("SELECT 1").collect()
        return session

    def _serve(self, connection: socket.socket) -> None:
        with self._guard:
            self._clients[connection] = None
            session, self._spare = self._spare, None
        try:
            client = self._clients[connection] = _Client(
                connection, self._engine.on(session or self._session()), self
            )  # fmt: skip
            client.serve()
        finally:
            with self._guard:
                del self._clients[connection]
                self._last = time.monotonic()
            with suppress(OSError):
                os.utime(self._path)  # tells others when this was used last
        self._make_spare()  # not before: it would take the machine from the one who waits


def main() -> int:
    """Serve the folder that the command line names, with the settings that it names after it, in JSON."""
    folder, settings = Path(sys.argv[1]), dict[str, str](json.loads(sys.argv[2]) if len(sys.argv) > 2 else {})
    said = os.environ.get("WAREHOUSE_IDLE") or str(IDLE)
    if not re.fullmatch(r"\d+(\.\d*)?", said):
        print(f"warehouse: WAREHOUSE_IDLE={said} is no number of seconds", file=sys.stderr)
        return TROUBLE
    with ExitStack() as opened:
        with _turn(folder) as served:
            if served:
                return 0
            try:
                engine = opened.enter_context(_opened(folder, settings))
            except WarehouseError as error:
                print(error.render(), file=sys.stderr)
                return TROUBLE
            engine.resume()
            local = Local(engine, settings)
        # On a thread of its own: this one may hold the lock of what it waits for.
        signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=local.end, daemon=True).start())
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stderr.fileno())
        try:
            local.wait(float(said))
        finally:
            local.close()
    return 0


@contextmanager
def _turn(folder: Path) -> Iterator[bool]:
    """Within this no other engine of the folder starts; yield whether one that did before listens by now."""
    with open(frames.address(folder).with_suffix(".starting"), "w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        connection = frames.connect(folder)
        if connection is not None:
            connection.close()
        yield connection is not None


def _opened(folder: Path, settings: Mapping[str, str]) -> Engine:
    """Open the folder, which an engine that has just given way may hold for a moment yet.

    Raises:
        WarehouseError: as ``Engine.open``.
    """
    until = time.monotonic() + PREDECESSOR
    while True:  # each try waits for the folder's lock a moment
        try:
            return Engine.open(folder, settings)
        except WarehouseError as error:
            if error.condition != "WAREHOUSE_FOLDER_IN_USE" or time.monotonic() > until:
                raise


if __name__ == "__main__":
    sys.exit(main())
