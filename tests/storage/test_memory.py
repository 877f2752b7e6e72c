"""Tables in the columnar memory store: put there as they are made, again after a restart, and what they take there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from benchmarks import answers, memory
from benchmarks.systems import Warehouse
from tests.soak import soaked
from tests.statements import Rows, rows_in, rows_of
from warehouse.engine import Engine, WarehouseError
from warehouse.storage.tables import TableLayouts


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    yield from rows_in(engine, "remembered")


@pytest.fixture(scope="module")
def made(rows: Rows) -> None:
    rows(
        "CREATE TABLE m TBLPROPERTIES ('cache' = 'true') AS SELECT id AS k, CAST(id DIV 1000 AS INT) AS runs,"
        " concat('w', id % 5) AS few, id % 2 = 0 AS even, rand(1) AS noise, array(id) AS l, uuid() AS u"
        " FROM range(0, 10000, 1, 2) DISTRIBUTE BY k"
    )


def plan(rows: Rows, query: str) -> str:
    return str(rows(f"EXPLAIN {query}")[0]["plan"])


def test_it_is_read_from_memory_without_a_shuffle(rows: Rows, made: None) -> None:
    text = plan(rows, "SELECT k, count(*) AS n FROM m GROUP BY k")
    assert "Scan In-memory table" in text and "Exchange hashpartitioning" not in text
    assert rows("SELECT count(*) AS n, count(DISTINCT k) AS k FROM m") == [{"n": 10000, "k": 10000}]


def test_a_join_of_cached_tables_has_no_exchange(engine: Engine, rows: Rows, made: None) -> None:
    rows(
        "CREATE TABLE m2 TBLPROPERTIES ('cache' = 'true', 'copartition' = 'm')"
        " AS SELECT id AS k2, id % 3 AS w FROM range(0, 10000, 7) DISTRIBUTE BY k2"
    )
    try:
        rows("SET spark.sql.autoBroadcastJoinThreshold = -1")
        query = "SELECT count(*) AS n, sum(w) AS w FROM m JOIN m2 ON k = k2"
        text = plan(rows, query)
        assert text.count("Scan In-memory table") >= 2 and "Exchange hashpartitioning" not in text
        assert rows(query) == rows("SELECT count(*) AS n, sum(id % 3) AS w FROM range(0, 10000, 7)")
    finally:
        rows("RESET spark.sql.autoBroadcastJoinThreshold")


def test_partitions_are_left_out_where_nobody_needs_all(rows: Rows, made: None) -> None:
    """A distributed table's stay where an operator, or a table that is written like it, needs them."""
    rows(
        "CREATE TABLE s TBLPROPERTIES ('cache' = 'true', 'partitions' = '8') AS SELECT id % 3 AS k, id AS v"
        " FROM range(30) DISTRIBUTE BY k"
    )
    wanted = [{"n": 10, "v": 28}]
    for where, read in (("k = 5000", 1), ("k IN (1, 2) AND few <> 'w9'", 2), ("few = 'w9'", 0), ("runs < 9", 8)):
        query = f"SELECT * FROM m WHERE {where}"
        assert f"partitions read: {read} of 8" in plan(rows, query)
        assert len(rows(query)) == rows(f"SELECT count_if({where}) AS n FROM m")[0]["n"]
    for query in ("SELECT count(*) AS n, max(v) AS v FROM s WHERE k = 1",
                  "SELECT sum(n) AS n, max(v) AS v FROM (SELECT max(v) AS v, count(*) AS n FROM s WHERE k = 1"
                  " GROUP BY v % 5)"):  # fmt: skip
        assert "partitions read: 1 of 8" in plan(rows, query)
        assert rows(query) == wanted
    both = "FROM s l JOIN s r USING (k) WHERE k = 1"
    for query in ("SELECT count(*) AS n, max(v) AS v FROM s WHERE k = 1 GROUP BY k",
                  f"SELECT /*+ MERGE(r) */ count(DISTINCT l.v) AS n, max(r.v) AS v {both}"):  # fmt: skip
        text = plan(rows, query)
        assert "Exchange hashpartitioning(k" not in text and "partitions read: 1 of 8" not in text
        assert rows(query) == wanted
    assert rows(
        "SELECT sum(k) AS k, count(*) AS n FROM (SELECT k, v FROM s WHERE k = 1"
        " UNION ALL SELECT k, v FROM s WHERE k = 2 UNION ALL SELECT k, v FROM s WHERE k > 2)"
    ) == [{"k": 30, "n": 20}]
    rows("CREATE TABLE like_s TBLPROPERTIES ('copartition' = 's') AS SELECT k FROM s WHERE k = 1 DISTRIBUTE BY k")
    joined = "SELECT count(*) AS n, max(v) AS v FROM s JOIN (SELECT DISTINCT k FROM like_s) USING (k) GROUP BY k"
    assert "Exchange hashpartitioning" not in plan(rows, joined) and rows(joined) == wanted


