"""CREATE OR REPLACE of a streaming table that has run: the verdict, then what comes of it; no row lost or doubled.

``ORACLE_ALL=1`` lives through all of the changes, else those marked ``often``.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.soak import soaked
from tests.statements import Rows, rows_in, rows_of
from warehouse.engine import Engine
from warehouse.errors import WarehouseError
from warehouse.streaming.feeding.pace import Pacer
from warehouse.streaming.tables.changing import Changing

ALL = os.environ.get("ORACLE_ALL") == "1"


def turned(query: str, part: str, other: str) -> str:
    """Return a query with a part of it, which is there, replaced."""
    assert part in query
    return query.replace(part, other)


PLACE = "FROM STREAM s GROUP BY p"
HOUR = "WINDOW FIXED (ts, SIZE INTERVAL 1 HOUR)"
SESSIONS = "WINDOW SESSIONS (ts, GAP INTERVAL 10 MINUTES)"
ROWS = "TRIGGER EVERY 2 ROWS"
BOTH_SIDES = "TRIGGER AT WATERMARK EARLY EVERY 3 ROWS LATE EVERY ROW"
SUMS = f"SELECT p, sum(d) AS total, count(d) AS n, window_start {PLACE} {HOUR} {ROWS}"
MIDS = f"SELECT p, median(d) AS mid, window_start {PLACE} {HOUR} {ROWS}"
SETS = f"SELECT p, count(DISTINCT d) AS n, window_start {PLACE} {HOUR} {ROWS}"
RUNS = f"SELECT p, sum(d) AS total, window_start, window_end {PLACE} {SESSIONS} {ROWS}"
TWO = f"SELECT p, q, count(*) AS n, sum(x) AS x FROM STREAM s GROUP BY p, q {HOUR} {ROWS} RETRACTING"
HOURS = "WINDOW SLIDING (ts, SIZE INTERVAL 3 HOURS, EVERY INTERVAL 1 HOUR)"
SLIDES = turned(SUMS, f"{HOUR} {ROWS}", HOURS)
PLAIN = "SELECT p, d, ts FROM STREAM s WHERE d > 1"


BOTH = turned(MIDS, "AS mid", "AS mid, median(d * 2) AS two")


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
    Change("alias", SUMS, "SELECT z.p, sum(z.d) AS total, count(d) AS n, window_start FROM STREAM s AS z GROUP BY z.p"
           f" {HOUR.replace('ts', 'Z.ts')} {ROWS}", CONTINUES),
    Change("name within", SUMS, turned(SUMS, "sum(d)", "sum(filter(array(named_struct('d', d)), s -> s.d > 0)[0].d)"),
           REBUILT, "the rows that it needs were not kept"),
    Change("order", SUMS, turned(SUMS, "p, sum(d) AS total, count(d) AS n", "count(d) AS n, p, sum(d) AS total"),
           CONTINUES, "another order"),
    Change("column goes", SUMS, turned(SUMS, " count(d) AS n,", ""), CONTINUES, "column n goes away"),
    Change("renamed", SUMS, turned(SUMS, "total", "points"), CONTINUES, "column points is added"),
    Change("avg from sum and count", f"{SUMS} RETRACTING",
           f"{turned(SUMS, 'count(d) AS n', 'avg(d) AS mean')} RETRACTING", CONTINUES, "avg(d) is added: from what"),
    Change("nothing known yet", SUMS, turned(SUMS, "count(d) AS n", "count(d) AS n, NULL AS then"), CONTINUES,
           "column then is added"),
    Change("expression", SUMS, turned(SUMS, "sum(d) AS", "sum(d) + count(d) AS"), CONTINUES, "computed differently"),
    Change("having", SUMS, turned(SUMS, "GROUP BY p", "GROUP BY p HAVING sum(d) > 9"), CONTINUES, "HAVING"),
    Change("around", SUMS, f"SELECT p, total, n, window_start FROM ({SUMS}) WHERE n > 2", CONTINUES, "WHERE around"),
    Change("max from rows", MIDS, turned(MIDS, "median(d) AS mid", "median(d) AS mid, max(d) AS top, sum(d) AS total"),
           CONTINUES, "max(d), sum(d) are added: from what is kept", often=True),
    Change("rows no longer", MIDS, turned(MIDS, "median(d) AS mid", "sum(d) AS total"), CONTINUES, "kept no longer"),
    Change("rows turned", BOTH, turned(BOTH, "median(d) AS mid, median(d * 2) AS two",
           "median(d * 2) AS two, median(d) AS mid"), CONTINUES, "another order"),
    Change("max from a set", SETS, turned(SETS, "AS n", "AS n, max(d) AS top"), CONTINUES, "max(d)"),
    Change("sum from a set", SETS, turned(SETS, "AS n", "AS n, sum(d) AS total"), REBUILT, "sum(d): the rows"),
    Change("max from nothing", SUMS, turned(SUMS, "AS n", "AS n, max(d) AS top"), REBUILT, "max(d): the rows"),
    Change("every 3 rows", SUMS, turned(SUMS, "2 ROWS", "3 ROWS"), CONTINUES, "starts afresh"),
    Change("at watermark", SUMS, turned(SUMS, ROWS, ""), CONTINUES, "starts afresh"),
    Change("early and late", f"{SUMS} RETRACTING", f"{turned(SUMS, ROWS, BOTH_SIDES)} RETRACTING", CONTINUES, "afresh"),
    Change("bytes", SUMS, turned(SUMS, "2 ROWS", "90 BYTES"), CONTINUES, "starts afresh"),
    Change("when", SUMS, turned(SUMS, ROWS, "TRIGGER WHEN (sum(d) > 8)"), CONTINUES, "starts afresh"),
    Change("less mode", f"{SUMS} RETRACTING", f"{SUMS} ACCUMULATING", CONTINUES, "becomes ACCUMULATING"),
    Change("more mode", SUMS, f"{SUMS} RETRACTING", REBUILT, "withdrawal"),
    Change("to discarding", SUMS, f"{SUMS} DISCARDING", REBUILT, "what waits"),
    Change("discarding", f"{SUMS} DISCARDING", f"{turned(SUMS, '2 ROWS', '3 ROWS')} DISCARDING", CONTINUES, "afresh"),
    Change("shorter", SUMS, f"{SUMS} ALLOWED LATENESS INTERVAL 5 HOURS", CONTINUES, "close now"),
    Change("longer", SUMS, f"{SUMS} ALLOWED LATENESS UNBOUNDED", CONTINUES, "stay closed"),
    Change("delay", SUMS, turned(SUMS, "STREAM s", "STREAM s WATERMARK ts DELAY OF INTERVAL 2 HOURS"), CONTINUES,
           "WATERMARK"),
    Change("where", SUMS, turned(SUMS, "GROUP", "WHERE d > 1 GROUP"), REBUILT, "FROM or WHERE"),
    Change("key", SUMS, turned(turned(SUMS, "SELECT p", "SELECT p, q"), "BY p", "BY p, q"), REBUILT, "GROUP BY"),
    Change("size", SUMS, turned(SUMS, "1 HOUR", "2 HOURS"), REBUILT, "WINDOW"),
    Change("type", SUMS, turned(SUMS, "sum(d) AS", "sum(d) / 2 AS"), REBUILT, "of type"),
    Change("keys turned", TWO, turned(turned(TWO, "p, q, count", "q, p, count"), "BY p, q", "BY q, p"), CONTINUES,
           "keys of GROUP BY"),
    Change("sessions", RUNS, turned(turned(RUNS, "p, sum(d) AS total", "sum(d) + 1 AS more, p"), "2 ROWS", "3 ROWS"),
           CONTINUES, "starts afresh"),
    Change("retracting sessions", f"{RUNS} RETRACTING", f"{turned(RUNS, 'p, sum(d) AS total', 'sum(d) AS total, p')}"
           " RETRACTING", CONTINUES, "another order"),
    Change("gap", RUNS, turned(RUNS, "10 MINUTES", "20 MINUTES"), REBUILT, "WINDOW"),
    Change("slices to windows", SLIDES, f"{SLIDES} {ROWS}", CONTINUES, "starts afresh"),
    Change("windows to slices", f"{SLIDES} {ROWS}", SLIDES, CONTINUES, "starts afresh"),
    Change("slices renamed", SLIDES, turned(SLIDES, "total", "points"), CONTINUES, "column points is added"),
    Change("slices longer", SLIDES, f"{SLIDES} ALLOWED LATENESS UNBOUNDED", CONTINUES, "stay closed"),
    Change("plain column goes", PLAIN, "SELECT ts, p FROM STREAM s WHERE d > 1", CONTINUES, "column d goes away"),
    Change("plain where", PLAIN, turned(PLAIN, "d > 1", "d > 2"), REBUILT, "other rows"),
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
    yield from rows_in(engine, "replacing")


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
    together = "SELECT p, sum(total) AS total, sum(n) AS n, window_start FROM {} GROUP BY ALL ORDER BY ALL"
    read = together if "DISCARDING" in change.new else "SELECT * FROM {} ORDER BY ALL"
    assert rows(read.format(name)) == rows(f"{change.new} ORDER BY ALL")
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


@pytest.mark.parametrize("whole", [soaked("replacing.d"), "spark_catalog.Replacing.D", soaked("replacing.d AS e")])
def test_a_table_is_the_same_however_much_of_its_name_is_said(rows: Rows, whole: str) -> None:
    rows("CREATE OR REPLACE TABLE d AS SELECT 1 AS k; CREATE OR REPLACE TABLE e AS SELECT 2 AS k")
    made = (
        "CREATE OR REPLACE STREAMING TABLE named AS SELECT k, count(*) AS n FROM STREAM {} GROUP BY k TRIGGER EVERY ROW"
    )
    rows(f"DROP STREAMING TABLE IF EXISTS named; {made.format('d')}")
    assert "continue" in rows(f"EXPLAIN {made.format(whole)}")[0]["plan"].splitlines()[1]
    assert "rebuild" in rows(f"EXPLAIN {made.format('e')}")[0]["plan"].splitlines()[1]
    rows(f"INSERT INTO d VALUES (1); {made.format(whole)}")
    assert rows("SELECT * FROM named") == [{"k": 1, "n": 2}]


@pytest.mark.soak
def test_a_query_whose_step_fails_gives_way(rows: Rows, tmp_path: Path) -> None:
    """A step that the old query began, and of which nothing can be seen, is the new query's to run."""
    write(tmp_path / "in", ("a", "u", 1, 0.1, 5))
    stream(rows, "failing", tmp_path / "in")
    query = "SELECT p, 10 / (sum(d) - 2) AS q FROM STREAM failing GROUP BY p TRIGGER EVERY ROW"
    rows(f"CREATE STREAMING TABLE stuck AS {query}")
    write(tmp_path / "in", ("b", "u", 2, 0.2, 6), ("c", "u", 3, 0.3, 7))
    with pytest.raises(WarehouseError, match="DIVIDE_BY_ZERO") as failed:
        rows("REFRESH STREAMING TABLE stuck")
    assert "CREATE OR REPLACE" in str(failed.value) and "ansi" not in str(failed.value)
    mended = query.replace("10 / (sum(d) - 2)", "try_divide(10, sum(d) - 2)")
    assert "continue" in rows(f"EXPLAIN CREATE OR REPLACE STREAMING TABLE stuck AS {mended}")[0]["plan"]
    rows(f"CREATE OR REPLACE STREAMING TABLE stuck AS {mended}")
    assert rows("SELECT * FROM stuck ORDER BY p") == rows(f"{mended} ORDER BY p")
    assert [row["q"] for row in rows("SELECT q FROM stuck ORDER BY p")] == [-10.0, None, 10.0]


