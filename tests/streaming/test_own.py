"""Windows and triggers of the user's own: the examples in ``udfs/``, a pair of SQL functions, and what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.statements import rows_of
from warehouse.catalog.udfs import Udfs
from warehouse.errors import WarehouseError

EXAMPLES = Path(__file__).parents[2] / "udfs"
Rows = Callable[[str], list[tuple[Any, ...]]]
Arrive = Callable[..., None]


@pytest.fixture
def rows(engine: Any, schema: str, monkeypatch: pytest.MonkeyPatch) -> Rows:
    monkeypatch.setattr(engine._shared, "udfs", Udfs(EXAMPLES))

    return lambda text: [tuple(row.values()) for row in rows_of(engine, text)]


@pytest.fixture
def arrive(rows: Rows, tmp_path: Path) -> Arrive:
    """Return ``arrive((key, number, time), …)``: a file of rows for the stream ``s``, times as ``day hour:minute``."""
    files, folder = iter(range(100)), tmp_path / "s"
    folder.mkdir()

    def write(*lines: tuple[str, int, str | None]) -> None:
        text = "".join(
            json.dumps({"k": k, "v": v, "at": f"2024-05-{t[:2]}T{t[3:]}:00Z" if t else None}) + "\n"
            for k, v, t in lines
        )
        (folder / f"{next(files)}.json").write_text(text)

    rows(
        f"CREATE STREAM s (k STRING, v INT, at TIMESTAMP) USING json OPTIONS (path '{folder}')"
        " WATERMARK at DELAY OF INTERVAL 1 MINUTE"
    )
    return write


DAY_SESSIONS = """SELECT k, date_format(window_start, 'dd HH:mm') AS ws, date_format(window_end, 'dd HH:mm') AS we,
    sum(v) AS n FROM STREAM s GROUP BY k WINDOW day_sessions (at, INTERVAL 30 MINUTES)"""


def test_a_class_assigns_and_merges_windows(rows: Rows, arrive: Arrive) -> None:
    """Sessions that end at midnight: a late row joins its own day's, and takes back what was emitted of it."""
    arrive(("a", 1, "01 23:40"), ("a", 2, "01 23:55"), ("a", 4, "02 00:05"), ("b", 8, "02 00:30"), ("b", 9, None))
    rows(f"CREATE STREAMING TABLE t AS {DAY_SESSIONS} TRIGGER AT WATERMARK EARLY EVERY ROW LATE EVERY ROW RETRACTING")
    first = [("a", "01 23:40", "02 00:00", 3), ("a", "02 00:05", "02 00:35", 4), ("b", "02 00:30", "02 01:00", 8)]
    assert rows("SELECT * FROM t ORDER BY k, ws") == first
    assert rows(f"{DAY_SESSIONS} ORDER BY k, ws") == first
    arrive(("a", 16, "01 23:30"), ("a", 32, "02 00:34"))
    rows("REFRESH STREAMING TABLE t")
    assert rows("SELECT n, _change_type FROM panes('t') WHERE _step = 2 ORDER BY n") == [
        (3, "delete"), (4, "delete"), (19, "insert"), (36, "insert"),
    ]  # fmt: skip
    assert rows("SELECT * FROM t ORDER BY k, ws") == rows(f"{DAY_SESSIONS} ORDER BY k, ws")
    assert rows("SELECT k, v, _why FROM bad_rows('s')") == [("b", 9, "TIME_IS_NULL")]


def test_a_class_says_when_a_window_is_due(rows: Rows, arrive: Arrive) -> None:
    """After 1, 2, 4, … rows; among other units, and what it keeps is shown."""
    arrive(("a", 1, "01 12:00"))
    rows("CREATE STREAMING TABLE t AS SELECT count(*) AS n FROM STREAM s TRIGGER doubling () OR EVERY 100 ROWS")
    for number in range(2, 8):
        arrive(("a", number, "01 12:00"))
        rows("REFRESH STREAMING TABLE t")
    assert rows("SELECT n FROM panes('t') ORDER BY n") == [(1,), (3,), (7,)]
    assert rows("SELECT target, pending_rows FROM stream_state('t')") == [(8, 0)]