def test_equal_parts_of_a_query_are_computed_once(rows: Rows, made: None) -> None:
    rows("CREATE TABLE twice TBLPROPERTIES ('cache' = 'true') AS SELECT id AS k, id % 9 AS v FROM range(900)")
    few = "SELECT v FROM twice GROUP BY v HAVING count(*) > 99"
    query = f"SELECT count(*) AS n FROM m WHERE k IN ({few}) AND k + 1 IN ({few})"
    assert rows(query) == [{"n": 8}]
    assert "The rows once more" in "\n".join(row["plan"] for row in rows(f"EXPLAIN ANALYZE {query}"))


def test_rows_that_were_deleted_from_files_leave_memory(rows: Rows) -> None:
    """Those of files with deletion vectors are chosen as well, and nothing that was deleted is seen."""
    rows(
        "CREATE TABLE worn TBLPROPERTIES ('cache' = 'true', 'delta.enableDeletionVectors' = 'true') AS"
        " SELECT /*+ REPARTITION_BY_RANGE(4, k) */ id AS k, id % 7 AS v FROM range(1000)"
    )
    rows("DELETE FROM worn WHERE k BETWEEN 10 AND 19")
    rows("INSERT INTO worn VALUES (-5, 0)")
    query = "SELECT count(*) AS n, min(k) AS k FROM worn WHERE k < 100"
    assert "partitions read: 2 of 5" in plan(rows, query)
    assert rows(query) == [{"n": 91, "k": -5}]


def persisted(engine: Engine) -> set[int]:
    """Return the numbers of what is in memory, from which goes at any time what nobody has any more."""
    return {info.id() for info in engine.spark.sparkContext._jsc.sc().getRDDStorageInfo()}


def test_one_sessions_tables_serve_all(engine: Engine, rows: Rows, made: None) -> None:
    """Another session reads the very batches that were put into memory by this one, and adds none."""
    rows("CREATE TABLE spoken AS SELECT id AS k FROM range(100)")
    rows("CACHE TABLE spoken")
    other = engine.on(engine.spark.newSession())
    for table in ("m", "spoken"):
        rows_of(engine, f"SELECT count(*) FROM {table}")
        before = persisted(engine)
        query = f"SELECT count(k) AS n FROM remembered.{table}"
        assert "Scan In-memory table" in rows_of(other, f"EXPLAIN {query}")[0]["plan"]
        assert rows_of(other, query) == rows(query)
        assert not persisted(engine) - before
    rows_of(other, "UNCACHE TABLE remembered.spoken")
    assert "Scan In-memory table" not in plan(rows, "SELECT * FROM spoken")


def test_what_it_takes(rows: Rows, made: None) -> None:
    found = rows("SELECT column, scheme, sum(rows) AS rows, sum(bytes) AS bytes FROM cache_stats('m') GROUP BY ALL")
    schemes = {}
    for each in found:
        schemes.setdefault(each["column"], set()).add(each["scheme"])
        assert each["bytes"] > 0
    assert schemes["few"] == {"dictionary"} and schemes["even"] == {"boolean bits"}
    assert schemes["noise"] == schemes["l"] == schemes["u"] == {"plain"}
    assert sum(e["rows"] for e in found if e["column"] == "k") == 10000
    (held,) = rows("SELECT DISTINCT in_memory > 0 AS held, on_disk FROM cache_stats('m')")
    assert held == {"held": True, "on_disk": 0}
    assert not [row for row in rows("SHOW VIEWS") if row["viewName"].startswith("__w_")]


def test_what_is_written_is_seen(rows: Rows, made: None) -> None:
    rows("CREATE TABLE w TBLPROPERTIES ('cache' = 'true') AS SELECT 1 AS k")
    rows("INSERT INTO w VALUES (2), (3)")
    assert rows("SELECT sum(k) AS s FROM w") == [{"s": 6}]
    rows("DELETE FROM w WHERE k = 2")
    assert rows("SELECT sum(k) AS s FROM w") == [{"s": 4}]
    assert "Scan In-memory table" in plan(rows, "SELECT * FROM w")
    rows("ALTER TABLE w SET TBLPROPERTIES ('cache' = 'false')")
    assert "Scan In-memory table" not in plan(rows, "SELECT * FROM w")


def test_what_is_inserted_is_distributed_in_memory_too(rows: Rows) -> None:
    rows("CREATE TABLE d TBLPROPERTIES ('cache' = 'true') AS SELECT id AS k FROM range(100) DISTRIBUTE BY k")
    rows("INSERT INTO d VALUES (7)")
    text = plan(rows, "SELECT k, count(*) AS n FROM d GROUP BY k")
    assert "Scan In-memory table" in text and "Exchange hashpartitioning" not in text
    assert rows("SELECT count(*) AS n FROM d") == [{"n": 101}]


