"""State that was damaged on disk is noticed before it is used, whoever damaged it and however."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.soak import soaked
from tests.statements import rows_of
from warehouse.errors import WarehouseError


def flipped(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 3] ^= 0xFF
    file.write_bytes(content)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:100])


@pytest.mark.parametrize(
    ("damage", "condition"),
    [
        (Path.unlink, "WAREHOUSE_STATE_DAMAGED"),
        soaked(cut, "WAREHOUSE_STATE_DAMAGED"),
        soaked(flipped, "FAILED_READ_FILE.NO_HINT"),
    ],
    ids=["gone", "cut", "flipped"],
)
def test_damaged_state_stops_the_table_and_full_builds_it_again(
    engine: Any, schema: str, tmp_path: Path, damage: Callable[[Path], None], condition: str
) -> None:
    rows, name = partial(rows_of, engine), f"damaged_{schema}"

    def arrive(number: int, *values: int) -> None:
        lines = (json.dumps({"d": d, "ts": "2024-05-01T12:00:00Z"}) for d in values)
        (tmp_path / f"{number}.json").write_text("\n".join(lines) + "\n")

    arrive(1, 1, 2)
    rows(
        f"CREATE STREAM s (d INT, ts TIMESTAMP) USING json OPTIONS (path '{tmp_path}');"
        f"CREATE STREAMING TABLE {name} AS SELECT sum(d) AS d FROM STREAM s"
        " WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR) TRIGGER EVERY ROW"
    )
    (part,) = (engine.folder / "streaming").glob(f"{name}-*/state/delta-*/*.parquet")
    damage(part)
    arrive(2, 4)
    with pytest.raises(WarehouseError) as raised:
        rows(f"REFRESH STREAMING TABLE {name}")
    assert raised.value.condition == condition
    assert "REFRESH STREAMING TABLE … FULL" in str(raised.value)
    assert [r["d"] for r in rows(f"SELECT d FROM {name}")] == [3]
    rows(f"REFRESH STREAMING TABLE {name} FULL")
    assert [r["d"] for r in rows(f"SELECT d FROM {name}")] == [7]


def test_a_checkpoint_that_is_lost_is_noticed(engine: Any, schema: str, tmp_path: Path) -> None:
    """Spark begins with micro-batch 0 then, as if it had been one of those that were read."""
    rows, name = partial(rows_of, engine), f"rewound_{schema}"
    for number in (1, 2):
        (tmp_path / f"{number}.json").write_text('{"d": 1}\n')
    rows(
        f"CREATE STREAM s (d INT) USING json OPTIONS (path '{tmp_path}', maxFilesPerTrigger '1');"
        f"CREATE STREAMING TABLE {name} AS SELECT sum(d) AS d FROM STREAM s TRIGGER EVERY ROW"
    )
    (checkpoint,) = (engine.folder / "streaming").glob(f"{name}-*/checkpoint")
    shutil.rmtree(checkpoint)
    (tmp_path / "3.json").write_text('{"d": 1}\n')
    with pytest.raises(WarehouseError) as raised:
        rows(f"REFRESH STREAMING TABLE {name}")
    assert raised.value.condition == "WAREHOUSE_STEP_LOG_DAMAGED"
    rows(f"REFRESH STREAMING TABLE {name} FULL")
    assert rows(f"SELECT d FROM {name}") == [{"d": 3}]


@pytest.mark.soak
def test_tables_that_were_begun_are_made_anew(engine: Any, schema: str, tmp_path: Path) -> None:
    """Delta makes folders before its first commit, and refuses a place that holds anything but a commit."""
    rows, name = partial(rows_of, engine), f"begun_{schema}"

    def arrive(number: int, *lines: str) -> None:
        (tmp_path / f"{number}.json").write_text("".join(f'{{"d": {number}, "ts": {at}}}\n' for at in lines))

    arrive(1, '"2024-05-01T12:00:00Z"')
    rows(
        f"CREATE STREAM s (d INT, ts TIMESTAMP) USING json OPTIONS (path '{tmp_path}')"
        " WATERMARK ts DELAY OF INTERVAL 0 SECONDS;"
        f"CREATE STREAMING TABLE {name} AS SELECT count(*) AS n FROM STREAM s"
        " WINDOW FIXED (ts, SIZE INTERVAL 1 MINUTE) ALLOWED LATENESS INTERVAL 0 SECONDS"
    )
    (late,) = (folder / "late_rows" for folder in (engine.folder / "streaming").glob(f"{name}-*"))
    bad = engine.folder / "streams" / f"{schema}.s" / "bad_rows"
    for table in (late, bad):
        (table / "_delta_log" / "_staged_commits").mkdir(parents=True)
        (table / "_delta_log" / ".00000000000000000000.json.tmp").write_text("")
    assert rows(f"SELECT d FROM late_rows('{name}')") == rows("SELECT d FROM bad_rows('s')") == []
    arrive(2, '"2024-05-01T11:00:00Z"', "null")
    rows(f"REFRESH STREAMING TABLE {name}")
    assert rows(f"SELECT d, _why FROM late_rows('{name}')") == [{"d": 2, "_why": "LATE"}]
    assert rows("SELECT d, _why FROM bad_rows('s')") == [{"d": 2, "_why": "TIME_IS_NULL"}]
