"""A process that opens the folder and refreshes its tables, to be killed; and one that tells what came of it.

``python -m tests.recovery.life refresh|run|judge FOLDER [TABLE …]``: ``FOLDER/data`` holds the files, ``FOLDER/house``
the warehouse, and ``FOLDER/broker``, where there is one, the address of a broker from which some of the tables read.
``refresh`` touches ``FOLDER/refreshing`` before its first REFRESH and ``FOLDER/refreshed`` after the last one. ``run``
touches ``FOLDER/refreshing`` when the tables run on, and lets them until it is killed. ``judge`` refreshes and drains,
does the same with twins that nobody killed, and writes to ``FOLDER/judgement.json`` how they differ.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from tests.recovery.scenery import FROM_KAFKA, SMALL, TABLES, TOPIC, compared, differences, stream, table, topic_stream
from tests.statements import rows_of
from warehouse.engine import Engine

CLOCK = ("_emitted_at", "_at")
ONE_FILE_A_STEP = ", maxFilesPerTrigger '1'"


def refresh(root: Path, names: list[str]) -> None:
    with Engine.open(root / "house", SMALL) as engine:
        _make(engine, root, "s")
        (root / "refreshing").touch()
        for name in names:
            rows_of(engine, f"REFRESH STREAMING TABLE {name}_s")
        (root / "refreshed").touch()


def run(root: Path, names: list[str]) -> None:
    with Engine.open(root / "house", SMALL) as engine:
        _make(engine, root, "s")
        for name in names:
            rows_of(engine, f"START STREAMING TABLE {name}_s EVERY INTERVAL 1 SECOND")
        (root / "refreshing").touch()
        while all(engine.tables.is_running(e) for e in engine.catalog.streaming_tables()):
            time.sleep(0.1)
        for name in names:
            rows_of(engine, f"STOP STREAMING TABLE {name}_s")  # tells why it has ended


def judge(root: Path, names: list[str]) -> None:
    with Engine.open(root / "house", SMALL) as engine:
        _make(engine, root, "u")
        for twin in "su":
            for name in names:
                rows_of(engine, f"REFRESH STREAMING TABLE {name}_{twin}")
        found = differences(engine, [n for n in names if n != "over"], CLOCK)
        if _broker(root):
            found += compared(engine, f"bad_rows('{TOPIC}_{{}}')", [*CLOCK, "_table"])
        for twin in "su":  # its steps follow from when plain's panes came: only where it ends is the same
            rows_of(engine, f"DRAIN STREAMING TABLE over_{twin}")
        ends = [sorted(map(str, rows_of(engine, f"SELECT * FROM over_{twin}"))) for twin in "su"]
        found += ["over: ends differently"] if ends[0] != ends[1] else []
        read = rows_of(engine, "SELECT sum(rows_in) AS n FROM stream_progress('plain_s')")[0]["n"]
        panes = rows_of(engine, "SELECT count(*) AS n FROM panes('fixed_s')")[0]["n"]
    (root / "judgement.json").write_text(json.dumps({"differences": found, "rows": read, "panes": panes}))


def _make(engine: Engine, root: Path, twin: str) -> None:
    """Make what is not there yet: a kill may have come in between."""
    known = {e.name for e in (*engine.catalog.streams(), *engine.catalog.streaming_tables())}
    broker = _broker(root)
    made = {twin: stream(twin, root / "data", ONE_FILE_A_STEP)}
    if broker:
        made[f"{TOPIC}_{twin}"] = topic_stream(twin, broker)
    made |= {f"{n}_{twin}": table(n, twin, f"{TOPIC}_{twin}" if broker and n in FROM_KAFKA else twin) for n in TABLES}
    for name, text in made.items():
        if name not in known:
            rows_of(engine, text)


def _broker(root: Path) -> str | None:
    return (root / "broker").read_text() if (root / "broker").exists() else None


if __name__ == "__main__":
    {"refresh": refresh, "run": run, "judge": judge}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3:] or list(TABLES))
