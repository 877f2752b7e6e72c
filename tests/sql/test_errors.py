# ruff: noqa: E501 - statements as users write them
"""What a user is told: each mistake gives a condition, a caret and a way out, and leaves nothing behind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from warehouse.errors import WarehouseError

if TYPE_CHECKING:
    from warehouse.engine import Engine

SETUP = """
CREATE SCHEMA mistakes;
USE mistakes;
CREATE STREAM plays (player STRING, team STRING, score INT, at TIMESTAMP)
  USING json OPTIONS (path '${data}/plays') WATERMARK at DELAY OF INTERVAL 10 SECONDS;
CREATE STREAM bare (player STRING, score INT, at TIMESTAMP) USING json OPTIONS (path '${data}/plays');
CREATE STREAM strict (player STRING, team STRING, score INT, at TIMESTAMP)
  USING json OPTIONS (path '${data}/broken') WATERMARK at DELAY OF INTERVAL 10 SECONDS ON ERROR FAIL;
CREATE STREAM sound (player STRING, score INT) USING json OPTIONS (path '${data}/plays') ON ERROR FAIL;
CREATE STREAM columns (id BIGINT, at TIMESTAMP) USING parquet OPTIONS (path '${data}/parquet');
CREATE TABLE teams (team STRING, city STRING) USING delta;
"""

WINDOW = "WINDOW FIXED (at, SIZE INTERVAL 10 MINUTES)"

CASES = {
    "misspelt window": "SELECT team, count(*) FROM STREAM plays GROUP BY team WINDOW FIXD (at, SIZE INTERVAL 10 MINUTES)",
    "watermark of no column": "SELECT count(*) FROM STREAM plays WATERMARK att DELAY OF INTERVAL 1 SECOND",
    "watermark of a text": "CREATE STREAMING TABLE t AS SELECT team FROM STREAM plays WATERMARK team DELAY OF INTERVAL 1 SECOND",
    "misspelt trigger": f"SELECT team, count(*) FROM STREAM plays GROUP BY team {WINDOW} TRIGER AT WATERMARK",
    "misspelt lateness": f"SELECT team, count(*) FROM STREAM plays GROUP BY team {WINDOW} ALLOWED LATENES INTERVAL 1 DAY",
    "window without a time": "SELECT team, count(*) FROM STREAM plays GROUP BY team WINDOW FIXED (SIZE INTERVAL 10 MINUTES)",
    "time of a wrong type": "SELECT team, count(*) FROM STREAM plays GROUP BY team WINDOW FIXED (score, SIZE INTERVAL 1 DAY)",
    "no such column": f"SELECT team,\n       sum(scoore)\nFROM STREAM plays\nGROUP BY team\n{WINDOW}",
    "key of no type": f"SELECT coalesce(NULL, NULL) AS k, count(*) FROM STREAM plays GROUP BY k {WINDOW}",
    "no such time column": "SELECT count(*) FROM STREAM plays WINDOW FIXED (ats, SIZE INTERVAL 10 MINUTES)",
    "column not grouped": f"SELECT player, count(*) FROM STREAM plays GROUP BY team {WINDOW}",
    "no such stream": f"SELECT count(*) FROM STREAM play {WINDOW}",
    "comment without an end": "SELECT count(*) /* of all FROM STREAM plays",
    "gap of zero": "SELECT count(*) FROM STREAM plays WINDOW SESSIONS (at, GAP INTERVAL 0 SECONDS)",
    "negative gap": "SELECT count(*) FROM STREAM plays WINDOW SESSIONS (at, GAP INTERVAL -5 MINUTES)",
    "lateness below nothing": f"SELECT count(*) FROM STREAM plays {WINDOW} ALLOWED LATENESS INTERVAL -1 DAY",
    "refresh of a stream": "REFRESH STREAMING TABLE plays",
    "misspelt switch": "SET warehouse.prunning = false",
    "gap of a month": "SELECT count(*) FROM STREAM plays WINDOW SESSIONS (at, GAP INTERVAL 1 MONTH)",
    "run every month": "START STREAMING TABLE t EVERY INTERVAL 1 MONTH",
    "every above size": "SELECT count(*) FROM STREAM plays WINDOW SLIDING (at, SIZE INTERVAL 5 MINUTES, EVERY INTERVAL 1 HOUR)",
    "every next to nothing": "SELECT count(*) FROM STREAM plays WINDOW SLIDING (at, SIZE INTERVAL 1 DAY, EVERY INTERVAL 1 MILLISECOND)",
    "size without interval": "SELECT count(*) FROM STREAM plays WINDOW FIXED (at, SIZE 10)",
    "trigger before window": f"SELECT count(*) FROM STREAM plays TRIGGER EVERY 5 ROWS {WINDOW}",
    "mode alone": "SELECT team, count(*) FROM STREAM plays GROUP BY team ACCUMULATING",
    "windows as in Flink": "SELECT tumble_start(at, INTERVAL 10 MINUTES), count(*) FROM teams GROUP BY tumble(at, INTERVAL 10 MINUTES)",
    "star": f"SELECT * FROM STREAM plays GROUP BY team {WINDOW}",
    "window function": f"SELECT team, sum(score) OVER (ORDER BY at) FROM STREAM plays GROUP BY team {WINDOW}",
    "folder missing": "CREATE STREAM lost (a INT) USING json OPTIONS (path '${data}/nowhere')",
    "name taken by a table": "CREATE STREAM teams (a INT) USING json OPTIONS (path '${data}/plays')",
    "name taken by a stream": "CREATE STREAM plays (a INT) USING json OPTIONS (path '${data}/plays')",
    "table over a stream's name": f"CREATE STREAMING TABLE plays AS SELECT count(*) AS n FROM STREAM plays {WINDOW}",
    "table over a table": f"CREATE STREAMING TABLE teams AS SELECT count(*) AS n FROM STREAM plays {WINDOW}",
    "never closes": "CREATE STREAMING TABLE t AS SELECT team, count(*) AS n FROM STREAM plays GROUP BY team",
    "never closes by trigger": "CREATE STREAMING TABLE t AS SELECT count(*) AS n FROM STREAM plays TRIGGER AT WATERMARK",
    "no watermark": f"CREATE STREAMING TABLE t AS SELECT count(*) AS n FROM STREAM bare {WINDOW}",
    "no stream": "CREATE STREAMING TABLE t AS SELECT team, count(*) AS n FROM teams GROUP BY team",
    "order by": "CREATE STREAMING TABLE t AS SELECT player FROM STREAM plays ORDER BY player",
    "limit": "CREATE STREAMING TABLE t AS SELECT player FROM STREAM plays LIMIT 3",
    "random": "CREATE STREAMING TABLE t AS SELECT player, rand() AS r FROM STREAM plays",
    "clock": "CREATE STREAMING TABLE t AS SELECT player, current_timestamp() AS now FROM STREAM plays",
    "order sensitive": f"CREATE STREAMING TABLE t AS SELECT collect_list(player) AS p FROM STREAM plays {WINDOW}",
    "join of streams": "CREATE STREAMING TABLE t AS SELECT a.player FROM STREAM plays AS a JOIN STREAM bare AS b ON a.player = b.player",
    "stream on the null side": "CREATE STREAMING TABLE t AS SELECT p.player FROM teams JOIN x LEFT JOIN STREAM plays AS p ON p.team = teams.team",
    "union": "CREATE STREAMING TABLE t AS SELECT player FROM STREAM plays UNION SELECT player FROM STREAM bare",
    "script": "BEGIN SELECT count(*) AS n FROM STREAM plays; END",
    "immediate": "EXECUTE IMMEDIATE 'SELECT * FROM panes(''x'')'",
    "broken record of a table": "SELECT score FROM STREAM strict",
    "broken record": f"CREATE STREAMING TABLE t AS SELECT count(*) AS n FROM STREAM strict {WINDOW}",
    "schema changed": "CREATE STREAMING TABLE t AS SELECT id FROM STREAM columns",
    "division by zero": "CREATE STREAMING TABLE t AS SELECT player,\n  score / 0 AS r\nFROM STREAM sound",
    "duplicate names": f"CREATE STREAMING TABLE t AS SELECT team, count(*) AS team FROM STREAM plays GROUP BY team {WINDOW}",
    "drop of what is not there": "DROP STREAMING TABLE nothing",
    "refresh of what is not there": "REFRESH STREAMING TABLE nothing",
    "panes of what is not there": "SELECT * FROM panes('nothing')",
    "statistics of a Delta table": "ANALYZE TABLE teams COMPUTE STATISTICS",
    "bad rows of what is not there": "SELECT * FROM bad_rows('play')",
    "not built": f"CREATE STREAMING TABLE t AS SELECT count(*) AS n FROM STREAM plays {WINDOW} UNION ALL SELECT count(*) FROM STREAM bare WINDOW GLOBAL",
    "never fires": f"SELECT count(*) FROM STREAM plays {WINDOW} TRIGGER AT WATERMARK AND NEVER",
    "repeat never": f"SELECT count(*) FROM STREAM plays {WINDOW} TRIGGER AFTER 3 ROWS THEN REPEAT NEVER",
    "percentile of zero": f"SELECT count(*) FROM STREAM plays {WINDOW} TRIGGER AT WATERMARK PERCENTILE 0",
    "percentile above": f"SELECT count(*) FROM STREAM plays {WINDOW} TRIGGER AT WATERMARK PERCENTILE 101",
    "size of a month": "SELECT count(*) FROM STREAM plays WINDOW FIXED (at, SIZE INTERVAL 1 MONTH)",
    "condition on no column": f"SELECT count(*) FROM STREAM plays {WINDOW} TRIGGER WHEN (scoore > 3)",
    "condition without truth": f"SELECT count(*) FROM STREAM plays {WINDOW} TRIGGER WHEN (score)",
    "condition that mixes": f"SELECT count(*) FROM STREAM plays {WINDOW} TRIGGER WHEN (sum(score) > score)",
    "nested aggregate": f"SELECT count(*) FROM STREAM plays {WINDOW} TRIGGER WHEN (sum(count(*)) > 3)",
    "random condition": f"CREATE STREAMING TABLE t AS SELECT count(*) AS n FROM STREAM plays {WINDOW} TRIGGER WHEN (count(*) > rand())",
    "random result": f"CREATE STREAMING TABLE t AS SELECT count(*) + rand() AS n FROM STREAM plays {WINDOW} RETRACTING",
    "random filter": f"CREATE STREAMING TABLE t AS SELECT count(*) AS n FROM STREAM plays WHERE score > 2 AND rand() < 0.5 {WINDOW}",
    "random inside": f"CREATE STREAMING TABLE t AS SELECT count(*) AS n FROM (SELECT at, uuid() AS id FROM STREAM plays) {WINDOW}",
    "random union": "CREATE STREAMING TABLE t AS SELECT player FROM STREAM plays UNION ALL SELECT concat(player, shuffle(array('a', 'b'))[0]) FROM STREAM bare",
    "random outside": f"CREATE STREAMING TABLE t AS SELECT 1 + rand() AS r FROM (SELECT count(*) AS n FROM STREAM plays {WINDOW}) AS w",
    "clock without brackets": "CREATE STREAMING TABLE t AS SELECT player, at < CURRENT_TIMESTAMP AS past FROM STREAM plays",
    "date": "CREATE STREAMING TABLE t AS SELECT player, datediff(CURRENT_DATE, at) AS days FROM STREAM plays",
    "now": f"CREATE STREAMING TABLE t AS SELECT count(*) AS n, now() FROM STREAM plays {WINDOW}",
    "name with a blank": f"CREATE STREAMING TABLE `st 1` AS SELECT count(*) AS n FROM STREAM plays {WINDOW}",
    "gap of a number": "SELECT count(*) FROM STREAM plays WINDOW SESSIONS (at, GAP score)",
    "trigger without aggregate": f"SELECT player FROM STREAM plays {WINDOW} TRIGGER EVERY 1 ROW",
    "lateness without aggregate": f"SELECT player FROM STREAM plays {WINDOW} ALLOWED LATENESS INTERVAL 1 HOUR",
    "offset per key without keys": "SELECT player FROM STREAM plays WINDOW FIXED (at, SIZE '1 hour', OFFSET PER KEY)",
    "session without aggregate": "CREATE STREAMING TABLE t AS SELECT * FROM STREAM plays WINDOW SESSIONS (at, GAP '1 hour')",
    "sessions of other keys": "CREATE STREAMING TABLE t AS SELECT team, count(*) AS n FROM SESSION(STREAM plays, DESCRIPTOR(at), '1 hour') GROUP BY team, window_start, window_end",
    "sessions of a join": "SELECT p.team FROM STREAM plays AS p JOIN teams ON p.team = teams.team WINDOW SESSIONS (at, GAP '1 hour')",
    "bound in where": f"SELECT team, count(*) FROM STREAM plays WHERE window_start > '2024-05-01' GROUP BY team {WINDOW}",
    "descriptor of no column": "SELECT team, count(*) FROM TUMBLE(STREAM plays, DESCRIPTOR(ats), '1 hour') GROUP BY team, window_start",
    "descriptor of no time": "SELECT * FROM TUMBLE(STREAM plays, DESCRIPTOR(score), '1 hour')",
    "hop above its size": "SELECT * FROM HOP(STREAM plays, DESCRIPTOR(at), '1 hour', '5 minutes')",
    "size of zero in a call": "SELECT team, window_start FROM TUMBLE(STREAM plays, DESCRIPTOR(at), INTERVAL 0 MINUTES) GROUP BY ALL",
    "name of a bound taken": "SELECT * FROM TUMBLE((SELECT at, score AS window_end FROM STREAM plays), DESCRIPTOR(at), '1 hour')",
    "grouping function of a month": "SELECT window.start FROM STREAM plays GROUP BY window(at, '1 month')",
    "error of Spark": "SELECT player\nFROM nosuchtable\nWHERE 1 = 1",
    "path that is not there": "SELECT * FROM delta.`/nowhere/at/all` VERSION AS OF 2",
    "syntax error of Spark": "SELECT player\nFRM teams",
    "error while it runs": "SELECT 1 / (id - 3) AS r\nFROM range(5)",
    "end too soon": "SHOW CREATE",
    "recursion over a stream": "CREATE STREAMING TABLE deep AS WITH RECURSIVE r(n) AS (SELECT score FROM STREAM plays UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r",
    "failure in another thread": "SELECT string_agg(DISTINCT team, ',') WITHIN GROUP (ORDER BY team), count(DISTINCT city) FROM teams",
}


@pytest.fixture(scope="module")
def data(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the folder of the data, with the streams made."""
    folder = tmp_path_factory.mktemp("mistakes")
    for name, text in {
        "plays": '{"player": "ann", "team": "red", "score": 3, "at": "2024-05-01T12:00:00Z"}\n',
        "broken": '{"player": "ann", "team": "red", "score": 3, "at": "2024-05-01T12:00:00Z"}\n{"player": "bob", "sc\n',
    }.items():
        (folder / name).mkdir()
        (folder / name / "a.json").write_text(text)
    (folder / "parquet").mkdir()
    pq.write_table(pa.table({"id": ["one"], "at": ["noon"]}), folder / "parquet" / "a.parquet")
    list(engine.run(SETUP.replace("${data}", str(folder))))
    yield folder
    list(engine.run("USE default"))