@pytest.mark.parametrize(
    ("name", "source", "lateness"),
    [
        soaked("later", "STREAM later", "ALLOWED LATENESS INTERVAL 2 DAYS"),
        ("sooner", "STREAM sooner WATERMARK ts DELAY OF INTERVAL 0 SECONDS", ""),
    ],
)
def test_slices_of_a_step_that_failed_are_nobodys(
    rows: Rows, tmp_path: Path, name: str, source: str, lateness: str
) -> None:
    """Whoever runs the step of that number does not take up what the new query's first step kept for later."""
    write(tmp_path / "in", *FIRST)
    stream(rows, name, tmp_path / "in")
    query = turned(turned(SUMS, f" {ROWS}", ""), "STREAM s", f"STREAM {name}")
    rows(f"CREATE STREAMING TABLE sliced_{name} AS {query}")
    write(tmp_path / "in", *(("a", "u", 1, 0.1, minute) for minute in (205, 250, 300)))
    broken = turned(turned(query, f"STREAM {name}", source), "AS total", "AS total, int(raise_error(p)) AS why")
    with pytest.raises(WarehouseError, match="USER_RAISED_EXCEPTION"):
        rows(f"CREATE OR REPLACE STREAMING TABLE sliced_{name} AS {broken} {lateness}")
    rows(f"REFRESH STREAMING TABLE sliced_{name}")
    write(tmp_path / "in", ("a", "u", 1, 0.1, 310), ("b", "u", 1, 0.1, 400))
    rows(f"REFRESH STREAMING TABLE sliced_{name}; DRAIN STREAMING TABLE sliced_{name}")
    assert rows(f"SELECT * FROM sliced_{name} ORDER BY ALL") == rows(f"{query} ORDER BY ALL")


