"""Sliding windows kept as slices: what a row costs, what is subtracted and what is merged, and what the state shows."""

from __future__ import annotations

import json
import os
import random
from itertools import accumulate
from pathlib import Path

import pytest

from tests.soak import soaked
from tests.statements import Rows
from warehouse.dataflow import slices
from warehouse.dataflow.aggregates.calls import Argument, Call
from warehouse.dataflow.aggregates.decomposition import decompose
from warehouse.streaming.state import slices as stored
from warehouse.streaming.state.state import State

AGGREGATES = (
    "count(*) AS n, sum(big) AS big, avg(price) AS mid, sum(x) AS sum_x, min(v) AS least, count(DISTINCT v) AS kinds,"
    " max_by(v, x) AS top, median(v) AS middle, var_pop(price) AS spread"
)
MORE = (
    ", count(v) AS known, sum(v) AS total, sum(price) AS price, avg(x) AS mean, max(v) AS most,"
    " bool_or(v > 90) AS high, bit_xor(v) AS bits, stddev(x) AS spread_of_x, approx_count_distinct(v) AS about"
)
AT_ONCE = "ALLOWED LATENESS INTERVAL 0 SECONDS"
MINUTES, STEPS, EACH = 60, 3, 40


def text(minute: float) -> str:
    return f"2024-05-01T{int(minute) // 60:02}:{int(minute) % 60:02}:{int(minute * 60) % 60:02}Z"


def write(folder: Path, seed: int) -> None:
    """Write a file per step: rows of a few keys in the order of time but for two minutes, some values NULL."""
    dice = random.Random(seed)
    folder.mkdir()
    for number in range(STEPS):
        lines = []
        for i in range(EACH):
            minute = MINUTES * (number + i / EACH) / STEPS + dice.uniform(0, 2)
            # key d is gone for good after the first step, and e has a long silence
            key = dice.choice("abc" if number == 1 else "abcde" if number == 0 else "abce")
            value = None if dice.random() < 0.2 else dice.randrange(-50, 100)
            row = {"k": key, "v": value, "big": dice.randrange(9)}
            row |= {"price": f"{dice.randrange(10**6) / 100:.2f}", "x": dice.choice((0.1, 1e15, -1e15, dice.random()))}
            lines.append(json.dumps(row | {"at": text(minute)}))
        file = folder / f"{number}.json"
        file.write_text("\n".join(lines) + "\n")
        os.utime(file, (number, number))  # files are read in the order of their times


def stream(rows: Rows, folder: Path) -> None:
    rows(
        "CREATE STREAM s (k STRING, v INT, big BIGINT, price DECIMAL(12,2), x DOUBLE, at TIMESTAMP) USING json"
        f" OPTIONS (path '{folder}', maxFilesPerTrigger '1') WATERMARK at DELAY OF INTERVAL 2 MINUTES"
    )


def windowed(size: int, every: int, listed: str) -> str:
    return (
        f"SELECT k, {listed}, window_start, window_end FROM STREAM s GROUP BY k"
        f" WINDOW SLIDING (at, SIZE INTERVAL {size} MINUTES, EVERY INTERVAL {every} MINUTES)"
    )


