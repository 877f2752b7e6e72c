"""Rows of steps come into Delta tables in one commit each, and the files of many steps become one."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException

from tests.statements import rows_of
from warehouse.engine import Engine
from warehouse.execution.frames import append
from warehouse.streaming.delta import delta_tables, upkeep
from warehouse.streaming.log import START, table_folder


@pytest.fixture
def table(engine: Engine, tmp_path: Path) -> Path:
    """An empty Delta table of numbers with their steps."""
    delta_tables.create(engine.spark, tmp_path / "panes", "k int, s string, _step bigint", ("k", "s", "_step"))
    return tmp_path / "panes"


def commits(table: Path) -> list[list[dict[str, Any]]]:
    """Return the actions of each commit of a Delta table."""
    files = sorted((table / "_delta_log").glob("*.json"))
    return [[json.loads(line) for line in file.read_text().splitlines()] for file in files]


def numbers(engine: Engine, table: Path) -> list[int]:
    """Return what is in the table, sorted."""
    return sorted(row["k"] for row in engine.spark.read.format("delta").load(str(table)).collect())


def test_rows_come_in_one_commit_and_what_they_leave_out_is_null(engine: Engine, table: Path) -> None:
    rows = engine.spark.sql("SELECT CAST(id AS INT) AS k, 7L AS _step FROM range(0, 10, 1, 2)")
    append(rows, table)
    (made,) = commits(table)[1:]
    assert [next(iter(action)) for action in made] == ["commitInfo", "add", "add"]
    assert made[0]["commitInfo"]["operation"] == "WRITE" and made[0]["commitInfo"]["isBlindAppend"]
    statistics = [json.loads(action["add"]["stats"]) for action in made[1:]]
    assert [(s["numRecords"], s["minValues"]["_step"]) for s in statistics] == [(5, 7), (5, 7)]
    assert numbers(engine, table) == list(range(10))
    assert engine.spark.read.format("delta").load(str(table)).where("s IS NULL").count() == 10


@pytest.mark.soak
def test_a_commit_of_another_process_in_between_is_kept(engine: Engine, table: Path) -> None:
    rows = engine.spark.sql("SELECT 1 AS k, 'a' AS s, 1L AS _step")
    append(rows, table)
    first = table / "_delta_log" / f"{1:020}.json"
    (added,) = [action["add"] for action in commits(table)[1] if "add" in action]
    os.link(table / added["path"], table / f"again-{added['path']}")
    second = first.read_text().replace(added["path"], f"again-{added['path']}")
    (table / "_delta_log" / f"{2:020}.json").write_text(second)
    append(engine.spark.sql("SELECT 2 AS k, 'b' AS s, 2L AS _step"), table)
    assert len(commits(table)) == 4 and numbers(engine, table) == [1, 1, 2]


def test_what_another_process_changed_of_the_table_in_between_holds(engine: Engine, table: Path) -> None:
    append(engine.spark.sql("SELECT 1 AS k, 'a' AS s, 1L AS _step"), table)
    (made,) = [action["metaData"] for action in commits(table)[0] if "metaData" in action]
    made["configuration"]["said"] = "so"
    (table / "_delta_log" / f"{2:020}.json").write_text(json.dumps({"metaData": made}) + "\n")
    append(engine.spark.sql("SELECT 2 AS k, 'b' AS s, 2L AS _step"), table)
    assert len(commits(table)) == 4 and numbers(engine, table) == [1, 2]
    (found,) = engine.spark.sql(f"SHOW TBLPROPERTIES delta.`{table}` ('said')").collect()
    assert found["value"] == "so"


@pytest.mark.parametrize("columns", ["1L AS k", "1 AS k, 2 AS more"])
def test_rows_that_do_not_fit_are_refused_as_delta_does(engine: Engine, table: Path, columns: str) -> None:
    with pytest.raises(AnalysisException, match="DELTA_"):
        append(engine.spark.sql(f"SELECT {columns}"), table)
    assert len(commits(table)) == 1


def test_upkeep_leaves_one_file_and_a_checkpoint_and_starts_no_vacuum_of_what_is_young(
    engine: Engine, schema: str, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "CHECKPOINTED", 3)
    for number in range(4):
        append(engine.spark.sql(f"SELECT {number} AS k, 'a' AS s, 1L AS _step"), table)
    steps = replace(START, step=upkeep.STEPS - 1), replace(START, step=upkeep.STEPS)
    upkeep.after(engine.spark, table.parent, *steps, engine.tables.common.keeper, None)
    made = commits(table)[-1]
    assert made[0]["commitInfo"]["operation"] == "OPTIMIZE"
    assert [a["remove"]["dataChange"] for a in made if "remove" in a] == [False] * 4
    assert [a["add"]["dataChange"] for a in made if "add" in a] == [False]
    assert list((table / "_delta_log").glob("*.checkpoint.parquet")) and numbers(engine, table) == [0, 1, 2, 3]
    assert len(list(table.glob("*.parquet"))) == 5 and table not in upkeep._cleaned


def test_a_step_of_few_rows_that_pass_is_interpreted_and_says_its_watermark(
    engine: Engine, schema: str, tmp_path: Path
) -> None:
    for number in (1, 2):
        row = {"k": number, "at": f"2026-01-01T00:00:0{number}Z"}
        file = tmp_path / f"{number}.json"
        file.write_text(json.dumps(row) + '\n{"k": \n')
        os.utime(file, (number, number))  # files are read in the order of their times
    rows_of(
        engine,
        f"CREATE STREAM ticks (k INT, at TIMESTAMP) USING json OPTIONS (path '{tmp_path}', maxFilesPerTrigger '1')"
        " WATERMARK at DELAY OF INTERVAL 1 SECONDS;"
        "CREATE STREAMING TABLE passed AS SELECT k, upper(concat('x', k)) AS x FROM STREAM ticks",
    )
    seen = rows_of(engine, "SELECT k, x, unix_seconds(_watermark) % 60 AS w FROM panes('passed') ORDER BY k")
    assert seen == [{"k": 1, "x": "X1", "w": 0}, {"k": 2, "x": "X2", "w": 1}]
    assert rows_of(engine, "SELECT count(*) AS n FROM bad_rows('ticks')") == [{"n": 2}]
    (entry,) = [e for e in engine.catalog.streaming_tables.all() if (e.schema, e.name) == (schema, "passed")]
    assert len(commits(table_folder(engine.tables.home, entry) / "panes")) == 3
