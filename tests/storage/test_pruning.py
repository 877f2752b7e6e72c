"""What is not read holds nothing that is wanted: random conditions against one pass over each file.

``ORACLE_ALL=1`` tries 10,000 conditions, a thousand a test (with ``-n 2`` two at once).
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.adaptive.conftest import settings
from tests.soak import sampled
from tests.statements import Rows, rows_in
from warehouse.engine import Engine

CONDITIONS, TIMES = (1000, 10) if os.environ.get("ORACLE_ALL") else (60, 1)
SEED = int(os.environ.get("ORACLE_SEED", "11"))
AT_ONCE = 50

MADE = """
SELECT CAST(id AS INT) AS i, id * 1000003L AS b, CAST(id % 120 AS SMALLINT) AS s, CAST(id DIV 500 AS TINYINT) AS y,
  CASE WHEN id % 97 = 0 THEN NULL WHEN id BETWEEN 2000 AND 2499 AND id % 5 = 0 THEN DOUBLE('NaN')
       WHEN id % 11 = 0 THEN -0.0D ELSE id / 8.0D END AS d,
  CAST(if(id >= 3500, 0.0, id DIV 100) AS FLOAT) AS f, CAST(id DIV 250 * 2.5 AS DECIMAL(12, 2)) AS n,
  CAST(id AS DECIMAL(25, 3)) AS big, if(id BETWEEN 1000 AND 1499, NULL, concat('w', id DIV 300)) AS w,
  concat(char(65 + id DIV 400), lpad(id, 6, '0')) AS name, id % 2 = 0 AS even, if(id < 3000, true, NULL) AS early,
  date_add(DATE'2023-12-01', CAST(id DIV 40 AS INT)) AS day, timestamp_seconds(1700000000 + id * 3600) AS at,
  named_struct('a', CAST(id DIV 700 AS INT), 'in', named_struct('z', if(id % 3 = 0, NULL, concat('z', id DIV 900))))
    AS r,
  CAST(NULL AS INT) AS never, array(id) AS l
