"""Distributed tables that are written without a shuffle: each row is in its partition's file, as with one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow.parquet as pq
import pytest

from tests.soak import soaked
from tests.statements import Rows, rows_shuffled
from warehouse.engine import Engine, WarehouseError

WIDE = ", ".join(f"CAST(NULL AS BINARY) AS c{number}" for number in range(20))
"""Columns that make rows long, as far as Spark knows, which are quickly written."""
LARGE = f"SELECT id AS k, id % 9 AS day, IF(id % 7 = 0, NULL, concat('n', id % 1000)) AS name, {WIDE}"
LARGE += " FROM range(0, {}, 1, {})"
SUMS = "sum(hash(*)) AS s, count(*) AS n"


@pytest.fixture(scope="module")
def rows(engine: Engine, shipped: None) -> Iterator[Rows]:
    for each in rows_shuffled(engine, "spreading"):
        each(f"CREATE VIEW large AS {LARGE.format(80_000, 2)}")
        yield each


def made(rows: Rows, name: str, query: str, keys: str, clauses: str = "", after: str = "") -> str:
    """Make a distributed table; return what ran."""
    (told,) = rows(f"EXPLAIN ANALYZE CREATE TABLE {name} {clauses} AS {query} DISTRIBUTE BY {keys} {after}")
    return str(told["plan"])


def placed(rows: Rows, table: str, keys: str, partitions: int = 8) -> list[Path]:
    """Return a table's files, each of which holds rows of the partition that it is named after alone."""
    found = rows(
        f"SELECT _metadata.file_path AS file, array_distinct(collect_list(pmod(hash({keys}), {partitions}))) AS numbers"
        f" FROM {table} GROUP BY 1"
    )
    for row in found:
        assert row["numbers"] == [int(row["file"].rpartition("/")[2].split("-")[1])]
    return [Path(unquote(urlparse(row["file"]).path)) for row in found]


def warned(engine: Engine, statement: str) -> bool:
    """Run a statement; say whether it warns that its table is not distributed any more."""
    return any("no longer distributed" in warning for result in engine.run(statement) for warning in result.warnings)


def in_place(rows: Rows, table: str, keys: str) -> bool:
    """Say whether a table is read as distributed."""
    return "Exchange hash" not in str(rows(f"EXPLAIN SELECT {keys}, count(*) FROM {table} GROUP BY {keys}")[0]["plan"])


def test_rows_of_many_tasks_are_written_without_a_shuffle(rows: Rows) -> None:
    told = made(rows, "spread", "SELECT * FROM large", "k")
    assert "Spread hashpartitioning(k, 8)" in told and "Shuffle" not in told
    files = placed(rows, "spread", "k")
    assert len(files) == 16
    assert pq.read_schema(files[0]).names == pq.read_schema(placed(rows, "spread", "k")[-1]).names
    assert pq.read_schema(files[0]).names[:3] == ["k", "day", "name"] and len(pq.read_schema(files[0]).names) == 23
    assert in_place(rows, "spread", "k")
    assert rows(f"SELECT {SUMS} FROM spread") == rows(f"SELECT {SUMS} FROM large")


def test_what_is_written_is_what_a_shuffle_writes(rows: Rows) -> None:
    """The rows of each partition, Delta's statistics of them, the table's properties, and the session's settings."""
    rows("SET warehouse.spreading = false")
    try:
        assert "Shuffle" in made(rows, "shuffled", "SELECT * FROM large", "name, day")
    finally:
        rows("RESET warehouse.spreading")
    assert "Shuffle" not in made(rows, "unshuffled", "SELECT * FROM large", "name, day")
    sums = "SELECT pmod(hash(name, day), 8) AS part, sum(hash(k, day, name)) AS s, count(*) AS n FROM {} GROUP BY 1"
    assert sorted(map(str, rows(sums.format("unshuffled")))) == sorted(map(str, rows(sums.format("shuffled"))))
    of_columns = (
        "SELECT partition, column, sum(rows) AS n, sum(nulls) AS nulls, min(CAST(min AS INT)) AS least"
        " FROM partition_stats('{}') WHERE column IN ('k', 'day') GROUP BY ALL ORDER BY ALL"
    )
    assert rows(of_columns.format("unshuffled")) == rows(of_columns.format("shuffled"))
    properties = "SHOW TBLPROPERTIES {}"
    assert rows(properties.format("unshuffled")) == rows(properties.format("shuffled"))
    assert rows("SET spark.sql.maxConcurrentOutputFileWriters")[0]["value"] == "0"


def test_little_that_many_tasks_read_is_shuffled(rows: Rows) -> None:
    """Or there were a file of each task in each partition."""
    assert "Shuffle" in made(rows, "few", "SELECT id AS k FROM range(0, 1000, 1, 3)", "k")
    assert len(placed(rows, "few", "k")) == 8


