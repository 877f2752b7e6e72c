"""The step log: what an older version wrote is read, what it did not keep is unknown."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

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