def test_after_a_restart_it_is_put_there_again(engine: Engine, rows: Rows, made: None) -> None:
    rows("UNCACHE TABLE m")
    assert "Scan In-memory table" not in plan(rows, "SELECT * FROM m")
    TableLayouts(engine.spark, engine.folder).begin(engine.spark)
    assert "Scan In-memory table" in plan(rows, "SELECT * FROM m")


@pytest.mark.parametrize(
    "after",
    [
        "ALTER TABLE REMEMBERED.Left SET TBLPROPERTIES ('cache' = 'false')",
        soaked("ALTER TABLE left UNSET TBLPROPERTIES ('cache')"),
        'ALTER TABLE left UNSET TBLPROPERTIES IF EXISTS ("cache")',
        soaked("DROP TABLE left; CREATE TABLE left AS SELECT 1 AS k"),
        "CREATE OR REPLACE TABLE left AS SELECT 1 AS k",
    ],
)
def test_what_is_to_be_there_no_more_stays_away(engine: Engine, rows: Rows, after: str) -> None:
    rows("CREATE OR REPLACE TABLE spark_catalog.remembered.Left TBLPROPERTIES ('cache' = 'true') AS SELECT 1 AS k")
    assert "Scan In-memory table" in plan(rows, "SELECT * FROM left")
    for statement in after.split("; "):
        rows(statement)
    for _ in range(2):
        assert "Scan In-memory table" not in plan(rows, "SELECT * FROM left")
        TableLayouts(engine.spark, engine.folder).begin(engine.spark)


def test_a_table_that_is_not_there(rows: Rows) -> None:
    for function in ("cache_stats", "partition_stats"):
        for name in ("nowhere", "no.such.table"):
            with pytest.raises(WarehouseError) as caught:
                rows(f"SELECT * FROM {function}('{name}')")
            assert caught.value.condition == "TABLE_OR_VIEW_NOT_FOUND"
    rows("CREATE TABLE plain_files USING parquet AS SELECT 1 AS k")
    rows("CREATE VIEW seen_through AS SELECT * FROM plain_files; CREATE TEMP VIEW for_now AS SELECT 1 AS k")
    for name in ("plain_files", "seen_through", "for_now"):
        with pytest.raises(WarehouseError) as caught:
            rows(f"SELECT * FROM partition_stats('{name}')")
        assert caught.value.condition == "WAREHOUSE_STATS_FORMAT"
        assert rows(f"SELECT * FROM cache_stats('{name}')") == []


@pytest.fixture(scope="module")
def pair(engine: Engine, rows: Rows) -> memory.Loaded:
    """Return what is known of two tables of the same rows, ``kept`` in memory and ``plain`` not yet."""
    return memory.made(Warehouse(engine), 60_000, 8)


def test_what_was_used_least_recently_goes_first(engine: Engine, rows: Rows, pair: memory.Loaded) -> None:
    """Of two tables that do not both fit all of the one that is read is there, with part of the other; rows stay."""
    whole = pair.bytes
    with scarce(engine, whole * 8 // 5):
        turns = memory.rivals(Warehouse(engine), pair.expected)
        rows("SELECT sum(seconds) AS s FROM kept")
        (told,) = rows("SELECT in_memory, on_disk FROM cache_stats('kept') LIMIT 1")
    assert turns[0].memory == {"kept": whole, "plain": 0} and turns[0].disk == {"kept": 0, "plain": 0}
    for read, turn in zip(("plain", "kept", "kept", "plain"), turns[1:], strict=True):
        other = "kept" if read == "plain" else "plain"
        assert turn.memory[read] > 0.8 * whole, turn
        assert 0 < turn.memory[other] < 0.8 * whole and turn.disk[other] > 0, turn
    assert told["in_memory"] > 0.8 * whole, "what went to disk and came back is in memory"


def test_what_has_no_room_is_read_from_disk(engine: Engine, pair: memory.Loaded) -> None:
    """Of a table larger than memory a part stays in it, however often the table is read."""
    system, query = Warehouse(engine), memory.QUERIES["all of it"].format("kept")
    with scarce(engine, pair.bytes // 2):
        for _ in range(3):
            assert answers.difference(query, system.run(query), pair.expected["all of it"]) is None
            held, on_disk = memory.held(system, "kept")
            assert 0.2 < held / pair.bytes < 0.6 and on_disk > 0


@contextmanager
def scarce(engine: Engine, room: int) -> Iterator[None]:
    """Within this there are so many bytes for tables and queries: the rest counts as taken."""
    jvm = engine.spark._jvm
    manager = jvm.org.apache.spark.SparkEnv.get().memoryManager()
    on_heap = jvm.org.apache.spark.memory.MemoryMode.ON_HEAP
    taken = manager.maxOnHeapStorageMemory() - room
    assert manager.acquireStorageMemory(jvm.org.apache.spark.storage.RDDBlockId(2**31 - 1, 0), taken, on_heap)
    try:
        yield
    finally:
        manager.releaseStorageMemory(taken, on_heap)
