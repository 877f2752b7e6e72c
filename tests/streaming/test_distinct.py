"""Sets of distinct values, arrays of the best k: what comes of many steps is what Spark says of all rows at once."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.soak import soaked
from tests.statements import rows_of
from warehouse.engine import Engine
from warehouse.errors import WarehouseError

COUNTED = """
  count(DISTINCT t, d, i) AS b, count(DISTINCT r) AS p, collect_set(f) AS u, max_by(i, struct(i, s, f), 3) AS best
"""
MORE = """,
  count(DISTINCT f) AS c, array_sort(collect_set(s)) AS j,
  count(DISTINCT i, s) AS d, count(DISTINCT i) FILTER (WHERE s > 'm') AS g, sum(DISTINCT i) AS l,
  min_by(s, struct(s), 1 + 1) FILTER (WHERE i > 5) AS least
"""
SORTED = "SELECT * EXCEPT (u), array_sort(u) AS u FROM {} ORDER BY ALL"
WINDOWS = {
    "fixed": "WINDOW FIXED (at, SIZE INTERVAL 1 HOUR) TRIGGER EVERY ROW",
    "sliding": "WINDOW SLIDING (at, SIZE INTERVAL 1 HOUR, EVERY INTERVAL 10 MINUTES) ALLOWED LATENESS '0 seconds'",
    "sessions": "WINDOW SESSIONS (at, GAP INTERVAL 7 MINUTES)",
}
COLUMNS = "k STRING, i INT, s STRING, d DECIMAL(9, 2), f DOUBLE, t TIMESTAMP, r STRUCT<x: INT, y: STRING>, at TIMESTAMP"


def row(chance: random.Random, minute: int) -> dict[str, object]:
    """Return a row of few values, some of them NULL."""
    number = chance.randrange(12)
    drawn: dict[str, object] = {
        "i": number, "s": chance.choice("azmn"), "d": f"{number / 4:.2f}", "f": chance.choice([0.0, -0.0, 1.5, "NaN"]),
        "t": f"2024-01-01T00:{number:02}:00Z", "r": {"x": number % 3, "y": chance.choice(["u", None])},
    }  # fmt: skip
    kept = {name: value for name, value in drawn.items() if chance.random() < 0.85}
    return {"k": chance.choice("pq"), "at": f"2024-01-01T{minute // 60:02}:{minute % 60:02}:00Z", **kept}


@pytest.fixture
def landing(tmp_path: Path) -> Callable[[int], None]:
    """Write the rows of a step, in the order of time but for a few minutes."""
    chance = random.Random(7)
    folder = tmp_path / "in"
    folder.mkdir()

    def write(step: int) -> None:
        rows = [row(chance, 30 * step + chance.randrange(30)) for _ in range(40)]
        file = folder / f"{step}.json"
        file.write_text("\n".join(map(json.dumps, rows)) + "\n")
        os.utime(file, (step, step))

    return write


@pytest.mark.parametrize(
    ("window", "listed"),
    [("fixed", COUNTED), *(soaked(window, COUNTED + MORE) for window in WINDOWS)],
    ids=["some", *WINDOWS],
)
def test_sets_say_what_all_rows_say(
    engine: Engine, schema: str, landing: Callable[[int], None], tmp_path: Path, window: str, listed: str
) -> None:
    landing(0)
    rows_of(
        engine,
        f"CREATE STREAM s ({COLUMNS}) USING json OPTIONS (path '{tmp_path / 'in'}', allowNonNumericNumbers 'true')"
        " WATERMARK at DELAY OF INTERVAL 30 MINUTES",
    )
    query = f"SELECT k, {listed}, window_start FROM STREAM s GROUP BY k {WINDOWS[window]}"
    rows_of(engine, f"CREATE STREAMING TABLE t AS {query}")
    for step in (1, 2):
        landing(step)
        rows_of(engine, f"{'REFRESH' if step == 1 else 'DRAIN'} STREAMING TABLE t")
    assert rows_of(engine, "SELECT count(*) AS n FROM late_rows('t')") == [{"n": 0}]
    mine = rows_of(engine, SORTED.format("t"))
    whole = rows_of(engine, SORTED.format(f"({query})"))
    assert str(mine) == str(whole) and mine


def test_what_is_kept_is_told(engine: Engine, schema: str, landing: Callable[[int], None], tmp_path: Path) -> None:
    rows_of(
        engine,
        f"CREATE STREAM s ({COLUMNS}) USING json OPTIONS (path '{tmp_path / 'in'}') WATERMARK at DELAY OF '1 hour'",
    )
    told = rows_of(
        engine,
        "EXPLAIN CREATE STREAMING TABLE t AS SELECT count(*) AS n, count(DISTINCT i) AS i, collect_set(s) AS s,"
        " median(f) AS f FROM STREAM s WINDOW FIXED (at, SIZE INTERVAL 1 HOUR)",
    )
    text = "\n".join(str(value) for line in told for value in line.values())
    assert "partial results for count; distinct values for count, collect_set; the window's rows for median" in text


@pytest.mark.parametrize(("version", "kept"), [soaked(5, "count(DISTINCT i)"), (8, "stddev(i)")])
def test_a_state_of_rows_is_refused(
    engine: Engine, schema: str, landing: Callable[[int], None], tmp_path: Path, version: int, kept: str
) -> None:
    """A folder of an earlier version kept the rows of DISTINCT, and of stddev; it is told, and FULL builds it again."""
    landing(0)
    rows_of(
        engine,
        f"CREATE STREAM s ({COLUMNS}) USING json OPTIONS (path '{tmp_path / 'in'}') WATERMARK at DELAY OF '1 hour'",
    )
    table = f"of_format_{version}"
    query = (
        "STREAMING TABLE {} AS SELECT k, {} AS n FROM STREAM s GROUP BY k"
        " WINDOW FIXED (at, SIZE INTERVAL 1 HOUR) TRIGGER EVERY ROW"
    )
    rows_of(engine, f"CREATE {query.format(table, kept)}")
    before = rows_of(engine, f"SELECT * FROM {table} ORDER BY ALL")
    (newest,) = (engine.folder / "streaming").glob(f"{table}-*/commits/000000001.json")
    newest.write_text(json.dumps(json.loads(newest.read_text()) | {"format": version}))
    for statement in (f"REFRESH STREAMING TABLE {table}", f"CREATE OR REPLACE {query.format(table, f'-{kept}')}"):
        with pytest.raises(WarehouseError, match="WAREHOUSE_STATE_OLDER"):
            rows_of(engine, statement)
    rows_of(engine, f"REFRESH STREAMING TABLE {table} FULL")
    assert rows_of(engine, f"SELECT * FROM {table} ORDER BY ALL") == before