@pytest.mark.soak
def test_readers_go_on_or_are_named(rows: Rows, tmp_path: Path) -> None:
    """Those of columns that stay read each change once; who would lose one is told of before anything happens."""
    write(tmp_path / "in", *FIRST)
    stream(rows, "read", tmp_path / "in")
    query = f"{SUMS.replace('STREAM s', 'STREAM read')} RETRACTING"
    rows(f"CREATE STREAMING TABLE above AS {query}")
    rows("CREATE STREAMING TABLE passed AS SELECT p, total FROM STREAM above")
    over = (
        "SELECT p, sum(total) AS total FROM STREAM above WATERMARK window_start DELAY OF INTERVAL 0 SECONDS GROUP BY p"
    )
    rows(
        f"CREATE STREAMING TABLE regrouped AS {over} WINDOW FIXED (window_start, SIZE INTERVAL 1 DAY) TRIGGER EVERY ROW"
    )
    write(tmp_path / "in", *SECOND)
    added = query.replace("SELECT p, sum(d) AS total, count(d) AS n", "SELECT avg(d) AS mean, p, sum(d) AS total")
    rows(f"CREATE OR REPLACE STREAMING TABLE above AS {added}")
    write(tmp_path / "in", ("a", "u", 7, 0.7, 215), ("b", "u", 8, 0.8, 216))
    for name in ("above", "passed", "regrouped"):
        rows(f"REFRESH STREAMING TABLE {name}")
    rows("DRAIN STREAMING TABLE above; REFRESH STREAMING TABLE passed; REFRESH STREAMING TABLE regrouped")
    rows("DRAIN STREAMING TABLE regrouped")
    assert rows("SELECT * FROM passed ORDER BY ALL") == rows("SELECT p, total FROM above ORDER BY ALL")
    expected = rows("SELECT p, sum(d) AS total FROM STREAM read GROUP BY p ORDER BY p")
    assert rows("SELECT * FROM regrouped ORDER BY p") == expected
    for new, told in (
        (added.replace("sum(d) AS total", "sum(d) AS points"), "passed reads it, and could not go on"),
        (added.replace("GROUP", "WHERE d > 1 GROUP"), "read by replacing.passed, replacing.regrouped"),
        (added.replace("RETRACTING", "ACCUMULATING"), "regrouped reads it"),
    ):
        before = rows("DESCRIBE EXTENDED STREAMING TABLE above")
        plan = rows(f"EXPLAIN CREATE OR REPLACE STREAMING TABLE above AS {new}")[0]["plan"]
        assert plan.startswith("== Verdict ==\nrefused") and told in plan
        with pytest.raises(WarehouseError, match="WAREHOUSE_REPLACE_REFUSED") as refused:
            rows(f"CREATE OR REPLACE STREAMING TABLE above AS {new}")
        assert told in str(refused.value)
        assert rows("DESCRIBE EXTENDED STREAMING TABLE above") == before


