"""State that was damaged on disk is noticed before it is used, whoever damaged it and however."""

from __future__ import annotations

import json
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
        (flipped, "FAILED_READ_FILE.NO_HINT"),
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
