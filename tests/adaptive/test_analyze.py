"""EXPLAIN ANALYZE runs a statement, throws its rows away, and tells what it took and what changed meanwhile."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.adaptive.conftest import settings
from tests.soak import soaked
from warehouse.adaptive.recording import Recording
from warehouse.engine import Engine, WarehouseError
from warehouse.planning import plans

Analyze = Callable[[str], str]

SKEW = {
    "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "100KB",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "100KB",
    "spark.sql.adaptive.coalescePartitions.minPartitionSize": "100KB",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
}
VISITS = "SELECT count(*), max(v.said), max(p.title) FROM visits v JOIN pages p ON v.page = p.page"


def test_the_plan_has_rows_and_files_and_the_rows_are_thrown_away(analyzed: Analyze) -> None:
    told = analyzed("SELECT kind, count(*) AS n FROM items GROUP BY kind ORDER BY n")
    assert re.search(r"^ran in .*; rows out: 7, thrown away$", told, re.MULTILINE)
    assert "rows read: 60,000" in told
    assert re.search(r"Scan parquet spark_catalog.adaptive.items \[kind\] .*60,000 rows, files \d", told)
    assert re.search(r"shuffle 1 by kind: \d+ rows, .* in 8 partitions: least .*, median .*, largest", told)
    assert "== Stages ==" in told


def test_a_join_that_changed_says_why(tables: Engine, analyzed: Analyze) -> None:
    query = "SELECT count(*) FROM items i JOIN suppliers s ON i.supplier = s.supplier WHERE s.address LIKE '%77'"
    told = analyzed(query)
    assert (
        "inner join on i.supplier = s.supplier: ShuffledHashJoin became BroadcastHashJoin: the right side came to"
        in told
    )
    assert "(up to 2.0 KB are broadcast); it was run first, as it was likely small, and the left side was never" in told
    with settings(tables, {"warehouse.join.smallSideFirst": "false"}):
        assert re.search("the left side had been shuffled by then, .* KB", analyzed(query))


def test_a_join_that_only_marks_rows_is_told_too(analyzed: Analyze) -> None:
    found = "EXISTS (SELECT 1 FROM suppliers s WHERE s.supplier = i.supplier AND s.address LIKE '%77')"
    told = analyzed(f"SELECT count(*) FROM items i WHERE id < 10 OR {found}")
    assert re.search("existence join on i.supplier = s.supplier: .* became BroadcastHashJoin", told)


def test_partitions_coalesced_are_told(analyzed: Analyze) -> None:
    told = analyzed("SELECT supplier, count(*) FROM items GROUP BY supplier")
    assert re.search(r"shuffle 1: 8 partitions coalesced to \d \(partitions of .* to .*\)", told)


def most_tasks(told: str) -> int:
    """Return how many tasks the stage with the most of them had."""
    stages = told.partition("== Stages ==\n")[2].splitlines()[1:]
    return max(int(line.split()[1]) for line in stages)


def test_a_skewed_key_is_split_and_named(tables: Engine, analyzed: Analyze) -> None:
    with settings(tables, SKEW):
        told = analyzed(VISITS)
        split = tables.spark.sql(VISITS).collect()
        with settings(tables, {"spark.sql.adaptive.skewJoin.enabled": "false"}):
            whole = analyzed(VISITS)
            assert tables.spark.sql(VISITS).collect() == split
    assert "skewed and split" not in whole
    assert most_tasks(told) > most_tasks(whole) == 8
    assert re.search(r"shuffle 1: 1 of 8 partitions skewed and split into \d+ parts", told)
    assert "  heavy hitter page = 7: 30,001 rows, 50 % of the shuffle" in told


def test_no_heavy_hitters_where_partitions_are_alike(analyzed: Analyze) -> None:
    assert "heavy hitter" not in analyzed("SELECT id, max(said) FROM items GROUP BY id")


@pytest.mark.parametrize(
    ("statement", "said", "rows"),
    [
        ("INSERT INTO changed SELECT id, kind FROM items WHERE id < 100", "", 110),
        soaked("DELETE FROM changed WHERE id < 3", "num_affected_rows: 3", 7),
        soaked("MERGE INTO changed c USING suppliers s ON c.id = s.supplier WHEN MATCHED THEN DELETE",
               "num_affected_rows: 10", 0),
    ],
)  # fmt: skip
def test_what_changes_a_table_changes_it(
    tables: Engine, analyzed: Analyze, statement: str, said: str, rows: int
) -> None:
    list(tables.run("CREATE OR REPLACE TABLE changed AS SELECT id, kind FROM items WHERE id < 10"))
    told = analyzed(statement)
    assert said in told.splitlines()[0]
    assert "_delta_log" not in told
    assert re.search("Scan parquet spark_catalog.adaptive.(items|changed)", told)
    assert tables.spark.table("changed").count() == rows


def test_create_table_as_makes_it_and_shows_the_query(tables: Engine, analyzed: Analyze) -> None:
    told = analyzed("CREATE OR REPLACE TABLE kinds AS SELECT kind, count(*) AS n FROM items GROUP BY kind")
    assert "HashAggregate (keys=[kind]" in told
    assert tables.spark.table("kinds").count() == 7


def test_a_reused_shuffle_is_told_once(analyzed: Analyze) -> None:
    counts = "(SELECT supplier, count(*) AS n FROM items GROUP BY supplier)"
    told = analyzed(f"SELECT * FROM {counts} a JOIN {counts} b ON a.supplier = b.supplier")
    assert "The rows once more of Shuffle 1" in told
    assert told.count("shuffle 1 by supplier") == 1


def test_subqueries_are_in_the_tree(analyzed: Analyze) -> None:
    told = analyzed("SELECT count(*) FROM items WHERE id > (SELECT avg(supplier) FROM suppliers)")
    assert "Subquery" in told
    assert "Scan parquet spark_catalog.adaptive.suppliers" in told


def test_rows_of_a_cached_table_are_counted(tables: Engine, analyzed: Analyze) -> None:
    list(tables.run("CACHE TABLE suppliers"))
    try:
        told = analyzed("SELECT count(*) FROM suppliers WHERE supplier > 5")
    finally:
        list(tables.run("UNCACHE TABLE suppliers"))
    assert "rows read: 2,000" in told


def test_training_is_measured(analyzed: Analyze) -> None:
    told = analyzed("GENERATE KMeans((SELECT CAST(id AS DOUBLE) AS x FROM items WHERE id < 50), 2)")
    assert "rows out: 50, thrown away" in told


def test_parameters_are_bound(tables: Engine) -> None:
    (result,) = tables.run("EXPLAIN ANALYZE SELECT * FROM suppliers WHERE supplier < :most", parameters={"most": 4})
    assert "rows out: 4" in next(iter(result.batches)).to_pylist()[0]["plan"]


def test_windowed_queries_of_ours_are_measured(analyzed: Analyze) -> None:
    told = analyzed("SELECT count(*) FROM items WINDOW FIXED (timestamp_seconds(id), SIZE INTERVAL 1 HOUR)")
    assert "rows out: 17, thrown away" in told


@pytest.mark.soak
def test_a_streaming_table_is_made_and_its_steps_are_told(tables: Engine, analyzed: Analyze) -> None:
    made = (
        "CREATE OR REPLACE STREAMING TABLE per_hour AS SELECT count(*) AS n, window_start FROM STREAM items"
        " WATERMARK at DELAY OF INTERVAL 1 SECOND WINDOW FIXED (at, SIZE INTERVAL 1 HOUR)"
    )
    list(tables.run("CREATE OR REPLACE TABLE timed AS SELECT id, timestamp_seconds(id) AS at FROM range(10000)"))
    told = analyzed(made.replace("STREAM items", "STREAM timed"))
    assert "streaming table adaptive.per_hour created" in told
    assert re.search(r"step 1: 10,000 rows, 0 late, 2 panes, watermark 1970-01-01 02:46:38\+00:00, ", told)
    list(tables.run("INSERT INTO timed SELECT 10000, timestamp_seconds(90000)"))
    assert re.search("step 2: 1 row, 0 late, 1 pane", analyzed("REFRESH STREAMING TABLE per_hour"))
    list(tables.run("DROP STREAMING TABLE per_hour"))


def test_errors_point_into_the_whole_text(tables: Engine) -> None:
    for text, condition, place in (
        ("EXPLAIN ANALYZE SELECT nope FROM items", "UNRESOLVED_COLUMN.WITH_SUGGESTION", "nope"),
        ("EXPLAIN ANALYZE SELECT 1 / (id - id) FROM items", "DIVIDE_BY_ZERO", "1 / (id - id)"),
        ("EXPLAIN ANALYZE SELECT\n  * FROM nowhere", "TABLE_OR_VIEW_NOT_FOUND", "nowhere"),
        ("EXPLAIN ANALYZE REFRESH STREAMING TABLE nope", "WAREHOUSE_STREAMING_TABLE_NOT_FOUND", "nope"),
        ("EXPLAIN ANALYZE SELEC 1", "PARSE_SYNTAX_ERROR", "SELEC"),
        ("EXPLAIN ANALYZE SHOW STREAMS", "WAREHOUSE_ANALYZE_COMPUTES_NOTHING", "SHOW"),
        ("EXPLAIN ANALYZE EXPLAIN SELECT 1", "WAREHOUSE_ANALYZE_COMPUTES_NOTHING", "EXPLAIN"),
        ("EXPLAIN ANALYZE EXPLAIN ANALYZE SELECT 1", "WAREHOUSE_ANALYZE_COMPUTES_NOTHING", "EXPLAIN"),
        ("EXPLAIN ANALYZE DROP TABLE items", "WAREHOUSE_ANALYZE_COMPUTES_NOTHING", "DROP"),
        ("EXPLAIN ANALYZE CREATE VIEW v AS SELECT 1", "WAREHOUSE_ANALYZE_COMPUTES_NOTHING", "CREATE"),
        ("EXPLAIN ANALYZE CREATE TABLE v (a INT)", "WAREHOUSE_ANALYZE_COMPUTES_NOTHING", "CREATE"),
        ("EXPLAIN ANALYZE SET x = 1", "WAREHOUSE_ANALYZE_COMPUTES_NOTHING", "SET"),
        ("EXPLAIN ANALYZE CREATE STREAM s USING rate", "WAREHOUSE_ANALYZE_COMPUTES_NOTHING", "CREATE"),
    ):
        with pytest.raises(WarehouseError) as raised:
            list(tables.run(text))
        (diagnostic,) = raised.value.diagnostics
        assert (diagnostic.condition, diagnostic.span and diagnostic.span.of(text)) == (condition, place), text


def test_planning_it_runs_nothing(tables: Engine) -> None:
    with Recording(tables.spark) as recording:
        (plan,) = tables.compile("EXPLAIN ANALYZE DELETE FROM items")
    assert isinstance(plan, plans.Measure)
    assert tables.prepare(plan.source).columns == ("plan",)
    assert not recording.stages()
    assert tables.spark.table("items").count() == 60_000


def test_later_statements_of_a_dry_run_know_what_it_would_make(tables: Engine) -> None:
    text = "EXPLAIN ANALYZE CREATE TABLE not_made AS SELECT 1 AS x; SELECT count(*) FROM not_made TRIGGER NEVER"
    assert [type(plan) for plan in tables.compile(text)] == [plans.Measure, plans.Unjudged]
    with pytest.raises(WarehouseError, match="nowhere"):  # of which `e` is a part, and no more
        tables.compile("CREATE TABLE e AS SELECT 1 AS x; SELECT count(*) FROM nowhere TRIGGER NEVER")


def test_what_delta_counts_is_told_behind_a_comment_too(tables: Engine) -> None:
    (plan,) = tables.compile("/* by hand */ DELETE FROM items")
    assert isinstance(plan, plans.RunSpark) and plan.counts == ("num_affected_rows",)


def test_nothing_listens_on(tables: Engine, analyzed: Analyze) -> None:
    def listeners() -> int:
        return tables.spark.sparkContext._jsc.sc().listenerBus().listeners().size()

    before = listeners()
    analyzed("SELECT 1")
    with pytest.raises(WarehouseError):
        analyzed("SELECT 1 / (id - id) FROM items")
    assert listeners() == before
    assert not tables.spark.sparkContext.getJobTags()