@pytest.mark.parametrize(
    ("folded", "listed"),
    [
        pytest.param(0, AGGREGATES, id="some"),
        soaked(0, AGGREGATES + MORE, id="swept"),
        soaked(1 << 60, AGGREGATES + MORE, id="folded"),
    ],
)
def test_inverse_and_combining_and_brute_force_agree(
    folded: int, listed: str, rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every aggregate of every window, by a running sum or merged from slices, is the batch answer, which has none."""
    monkeypatch.setattr(slices, "FOLDED", folded)
    write(tmp_path / "in", folded % 7)
    stream(rows, tmp_path / "in")
    query = windowed(7, 3, listed)
    rows(f"CREATE STREAMING TABLE t AS {query} {AT_ONCE}; DRAIN STREAMING TABLE t")
    assert rows("SELECT * FROM t ORDER BY ALL") == rows(f"{query} ORDER BY ALL")
    assert rows("SELECT count(*) AS n FROM late_rows('t')") == [{"n": 0}]


def test_a_sum_that_fits_is_never_too_large_on_the_way(
    rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a slice enters as another one leaves, the sum of all three would not be a BIGINT."""
    monkeypatch.setattr(slices, "FOLDED", 0)
    (tmp_path / "in").mkdir()
    values = (2**62, 2**62 - 1, 2**61, -(2**62), -(2**62), -(2**61))
    lines = (json.dumps({"k": "z", "big": value, "at": text(minute)}) for minute, value in enumerate(values))
    (tmp_path / "in" / "0.json").write_text("\n".join(lines))
    stream(rows, tmp_path / "in")
    rows(f"CREATE STREAMING TABLE t AS {windowed(2, 1, 'sum(big) AS big')} {AT_ONCE}; DRAIN STREAMING TABLE t")
    sums = [first + second for first, second in zip((0, *values), (*values, 0), strict=True)]
    assert [row["big"] for row in rows("SELECT big FROM t ORDER BY window_start")] == sums


def test_a_row_is_added_once_however_many_windows_hold_it(rows: Rows, tmp_path: Path) -> None:
    """The state grows by a row per key and slice of a step, be a window five slices long or 24; it shows windows."""
    write(tmp_path / "in", 1)
    stream(rows, tmp_path / "in")
    files = [list(map(json.loads, file.read_text().splitlines())) for file in sorted((tmp_path / "in").iterdir())]
    apart = [len({(row["k"], row["at"][:16]) for row in its}) for its in files]
    waiting = "STREAM s WATERMARK at DELAY OF INTERVAL 1 DAY"
    rows_of_state = {}
    for size in (5, 24):
        query = windowed(size, 1, "count(*) AS n").replace("STREAM s", waiting)
        rows(f"CREATE STREAMING TABLE t{size} AS {query}")
        progress = rows(f"SELECT state_rows FROM stream_progress('t{size}') ORDER BY step")
        rows_of_state[size] = [row["state_rows"] for row in progress]
        shown = rows(f"SELECT k, window_start, pending_rows AS n FROM stream_state('t{size}') ORDER BY ALL")
        assert shown == rows(f"SELECT k, window_start, n FROM ({query}) ORDER BY ALL")
    assert rows_of_state[5] == rows_of_state[24] == list(accumulate(apart))


def test_slices_go_when_their_last_window_has_fired(
    rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Folders are named until then, are put together when there are many, and are as they were for a past step."""
    monkeypatch.setattr(stored, "MOST_FOLDERS", 1)
    write(tmp_path / "in", 2)
    stream(rows, tmp_path / "in")
    query = windowed(10, 2, "count(*) AS n, max(v) AS most")
    rows(f"CREATE STREAMING TABLE t AS {query} {AT_ONCE}")
    before = rows("SELECT * FROM stream_state('t') ORDER BY ALL")
    rows("DRAIN STREAMING TABLE t")
    assert rows("SELECT * FROM stream_state('t')") == []
    assert rows("SELECT * FROM stream_state('t') AS OF STEP 3 ORDER BY ALL") == before != []
    assert rows("SELECT state_rows FROM stream_progress('t') ORDER BY step DESC LIMIT 1") == [{"state_rows": 0}]
    assert rows("SELECT * FROM t ORDER BY ALL") == rows(f"{query} ORDER BY ALL")


def test_rows_of_windows_that_fire_at_once_count_though_no_slice_is_near(rows: Rows, tmp_path: Path) -> None:
    """A row that moves the watermark past the window of another one of its step, where all slices are of later ones."""
    (tmp_path / "in").mkdir()
    stream(rows, tmp_path / "in")
    query = windowed(1, 1, "count(*) AS n")
    rows(f"CREATE STREAMING TABLE t AS {query}")
    for number, minutes in enumerate([(5,), (3.2, 6.2), (60,)]):
        lines = "".join(json.dumps({"k": "a", "at": text(minute)}) + "\n" for minute in minutes)
        (tmp_path / "in" / f"{number}.json").write_text(lines)
        rows("REFRESH STREAMING TABLE t")
    assert rows("SELECT * FROM late_rows('t')") == []
    assert [row["n"] for row in rows("SELECT n FROM t ORDER BY window_start")] == [1, 1, 1]
    rows("DRAIN STREAMING TABLE t")
    assert rows("SELECT * FROM t ORDER BY ALL") == rows(f"{query} ORDER BY ALL")


def test_what_is_subtracted() -> None:
    """Sums and counts of whole numbers and decimals are; MIN, MAX, COUNT DISTINCT and kept rows never."""

    def call(function: str, kind: str, *, distinct: bool = False) -> Call:
        return Call(function, (Argument("v", kind),), distinct, None, kind)

    def inverted(call: Call) -> list[bool]:
        return [slices.is_invertible(partial) for partial in decompose((call,)).partials]

    for function, kind in (
        ("sum", "int"),
        ("sum", "bigint"),
        ("sum", "decimal(10,2)"),
        ("count", "int"),
        ("avg", "int"),
        ("stddev", "double"),
    ):
        assert all(inverted(call(function, kind))), function
    for function in ("min", "max", "bool_or", "bit_xor", "collect_list", "median", "max_by"):
        arguments = (Argument("v", "int"), Argument("w", "int"))[: 2 if function == "max_by" else 1]
        assert not any(inverted(Call(function, arguments, False, None, "int"))), function
    assert not any(inverted(call("count", "int", distinct=True)))
    assert inverted(call("sum", "double")) == [True] * 5 + [False]  # infinities cannot be taken away


@pytest.mark.soak
def test_windows_that_fired_are_read_when_they_are_needed(
    rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows that are kept for late rows cost a step nothing until such a row comes, or they close."""
    looks = list[int]()
    touched = State.touched
    monkeypatch.setattr(State, "touched", lambda self, *a: (looks.append(a[1].step), touched(self, *a))[1])
    query = "SELECT k, count(*) AS n, window_start FROM STREAM s GROUP BY k WINDOW FIXED (at, SIZE INTERVAL 5 MINUTES)"
    folder = tmp_path / "in"
    folder.mkdir()

    def arrive(step: int, *minutes: float) -> None:
        (folder / f"{step}.json").write_text("".join(json.dumps({"k": "a", "at": text(m)}) + "\n" for m in minutes))
        rows("REFRESH STREAMING TABLE t")

    rows(
        f"CREATE STREAM s (k STRING, at TIMESTAMP) USING json OPTIONS (path '{folder}')"
        " WATERMARK at DELAY OF INTERVAL 2 MINUTES; "
        f"CREATE STREAMING TABLE t AS {query} ALLOWED LATENESS INTERVAL 1 HOUR"
    )
    for step in range(4):
        arrive(step, 7 * step, 7 * step + 3)
    assert looks == []
    arrive(4, 28, 8)
    assert len(looks) == 1
    assert rows("SELECT n FROM t WHERE window_start = '2024-05-01T00:05:00Z'") == [{"n": 2}]
    arrive(5, 35)
    assert len(looks) == 1
    arrive(6, 72)  # the first windows close
    assert len(looks) == 2
    rows("DRAIN STREAMING TABLE t")
    assert rows("SELECT * FROM t ORDER BY ALL") == rows(f"{query} ORDER BY ALL")
