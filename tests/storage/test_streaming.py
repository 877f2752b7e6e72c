"""Streaming tables whose panes are distributed by keys: no shuffle where they are read, whatever the steps did."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.adaptive.conftest import settings
from tests.statements import Rows, rows_shuffled
from warehouse.engine import Engine, WarehouseError
from warehouse.planning.distribution import Distribution
from warehouse.storage.panes import Panes
from warehouse.streaming import faults
from warehouse.streaming.delta import upkeep
from warehouse.streaming.delta.placement import Placement
from warehouse.streaming.log import table_folder

QUERIES = {
    "accumulating": "SELECT k, count(*) AS n FROM STREAM s GROUP BY k WINDOW GLOBAL TRIGGER EVERY 1 ROWS",
    "retracting": "SELECT k, count(*) AS n FROM STREAM s GROUP BY k WINDOW GLOBAL TRIGGER EVERY 1 ROWS RETRACTING",
    "passed": "SELECT k, v AS n FROM STREAM s",
}
JOINED = "SELECT k, sum(n) AS n, sum(n + w) AS w FROM {} AS t LEFT JOIN {} AS o USING (k) GROUP BY k"
Arrive = Callable[[int], None]


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    yield from rows_shuffled(engine, "spread")


@pytest.fixture(scope="module")
def arrive(rows: Rows, tmp_path_factory: pytest.TempPathFactory) -> Arrive:
    """Rows of a stream ``s``, some of whose keys are NULL; a table ``other`` and its co-partitioned copy."""
    folder = tmp_path_factory.mktemp("arriving")

    def arrive(number: int) -> None:
        made = [{"k": None if i % 7 == 0 else i * number % 20, "v": i} for i in range(60)]
        (folder / f"{number}.json").write_text("".join(json.dumps(row) + "\n" for row in made))

    arrive(1)
    rows(
        f"CREATE STREAM s (k INT, v INT) USING json OPTIONS (path '{folder}');"
        "CREATE TABLE plain AS SELECT CAST(id AS INT) AS k, id * 2 AS w FROM range(30);"
        "CREATE TABLE other TBLPROPERTIES ('partitions' = '4') AS SELECT * FROM plain DISTRIBUTE BY k"
    )
    return arrive


@pytest.fixture(scope="module")
def made(rows: Rows, arrive: Arrive) -> None:
    for name, query in QUERIES.items():
        rows(f"CREATE STREAMING TABLE {name} TBLPROPERTIES ('copartition' = 'other') AS {query} DISTRIBUTE BY k")


def exchanges(rows: Rows, query: str) -> int:
    """Return how many shuffles by hash a query has."""
    return str(rows(f"EXPLAIN {query}")[0]["plan"]).count("Exchange hashpartitioning")


def check(rows: Rows, name: str, query: str, shuffles: int = 0) -> None:
    """A table answers as a batch run of its query over all that has arrived does, with so many shuffles by hash."""
    asked, batch = JOINED.format(name, "other"), f"({query.partition(' WINDOW')[0]})"
    assert exchanges(rows, asked) == shuffles
    assert ordered(rows(asked)) == ordered(rows(JOINED.format(batch, "plain")))


def ordered(found: list[dict[str, object]]) -> list[str]:
    return sorted(map(str, found))


def die() -> None:
    raise RuntimeError("killed")


def panes_of(engine: Engine, name: str) -> Path:
    (entry,) = [e for e in engine.catalog.streaming_tables.all() if (e.schema, e.name) == ("spread", name)]
    return table_folder(engine.folder, entry) / "panes"


def files(engine: Engine, name: str) -> list[str]:
    return list(engine.layouts._java.look(engine.spark._jsparkSession, str(panes_of(engine, name))).files())


def test_neither_joins_nor_aggregations_shuffle_after_any_step(
    engine: Engine, rows: Rows, arrive: Arrive, made: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step writes a file for each partition at most, a compaction leaves one; who reads changes is not told twice."""
    rows("CREATE STREAMING TABLE total AS SELECT sum(n) AS n FROM STREAM retracting WINDOW GLOBAL TRIGGER EVERY 1 ROWS")
    monkeypatch.setattr(upkeep, "STEPS", 2)
    arrive(2)
    for name, query in QUERIES.items():
        before = files(engine, name)
        rows(f"REFRESH STREAMING TABLE {name}")
        assert len(set(files(engine, name)) - set(before)) <= 4
        check(rows, name, query)
    for name in QUERIES:
        assert sorted(f[:10] for f in files(engine, name)) == [f"part-0000{i}" for i in range(4)]
    rows("REFRESH STREAMING TABLE total")
    assert rows("SELECT n FROM total") == [{"n": 120}]
    assert exchanges(rows, "SELECT count(*) FROM accumulating JOIN retracting USING (k) GROUP BY k") == 0
    assert rows("SELECT sum(n) AS n FROM accumulating AS OF STEP 1") == [{"n": 60}]


