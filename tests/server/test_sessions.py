"""Sessions are apart; a statement is cancelled, takes too long, or is one too many; results pass through."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Jdbc
from warehouse.engine import Engine
from warehouse.server.endpoint import AUDIT, Endpoint
from warehouse.server.options import Options

SLOW = "SELECT count(*) FROM range(0, 40000000000, 1, 4000) WHERE hash(id) = 7"
"""Minutes, in tasks of a tenth of a second: Spark takes a core from nobody who has one."""


def wait_until(holds: Callable[[], Any], seconds: float = 120) -> None:
    """Wait for something that other threads bring about; fail when it does not come, however busy the machine is."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_sessions_are_apart(schema: str, pyhive: Callable[..., Any]) -> None:
    one, two = pyhive().cursor(), pyhive("eve").cursor()
    one.execute(f"USE {schema}")
    one.execute("CREATE TEMPORARY VIEW own AS SELECT 1 AS x")
    one.execute("SET spark.sql.shuffle.partitions=7")
    two.execute("SELECT current_schema()")
    assert two.fetchall() == [("default",)]
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        two.execute("SELECT * FROM own")
    two.execute("SET spark.sql.shuffle.partitions")
    assert two.fetchall()[0][1] != "7"
    one.execute("CREATE TABLE shared (a INT)")
    two.execute(f"SELECT * FROM {schema}.shared")
    assert two.fetchall() == []
    one.execute("SELECT * FROM own")
    assert one.fetchall() == [(1,)]


def test_a_session_that_ends_takes_nothing_from_those_that_begin(engine: Engine, pyhive: Callable[..., Any]) -> None:
    """Hive removes the folder of a session's jars; of two sessions that make one folder at once, one is refused."""
    pyhive().close()
    wait_until(lambda: (engine.folder / "tmp" / "hive-resources").is_dir())


def test_what_one_session_put_into_memory_serves_another(schema: str, pyhive: Callable[..., Any]) -> None:
    one, two = pyhive().cursor(), pyhive("eve").cursor()
    one.execute(f"CREATE TABLE {schema}.held TBLPROPERTIES ('cache' = 'true') AS SELECT id FROM range(9)")
    two.execute(f"EXPLAIN SELECT * FROM {schema}.held")
    assert "Scan In-memory table" in two.fetchall()[0][0]
    two.execute(f"SELECT count(*) FROM {schema}.held")
    assert two.fetchall() == [(9,)]


def running(engine: Engine) -> set[int]:
    """The jobs that run. Spark tells of one's end a little late: who waits for new ones tells them by their numbers."""
    return set(engine.spark.sparkContext.statusTracker().getActiveJobsIds())


def cancel(text: str, engine: Engine, jdbc: Jdbc, after: float = 0) -> None:
    """Run a statement and cancel it ``after`` as many seconds as it has had a job; it fails, and its jobs are gone."""
    failure: list[Any] = []

    def run() -> None:
        try:
            jdbc.run(text)
        except Exception as error:
            failure.append(error)

    before = running(engine)
    thread = threading.Thread(target=run)
    thread.start()
    # Until Hive's driver knows by which number the server calls the statement, it cancels nothing, and does not say so.
    wait_until(lambda: running(engine) - before and jdbc.statement.getYarnATSGuid())
    time.sleep(after)
    jdbc.statement.cancel()
    thread.join(120)
    assert failure
    wait_until(lambda: not running(engine) - before)


def test_a_query_is_cancelled(engine: Engine, jdbc: Jdbc) -> None:
    cancel(SLOW, engine, jdbc)
    jdbc.statement = jdbc.connection.createStatement()
    assert jdbc.run("SELECT 1") == [["1"]]


