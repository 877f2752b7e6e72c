"""The step log: what an older version wrote is read, what it did not keep is unknown."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from warehouse.errors import WarehouseError
from warehouse.streaming.log import FORMAT, Commit, StepLog
from warehouse.streaming.relations import PROGRESS, progress

SINCE_2 = {"finished", "early", "on_time", "behind", "withdrawn", "lateness"}


def test_records_of_format_1_are_read(tmp_path: Path) -> None:
    log = StepLog(tmp_path)
    log.commit(Commit(1, 0, 10, 0, 5, rows=3, deltas=("delta-000000001",), lateness=(1, 2, 3, 4), early=2))
    (file,) = log.commits.glob("*.json")
    found = json.loads(file.read_text())
    assert found["format"] == FORMAT
    assert log.last().lateness == (1, 2, 3, 4)
    file.write_text(json.dumps({name: v for name, v in found.items() if name not in SINCE_2} | {"format": 1}))
    read = asdict(log.last())
    assert {name: read[name] for name in SINCE_2} == dict.fromkeys(SINCE_2) | {"lateness": ()}
    assert (read["rows"], read["deltas"]) == (3, ("delta-000000001",))
    values = progress(log).partition("VALUES (")[2].partition(") AS __w_p")[0].split(", ")
    shown = dict(zip(PROGRESS, values, strict=True))
    assert shown["rows_in"] == "3L"
    unknown = ("finished", "panes_early", "panes_on_time", "panes_late", "withdrawals", "lateness_p50", "lateness_max")
    assert all(shown[name].startswith("CAST(NULL AS ") for name in unknown)


def test_records_before_format_3_have_no_revision(tmp_path: Path) -> None:
    log = StepLog(tmp_path)
    log.commit(Commit(1, 0, 10, 0, 5))
    (file,) = log.commits.glob("*.json")
    found = json.loads(file.read_text())
    del found["revision"]
    file.write_text(json.dumps(found | {"format": 2}))
    assert (log.last().revision, log.last().format) == (0, 2)


def test_a_later_format_is_refused(tmp_path: Path) -> None:
    log = StepLog(tmp_path)
    log.commit(Commit(1, 0, 10, 0, 5))
    (file,) = log.commits.glob("*.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": FORMAT + 1}))
    with pytest.raises(WarehouseError, match="WAREHOUSE_FOLDER_NEWER"):
        log.last()


def test_a_record_of_a_query_that_never_took_over_does_not_count(tmp_path: Path) -> None:
    """What was written for it is overwritten by the step that the old query takes instead."""
    old, new = StepLog(tmp_path), StepLog(tmp_path, revision=1)
    old.commit(Commit(1, 0, 10, 0, 5))
    new.commit(Commit(2, 0, 10, 5, 5, base="base-000000002"))
    assert (old.last().step, new.last().step) == (1, 2)
    assert [r.step for r in old.recent()] == [r.step for r in old.all()] == [1]
    old.commit(Commit(2, 1, 20, 5, 9))
    assert (old.last().now, new.last().now) == (20, 20)
    new.commit(Commit(3, 1, 20, 9, 9))
    assert [r.revision for r in new.all()] == [0, 0, 1]
