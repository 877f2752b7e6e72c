"""What follows the commit of a step: the small files of many steps are put together, and nobody notices."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.statements import Rows, rows_in
from warehouse.streaming import log
from warehouse.streaming.delta import bad_rows, delta_log, delta_tables, upkeep
from warehouse.streaming.log import table_folder


@pytest.fixture(scope="module")
def rows(engine: Any) -> Iterator[Rows]:
    yield from rows_in(engine, "upkept")


def files_of(engine: Any, folder: Path) -> int:
    """Return how many files the newest version of a Delta table has."""
    return engine.spark.sql(f"DESCRIBE DETAIL delta.`{folder}`").first()["numFiles"]


def left(table: Path, version: int) -> bool:
    """Say whether a commit of a Delta table is still there."""
    return (table / "_delta_log" / f"{version:020}.json").exists()


@pytest.mark.soak
def test_many_steps_leave_few_files(engine: Any, rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The readers of a table, one by one, are told of no pane twice; old records and files are folded meanwhile.

    Commits and files that a reader has yet to read are left where they are, however old.
    """
    monkeypatch.setattr(upkeep, "STEPS", 3)
    monkeypatch.setattr(upkeep, "CHECKPOINTED", 2)
    monkeypatch.setattr(delta_tables, "RETAINED", 0.0)
    monkeypatch.setattr(delta_log, "KEPT", 1)
    monkeypatch.setattr(log, "LOOSE", 2)
    arriving = tmp_path / "in"
    arriving.mkdir()

    def arrive(number: int) -> None:
        row = {"k": number % 3, "at": f"2026-01-01T00:00:{number:02}Z"}
        (arriving / f"{number}.json").write_text(json.dumps(row) + '\n{"k": \n')

    arrive(0)
    rows(
        f"CREATE STREAM ticks (k INT, at TIMESTAMP) USING json OPTIONS (path '{arriving}')"
        " WATERMARK at DELAY OF INTERVAL 0 SECONDS;"
        "CREATE STREAMING TABLE counts AS SELECT k, count(*) AS n FROM STREAM ticks GROUP BY k"
        " WINDOW GLOBAL TRIGGER EVERY 1 ROWS RETRACTING;"
        "CREATE STREAMING TABLE changes AS SELECT sum(n) AS total FROM STREAM counts WINDOW GLOBAL"
        " TRIGGER EVERY 1 ROWS"
    )
    for number in range(1, 6):
        arrive(number)
        rows("REFRESH STREAMING TABLE counts")
        if number in (2, 5):
            rows("REFRESH STREAMING TABLE changes")
    assert rows("SELECT k, n FROM counts ORDER BY k") == [{"k": 0, "n": 2}, {"k": 1, "n": 2}, {"k": 2, "n": 2}]
    assert rows("SELECT total FROM changes") == [{"total": 6}]
    emitted = rows("SELECT _change_type AS kind, count(*) AS n FROM panes('counts') GROUP BY ALL ORDER BY kind")
    assert emitted == [{"kind": "delete", "n": 3}, {"kind": "insert", "n": 6}]
    assert [r["step"] for r in rows("SELECT step FROM stream_progress('counts') ORDER BY step")] == list(range(1, 7))
    assert rows("SELECT k, n FROM counts AS OF STEP 2 ORDER BY k") == [{"k": 0, "n": 1}, {"k": 1, "n": 1}]
    (entry,) = [e for e in engine.catalog.streaming_tables.all() if (e.schema, e.name) == ("upkept", "counts")]
    folder = table_folder(engine.tables.home, entry)
    assert rows("SELECT count(*) AS n FROM bad_rows('ticks')") == [{"n": 6}]
    aside = bad_rows.table_path(engine.tables.home, entry.schema, "ticks")
    assert files_of(engine, folder / "panes") == files_of(engine, aside) == 1
    assert not left(aside, 0) and left(folder / "panes", 3)
    assert len(list((folder / "commits").glob("*.json"))) < 4
    assert len(log.StepLog(folder).folded()) == 2
