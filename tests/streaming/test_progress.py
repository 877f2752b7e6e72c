"""What can be seen of a streaming table: its steps' figures, EXPLAIN's words, the warning of CREATE."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.types import StructType

from benchmarks import status
from tests.statements import Rows, rows_of
from warehouse.dataflow.state_columns import state_types
from warehouse.engine import Engine
from warehouse.streaming.steps import windowed

SCORES = (
    "(seq INT, key STRING, value INT, event_time TIMESTAMP, processing_time TIMESTAMP) USING replay OPTIONS ("
    "path 'tests/data/paper.json', format 'json', arrival 'processing_time',"
    " watermark 'tests/data/paper_watermark.csv', step 'INTERVAL 3 MINUTES')"
)
SUMS = "SELECT key, sum(value) AS value, window_end FROM STREAM scores GROUP BY key WINDOW"


@pytest.fixture(scope="module")
def scores(engine: Engine) -> Any:
    rows_of(engine, f"CREATE SCHEMA watched; USE watched; CREATE STREAM scores {SCORES}")
    yield
    rows_of(engine, "USE default")


@pytest.mark.usefixtures("scores")
def test_progress_of_the_papers_sessions(engine: Engine) -> None:
    """Steps at 12:06 and 12:09: the 9 of 12:01:26, 6:54 behind, joins what was on time and what was early."""
    rows_of(
        engine,
        f"CREATE STREAMING TABLE sessions AS {SUMS} SESSIONS (event_time, GAP INTERVAL 1 MINUTE)"
        " TRIGGER AT WATERMARK EARLY EVERY INTERVAL 1 MINUTE LATE EVERY ROW RETRACTING",
    )
    counted = "SELECT rows_in, late, finished, panes, panes_early, panes_on_time, panes_late, withdrawals"
    found = rows_of(engine, f"{counted} FROM stream_progress('sessions') WHERE panes > 0 ORDER BY step")
    names = ("rows_in", "late", "finished", "panes", "panes_early", "panes_on_time", "panes_late", "withdrawals")
    assert [tuple(row[n] for n in names) for row in found] == [(2, 0, 0, 2, 1, 1, 0, 0), (8, 0, 0, 2, 1, 1, 0, 2)]
    lateness = "lateness_p50, lateness_p90, lateness_p99, lateness_max"
    assert rows_of(engine, f"SELECT {lateness} FROM stream_progress('sessions') WHERE rows_in = 8") == [
        {"lateness_p50": 140.0, "lateness_p90": 414.0, "lateness_p99": 414.0, "lateness_max": 414.0}
    ]
    panes = rows_of(engine, "SELECT count_if(_change_type = 'delete') AS n FROM panes('sessions')")
    assert panes == [{"n": 2}]


@pytest.mark.soak
@pytest.mark.usefixtures("scores")
def test_rows_that_once_keeps_aside_are_counted_and_told(engine: Engine) -> None:
    create = f"CREATE STREAMING TABLE once AS {SUMS} FIXED (event_time, SIZE INTERVAL 2 MINUTES)"
    zone = "spark.sql.session.timeZone"
    _, result, _ = engine.run(f"SET {zone} = +02:00; {create} TRIGGER ONCE (AFTER 1 ROW); RESET {zone}")
    assert [w.partition(":")[0] for w in result.warnings] == ["warning"] * 2
    assert "may lose rows" in result.warnings[0]
    assert "compute in UTC, where this session's time zone is +02:00" in result.warnings[1]
    kept = rows_of(engine, "SELECT count(*) AS n FROM late_rows('once') WHERE _why = 'FINISHED'")
    assert rows_of(engine, "SELECT sum(finished) AS n FROM stream_progress('once')") == kept
    assert kept[0]["n"] > 0
    assert f"{kept[0]['n']} after their trigger had finished" in (result.message or "")


@pytest.mark.usefixtures("scores")
def test_explain_names_the_tree_when_it_fires_and_what_to_beware_of(engine: Engine) -> None:
    query = f"{SUMS} FIXED (event_time, SIZE INTERVAL 2 MINUTES) TRIGGER AT WATERMARK EARLY EVERY ROW LATE EVERY 2 ROWS"
    (table,) = rows_of(engine, f"EXPLAIN CREATE STREAMING TABLE t AS {query}")
    (plain,) = rows_of(engine, f"EXPLAIN {query}")
    for told in (table["plan"], plain["plan"]):
        assert "\ntree:   THEN\n          REPEAT … UNTIL\n            EVERY 1 ROW\n            AT WATERMARK\n" in told
        assert "\nfires:  before window_end: in each step that brings rows\n" in told
    assert "\nwarning: a window may be emitted more than once" in table["plan"]
    assert "\nwarning: fires early in each step" in table["plan"]
    assert "warning" not in plain["plan"]
    watermark = query.replace("STREAM scores", "STREAM scores WATERMARK event_time DELAY OF INTERVAL 1 MINUTE")
    (bounded,) = rows_of(engine, f"EXPLAIN CREATE STREAMING TABLE t AS {watermark} RETRACTING")
    assert "at most 722 live per key" in bounded["plan"]
    assert "counts twice" not in bounded["plan"]
    assert "\nslices:" not in bounded["plan"]
    mean_and_most = query.partition(" TRIGGER")[0].replace("SELECT", "SELECT avg(value) AS mean, max(value) AS most,")
    sliding = mean_and_most.replace("FIXED (event_time,", "SLIDING (event_time, EVERY INTERVAL 30 SECONDS,")
    (told,) = rows_of(engine, f"EXPLAIN CREATE STREAMING TABLE t AS {sliding}")
    assert (
        "\nslices: until it fires a window is its slices of 30 seconds: a step adds one row per key and slice, and"
        " reads none\n        rolled up by adding what enters and subtracting what leaves: avg, sum; by merging the"
        " slices inside: max\n"
    ) in told["plan"]


def test_steps_that_follow_each_other_are_analysed_and_compiled_once(
    rows: Rows, engine: Engine, schema: str, tmp_path: Path, monkeypatch: Any
) -> None:
    """The clock is a row that a step's SQL reads: Spark analyses the same text for a step whatever the time is.

    And generates the same code.

    Not always to the letter: it names what expressions share in the order of a hash, so that now and then one stage
    of a step is the same code with other names, compiled for the driver and for the executor.
    """
    monkeypatch.setattr(windowed, "MUCH_STATE", -1)  # a small step would be interpreted
    assert engine.spark._jvm
    compiled = engine.spark._jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME()

    def arrive(step: int) -> int:
        """Return how many pieces of code are compiled for a step whose rows begin ``step`` minutes after the first."""
        lines = (
            {"k": f"k{number % 3}", "v": number, "at": f"2024-05-01T12:{step + number % 2:02}:0{number % 7}Z"}
            for number in range(40)
        )
        (tmp_path / f"{step}.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
        before = compiled.getCount()
        if step == 0:
            rows(
                f"CREATE STREAM s (k STRING, v INT, at TIMESTAMP) USING json OPTIONS (path '{tmp_path}')"
                " WATERMARK at DELAY OF INTERVAL 1 SECOND;"
                "CREATE STREAMING TABLE t AS SELECT k, sum(v) AS n, window_start FROM STREAM s GROUP BY k"
                " WINDOW FIXED (at, SIZE INTERVAL 1 MINUTE) TRIGGER REPEAT (AFTER 9 ROWS THEN AFTER INTERVAL 1 DAY)"
                " UNTIL AT WATERMARK RETRACTING ALLOWED LATENESS INTERVAL 0 SECONDS"
            )
        else:
            rows("REFRESH STREAMING TABLE t")
        (entry,) = [made for made in engine.catalog.streaming_tables.all() if (made.schema, made.name) == (schema, "t")]
        kept.append(engine.tables.feeds._feeds[entry.id].runner.parts.plans.count)
        return compiled.getCount() - before

    kept = list[int]()
    found = [arrive(step) for step in range(5)]
    assert found[0] > 10
    assert 0 in found[2:] and sum(found[2:]) <= 4, found
    assert kept[0] > 3 and len(set(kept[2:])) == 1, kept


KEYS = {
    "numbers": ("k % 3", "CAST(k AS DECIMAL(20, 3))", "CAST(k AS DOUBLE)"),
    "others": ("CAST(k AS STRING)", "CAST('y' AS CHAR(3))", "DATE '2024-01-01'", "at", "k > 0", "NULL"),
    "nested": ("named_struct('a`b', k, 'c', array(at))", "array(k)"),
}


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_the_texts_of_a_first_small_step_are_those_of_the_next(
    rows: Rows, engine: Engine, schema: str, tmp_path: Path, keys: tuple[str, ...]
) -> None:
    """It has no state to merge its rows with, and reads one that has no rows."""
    known = list[int]()
    for step in range(3):
        (tmp_path / f"{step}.json").write_text(json.dumps({"k": 1, "at": "2024-05-01T12:00:00Z"}) + "\n")
        rows(
            "REFRESH STREAMING TABLE t" if step else
            f"CREATE STREAM s (k INT, at TIMESTAMP) USING json OPTIONS (path '{tmp_path}')"
            " WATERMARK at DELAY OF INTERVAL 1 SECOND;"
            f"CREATE STREAMING TABLE t AS SELECT {', '.join(f'{key} AS c{n}' for n, key in enumerate(keys))},"
            " count(*) AS n, sum(k) AS total, max(at) AS latest, median(k) AS half FROM STREAM s"
            f" GROUP BY {', '.join(f'c{n}' for n, _ in enumerate(keys))} WINDOW FIXED (at, SIZE INTERVAL 1 MINUTE)"
            " TRIGGER EVERY ROW RETRACTING"
        )  # fmt: skip
        (entry,) = [made for made in engine.catalog.streaming_tables.all() if (made.schema, made.name) == (schema, "t")]
        runner = engine.tables.feeds._feeds[entry.id].runner
        known.append(runner.parts.plans.count)
        columns = ", ".join(f"{name} {kind}" for name, kind in state_types(runner.state.query).items())
        state = runner.state.all(engine.spark, runner.log.last())
        assert state and state.schema == StructType.fromDDL(columns)
    assert known[1:] == [known[0] + 1] * 2, "one more that takes panes back"
    assert rows("SELECT n, total, half FROM t") == [{"n": 3, "total": 3, "half": 1.0}]


@pytest.mark.soak
def test_rows_that_pass_a_table_without_watermarks_are_read_once(engine: Engine, tmp_path: Path) -> None:
    rows_of(engine, f"CREATE STREAM numbers (v INT) USING json OPTIONS (path '{tmp_path}')")
    rows_of(engine, "CREATE STREAMING TABLE even AS SELECT v FROM STREAM numbers WHERE v % 2 = 0")
    read = list[int]()
    for number, end in enumerate(("", "{broken\n")):
        (tmp_path / f"{number}.json").write_text("".join(json.dumps({"v": v}) + "\n" for v in range(100)) + end)
        with status.watched(engine.spark) as seen:
            rows_of(engine, "REFRESH STREAMING TABLE even")
        read.append(sum(stage.rows_read for stage in seen.stages))
    assert read[0] == 100 and read[1] > 200  # the second time for the rows that are bad
    told = rows_of(engine, "SELECT rows_in, bad, panes FROM stream_progress('even') WHERE rows_in > 0 ORDER BY step")
    assert [tuple(step.values()) for step in told] == [(100, 0, 50), (101, 1, 50)]
