"""What tools see: JDBC's metadata, PyHive's and SQLAlchemy's lists, Beeline, the pages."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest

from tests.server.conftest import Jdbc
from tests.server.test_sessions import wait_until
from tests.statements import rows_of
from warehouse.engine import Engine
from warehouse.server.endpoint import Endpoint

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def things(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the name of a schema with one thing of each kind."""
    folder = tmp_path_factory.mktemp("listing")
    (folder / "1.json").write_text('{"k": "a", "at": "2024-05-01T12:00:27Z"}\n')
    made = f"""CREATE SCHEMA tools; USE tools;
        CREATE TABLE plain (a INT COMMENT 'the a', b DECIMAL(10,2), c ARRAY<STRING>,
            d STRUCT<aB: INT, cD: MAP<STRING, STRUCT<eF: DATE>>>);
        CREATE VIEW seen AS SELECT a FROM plain;
        CREATE STREAM s (k STRING, at TIMESTAMP) USING json OPTIONS (path '{folder}')
            WATERMARK at DELAY OF INTERVAL 1 SECOND COMMENT 'what comes';
        CREATE STREAMING TABLE counted COMMENT 'per key' AS SELECT k, count(*) AS n FROM STREAM s GROUP BY k
            WINDOW FIXED (at, SIZE INTERVAL 1 HOUR);
        USE default"""
    for result in engine.run(made):
        list(result.batches)
    return "tools"


@pytest.fixture
def metadata(jdbc: Jdbc, things: str) -> Iterator[Callable[..., list[list[Any]]]]:
    told = jdbc.connection.getMetaData()

    def ask(method: str, *given: Any) -> list[list[Any]]:
        return jdbc.rows(getattr(told, method)(*given))

    yield ask


def types(view: Any, engine: Engine, *names: str) -> Any:
    array = engine.spark.sparkContext._gateway.new_array(view.java.lang.String, len(names))
    for at, name in enumerate(names):
        array[at] = name
    return array


def test_tables_by_type(metadata: Callable[..., list[list[Any]]], view: Any, engine: Engine, jdbc: Jdbc) -> None:
    found = metadata("getTables", None, "tools", "%", None)
    assert [row[:5] for row in found] == [
        ["spark_catalog", "tools", "counted", "STREAMING TABLE", "per key"],
        ["spark_catalog", "tools", "plain", "TABLE", ""],
        ["spark_catalog", "tools", "s", "STREAM", "what comes"],
        ["spark_catalog", "tools", "seen", "VIEW", ""],
    ]
    for asked, names in (("TABLE", ["counted", "plain"]), ("VIEW", ["seen"]), ("STREAM", ["s"])):
        assert [r[2] for r in metadata("getTables", None, "tools", "%", types(view, engine, asked))] == names
    assert [r[2] for r in metadata("getTables", "spark_catalog", "TOO_S", "P%", None)] == ["plain"]
    assert [r[0] for r in metadata("getTableTypes")] == ["STREAM", "STREAMING TABLE", "TABLE", "VIEW"]
    assert metadata("getCatalogs") == [["spark_catalog"]]
    assert metadata("getSchemas", None, "too%") == [["tools", "spark_catalog"]]
    assert "warehouse_streams" not in [r[0] for r in metadata("getSchemas")]
    for client in (jdbc.run, lambda text: rows_of(engine, text)):
        for schemas in ("SHOW SCHEMAS", "SHOW DATABASES LIKE '*'"):
            told = str(client(schemas))
            assert "tools" in told and "warehouse_streams" not in told


def test_columns(metadata: Callable[..., list[list[Any]]]) -> None:
    told = [[r[3], r[4], r[5], r[6], r[8], r[11], r[16]] for r in metadata("getColumns", None, "tools", "plain", "%")]
    assert told == [
        ["a", "4", "INT", "10", "0", "the a", "1"],
        ["b", "3", "DECIMAL(10,2)", "10", "2", "", "2"],
        ["c", "2003", "ARRAY<STRING>", None, None, "", "3"],
        ["d", "2002", "STRUCT<aB:INT,cD:MAP<STRING,STRUCT<eF:DATE>>>", None, None, "", "4"],
    ]
    assert [r[3] for r in metadata("getColumns", None, "tools", "counted", "%")] == ["k", "n"]
    assert [r[3] for r in metadata("getColumns", None, "tools", "s", "a%")] == ["at"]


