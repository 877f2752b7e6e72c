"""A life on a small disk that fills up again and again.

Usage: ``python -m tests.recovery.full_disk refresh|run <disk> <data> <times> <seed> <broker>``; ``disk`` is the mount
point of an empty file system of 128 MB. Prints how often a table met it full and what it had written of its step by
then, and what stands in the end.

Under ``refresh`` the disk is full before a step begins, but for a random rest; under ``run`` the tables run on, and it
fills up at a random moment after rows have arrived. One table reads the files in ``data``, one the broker's topic.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import connector
from tests.broker import Broker
from tests.recovery.scenery import TOPIC
from tests.statements import rows_of
from warehouse.engine import Engine
from warehouse.errors import WarehouseError
from warehouse.streaming.log import step_log, table_folder

ROWS, LATE, BAD = 20_000, 50, 2
"""Of an arrival: rows that count, rows that are late from the third arrival on, and bad ones."""

COLUMNS = "(k INT, v INT, at TIMESTAMP)"
QUERY = """SELECT k, count(*) AS n, sum(v) AS total, window_start FROM STREAM {} WHERE v >= {} GROUP BY k
    WINDOW FIXED (at, SIZE INTERVAL 1 HOUR)"""
STANDS = "SELECT count(*) AS windows, sum(n) AS n, sum(total) AS total, sum(hash(k, window_start, n, total)) AS h"


def lines(number: int) -> list[str]:
    """Return an hour's rows, over keys most of which are new; those that come two hours late have values below 0."""
    rng = random.Random(number)
    late, value = (number - 2, -1) if number > 1 else (number, 0)
    rows = [{"k": rng.randrange(50_000), "v": n, "at": f"2026-01-01T{number:02}:{n % 60:02}:00Z"} for n in range(ROWS)]
    rows += [{"k": n, "v": value, "at": f"2026-01-01T{late:02}:00:00Z"} for n in range(LATE)]
    return [*map(json.dumps, rows), f'{{"k": "broken {number}', f'{{"k": {number}, "v": 0, "at": null}}']