@pytest.mark.soak
def test_a_pair_of_functions_assigns_and_merges_windows(rows: Rows, arrive: Arrive) -> None:
    """Windows that join when they touch; and several windows for each row, of the same start."""
    rows("""
        CREATE FUNCTION touching_assign(ts TIMESTAMP, gap INTERVAL DAY TO SECOND)
            RETURNS STRUCT<s TIMESTAMP, e TIMESTAMP> RETURN named_struct('s', ts, 'e', ts + gap);
        CREATE FUNCTION touching_merge(left_end TIMESTAMP, right_start TIMESTAMP) RETURNS BOOLEAN
            RETURN right_start <= left_end;
        CREATE FUNCTION grains_assign(ts TIMESTAMP) RETURNS ARRAY<STRUCT<s TIMESTAMP, e TIMESTAMP>>
            RETURN transform(array(INTERVAL 1 HOUR, INTERVAL 1 DAY), i -> struct(date_trunc('DAY', ts) AS s,
                             date_trunc('DAY', ts) + i AS e))""")
    arrive(("a", 1, "01 00:00"), ("a", 2, "01 00:30"), ("a", 4, "01 01:01"))
    for name, windows in (("touching", "touching (at, INTERVAL 30 MINUTES)"), ("grains", "grains (at)")):
        long = "unix_seconds(window_end) - unix_seconds(window_start)"
        query = f"SELECT {long} AS long, sum(v) AS n FROM STREAM s WINDOW {windows}"
        rows(f"CREATE STREAMING TABLE {name} AS {query} TRIGGER EVERY ROW")
    arrive(("a", 8, "01 01:31"), ("a", 16, "01 02:01"))
    for name in ("touching", "grains"):
        rows(f"REFRESH STREAMING TABLE {name}")
    assert [n for _, n in rows("SELECT * FROM touching ORDER BY n")] == [3, 28]
    assert rows("SELECT * FROM grains ORDER BY long") == [(3600, 31), (86400, 31)]


def test_rows_without_a_window_are_kept(rows: Rows, arrive: Arrive) -> None:
    rows("""CREATE FUNCTION mornings_assign(ts TIMESTAMP) RETURNS STRUCT<s TIMESTAMP, e TIMESTAMP>
        RETURN named_struct('s', date_trunc('DAY', ts), 'e',
                            if(hour(ts) < 12, date_trunc('DAY', ts) + INTERVAL 12 HOURS, NULL))""")
    arrive(("a", 1, "01 11:59"), ("a", 2, "01 12:00"))
    rows("CREATE STREAMING TABLE t AS SELECT sum(v) AS n FROM STREAM s WINDOW mornings (at) TRIGGER EVERY ROW")
    assert rows("SELECT n FROM t") == [(1,)]
    assert rows("SELECT v, _why FROM bad_rows('s')") == [(2, "NO_WINDOW")]


MORNINGS = """
from warehouse.dataflow.custom import CustomWindow
class Mornings(CustomWindow):
    def assign(self, ts):
        hour = f"date_trunc('HOUR', {ts}) + INTERVAL 1 HOUR"
        both = f"array(struct({ts} AS s, {hour} AS e), struct({ts} AS s, {ts} + INTERVAL 1 MINUTE AS e))"
        return f"if(hour({ts}) < 12, {both}, array())"
"""


@pytest.mark.soak
def test_windows_are_assigned_without_an_aggregate(
    engine: Any, rows: Rows, arrive: Arrive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine._shared, "udfs", Udfs(tmp_path))
    (tmp_path / "mornings.py").write_text(MORNINGS)
    (tmp_path / "day_sessions.py").write_text((EXAMPLES / "day_sessions.py").read_text())
    arrive(("a", 1, "01 11:59"), ("a", 2, "01 12:00"), ("a", 3, None))
    query = "SELECT v, hour(window_end) AS h FROM STREAM s WINDOW mornings (at)"
    rows(f"CREATE STREAMING TABLE t AS {query}")
    assert rows("SELECT * FROM t ORDER BY h") == rows(f"{query} ORDER BY h") == [(1, 12), (1, 12)]
    assert rows("SELECT v, _why FROM bad_rows('s') ORDER BY v") == [(2, "NO_WINDOW"), (3, "TIME_IS_NULL")]
    with pytest.raises(WarehouseError, match="WAREHOUSE_ASSIGNED_SESSIONS_GROW"):
        rows("SELECT v FROM STREAM s WINDOW day_sessions (at, INTERVAL 1 HOUR)")
    rows(
        "CREATE FUNCTION hours_assign(ts TIMESTAMP) RETURNS STRUCT<s TIMESTAMP, e TIMESTAMP>"
        " RETURN struct(ts AS s, ts + INTERVAL 1 HOUR AS e)"
    )
    with pytest.raises(WarehouseError, match="WAREHOUSE_ASSIGNED_BY_FUNCTION"):
        rows("SELECT v FROM STREAM s WINDOW hours (at)")


