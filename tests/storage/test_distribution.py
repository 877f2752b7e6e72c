"""Tables distributed by keys: no shuffle where they meet, the same rows as ever, and what takes it away again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import status
from tests.soak import soaked
from tests.statements import Rows, refused, rows_shuffled
from warehouse.engine import Engine

JOIN = "SELECT count(*) AS n, sum(v) AS v, sum(w) AS w FROM {} AS l JOIN {} AS o ON l.k = o.ok"


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    yield from rows_shuffled(engine, "distributed")


@pytest.fixture(scope="module")
def pair(rows: Rows) -> None:
    """Lines and orders, as they came and co-partitioned."""
    rows("CREATE TABLE lines AS SELECT id % 5000 AS k, CAST(id % 7 AS INT) AS v FROM range(20000)")
    rows("CREATE TABLE orders AS SELECT id AS ok, CAST(id % 5 AS INT) AS w FROM range(0, 9000, 3)")
    rows("CREATE TABLE lines_d AS (SELECT * FROM lines DISTRIBUTE BY k)")
    rows("CREATE TABLE orders_d TBLPROPERTIES ('copartition' = 'lines_d') AS SELECT * FROM orders DISTRIBUTE BY ok")


def plan(rows: Rows, query: str) -> str:
    return str(rows(f"EXPLAIN {query}")[0]["plan"])


def exchanges(rows: Rows, query: str) -> int:
    """Return how many shuffles by hash a query has."""
    return plan(rows, query).count("Exchange hashpartitioning")


def shuffles_of(engine: Engine, statement: str) -> int:
    """Return how many shuffles by hash ran for a statement that writes; it leaves its table distributed."""
    with status.watched(engine.spark) as seen:
        results = list(engine.run(statement))
    assert not results[-1].warnings
    ours = [o.description for o in seen.operators if o.name == "Exchange" and "hashpartitioning" in o.description]
    return len([told for told in ours if "file_name" not in told])  # that is how the new files are looked at


def test_a_join_on_the_key_has_no_exchange_on_either_side(rows: Rows, pair: None) -> None:
    assert exchanges(rows, JOIN.format("lines", "orders")) == 2
    assert exchanges(rows, JOIN.format("lines_d", "orders_d")) == 0
    assert rows(JOIN.format("lines_d", "orders_d")) == rows(JOIN.format("lines", "orders"))


def test_one_distributed_side_is_not_shuffled(rows: Rows, pair: None) -> None:
    assert exchanges(rows, JOIN.format("lines_d", "orders")) == 1
    assert rows(JOIN.format("lines_d", "orders")) == rows(JOIN.format("lines", "orders"))


def test_an_aggregation_on_the_key_has_none(rows: Rows, pair: None) -> None:
    query = "SELECT k, sum(v) AS v FROM {} GROUP BY k"
    assert exchanges(rows, query.format("lines_d")) == 0
    assert exchanges(rows, query.format("lines")) == 1
    assert sorted(map(str, rows(query.format("lines_d")))) == sorted(map(str, rows(query.format("lines"))))


def test_a_subset_of_the_join_keys_suffices(rows: Rows, pair: None) -> None:
    query = "SELECT count(*) AS n FROM {} AS l JOIN {} AS o ON l.k = o.ok AND l.v = o.w"
    assert exchanges(rows, query.format("lines_d", "orders_d")) == 0
    assert rows(query.format("lines_d", "orders_d")) == rows(query.format("lines", "orders"))


@pytest.mark.soak
def test_a_key_whose_name_looks_like_a_secret(rows: Rows, pair: None) -> None:
    """Spark hides what it shows of properties with such words in them."""
    query = "SELECT concat('/', id) AS pageURL, id AS token FROM range(9) DISTRIBUTE BY pageURL, token"
    rows(f"CREATE TABLE pages AS {query}")
    rows(f"CREATE TABLE visits TBLPROPERTIES ('copartition' = 'pages') AS {query}")
    rows("INSERT INTO visits SELECT '/new', 10")
    join = "SELECT count(*) AS n FROM pages JOIN visits USING (pageURL, token)"
    assert rows(join) == [{"n": 9}]
    assert exchanges(rows, join) == 0


def test_several_keys(rows: Rows, pair: None) -> None:
    rows("CREATE TABLE two TBLPROPERTIES ('partitions' = '5') AS SELECT * FROM lines DISTRIBUTE BY k, v")
    rows("CREATE TABLE more TBLPROPERTIES ('copartition' = 'two') AS SELECT ok, w FROM orders DISTRIBUTE BY ok, w")
    query = "SELECT count(*) AS n FROM {} AS l JOIN {} AS o ON l.k = o.ok AND l.v = o.w"
    assert exchanges(rows, query.format("two", "more")) == 0
    assert rows(query.format("two", "more")) == rows(query.format("lines", "orders"))


@pytest.mark.parametrize("kind", ["LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI"])
def test_every_kind_of_join(rows: Rows, pair: None, kind: str) -> None:
    select = (
        "count(*) AS n, sum(v) AS v" if "SEMI" in kind or "ANTI" in kind else "count(*) AS n, sum(v) AS v, sum(w) AS w"
    )
    query = f"SELECT {select} FROM {{}} AS l {kind} JOIN {{}} AS o ON l.k = o.ok"
    assert exchanges(rows, query.format("lines_d", "orders_d")) == 0
    assert rows(query.format("lines_d", "orders_d")) == rows(query.format("lines", "orders"))


def test_replacing_a_table_distributes_it(rows: Rows, pair: None) -> None:
    rows("CREATE TABLE replaced AS SELECT k + 1 AS k, v FROM lines")
    rows("REPLACE TABLE replaced TBLPROPERTIES ('copartition' = 'orders_d') AS SELECT * FROM lines DISTRIBUTE BY k")
    assert exchanges(rows, JOIN.format("replaced", "orders_d")) == 0
    assert rows(JOIN.format("replaced", "orders_d")) == rows(JOIN.format("lines", "orders"))


def test_what_is_inserted_is_distributed_too(rows: Rows, pair: None) -> None:
    rows("CREATE TABLE grown AS SELECT * FROM lines DISTRIBUTE BY k")
    rows("INSERT INTO grown VALUES (1, 2), (NULL, 3), (77, NULL)")
    rows("INSERT INTO grown (v, k) SELECT w, ok FROM orders WHERE ok < 30")
    rows("INSERT INTO grown BY NAME SELECT 5 AS v, 17L AS k")
    rows("WITH w AS (SELECT 18L AS k, 6 AS v) INSERT INTO grown SELECT * FROM w")
    rows("WITH w(insert) AS (SELECT 19L), x AS (SELECT * FROM w) INSERT INTO TABLE grown (v, k) WITH y AS (TABLE x)"
         " SELECT 7, insert FROM y UNION ALL SELECT 8, insert + 1 FROM x ORDER BY insert")  # fmt: skip
    rows("WITH w AS (SELECT partition FROM partition_stats('lines')) INSERT INTO grown SELECT partition, 9 FROM w")
    assert exchanges(rows, JOIN.format("grown", "orders_d")) == 0
    rows("CREATE TABLE grown_plain AS SELECT * FROM grown")
    assert rows(JOIN.format("grown", "orders_d")) == rows(JOIN.format("grown_plain", "orders"))
    rows("INSERT OVERWRITE grown SELECT k + 1, v FROM lines")
    assert exchanges(rows, JOIN.format("grown", "orders_d")) == 0
    assert rows("SELECT count(*) AS n FROM grown") == [{"n": 20000}]


def test_what_scatters_rows_withdraws_it_and_overwriting_brings_it_back(engine: Engine, rows: Rows, pair: None) -> None:
    rows("CREATE TABLE changed AS SELECT * FROM lines DISTRIBUTE BY k")
    (result,) = engine.run("UPDATE changed SET k = k + 1 WHERE v = 3")
    assert "no longer distributed by k" in result.warnings[0] and "INSERT OVERWRITE" in result.warnings[0]
    assert exchanges(rows, JOIN.format("changed", "orders_d")) == 1
    rows("CREATE TABLE changed_plain AS SELECT * FROM changed")
    assert rows(JOIN.format("changed", "orders_d")) == rows(JOIN.format("changed_plain", "orders"))
    rows("INSERT OVERWRITE changed SELECT * FROM changed")
    assert exchanges(rows, JOIN.format("changed", "orders_d")) == 0
    assert rows(JOIN.format("changed", "orders_d")) == rows(JOIN.format("changed_plain", "orders"))


def test_a_write_behind_our_back_is_not_trusted(engine: Engine, rows: Rows, pair: None) -> None:
    rows("CREATE TABLE written AS SELECT * FROM lines DISTRIBUTE BY k")
    engine.spark.sql("INSERT INTO written VALUES (3, 3)")
    assert exchanges(rows, JOIN.format("written", "orders_d")) == 1
    assert rows("SELECT count(*) AS n FROM written") == [{"n": 20001}]


def test_another_table_at_the_same_place_is_not_taken_for_it(rows: Rows, pair: None) -> None:
    rows("CREATE TABLE again AS SELECT * FROM lines DISTRIBUTE BY k")
    rows("DROP TABLE again; CREATE TABLE again AS SELECT id % 9 AS k FROM range(0, 900, 1, 3)")
    asked = "SELECT k, count(*) AS n FROM again GROUP BY k"
    assert exchanges(rows, asked) == 1
    assert [r["n"] for r in rows(asked)] == [100] * 9


def test_a_table_that_is_renamed_stays_distributed_and_in_memory(engine: Engine, rows: Rows, pair: None) -> None:
    rows("CREATE TABLE early TBLPROPERTIES ('cache' = 'true') AS SELECT * FROM lines DISTRIBUTE BY k")
    rows("ALTER TABLE early RENAME TO late")
    assert exchanges(rows, JOIN.format("late", "orders_d")) == 0
    assert rows(JOIN.format("late", "orders_d")) == rows(JOIN.format("lines", "orders"))
    assert "In-memory table" in plan(rows, "SELECT * FROM late")
    assert {"distributed.late"} == {name for name in engine.layouts._records.cached if name.endswith(("late", "early"))}
    rows("INSERT INTO late VALUES (1, 1)")
    rows("ALTER TABLE late SET TBLPROPERTIES ('cache' = 'false')")
    assert exchanges(rows, JOIN.format("late", "orders_d")) == 0


@pytest.mark.soak
def test_another_column_with_the_name_of_the_key_is_none(rows: Rows, pair: None) -> None:
    rows("CREATE TABLE keyed TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
         " AS SELECT id AS k, id AS v FROM range(90) DISTRIBUTE BY k")  # fmt: skip
    asked = "SELECT k, count(*) AS n FROM keyed GROUP BY k"
    assert exchanges(rows, asked) == 0
    rows("ALTER TABLE keyed RENAME COLUMN k TO former; ALTER TABLE keyed ADD COLUMN k BIGINT")
    assert rows(asked) == [{"k": None, "n": 90}]
    assert exchanges(rows, asked) == 1


@pytest.mark.parametrize(
    ("text", "condition", "words"),
    [
        ("CREATE TABLE x AS SELECT * FROM lines DISTRIBUTE BY nope", "WAREHOUSE_DISTRIBUTION_KEY", "nope"),
        ("CREATE TABLE x AS SELECT * FROM lines DISTRIBUTE BY k % 7", "WAREHOUSE_DISTRIBUTION_KEY", "k % 7"),
        ("CREATE TABLE x AS SELECT map(1, 2) AS m DISTRIBUTE BY m", "WAREHOUSE_DISTRIBUTION_TYPE", "m"),
        ("CREATE TABLE x AS SELECT array(map(1, 2)) AS m DISTRIBUTE BY m", "WAREHOUSE_DISTRIBUTION_TYPE", "m"),
        ("CREATE TABLE x AS SELECT 'a' COLLATE UTF8_LCASE AS m DISTRIBUTE BY m", "WAREHOUSE_DISTRIBUTION_TYPE", "m"),
        ("CREATE TABLE x USING parquet AS SELECT 1 AS k DISTRIBUTE BY k", "WAREHOUSE_DISTRIBUTION_FORMAT", "parquet"),
        (
            "CREATE TABLE x TBLPROPERTIES ('copartition' = 'none') AS SELECT * FROM lines DISTRIBUTE BY k",
            "WAREHOUSE_COPARTITION_UNKNOWN",
            "'none'",
        ),
        (
            "CREATE TABLE x TBLPROPERTIES ('copartition' = 'orders') AS SELECT * FROM lines DISTRIBUTE BY k",
            "WAREHOUSE_COPARTITION_PLAIN",
            "'orders'",
        ),
        (
            "CREATE TABLE x TBLPROPERTIES ('copartition' = 'orders_d') AS SELECT * FROM lines DISTRIBUTE BY v",
            "WAREHOUSE_COPARTITION_TYPES",
            "DISTRIBUTE BY v",
        ),
        (
            "CREATE TABLE x TBLPROPERTIES ('copartition' = 'orders_d') AS SELECT * FROM lines DISTRIBUTE BY k, v",
            "WAREHOUSE_COPARTITION_KEYS",
            "DISTRIBUTE BY k, v",
        ),
        (
            "CREATE TABLE x TBLPROPERTIES ('copartition' = 'orders_d', 'partitions' = '3')"
            " AS SELECT * FROM lines DISTRIBUTE BY k",
            "WAREHOUSE_COPARTITION_COUNT",
            "'3'",
        ),
        (
            "CREATE TABLE x TBLPROPERTIES ('copartition' = 'orders_d') AS SELECT * FROM lines",
            "WAREHOUSE_COPARTITION_KEY",
            "'orders_d'",
        ),
        (
            "CREATE TABLE x TBLPROPERTIES ('partitions' = 'many') AS SELECT * FROM lines DISTRIBUTE BY k",
            "WAREHOUSE_PROPERTY_VALUE",
            "'many'",
        ),
        ("CREATE TABLE x TBLPROPERTIES ('cache' = 'maybe') AS SELECT 1 AS k", "WAREHOUSE_PROPERTY_VALUE", "'maybe'"),
    ],
    ids=range(14),
)
def test_mistakes(rows: Rows, pair: None, text: str, condition: str, words: str) -> None:
    error = refused(rows, text)
    assert error.condition == condition
    span = error.diagnostics[0].span
    assert span is not None and span.of(text) == words
    assert rows("SHOW TABLES LIKE 'x'") == []


@pytest.mark.parametrize(
    ("query", "shuffles"),
    [
        ("SELECT * FROM lines_d DISTRIBUTE BY k", 0),
        soaked("SELECT * FROM lines_d WHERE k > 4000 AND v < 2 DISTRIBUTE BY k SORT BY v", 0),
        soaked("SELECT k, sum(v) AS v FROM lines_d GROUP BY k DISTRIBUTE BY k", 0),
        soaked("SELECT k, v, w FROM lines_d JOIN orders_d ON k = ok DISTRIBUTE BY k", 0),
        soaked("SELECT k, sum(v) AS v FROM lines GROUP BY k DISTRIBUTE BY k", 1),
        soaked("SELECT ok AS k, sum(w) AS v FROM orders GROUP BY ok HAVING sum(w) > 1 DISTRIBUTE BY k SORT BY v", 1),
        soaked("SELECT DISTINCT k, v FROM lines DISTRIBUTE BY k, v", 1),
        soaked("SELECT k, w FROM lines JOIN orders ON k = ok DISTRIBUTE BY k", 2),
        soaked("SELECT k, v, count(*) AS n FROM lines GROUP BY k, v DISTRIBUTE BY v", 2),
        soaked("SELECT k + 1 AS k, sum(v) AS v FROM lines_d GROUP BY k DISTRIBUTE BY k", 1),
    ],
    ids=range(10),
)  # fmt: skip
def test_what_is_in_place_already_is_not_shuffled_again(
    engine: Engine, rows: Rows, pair: None, query: str, shuffles: int
) -> None:
    """Once, by the aggregation's or the join's own shuffle; not at all, where the tables that are read are in place."""
    assert shuffles_of(engine, f"CREATE OR REPLACE TABLE placed AS {query}") == shuffles
    rows(f"CREATE OR REPLACE TABLE placed_plain AS {query.partition(' DISTRIBUTE BY')[0]}")
    total = "SELECT count(*) AS n, sum(hash(*)) AS h FROM {}"
    assert rows(total.format("placed")) == rows(total.format("placed_plain"))
    keys = query.partition("DISTRIBUTE BY ")[2].partition(" SORT")[0]
    assert exchanges(rows, f"SELECT {keys}, count(*) FROM placed GROUP BY {keys}") == 0


def test_the_shuffle_of_its_own_comes_back_without_distribution(engine: Engine, rows: Rows, pair: None) -> None:
    query = "SELECT k, sum(v) AS v FROM lines GROUP BY k DISTRIBUTE BY k"
    try:
        rows("SET warehouse.distribution = false")
        assert shuffles_of(engine, f"CREATE TABLE twice AS {query}") == 2
    finally:
        rows("RESET warehouse.distribution")


def test_a_plain_query_keeps_sparks_meaning(rows: Rows, pair: None) -> None:
    assert "Exchange" in plan(rows, "SELECT * FROM lines DISTRIBUTE BY k")
    assert rows("SELECT count(*) AS n FROM (SELECT * FROM lines DISTRIBUTE BY k % 3)") == [{"n": 20000}]
    rows("CREATE TABLE inner_only AS SELECT * FROM (SELECT * FROM lines DISTRIBUTE BY k)")
    assert exchanges(rows, "SELECT k, count(*) FROM inner_only GROUP BY k") == 1


def test_around_and_behind(rows: Rows, pair: None) -> None:
    rows("CREATE OR REPLACE TABLE around COMMENT 'c' AS WITH w AS (SELECT * FROM lines) SELECT * FROM w"
         " UNION ALL SELECT * FROM w DISTRIBUTE BY k SORT BY v;")  # fmt: skip
    assert exchanges(rows, "SELECT k, count(*) FROM around GROUP BY k") == 0
    assert rows("SELECT count(*) AS n FROM around") == [{"n": 40000}]
    properties = {r["key"] for r in rows("SHOW TBLPROPERTIES around")}
    assert "warehouse.distribution" in properties


def test_statistics_of_partitions(rows: Rows, pair: None) -> None:
    found = rows("SELECT * FROM partition_stats('lines_d') WHERE column = 'v' ORDER BY partition")
    assert [f["partition"] for f in found] == list(range(8))
    assert sum(f["rows"] for f in found) == 20000
    assert all((f["nulls"], f["min"], f["max"]) == (0, "0", "6") for f in found)
    assert found[0]["values"] == list("0123456")


def test_explain_says_what_is_to_be(rows: Rows, pair: None) -> None:
    text = "CREATE TABLE e TBLPROPERTIES ('cache' = 'true', 'partitions' = '3') AS SELECT * FROM lines DISTRIBUTE BY k"
    lines = str(rows(f"EXPLAIN {text}")[0]["plan"]).splitlines()
    assert lines[0].startswith("distribution: by k over 3 partitions")
    assert lines[1] == "cache: in the columnar memory store"
    assert "REPARTITION(3, k)" in str(rows(f"EXPLAIN REWRITE {text}")[0]["plan"])
    assert rows("SHOW TABLES LIKE 'e'") == []


def test_the_rows_of_a_streaming_table_have_statistics(rows: Rows, pair: None, tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text('{"k": 1, "at": "2024-01-01T00:00:00Z"}\n')
    rows(
        f"CREATE STREAM s (k INT, at TIMESTAMP) USING json OPTIONS (path '{tmp_path}');"
        "CREATE STREAMING TABLE t AS SELECT k, at FROM STREAM s"
    )
    found = rows("SELECT min, max, values FROM partition_stats('t') WHERE column = 'k'")
    assert found == [{"min": "1", "max": "1", "values": ["1"]}]


@pytest.mark.soak
def test_a_key_of_another_type_is_written_as_what_it_is_now(rows: Rows) -> None:
    rows("CREATE TABLE widened TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"
         " AS SELECT CAST(id AS INT) AS k, 1 AS v FROM range(20) DISTRIBUTE BY k")  # fmt: skip
    rows("ALTER TABLE widened ALTER COLUMN k TYPE BIGINT; INSERT INTO widened SELECT 5000000000L, 2")
    assert rows("SELECT v FROM widened WHERE k = 5000000000") == [{"v": 2}]
    rows(
        "CREATE TABLE beside TBLPROPERTIES ('copartition' = 'widened') AS SELECT id AS k FROM range(9) DISTRIBUTE BY k"
    )
    rows("INSERT OVERWRITE widened SELECT id, 3 FROM range(20)")
    assert rows("SELECT count(*) AS n FROM widened JOIN beside USING (k)") == [{"n": 9}]


def test_a_create_that_does_nothing_changes_nothing(engine: Engine, rows: Rows) -> None:
    """IF NOT EXISTS, with another number of partitions, another key, or memory, than the table has that is there."""
    rows("CREATE TABLE stays AS SELECT id AS k, id % 3 AS g FROM range(1000) DISTRIBUTE BY k")
    for told, key in (("TBLPROPERTIES ('partitions' = '16')", "k"), ("TBLPROPERTIES ('cache' = 'true')", "g")):
        (result,) = engine.run(f"CREATE TABLE IF NOT EXISTS stays {told} AS SELECT 1 AS k, 1 AS g DISTRIBUTE BY {key}")
        assert not result.warnings
    assert [rows(f"SELECT count(*) AS n FROM stays WHERE k = {k}")[0]["n"] for k in range(8)] == [1] * 8
    assert exchanges(rows, "SELECT k, count(*) FROM stays GROUP BY k") == 0
    assert rows("SELECT count(*) AS n FROM cache_stats('stays')") == [{"n": 0}]


def test_a_key_that_an_insert_widens_is_hashed_as_what_it_is_now(engine: Engine, rows: Rows) -> None:
    rows(
        "CREATE TABLE evolved TBLPROPERTIES ('delta.enableTypeWidening' = 'true')"
        " AS SELECT CAST(id AS INT) AS k FROM range(1000) DISTRIBUTE BY k"
    )
    rows("SET spark.databricks.delta.schema.autoMerge.enabled = true")
    try:
        (result,) = engine.run("INSERT INTO evolved SELECT 5000000000L AS k")
    finally:
        rows("RESET spark.databricks.delta.schema.autoMerge.enabled")
    assert "no longer distributed" in result.warnings[0]
    rows("DELETE FROM evolved WHERE k = 5000000000")
    assert [rows(f"SELECT count(*) AS n FROM evolved WHERE k = {k}")[0]["n"] for k in range(8)] == [1] * 8
    assert exchanges(rows, "SELECT k, count(*) FROM evolved GROUP BY k") == 1


@pytest.mark.soak
def test_a_file_whose_deleted_rows_come_back_is_another_file(rows: Rows) -> None:
    """By a deletion vector a file that holds rows of other partitions has none of them, until it is restored."""
    rows(
        "CREATE TABLE back TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
        " AS SELECT id AS k, id AS v FROM range(1000) DISTRIBUTE BY k"
    )
    rows("UPDATE back SET k = k + 1000 WHERE v < 100")
    moved = rows("DESCRIBE HISTORY back LIMIT 1")[0]["version"]
    placed = "CAST(substring(_metadata.file_name, 6, 5) AS INT) = pmod(hash(k), 8)"
    away = rows(f"SELECT k FROM back WHERE v < 100 AND NOT {placed}")
    assert 0 < len(away) < 100
    rows(f"DELETE FROM back WHERE k IN ({', '.join(str(row['k']) for row in away)})")
    rows("ALTER TABLE back ALTER COLUMN k COMMENT 'the key'")
    rows(f"RESTORE TABLE back TO VERSION AS OF {moved}")
    assert [rows(f"SELECT count(*) AS n FROM back WHERE k = {row['k']}")[0]["n"] for row in away[:8]] == [1] * 8


@pytest.mark.parametrize(
    "statement",
    ["COMMENT ON TABLE tended IS 'kept up'", soaked("VACUUM tended"), soaked("REORG TABLE tended APPLY (PURGE)")],
)
def test_a_version_with_the_same_rows_is_distributed_as_the_one_before(rows: Rows, statement: str) -> None:
    rows("CREATE OR REPLACE TABLE tended AS SELECT id AS k FROM range(1000) DISTRIBUTE BY k")
    rows(statement)
    assert exchanges(rows, "SELECT k, count(*) FROM tended GROUP BY k") == 0
