"""Statements over JDBC and PyHive give what they give in the process: rows, types and errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Jdbc
from warehouse.engine import Engine, WarehouseError

PLAYS = """{"team": "red",  "score": 5, "at": "2024-05-01T12:00:27Z"}
{"team": "red",  "score": 7, "at": "2024-05-01T12:02:25Z"}
{"team": "blue", "score": 3, "at": "2024-05-01T12:03:40Z"}
"""


@pytest.fixture
def plays(at: Path, schema: str, jdbc: Jdbc) -> str:
    """Return the name of a schema with a stream, made over JDBC, that three rows have arrived in."""
    (at / "plays").mkdir()
    (at / "plays" / "1.json").write_text(PLAYS)
    jdbc.run(f"USE {schema}")
    jdbc.run(
        "CREATE STREAM plays (team STRING, score INT, at TIMESTAMP) USING json OPTIONS (path 'plays') "
        "WATERMARK at DELAY OF INTERVAL 10 SECONDS"
    )
    return schema


TOTALS = (
    "CREATE STREAMING TABLE totals AS SELECT team, sum(score) AS total, window_start FROM STREAM plays "
    "GROUP BY team WINDOW SESSIONS (at, GAP INTERVAL 1 MINUTE) TRIGGER AT WATERMARK EARLY EVERY 1 ROW"
)


@pytest.mark.soak
def test_a_streaming_table_over_jdbc(plays: str, jdbc: Jdbc) -> None:
    jdbc.run(TOTALS)
    rows = jdbc.run("SELECT team, total, _pane_timing, _pane_index FROM panes('totals') ORDER BY team, total")
    assert rows == [["blue", "3", "EARLY", "0"], ["red", "5", "ON_TIME", "0"], ["red", "7", "ON_TIME", "0"]]
    assert jdbc.columns() == [
        ("team", "string"),
        ("total", "bigint"),
        ("_pane_timing", "string"),
        ("_pane_index", "int"),
    ]
    jdbc.run("DRAIN STREAMING TABLE totals")
    assert jdbc.run("SELECT sum(total) FROM totals") == [["15"]]
    assert jdbc.run("SHOW STREAMS") == [[plays, "plays", "json"]]
    assert jdbc.columns() == [("namespace", "string"), ("streamName", "string"), ("source", "string")]
    assert jdbc.run("SHOW STREAMING TABLES") == [[plays, "totals", "ACCUMULATING", "idle"]]
    assert jdbc.run("DESCRIBE STREAMING TABLE totals")[0] == ["team", "string", None]
    view = "CREATE VIEW v AS SELECT team, sum(score) AS s FROM STREAM plays GROUP BY team WINDOW GLOBAL"
    jdbc.run(view)
    assert jdbc.run("show\ncreate TABLE totals") == [[TOTALS]]
    assert jdbc.columns() == [("createtab_stmt", "string")]
    assert jdbc.run("SHOW CREATE TABLE v") == [[view]]
    assert jdbc.run("SELECT * FROM v ORDER BY s") == [["blue", "3"], ["red", "12"]]
    jdbc.run("CREATE TABLE copy AS SELECT * FROM panes('totals')")
    assert jdbc.run("SELECT count(*) FROM copy") == jdbc.run("SELECT count(*) FROM panes('totals')")


def test_what_is_said_reaches_the_log(plays: str, pyhive: Callable[..., Any]) -> None:
    cursor = pyhive().cursor()
    cursor.execute(f"USE {plays}")
    cursor.execute(TOTALS)
    step, said = cursor.fetch_logs()
    assert step.startswith("totals  step 1  3 rows")
    assert said.startswith(f"streaming table {plays}.totals created: 1 step, 3 rows, ")


def test_explain_and_metadata_run_nothing(plays: str, jdbc: Jdbc, engine: Engine) -> None:
    told = jdbc.run(f"EXPLAIN {TOTALS}")
    assert "SESSIONS" in told[0][0]
    prepared = jdbc.connection.prepareStatement(TOTALS)
    prepared.close()
    assert engine.catalog.streaming_tables.get(plays, "totals") is None
    assert jdbc.run("SHOW STREAMING TABLES") == []


MISTAKES = [
    "SELECT count(*) FROM STREAM plays WINDOW FIXD (at, SIZE INTERVAL 1 HOUR)",
    "SELECT count(*) FROM STREAM plays GROUP BY team WINDOW FIXED (at, SIZE INTERVAL 1 HOUR) TRIGER NEVER",
    "SELECT nope FROM STREAM plays",
    "SELECT nope, 1\nFROM range(3)",
    "SELEC 1",
    "SELECT 1 +",
    "SELECT * FROM nowhere",
    "SELECT 1 / 0",
    "SELECT CAST('x' AS INT)",
    "REFRESH STREAMING TABLE nowhere",
    "DROP STREAM nowhere",
    "CREATE STREAMING TABLE t AS SELECT team FROM STREAM plays ORDER BY team",
    "CREATE STREAM plays (a INT) USING json OPTIONS (path 'plays')",
    "DROP SCHEMA nowhere",
    "INSERT INTO nowhere SELECT 1",
]


@pytest.mark.parametrize("text", MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_told_as_in_the_process(text: str, plays: str, jdbc: Jdbc, engine: Engine) -> None:
    assert_same_mistake(text, jdbc, engine)


def assert_same_mistake(text: str, jdbc: Jdbc, engine: Engine) -> None:
    with pytest.raises(WarehouseError) as caught:
        for result in engine.run(text):
            list(result.batches)
    told = jdbc.fails(text)
    assert told.state == caught.value.sqlstate
    assert told.text == caught.value.render()
    assert "\tat " not in told.text and "py4j" not in told.text


def test_pyhive_is_told_too(pyhive: Callable[..., Any]) -> None:
    from pyhive.exc import OperationalError

    with pytest.raises(OperationalError) as caught:
        pyhive().cursor().execute("SELECT count(*) FROM STREAM s WINDOW FIXD (at, SIZE INTERVAL 1 HOUR)")
    status = caught.value.args[0].status
    assert (status.sqlState, status.infoMessages) == ("42601", [status.errorMessage])
    assert status.errorMessage.splitlines()[-2:] == [
        "  |                                      ^^^^",
        "hint: Did you mean WINDOW FIXED (event_time, SIZE INTERVAL 10 MINUTES)?",
    ]


VALUES = """SELECT 1Y AS a, 2S AS b, 3 AS c, 4L AS d, 1.5F AS e, 2.5D AS f, 3.50BD AS g, 'ü''s' AS h, true AS i,
    DATE'2024-02-29' AS j, TIMESTAMP'2024-02-29 12:00:00.5' AS k, X'00ff' AS l, array(1, 2) AS m,
    map('k', NULL) AS n, struct(1 AS x, 'y' AS y) AS o, INTERVAL '1 02:00' DAY TO MINUTE AS p,
    CAST(NULL AS STRING) AS q,
    TIMESTAMP_NTZ'2024-02-29 12:00:00' AS r"""


def test_values_of_all_types(jdbc: Jdbc) -> None:
    [row] = jdbc.run(VALUES)
    assert row[:11] == ["1", "2", "3", "4", "1.5", "2.5", "3.50", "ü's", "true", "2024-02-29", "2024-02-29 12:00:00.5"]
    assert row[12:15] == ["[1,2]", '{"k":null}', '{"x":1,"y":"y"}']
    assert row[16:] == [None, "2024-02-29 12:00:00.0"]


def test_a_type_that_the_protocol_has_no_name_for_is_text(jdbc: Jdbc, engine: Engine) -> None:
    text = """SELECT parse_json(concat('{"a":', id, '}')) AS v, id AS v, parse_json('"s"') AS `w``x`,
        array(parse_json('1'), parse_json('"t"')) AS a, CAST(NULL AS VARIANT) AS n, TIME'12:00:01.5' AS t
        FROM range(3)"""
    jdbc.statement.setFetchSize(2)
    rows = jdbc.run(text)
    assert [r[:4] for r in rows] == [[f'{{"a":{i}}}', str(i), "s", '[1,"t"]'] for i in range(3)]
    assert rows[0][4:] == [None, "12:00:01.5"]
    assert [kind for _, kind in jdbc.columns()] == ["string", "bigint", "string", "array", "string", "string"]
    [result] = engine.run(text.replace("FROM range(3)", "FROM range(1)"))
    [batch] = result.batches
    assert [column[0].as_py() for column in batch.columns[:3]] == ['{"a":0}', 0, "s"]


def test_bytes_that_are_no_text(jdbc: Jdbc, pyhive: Callable[..., Any]) -> None:
    text = "SELECT CAST(X'ff41' AS STRING) AS s, array(CAST(X'ff41' AS STRING)) AS a"
    assert jdbc.run(text) == [["\ufffdA", '["\ufffdA"]']]
    cursor = pyhive().cursor()
    cursor.execute(text)
    assert cursor.fetchall() == [("\ufffdA", '["\ufffdA"]')]


def persisted(engine: Engine) -> set[int]:
    """Return the numbers of what is kept, from which goes at any time what nobody has any more."""
    return set(engine.spark.sparkContext._jsc.getPersistentRDDs().keySet())


def test_rows_that_are_known_when_it_has_run(jdbc: Jdbc, pyhive: Callable[..., Any], engine: Engine) -> None:
    told = jdbc.run("EXPLAIN GENERATE KMeans((SELECT id FROM range(9)), 2)")
    assert "KMeans (k => 2)" in told[0][0]
    held = persisted(engine)
    generate = "GENERATE PCA((SELECT CAST(id AS DOUBLE) AS x FROM range(9)), k => 1)"
    rows = jdbc.run(generate)
    assert jdbc.columns() == [("x", "double"), ("pca", "array")]
    assert [float(row[0]) for row in rows] == [float(n) for n in range(9)]
    jdbc.statement.close()
    assert not persisted(engine) - held
    jdbc.statement = jdbc.connection.createStatement()
    cursor = pyhive().cursor()
    cursor.execute(generate)
    assert [row[0] for row in cursor.fetchall()] == [float(n) for n in range(9)]
    for text in ("GENERATE KMeans((SELECT id FROM range(9)), 0)", "GENERATE KMeans(nowhere, 2)"):
        assert_same_mistake(text, jdbc, engine)
    for before in ("", "EXPLAIN "):
        refused = jdbc.run if before else lambda text: [[jdbc.fails(text).text]]
        assert "[WAREHOUSE_ROWS_UNKNOWN]" in str(refused(f"{before}EXECUTE IMMEDIATE '{generate}'"))


@pytest.mark.soak
def test_a_model_is_everybodys(
    schema: str, jdbc: Jdbc, pyhive: Callable[..., Any], engine: Engine, endpoint: Any
) -> None:
    # a session that began before the model
    before = Jdbc(engine.spark._jvm, f"jdbc:hive2://127.0.0.1:{endpoint.port}/default")
    assert before.run("SELECT 1") == [["1"]]
    jdbc.run(f"USE {schema}")
    jdbc.run("CREATE TABLE u AS SELECT id, CAST(id % 7 AS DOUBLE) AS x, CAST(id > 40 AS INT) AS label FROM range(80)")
    jdbc.run("GENERATE ML LogisticRegression(u, label => 'label') AS MODEL m")
    measured = jdbc.run("SELECT * FROM ML_EVALUATE(TABLE u, MODEL m)")
    assert jdbc.columns() == [("metric", "string"), ("value", "double")]
    assert ["accuracy", "1.0"] in measured
    jdbc.run("CREATE TABLE kept AS SELECT * FROM ML_EVALUATE(TABLE u, MODEL m)")
    assert sorted(jdbc.run("SELECT * FROM kept")) == sorted(measured)
    jdbc.run("CREATE VIEW asked AS SELECT * FROM ML_PREDICT(TABLE u, MODEL m)")
    assert before.run(f"SELECT count(*) FROM {schema}.asked WHERE prediction = label") == [["80"]]
    before.close()
    cursor = pyhive().cursor()
    cursor.execute(f"USE {schema}")
    cursor.execute("SELECT count(*) FROM ML_PREDICT(TABLE u, MODEL m)")
    assert cursor.fetchall() == [(80,)]
    cursor.execute("SELECT count(*) FROM ML_EVALUATE(TABLE u, MODEL m)")
    assert cursor.fetchall() == [(len(measured),)]


def test_http_gives_the_same(view: Any, endpoint: Any) -> None:
    url = f"jdbc:hive2://127.0.0.1:{endpoint.http_port}/default;transportMode=http;httpPath=cliservice"
    client = Jdbc(view, url)
    assert client.run("SELECT id FROM range(3)") == [["0"], ["1"], ["2"]]
    assert client.fails("SHOW STREAM plays x").state == "42601"
    client.close()
