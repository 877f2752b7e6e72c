"""An archive of loaded classes: a JVM that has one starts sooner, and takes its first steps sooner.

``python -m warehouse.cli.warm`` makes it, once, by running an engine through its usual work in a folder that is
thrown away (a minute, 250 MB beside the jars). Nothing needs it. Its name tells of Java and of the jars: when one of
them has changed there is none, until it is made anew.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from warehouse.engine import Engine, WarehouseError, archiving

BATCH = """
CREATE TABLE t (a INT, at TIMESTAMP, s STRING);
INSERT INTO t SELECT id, current_timestamp(), string(id % 7) FROM range(100);
SELECT s, count(*), sum(a), max(at) FROM t JOIN range(50) ON a = id WHERE a > 1 GROUP BY s ORDER BY s;
SELECT a, row_number() OVER (PARTITION BY s ORDER BY a) AS n FROM t WHERE a IN (SELECT id FROM range(9));
CREATE VIEW v AS SELECT s, collect_list(a) AS l FROM t GROUP BY s;
SELECT * FROM v;
CREATE TABLE d AS SELECT a % 5 AS k, s FROM t DISTRIBUTE BY k;
SELECT count(*) FROM d WHERE k = 3;
EXPLAIN SELECT count(*) FROM d WHERE k = 3
"""

STREAM = """
CREATE STREAM r (k STRING, v INT, at TIMESTAMP) USING json OPTIONS (path '{}') WATERMARK at DELAY OF INTERVAL 1 MINUTE;
CREATE STREAMING TABLE plain AS SELECT k, v + 1 AS w FROM STREAM r WHERE v > 1;
CREATE STREAMING TABLE early AS SELECT k, count(*) AS n, sum(v) AS total FROM STREAM r GROUP BY k
  WINDOW FIXED (at, SIZE INTERVAL 5 MINUTES) TRIGGER AT WATERMARK EARLY EVERY 2 ROWS RETRACTING;
CREATE STREAMING TABLE visits AS SELECT k, max(v) AS most FROM STREAM r GROUP BY k
  WINDOW SESSIONS (at, GAP INTERVAL 5 MINUTES);
CREATE STREAMING TABLE slid AS SELECT k, sum(v) AS total FROM STREAM r GROUP BY k
  WINDOW SLIDING (at, SIZE INTERVAL 10 MINUTES, EVERY INTERVAL 1 MINUTE)
"""

STEP = """
REFRESH STREAMING TABLE plain;
REFRESH STREAMING TABLE early;
REFRESH STREAMING TABLE visits;
REFRESH STREAMING TABLE slid;
SELECT * FROM early ORDER BY k;
SELECT * FROM panes('early');
SELECT * FROM stream_progress('early')
"""


def work(engine: Engine, rows: Path) -> None:
    """Do what engines do: batches, four kinds of streaming table, three steps of each."""
    rows.mkdir()

    def run(text: str) -> None:
        for result in engine.run(text):
            for _ in result.batches:
                pass

    run(BATCH)
    for step in range(3):
        lines = (f'{{"k": "{n % 5}", "v": {n}, "at": "2024-05-01T12:{step}{n % 10}:00Z"}}\n' for n in range(100))
        (rows / f"{step}.json").write_text("".join(lines))
        if step == 0:
            run(STREAM.format(rows))
        run(STEP)


def main() -> int:
    """Make the archive of this Java and these jars, unless it is there."""
    try:
        with archiving() as archive:
            if archive.exists():
                return 0
            print("warehouse: making the class archive (once, a minute) …", file=sys.stderr, flush=True)
            with tempfile.TemporaryDirectory(prefix="warehouse-") as name:
                folder = Path(name)
                with Engine.open(folder / "warehouse") as engine:
                    work(engine, folder / "rows")
    except WarehouseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
