"""Texts whose plans are kept: whatever their relations hold next, they mean what they would as views."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.soak import sampled, soaked
from warehouse.engine import Engine
from warehouse.execution.relations import Plans

SUMS = "(SELECT k, sum(v) AS {} FROM r1 GROUP BY k)"
TEXTS = (
    "SELECT k, sum(v) AS s FROM r1 GROUP BY k",
    "SELECT a.k, a.v, b.v AS w FROM r1 AS a JOIN r1 AS b ON a.k = b.k AND a.v <= b.v",
    "SELECT a.k, b.v FROM r1 AS a LEFT JOIN r2 AS b USING (k)",
    "SELECT * FROM r1 UNION ALL SELECT k, v + 1 FROM r1 UNION ALL SELECT * FROM r2",
    "SELECT * FROM r1 WHERE v > (SELECT avg(v) FROM r2)",
    "SELECT * FROM r1 AS o WHERE EXISTS (SELECT 1 FROM r2 WHERE r2.k = o.k) OR k IN (SELECT k + 1 FROM r1)",
    "WITH big AS (SELECT * FROM r1 WHERE v > 1) SELECT k, count(*) AS n FROM big JOIN big AS b USING (k) GROUP BY k",
    "SELECT k, row_number() OVER (PARTITION BY k ORDER BY v, w) AS n FROM r1 LATERAL VIEW explode(array(1, 2)) AS w",
    "SELECT r2.k FROM r1 AS r2 WHERE r2.v > 0",  # a user's alias is no relation's name
    "SELECT k, v + (SELECT clock FROM clocks).now AS later FROM r1",
    "SELECT k, max(v) + any_value((SELECT clock FROM clocks).step) AS m FROM r1 GROUP BY k",
    "SELECT /*+ COALESCE(1) */ * FROM r1 DISTRIBUTE BY k",
    f"SELECT * FROM {SUMS.format('a')} JOIN {SUMS.format('b')} USING (k) JOIN {SUMS.format('c')} USING (k)",
)


@pytest.fixture
def spark(engine: Engine, schema: str) -> SparkSession:
    session = engine.spark.newSession()
    session.catalog.setCurrentDatabase(schema)
    return session


def views(spark: SparkSession) -> list[str]:
    return [table.name for table in spark.catalog.listTables() if table.isTemporary]


def rows(spark: SparkSession, *pairs: tuple[int | None, int]) -> DataFrame:
    values = ", ".join(f"({'NULL' if k is None else k}, {v})" for k, v in pairs)
    listed = f"SELECT CAST(k AS INT) AS k, CAST(v AS BIGINT) AS v FROM VALUES {values} AS t(k, v)"
    return spark.sql(f"{listed} UNION ALL SELECT NULL, 0L WHERE false")


def executions(spark: SparkSession) -> int:
    """Return the number of the last query that Spark was given to plan and to run."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty(120_000)
    known = spark._jsparkSession.sharedState().statusStore().executionsList()
    return max((known.apply(i).executionId() for i in range(known.size())), default=-1)


HELD = (
    (((1, 1), (2, 2), (None, 3)), ((1, 10), (3, 30))),
    (((2, 5), (2, 6)), ((2, -1), (None, 4), (2, 7))),
    (((1, 1),), ((1, 1),)),
)


@pytest.mark.parametrize("constant", [False, soaked(True)])
@pytest.mark.parametrize("text", sampled(TEXTS))
def test_means_what_it_would_over_views(spark: SparkSession, text: str, constant: bool) -> None:
    plans = Plans(spark)
    for step, (first, second) in enumerate(HELD):
        relations = plans.relations(spark)
        relations.put("r1", rows(spark, *first))
        relations.put("r2", relations["r1"] if step == 2 else rows(spark, *second))
        relations.put_row("clocks", "clock", {"step": step, "now": 100 * step}, constant)
        found = sorted(map(str, relations.sql(text).collect()))
        assert not views(spark), "views are there for the analysis alone"
        rows(spark, *first).createOrReplaceTempView("r1")
        rows(spark, *second).createOrReplaceTempView("r2")
        clock = f"named_struct('step', {step}L, 'now', {100 * step}L) AS clock"
        spark.sql(f"SELECT {clock}").createOrReplaceTempView("clocks")
        try:
            assert found == sorted(map(str, spark.sql(text).collect()))
        finally:
            for name in ("r1", "r2", "clocks"):
                spark.catalog.dropTempView(name)
    assert plans.count == 1


