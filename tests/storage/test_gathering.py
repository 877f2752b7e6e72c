"""Statistics that are gathered in one tally are those that Delta gathers itself: rows of every type, on and off.

``ORACLE_ALL=1`` tries 40 seeds, ``ORACLE_SEED`` others.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.statements import rows_of
from warehouse.engine import Engine

SEED = int(os.environ.get("ORACLE_SEED", "0"))
SEEDS = range(SEED, SEED + (40 if os.environ.get("ORACLE_ALL") else 1))
SETTING = "warehouse.gathering"

VALUES = {
    "TINYINT": ["-128Y", "127Y", "0Y"],
    "SMALLINT": ["-32768S", "32767S", "1S"],
    "INT": ["-2147483648", "2147483647", "0", "-1"],
    "BIGINT": ["-9223372036854775808L", "9223372036854775807L", "0L"],
    "FLOAT": ["CAST('NaN' AS FLOAT)", "-0.0F", "0.0F", "CAST('-Infinity' AS FLOAT)", "1.5F"],
    "DOUBLE": ["CAST('NaN' AS DOUBLE)", "-0.0D", "0.0D", "CAST('Infinity' AS DOUBLE)", "-2.5D"],
    "DECIMAL(9, 2)": ["-9999999.99", "9999999.99", "0", "0.01"],
    "DECIMAL(18, 18)": ["0.999999999999999999", "-0.000000000000000001", "0"],
    "DECIMAL(38, 4)": ["-9999999999999999999999999999999999.9999", "12345678901234567890.5", "0"],
    "BOOLEAN": ["true", "false"],
    "DATE": ["DATE'1582-10-04'", "DATE'9999-12-31'", "DATE'1969-12-31'"],
    "TIMESTAMP": ["TIMESTAMP'1969-12-31 23:59:59.999999Z'", "TIMESTAMP'2024-02-29 12:00:00.0015Z'"],
    "TIMESTAMP_NTZ": ["TIMESTAMP_NTZ'0001-01-01 00:00:00'", "TIMESTAMP_NTZ'2024-02-29 12:00:00.0015'"],
    "STRING": [
        "''", "'a'", "'z'", "repeat('long', 30)", "concat(repeat('é', 31), '\\uD83D\\uDE00', 'tail')",
        "repeat('\\uD83D\\uDE00', 40)", "concat(repeat('x', 32), chr(127))", "'\\0'",
    ],
    "BINARY": ["X'00FF'", "X''"],
    "ARRAY<INT>": ["array(1, NULL)", "array()"],
    "MAP<STRING, INT>": ["map('a', 1)"],
    "STRUCT<x: INT, y: STRING, z: STRUCT<d: DECIMAL(12, 2), e: DATE>>": [
        "named_struct('x', 1, 'y', 'one', 'z', named_struct('d', 1.5, 'e', DATE'2024-01-01'))",
        "named_struct('x', -1, 'y', NULL, 'z', NULL)", "named_struct('x', NULL, 'y', repeat('y', 40), 'z', NULL)",
    ],
}  # fmt: skip
"""For each type the values among which is chosen, besides NULL."""


@pytest.fixture(autouse=True)
def gathering(engine: Engine, shipped: None, schema: str) -> Iterator[None]:
    """The classes are there; on again afterwards."""
    yield
    list(engine.run(f"RESET {SETTING}"))


def made(chance: random.Random, columns: dict[str, str], rows: int) -> str:
    """Return rows of a table: of each column some values and some NULLs, or one of these alone."""
    few = {name: chance.choice([0.0, 0.3, 1.0]) for name in columns}
    each = [
        ", ".join(
            f"CAST({'NULL' if chance.random() < few[name] else chance.choice(VALUES[kind])} AS {kind})"
            for name, kind in columns.items()
        )
        for _ in range(rows)
    ]
    return f"VALUES {', '.join(f'({row})' for row in each)} AS t({', '.join(columns)})"


def written(engine: Engine, table: str) -> list[Any]:
    """Return the statistics that each version of a table's log adds, in order."""
    detail = rows_of(engine, f"DESCRIBE DETAIL {table}")[0]
    log = Path(detail["location"].removeprefix("file:")) / "_delta_log"
    actions = [json.loads(line) for file in sorted(log.glob("*.json")) for line in file.read_text("utf-8").splitlines()]
    added = [json.loads(action["add"]["stats"]) for action in actions if "add" in action]
    return sorted(added, key=lambda told: json.dumps(told, sort_keys=True))


