"""What acts on a micro-batch of files scans them; of other sources it gets rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from benchmarks import status
from tests.statements import rows_of
from warehouse.engine import Engine
from warehouse.execution.micro_batches import query_of_all

SCHEMA = "k STRING, v BIGINT, wide STRING"


@pytest.fixture
def spark(engine: Engine) -> SparkSession:
    return engine.spark.newSession()


def wide(engine: Engine, folder: Path, rows: int = 1000) -> Path:
    engine.spark.range(rows).selectExpr(
        "concat('k', id % 7) AS k", "id AS v", "repeat(sha2(CAST(id AS STRING), 256), 20) AS wide"
    ).coalesce(1).write.parquet(str(folder))
    return folder


def taken(rows: DataFrame, checkpoint: Path) -> list[tuple[str, list[str]]]:
    """Return of each micro-batch how two of its columns are read, and what is in them."""
    found = list[tuple[str, list[str]]]()

    def act(batch: DataFrame, number: int) -> None:
        assert number == len(found)
        some = batch.where("v < 3").select("k", "v")
        found.append(
            (some._jdf.queryExecution().executedPlan().toString(), sorted(f"{k} {v}" for k, v in some.collect()))
        )

    query = query_of_all(rows, str(checkpoint), act)
    query.awaitTermination()
    return found


def test_files_are_scanned_for_what_is_asked(engine: Engine, spark: SparkSession, tmp_path: Path) -> None:
    files = spark.readStream.schema(SCHEMA).parquet(str(wide(engine, tmp_path / "files")))
    ((plan, rows),) = taken(files, tmp_path / "checkpoint")
    assert rows == ["k0 0", "k1 1", "k2 2"]
    assert "ReadSchema: struct<k:string,v:bigint>" in plan and "Scan ExistingRDD" not in plan


def test_a_delta_table_is_scanned(engine: Engine, spark: SparkSession, tmp_path: Path) -> None:
    spark.read.parquet(str(wide(engine, tmp_path / "files"))).write.format("delta").save(str(tmp_path / "table"))
    with_gaps = spark.sql(f"DELETE FROM delta.`{tmp_path}/table` WHERE v = 1")
    assert with_gaps.head()[0] == 1
    ((plan, rows),) = taken(spark.readStream.format("delta").load(str(tmp_path / "table")), tmp_path / "checkpoint")
    assert rows == ["k0 0", "k2 2"]
    assert "wide" not in plan and "Scan ExistingRDD" not in plan


def test_two_sources_of_which_one_has_nothing_are_scanned(engine: Engine, spark: SparkSession, tmp_path: Path) -> None:
    wide(engine, tmp_path / "a")
    (tmp_path / "b").mkdir()
    both = [spark.readStream.schema(SCHEMA).parquet(str(tmp_path / name)) for name in "ab"]
    ((plan, rows),) = taken(both[0].unionByName(both[1]), tmp_path / "checkpoint")
    assert rows == ["k0 0", "k1 1", "k2 2"]
    assert "Scan ExistingRDD" not in plan


def test_a_source_that_is_no_files_gives_rows(engine: Engine, spark: SparkSession, tmp_path: Path) -> None:
    source = spark.readStream.format("rate-micro-batch").options(rowsPerBatch=5, numPartitions=1).load()
    files = spark.readStream.schema(SCHEMA).parquet(str(wide(engine, tmp_path / "files")))
    both = source.selectExpr("CAST(value AS STRING) AS k", "value AS v", "'' AS wide").unionByName(files)
    plan, rows = taken(both, tmp_path / "checkpoint")[0]
    assert rows == ["0 0", "1 1", "2 2", "k0 0", "k1 1", "k2 2"] and "Scan ExistingRDD" in plan


def test_a_failure_is_told_as_the_querys(spark: SparkSession, engine: Engine, tmp_path: Path) -> None:
    files = spark.readStream.schema(SCHEMA).parquet(str(wide(engine, tmp_path / "files", 1)))

    def act(batch: DataFrame, number: int) -> None:
        raise ValueError("not this one")

    query = query_of_all(files, str(tmp_path / "checkpoint"), act)
    with pytest.raises(Exception, match="not this one"):
        query.awaitTermination()


def test_a_step_reads_the_columns_it_needs(engine: Engine, schema: str, tmp_path: Path) -> None:
    files = wide(engine, tmp_path / "files", 20_000)
    size = sum(file.stat().st_size for file in files.glob("*.parquet"))
    rows_of(engine, f"CREATE STREAM letters ({SCHEMA}) USING parquet OPTIONS (path '{files}')")
    with status.watched(engine.spark) as seen:
        rows_of(engine, "CREATE STREAMING TABLE some AS SELECT k, v FROM STREAM letters WHERE v % 2 = 0")
    assert rows_of(engine, "SELECT count(*) AS n FROM some") == [{"n": 10_000}]
    assert sum(stage.read for stage in seen.stages) < size / 5