@pytest.mark.parametrize("constant", [True, soaked(False)])
@pytest.mark.parametrize("text", sampled(TEXTS))
def test_means_what_it_would_where_rows_are_held(spark: SparkSession, text: str, constant: bool) -> None:
    plans = Plans(spark)
    for step, (first, second) in enumerate(HELD):
        relations = plans.relations(spark)
        relations.put("given1", rows(spark, *first))
        relations.put("given2", rows(spark, *second))
        for name, given in (("r1", "given1"), ("r2", "given2")):
            figures = relations.hold(name, f"SELECT * FROM {given}", {"n": "count(1)"}, 4)
            assert figures == {"n": relations[given].count()}
        relations.put_row("clocks", "clock", {"step": step, "now": 100 * step}, constant)
        wanted = relations.sql(text).collect()
        assert relations.hold("found", text, {"n": "count(1)"}, len(wanted)) == {"n": len(wanted)}
        assert sorted(map(str, relations["found"].collect())) == sorted(map(str, wanted))


def test_is_planned_once_where_rows_are_held(spark: SparkSession) -> None:
    """What a held relation reads is put into a physical plan, which Spark makes when the text is first held.

    Nothing else is planned then: what Spark runs of a plan of its own it numbers.
    """
    plans, planned = Plans(spark), list[int]()
    for first, _ in HELD:
        relations = plans.relations(spark)
        relations.put("given", rows(spark, *first))
        relations.hold("r1", "SELECT * FROM given", {"n": "count(1)"}, 4)
        before = executions(spark)
        relations.hold("sums", TEXTS[0], {"n": "count(1)"}, 4)
        planned.append(executions(spark) - before)
    assert planned == [0, 0, 0]


def test_more_rows_than_may_be_held_leave_the_name_as_it_is(spark: SparkSession) -> None:
    relations = Plans(spark).relations(spark)
    relations.put("r1", rows(spark, (1, 1), (2, 2)))
    for _ in range(2):
        assert relations.hold("one", "SELECT * FROM r1 WHERE k = 1", {"s": "sum(v)"}, 1) == {"s": 1}
        assert relations.hold("one", "SELECT * FROM r1", {"s": "sum(v)"}, 1) is None
        assert [row.v for row in relations["one"].collect()] == [1]


@pytest.mark.parametrize("few", [0, 1, 2])
def test_is_written_as_spark_writes_it(spark: SparkSession, tmp_path: Path, few: int) -> None:
    """In this process or by tasks; what another attempt left in the folder goes."""
    folder, relations = tmp_path / "a % b", Plans(spark).relations(spark)
    folder.mkdir()
    (folder / "part-00000.parquet").write_bytes(b"half a fi")
    text = (
        "SELECT k, named_struct('v', CAST(v AS DECIMAL(20, 2)), 'a', array(k, NULL)) AS s, map('m', v) AS m,"
        " timestamp_micros(v) AS t, CAST('nan' AS DOUBLE) AS d, CAST(NULL AS STRING) AS n FROM r1"
    )
    relations.put("r1", rows(spark, (1, 1), (None, 2)))
    found, held = relations.write("out", text, {"sum": "sum(s.v)"}, str(folder), few)
    assert found == {"sum": 3} and (held is not None) == (few == 2)
    stored = spark.read.parquet(str(folder))
    assert sorted(map(str, stored.collect())) == sorted(map(str, relations.sql(text).collect()))
    assert stored.inputFiles() and (folder / "_SUCCESS").exists()
    assert len(list(folder.glob(".part-*.crc"))) == len(list(folder.glob("part-*.parquet")))


def test_is_analysed_once(spark: SparkSession) -> None:
    """The identities that analysis gives to new columns stay the same from one use to the next."""
    plans, seen = Plans(spark), []
    for first, second in HELD:
        relations = plans.relations(spark)
        relations.put("r1", rows(spark, *first))
        relations.put("r2", rows(spark, *second))
        frame = relations.sql(TEXTS[2] + " WHERE a.v > 0")
        seen.append(frame._jdf.queryExecution().analyzed().output().toString())
    assert len(set(seen)) == 1


