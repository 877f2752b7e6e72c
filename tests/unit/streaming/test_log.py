"""The step log: what an older version wrote is read, what it did not keep is unknown."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from warehouse.dataflow.times import END
from warehouse.errors import WarehouseError
from warehouse.streaming.log import FORMAT, LOOSE, Commit, Intent, StepLog
from warehouse.streaming.views.relations import progress

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
    names, _, rest = progress(log).partition("(SELECT step, ")[2].partition(" FROM VALUES (")
    values = rest.partition(") AS __w_r")[0].split(", ")
    shown = dict(zip(("step", *names.split(", ")), values, strict=True))
    assert (shown["rows"], shown["lateness"]) == ("3L", "CAST(array() AS array<bigint>)")
    assert {name for name, value in shown.items() if value == "CAST(NULL AS bigint)"} == SINCE_2 - {"lateness"}


@pytest.mark.parametrize(("arrived", "read"), [(7, {"0": 7, "1": 7}), (None, {})])
def test_records_before_format_10_know_one_arrival_for_all_sources(
    tmp_path: Path, arrived: int | None, read: dict[str, int]
) -> None:
    log = StepLog(tmp_path)
    log.commit(Commit(1, 0, 10, 0, 5, watermarks={"0": 5, "1": 6}))
    (file,) = log.commits.glob("*.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": 9, "arrived": arrived}))
    assert log.last().arrived == read


def folded(log: StepLog, steps: int) -> StepLog:
    """Return a log of so many steps, of ten rows each, whose watermark is at ten times the step's number."""
    for number in range(1, steps + 1):
        log.begin(Intent(number, number, number, 0))
        log.commit(Commit(number, number, number, 10 * (number - 1), 10 * number, rows=10))
    return log


def test_old_records_are_folded(tmp_path: Path) -> None:
    log = folded(StepLog(tmp_path), 450)
    assert len(list(log.commits.iterdir())) < 2 * LOOSE
    assert len(list(log.intents.iterdir())) < 2 * LOOSE
    assert [f.name for f in log.folded()] == [
        "000000001-000000100.jsonl", "000000101-000000200.jsonl", "000000201-000000300.jsonl"
    ]  # fmt: skip
    assert [r.step for r in log.all()] == list(range(1, 451))
    assert [r.step for r in log.recent(400)] == list(range(450, 50, -1))
    assert [found.after if (found := log.at(n)) else None for n in (0, 1, 250, 450, 451)] == [
        None,
        10,
        2500,
        4500,
        None,
    ]
    assert log.last().read == 4500
    assert "r.step < 301" in progress(log)


def test_the_oldest_history_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warehouse.streaming.log.HISTORY", 2)
    log = folded(StepLog(tmp_path), 450)
    assert [r.step for r in log.all()] == list(range(101, 451))
    assert (log.at(100), log.last().read) == (None, 4500)


def test_whoever_dies_while_folding_leaves_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", lambda *_, **__: None)
        log = folded(StepLog(tmp_path), 2 * LOOSE)
    assert log.folded()
    assert len(list(log.commits.glob("*.json"))) == 2 * LOOSE
    assert [r.step for r in log.all()] == list(range(1, 2 * LOOSE + 1))
    log.commit(Commit(201, 201, 201, 2000, 2010, rows=10))
    assert [r.step for r in log.all()] == list(range(1, 2 * LOOSE + 2))


@pytest.mark.parametrize("gone", [0, 1, LOOSE - 1])
def test_records_that_a_death_left_are_not_folded_again(tmp_path: Path, gone: int) -> None:
    log = folded(StepLog(tmp_path), 2 * LOOSE - 1)
    before = {file: file.read_text() for file in log.commits.glob("*.json")}
    log.commit(Commit(2 * LOOSE, 1, 1, 0, 1))
    for file in sorted(before)[gone:LOOSE]:
        file.write_text(before[file])
    for number in range(2 * LOOSE + 1, 4 * LOOSE):
        log.commit(Commit(number, 1, 1, 0, 1))
    assert [r.step for r in log.all()] == list(range(1, 4 * LOOSE))
    assert [f.name for f in log.folded()] == ["000000001-000000100.jsonl", "000000101-000000200.jsonl"]


def test_a_drain_does_not_drain_the_readers(tmp_path: Path) -> None:
    log = StepLog(tmp_path)
    log.commit(Commit(1, 0, 10, 0, 5))
    log.commit(Commit(2, None, 20, 5, END, drained=True))
    log.commit(Commit(3, 1, 30, END, END, drained=True))
    assert log.undrained(log.last()) == 5


def test_records_before_format_4_are_summed_up(tmp_path: Path) -> None:
    log = folded(StepLog(tmp_path), 3)
    log.commit(Commit(4, None, 4, 30, END, drained=True))
    for file in log.commits.glob("*.json"):
        found = json.loads(file.read_text())
        file.write_text(json.dumps({n: v for n, v in found.items() if n not in ("read", "undrained")} | {"format": 3}))
    assert (log.last().read, log.last().undrained) == (None, None)
    assert (log.rows_read(log.last()), log.undrained(log.last())) == (30, 30)
    log.commit(Commit(5, 5, 5, END, END, rows=10, drained=True))
    assert (log.last().read, log.last().undrained) == (40, 30)


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
