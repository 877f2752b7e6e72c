"""The corpus over JDBC gives what it gives in the process: the same columns and rows, or the same error."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Jdbc
from tests.unit.language.test_corpus import files, statements
from warehouse.engine import Engine, WarehouseError

SCENE = """
CREATE TABLE person (id INT, name STRING, age INT, address STRING, zip_code INT);
INSERT INTO person VALUES (100, 'John', 30, 'Street 1', 94588), (200, 'Mary', NULL, 'Street 2', 94588),
    (300, 'Ünal', 80, NULL, NULL);
CREATE TABLE dealer (id INT, city STRING, car_model STRING, quantity INT);
INSERT INTO dealer VALUES (100, 'Fremont', 'Honda Civic', 10), (100, 'Fremont', 'Honda Accord', 15),
    (200, 'Dublin', 'Honda Civic', 20), (300, 'San Jose', 'Honda Civic', 5);
CREATE TABLE t (k STRING, x INT, ts TIMESTAMP);
INSERT INTO t VALUES ('a', 1, '2024-05-01 12:00:01'), ('b', 2, '2024-05-01 12:20:00'), ('a', NULL, NULL);
CREATE TABLE student (id INT, name STRING, age INT);
CREATE STREAM s (a INT, x INT, at TIMESTAMP) USING json OPTIONS (path 's') WATERMARK at DELAY OF INTERVAL 1 MINUTE;
CREATE STREAMING TABLE totals AS SELECT a, sum(x) AS total FROM STREAM s GROUP BY a WINDOW GLOBAL TRIGGER EVERY 1 ROW
"""

OUTSIDE = re.compile(
    r"""['"]/|\bLOCATION\b|\bADD\b|\bJAR|\bPATH\b|\bUSING (rate|kafka|org)|uuid|rand|current_|\bnow\(""", re.I
)
"""What touches files of this machine, or gives other rows each time."""

THE_SESSIONS_OWN = re.compile(r"\s*(SET( -v)?|SHOW (USER )?FUNCTIONS.*|DESC(RIBE)? EXTENDED stream)\s*", re.I)
"""What answers with the session's settings, or with who made a table, and in which folder."""

NEVER_THE_SAME = re.compile(
    r"#\d+L?|plan_id=\d+|\d+\.\d+ s\b|@[0-9a-f]{4,}|file:\S+|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*"
    r"|\w{3} \w{3} \d\d \S+ \w+ \d{4}|sizeInBytes=[^,)]*"
)
"""Numbers of expressions and plans, durations, addresses, places on disk, instants, sizes of files that hold these."""

Outcome = tuple[Any, ...]


def shown(value: Any, kind: str) -> Any:
    """Return a value that came over JDBC as text, or in Arrow, in one form for both."""
    if value is None or kind in ("array", "map", "struct"):
        return json.dumps(json.loads(value)) if isinstance(value, str) else json.dumps(value, default=str)
    if kind in ("float", "double", "decimal", "tinyint", "smallint", "int", "bigint"):
        return float(value) if kind != "float" else f"{float(value):.6g}"
    if kind == "boolean":
        return str(value).lower()
    if kind.startswith("interval"):
        return value is not None  # each writes it in a way of its own
    if kind == "timestamp" and value is not None:
        return (datetime.fromisoformat(value) if isinstance(value, str) else value).replace(tzinfo=None)
    if isinstance(value, datetime | date | Decimal | bytes | memoryview):
        return bytes(value).decode(errors="replace") if isinstance(value, bytes | memoryview) else str(value)
    return NEVER_THE_SAME.sub("…", str(value))


def failed(text: str, state: str | None) -> Outcome:
    return ("error", state, NEVER_THE_SAME.sub("…", text))


def in_the_process(engine: Engine) -> Callable[[str], Outcome]:
    def play(text: str) -> Outcome:
        try:
            names, rows = [], []
            for result in engine.run(text):
                names, rows = list(result.schema.names if result.schema else []), []
                for batch in result.batches:
                    rows += [list(row.values()) for row in batch.rename_columns(range_names(batch)).to_pylist()]
            return ("rows", names, rows)
        except WarehouseError as error:
            return failed(error.render(), error.sqlstate)

    return play


def range_names(batch: Any) -> list[str]:
    return [str(n) for n in range(batch.num_columns)]


def over_jdbc(client: Jdbc) -> Callable[[str], Outcome]:
    from py4j.protocol import Py4JJavaError

    def play(text: str) -> Outcome:
        try:
            rows = client.run(text)
        except Py4JJavaError as error:
            return failed(error.java_exception.getMessage(), error.java_exception.getSQLState())
        found = client.statement.getResultSet()
        return ("rows", client.columns() if found is not None else [], rows)

    return play


def compared(here: Outcome, there: Outcome) -> tuple[Any, Any]:
    """Return both outcomes in one form."""
    if "error" in (here[0], there[0]):
        return here, there
    if there[1:] in (([], []), ([("Result", "string")], [])) and not here[2]:
        return (), ()  # a statement without rows; the protocol asks some of them for a column
    kinds = [kind for _, kind in there[1]]
    forms = [
        (names, sorted([[shown(v, kind) for v, kind in zip(row, kinds, strict=True)] for row in rows], key=str))
        for names, rows in ((here[1], here[2]), ([name for name, _ in there[1]], there[2]))
    ]
    return forms[0], forms[1]


@pytest.fixture
def schemas(engine: Engine) -> Iterator[Callable[[], None]]:
    """Return what drops every schema that was not there before."""

    def listed() -> set[str]:
        return {row[0] for row in engine.spark.sql("SHOW SCHEMAS").collect()}

    before = listed()

    def clear() -> None:
        for name in listed() - before:
            for result in engine.run(f"DROP SCHEMA `{name}` CASCADE"):
                list(result.batches)

    yield clear
    clear()


@pytest.mark.soak
def test_the_corpus(engine: Engine, jdbc: Jdbc, schemas: Callable[[], None], at: Path) -> None:
    from pyspark.sql import SparkSession

    texts = [text for folder in ("ours", "spark") for file in files(folder) for text in statements(file)]
    texts = [text for text in texts if not OUTSIDE.search(text) and not THE_SESSIONS_OWN.fullmatch(text)]
    (at / "s").mkdir()
    (at / "s" / "1.json").write_text('{"a": 1, "x": 2, "at": "2024-05-01T12:00:00Z"}\n')
    told: list[list[Outcome]] = []
    spark = engine.spark
    for play in (
        in_the_process(engine.on(SparkSession(spark.sparkContext, spark._jsparkSession.newSession()))),
        over_jdbc(jdbc),
    ):
        for text in ["CREATE SCHEMA db", "USE db", *SCENE.split(";\n")]:
            assert play(text)[0] == "rows", (text, play(text))
        told.append([play(text) for text in texts])
        play("USE default")
        schemas()
    differing = []
    for text, here, there in zip(texts, *told, strict=True):
        one, other = compared(here, there)
        if one != other:
            differing.append(f"{text}\n  in the process: {one}\n  over JDBC:      {other}")
    answered = sum(outcome[0] == "rows" for outcome in told[0])
    assert answered > 100 and len(texts) - answered > 100
    assert not differing, f"{len(differing)} of {len(texts)}\n" + "\n".join(differing)