def test_a_client_that_fetches_what_it_cancelled_is_told_so(engine: Engine, pyhive: Callable[..., Any]) -> None:
    from pyhive.exc import OperationalError

    cursor = pyhive().cursor()
    before = running(engine)
    cursor.execute(SLOW, async_=True)
    wait_until(lambda: running(engine) - before)
    cursor.cancel()
    wait_until(lambda: not running(engine) - before)
    with pytest.raises(OperationalError) as caught:
        cursor.fetchall()
    status = caught.value.args[0].status
    told = "[WAREHOUSE_CANCELLED] The statement was cancelled. SQLSTATE: 57014"
    assert (status.errorMessage, status.sqlState) == (told, "57014")


def test_a_statement_of_ours_is_cancelled(engine: Engine, schema: str, jdbc: Jdbc, at: Path) -> None:
    (at / "s").mkdir()
    (at / "s" / "1.json").write_text('{"a": 1}\n')
    jdbc.run(f"USE {schema}")
    jdbc.run("CREATE STREAM s (a INT) USING json OPTIONS (path 's')")
    counted = SLOW.replace("count(*)", "count(*) AS c")
    slow = f"CREATE STREAMING TABLE t AS SELECT s.a, b.c FROM STREAM s JOIN ({counted}) b"
    cancel(slow, engine, jdbc, after=0.5)
    wait_until(lambda: engine.catalog.streaming_tables.get(schema, "t") is None)
    jdbc.statement = jdbc.connection.createStatement()
    assert jdbc.run("SHOW STREAMING TABLES") == []


def test_a_short_query_has_its_turn_beside_as_many_long_ones_as_there_are_cores(
    engine: Engine, pyhive: Callable[..., Any], jdbc: Jdbc
) -> None:
    before, long_ones = running(engine), []
    for number in range(engine.spark.sparkContext.defaultParallelism + 1):
        long_ones.append(pyhive().cursor())
        long_ones[-1].execute(SLOW, async_=True)
        wait_until(lambda wanted=number + 1: len(running(engine) - before) >= wanted)
    jdbc.statement.setQueryTimeout(100)  # the long ones take longer
    for _ in range(3):
        assert jdbc.run("SELECT count(*) FROM range(0, 1000, 1, 2)") == [["1000"]]
    assert len(running(engine) - before) >= len(long_ones)
    for cursor in long_ones:
        cursor.cancel()
    wait_until(lambda: not running(engine) - before)


def test_a_statement_that_takes_too_long(engine: Engine, jdbc: Jdbc) -> None:
    before = running(engine)
    jdbc.statement.setQueryTimeout(1)
    told = jdbc.fails(SLOW)
    assert "timed out" in told.text
    wait_until(lambda: not running(engine) - before)


def test_a_thread_that_closes_a_session_asks_for_none_of_hives_functions(
    endpoint: Endpoint, engine: Engine, view: Any
) -> None:
    assert endpoint.port
    conf = engine.spark._jsparkSession.sharedState().externalCatalog().unwrapped().client().conf()
    with ThreadPoolExecutor(1) as pool:  # a thread of its own there too, which has not looked at the metastore yet
        assert pool.submit(view.org.apache.hadoop.hive.ql.metadata.Hive.get, conf).result() is not None


def test_limits(engine: Engine, view: Any) -> None:
    limits = Options(port=0, sessions=4, sessions_per_user=2, statements=3, statements_per_user=1)
    with Endpoint(engine, limits) as endpoint:
        url = f"jdbc:hive2://127.0.0.1:{endpoint.port}/default"
        first, second = Jdbc(view, url), Jdbc(view, url)
        with pytest.raises(Exception, match=r"WAREHOUSE_SERVER_BUSY.*2 sessions of this user are open"):
            Jdbc(view, url)
        thread = threading.Thread(target=lambda: first.fails(SLOW))
        before = running(engine)
        thread.start()
        wait_until(lambda: running(engine) - before and first.statement.getYarnATSGuid())  # see ``cancel``
        told = second.fails("SELECT 1")
        assert told.state == "53300"
        assert told.text.startswith("[WAREHOUSE_SERVER_BUSY] 1 statements of this user run, and more are not served")
        eve = Jdbc(view, url, "eve")
        assert eve.run("SELECT 1") == [["1"]]  # beside the slow one, which has a pool of its own
        first.statement.cancel()
        thread.join(120)
        assert second.run("SELECT 1") == [["1"]]
        for client in (first, second, eve):
            client.close()
        wait_until(lambda: endpoint.sessions == 0)


