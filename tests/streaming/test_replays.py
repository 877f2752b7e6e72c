"""Several replays in one streaming table: one clock, each with its own steps, and the least of their watermarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.soak import soaked
from tests.statements import Rows
from warehouse.engine import Engine
from warehouse.errors import WarehouseError
from warehouse.streaming.log import StepLog

DATA = Path(__file__).parents[1] / "data"
COLUMNS = "seq INT, key STRING, value INT, event_time TIMESTAMP, processing_time TIMESTAMP"
CLAUSES = (
    "WINDOW SESSIONS (event_time, GAP INTERVAL 1 MINUTE)"
    " TRIGGER AT WATERMARK EARLY EVERY INTERVAL 1 MINUTE LATE EVERY ROW RETRACTING ALLOWED LATENESS INTERVAL 3 MINUTES"
)


def replay(rows: Rows, name: str, path: Path, watermark: str = "", step: str = "arrival") -> None:
    given = f", watermark '{watermark}'" if watermark else ""
    delay = "" if watermark else " WATERMARK event_time DELAY OF INTERVAL 10 SECONDS"
    rows(
        f"CREATE STREAM {name} ({COLUMNS}) USING replay OPTIONS (path '{path}', format 'json',"
        f" arrival 'processing_time', step '{step}'{given}){delay}"
    )


def union(one: str, two: str) -> str:
    return f"(SELECT value, event_time FROM STREAM {one} UNION ALL SELECT value, event_time FROM STREAM {two})"


@pytest.fixture
def halves(tmp_path: Path) -> tuple[Path, Path]:
    """Return two recordings that are the paper's together."""
    lines = (DATA / "paper.json").read_text().splitlines(keepends=True)
    files = tmp_path / "odd.json", tmp_path / "even.json"
    for start, file in enumerate(files):
        file.write_text("".join(lines[start::2]))
    return files


def told(rows: Rows, name: str) -> tuple[list[dict[str, Any]], ...]:
    """Return the panes of a streaming table, its late rows, and the clock and the watermark of each step."""
    progress = "SELECT step, emitted_at, rows_in, late, panes, watermark FROM stream_progress('{}') ORDER BY step"
    late = "SELECT window_start, _why, _at FROM late_rows('{}') ORDER BY ALL"
    return tuple(rows(text.format(name)) for text in ("SELECT * FROM panes('{}')", late, progress))


@pytest.mark.soak
@pytest.mark.parametrize("watermark", [str(DATA / "paper_watermark.csv"), "complete"])
@pytest.mark.parametrize("step", ["2 minutes", "arrival"])
def test_two_halves_are_the_whole(rows: Rows, halves: tuple[Path, Path], watermark: str, step: str) -> None:
    """Every step, pane and late row of the paper's recording, also when it is cut in two."""
    replay(rows, "whole", DATA / "paper.json", watermark, step)
    for name, file in zip(("odd", "even"), halves, strict=True):
        replay(rows, name, file, watermark, step)
    for name, source in {"t": "STREAM whole", "u": union("odd", "even")}.items():
        rows(f"CREATE STREAMING TABLE {name} AS SELECT sum(value) AS n, window_start FROM {source} {CLAUSES}")
        rows(f"DRAIN STREAMING TABLE {name}")
    assert told(rows, "u") == told(rows, "t")


@pytest.mark.parametrize("recorded", [str(DATA / "paper_watermark.csv"), soaked("none")])
def test_a_query_s_own_watermark_wins_over_a_recorded_one(rows: Rows, recorded: str) -> None:
    replay(rows, "moving", DATA / "paper.json")
    replay(rows, "recorded", DATA / "paper.json", recorded)
    own = "recorded WATERMARK event_time DELAY OF INTERVAL 10 SECONDS"
    for name, source in {"t": "moving", "u": own}.items():
        rows(f"CREATE STREAMING TABLE {name} AS SELECT sum(value) AS n, window_start FROM STREAM {source} {CLAUSES}")
    assert told(rows, "u") == told(rows, "t")