@dataclass(frozen=True)
class Life:
    """An engine on the disk, its tables, and how what they read arrives.

    Attributes:
        tables: by the name of the stream that each reads.
    """

    engine: Engine
    disk: Path
    rng: random.Random
    tables: dict[str, str]
    arrive: Callable[[int], None]

    def refreshed(self, number: int) -> list[str]:
        """Fill the disk but for a random rest, let rows arrive, and refresh; return where tables met it full."""
        with self.filled(self.rng.randrange(4_000_000)):
            self.arrive(number)
            full = [table for table in self.tables.values() if self.met(f"REFRESH STREAMING TABLE {table}")]
        return [*map(self.reached, full)]

    def run_on(self, number: int) -> list[str]:
        """Let rows arrive and the disk fill up while tables run on; return where they met it full.

        Such a table has failed, and says so, until it is started again once there is room.
        """
        for table in self.tables.values():
            rows_of(self.engine, f"START STREAMING TABLE {table} EVERY INTERVAL 1 SECOND")
        self.arrive(number)
        time.sleep(self.rng.uniform(0.0, 3.0))
        with self.filled(self.rng.randrange(4_000_000)):
            deadline = time.monotonic() + 300
            while set(self.tables_that("running")) - self.tables_with((number + 1) * (ROWS + LATE + BAD)):
                assert time.monotonic() < deadline
                time.sleep(0.1)
            failed = self.tables_that("failed")
            for table in failed:
                told = str(rows_of(self.engine, f"DESCRIBE EXTENDED STREAMING TABLE {table}"))
                assert "failed: [WAREHOUSE_DISK_FULL] No space is left" in told, told
        full = [table for table in self.tables.values() if self.met(f"STOP STREAMING TABLE {table}")]
        assert set(full) >= set(failed)
        assert not self.tables_that("failed")
        return [*map(self.reached, full)]

    def reached(self, table: str) -> str:
        """Return what a table has written of the step that it is in, if it is in one."""
        (entry,) = (found for found in self.engine.catalog.streaming_tables.all() if found.name == table)
        log, folder = step_log(self.engine.folder, entry), table_folder(self.engine.folder, entry)
        step = log.last().step + 1
        if log.intent(step) is None:
            return "between steps"
        if rows_of(self.engine, f"SELECT 1 FROM delta.`{folder}/panes` WHERE _step = {step} LIMIT 1"):
            return "panes"
        return "delta" if (folder / "state" / f"delta-{step:09}" / "_SUCCESS").exists() else "intent"

    def tables_that(self, status: str) -> list[str]:
        """Return the tables of which SHOW says that they have a status."""
        return [r["tableName"] for r in rows_of(self.engine, "SHOW STREAMING TABLES") if r["status"] == status]

    def tables_with(self, rows: int) -> set[str]:
        """Return the tables that have read so many rows."""
        found = self.engine.catalog.streaming_tables.all()
        return {entry.name for entry in found if step_log(self.engine.folder, entry).last().read == rows}

    def met(self, statement: str) -> bool:
        """Say whether a statement met a full disk; it may meet nothing else."""
        try:
            rows_of(self.engine, statement)
        except WarehouseError as error:
            assert error.condition == "WAREHOUSE_DISK_FULL", error.render()
            return True
        return False

    @contextmanager
    def filled(self, rest: int) -> Iterator[None]:
        """Let no more than ``rest`` bytes be free for a while."""
        pad = self.disk / "pad"
        with pad.open("wb", buffering=0) as out, suppress(OSError):
            while True:
                out.write(b"0" * 65_536)
        with pad.open("r+b") as out:
            out.truncate(max(0, pad.stat().st_size - rest))
        try:
            yield
        finally:
            pad.unlink()

    def found(self) -> dict[str, dict[str, Any]]:
        """Return for each table what stands and what should, and how many rows there are of each kind."""
        return {table: self._found(stream, table) for stream, table in self.tables.items()}

    def _found(self, stream: str, table: str) -> dict[str, Any]:
        def one(text: str) -> Any:
            (row,) = rows_of(self.engine, text)
            return tuple(row.values()) if len(row) > 1 else next(iter(row.values()))

        return {
            "stands": one(f"{STANDS} FROM {table}"),
            "wanted": one(f"{STANDS} FROM ({QUERY.format(stream, 0)})"),
            "net": one(f"SELECT sum(if(_change_type = 'insert', n, -n)) AS n FROM panes('{table}')"),
            "read": one(f"SELECT sum(rows_in) AS n FROM stream_progress('{table}')"),
            "late": one(f"SELECT count(*) AS n FROM late_rows('{table}') WHERE v < 0"),
            "late in all": one(f"SELECT count(*) AS n FROM late_rows('{table}')"),
            "bad": one(f"SELECT count(*) AS n FROM bad_rows('{stream}')"),
        }


def main(act: str, disk: Path, data: Path, times: int, seed: int, servers: str) -> None:
    """Let rows arrive so many times, and the disk be full then; at last there is room."""

    def arrive(number: int) -> None:
        draft = data / f".{number:02}"
        draft.write_text("\n".join(lines(number)) + "\n")
        draft.rename(data / f"{number:02}.json")
        broker.transaction(TOPIC, *map(str.encode, lines(number)))

    broker, dice = Broker(servers), random.Random(seed)
    options = {
        "s": f"json OPTIONS (path '{data}', maxFilesPerTrigger '1')",
        "k": f"kafka OPTIONS (kafka.bootstrap.servers '{servers}', subscribe '{TOPIC}', value.format 'json',"
        f" reader '{dice.choice(connector.readers())}',"
        f" maxOffsetsPerTrigger '{len(lines(0)) + 1}')",
    }
    tables = {stream: f"t_{stream}" for stream in options}
    with Engine.open(disk / "warehouse", connector.settings()) as engine:
        arrive(0)
        for stream, table in tables.items():
            rows_of(
                engine,
                f"CREATE STREAM {stream} {COLUMNS} USING {options[stream]} WATERMARK at DELAY OF INTERVAL 1 SECOND;"
                f"CREATE STREAMING TABLE {table} AS {QUERY.format(stream, -1)} TRIGGER EVERY 1 ROWS RETRACTING"
                " ALLOWED LATENESS INTERVAL 1 SECOND",
            )
        life = Life(engine, disk, dice, tables, arrive)
        once = life.refreshed if act == "refresh" else life.run_on
        full = Counter(reached for number in range(1, times + 1) for reached in once(number))
        for table in tables.values():
            rows_of(engine, f"REFRESH STREAMING TABLE {table}")
        print(json.dumps({"full": full, "found": life.found()}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), sys.argv[6])
