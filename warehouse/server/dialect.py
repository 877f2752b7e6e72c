"""Answers the endpoint's parser: what a text comes to, doing what acts, Spark's errors in our words."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from warehouse.cli.console import describe
from warehouse.engine import Engine, SourceText, WarehouseError
from warehouse.errors import fail
from warehouse.server.listing import answer


class Callback:
    """A Python function as Java's ``Consumer``; what it raises reaches Java as a text without a trace."""

    def __init__(self, function: Callable[[Any], None]):
        self._function = function

    def accept(self, statement: Any) -> None:
        """Answer one statement."""
        try:
            self._function(statement)
        except WarehouseError as error:
            statement.refuse(error.render(), error.sqlstate)
        except BaseException as error:  # Java waits for an answer, whatever ends this thread
            said = " ".join(f"{type(error).__name__}: {error}".split())[:500]
            statement.refuse(f"[WAREHOUSE_INTERNAL] internal error: {said} SQLSTATE: XX000", "XX000")

    class Java:
        """What Py4J has to know."""

        implements = ("java.util.function.Consumer",)


@dataclass
class _Session:
    """An engine on one session of the endpoint.

    Attributes:
        running: the engines of the statements of ours that run in it, by statement.
        read: what lets go of the rows of those that have run, once they were read.
    """

    engine: Engine
    running: dict[str, Engine] = field(default_factory=dict)
    read: dict[str, Callable[[], None]] = field(default_factory=dict)


class Dialect:
    """The engine as the sessions of an endpoint see it; any thread may call."""

    def __init__(self, engine: Engine, spark_session: Callable[[Any], Any]):
        """Answer for ``engine``; ``spark_session`` makes PySpark's session of a Java one."""
        self._engine, self._spark_session = engine, spark_session
        self._sessions: dict[str, _Session] = {}
        self._guard = threading.Lock()

    def greet(self, statement: Any) -> None:
        """Know a session from its beginning, also one whose statements never come here."""
        self._of(statement.session())

    def plan(self, statement: Any) -> None:
        """Say what a text comes to; nothing happens."""
        prepared = self._of(statement.session()).engine.prepare(SourceText(statement.text()))
        if prepared.columns is None:
            statement.begins()
        elif prepared.text is None:
            statement.acts("\n".join(prepared.columns))
        elif prepared.text != statement.text():
            statement.rewrite(prepared.text)

    def act(self, statement: Any) -> None:
        """Run a statement that acts and hand over its rows."""
        with self._running(statement) as engine:
            rows: list[list[Any]] = []
            for result in engine.run(SourceText(statement.text())):
                for line in (*result.warnings, *([result.message] if result.message else [])):
                    statement.say(line)
                for batch in result.batches:
                    rows += [list(row.values()) for row in batch.to_pylist()]
            statement.done(json.dumps(rows, default=str))

    def begin(self, statement: Any) -> None:
        """Do what a statement does before its rows are known, and hand over the plan of these."""
        if not statement.id():
            fail("WAREHOUSE_ROWS_UNKNOWN")
        with self._running(statement) as engine:
            frame, release = engine.begin(SourceText(statement.text()))
            self._of(statement.session()).read[statement.id()] = release
            statement.gives(frame._jdf.queryExecution().analyzed())

    @contextmanager
    def _running(self, statement: Any) -> Iterator[Engine]:
        """Within this, ``stop`` cancels a statement; yields the engine that runs it and reports to its log."""
        session, identity = self._of(statement.session()), statement.id()

        def report(step: Any) -> None:
            statement.say(describe(step))

        engine = session.engine.on(session.engine.spark, report)
        session.running[identity] = engine
        try:
            yield engine
        finally:
            session.running.pop(identity, None)

    def tell(self, statement: Any) -> None:
        """Say in our words what Spark raised for a statement; without that, what its text says in a word or two."""
        failure = statement.failure()
        if failure is None:
            match statement.text().split():
                case ["cancelled"]:
                    fail("WAREHOUSE_CANCELLED")
                case ["info", asked]:
                    fail("WAREHOUSE_SERVER_INFO", type=asked)
                case [limit, most]:
                    fail("WAREHOUSE_SERVER_BUSY", what=_LIMITS[limit], most=most)
        from pyspark.errors.exceptions.captured import convert_exception

        source = SourceText(statement.text())
        raise self._of(statement.session()).engine.explain_failure(source, convert_exception(failure))

    def list(self, statement: Any) -> None:
        """List what there is."""
        answer(statement, self._of(statement.session()).engine)

    def shape(self, statement: Any) -> None:
        """Give a statement's rows types that Arrow knows."""
        statement.shaped(*self._of(statement.session()).engine.for_arrow(statement.frame()))

    def stop(self, statement: Any) -> None:
        """Cancel a statement, if it runs, and let go of what it is read from; without one, forget the session."""
        identity = statement.id()
        with self._guard:
            key = statement.session().sessionUUID()
            session = self._sessions.get(key) if identity else self._sessions.pop(key, None)
        if session is None:
            return
        for each in [identity] if identity else list(session.running):
            if engine := session.running.get(each):
                engine.cancel()
        for each in [identity] if identity else list(session.read):
            if release := session.read.pop(each, None):
                release()

    def _of(self, java_session: Any) -> _Session:
        key = java_session.sessionUUID()
        with self._guard:
            known = self._sessions.get(key)
            if known is None:
                known = self._sessions[key] = _Session(self._engine.on(self._spark_session(java_session)))
            return known


_LIMITS = {
    "sessions": "sessions are open",
    "sessions_per_user": "sessions of this user are open",
    "statements": "statements run",
    "statements_per_user": "statements of this user run",
}