def what_exists(engine: Engine) -> tuple[object, ...]:
    tables = [row.tableName for row in engine.spark.sql("SHOW TABLES").collect()]
    ours = (engine.catalog.streams.all(), engine.catalog.streaming_tables.all(), engine.catalog.views.all())
    return (sorted(tables), *ours)


def shortened(text: str, folder: str) -> str:
    """Write ``${data}`` for the folder, which is called differently in each run, with as many carets as that has."""
    lines = text.split("\n")
    for number, (line, below) in enumerate(pairwise(lines), 1):
        at = line.find(folder)
        carets = re.search(r"\^+", below)
        if at >= 0 and carets and carets.start() <= at < carets.end():
            lines[number] = below[: carets.start()] + "^" * (len(carets[0]) - len(folder) + len("${data}"))
    return "\n".join(lines).replace(folder, "${data}")


def test_every_mistake(engine: Engine, data: Path, golden: Callable[[str, str], None]) -> None:
    told = []
    before = what_exists(engine)
    for name, sql in CASES.items():
        with pytest.raises(WarehouseError) as caught:
            for result in engine.run(sql.replace("${data}", str(data))):
                list(result.batches)
        text = shortened(caught.value.render(), str(data))
        assert "Traceback" not in text and "\tat " not in text and "py4j" not in text, text
        told.append(f"# {name}\n{text}\n")
        assert what_exists(engine) == before, f"{name}: something is left behind"
    golden("errors.txt", "\n".join(told))