def test_little_that_one_task_reads_is_not(rows: Rows) -> None:
    assert "Shuffle" not in made(rows, "one", "SELECT id AS k FROM range(0, 1000, 1, 1)", "k")
    assert len(placed(rows, "one", "k")) == 8


def test_much_that_one_task_reads_is_shuffled(rows: Rows) -> None:
    """All cores are to write."""
    assert "Shuffle" in made(rows, "slow", LARGE.format(80_000, 1), "k")


def test_rows_that_are_shuffled_before_are_shuffled_again(rows: Rows) -> None:
    told = made(rows, "grouped", "SELECT day AS k, count(DISTINCT name) AS n FROM large GROUP BY day", "n")
    assert "Spread" not in told and in_place(rows, "grouped", "n")


def test_rows_that_are_where_they_belong_are_not_spread(rows: Rows) -> None:
    made(rows, "source", "SELECT * FROM large", "k")
    told = made(rows, "target", "SELECT * FROM source", "k")
    assert "Spread" not in told and "Shuffle" not in told and in_place(rows, "target", "k")
    assert rows(f"SELECT {SUMS} FROM target") == rows(f"SELECT {SUMS} FROM large")


@pytest.mark.soak
def test_partitioned_tables_are_spread_in_their_folders(rows: Rows) -> None:
    told = made(rows, "folders", "SELECT * FROM large", "k", "PARTITIONED BY (day) TBLPROPERTIES ('partitions' = '2')")
    assert "Spread" in told
    files = placed(rows, "folders", "k", 2)
    assert {file.parent.name for file in files} == {f"day={day}" for day in range(9)}
    assert rows(f"SELECT {SUMS} FROM (SELECT k, day, name FROM folders)") == rows(
        f"SELECT {SUMS} FROM (SELECT k, day, name FROM large)"
    )


def test_sort_by_holds_in_each_file(rows: Rows) -> None:
    assert "Shuffle" not in made(rows, "sorted", "SELECT * FROM large", "k", after="SORT BY day DESC")
    for file in placed(rows, "sorted", "k"):
        days = pq.read_table(file, columns=["day"])["day"].to_pylist()
        assert days == sorted(days, reverse=True)


def test_insert_spreads_too_and_what_it_reads_may_be_the_table(rows: Rows) -> None:
    made(rows, "grown", "SELECT k, name FROM large", "name")
    rows("INSERT INTO grown BY NAME SELECT name, k + 1 AS k FROM large")
    rows("INSERT OVERWRITE grown SELECT * FROM grown WHERE k % 2 = 0")
    placed(rows, "grown", "name")
    assert in_place(rows, "grown", "name")
    assert rows("SELECT count(*) AS n, count(DISTINCT k) AS d FROM grown") == [{"n": 80_000, "d": 40_001}]


@pytest.mark.soak
def test_constraints_hold_and_what_fails_leaves_nothing(rows: Rows, engine: Engine) -> None:
    with pytest.raises(WarehouseError, match="DIVIDE_BY_ZERO"):
        rows("CREATE TABLE broken AS SELECT 1 / (k - 35000) AS d, * FROM large DISTRIBUTE BY k")
    assert not rows("SHOW TABLES LIKE 'broken'")
    made(rows, "checked", "SELECT k, day FROM large", "k")
    rows("ALTER TABLE checked ADD CONSTRAINT early CHECK (day < 9)")
    with pytest.raises(WarehouseError, match="early"):
        rows("INSERT INTO checked SELECT k, day + 1 FROM large")
    rows("INSERT INTO checked SELECT k, day FROM large")
    assert rows("SELECT count(*) AS n FROM checked") == [{"n": 160_000}]
    assert rows("SET spark.sql.maxConcurrentOutputFileWriters")[0]["value"] == "0"


def test_rows_go_by_the_keys_as_they_are_written(rows: Rows) -> None:
    """A key of another type, which hashes to another partition, becomes one of the table's on the way."""
    made(rows, "widened", "SELECT * FROM large", "k")
    others = ", ".join(f"c{number}" for number in range(20))
    (told,) = rows(f"EXPLAIN ANALYZE INSERT INTO widened SELECT CAST(k AS INT), day, name, {others} FROM large")
    assert "Spread" in told["plan"] and "Shuffle" not in told["plan"]
    placed(rows, "widened", "k")
    assert in_place(rows, "widened", "k")


PARQUET = "spark.sql.parquet"