FROM range(0, 4000, 1, 16)
"""

VALUES = {
    "i": lambda c: str(c.randrange(-10, 4100)),
    "b": lambda c: f"{c.randrange(4000) * 1000003 + c.randrange(2)}",
    "s": lambda c: str(c.randrange(-3, 125)),
    "y": lambda c: str(c.randrange(-2, 10)),
    "d": lambda c: c.choice(["DOUBLE('NaN')", "0.0D", "-0.0D", "1e300D", f"{c.randrange(4000) / 8}D", "NULL"]),
    "f": lambda c: f"CAST({c.randrange(-1, 40)} AS FLOAT)",
    "n": lambda c: c.choice([f"{c.randrange(0, 45)}.50", f"{c.randrange(0, 16) * 2.5:.2f}", "NULL"]),
    "big": lambda c: f"{c.randrange(4000)}.000BD",
    "w": lambda c: c.choice([f"'w{c.randrange(15)}'", "'w'", "''", "'zz'", "NULL"]),
    "name": lambda c: f"'{chr(64 + c.randrange(13))}{c.randrange(4000):06}'",
    "day": lambda c: f"DATE'202{c.choice('34')}-{c.randrange(1, 13):02}-{c.randrange(1, 29):02}'",
    "at": lambda c: f"TIMESTAMP'202{c.choice('34')}-{c.randrange(1, 13):02}-{c.randrange(1, 29):02} 07:30:00'",
    "r.a": lambda c: str(c.randrange(-1, 8)),
    "r.in.z": lambda c: c.choice([f"'z{c.randrange(6)}'", "NULL"]),
    "never": lambda c: str(c.randrange(3)),
}  # fmt: skip
"""What a column is compared with."""

CASTS = {
    "i": ["BIGINT", "DOUBLE", "DECIMAL(12, 2)", "STRING"], "s": ["INT", "DECIMAL(9, 1)"],
    "day": ["TIMESTAMP", "STRING"], "at": ["DATE"], "n": ["DECIMAL(14, 3)", "DOUBLE", "INT"],
    "b": ["DECIMAL(20, 0)", "DOUBLE"],
}  # fmt: skip


def comparison(chance: random.Random) -> str:
    column = chance.choice(list(VALUES))
    value = VALUES[column]
    kind = chance.randrange(13)
    left, right = column, value(chance)
    if kind < 5:
        if chance.random() < 0.3:
            left, right = right, left
        return f"{left} {chance.choice(['=', '<', '<=', '>', '>=', '<>', '<=>'])} {right}"
    if kind == 5:
        return f"{column} {chance.choice(['', 'NOT '])}BETWEEN {value(chance)} AND {value(chance)}"
    if kind == 6:
        listed = ", ".join(value(chance) for _ in range(chance.randrange(1, 4)))
        return f"{column} {chance.choice(['', 'NOT '])}IN ({listed})"
    if kind == 7:
        return f"{chance.choice([*VALUES, 'early', 'r', 'r.in'])} IS {chance.choice(['', 'NOT '])}NULL"
    if kind == 8:
        pattern = chance.choice(["'w1%'", "'w%'", "'B00%'", "'%3'", "'z_'", "'D001%'", "'%'", "''"])
        return f"{chance.choice(['w', 'name', 'r.in.z'])} {chance.choice(['', 'NOT '])}LIKE {pattern}"
    if kind == 9:
        column = chance.choice(list(CASTS))
        wanted, operator = chance.choice(CASTS[column]), chance.choice(["=", "<", ">=", "<>"])
        return f"CAST({column} AS {wanted}) {operator} {VALUES[column](chance)}"
    if kind == 10:
        return chance.choice([
            f"year(at) = {chance.choice([2023, 2024, 2025])}", f"upper(w) = 'W{chance.randrange(15)}'",
            f"s % 7 = {chance.randrange(8)}", f"y + y > {chance.randrange(20)}", f"length(w) = {chance.randrange(5)}",
            f"coalesce(w, 'none') = '{chance.choice(['none', 'w3'])}'", f"year(day) <= {chance.choice([2022, 2023])}",
            f"abs(f - 20) < {chance.randrange(5)}", f"date(at) = DATE'2024-01-{chance.randrange(1, 29):02}'",
        ])  # fmt: skip
    if kind == 11:
        return chance.choice(["even", "NOT even", "early", "NOT early", "i = s", "b > i", "w = r.in.z"])
    return f"tagged({column}) = tagged({value(chance)})" if column in ("w", "name") else f"{column} < {value(chance)}"


def condition(chance: random.Random, depth: int = 0) -> str:
    if depth == 3 or chance.random() < 0.45:
        return comparison(chance)
    if chance.random() < 0.2:
        return f"NOT ({condition(chance, depth + 1)})"
    return f"({condition(chance, depth + 1)} {chance.choice(['AND', 'OR'])} {condition(chance, depth + 1)})"


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    yield from rows_in(engine, "pruned")


@pytest.fixture(scope="module")
def table(rows: Rows) -> str:
    """Rows in sixteen files by their order, and one without any of most values; in memory too: ``facts_in_memory``."""
    rows("CREATE TEMPORARY FUNCTION tagged(x STRING) RETURNS STRING RETURN concat(x, '!')")
    rows(f"CREATE TABLE facts AS {MADE}")
    rows("INSERT INTO facts (i) VALUES (NULL)")
    rows("CACHE TABLE facts_in_memory AS SELECT *, 'no column of the files' AS i2 FROM facts")
    return "facts"


def leaf(node: Any) -> Any:
    while node.children().size():
        node = node.children().head()
    return node


def scan(engine: Engine, query: str) -> Any:
    """Return the one scan of a query's plan."""
    node = leaf(engine.spark.sql(query)._jdf.queryExecution().executedPlan())
    return leaf(node.inputPlan()) if node.getClass().getSimpleName() == "AdaptiveSparkPlanExec" else node