@pytest.mark.soak
def test_rows_of_closed_windows_stay_late(rows: Rows, tmp_path: Path) -> None:
    """Under a longer lateness: the state of what was closed is gone, and a window must not start a second time."""
    write(tmp_path / "in", ("a", "u", 1, 0.1, 5), ("a", "u", 2, 0.2, 300))
    stream(rows, "aged", tmp_path / "in")
    query = SUMS.replace("STREAM s", "STREAM aged")
    rows(f"CREATE STREAMING TABLE aging AS {query} ALLOWED LATENESS INTERVAL 1 HOUR")
    write(tmp_path / "in", ("a", "u", 4, 0.4, 6), ("a", "u", 8, 0.8, 230))
    rows(f"CREATE OR REPLACE STREAMING TABLE aging AS {query} ALLOWED LATENESS UNBOUNDED; DRAIN STREAMING TABLE aging")
    totals = "SELECT hour(window_start) AS hour, total FROM aging ORDER BY hour"
    assert rows(totals) == [{"hour": 0, "total": 1}, {"hour": 3, "total": 8}, {"hour": 5, "total": 2}]
    assert [row["d"] for row in rows("SELECT d FROM late_rows('aging')")] == [4]
    rows("REFRESH STREAMING TABLE aging FULL; DRAIN STREAMING TABLE aging")
    assert rows(totals)[0] == {"hour": 0, "total": 5}