@pytest.mark.parametrize(
    ("key", "clause", "setting", "value"),
    [
        ("IF(id % 2 = 0, '', NULL)", "PARTITIONED BY (k)", None, ""),
        ("timestamp_micros(id)", "", "outputTimestampType", "TIMESTAMP_MILLIS"),
        soaked(
            "named_struct('at', IF(id < 0, NULL, timestamp_micros(id)))", "", "outputTimestampType", "TIMESTAMP_MILLIS"
        ),
        soaked("date_add(DATE'1582-10-01', CAST(id AS INT))", "", "datetimeRebaseModeInWrite", "LEGACY"),
    ],
    ids=range(4),
)
def test_keys_that_the_writer_makes_others_are_looked_at(
    engine: Engine, rows: Rows, key: str, clause: str, setting: str | None, value: str
) -> None:
    """A folder makes one of '' and NULL; files have times in the unit, and days in the calendar, of a setting."""
    query = f"SELECT {key} AS k, id FROM range(0, 2000, 1, 1) DISTRIBUTE BY k"
    try:
        rows(f"SET {PARQUET}.{setting} = {value}" if setting else "SELECT 1")
        assert warned(engine, f"CREATE OR REPLACE TABLE stored {clause} AS {query}")
    finally:
        rows(f"RESET {PARQUET}.{setting}" if setting else "SELECT 1")
    groups = "SELECT count(*) AS n FROM (SELECT k, count(*) FROM stored GROUP BY k)"
    found = rows(groups)
    rows("SET warehouse.distribution = false")
    assert found == rows(groups)
    rows("RESET warehouse.distribution; INSERT OVERWRITE stored SELECT * FROM stored")
    assert in_place(rows, "stored", "k") and found == rows(groups)


@pytest.mark.soak
@pytest.mark.parametrize("given", ["'delta.columnMapping.mode' = 'name'", "'delta.enableChangeDataFeed' = 'true'"])
def test_tables_whose_files_have_other_names_are_shuffled(rows: Rows, given: str) -> None:
    told = made(rows, "named", "SELECT * FROM large", "k", f"TBLPROPERTIES ({given})")
    assert "Spread" not in told and in_place(rows, "named", "k")
    rows("INSERT INTO named REPLACE WHERE k < 10 SELECT * FROM large WHERE k < 5")
    assert rows("SELECT count(*) AS n FROM named") == [{"n": 79_995}]
    rows("DROP TABLE named")


def narrow(rows: Rows, table: str, by: str, folder: str) -> bool:
    """Say whether the files of a table, several in each folder, hold less than half of the values each."""
    spans = rows(
        f"SELECT max({by}) - min({by}) AS span, count(*) OVER (PARTITION BY {folder}) AS files"
        f" FROM (SELECT *, _metadata.file_path AS file FROM {table}) GROUP BY {folder}, file"
    )
    return all(row["files"] > 1 and row["span"] < 5000 for row in spans)


@pytest.mark.parametrize(
    ("clause", "optimize", "folder"),
    [
        soaked("", "OPTIMIZE tidied ZORDER BY (v)", "true"),
        ("PARTITIONED BY (day)", "OPTIMIZE tidied ZORDER BY (v)", "day"),
        soaked("CLUSTER BY (v)", "OPTIMIZE tidied", "true"),
    ],
    ids=range(3),
)
def test_optimize_clusters_and_withdraws(engine: Engine, rows: Rows, clause: str, optimize: str, folder: str) -> None:
    query = "SELECT id AS k, id * 7919 % 9999 AS v, id % 3 AS day FROM range(0, 9999, 1, 1)"
    rows(f"CREATE OR REPLACE TABLE tidied {clause} AS {query} DISTRIBUTE BY k")
    assert not narrow(rows, "tidied", "v", folder) and in_place(rows, "tidied", "k")
    settings = ("spark.databricks.delta.optimize.maxFileSize = 10000", "spark.sql.files.minPartitionNum = 1")
    for setting in settings:
        rows(f"SET {setting}")
    assert warned(engine, optimize)
    for setting in settings:
        rows(f"RESET {setting.partition(' ')[0]}")
    assert narrow(rows, "tidied", "v", folder) and not in_place(rows, "tidied", "k")
    assert rows("SELECT count(*) AS n, sum(n) AS s FROM (SELECT k, count(*) AS n FROM tidied GROUP BY k)") == [
        {"n": 9999, "s": 9999}
    ]
    rows("INSERT OVERWRITE tidied SELECT * FROM tidied")
    placed(rows, "tidied", "k")
    assert in_place(rows, "tidied", "k")


def test_optimize_that_leaves_rows_in_place_keeps_it(engine: Engine, rows: Rows) -> None:
    rows("CREATE TABLE single TBLPROPERTIES ('partitions' = '1') AS SELECT id AS k FROM range(99) DISTRIBUTE BY k")
    (told,) = rows("EXPLAIN ANALYZE OPTIMIZE single ZORDER BY (k)")
    assert "Spread" not in told["plan"] and "Shuffle" in told["plan"]
    assert not warned(engine, "OPTIMIZE single ZORDER BY (k)")
    assert in_place(rows, "single", "k")