def files(node: Any) -> set[str]:
    """Return the names of the files that a scan reads, or read into those partitions in memory that it reads."""
    if node.getClass().getSimpleName() == "PartitionedScan":
        return set(names(node))
    every = names(leaf(node.relation().cachedPlan()))
    return {every[int(number)] for number in node.partitions().mkString(" ").split()}


def names(node: Any) -> list[str]:
    return [name for name in node.names().toString()[1:-1].split(", ") if name]


@pytest.mark.parametrize("seed", range(SEED, SEED + TIMES))
def test_no_condition_leaves_out_a_file_that_holds_a_row_for_it(
    engine: Engine, rows: Rows, table: str, seed: int
) -> None:
    chance = random.Random(seed)
    pruned = {"PartitionedScan": 0, "MemoryScan": 0}
    for _ in range(CONDITIONS // AT_ONCE):
        asked = [condition(chance) for _ in range(AT_ONCE)]
        counts = ", ".join(f"count_if({c}) AS c{number}" for number, c in enumerate(asked))
        found = rows(f"SELECT _metadata.file_name AS file, {counts} FROM {table} GROUP BY ALL")
        for number, each in enumerate(asked):
            for source in (table, "facts_in_memory"):
                node = scan(engine, f"SELECT i FROM {source} WHERE {each}")
                kind = node.getClass().getSimpleName()
                if kind not in pruned:
                    assert not any(r[f"c{number}"] for r in found), each  # Spark saw that nothing can be true
                    continue
                read = files(node)
                wanted = {r["file"] for r in found if r[f"c{number}"]}
                assert wanted <= read, (source, each)
                pruned[kind] += len(read) < len(found)
    assert min(pruned.values()) > CONDITIONS // 3


@pytest.mark.parametrize(
    ("where", "read"),
    sampled([
        ("i = 10", 1), ("10 = i", 1), ("i < 500", 2), ("i BETWEEN 900 AND 1100", 2), ("i IN (1, 3999)", 2),
        ("i IS NULL", 1), ("never IS NOT NULL", 0), ("never = 1", 0), ("name LIKE 'C%'", 2), ("w = 'w1x'", 0),
        ("w = 'w1' OR w = 'w12'", 4), ("NOT (i >= 250)", 1), ("r.a = 2", 4), ("r.in.z = 'z0'", 4), ("y = 7", 2),
        ("CAST(at AS DATE) = DATE'2023-11-20'", 1), ("year(at) = 2022", 0), ("CAST(s AS INT) = 130", 0),
        ("length(tagged(w)) > 2 AND i = 10", 1), ("upper(w) = 'W3'", 1), ("n = 3.00", 0), ("day = DATE'2024-01-05'", 1),
    ]),
)  # fmt: skip
def test_partitions_read(engine: Engine, rows: Rows, table: str, where: str, read: int) -> None:
    """The plan says how many; as many tasks are started. Without our part Delta alone leaves files out."""
    expected = rows(f"SELECT count_if({where}) AS n FROM {table}")[0]["n"]
    for source in (table, "facts_in_memory"):
        query = f"SELECT i FROM {source} WHERE {where}"
        text = str(rows(f"EXPLAIN {query}")[0]["plan"])
        if read or "FileScan" in text:
            assert f"partitions read: {read} of 17" in text, text
            assert engine.spark.sql(query)._jdf.queryExecution().toRdd().getNumPartitions() == read
        assert rows(f"SELECT count(*) AS n FROM {source} WHERE {where}") == [{"n": expected}]


def test_it_can_be_switched_off(rows: Rows, table: str) -> None:
    query = f"SELECT i FROM {table} WHERE upper(w) = 'W3'"
    try:
        rows("SET warehouse.pruning = false")
        assert "partitions read: 14 of 17" in str(rows(f"EXPLAIN {query}")[0]["plan"])
    finally:
        rows("RESET warehouse.pruning")
    assert "partitions read: 1 of 17" in str(rows(f"EXPLAIN {query}")[0]["plan"])


def test_statistics_stay_true(rows: Rows, table: str) -> None:
    """Through INSERT, UPDATE, MERGE and DELETE, for each file what one pass over it says."""
    rows(f"CREATE TABLE moving AS SELECT /*+ REPARTITION_BY_RANGE(4, i) */ i, w, d, r FROM {table} WHERE i < 2000")
    for change in (
        "INSERT INTO moving SELECT i, 'new', d, r FROM facts WHERE i > 3990",
        "UPDATE moving SET w = 'changed' WHERE i % 100 = 0",
        "MERGE INTO moving m USING (SELECT 5 AS i UNION ALL SELECT 9999) u ON m.i = u.i"
        " WHEN MATCHED THEN UPDATE SET w = NULL WHEN NOT MATCHED THEN INSERT (i) VALUES (u.i)",
        "DELETE FROM moving WHERE i BETWEEN 600 AND 700",
    ):
        rows(change)
        told = rows("SELECT file, column, rows, nulls, min, max, values FROM partition_stats('moving')")
        for column in ("i", "w", "r.a", "r.in.z"):
            seen = rows(
                f"SELECT _metadata.file_name AS file, count(*) AS rows, count_if({column} IS NULL) AS nulls,"
                f" CAST(min({column}) AS STRING) AS min, CAST(max({column}) AS STRING) AS max,"
                f" sort_array(collect_set({column})) AS values FROM moving GROUP BY ALL"
            )
            mine = {t["file"]: t for t in told if t["column"] == column}
            assert mine.keys() == {s["file"] for s in seen}, change
            for s in seen:
                t = mine[s["file"]]
                assert all(t[k] == s[k] for k in ("rows", "nulls", "min", "max")), (change, column, t, s)
                assert t["values"] is None or t["values"] == [str(v) for v in s["values"]], (change, column)


@pytest.fixture(scope="module")
def namesakes(rows: Rows) -> None:
    """Columns with names of what Spark says of files; in ``own`` there is one ``_metadata`` as well."""
    rows(
        "CREATE TABLE docs AS SELECT id, 'x' AS file_name, 1L AS file_size FROM range(9);"
        "CREATE TABLE own AS SELECT *, named_struct('file_name', 'x') AS _metadata FROM docs;"
        "CACHE TABLE docs_in_memory AS SELECT file_name,"
        " named_struct('file_name', _metadata.file_name, 'file_size', _metadata.file_size) AS _metadata FROM docs"
    )


@pytest.mark.parametrize(
    "where",
    ["_metadata.file_name LIKE 'part-%'", "_METADATA.FILE_NAME LIKE 'part-%' AND file_name = 'x'",
     "_metadata.file_size > 5", "concat(file_name, _metadata.file_name) LIKE 'xpart-%'"],
)  # fmt: skip
def test_what_spark_says_of_files_is_no_column(rows: Rows, namesakes: None, where: str) -> None:
    hidden = where.replace("_m", "__m").replace("_M", "__M")
    for source, condition in (("docs", where), ("docs_in_memory", where), ("own", hidden)):
        assert rows(f"SELECT count(*) AS n FROM {source} WHERE {condition}") == [{"n": 9}], source


def test_a_column_with_the_name_of_what_spark_says_of_files_is_one(rows: Rows, namesakes: None) -> None:
    assert rows("SELECT count(*) AS n FROM own WHERE _metadata.file_name = 'x'") == [{"n": 9}]
    for where in ("file_name = 'y'", "file_size > 5"):
        assert "partitions read: 0 of" in str(rows(f"EXPLAIN SELECT id FROM docs WHERE {where}")[0]["plan"])


LEGACY = {"spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY", "spark.sql.parquet.int96RebaseModeInWrite": "LEGACY"}
OLD = ["d = DATE'1000-01-01'", "t < TIMESTAMP'1000-01-02'", "r.d = DATE'1000-01-01'",
       "d IN (DATE'1000-01-01', DATE'2000-01-01')", "CAST(t AS DATE) <=> DATE'1000-01-01'"]  # fmt: skip


@pytest.fixture(scope="module")
def julian(engine: Engine, rows: Rows) -> None:
    """Tables written in the calendar before 1582: ``held`` and ``left_out`` in memory, ``instants`` of 96 bits."""
    made = "AS SELECT d, CAST(d AS TIMESTAMP) AS t, named_struct('d', d) AS r, 1 AS i FROM VALUES (DATE'{}') AS v (d)"
    ancient, cached = made.format("1000-01-01"), "TBLPROPERTIES ('cache' = 'true')"
    with settings(engine, LEGACY):
        rows(f"CREATE TABLE old {ancient}; CREATE TABLE held {cached} {ancient}")
        rows(f"CREATE TABLE recent {made.format('2000-01-01')}")
        rows(f"CREATE TABLE left_out {cached} AS SELECT DATE'1582-10-10' AS d, TIMESTAMP'1582-10-10 00:00:00' AS t")
        with settings(engine, {"spark.sql.parquet.outputTimestampType": "INT96"}):
            rows(f"CREATE TABLE instants {ancient}")


@pytest.mark.parametrize("where", OLD)
def test_days_in_the_old_calendar(rows: Rows, julian: None, where: str) -> None:
    for table in ("old", "held", "instants"):
        assert rows(f"SELECT count(*) AS n FROM {table} WHERE {where}") == [{"n": 1}], table


def test_what_is_told_of_the_old_calendar(rows: Rows, julian: None) -> None:
    """Nothing but NULLs, unless it is the same in the new one."""
    told = "SELECT nulls, min, max, values FROM partition_stats('{}') WHERE column IN ('d', 't', 'r.d')"
    assert rows(told.format("old")) == [{"nulls": 0, "min": None, "max": None, "values": None}] * 3
    assert [str(r["min"])[:10] for r in rows(told.format("recent"))] == ["2000-01-01"] * 3
    for query in ("SELECT i FROM recent WHERE year(t) = 1999", "SELECT d FROM old WHERE i = 2"):
        assert "partitions read: 0 of 1" in str(rows(f"EXPLAIN {query}")[0]["plan"])


def test_memory_has_the_days_that_files_give(rows: Rows, julian: None) -> None:
    """Those that neither calendar has are written as another one."""
    for where in ("true", "d = DATE'1582-10-15'", "t = TIMESTAMP'1582-10-15 00:00:00'"):
        assert rows(f"SELECT d FROM left_out WHERE {where}") == [{"d": date(1582, 10, 15)}], where


@pytest.mark.parametrize(("mode", "day"), [("LEGACY", "1000-01-01"), ("CORRECTED", "1000-01-06")])
def test_days_of_a_file_that_does_not_say_which_calendar(engine: Engine, tmp_path: Path, mode: str, day: str) -> None:
    parquet.write_table(pa.table({"d": [date(1000, 1, 6)]}), tmp_path / "x.parquet")
    engine.spark.sql(f"CONVERT TO DELTA parquet.`{tmp_path}`")
    with settings(engine, {"spark.sql.parquet.datetimeRebaseModeInRead": mode}):
        assert engine.spark.sql(f"SELECT d FROM delta.`{tmp_path}` WHERE d = DATE'{day}'").count() == 1


@pytest.mark.parametrize(
    "where", ["CAST(at AS DATE) = day", "CAST(at AS DATE) <=> DATE'2010-11-06'", "day >= CAST(at AS DATE)"]
)
def test_clocks_that_went_back_past_midnight(engine: Engine, rows: Rows, where: str) -> None:
    """In Newfoundland, at 2:31 UTC: the day of the first and the last row comes after that of the one between them."""
    at = "timestamp_seconds(1289097030 + id * 1800) AS at"
    rows(f"CREATE TABLE IF NOT EXISTS clocks AS SELECT {at}, DATE'2010-11-06' AS day FROM range(0, 3, 1, 1)")
    for zone, days in (("America/St_Johns", 1), ("America/New_York", 3), ("+04:00", 0)):
        with settings(engine, {"spark.sql.session.timeZone": zone}):
            assert rows(f"SELECT count(*) AS n FROM clocks WHERE {where}") == [{"n": days}], zone
