"""Variances and estimates of many steps: digit for digit those of all rows, whatever comes in which step."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from pathlib import Path

import pytest

from tests.soak import soaked
from tests.statements import Rows

LISTED = (
    "k, stddev(x) AS dev, var_pop(x) AS pop, var_samp(x) FILTER (WHERE i > 3) AS some, covar_samp(x, i) AS co,"
    " approx_count_distinct(s) AS about, approx_count_distinct(x, 0.3) AS roughly, window_start"
)
WINDOWS = {
    "fixed": "WINDOW FIXED (at, SIZE INTERVAL 1 HOUR) TRIGGER EVERY ROW",
    "sessions": "WINDOW SESSIONS (at, GAP INTERVAL 2 MINUTES)",
    "sliding": "WINDOW SLIDING (at, SIZE INTERVAL 1 HOUR, EVERY INTERVAL 10 MINUTES) ALLOWED LATENESS '0 seconds'",
}


def write(folder: Path, step: int, rows: int) -> None:
    """Write a step of rows with values far from 0 and near each other; key n has NaN, key o a single value."""
    chance = random.Random(step)

    def row() -> dict[str, object]:
        kind = chance.choice("pqpqn")
        value = "NaN" if kind == "n" and chance.random() < 0.5 else 1e9 + chance.randrange(5) / 7
        minute = chance.randrange(120) if step else chance.choice((3, 63))
        drawn = {"x": value, "i": chance.randrange(9), "s": str(chance.randrange(50 * (step + 1)))}
        known = {name: value for name, value in drawn.items() if chance.random() < 0.9}
        return {"k": kind, "at": f"2024-01-01T{minute // 60:02}:{minute % 60:02}:00Z", **known}

    lines = [json.dumps(row()) for _ in range(rows)]
    lines += [json.dumps({"k": "o", "at": "2024-01-01T00:00:00Z", "x": 7.5})] * (step == 0)
    (folder / f"{step}.json").write_text("\n".join(lines) + "\n")


def stream(rows: Rows, folder: Path) -> None:
    folder.mkdir()
    rows(
        "CREATE STREAM s (k STRING, x DOUBLE, i INT, s STRING, at TIMESTAMP) USING json"
        f" OPTIONS (path '{folder}', allowNonNumericNumbers 'true') WATERMARK at DELAY OF INTERVAL 3 HOURS"
    )


def variance(values: list[float]) -> Fraction:
    """Return what is divided by n, or by n - 1, for a variance."""
    exact = [Fraction(value) for value in values]
    return sum((value * value for value in exact), Fraction(0)) - sum(exact) ** 2 / len(exact)


@pytest.mark.parametrize("window", ["fixed", soaked("sessions"), soaked("sliding")])
def test_spread_of_steps_is_that_of_all_rows(rows: Rows, tmp_path: Path, window: str) -> None:
    folder = tmp_path / "in"
    stream(rows, folder)
    query = f"SELECT {LISTED} FROM STREAM s GROUP BY k {WINDOWS[window]}"
    for step, count in enumerate((40, 400, 4000)):
        write(folder, step, count)
        rows(f"{'REFRESH' if step else 'CREATE'} STREAMING TABLE t {'' if step else f'AS {query}'}")
    sizes = [line["state_bytes"] for line in rows("SELECT state_bytes FROM stream_progress('t') ORDER BY step")]
    rows("DRAIN STREAMING TABLE t")
    mine = rows("SELECT * FROM t ORDER BY ALL")
    assert str(mine) == str(rows(f"SELECT * FROM ({query}) ORDER BY ALL")) and mine
    if window != "fixed":
        return
    assert sizes[2] < 100_000 and sizes[2] - sizes[1] < 3 * (sizes[1] - sizes[0])
    spark = rows(
        "SELECT k, date_trunc('HOUR', at) AS hour, collect_list(x) AS x, var_samp(x) FILTER (WHERE i > 3) AS some,"
        " covar_samp(x, i) AS co, approx_count_distinct(s) AS about, approx_count_distinct(x, 0.3) AS roughly"
        f" FROM (SELECT k, DOUBLE(x) AS x, INT(i) AS i, s, TIMESTAMP(at) AS at FROM json.`{folder}`)"
        " GROUP BY ALL ORDER BY k, hour"
    )
    for got, want in zip(sorted(mine, key=lambda r: (r["k"], r["window_start"])), spark, strict=True):
        values = [float(x) for x in want["x"]]
        assert (got["about"], got["roughly"]) == (want["about"], want["roughly"])
        if any(map(math.isnan, values)):
            assert math.isnan(got["dev"]) and math.isnan(got["pop"])
            continue
        assert got["pop"] == float(variance(values) / len(values))
        once = len(values) == 1
        assert got["dev"] == (None if once else math.sqrt(float(variance(values) / (len(values) - 1))))
        for name in ("some", "co"):  # Spark's own has few right digits here
            assert got[name] == (None if want[name] is None else pytest.approx(want[name], rel=1e-4, abs=1e-4))


@pytest.mark.soak
def test_spread_is_taken_back(rows: Rows, tmp_path: Path) -> None:
    """What was emitted and is replaced counts no longer, and leaves not a digit behind."""
    folder = tmp_path / "in"
    stream(rows, folder)
    write(folder, 0, 40)
    rows(
        "CREATE STREAMING TABLE inner_one AS SELECT k, i, sum(x) AS x, window_start AS at FROM STREAM s GROUP BY k, i"
        " WINDOW FIXED (at, SIZE INTERVAL 1 HOUR) TRIGGER EVERY ROW RETRACTING;"
        "CREATE STREAMING TABLE outer_one AS SELECT k, var_pop(x) AS pop, approx_count_distinct(x) AS n"
        " FROM STREAM inner_one GROUP BY k TRIGGER EVERY ROW"
    )
    write(folder, 1, 40)
    rows("REFRESH STREAMING TABLE inner_one; REFRESH STREAMING TABLE outer_one")
    assert rows("SELECT count(*) > 0 AS some FROM panes('inner_one') WHERE _change_type = 'delete'") == [{"some": True}]
    inner = rows("SELECT k, collect_list(x) AS x, approx_count_distinct(x) AS n FROM inner_one GROUP BY k ORDER BY k")
    for got, want in zip(rows("SELECT * FROM outer_one ORDER BY k"), inner, strict=True):
        assert got["n"] == want["n"]
        if any(map(math.isnan, want["x"])):
            assert math.isnan(got["pop"])
            continue
        assert got["pop"] == float(variance(want["x"]) / len(want["x"]))
    assert rows("SHOW FUNCTIONS LIKE '__w*'") == []