def test_the_rest(metadata: Callable[..., list[list[Any]]], things: str) -> None:
    assert [r[2] for r in metadata("getFunctions", None, None, "pane%")] == ["panes"]
    assert [r[2] for r in metadata("getFunctions", None, None, "date\\_trunc")] == ["date_trunc"]
    assert ["BIGINT", "-5"] in [r[:2] for r in metadata("getTypeInfo")]
    assert metadata("getPrimaryKeys", None, things, "plain") == []
    assert metadata("getImportedKeys", None, things, "plain") == []
    assert metadata("getCrossReference", None, things, "plain", None, things, "plain") == []


def test_what_a_server_tells_of_itself(endpoint: Endpoint, pyhive: Callable[..., Any]) -> None:
    from TCLIService import ttypes

    from warehouse.cli.thrift_client import ThriftEngine

    connection = pyhive("ada")
    over_http = ThriftEngine(f"http://127.0.0.1:{endpoint.http_port}")
    for client in (connection, over_http._connection):
        told = {}
        for kind in ttypes.TGetInfoType._VALUES_TO_NAMES:
            asked = ttypes.TGetInfoReq(sessionHandle=client.sessionHandle, infoType=kind)
            answer = client.client.GetInfo(asked)
            told[kind] = (answer.status.errorMessage, answer.infoValue.stringValue)
        assert told[ttypes.TGetInfoType.CLI_DBMS_NAME] == (None, "Spark SQL")
        assert told[ttypes.TGetInfoType.CLI_IDENTIFIER_QUOTE_CHAR] == (None, "`")
        refused = "[WAREHOUSE_SERVER_INFO] The server does not tell CLI_OJ_CAPABILITIES. SQLSTATE: HYC00"
        assert told[ttypes.TGetInfoType.CLI_OJ_CAPABILITIES] == (refused, "")
    user = ttypes.TGetInfoReq(sessionHandle=connection.sessionHandle, infoType=ttypes.TGetInfoType.CLI_USER_NAME)
    assert connection.client.GetInfo(user).infoValue.stringValue == "ada"
    over_http.close()


def test_references_of_a_table_to_no_other(pyhive: Callable[..., Any], things: str) -> None:
    from TCLIService import ttypes

    connection = pyhive()
    asked = ttypes.TGetCrossReferenceReq(
        sessionHandle=connection.sessionHandle, parentSchemaName=things, parentTableName="plain"
    )
    told = connection.client.GetCrossReference(asked)
    assert told.status.statusCode == ttypes.TStatusCode.SUCCESS_STATUS, told.status.errorMessage
    rows = connection.client.FetchResults(
        ttypes.TFetchResultsReq(operationHandle=told.operationHandle, orientation=0, maxRows=9)
    )
    assert rows.status.statusCode == ttypes.TStatusCode.SUCCESS_STATUS
    assert rows.results.columns[0].stringVal.values == []


def test_temporary_views_are_their_sessions_alone(jdbc: Jdbc, pyhive: Callable[..., Any], things: str) -> None:
    jdbc.run("CREATE TEMPORARY VIEW mine AS SELECT 1 AS x")
    told = jdbc.connection.getMetaData()
    assert [r[1:3] for r in jdbc.rows(told.getTables(None, None, "min%", None))] == [[None, "mine"]]
    assert jdbc.rows(told.getTables(None, things, "min%", None)) == []
    cursor = pyhive("eve").cursor()
    cursor.execute("SHOW TABLES LIKE 'min*'")
    assert cursor.fetchall() == []


def test_what_the_engine_alone_calls_is_not_shown(jdbc: Jdbc, pyhive: Callable[..., Any], things: str) -> None:
    cursor = pyhive("eve").cursor()
    for run in (jdbc.run, cursor.execute):
        run("CREATE TEMPORARY VIEW __w_stream AS SELECT 1 AS x")
        run("CREATE TEMPORARY VIEW my_stream AS SELECT 1 AS x")
    jdbc.run("CREATE TEMPORARY FUNCTION __w_f(x INT) RETURNS INT RETURN x")
    jdbc.run("CREATE TEMPORARY FUNCTION my_f(x INT) RETURNS INT RETURN x")
    for listing in (
        "TABLES",
        "VIEWS",
        "TABLES LIKE '*stream'",
        "VIEWS LIKE '*stream'",
        "TABLE EXTENDED LIKE '*stream'",
    ):
        names = [row[1] for row in jdbc.run(f"SHOW {listing}")]
        assert "my_stream" in names and "__w_stream" not in names, listing
        cursor.execute(f"SHOW {listing}")
        found = str(cursor.fetchall())
        assert "my_stream" in found and "__w_stream" not in found, listing
    cursor.execute("SHOW TABLES LIKE '*stream'")
    assert cursor.fetchall() == [("my_stream",)], "Hive's clients take the first column for the names"
    for listing in ("USER FUNCTIONS", "FUNCTIONS LIKE '*_f'"):
        names = [row[0].rpartition(".")[2] for row in jdbc.run(f"SHOW {listing}")]
        assert "my_f" in names and "__w_f" not in names, listing
    assert jdbc.run("SELECT __w_f(x) FROM __w_stream") == [["1"]]


