"""CREATE OR REPLACE of a streaming table that has run: the verdict, then what comes of it; no row lost or doubled.

``ORACLE_ALL=1`` lives through all of the changes, else those marked ``often``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tests.statements import Rows, rows_of
from warehouse.engine import Engine

ALL = os.environ.get("ORACLE_ALL") == "1"

PLACE = "FROM STREAM s GROUP BY p"
HOUR = "WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR)"
SESSIONS = "WINDOW SESSIONS (ts, GAP INTERVAL 10 MINUTES)"
ROWS = "TRIGGER EVERY 2 ROWS"
SUMS = f"SELECT p, sum(d) AS total, count(d) AS n, window_start {PLACE} {HOUR} {ROWS}"
MIDS = f"SELECT p, median(d) AS mid, window_start {PLACE} {HOUR} {ROWS}"
SETS = f"SELECT p, count(DISTINCT d) AS n, window_start {PLACE} {HOUR} {ROWS}"
RUNS = f"SELECT p, sum(d) AS total, window_start, window_end {PLACE} {SESSIONS} {ROWS}"
TWO = f"SELECT p, q, count(*) AS n, sum(x) AS x FROM STREAM s GROUP BY p, q {HOUR} {ROWS} RETRACTING"
PLAIN = "SELECT p, d, ts FROM STREAM s WHERE d > 1"


@dataclass(frozen=True)
class Change:
    """A query, the one that takes its place, and the verdict; ``told`` is a part of what is said of it."""

    name: str
    old: str
    new: str
    verdict: str
    told: str = ""
    often: bool = False


CONTINUES, REBUILT = "continue", "rebuild"

CHANGES = (
    Change("same", SUMS, SUMS, CONTINUES),
    Change("blanks", SUMS, SUMS.lower().replace("stream s", "STREAM  s /* plays */"), CONTINUES),
    Change("order", SUMS, SUMS.replace("p, sum(d) AS total, count(d) AS n", "count(d) AS n, p, sum(d) AS total"),
           CONTINUES, "another order", often=True),
    Change("column goes", SUMS, SUMS.replace(" count(d) AS n,", ""), CONTINUES, "column n goes away"),
    Change("renamed", SUMS, SUMS.replace("total", "points"), CONTINUES, "column points is added"),
    Change("avg from sum and count", f"{SUMS} RETRACTING", f"{SUMS.replace('count(d) AS n', 'avg(d) AS mean')} RETRACTING",
           CONTINUES, "avg(d): from what is kept", often=True),
    Change("expression", SUMS, SUMS.replace("sum(d) AS", "sum(d) + count(d) AS"), CONTINUES, "computed differently"),
    Change("having", SUMS, SUMS.replace("GROUP BY p", "GROUP BY p HAVING sum(d) > 9"), CONTINUES, "HAVING"),
    Change("around", SUMS, f"SELECT p, total, n, window_start FROM ({SUMS}) WHERE n > 2", CONTINUES, "WHERE around"),
    Change("max from rows", MIDS, MIDS.replace("median(d) AS mid", "median(d) AS mid, max(d) AS top, sum(d) AS total"),
           CONTINUES, "max(d), sum(d): from what is kept", often=True),
    Change("rows no longer", MIDS, MIDS.replace("median(d) AS mid", "sum(d) AS total"), CONTINUES, "median(d): kept no longer"),
    Change("max from a set", SETS, SETS.replace("AS n", "AS n, max(d) AS top"), CONTINUES, "max(d)"),
    Change("sum from a set", SETS, SETS.replace("AS n", "AS n, sum(d) AS total"), REBUILT, "sum(d): the rows", often=True),
    Change("max from nothing", SUMS, SUMS.replace("AS n", "AS n, max(d) AS top"), REBUILT, "max(d): the rows"),
    Change("every 3 rows", SUMS, SUMS.replace("2 ROWS", "3 ROWS"), CONTINUES, "starts afresh"),
    Change("at watermark", SUMS, SUMS.replace(ROWS, ""), CONTINUES, "starts afresh", often=True),
    Change("early and late", f"{SUMS} RETRACTING", SUMS.replace(ROWS, "TRIGGER AT WATERMARK EARLY EVERY 3 ROWS LATE EVERY ROW")
           + " RETRACTING", CONTINUES, "starts afresh"),
    Change("bytes", SUMS, SUMS.replace("2 ROWS", "90 BYTES"), CONTINUES, "starts afresh"),
    Change("when", SUMS, SUMS.replace(ROWS, "TRIGGER WHEN (sum(d) > 8)"), CONTINUES, "starts afresh"),
    Change("less mode", f"{SUMS} RETRACTING", f"{SUMS} ACCUMULATING", CONTINUES, "RETRACTING becomes ACCUMULATING", often=True),
    Change("more mode", SUMS, f"{SUMS} RETRACTING", REBUILT, "withdrawal"),
    Change("to discarding", SUMS, f"{SUMS} DISCARDING", REBUILT, "what waits"),
    Change("shorter", SUMS, f"{SUMS} ALLOWED LATENESS INTERVAL 5 HOURS", CONTINUES, "close now"),
    Change("longer", SUMS, f"{SUMS} ALLOWED LATENESS UNBOUNDED", CONTINUES, "stay closed"),
    Change("delay", SUMS, SUMS.replace("STREAM s", "STREAM s WATERMARK ts DELAY OF INTERVAL 2 HOURS AS s"), REBUILT),
    Change("where", SUMS, SUMS.replace("GROUP", "WHERE d > 1 GROUP"), REBUILT, "FROM or WHERE", often=True),
    Change("key", SUMS, SUMS.replace("SELECT p", "SELECT p, q").replace("BY p", "BY p, q"), REBUILT, "GROUP BY"),
    Change("size", SUMS, SUMS.replace("1 HOUR", "2 HOURS"), REBUILT, "WINDOW"),
    Change("type", SUMS, SUMS.replace("sum(d) AS", "sum(d) / 2 AS"), REBUILT, "of type"),
    Change("keys turned", TWO, TWO.replace("p, q, count", "q, p, count").replace("BY p, q", "BY q, p"), CONTINUES,
           "keys of GROUP BY", often=True),
    Change("sessions", RUNS, RUNS.replace("p, sum(d) AS total", "sum(d) + 1 AS more, p").replace("2 ROWS", "3 ROWS"),
           CONTINUES, "starts afresh", often=True),
    Change("retracting sessions", f"{RUNS} RETRACTING", f"{RUNS.replace('p, sum(d) AS total', 'sum(d) AS total, p')} RETRACTING",
           CONTINUES, "another order"),
    Change("gap", RUNS, RUNS.replace("10 MINUTES", "20 MINUTES"), REBUILT, "WINDOW"),
    Change("plain column goes", PLAIN, "SELECT ts, p FROM STREAM s WHERE d > 1", CONTINUES, "column d goes away", often=True),
    Change("plain where", PLAIN, "SELECT p, d, ts FROM STREAM s WHERE d > 2", REBUILT, "other rows"),
    Change("windows", PLAIN, SUMS, REBUILT, "windows"),
)  # fmt: skip

LIVED = [c for c in CHANGES if ALL or c.often]

FIRST = (
    ("a", "u", 1, 0.1, 0),
    ("a", "v", 2, 0.2, 5),
    ("a", "u", 3, 0.3, 70),
    ("b", "u", 4, 0.4, 20),
    ("b", "v", 5, 0.5, 200),
)
SECOND = (*((p, q, 2, 0.7, minute) for p in "ab" for q in "uv" for minute in (7, 27, 90, 205)), ("c", "u", 9, 0.9, 210))


def write(folder: Path, *lines: tuple[str, str, int, float, int]) -> None:
    """Let a file of rows arrive: p, q, d, x, and the minute of the day."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "".join(
        json.dumps({"p": p, "q": q, "d": d, "x": x, "ts": f"2024-05-01T{m // 60:02}:{m % 60:02}:00Z"}) + "\n"
        for p, q, d, x, m in lines
    )
    (folder / f"{len(list(folder.iterdir()))}.json").write_text(text)


