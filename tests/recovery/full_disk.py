"""A life on a small disk that fills up again and again.

Usage: ``python -m tests.recovery.full_disk <disk> <data> <times> <seed>``; ``disk`` is the mount point of an
empty file system of 64 MB. Prints how often it was full and what stands in the end.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from tests.statements import rows_of
from warehouse.engine import Engine
from warehouse.errors import WarehouseError

ROWS = 20_000


def arrive(data: Path, number: int) -> None:
    """Write a file of an hour's rows, over keys most of which are new."""
    rng = random.Random(number)
    lines = ({"k": rng.randrange(50_000), "v": n, "at": f"2026-01-01T{number:02}:{n % 60:02}:00Z"} for n in range(ROWS))
    (data / f"{number:02}.json").write_text("".join(json.dumps(line) + "\n" for line in lines))


def main(disk: Path, data: Path, times: int, seed: int) -> None:
    """Fill the disk so many times but for a random rest, let rows arrive, make room, and go on."""
    rng, full = random.Random(seed), 0
    pad = disk / "pad"
    with Engine.open(disk / "warehouse") as engine:
        arrive(data, 0)
        rows_of(
            engine,
            f"CREATE STREAM s (k INT, v INT, at TIMESTAMP) USING json OPTIONS (path '{data}')"
            " WATERMARK at DELAY OF INTERVAL 1 SECOND;"
            "CREATE STREAMING TABLE t AS SELECT k, count(*) AS n, sum(v) AS total, window_start FROM STREAM s"
            " GROUP BY k WINDOW FIXED (at, SIZE INTERVAL 1 HOUR) TRIGGER EVERY 1 ROWS RETRACTING",
        )
        for number in range(1, times + 1):
            rest = rng.randrange(1_500_000)
            with pad.open("wb") as out:
                try:
                    while True:
                        out.write(b"0" * 65_536)
                        out.flush()
                except OSError:
                    pass
            with pad.open("r+b") as out:
                out.truncate(max(0, pad.stat().st_size - rest))
            arrive(data, number)
            try:
                rows_of(engine, "REFRESH STREAMING TABLE t")
            except WarehouseError as error:
                assert error.condition == "WAREHOUSE_DISK_FULL", error.render()
                full += 1
            pad.unlink()
        rows_of(engine, "REFRESH STREAMING TABLE t")
        stands = (
            "SELECT count(*) AS windows, sum(n) AS n, sum(total) AS total, sum(hash(k, window_start, n, total)) AS h"
        )
        answer = "SELECT k, count(*) AS n, sum(v) AS total, window_start FROM STREAM s GROUP BY k WINDOW FIXED"
        found = {
            "full": full,
            "stands": rows_of(engine, f"{stands} FROM t"),
            "wanted": rows_of(engine, f"{stands} FROM ({answer} (at, SIZE INTERVAL 1 HOUR))"),
            "net": rows_of(engine, "SELECT sum(if(_change_type = 'insert', n, -n)) AS n FROM panes('t')"),
            "read": rows_of(engine, "SELECT sum(rows_in) AS n FROM stream_progress('t')"),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