def test_what_is_known_outlives_the_process(engine: Engine, rows: Rows, made: None) -> None:
    asked, folder = JOINED.format("accumulating", "other"), panes_of(engine, "accumulating")
    layouts = engine.layouts._java
    layouts.remember(str(folder), "another", 0, True, ["k"], 4)
    assert exchanges(rows, asked) > 0
    Panes(layouts).open(folder)
    assert exchanges(rows, asked) == 0


def test_a_step_that_dies_before_it_is_noted_costs_a_shuffle(
    engine: Engine, rows: Rows, arrive: Arrive, made: None
) -> None:
    arrive(4)
    faults.arm("placed", die)
    with pytest.raises(RuntimeError):
        rows("REFRESH STREAMING TABLE accumulating")
    check(rows, "accumulating", QUERIES["accumulating"], shuffles=2)
    rows("REFRESH STREAMING TABLE accumulating")
    check(rows, "accumulating", QUERIES["accumulating"])


@pytest.mark.soak
def test_what_others_write_is_looked_at_and_put_right_by_the_next_compaction(
    engine: Engine, rows: Rows, arrive: Arrive, made: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.spark.sql(f"SELECT * FROM delta.`{panes_of(engine, 'passed')}`").repartition(1).write.format("delta").mode(
        "overwrite"
    ).save(str(panes_of(engine, "passed")))
    asked = "SELECT k, count(*) AS n FROM passed GROUP BY k"
    expected = ordered(rows(asked.replace("passed", "STREAM s WHERE v >= 0")))
    rows("REFRESH STREAMING TABLE passed")
    assert exchanges(rows, asked) == 1
    assert ordered(rows(asked)) == expected
    monkeypatch.setattr(upkeep, "STEPS", 1)
    arrive(5)
    rows("REFRESH STREAMING TABLE passed")
    check(rows, "passed", QUERIES["passed"])


@pytest.mark.soak
def test_replaced_with_another_distribution_it_continues(rows: Rows, arrive: Arrive) -> None:
    """Panes of a table that was not distributed, superseded ones among them, are put where they belong."""
    query = QUERIES["accumulating"]
    create = "CREATE OR REPLACE STREAMING TABLE changed {} AS " + query + " {}"
    rows(create.format("", ""))
    arrive(6)
    rows("REFRESH STREAMING TABLE changed")
    change = create.format("TBLPROPERTIES ('copartition' = 'other')", "DISTRIBUTE BY k")
    explained = str(rows(f"EXPLAIN {change}")[0]["plan"])
    assert "continue: the state and the panes stay" in explained
    assert "the panes are distributed by k over 4 partitions: those emitted so far are written anew, once" in explained
    faults.arm("spread", die)
    with pytest.raises(RuntimeError):
        rows(change)
    check(rows, "changed", query, shuffles=3)
    rows(change)
    check(rows, "changed", query)
    arrive(7)
    rows("REFRESH STREAMING TABLE changed")
    check(rows, "changed", query)
    rows("REFRESH STREAMING TABLE changed FULL")
    check(rows, "changed", query)
    described = {d["col_name"]: d["data_type"] for d in rows("DESCRIBE STREAMING TABLE EXTENDED changed")}
    assert described["Distribution"] == "by k over 4 partitions"


def test_a_key_that_is_computed_differently_is_a_rebuild(rows: Rows, arrive: Arrive) -> None:
    create = (
        "CREATE OR REPLACE STREAMING TABLE shifted AS SELECT k AS a, v % 3 AS b, count(*) AS n FROM STREAM s"
        " GROUP BY k, v % 3 WINDOW GLOBAL TRIGGER EVERY 1 ROWS DISTRIBUTE BY a"
    )
    rows(create)
    explained = str(rows("EXPLAIN " + create.replace("k AS a, v % 3 AS b", "v % 3 AS a, k AS b"))[0]["plan"])
    assert "rebuild from source" in explained and "DISTRIBUTE BY a: it is computed differently" in explained


def test_a_bound_of_the_window_through_a_select_around(rows: Rows, arrive: Arrive, tmp_path: Path) -> None:
    (tmp_path / "1.json").write_text('{"k": 1, "at": "2026-01-01T00:00:01Z"}\n{"k": 1, "at": "2026-01-01T00:01:01Z"}\n')
    rows(f"CREATE STREAM timed (k INT, at TIMESTAMP) USING json OPTIONS (path '{tmp_path}') WATERMARK at DELAY OF"
         " INTERVAL 1 HOUR")  # fmt: skip
    rows(
        "CREATE STREAMING TABLE bounds AS SELECT x.day, n + 1 AS n FROM (SELECT window_start AS day, count(*) AS n"
        " FROM STREAM timed WINDOW FIXED (at, SIZE INTERVAL 1 MINUTE) TRIGGER EVERY 1 ROWS) AS x DISTRIBUTE BY day"
    )
    (tmp_path / "2.json").write_text('{"k": 1, "at": "2026-01-01T00:00:02Z"}\n')
    rows("REFRESH STREAMING TABLE bounds")
    asked = "SELECT day, sum(n) AS n FROM bounds GROUP BY day"
    assert exchanges(rows, asked) == 0
    assert sorted(r["n"] for r in rows(asked)) == [2, 3]


def test_times_that_files_have_in_another_unit_are_looked_at(engine: Engine) -> None:
    placement = Placement(Distribution(("at",), ("timestamp",), 8), (), engine.layouts.panes)
    for unit, seen in (("TIMESTAMP_MICROS", True), ("TIMESTAMP_MILLIS", False)):
        with settings(engine, {"spark.sql.parquet.outputTimestampType": unit}):
            frame, in_place = placement.placed(engine.spark.sql("SELECT timestamp_micros(id) AS at FROM range(9)"))
            frame.collect()
            assert in_place() == seen


def test_a_plain_table_joins_a_streaming_partner(rows: Rows, made: None, engine: Engine) -> None:
    rows("CREATE TABLE follows TBLPROPERTIES ('copartition' = 'retracting') AS SELECT * FROM plain DISTRIBUTE BY k")
    assert exchanges(rows, JOINED.format("retracting", "follows")) == 0
    engine.spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "10MB")
    plan = str(rows(f"EXPLAIN {JOINED.format('retracting', 'follows')}")[0]["plan"])
    engine.spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    assert "ShuffledHashJoin" in plan and "BroadcastExchange" not in plan, "though each is small enough to be sent"