def stream(rows: Rows, name: str, folder: Path) -> None:
    rows(
        f"CREATE STREAM {name} (p STRING, q STRING, d INT, x DOUBLE, ts TIMESTAMP) USING json"
        f" OPTIONS (path '{folder}') WATERMARK ts DELAY OF INTERVAL 1 MINUTE"
    )


@pytest.fixture(scope="module")
def rows(engine: Engine) -> Iterator[Rows]:
    """Return ``rows(statements)``, in a schema of this module's own."""
    found = partial(rows_of, engine)
    found("CREATE SCHEMA replacing; USE replacing")
    yield found
    found("USE default")


@pytest.fixture(scope="module")
def ran(rows: Rows, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the names of the tables of old queries, which ran over the first file; the second has arrived since."""
    folder = tmp_path_factory.mktemp("replacing") / "in"
    write(folder, *FIRST)
    stream(rows, "s", folder)
    names = {change.name: change.name.replace(" ", "_") for change in LIVED}
    for change in LIVED:
        rows(f"CREATE STREAMING TABLE {names[change.name]} AS {change.old}")
    write(folder, *SECOND)
    return names


@pytest.mark.parametrize("change", LIVED, ids=[c.name for c in LIVED])
def test_a_change_of_a_running_query(rows: Rows, ran: dict[str, str], engine: Engine, change: Change) -> None:
    """Each window gets rows after the change: its last pane is what the new query says of all rows."""
    name = ran[change.name]
    steps = rows(f"SELECT max(step) AS n FROM stream_progress('{name}')")[0]["n"]
    emitted = rows(f"SELECT count(*) AS n FROM panes('{name}')")[0]["n"]
    (result,) = engine.run(f"CREATE OR REPLACE STREAMING TABLE {name} AS {change.new}")
    assert {CONTINUES: "continues", REBUILT: "rebuilt from source"}[change.verdict] in str(result.message)
    assert change.told in "\n".join(result.warnings)
    rows(f"DRAIN STREAMING TABLE {name}")
    assert rows(f"SELECT * FROM {name} ORDER BY ALL") == rows(f"{change.new} ORDER BY ALL")
    if change.verdict == CONTINUES:
        progress = rows(f"SELECT step, rows_in FROM stream_progress('{name}') ORDER BY step")
        assert sum(r["rows_in"] for r in progress) == len(FIRST) + len(SECOND)
        assert progress[-1]["step"] > steps
        assert rows(f"SELECT count(*) AS n FROM panes('{name}')")[0]["n"] >= emitted


def test_explain_says_it_first_and_changes_nothing(rows: Rows, tmp_path: Path) -> None:
    write(tmp_path / "in", *FIRST)
    stream(rows, "told", tmp_path / "in")
    query = SUMS.replace("STREAM s", "STREAM told")
    rows(f"CREATE STREAMING TABLE t AS {query}")
    before = rows("DESCRIBE EXTENDED STREAMING TABLE t")
    for change in CHANGES:
        if change.old != SUMS:
            continue
        new = change.new.replace("STREAM s", "STREAM told").replace("STREAM  s", "STREAM  told")
        plan = rows(f"EXPLAIN CREATE OR REPLACE STREAMING TABLE t AS {new}")[0]["plan"].splitlines()
        assert plan[0] == "== Verdict =="
        assert plan[1].startswith(change.verdict), (change.name, plan[:6])
        assert change.told in "\n".join(plan[1:10]), (change.name, plan[:6])
    assert rows("DESCRIBE EXTENDED STREAMING TABLE t") == before
