"""What recent steps wrote of the state is read from memory by those that follow; nothing depends on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.soak import soaked
from tests.statements import Rows, rows_in
from warehouse.streaming.state import state
from warehouse.streaming.state.hot import SMALL_PART, Hot
from warehouse.streaming.steps import windowed
from warehouse.streaming.steps.windowed import LITTLE_STATE

QUERY = (
    "SELECT k, sum(v) AS total, window_start FROM STREAM readings GROUP BY k WINDOW {window}"
    " TRIGGER AT WATERMARK EARLY EVERY 2 ROWS RETRACTING"
)
WINDOWS = {
    "fixed": "FIXED (at, SIZE INTERVAL 1 MINUTE)",
    "sessions": "SESSIONS (at, GAP INTERVAL 10 SECONDS)",
}

TABLES = ("held", "cached", "turns", "disk")


@pytest.fixture
def rows(engine: Any, schema: str) -> Iterator[Rows]:
    yield from rows_in(engine, f"hot_{schema}")


def arrive(folder: Path, number: int) -> None:
    folder.mkdir(exist_ok=True)
    lines = ({"k": v % 3, "v": v, "at": f"2026-01-01T00:{number:02}:{v % 60:02}Z"} for v in range(number, number + 30))
    (folder / f"{number}.json").write_text("".join(json.dumps(line) + "\n" for line in lines))


def hot(engine: Any, name: str) -> Hot:
    """Return what is in memory of a table's state."""
    (entry,) = [e for e in engine.catalog.streaming_tables.all() if e.name == name and e.schema.startswith("hot_")]
    return engine.tables.feeds._feeds[entry.id].runner.state.hot


@pytest.mark.parametrize(("window", "folded"), [soaked("fixed", "base"), soaked("sessions", "folded")])
def test_from_memory_as_from_disk(
    rows: Rows, engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, window: str, folded: str
) -> None:
    """Deltas that pile up are folded into the base, or, of a large one, into one of them."""

    def by(number: int, name: str) -> None:
        """Let a table's parts be in memory or not, and small ones held in this process: of ``turns`` some are."""
        monkeypatch.setattr(state, "MOST_ROWS", -1 if name == "disk" else 1_000_000)
        small = SMALL_PART if name == "held" or (name == "turns" and number % 2) else 0
        monkeypatch.setattr(windowed, "SMALL_PART", small)

    monkeypatch.setattr(state, "MOST_DELTAS", 2)
    arrive(tmp_path / "in", 0)
    rows(
        f"CREATE STREAM readings (k INT, v INT, at TIMESTAMP) USING json OPTIONS (path '{tmp_path / 'in'}')"
        " WATERMARK at DELAY OF INTERVAL 90 SECONDS"
    )
    named: dict[str, frozenset[str]] = dict.fromkeys(("held", "cached", "turns"), frozenset())
    for name in TABLES:
        by(0, name)
        rows(f"CREATE STREAMING TABLE {name} AS {QUERY.format(window=WINDOWS[window])}")
    for number in range(1, 7):
        if number == 3 and folded == "folded":
            monkeypatch.setattr(state, "LITTLE", 0)
        arrive(tmp_path / "in", number)
        for name in TABLES:
            by(number, name)
            rows(f"REFRESH STREAMING TABLE {name}")
        for name in ("held", "cached", "turns"):
            named[name] |= hot(engine, name).names
            assert len(hot(engine, name).names) <= 7  # of the last three records, what they read
    assert not hot(engine, "disk").names
    for names in named.values():
        assert {name.partition("-")[0] for name in names} == {"delta", "base", folded}
    panes = "SELECT * EXCEPT (_emitted_at) FROM panes('{}') ORDER BY ALL"
    found = []
    for name in TABLES:
        rows(f"DRAIN STREAMING TABLE {name}")
        found.append(rows(panes.format(name)))
        kept = hot(engine, name)
        rows(f"DROP STREAMING TABLE {name}")
        assert not kept.names
    assert found[0] and all(its == found[0] for its in found)