GROUPED = "SELECT k, count(*) AS n FROM STREAM s GROUP BY k WINDOW GLOBAL TRIGGER EVERY 1 ROWS"


@pytest.mark.parametrize(
    ("text", "condition", "words"),
    [
        (f"x AS {GROUPED} DISTRIBUTE BY nope", "WAREHOUSE_DISTRIBUTION_KEY", "nope"),
        (f"x AS {GROUPED} DISTRIBUTE BY k % 2", "WAREHOUSE_DISTRIBUTION_KEY", "k % 2"),
        (f"x AS {GROUPED} DISTRIBUTE BY n", "WAREHOUSE_DISTRIBUTION_RESULT", "n"),
        (f"x AS {GROUPED} DISTRIBUTE BY k SORT BY n", "WAREHOUSE_ORDER_IN_STREAMING_TABLE", "SORT BY n"),
        (
            "x AS SELECT k, n FROM STREAM retracting DISTRIBUTE BY k",
            "WAREHOUSE_DISTRIBUTION_CHANGES",
            "DISTRIBUTE BY k",
        ),
        (
            f"x TBLPROPERTIES ('copartition' = 'none') AS {GROUPED} DISTRIBUTE BY k",
            "WAREHOUSE_COPARTITION_UNKNOWN",
            "'none'",
        ),
        (f"x TBLPROPERTIES ('copartition' = 'other') AS {GROUPED}", "WAREHOUSE_COPARTITION_KEY", "'other'"),
        (
            f"x TBLPROPERTIES ('copartition' = 'plain') AS {GROUPED} DISTRIBUTE BY k",
            "WAREHOUSE_COPARTITION_PLAIN",
            "'plain'",
        ),
        (
            "x TBLPROPERTIES ('copartition' = 'retracting') AS SELECT CAST(k AS BIGINT) AS k FROM STREAM s"
            " DISTRIBUTE BY k",
            "WAREHOUSE_COPARTITION_TYPES",
            "DISTRIBUTE BY k",
        ),
        (
            f"x TBLPROPERTIES ('copartition' = 'passed', 'partitions' = '5') AS {GROUPED} DISTRIBUTE BY k",
            "WAREHOUSE_COPARTITION_COUNT",
            "'5'",
        ),
        (f"x TBLPROPERTIES ('cache' = 'true') AS {GROUPED}", "WAREHOUSE_CACHE_STREAMING", "'true'"),
    ],
    ids=range(11),
)
def test_mistakes(rows: Rows, made: None, text: str, condition: str, words: str) -> None:
    text = "CREATE STREAMING TABLE " + text
    with pytest.raises(WarehouseError) as caught:
        rows(text)
    assert caught.value.condition == condition
    span = caught.value.diagnostics[0].span
    assert span is not None and span.of(text) == words
    assert rows("SHOW STREAMING TABLES LIKE 'x'") == []


def test_explain_says_how_panes_are_distributed(rows: Rows, arrive: Arrive) -> None:
    explained = str(rows(f"EXPLAIN CREATE STREAMING TABLE y AS {GROUPED} DISTRIBUTE BY k")[0]["plan"])
    assert "distribution: by k over 8 partitions; joins and aggregations on that shuffle none of it" in explained