@pytest.mark.soak
def test_the_least_watermark_and_each_in_its_own_steps(rows: Rows, halves: tuple[Path, Path]) -> None:
    """One moves with its rows, the other is recorded; the second one's rows wait for the end of their micro-batch."""
    replay(rows, "odd", halves[0])
    replay(rows, "even", halves[1], str(DATA / "paper_watermark.csv"), "2 minutes")
    rows(
        f"CREATE STREAMING TABLE t AS SELECT count(*) AS n, window_start FROM {union('odd', 'even')}"
        " WINDOW FIXED (event_time, SIZE INTERVAL 1 HOUR) TRIGGER EVERY ROW"
    )
    progress = rows(
        "SELECT date_format(emitted_at, 'mm:ss') AS at, rows_in AS n, date_format(watermark, 'mm:ss') AS wm"
        " FROM stream_progress('t') ORDER BY step"
    )
    assert [tuple(row.values()) for row in progress] == [
        ("05:20", 1, None), ("06:00", 1, "00:17"), ("06:13", 1, "02:00"), ("06:40", 1, "02:00"),
        ("07:20", 1, "02:00"), ("08:00", 2, "06:30"), ("08:40", 1, "07:00"), ("10:00", 2, "07:17"),
    ]  # fmt: skip
    assert rows("SELECT n FROM t") == [{"n": 10}]


@pytest.mark.soak
def test_a_replay_beside_itself(rows: Rows) -> None:
    replay(rows, "whole", DATA / "paper.json", "none")
    rows(f"CREATE STREAMING TABLE t AS SELECT * FROM {union('whole', 'whole')}")
    assert rows("SELECT sum(value) AS n, count(*) AS rows FROM t") == [{"n": 102, "rows": 20}]


@pytest.mark.soak
def test_a_step_that_was_begun_is_repeated(rows: Rows, engine: Engine, schema: str, halves: tuple[Path, Path]) -> None:
    """With the rows of both; later ones go on from there, and what is added behind the clock is refused."""
    for name, file in zip(("odd", "even"), halves, strict=True):
        replay(rows, name, file, "none", "1 minute")
    rows(f"CREATE STREAMING TABLE t AS SELECT sum(value) AS n FROM {union('odd', 'even')} TRIGGER EVERY ROW RETRACTING")
    before = told(rows, "t")
    entry = engine.catalog.streaming_tables.get(schema, "t")
    assert entry
    newest = StepLog(engine.folder / "streaming" / entry.id).last().step
    (engine.folder / "streaming" / entry.id / "commits" / f"{newest:09}.json").unlink()
    rows("REFRESH STREAMING TABLE t")
    assert told(rows, "t") == before
    line = {"seq": 11, "key": "k", "value": 1, "event_time": "2015-01-01T12:08:00Z"}
    with halves[1].open("a") as file:
        file.write(json.dumps({**line, "processing_time": "2015-01-01T12:09:30Z"}) + "\n")
    rows("REFRESH STREAMING TABLE t")
    assert rows("SELECT n FROM t") == [{"n": 52}]
    with halves[0].open("a") as file:
        file.write(json.dumps({**line, "processing_time": "2015-01-01T12:06:30Z"}) + "\n")
    with pytest.raises(WarehouseError, match=r"1 rows were added .*odd.* and .*even"):
        rows("REFRESH STREAMING TABLE t")


def test_what_does_not_go_together(rows: Rows, halves: tuple[Path, Path], tmp_path: Path) -> None:
    replay(rows, "odd", halves[0], "complete")
    replay(rows, "even", halves[1], "none")
    rows(f"CREATE STREAM files ({COLUMNS}) USING json OPTIONS (path '{tmp_path}')")
    for one, two, words in (("files", "even", "a stream that is none"), ("even", "odd", "'complete'")):
        with pytest.raises(WarehouseError, match=words):
            rows(f"CREATE STREAMING TABLE t AS SELECT * FROM {union(one, two)}")