@pytest.mark.parametrize(
    ("percentile", "fired"),
    [
        ("", [[], [0], [0, 1], [0, 1, 2], [0, 1, 2, 3, 4]]),
        soaked(" PERCENTILE 50", [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4]]),
    ],
)
def test_of_a_large_base_windows_fire_that_no_row_hits(
    rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, percentile: str, fired: list[list[int]]
) -> None:
    """What rows hit is looked up, and what is due is read wherever something is."""
    monkeypatch.setattr(state, "SMALL_BASE", 0)
    monkeypatch.setattr(state, "MOST_DELTAS", 0)
    monkeypatch.setattr(windowed, "manner", lambda *_: windowed.Manner.STAGED)
    arrive(tmp_path / "in", 0)
    rows(
        f"CREATE STREAM readings (k INT, v INT, at TIMESTAMP) USING json OPTIONS (path '{tmp_path / 'in'}')"
        " WATERMARK at DELAY OF INTERVAL 90 SECONDS;"
        "CREATE STREAMING TABLE t AS SELECT k, sum(v) AS total, window_start FROM STREAM readings GROUP BY k"
        f" WINDOW FIXED (at, SIZE INTERVAL 1 MINUTE) TRIGGER AT WATERMARK{percentile} EARLY AFTER 99 ROWS"
    )
    minutes = "SELECT DISTINCT minute(window_start) AS m FROM panes('t') ORDER BY m"
    for number, known in zip((1, 2, 3, 4, 6), fired, strict=True):
        arrive(tmp_path / "in", number)
        rows("REFRESH STREAMING TABLE t")
        assert [row["m"] for row in rows(minutes)] == known
    rows("DROP STREAMING TABLE t")


def last_job(engine: Any) -> int:
    """Return the number of the last job that Spark was given."""
    context = engine.spark.sparkContext._jsc.sc()
    context.listenerBus().waitUntilEmpty(120_000)
    known = context.statusStore().jobsList(None)
    return max(int(known.apply(i).jobId()) for i in range(known.size()))


@pytest.mark.parametrize(
    ("limit", "most", "jobs"), [("LITTLE_STATE", LITTLE_STATE, 3), ("LITTLE_STATE", -1, 3), ("SMALL_PART", 2, 4)]
)
def test_the_delta_of_a_small_step_is_written_by_this_process(
    rows: Rows, engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int, jobs: int
) -> None:
    """A step starts a job for its rows, one for its windows and one for its panes.

    Where the state may be long tasks write the delta, and where there are more windows than are held it is tried first.
    """
    monkeypatch.setattr(windowed, limit, most)
    arrive(tmp_path / "in", 0)
    rows(
        f"CREATE STREAM readings (k INT, v INT, at TIMESTAMP) USING json OPTIONS (path '{tmp_path / 'in'}')"
        " WATERMARK at DELAY OF INTERVAL 90 SECONDS;"
        f"CREATE STREAMING TABLE t AS {QUERY.format(window=WINDOWS['fixed']).replace('2 ROWS', '99 ROWS')}"
    )
    for number in (1, 2):
        arrive(tmp_path / "in", number)
        before = last_job(engine)
        rows("REFRESH STREAMING TABLE t")
        started = last_job(engine) - before
    (entry,) = [e for e in engine.catalog.streaming_tables.all() if e.name == "t" and e.schema.startswith("hot_")]
    delta = engine.tables.feeds._feeds[entry.id].runner.parts.folder / "state" / "delta-000000003"
    by_tasks = [file.name for file in delta.glob("part-*.parquet") if "-c000" in file.name]
    assert (started, bool(by_tasks)) == (jobs, limit != "LITTLE_STATE" or most < 0)
    rows("DROP STREAMING TABLE t")