def test_a_relation_that_comes_of_another_text_each_time(spark: SparkSession) -> None:
    plans = Plans(spark)
    for first, _ in HELD:
        relations = plans.relations(spark)
        relations.put("r1", rows(spark, *first))
        relations.put("summed", relations.sql("SELECT k, sum(v) AS v FROM r1 GROUP BY k"))
        relations.put("again", relations.sql("SELECT * FROM summed WHERE v > 1"))
        text = "SELECT a.k, a.v, b.v AS w FROM summed AS a FULL JOIN again AS b ON a.k <=> b.k ORDER BY 1"
        totals: dict[int | None, int] = {}
        for k, v in first:
            totals[k] = totals.get(k, 0) + v
        expected = {(k, v, v if v > 1 else None) for k, v in totals.items()}
        assert {tuple(row) for row in relations.sql(text).collect()} == expected


def test_other_columns_are_analysed_anew(spark: SparkSession) -> None:
    plans = Plans(spark)
    for kind, expected in (("INT", "int"), ("STRING", "string"), ("INT", "int")):
        relations = plans.relations(spark)
        relations.put("r1", spark.sql(f"SELECT CAST(1 AS {kind}) AS k"))
        assert relations.sql("SELECT max(k) AS m FROM r1").dtypes == [("m", expected)]
    assert plans.count == 1


def test_what_can_change_in_between_is_not_kept(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE side (k INT, name STRING)")
    spark.sql("CREATE FUNCTION twice(x BIGINT) RETURNS BIGINT RETURN 2 * x")
    plans = Plans(spark)
    joined = "SELECT name, twice(v) AS v FROM r1 JOIN side USING (k)"
    called = "SELECT twice(v) AS v FROM r1"
    for number, factor in ((1, 2), (2, 3)):
        spark.sql(f"INSERT INTO side VALUES (1, 'n{number}')")
        spark.sql(f"CREATE OR REPLACE FUNCTION twice(x BIGINT) RETURNS BIGINT RETURN {factor} * x")
        relations = plans.relations(spark)
        relations.put("r1", rows(spark, (1, 5)))
        assert relations.sql(joined).count() == number
        assert [row["v"] for row in relations.sql(called).collect()] == [5 * factor]


def test_measured_each_time(spark: SparkSession) -> None:
    plans = Plans(spark)
    for first, _ in HELD:
        relations = plans.relations(spark)
        relations.put("r1", rows(spark, *first))
        relations.put_row("clocks", "clock", {"least": 2}, constant=False)
        measures = {"n": "count(1)", "most": "max(v)", "big": "count_if(v >= (SELECT clock FROM clocks).least)"}
        measured = relations.measured("SELECT k, v FROM r1", measures)
        relations.put("watched", measured.frame)
        assert relations.sql("SELECT count(*) AS c FROM watched").collect()[0]["c"] == len(first)
        values = [v for _, v in first]
        told = {"n": len(values), "most": max(values), "big": sum(v >= 2 for v in values)}
        assert measured.figures() == told == relations.figures("r1", measures)


def test_what_is_stored_is_found_again(spark: SparkSession) -> None:
    plans = Plans(spark)
    for first, _ in HELD:
        relations = plans.relations(spark)
        relations.put("r1", rows(spark, *first))
        stored = relations.sql("SELECT k, count(*) AS n FROM r1 GROUP BY k").persist()
        relations.put("stored", stored)
        read = relations.sql("SELECT sum(n) AS n FROM stored")
        assert read.collect()[0]["n"] == len(first)
        assert "InMemoryTableScan" in read._jdf.queryExecution().executedPlan().toString()
        stored.unpersist()


def test_a_text_that_fails_leaves_no_view(spark: SparkSession) -> None:
    relations = Plans(spark).relations(spark)
    relations.put("r1", rows(spark, (1, 1)))
    with pytest.raises(Exception, match="UNRESOLVED_COLUMN"):
        relations.sql("SELECT nothing FROM r1")
    assert not views(spark)