def test_a_definition_that_changes_is_noticed(
    engine: Any, rows: Rows, arrive: Arrive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = (EXAMPLES / "day_sessions.py").read_text()
    (tmp_path / "day_sessions.py").write_text(definition)
    monkeypatch.setattr(engine._shared, "udfs", Udfs(tmp_path))
    arrive(("a", 1, "01 23:40"))
    rows(f"CREATE STREAMING TABLE t AS {DAY_SESSIONS}")
    (tmp_path / "day_sessions.py").write_text(definition.replace("'DAY'", "'HOUR'"))
    monkeypatch.setattr(engine._shared, "udfs", Udfs(tmp_path))
    monkeypatch.setattr(engine.tables.feeds, "_feeds", {})  # as a new process finds it
    with pytest.raises(WarehouseError, match="WAREHOUSE_DEFINITION_CHANGED"):
        rows("REFRESH STREAMING TABLE t")
    rows("REFRESH STREAMING TABLE t FULL")
    rows("REFRESH STREAMING TABLE t")


_TRIGGER = "from warehouse.dataflow.custom import *\nclass A(CustomTrigger):\n def "
_IMPORT = "from warehouse.dataflow.custom import *\n"
_WINDOW = _IMPORT + "class A(CustomWindow):\n def assign(self, ts): return "
BROKEN = {
    "no_class": "",
    "no_python": "class A(",
    "raises": _WINDOW + "1 / 0",
    "exits": "import sys\nsys.exit()",
    "interrupts": "class Stop(BaseException): pass\nraise Stop",
    "no_sql": _WINDOW + "'nope', ts",
    "number": _WINDOW + "'1'",
    "never": _IMPORT + "class A(CustomTrigger): pass",
    "text": _IMPORT + "class A(CustomTrigger):\n def on_rows(self, w): return w.start",
}


ANSWERS = {
    "WINDOW assign_int (at)": (_WINDOW + "42", "assign returned a value of type int, and is to return SQL for a start"),
    "WINDOW assign_none (at)": (_WINDOW + "None", "assign returned None"),
    "WINDOW assign_one (at)": (_WINDOW + "(ts,)", "assign returned a value of type tuple with something else in it"),
    "WINDOW assign_mixed (at)": (_WINDOW + "[(ts, ts), ts]", "assign returned a value of type list"),
    "WINDOW assign_empty (at)": (_WINDOW + "[]", "assign returned a value of type list"),
    "WINDOW assign_value (at)": (_IMPORT + "class A(CustomWindow):\n assign = 4", "assign is a value of type int"),
    "WINDOW assign_gone (at)": (_IMPORT + "class A(CustomWindow): pass", "NotImplementedError"),
    "WINDOW merge_bool (at)": (
        _WINDOW + "ts, ts\n def merge(self, a, b): return True",
        "merge returned a value of type bool",
    ),
    "WINDOW needs (at)": (_IMPORT + "class A(CustomWindow):\n def __init__(self, a): pass", "TypeError"),
    "TRIGGER arrived_none ()": (_TRIGGER + "arrived(self): return None", "arrived returned None"),
    "TRIGGER arrived_text ()": (_TRIGGER + "arrived(self): return {'a': 'b'}", "Arrived, of texts, by name"),
    "TRIGGER kept_type ()": (_TRIGGER + "kept(self, w): return {'a': Kept('int', 0, '0', 'sum')}", "kept returned"),
    "TRIGGER due_int ()": (_TRIGGER + "on_rows(self, w): return 3", "on_rows returned a value of type int"),
    "TRIGGER time_raises ()": (_TRIGGER + "on_time(self, w): raise SystemExit", "SystemExit"),
    "TRIGGER going ()": (_IMPORT + "class A(CustomTrigger):\n goes_on = 'yes'", "goes_on is a value of type str"),
}


def test_options_and_names_that_are_none_are_said(
    engine: Any, rows: Rows, arrive: Arrive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(_IMPORT + "class A(CustomWindow):\n def assign(self, ts, size): return ts, ts")
    (tmp_path / "when.py").write_text(BROKEN["never"])
    (tmp_path / "torn.py").write_text(BROKEN["no_python"])
    monkeypatch.setattr(engine._shared, "udfs", Udfs(tmp_path))

    def refused(clause: str) -> tuple[str, str]:
        query = f"SELECT count(*) FROM STREAM s {clause}"
        with pytest.raises(WarehouseError) as error:
            rows(query)
        found = error.value.diagnostics[0]
        return found.span.of(query) if found.span else "", error.value.render()

    place, told = refused("WINDOW mine (at, SIZE INTERVAL 1 MINUTE)")
    assert place == "SIZE" and "SIZE is no argument of mine" in told and "WINDOW mine (at, size)" in told
    (tmp_path / "day_sessions.py").write_text((EXAMPLES / "day_sessions.py").read_text())
    place, told = refused("WINDOW day_sessions (at, GAP INTERVAL 30 MINUTES)")
    assert place == "GAP" and "GAP is no argument of day_sessions" in told
    (tmp_path / "day_sessions.py").unlink()
    place, told = refused("WINDOW mines (at, INTERVAL 1 MINUTE)")
    assert place == "mines" and f"those of {tmp_path.name}/ (mine; torn.py cannot be read as Python)" in told
    assert "Did you mean mine?" in told
    place, told = refused("WINDOW nothing (at, SIZE INTERVAL 1 MINUTE)")
    assert place == "nothing" and "FIXED, SLIDING, SESSIONS and GLOBAL, those of" in told
    place, told = refused("WINDOW torn (at, SIZE INTERVAL 1 MINUTE)")
    assert place == "torn" and "torn.py" in told and "SyntaxError" in told
    place, told = refused("TRIGGER whn ()")
    assert place == "whn" and "(when; torn.py cannot be read as Python)" in told
    rows(
        "CREATE FUNCTION days_assign(ts TIMESTAMP) RETURNS STRUCT<a TIMESTAMP, b TIMESTAMP>"
        " RETURN named_struct('a', ts, 'b', ts)"
    )
    place, told = refused("WINDOW days (at, GAP INTERVAL 1 MINUTE)")
    assert place == "GAP" and "See the function days_assign" in told


@pytest.mark.parametrize("clause", ANSWERS)
def test_what_is_no_answer_is_said(
    engine: Any, rows: Rows, arrive: Arrive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clause: str
) -> None:
    text, words = ANSWERS[clause]
    (tmp_path / f"{clause.split()[1]}.py").write_text(text)
    monkeypatch.setattr(engine._shared, "udfs", Udfs(tmp_path))
    with pytest.raises(WarehouseError, match=words) as error:
        rows(f"SELECT count(*) FROM STREAM s {clause}")
    assert error.value.condition == "WAREHOUSE_UDF_BROKEN"


@pytest.mark.parametrize(
    ("clause", "condition"),
    [
        ("WINDOW no_class (at)", "UDF_NOT_ONE"),
        ("WINDOW no_python (at)", "UDF_BROKEN"),
        ("WINDOW raises (at)", "UDF_BROKEN"),
        ("WINDOW exits (at)", "UDF_BROKEN"),
        ("WINDOW interrupts (at)", "UDF_BROKEN"),
        ("WINDOW no_sql (at)", "UDF_SQL"),
        ("WINDOW number (at)", "ASSIGN_TYPE"),
        ("WINDOW number (at, at)", "UDF_ARGUMENTS"),
        ("WINDOW never (at)", "WINDOW_UNKNOWN"),
        ("WINDOW `../never` (at)", "WINDOW_UNKNOWN"),
        ("WINDOW fixd (at, INTERVAL 1 HOUR)", "WINDOW_UNKNOWN"),
        ("TRIGGER never ()", "AFTER_CLAUSES"),
        ("TRIGGER `never` ()", "UDF_SQL"),
        ("TRIGGER text ()", "UDF_TYPE"),
        ("TRIGGER wen (count(*) > 3)", "TRIGGER_UNKNOWN"),
        ("TRIGGER doubling (v)", "UDF_ROW_ARGUMENT"),
    ],
)
def test_what_is_wrong_is_said(
    engine: Any,
    rows: Rows,
    arrive: Arrive,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    clause: str,
    condition: str,
) -> None:
    for name, text in BROKEN.items() | {("doubling", (EXAMPLES / "doubling.py").read_text())}:
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setattr(engine._shared, "udfs", Udfs(tmp_path))
    with pytest.raises(WarehouseError) as error:
        rows(f"SELECT count(*) FROM STREAM s {clause}")
    found = error.value.diagnostics[0]
    assert found.condition == f"WAREHOUSE_{condition}"
    assert found.span is not None
    assert found.span.of(f"SELECT count(*) FROM STREAM s {clause}") in clause
