"""Death at each write boundary, one after the other; what comes of it equals a life without.

The clock is the test's: a step that is repeated later must end as if it had not been interrupted, to the
microsecond of ``_emitted_at``. ``RECOVERY=full`` lets every table die everywhere; otherwise one of them dies at some of
the boundaries.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.recovery.conftest import Mortal
from tests.recovery.scenery import TABLES, compared, differences, stream, table, write
from tests.statements import rows_of
from warehouse.errors import WarehouseError
from warehouse.streaming import faults
from warehouse.streaming.state import slices, state
from warehouse.streaming.tables import tables

HOUR = 3_600_000_000
FULL = os.environ.get("RECOVERY") == "full"

NAMES = tuple(TABLES) if FULL else ("sliding",)

DEATHS = {"sliding": ("intent", "slices", "panes")}
"""Where each table dies in one and the same step. After ``commit`` that step is over; the rest come in the next."""

STATELESS = ("offered", "intent", "panes", "bad_rows", "commit")
UNREACHABLE = {"over": ("late_rows", "bad_rows")}


def deaths(name: str) -> tuple[str, ...]:
    if not FULL:
        return DEATHS[name]
    every = STATELESS if name == "plain" else faults.STEP
    if name != "sliding":
        every = tuple(b for b in every if not b.startswith("slices"))
    return tuple(b for b in every if b not in UNREACHABLE.get(name, ()))


def test_each_boundary_of_a_step(mortal: Mortal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "MOST_DELTAS", 1)
    monkeypatch.setattr(slices, "MOST_FOLDERS", 0)
    data = mortal.folder / "data"
    write(data, 1)
    for twin in "su":
        mortal.run(stream(twin, data))
        for name in NAMES:
            mortal.run(table(name, twin))

    write(data, 2)
    mortal.clock = began = mortal.clock + HOUR
    for name in NAMES:
        mortal.clock = began
        for boundary in deaths(name):
            if boundary == "cleaned":
                continue
            assert mortal.dies(f"REFRESH STREAMING TABLE {name}_s", boundary), f"{name}: {boundary}"
            if boundary != "offered":  # from the intent on, the step's clock stands
                mortal.clock += 1_000_000
        mortal.run(f"REFRESH STREAMING TABLE {name}_s")
        mortal.clock = began
        mortal.run(f"REFRESH STREAMING TABLE {name}_u")

    # A drain that died, and rows that arrived meanwhile: the drain comes first, the rows are late.
    mortal.clock = began + HOUR
    drains = {"fixed": "panes", "sessions": "intent", "over": "commit"} if FULL else {"sliding": "intent"}
    for name, boundary in drains.items():
        assert mortal.dies(f"DRAIN STREAMING TABLE {name}_s", boundary)
        mortal.run(f"DRAIN STREAMING TABLE {name}_u")
    write(data, 3)
    mortal.clock += HOUR
    for name in NAMES:
        if "cleaned" in deaths(name):
            fault = "cleaned:2" if drains.get(name) == "panes" else "cleaned"  # after the drain that is repeated
            assert mortal.dies(f"REFRESH STREAMING TABLE {name}_s", fault)
        for twin in "su":
            mortal.run(f"REFRESH STREAMING TABLE {name}_{twin}")

    found = differences(mortal.engine, list(NAMES))
    assert not found, "\n".join(found)
    assert len(rows_of(mortal.engine, f"SELECT * FROM late_rows('{NAMES[0]}_s')")) > 10
    assert len(rows_of(mortal.engine, f"SELECT * FROM panes('{NAMES[0]}_s')")) > 10
    counts = "late, finished, bad, panes, panes_early, panes_on_time, panes_late, withdrawals"
    progress = f"SELECT step, rows_in, {counts} FROM stream_progress('{{}}') ORDER BY step"
    for name in NAMES:
        one, other = (rows_of(mortal.engine, progress.format(f"{name}_{twin}")) for twin in "su")
        assert one == other, name


@pytest.mark.skipif(not FULL, reason="takes minutes: make soak")
def test_each_boundary_of_a_replay(mortal: Mortal) -> None:
    """Steps without a micro-batch: a timer's, a watermark's, the drain; everything is equal, the clock included."""
    folder = mortal.folder / "recording"
    folder.mkdir()
    arrivals = [("a", 1, "00:00:10"), ("a", 2, "00:00:50"), ("b", 3, "00:01:10"), ("a", 4, "00:05:00")]
    _record(folder / "1.csv", arrivals[:1])
    for twin in "su":
        mortal.run(
            f"CREATE STREAM replay_{twin} (k STRING, v INT, at TIMESTAMP) USING replay"
            f" OPTIONS (path '{folder}', format 'csv', header 'true', arrival 'at')"
            f" WATERMARK at DELAY OF INTERVAL 1 MINUTE;"
            f"CREATE STREAMING TABLE replayed_{twin} AS SELECT k, sum(v) AS total, window_start"
            f" FROM STREAM replay_{twin} GROUP BY k WINDOW FIXED (at, SIZE INTERVAL 2 MINUTES)"
            f" TRIGGER EVERY INTERVAL 30 SECONDS ACCUMULATING"
        )
    _record(folder / "2.csv", arrivals[1:])
    refresh, drain = "REFRESH STREAMING TABLE replayed_{}", "DRAIN STREAMING TABLE replayed_{}"
    for fault in ("delta", "panes", "intent:2", "commit:2"):
        assert mortal.dies(refresh.format("s"), fault), fault
    mortal.run(refresh.format("u"))
    mortal.run(refresh.format("s"))
    assert mortal.dies(drain.format("s"), "delta")
    _record(folder / "3.csv", [("a", 5, "00:09:00")])  # the drain is repeated before this takes its step
    mortal.run(refresh.format("s"))
    # the twin drained before it saw the new row: the same order
    (folder / "3.csv").rename(mortal.folder / "3.csv")
    mortal.run(drain.format("u"))
    (mortal.folder / "3.csv").rename(folder / "3.csv")
    mortal.run(refresh.format("u"))
    for relation in ("{}", "panes('{}')", "late_rows('{}')"):
        text = f"SELECT * FROM {relation} ORDER BY ALL"
        one, other = (rows_of(mortal.engine, text.format(f"replayed_{twin}")) for twin in "su")
        assert one == other, relation
        assert one, relation


def _record(file: Path, arrivals: list[tuple[str, int, str]]) -> None:
    file.write_text("k,v,at\n" + "".join(f"{k},{v},2024-01-01 {at}\n" for k, v, at in arrivals))


def test_rows_that_join_a_replayed_step_that_died_are_refused(mortal: Mortal) -> None:
    folder = mortal.folder / "overdue"
    folder.mkdir()
    _record(folder / "1.csv", [("a", 1, "00:00:10")])
    mortal.run(
        f"CREATE STREAM overdue (k STRING, v INT, at TIMESTAMP) USING replay"
        f" OPTIONS (path '{folder}', format 'csv', header 'true', arrival 'at');"
        f"CREATE STREAMING TABLE early AS SELECT k, v FROM STREAM overdue"
    )
    _record(folder / "2.csv", [("a", 2, "00:00:20")])
    assert mortal.dies("REFRESH STREAMING TABLE early", "panes")
    _record(folder / "3.csv", [("a", 3, "00:00:15")])
    with pytest.raises(WarehouseError, match="WAREHOUSE_REPLAY_OVERDUE"):
        mortal.run("REFRESH STREAMING TABLE early")
    (folder / "3.csv").unlink()
    mortal.run("REFRESH STREAMING TABLE early")
    assert [row["v"] for row in rows_of(mortal.engine, "SELECT v FROM panes('early')")] == [1, 2]


@pytest.mark.skipif(not FULL, reason="takes minutes: make soak")
def test_each_boundary_of_a_replacement(mortal: Mortal) -> None:
    """Before the entry is written the old query goes on, after it the new one; panes equal those of the twin."""
    data = mortal.folder / "replaced"
    write(data, 1)
    old = """SELECT k, median(v) AS mid, window_start FROM STREAM changing GROUP BY k
        WINDOW FIXED (ts, SIZE INTERVAL 1 MINUTE) TRIGGER EVERY 3 ROWS RETRACTING"""
    new = old.replace("median(v) AS mid", "count(*) AS n, sum(v) AS total, median(v) AS mid").replace(
        "3 ROWS", "2 ROWS"
    )
    newest = new.replace("median(v) AS mid, ", "").replace("EVERY 2 ROWS", "AT WATERMARK LATE EVERY ROW")
    change = "CREATE OR REPLACE STREAMING TABLE changing_{} AS "
    mortal.run(stream("changing", data))
    for twin in "su":
        mortal.run(f"CREATE STREAMING TABLE changing_{twin} AS {old}")

    def everywhere(text: str) -> None:
        mortal.clock += HOUR
        for twin in "su":
            mortal.run(text.format(twin))

    for number, boundary in ((2, "widened"), (3, "carried")):
        write(data, number)
        mortal.clock += HOUR
        mortal.freezes(change.format("s") + new, boundary)
        everywhere("REFRESH STREAMING TABLE changing_{}")
        assert len(rows_of(mortal.engine, "SELECT k, mid, window_start FROM changing_s")) > 2
    write(data, 4)
    mortal.clock += HOUR
    mortal.freezes(change.format("s") + new, "entry")
    assert "total" in rows_of(mortal.engine, "SELECT * FROM changing_s")[0]
    mortal.run("REFRESH STREAMING TABLE changing_s")
    mortal.run(change.format("u") + new)
    write(data, 5)
    mortal.clock += HOUR
    assert mortal.dies(change.format("s") + newest, "delta")
    mortal.run("REFRESH STREAMING TABLE changing_s")
    mortal.run(change.format("u") + newest)
    everywhere("DRAIN STREAMING TABLE changing_{}")
    relations = ("changing_{}", "panes('changing_{}')", "late_rows('changing_{}')")
    found = [line for relation in relations for line in compared(mortal.engine, relation)]
    assert not found, "\n".join(found)
    read = "SELECT sum(rows_in) AS n FROM stream_progress('changing_{}')"
    assert rows_of(mortal.engine, read.format("s")) == rows_of(mortal.engine, read.format("u"))


@pytest.mark.slow
@pytest.mark.skipif(not FULL, reason="RECOVERY=full: make soak")
def test_making_replacing_and_dropping_are_whole_or_nothing(mortal: Mortal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "READERS_END", 0)
    data = mortal.folder / "few"
    write(data, 1)
    mortal.run(stream("few", data))
    create = (
        "CREATE {0} STREAMING TABLE whole AS SELECT k, {1} AS mark, count(*) AS n FROM STREAM few WHERE {1} <> ''"
        " GROUP BY k WINDOW FIXED (ts, SIZE INTERVAL 1 DAY)"
    )

    def stands() -> str:
        """Return what there is of the table: its mark, or nothing; and that no trace is left of anything else."""
        entries = [e.id for e in mortal.engine.catalog.streaming_tables.all() if e.name == "whole"]
        folders = [f.name for f in (mortal.engine.folder / "streaming").glob("whole-*")]
        assert folders == entries
        counted = "SELECT _why, count(*) AS n FROM bad_rows('few') WHERE _table LIKE '%whole' GROUP BY 1"
        bad = rows_of(mortal.engine, counted)
        assert len({row["_why"] for row in bad}) == (2 if entries else 0)
        assert all(row["n"] == 1 for row in bad)
        if not entries:
            assert not mortal.engine.spark.catalog.tableExists("recovery.whole")
            return "nothing"
        mortal.run("REFRESH STREAMING TABLE whole; DRAIN STREAMING TABLE whole")
        found = rows_of(mortal.engine, "SELECT mark, sum(n) AS n FROM whole GROUP BY 1")
        assert [row["n"] for row in found] == [24]
        return found[0]["mark"]

    mortal.freezes(create.format("", "'one'"), "folder")
    assert stands() == "nothing"
    mortal.freezes(create.format("", "'one'"), "entry")
    mortal.run("REFRESH STREAMING TABLE whole")
    assert stands() == "one"
    mortal.freezes(create.format("OR REPLACE", "'two'"), "filled")
    assert stands() == "one"
    mortal.freezes(create.format("OR REPLACE", "'two'"), "entry")
    assert stands() == "two"
    mortal.freezes("REFRESH STREAMING TABLE whole FULL", "bad_rows_forgotten")
    assert stands() == "two"
    mortal.freezes("DROP STREAMING TABLE whole", "view_dropped")
    assert stands() == "two"
    mortal.freezes("DROP STREAMING TABLE whole", "entry_dropped")
    assert stands() == "nothing"