def left_by(endpoint: Endpoint, user: str) -> int:
    """Return how many sessions a user has: others' come and go meanwhile."""
    return int(endpoint._house.ledger().sessionsOf(user))


def in_the_front(cursor: Any, engine: Engine) -> threading.Thread:
    """Let a client wait for a statement of minutes until it has a job; return who waits."""

    def wait() -> None:
        with suppress(Exception):  # in whatever way it is told that it waits in vain
            cursor.execute(SLOW)

    before, waiting = running(engine), threading.Thread(target=wait)
    waiting.start()
    wait_until(lambda: running(engine) - before)
    return waiting


@pytest.mark.parametrize("when", ["while it runs", "while it waits", "while it fetches"])
def test_a_client_that_vanishes(when: str, endpoint: Endpoint, pyhive: Callable[..., Any], engine: Engine) -> None:
    wait_until(lambda: not running(engine))
    connection = pyhive(when)
    assert left_by(endpoint, when) == 1
    cursor = connection.cursor(arraysize=100)
    if when == "while it fetches":
        cursor.execute("SELECT id, repeat('x', 100) FROM range(0, 1000000000, 1, 20000)")
        assert cursor.fetchmany(250)[-1][0] == 249
    elif when == "while it runs":
        cursor.execute(SLOW, async_=True)
        wait_until(lambda: len(running(engine)) == 1)
    else:
        in_the_front(cursor, engine)
    connection._transport._trans.handle.shutdown(socket.SHUT_RDWR)
    wait_until(lambda: left_by(endpoint, when) == 0)
    wait_until(lambda: not running(engine))


def test_a_client_that_waits_stays_though_its_connection_is_looked_at(pyhive: Callable[..., Any]) -> None:
    cursor = pyhive().cursor()
    cursor.execute("SELECT java_method('java.lang.Thread', 'sleep', 3000L) IS NULL AS slept")
    assert cursor.fetchall() == [(False,)]


def test_an_endpoint_that_ends_breaks_off_what_runs(engine: Engine) -> None:
    from pyhive import hive

    wait_until(lambda: not running(engine))
    with Endpoint(engine, Options(port=0)) as endpoint:
        assert endpoint.port
        waiting = in_the_front(hive.connect("127.0.0.1", endpoint.port, username="ada").cursor(), engine)
    waiting.join(120)
    assert not waiting.is_alive()
    wait_until(lambda: not running(engine))


def test_a_server_that_is_told_to_end_by_many_signals_at_once_stops_to_wait() -> None:
    text = """if True:
        import os, signal, threading, time
        from warehouse.cli.serving import _until_told
        def tell():
            while signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
                time.sleep(0.01)
            time.sleep(0.5)  # most likely it waits by now; if not, it is to end all the same
            while True:
                os.kill(os.getpid(), signal.SIGINT)
                os.kill(os.getpid(), signal.SIGTERM)
        threading.Thread(target=tell, daemon=True).start()
        _until_told()
        print("told", flush=True)
        os._exit(0)"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "told\n")


def test_a_process_that_was_told_to_end_does() -> None:
    text = """if True:
        import threading
        from warehouse.cli.console import Console
        from warehouse.cli.serving import _end_within
        _end_within(0.1, Console())
        threading.Event().wait()"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "what had not stopped was broken off\n")