def on_and_off(engine: Engine, text: str) -> list[Any]:
    """Run statements about a table ``{t}`` with and without; return the statistics, which are the same."""
    found = []
    for state in ("on", "off"):
        list(engine.run(f"SET {SETTING} = {'true' if state == 'on' else 'false'}; {text.format(t=state)}"))
        found.append(written(engine, state))
    assert found[0] == found[1], text
    return found[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_of_every_type(engine: Engine, seed: int) -> None:
    chance = random.Random(seed)
    columns = {f"c{number}": kind for number, kind in enumerate(VALUES)}
    rows = made(chance, columns, chance.choice([1, 2, 7]))
    told = on_and_off(engine, f"CREATE TABLE {{t}} AS SELECT * FROM {rows}; INSERT INTO {{t}} SELECT * FROM {{t}}")
    assert all({"numRecords", "minValues", "maxValues", "nullCount"} <= set(each) for each in told)


@pytest.mark.soak
def test_of_what_changes_a_table(engine: Engine) -> None:
    told = on_and_off(
        engine,
        "CREATE TABLE {t} PARTITIONED BY (p) AS"
        " SELECT id AS `a.b`, concat('w', id % 5) AS w, id % 3 AS p, named_struct('x', id, 'y',"
        " date_add(DATE'2024-01-01', CAST(id AS INT))) AS s FROM range(0, 40, 1, 2);"
        "UPDATE {t} SET w = repeat(w, 20) WHERE `a.b` % 7 = 1; DELETE FROM {t} WHERE `a.b` = 39;"
        "ALTER TABLE {t} ADD COLUMN later DECIMAL(12, 2);"
        "MERGE INTO {t} USING (SELECT id * 2 AS n FROM range(25)) ON `a.b` = n"
        " WHEN MATCHED THEN UPDATE SET later = n / 4 WHEN NOT MATCHED THEN INSERT (`a.b`, p) VALUES (n, 9);"
        "INSERT OVERWRITE {t} SELECT * FROM {t} WHERE p < 9; OPTIMIZE {t}",
    )
    assert len(told) > 10


def test_of_no_rows_and_of_nulls(engine: Engine) -> None:
    assert on_and_off(
        engine,
        "CREATE TABLE {t} AS SELECT * FROM VALUES (1, 'a') AS t(n, w) WHERE n > 1; INSERT INTO {t} VALUES (NULL, NULL)",
    ) == [{"numRecords": 1, "minValues": {}, "maxValues": {}, "nullCount": {"n": 1, "w": 1}}]


def test_what_was_gathered_leaves_files_out(engine: Engine) -> None:
    list(
        engine.run(
            "CREATE TABLE years AS SELECT id AS n, lpad(CAST(id AS STRING), 4, '0') AS k FROM range(0, 4000, 1, 4)"
        )
    )
    for where in ("n = 3100", "k = '3100'"):
        assert "partitions read: 1 of 4" in str(rows_of(engine, f"EXPLAIN SELECT * FROM years WHERE {where}"))


def test_the_tally_stands_in_for_delta_s_aggregates(engine: Engine) -> None:
    assert "Gathered" in _analyzed(engine, "numRecords")
    assert "Gathered" not in _analyzed(engine, "others"), "a struct of another name is a query's"
    list(engine.run(f"SET {SETTING} = false"))
    assert "Gathered" not in _analyzed(engine, "numRecords")


def _analyzed(engine: Engine, first: str) -> str:
    """Return the classes in the plan of such a query as Delta makes, over no rows."""
    spark = engine.spark
    jvm: Any = spark._jvm
    kinds = jvm.org.apache.spark.sql.types.StructType().add("a", "int")
    rows = spark._jsparkSession.createDataFrame(jvm.java.util.ArrayList(), kinds)
    told = rows.selectExpr(
        _texts(jvm, f"to_json(struct(count(*) AS {first}, struct(min(a) AS a) AS minValues)) AS told")
    )
    expression, names = told.queryExecution().analyzed().expressions().head(), []
    while not expression.children().isEmpty():
        expression = expression.children().head()
        names.append(expression.getClass().getSimpleName())
    return " ".join(names)


def _texts(jvm: Any, text: str) -> Any:
    texts = jvm.java.util.ArrayList()
    texts.add(text)
    return jvm.scala.jdk.javaapi.CollectionConverters.asScala(texts).toSeq()
