"""Streaming tables over RETRACTING ones: right at any depth, whatever the aggregate (``checklist.md``, points 30, 31).

Oracle: after every step, the outer table equals the same SELECT as plain Spark SQL over the inner table as it
then stands.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.soak import soaked
from tests.statements import Rows, rows_in
from warehouse.errors import WarehouseError

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def rows(engine: Any) -> Iterator[Rows]:
    yield from rows_in(engine, "regrouping")


@pytest.fixture(scope="module")
def paper(rows: Rows) -> Rows:
    """The sessions of figure 14 in both modes, in one-minute micro-batches: the same panes in fewer steps."""
    rows(
        "CREATE STREAM scores (seq INT, key STRING, value INT, event_time TIMESTAMP, processing_time TIMESTAMP)"
        f" USING replay OPTIONS (path '{DATA}/paper.json', format 'json', arrival 'processing_time',"
        " step '1 minute', watermark 'complete')"
    )
    for mode in ("retracting", "accumulating"):
        rows(
            f"CREATE STREAMING TABLE {mode} AS SELECT key, sum(value) AS value, window_start, window_end"
            " FROM STREAM scores GROUP BY key WINDOW SESSIONS (event_time, GAP INTERVAL 1 MINUTE)"
            f" TRIGGER AT WATERMARK {mode}"
        )
    return rows


def test_sum_and_count_of_sessions_are_the_papers(paper: Rows) -> None:
    paper(
        "CREATE STREAMING TABLE over_retracting AS SELECT sum(value) AS sum, count(*) AS sessions"
        " FROM STREAM retracting TRIGGER EVERY 1 ROW"
    )
    assert paper("SELECT * FROM over_retracting") == [{"sum": 51, "sessions": 2}]


def test_over_accumulating_it_is_refused_with_the_fix(paper: Rows) -> None:
    with pytest.raises(WarehouseError) as caught:
        paper("CREATE STREAMING TABLE wrong AS SELECT sum(value) FROM STREAM accumulating TRIGGER EVERY 1 ROW")
    (found,) = caught.value.diagnostics
    assert found.condition == "WAREHOUSE_DOUBLE_COUNTING"
    assert "RETRACTING" in caught.value.render()
    paper(
        "CREATE STREAMING TABLE complete AS SELECT sum(value) AS value, window_start FROM STREAM scores"
        " WINDOW FIXED (event_time, SIZE INTERVAL 1 HOUR) ALLOWED LATENESS INTERVAL 0 SECONDS"
    )
    with pytest.raises(WarehouseError, match="WAREHOUSE_DOUBLE_COUNTING"):
        paper("CREATE STREAMING TABLE wrong AS SELECT sum(value) FROM STREAM complete TRIGGER EVERY 1 ROW")


@pytest.mark.parametrize("kind", ["INT", soaked("DOUBLE")])
def test_panes_of_changes_add_up(rows: Rows, tmp_path: Path, kind: str) -> None:
    """Under DISCARDING a pane says by how much those before it have changed: one row for another, none for one."""
    name = f"changed_{kind.lower()}"

    def arrive(number: int, **values: int) -> None:
        lines = (json.dumps({"k": k, "v": v}) for k, v in values.items())
        (tmp_path / f"{number}.json").write_text("\n".join(lines) + "\n")

    arrive(1, a=1, b=2)
    rows(f"CREATE STREAM {name} (k STRING, v {kind}) USING json OPTIONS (path '{tmp_path}')")
    rows(
        f"CREATE STREAMING TABLE most_{name} AS SELECT k, sum(v) AS v FROM STREAM {name} GROUP BY k"
        " HAVING sum(v) < 10 TRIGGER EVERY ROW RETRACTING"
    )
    rows(
        f"CREATE STREAMING TABLE over_{name} AS SELECT sum(v) AS v, count(*) AS n FROM STREAM most_{name}"
        " TRIGGER EVERY 1 ROW DISCARDING"
    )
    for number, values in enumerate([{"a": 4}, {"b": 20}, {"a": 5}], 2):
        arrive(number, **values)
        rows(f"REFRESH STREAMING TABLE most_{name}; REFRESH STREAMING TABLE over_{name}")
    panes = rows(f"SELECT v, n FROM panes('over_{name}') ORDER BY _step")
    assert [(row["v"], row["n"]) for row in panes] == [(3, 2), (4, 0), (-2, -1), (-5, -1)]
    with pytest.raises(WarehouseError, match="WAREHOUSE_DISCARDING_CANNOT_SUBTRACT"):
        rows(f"CREATE STREAMING TABLE mean AS SELECT avg(v) FROM STREAM most_{name} TRIGGER EVERY 1 ROW DISCARDING")


def test_over_the_raw_panes_it_double_counts_as_in_the_paper(paper: Rows) -> None:
    paper(
        "CREATE STREAMING TABLE over_panes AS SELECT sum(value) AS sum, count(*) AS sessions"
        " FROM STREAM panes('accumulating') TRIGGER EVERY 1 ROW"
    )
    assert paper("SELECT * FROM over_panes") == [{"sum": 101, "sessions": 7}]


def test_a_changed_key_leaves_nothing_under_the_old_one(paper: Rows) -> None:
    """Sessions per bucket of their length: the two that merge leave their bucket."""
    paper(
        "CREATE STREAMING TABLE buckets AS SELECT timestampdiff(MINUTE, window_start, window_end) AS minutes,"
        " count(*) AS sessions FROM STREAM retracting GROUP BY 1 TRIGGER EVERY 1 ROW RETRACTING"
    )
    assert paper("SELECT * FROM buckets ORDER BY 1") == [{"minutes": 2, "sessions": 1}, {"minutes": 4, "sessions": 1}]


@pytest.mark.soak
def test_what_replaces_a_row_that_was_taken_back_too_late_stays_out_with_it(rows: Rows, tmp_path: Path) -> None:
    """A session that was counted in a window which has closed is not counted again as it grows into an open one.

    Nor does the withdrawal of what stayed out take anything away.
    """
    files = iter(range(100))

    def arrive(*clicks: str) -> None:
        lines = (json.dumps({"k": c[0], "at": f"2024-05-01T12:{c[1:]}Z"}) + "\n" for c in clicks)
        (tmp_path / f"{next(files)}.json").write_text("".join(lines))

    arrive("a00:00", "b06:01")
    rows(
        f"CREATE STREAM clicks (k STRING, at TIMESTAMP) USING json OPTIONS (path '{tmp_path}')"
        " WATERMARK at DELAY OF INTERVAL 1 SECOND;"
        "CREATE STREAMING TABLE visits AS SELECT k, count(*) AS n, window_end AS till FROM STREAM clicks GROUP BY k"
        " WINDOW SESSIONS (at, GAP INTERVAL 5 MINUTES) RETRACTING;"
        "CREATE STREAMING TABLE ended AS SELECT date_format(window_start, 'mm') AS at, sum(n) AS n, count(*) AS visits"
        " FROM STREAM visits WINDOW FIXED (till, SIZE INTERVAL 10 MINUTES) ALLOWED LATENESS INTERVAL 0 SECONDS"
    )
    arrivals = (
        ["b15:00"], ["a04:00", "a08:00", "a12:00", "a16:00"], ["c21:30"], ["a20:00"], ["c26:00"], ["d59:00"],
    )  # fmt: skip
    for clicks in arrivals:
        arrive(*clicks)
        rows("REFRESH STREAMING TABLE visits; REFRESH STREAMING TABLE ended")
    assert [tuple(r.values()) for r in rows("SELECT * FROM ended ORDER BY at")] == [
        ("00", 1, 1), ("10", 1, 1), ("20", 1, 1), ("30", 2, 1),
    ]  # fmt: skip
    late = rows("SELECT k, n, date_format(window_start, 'mm') AS at FROM late_rows('ended') ORDER BY n, at")
    assert [tuple(r.values()) for r in late] == [
        ("a", 1, "00"), ("a", 5, "20"), ("a", 5, "20"), ("a", 6, "20"),
    ]  # fmt: skip


@pytest.mark.soak
def test_a_session_falls_apart_when_what_held_it_together_is_taken_back(rows: Rows, tmp_path: Path) -> None:
    """Minutes with one click are one visit while the minute between them has few clicks, two visits when it has many.

    The earlier one inherits the pane to withdraw; a visit of which nothing is left is withdrawn, and may come back.
    """
    files = iter(range(100))

    def arrive(*minutes: int) -> None:
        lines = (json.dumps({"at": f"2024-05-01T12:{minute:02}:00Z"}) + "\n" for minute in minutes)
        (tmp_path / f"{next(files)}.json").write_text("".join(lines))
        if len(list(tmp_path.iterdir())) > 1:
            rows("REFRESH STREAMING TABLE few; REFRESH STREAMING TABLE quiet")

    arrive(0, 1, 2)
    rows(
        f"CREATE STREAM clicked (at TIMESTAMP) USING json OPTIONS (path '{tmp_path}')"
        " WATERMARK at DELAY OF INTERVAL 1 HOUR;"
        "CREATE STREAMING TABLE few AS SELECT count(*) AS n, window_start AS at FROM STREAM clicked HAVING count(*) < 2"
        " WINDOW FIXED (at, SIZE INTERVAL 1 MINUTE) TRIGGER EVERY ROW RETRACTING;"
        "CREATE STREAMING TABLE quiet AS SELECT sum(n) AS n, window_start AS since, window_end AS till FROM STREAM few"
        " WINDOW SESSIONS (at, GAP INTERVAL 90 SECONDS) TRIGGER EVERY ROW RETRACTING"
    )

    def quiet() -> list[tuple[Any, ...]]:
        found = rows("SELECT date_format(since, 'mm:ss'), date_format(till, 'mm:ss'), n FROM quiet ORDER BY 1")
        return [tuple(row.values()) for row in found]

    assert quiet() == [("00:00", "03:30", 3)]
    arrive(1)
    assert quiet() == [("00:00", "01:30", 1), ("02:00", "03:30", 1)]
    changes = rows("SELECT _change_type, n FROM panes('quiet')")
    assert [tuple(row.values()) for row in changes] == [("insert", 3), ("delete", 3), ("insert", 1), ("insert", 1)]
    arrive(0, 2)
    assert quiet() == []
    arrive(3, 4)
    assert quiet() == [("03:00", "05:30", 2)]
    rows("DRAIN STREAMING TABLE quiet")
    assert quiet() == [("03:00", "05:30", 2)]
    with pytest.raises(WarehouseError) as refused:
        rows(
            "CREATE STREAMING TABLE news AS SELECT sum(n) FROM STREAM few WINDOW SESSIONS (at, GAP INTERVAL 1 DAY)"
            " DISCARDING"
        )
    assert refused.value.diagnostics[0].condition == "WAREHOUSE_DISCARDING_CANNOT_SPLIT"


@pytest.mark.soak
def test_what_a_session_holds_can_be_taken_back_while_it_has_state(rows: Rows, tmp_path: Path) -> None:
    """Whatever the watermark has passed of it; a row that never came to count takes nothing along as it goes."""
    files = iter(range(100))

    def arrive(until: int, *edits: tuple[int, int, int, int]) -> None:
        lines = (
            {"id": i, "at": f"2024-05-01T12:{m:02}:00Z", "n": n, "gone": gone, "tick": f"2024-05-01T12:{until:02}:00Z"}
            for i, m, n, gone in edits
        )
        (tmp_path / f"{next(files)}.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
        if len(list(tmp_path.iterdir())) > 1:
            rows("REFRESH STREAMING TABLE kept; REFRESH STREAMING TABLE stays")

    def stays() -> list[tuple[Any, ...]]:
        found = rows("SELECT minute(since), minute(till), c, n FROM stays ORDER BY 1")
        return [tuple(row.values()) for row in found]

    def late() -> list[tuple[Any, ...]]:
        return [tuple(r.values()) for r in rows("SELECT id, n, minute(window_end) FROM late_rows('stays') ORDER BY 1")]

    arrive(12, (1, 0, 1, 0), (2, 8, 1, 0), (3, 16, 1, 0), (4, 24, 1, 0))
    rows(
        f"CREATE STREAM edits (id INT, at TIMESTAMP, n INT, gone INT, tick TIMESTAMP) USING json"
        f" OPTIONS (path '{tmp_path}') WATERMARK tick DELAY OF INTERVAL 0 SECONDS;"
        "CREATE STREAMING TABLE kept AS SELECT id, at, sum(n) AS n FROM STREAM edits GROUP BY id, at"
        " HAVING sum(gone) = 0 TRIGGER EVERY ROW RETRACTING;"
        "CREATE STREAMING TABLE stays AS SELECT count(*) AS c, sum(n) AS n, window_start AS since, window_end AS till"
        " FROM STREAM kept WINDOW SESSIONS (at, GAP INTERVAL 10 MINUTES) TRIGGER EVERY ROW RETRACTING"
        " ALLOWED LATENESS INTERVAL 0 SECONDS"
    )
    assert stays() == [(0, 34, 4, 4)]
    arrive(20, (1, 0, 0, 1))  # its own window ended at 10
    assert stays() == [(8, 34, 3, 3)]
    arrive(20, (2, 8, 5, 0), (5, 8, 7, 0))  # one of another value in its place, and one that comes too late
    assert stays() == [(8, 34, 3, 8)]
    assert late() == [(5, 7, 18)]
    arrive(43, (5, 8, 0, 1))
    assert stays() == [(8, 34, 3, 8)]
    arrive(44, (2, 8, 1, 0))  # the session is closed, and known until 44
    assert stays() == [(8, 34, 3, 9)]
    arrive(44, (2, 8, 1, 0), (3, 16, 0, 1))
    assert stays() == [(8, 34, 3, 9)]
    assert late() == [(2, 7, 18), (2, 8, 18), (3, 1, 26), (5, 7, 18), (5, 7, 18)]


@pytest.mark.parametrize("mode", ["RETRACTING", soaked("ACCUMULATING")])
def test_what_stood_as_one_goes_with_the_first_pane_over_it(rows: Rows, tmp_path: Path, mode: str) -> None:
    """Whichever part of the former session that is of, a new one in its midst included."""
    name = mode.lower()
    files = iter(range(100))

    def arrive(*edits: tuple[int, int, int, int]) -> None:
        lines = ({"id": i, "at": f"2024-05-01T12:{m:02}:00Z", "n": n, "gone": gone} for i, m, n, gone in edits)
        (tmp_path / f"{next(files)}.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
        if len(list(tmp_path.iterdir())) > 1:
            rows(f"REFRESH STREAMING TABLE still_{name}; REFRESH STREAMING TABLE busy_{name}")

    def busy() -> list[tuple[Any, ...]]:
        found = rows(f"SELECT minute(since), minute(till), c, n FROM busy_{name} ORDER BY 1")
        return [tuple(row.values()) for row in found]

    arrive(*((i, 8 * (i - 1), 1, 0) for i in (1, 2, 3, 4, 5)))
    rows(
        f"CREATE STREAM edited_{name} (id INT, at TIMESTAMP, n INT, gone INT) USING json OPTIONS (path '{tmp_path}')"
        " WATERMARK at DELAY OF INTERVAL 1 HOUR;"
        f"CREATE STREAMING TABLE still_{name} AS SELECT id, at, sum(n) AS n FROM STREAM edited_{name} GROUP BY id, at"
        " HAVING sum(gone) = 0 TRIGGER EVERY ROW RETRACTING;"
        f"CREATE STREAMING TABLE busy_{name} AS SELECT count(*) AS c, sum(n) AS n, window_start AS since,"
        f" window_end AS till FROM STREAM still_{name} WINDOW SESSIONS (at, GAP INTERVAL 10 MINUTES)"
        f" TRIGGER WHEN (sum(n) >= 5) {mode}"
    )
    assert busy() == [(0, 42, 5, 5)]
    arrive((2, 8, 0, 1), (3, 16, 0, 1), (4, 24, 0, 1))
    assert busy() == [(0, 42, 5, 5)]
    arrive((6, 14, 5, 0))
    assert busy() == [(14, 24, 1, 5)]
    arrive((5, 32, 4, 0))
    assert busy() == [(14, 24, 1, 5), (32, 42, 1, 5)]
    arrive((7, 6, 1, 0))
    assert busy() == [(0, 24, 3, 7), (32, 42, 1, 5)]
    changes = [(row["_change_type"], row["n"]) for row in rows(f"SELECT _change_type, n FROM panes('busy_{name}')")]
    inserts = [("insert", 5)] * 3 + [("insert", 7)]
    if mode == "RETRACTING":
        inserts[3:3], inserts[1:1] = [("delete", 5)], [("delete", 5)]
    assert changes == inserts


# ------------------------------------------------------------------ random rows, three levels

FEW = ("first", "second")
"""The levels that run by default; ``ORACLE_ALL=1`` runs all of them, at ten seeds."""
LEVELS = {
    "first": (
        "SELECT k, count(*) AS n, sum(v) AS s, avg(d) AS d, window_start AS at FROM STREAM readings GROUP BY k"
        " WINDOW FIXED (at, SIZE INTERVAL 1 MINUTE) TRIGGER EVERY 1 ROW RETRACTING"
    ),
    "second": (
        "SELECT n, count(*) AS c, sum(s) AS s, sum(d) AS d, avg(d) AS mean, min(s) AS least, max(k) AS most,"
        " median(s) AS middle, count(DISTINCT k) AS ks, sort_array(collect_set(k)) AS names, avg(s) AS whole,"
        " count_if(s > 3) AS large, count(s) AS known, sum(s) FILTER (WHERE k <> 'a') AS but_a"
        " FROM STREAM first GROUP BY n HAVING count(*) < 4 TRIGGER EVERY 1 ROW RETRACTING"
    ),
    "third": (
        "SELECT c, sum(n) AS n, max(s) AS s, sum(d) AS d FROM STREAM second GROUP BY c TRIGGER EVERY 1 ROW RETRACTING"
    ),
    "sparse": (
        "SELECT k, count(*) AS n, sum(v) AS s, window_start AS at FROM STREAM readings GROUP BY k HAVING count(*) < 3"
        " WINDOW FIXED (at, SIZE INTERVAL 30 SECONDS) TRIGGER EVERY 1 ROW RETRACTING"
    ),
    "runs": (
        "SELECT k, count(*) AS c, sum(n) AS n, median(s) AS middle, window_start, window_end FROM STREAM sparse"
        " GROUP BY k WINDOW SESSIONS (at, GAP INTERVAL 45 SECONDS) TRIGGER EVERY 1 ROW RETRACTING"
    ),
    "lengths": "SELECT c, sum(n) AS n, count(*) AS runs FROM STREAM runs GROUP BY c TRIGGER EVERY 1 ROW",
    "distinct_counts": "SELECT DISTINCT n FROM STREAM first",
    "hours": (
        "SELECT count(*) AS windows, sum(n) AS n, window_start AS hour FROM STREAM first"
        " WINDOW FIXED (at, SIZE INTERVAL 2 MINUTES) TRIGGER EVERY 1 ROW"
    ),
    "rolling": (
        "SELECT sum(n) AS n, min(k) AS k, window_start AS since FROM STREAM first"
        " WINDOW SLIDING (at, SIZE INTERVAL 3 MINUTES, EVERY INTERVAL 1 MINUTE) TRIGGER EVERY 1 ROW"
    ),
}


def plain(name: str) -> str:
    """Return the SELECT of a level over the tables as they stand, without any clause of ours that matters."""
    text = LEVELS[name].replace("STREAM ", "")
    return text.replace("TRIGGER EVERY 1 ROW", "").replace("RETRACTING", "") if "WINDOW" not in text else text


@pytest.mark.parametrize("seed", range(10 if os.environ.get("ORACLE_ALL") else 1))
def test_every_level_equals_the_batch_over_the_one_below(seed: int, rows: Rows, tmp_path: Path) -> None:
    chance = random.Random(seed)
    rows(
        f"CREATE STREAM readings (k STRING, v INT, d DOUBLE, at TIMESTAMP) USING json OPTIONS (path '{tmp_path}')"
        " WATERMARK at DELAY OF INTERVAL 1 DAY"
    )
    levels = list(LEVELS if os.environ.get("ORACLE_ALL") else FEW)
    for step in range(4):
        lines = [
            {
                "k": chance.choice(["a", "b", "c", "d", None]),
                "v": chance.choice([None, *range(-3, 9)]),
                "d": chance.choice([None, 0.1, 0.2, 1e15, 1e300, -1e300, 3.5]),
                "at": f"2024-01-01T00:0{chance.randrange(6)}:{chance.randrange(60):02}Z",
            }
            for _ in range(chance.randrange(1, 12))
        ]
        (tmp_path / f"{step}.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
        for name in levels:
            rows(f"CREATE STREAMING TABLE {name} AS {LEVELS[name]}" if step == 0 else f"REFRESH STREAMING TABLE {name}")
            if name in ("first", "sparse"):
                continue
            streamed, batch = rows(f"SELECT * FROM {name}"), rows(plain(name))
            assert sorted(map(str, streamed)) == sorted(map(str, batch)), f"{name} after step {step}"
    for name in reversed(levels):
        rows(f"DROP STREAMING TABLE {name}")
    rows("DROP STREAM readings")