def test_a_full_disk_costs_lines_of_the_audit_log_and_says_so(engine: Engine, pyhive: Callable[..., Any]) -> None:
    log, aside = engine.folder / "logs" / AUDIT, engine.folder / "logs" / "aside"
    cursor = pyhive("recorded").cursor()
    log.rename(aside)
    log.symlink_to("/dev/full")  # every write says that no space is left
    try:
        cursor.execute("SELECT 1")
        assert cursor.fetchall() == [(1,)]
        told = (engine.folder / "logs" / "engine.log").read_text
        wait_until(lambda: "the audit log cannot be written" in told() and "No space left on device" in told())
        cursor.execute("SELECT 2")
    finally:
        log.unlink()
        aside.rename(log)
    cursor.execute("SELECT 3")
    wait_until(lambda: '"event":"missing"' in log.read_text())
    [gap] = [json.loads(line) for line in log.read_text().splitlines() if '"event":"missing"' in line]
    assert gap["lines"] >= 2


def test_sessions_that_idle_are_closed(engine: Engine, view: Any) -> None:
    with Endpoint(engine, Options(port=0, idle_session=5)) as endpoint:
        client = Jdbc(view, f"jdbc:hive2://127.0.0.1:{endpoint.port}/default")
        client.statement.close()
        assert endpoint.sessions == 1
        wait_until(lambda: endpoint.sessions == 0)


def test_every_statement_leaves_a_line(engine: Engine, pyhive: Callable[..., Any]) -> None:
    cursor = pyhive("auditor").cursor()
    cursor.execute("SELECT 'a secret' AS s")
    cursor.fetchall()
    with pytest.raises(Exception, match="42703"):
        cursor.execute("SELECT nope")
    log = engine.folder / "logs" / AUDIT
    wait_until(lambda: log.read_text().count('"user":"auditor"') >= 4)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    mine = [line for line in lines if line.get("user") == "auditor"]
    assert [line["event"] for line in mine[:1]] == ["session"]
    told = [(line["verb"], line["ended"], line["condition"]) for line in mine if line["event"] == "statement"]
    assert told[-2:] == [("SELECT", "finished", None), ("SELECT", "failed", "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION")]
    assert "a secret" not in log.read_text()


def test_a_view_says_what_its_query_says_now(schema: str, pyhive: Callable[..., Any], tmp_path: Path) -> None:
    one, two = pyhive().cursor(), pyhive("eve").cursor()

    def rows(asking: Any, text: str) -> list[Any]:
        asking.execute(text)
        return asking.fetchall() if asking.description else []

    for asking in (one, two):
        rows(asking, f"USE {schema}")
    (tmp_path / "1.json").write_text('{"k": "a"}\n')
    rows(one, f"CREATE STREAM s (k STRING) USING json OPTIONS (path '{tmp_path}')")
    rows(one, "CREATE STREAMING TABLE t AS SELECT k FROM STREAM s")
    for name in ("steps", "script", "immediate"):
        rows(one, f"CREATE VIEW {name} AS SELECT step FROM stream_progress('t')")
    rows(one, "CREATE TEMPORARY VIEW newest AS SELECT max(step) FROM stream_progress('t')")
    rows(two, "CREATE TEMPORARY VIEW newest AS SELECT -max(step) FROM stream_progress('t')")
    (tmp_path / "2.json").write_text('{"k": "b"}\n')
    rows(one, "REFRESH STREAMING TABLE t")
    assert rows(two, "/* a /* comment */ SHOW */ SELECT * FROM steps") == [(1,), (2,)]
    assert (rows(one, "SELECT * FROM newest"), rows(two, "SELECT * FROM newest")) == ([(2,)], [(-2,)])
    rows(two, "BEGIN CREATE OR REPLACE VIEW script AS SELECT 'script' AS step; END")
    rows(two, "EXECUTE IMMEDIATE 'CREATE OR REPLACE VIEW immediate AS SELECT ''immediate'' AS step'")
    rows(one, "REFRESH STREAMING TABLE t FULL")
    for name in ("script", "immediate"):
        assert rows(two, f"SELECT * FROM {name}") == [(name,)]
    rows(two, "DROP STREAMING TABLE t")
    with pytest.raises(Exception, match="The view steps can no longer be read: There is no streaming table t"):
        rows(two, "SELECT * FROM steps")