def test_a_table_that_runs_on(rows: Rows, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A running table runs on with the new query; one whose first step fails under it, with the old one."""
    looked, rest = threading.Event(), Pacer.rest

    def rests(*given: Any) -> None:
        looked.set()
        rest(*given)

    monkeypatch.setattr(Pacer, "rest", rests)
    write(tmp_path / "in", *FIRST)
    stream(rows, "runs", tmp_path / "in")
    query = SUMS.replace("STREAM s", "STREAM runs")
    rows(f"CREATE STREAMING TABLE running AS {query}; START STREAMING TABLE running EVERY INTERVAL 1 HOUR")
    assert looked.wait(60)  # or it would take the second file
    broken = query.replace("sum(d) AS total", "sum(d) AS total, raise_error(p) AS why")
    write(tmp_path / "in", *SECOND)
    entry = engine.catalog.streaming_tables.get("replacing", "running")
    with pytest.raises(WarehouseError):
        rows(f"CREATE OR REPLACE STREAMING TABLE running AS {broken}")
    assert engine.catalog.streaming_tables.get("replacing", "running") == entry
    rows(f"CREATE OR REPLACE STREAMING TABLE running AS {query.replace('2 ROWS', '3 ROWS')}")
    assert rows("SHOW STREAMING TABLES LIKE 'running'")[0]["status"] == "running"
    entry = engine.catalog.streaming_tables.get("replacing", "running")
    assert entry is not None and engine.tables.running.interval(entry) == 3_600_000_000
    for message in ("started again, at another interval", "runs already"):
        (result,) = engine.run("START STREAMING TABLE running EVERY INTERVAL 2 HOURS")
        assert str(result.message).endswith(message) and engine.tables.running.interval(entry) == 7_200_000_000
    rows("STOP STREAMING TABLE running; DRAIN STREAMING TABLE running")
    assert rows("SELECT * FROM running ORDER BY ALL") == rows(f"{query} ORDER BY ALL")


@pytest.mark.parametrize("meanwhile", ["REFRESH STREAMING TABLE {} FULL", soaked("DROP STREAMING TABLE {}")])
def test_another_session_changes_it_meanwhile(
    rows: Rows, engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, meanwhile: str
) -> None:
    """A statement reads what a table is once it is alone with it; a query that was begun reads what it was."""
    name = meanwhile.split()[0].lower()
    write(tmp_path / "in", *FIRST)
    stream(rows, f"of_{name}", tmp_path / "in")
    query = SUMS.replace("STREAM s", f"STREAM of_{name}")
    rows(f"CREATE STREAMING TABLE {name} AS {query}")
    before = engine.catalog.streaming_tables.get("replacing", name)
    seen = rows(f"SELECT * FROM {name} ORDER BY ALL")
    begun = engine.spark.sql(f"SELECT * FROM {name} ORDER BY ALL")
    begun._jdf.queryExecution().executedPlan()
    other = engine.on(engine.spark.newSession())
    thread = threading.Thread(target=rows_of, args=(other, meanwhile.format(f"replacing.{name}")))
    change = Changing.change

    def changed(*given: Any) -> Any:
        thread.start()
        thread.join(1)  # it waits, or would have done its work by now
        return change(*given)

    monkeypatch.setattr(Changing, "change", changed)
    rows(f"CREATE OR REPLACE STREAMING TABLE {name} AS {query.replace('AS total', 'AS points')}")
    thread.join()
    found = engine.catalog.streaming_tables.get("replacing", name)
    if name == "drop":
        assert found is None
    else:
        assert [c.name for c in found.columns][:2] == ["p", "points"]
        assert found.id != before.id
        assert [row.p for row in begun.collect()] == [row["p"] for row in seen]


def test_any_number_of_shuffle_partitions(rows: Rows, tmp_path: Path) -> None:
    """From 1 to 8, before and after it is changed on a live table: the same panes."""
    write(tmp_path / "in", *FIRST)
    stream(rows, "shuffled", tmp_path / "in")
    query = f"{SUMS.replace('STREAM s', 'STREAM shuffled')} RETRACTING"
    later = ((1, 8), (8, 1))
    partitions = "SET spark.sql.shuffle.partitions ="
    try:
        for before, after in later:
            rows(f"{partitions} {before}; CREATE STREAMING TABLE from_{before}_to_{after} AS {query}")
        write(tmp_path / "in", *SECOND)
        for before, after in later:
            rows(f"{partitions} {after}; REFRESH STREAMING TABLE from_{before}_to_{after}")
        write(tmp_path / "in", ("a", "u", 7, 0.7, 215), ("b", "u", 8, 0.8, 216))
        for before, after in later:
            same = f"CREATE OR REPLACE STREAMING TABLE from_{before}_to_{after} AS {query}"
            rows(f"{partitions} {before}; {same}; DRAIN STREAMING TABLE from_{before}_to_{after}")
    finally:
        rows("RESET spark.sql.shuffle.partitions")
    one, other = (
        rows(f"SELECT * EXCEPT (_emitted_at) FROM panes('from_{before}_to_{after}') ORDER BY ALL")
        for before, after in later
    )
    assert one == other and len(one) > 10
