"""Starts the Thrift server on an engine, for one transport or both, and stops it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from warehouse.engine import Engine, words_of_ours
from warehouse.errors import fail
from warehouse.server.access import Gate
from warehouse.server.dialect import Callback, Dialect
from warehouse.server.options import Options, check

SOURCES = Path(__file__).parent / "java"
AUDIT = "audit.jsonl"

SESSION = {
    # A result is read partition by partition as the client fetches it: however large, it does not stand in memory.
    "spark.sql.thriftServer.incrementalCollect": "true",
    "spark.sql.timeType.enabled": "true",  # Spark's own default lets TIME through in Arrow alone
}
"""What each session starts with."""


class Endpoint:
    """A running server.

    Attributes:
        port: of the binary transport, or None.
        http_port: of the other, or None.
    """

    def __init__(self, engine: Engine, options: Options):
        """Start to listen.

        Raises:
            WarehouseError: the options do not fit or leave a door open, or the port is taken.
        """
        check(options)
        gate = Gate(options.password_file, options.token_key)
        spark = engine.spark
        gateway, view = spark.sparkContext._gateway, spark._jvm
        ensure_callback_server_started(gateway)
        self._house = engine.java(SOURCES, "warehouse.endpoint.House").newInstance()
        dialect = Dialect(engine, lambda session: SparkSession(spark.sparkContext, session))

        def judge(asked: Any) -> None:
            left = gate.lasts(asked.id(), asked.text())
            if left:
                asked.rewrite(str(left))

        answers = {
            "greet": dialect.greet, "plan": dialect.plan, "act": dialect.act, "begin": dialect.begin,
            "tell": dialect.tell, "stop": dialect.stop, "judge": judge, "list": dialect.list, "shape": dialect.shape,
        }  # fmt: skip
        settings = SESSION | {"spark.sql.thriftServer.queryTimeout": str(options.query_timeout)}
        limits = {name: getattr(options, name) for name in _LIMITS}
        self._house.open(
            spark._jsparkSession, _map(view, {name: Callback(answer) for name, answer in answers.items()}),
            words_of_ours(), engine.hidden_prefix, str(engine.folder / "logs" / AUDIT), _map(view, settings),
            _map(view, limits),
        )  # fmt: skip
        engine.adopt(self._house.root())
        engine.views.when_one_changes(self._house.readsViews)
        if options.ldap_url:
            self._house.directory(options.ldap_url, options.ldap_pattern)
        for name, value in _SYSTEM.items():
            view.java.lang.System.setProperty(name, value)
        self._parts: list[Any] = []
        self.port = self._listen(view, engine, options, "binary", options.port)
        self.http_port = self._listen(view, engine, options, "http", options.http_port)

    @property
    def sessions(self) -> int:
        """Return how many sessions are open."""
        return sum(part.sessions() for part in self._parts)

    @property
    def root(self) -> Any:
        """Return the Java session from which those of the clients come."""
        return self._house.root()

    def close(self) -> None:
        """Stop to listen and end all sessions."""
        for part in self._parts:
            part.stop()
        self._parts = []
        self._house.close()

    def __enter__(self) -> Endpoint:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _listen(self, view: Any, engine: Engine, options: Options, transport: str, port: int | None) -> int | None:
        if port is None:
            return None
        conf = _map(view, _hive(options, transport, port, engine.folder / "tmp" / "operations" / transport))
        chain, key = (str(f.absolute()) if f else None for f in (options.certificate, options.key))
        part = self._house.endpoint(conf, chain, key)
        try:
            part.start()
        except Exception as error:
            reason = next(
                (w for w in ("Address already in use", "Permission denied", "Cannot assign") if w in str(error)), ""
            )
            self.close()
            if not reason:
                raise
            fail("WAREHOUSE_SERVER_PORT", host=options.host, port=port, reason=reason)
        self._parts.append(part)
        return int(part.port())


_LIMITS = ("sessions", "sessions_per_user", "statements", "statements_per_user")

_SYSTEM = {
    # Hive reads these two from the JVM's properties alone.
    "hive.server2.custom.authentication.class": "warehouse.endpoint.Gate",
    "hive.server2.thrift.http.cookie.auth.enabled": "false",  # a cookie would outlive a token
}


def _hive(options: Options, transport: str, port: int, logs: Path) -> dict[str, str]:
    """Return Hive's settings for one transport."""
    return {
        "hive.server2.transport.mode": transport,
        "hive.server2.thrift.bind.host": options.host,
        "hive.server2.thrift.port": str(port),
        "hive.server2.thrift.http.port": str(port),
        "hive.server2.authentication": "CUSTOM" if options.authenticates else "NONE",
        "hive.server2.enable.doAs": "false",
        "hive.server2.allow.user.substitution": "false",
        "hive.server2.logging.operation.enabled": "true",
        "hive.server2.logging.operation.log.location": str(logs),
        "hive.server2.long.polling.timeout": "200ms",  # who waits for an answer cannot cancel what it is about
        "hive.server2.async.exec.threads": str(options.statements + 4),
        "hive.server2.thrift.max.worker.threads": str(options.sessions + 64),
        "hive.server2.idle.session.timeout": f"{options.idle_session * 1000}ms",
        "hive.server2.idle.session.check.operation": "true",
        "hive.server2.session.check.interval": f"{max(3, min(60, options.idle_session // 4)) * 1000}ms",
    }


def _map(view: Any, values: Mapping[str, Any]) -> Any:
    made = view.java.util.HashMap()
    for key, value in values.items():
        made.put(key, value)
    return made