@pytest.mark.parametrize(
    ("statement", "wrong"),
    [
        ("SELEC 1", "SELEC"),
        ("BEGIN SELECT 1; SELEC 2; END", "2"),
        ("CREATE STREAM dry (a INT) USING json OPTIONS (path 'no/such/folder')", "'no/such/folder'"),
    ],
)
def test_a_dry_run_tells_what_would_fail_before_it_runs(engine: Engine, statement: str, wrong: str) -> None:
    with pytest.raises(WarehouseError) as failed:
        engine.compile(f"SELECT :x, ?; {statement}")
    (told,) = failed.value.diagnostics
    assert failed.value.source and told.span and told.span.of(failed.value.source.text) == wrong
    assert "^" in failed.value.render()


def test_a_dry_run_takes_every_kind_of_statement(engine: Engine) -> None:
    engine.compile(
        "SET x.y = 1; SET; USE nowhere; DROP TABLE q; ADD JAR x; SET TIME ZONE 'UTC'; CACHE TABLE z; SHOW TABLES;"
        "EXECUTE IMMEDIATE 'SELECT 1'; FROM VALUES (1) |> SELECT col1; BEGIN DECLARE v INT = 1; SELECT v; END;"
        "CREATE TEMP VIEW dry AS SELECT 1 AS a; SELECT * FROM dry WHERE a = ? WINDOW FIXED (now(), SIZE INTERVAL 1 DAY)"
    )