def test_pyhive_and_sqlalchemy(endpoint: Endpoint, pyhive: Callable[..., Any], jdbc: Jdbc, things: str) -> None:
    from sqlalchemy import create_engine, inspect

    cursor = pyhive().cursor()
    cursor.execute(f"SHOW TABLES IN {things}")
    assert cursor.fetchall() == [("counted",), ("plain",), ("seen",)]
    assert jdbc.run(f"SHOW TABLES IN {things}")[0] == [things, "counted", "false"]
    database = create_engine(f"hive://ada@127.0.0.1:{endpoint.port}/default")
    told = inspect(database)
    assert told.get_table_names(things) == ["counted", "plain", "seen"]
    assert [c["name"] for c in told.get_columns("counted", things)] == ["k", "n"]
    database.dispose()


def test_beeline(endpoint: Endpoint, things: str) -> None:
    home = Path(pyspark.__file__).parent
    url = f"jdbc:hive2://127.0.0.1:{endpoint.port}/{things}"
    text = """SELECT count(*) AS c FROM panes('counted');
        CREATE STREAMING TABLE sat AS SELECT k, count(*) AS n FROM STREAM s GROUP BY k
            WINDOW SESSIONS (at, GAP INTERVAL 1 MINUTE) TRIGGER AT WATERMARK EARLY EVERY 1 ROW;
        SELECT n, _pane_timing FROM panes('sat'); DROP STREAMING TABLE sat;
        GENERATE PCA((SELECT 1.0D * id AS id FROM range(9)), k => 1); SHOW STREAM x;"""
    done = subprocess.run(
        [str(home / "bin" / "beeline"), "-u", url, "-n", "ada", "--force=true", "-e", text],
        env=os.environ | {"SPARK_HOME": str(home)}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    shown = [" ".join(line.strip("| ").replace("|", " ").split()) for line in done.stdout.splitlines()]
    assert "c" in shown and "n _pane_timing" in shown and "id pca" in shown, done.stdout + done.stderr
    assert "1 EARLY" in shown
    assert "streaming table" in done.stderr and "sat created: 1 step, " in done.stderr
    assert "SQLSTATE: 42601" in done.stderr and "\tat " not in done.stderr


def test_the_server_from_the_command_line(endpoint: Endpoint, things: str, capfdbinary: Any) -> None:
    from warehouse.cli.main import main

    server = ["--server", f"127.0.0.1:{endpoint.port}"]
    text = f"USE {things}; SELECT 1.50BD AS d, 'x' AS s, DATE'2024-05-01' AS j, NULL AS n; SHOW STREAMS"
    assert main([*server, "--format", "jsonl", "-e", text]) == 0
    first, second = capfdbinary.readouterr().out.splitlines()
    assert first == b'{"d":1.50,"s":"x","j":"2024-05-01","n":null}'
    assert second == b'{"namespace":"tools","streamName":"s","source":"json"}'
    assert main([*server, "-e", "SELECT nope"]) == 1
    assert b"        ^^^^" in capfdbinary.readouterr().err
    over_http = ["--server", f"http://127.0.0.1:{endpoint.http_port}"]
    assert main([*over_http, "-e", "SELECT 'ü' AS s; SHOW STREAMS IN tools"]) == 0
    assert capfdbinary.readouterr().out.decode().splitlines()[:2] == ["s", "ü"]
    assert main([*over_http, "-e", "SELECT nope"]) == 1
    assert b"        ^^^^" in capfdbinary.readouterr().err
    for nobody in ("127.0.0.1:1", "http://127.0.0.1:1", "nohost.invalid:10000"):
        assert main(["--server", nobody, "-e", "SELECT 1"]) == 2
        (told,) = capfdbinary.readouterr().err.decode().splitlines()
        assert f"--server {nobody}: " in told


def test_one_interrupt_cancels_what_a_server_runs(endpoint: Endpoint, engine: Engine) -> None:
    command = [sys.executable, "-m", "warehouse.cli.main", "--server", f"127.0.0.1:{endpoint.port}", "-e"]
    running = engine.spark.sparkContext.statusTracker()
    before = set(running.getActiveStageIds())
    asked = subprocess.Popen(
        [*command, "SELECT count(*) FROM range(100000000000) WHERE sha2(string(id), 256) LIKE '%zz'"],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        wait_until(lambda: set(running.getActiveStageIds()) - before)
        asked.send_signal(signal.SIGINT)
        said = asked.communicate(timeout=120)[1]
        assert asked.returncode == 130 and "cancelled" in said, said
    finally:
        asked.kill()
        asked.wait()
    wait_until(lambda: not running.getActiveStageIds())


ALL_KINDS = """SELECT struct(1 AS x, array('a"b') AS y) AS s,
    map('k', struct(DATE'2024-01-01' AS d, X'00ff' AS b)) AS m,
    INTERVAL '1' DAY AS d, INTERVAL '1-2' YEAR TO MONTH AS e, 1.50 AS f, TIME'12:00:01.5' AS g, 1 AS a, 2 AS a,
    parse_json('{"a":1}') AS h, parse_json('"1"') AS k, CAST(NULL AS VARIANT) AS l,
    CAST(X'ff41' AS STRING) AS i, NULL AS j;
    SET TIME ZONE 'America/New_York';
    SELECT TIMESTAMP'2024-03-10 06:30:00Z' AS t, array(TIMESTAMP'2024-03-10 06:30:00Z') AS a;
    SET TIME ZONE 'UTC'; SELECT id FROM range(2500) WHERE id % 500 = 0; SELECT id FROM range(0);
    SHOW TABLES IN tools LIKE 's*n'"""


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_server_gives_what_an_engine_gives(
    form: str, endpoint: Endpoint, engine: Engine, things: str, capfdbinary: Any
) -> None:
    from warehouse.cli.main import main

    class Lent:
        """The engine of all tests, which the command line does not close."""

        run, split, cancel = engine.run, engine.split, engine.cancel

        def close(self) -> None:
            pass

    assert main(["--server", f"127.0.0.1:{endpoint.port}", "--format", form, "-e", ALL_KINDS]) == 0
    given = capfdbinary.readouterr().out.decode()
    assert main(["--format", form, "-e", ALL_KINDS], opener=lambda *_, **__: Lent()) == 0
    assert given == capfdbinary.readouterr().out.decode()
    assert "01:30:00" in given and "2000" in given
    assert ('"h":{"a":1},"k":"1","l":null,' if form == "jsonl" else '"{""a"":1}",1,,') in given


def test_a_row_that_a_server_fails_on_is_the_failure_of_its_sql(endpoint: Endpoint, capfdbinary: Any) -> None:
    from warehouse.cli.main import main

    text = "SELECT raise_error('no') FROM range(5000) WHERE id > 4000; SELECT 1 AS one"
    assert main(["--server", f"127.0.0.1:{endpoint.port}", "--keep-going", "-e", text]) == 1
    said = capfdbinary.readouterr()
    assert b"[USER_RAISED_EXCEPTION]" in said.err and said.out.endswith(b"one\n1\n")


def test_the_page_shows_what_is_said(jdbc: Jdbc) -> None:
    page = (ROOT / "docs" / "endpoint.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- error -->\n```text\n(.*?)\n```", page, re.DOTALL)
    assert shown is not None
    assert jdbc.fails("SELECT count(*) FROM STREAM s WINDOW FIXD (at, SIZE INTERVAL 1 HOUR)").text == shown[1]


def test_every_statement_of_ours_holds_one_of_the_words() -> None:
    from warehouse.engine import words_of_ours

    reads = ("SELECT", "WITH", "FROM", "VALUES", "TABLE", "SHOW", "DESCRIBE", "DESC", "USE", "SET", "EXPLAIN")
    for file in (ROOT / "tests" / "corpus" / "ours").glob("*.sql"):
        for text in re.split(r"(?<=\n);\n", file.read_text(encoding="utf-8")):
            if text.lstrip(" (\n").upper().startswith(reads):
                assert re.search(words_of_ours(), text, re.IGNORECASE), text
