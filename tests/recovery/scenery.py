"""What the recovery tests run: the streams, their files, and the tables that are killed beside those that are not.

Every table is there twice over the same files: the one that is disturbed (``_s``), and its twin (``_u``).
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests import connector
from tests.statements import rows_of

SMALL = {"memory": "1g", "cores": "2", "spark.sql.shuffle.partitions": "1"}
BEGAN = 1_704_067_200  # 2024-01-01, in seconds

TABLES = {
    "fixed": """SELECT k, sum(v) AS total, count(*) AS n, window_start FROM STREAM {s} GROUP BY k
        WINDOW FIXED (ts, SIZE INTERVAL 1 MINUTE) TRIGGER AT WATERMARK EARLY EVERY 9 ROWS LATE EVERY 1 ROW
        ACCUMULATING ALLOWED LATENESS INTERVAL 1 MINUTE""",
    "sessions": """SELECT k, avg(x) AS mean, count(*) AS n, window_start, window_end FROM STREAM {s} GROUP BY k
        WINDOW SESSIONS (ts, GAP INTERVAL 10 SECONDS) TRIGGER AT WATERMARK EARLY EVERY 2 ROWS
        DISCARDING ALLOWED LATENESS INTERVAL 1 MINUTE""",
    "sliding": """SELECT k, sum(v) AS total, max(x) AS most, count(*) AS n, window_start FROM STREAM {s} GROUP BY k
        WINDOW SLIDING (ts, SIZE INTERVAL 1 MINUTE, EVERY INTERVAL 20 SECONDS)
        RETRACTING ALLOWED LATENESS INTERVAL 1 MINUTE""",
    "plain": "SELECT k, v, x, ts FROM STREAM {s} WHERE v > 0",
    "over": """SELECT k, sum(v) AS total, window_start FROM STREAM plain_{u} WATERMARK ts DELAY OF INTERVAL 10 SECONDS
        GROUP BY k WINDOW FIXED (ts, SIZE INTERVAL 2 MINUTES) TRIGGER AT WATERMARK EARLY EVERY 1 ROW
        ACCUMULATING ALLOWED LATENESS UNBOUNDED""",
}


def stream(name: str, data: Path, options: str = "") -> str:
    return (
        f"CREATE STREAM {name} (k STRING, v INT, x DOUBLE, ts TIMESTAMP) USING json"
        f" OPTIONS (path '{data}'{options}) WATERMARK ts DELAY OF INTERVAL 10 SECONDS"
    )


READ_BY = {"sessions": "python", "plain": "spark"}
"""Where there is a broker: the tables that read the topic (and ``over``, by way of ``plain``), and by which reader."""
TOPIC = "readings"
SENT_ON, SPREAD = "fixed", "sliding"
"""Where there is a broker: the table whose panes are sent on to it, and the one whose panes are distributed."""


def topic_streams(twin: str, servers: str) -> dict[str, str]:
    """Return what makes the streams of the topic, by name: a step takes what one call of ``send`` has sent."""
    made = {}
    for reader in READ_BY.values():
        there = reader if reader in connector.readers() else "python"
        made[topic_stream(reader, twin)] = (
            f"CREATE STREAM {topic_stream(reader, twin)} (k STRING, v INT, x DOUBLE, ts TIMESTAMP) USING kafka OPTIONS"
            f" (kafka.bootstrap.servers '{servers}', subscribe '{TOPIC}', value.format 'json', reader '{there}',"
            f" maxOffsetsPerTrigger '{len(records(0)) + 1}') WATERMARK ts DELAY OF INTERVAL 10 SECONDS"
        )
    return made


def topic_stream(reader: str, twin: str) -> str:
    """Return the name of the topic's stream for a reader."""
    return f"{TOPIC}_{reader}_{twin}"


def table(name: str, twin: str, servers: str | None = None) -> str:
    """Return what makes a table: over files, or as ``READ_BY``, ``SENT_ON`` and ``SPREAD`` say."""
    source = topic_stream(READ_BY[name], twin) if servers and name in READ_BY else twin
    query, properties = TABLES[name].format(s=source, u=twin), ""
    if servers and name == SENT_ON:
        properties = f" TBLPROPERTIES ('kafka.bootstrap.servers' = '{servers}', 'kafka.topic' = '{sent(twin)}')"
    if servers and name == SPREAD:
        query, properties = f"{query} DISTRIBUTE BY k", " TBLPROPERTIES ('partitions' = '2')"
    return f"CREATE STREAMING TABLE {name}_{twin}{properties} AS {query}"


def sent(twin: str) -> str:
    """Return the topic that gets the panes of ``SENT_ON``."""
    return f"sent_{twin}"


def records(number: int, count: int = 24) -> list[str]:
    """Return the lines of file ``number``: a minute each, out of order, some late, one untimed, one broken."""
    dice = random.Random(number)
    lines = []
    for _ in range(count):
        moment = BEGAN + 60 * number + dice.randrange(60) - (dice.choice((90, 240)) if dice.random() < 0.2 else 0)
        lines.append(_line(dice.choice("abc"), dice.randrange(-1, 9), dice.random(), moment))
    return [*lines, _line("a", number, 0.1, None), f'{{"k": "broken {number}']


def _line(key: str, value: int, fraction: float, moment: int | None) -> str:
    return json.dumps({"k": key, "v": value, "x": fraction, "ts": moment and _text(moment)})


def _text(seconds: int) -> str:
    day = seconds - BEGAN
    return f"2024-01-01 {day // 3600:02}:{day // 60 % 60:02}:{day % 60:02}" if day >= 0 else "2023-12-31 23:55:00"


def write(folder: Path, number: int) -> None:
    """Let file ``number`` arrive: whole at once, and later than those before it."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{number}"
    draft.write_text("\n".join(records(number)) + "\n")
    os.utime(draft, (BEGAN + number, BEGAN + number))
    draft.rename(folder / f"{number:05}.json")


def send(broker: Any, number: int) -> None:
    """Send what file ``number`` holds to the topic: all of it is there at once, with the mark of its transaction."""
    broker.transaction(TOPIC, *(line.encode() for line in records(number)))


def differences(engine: Any, names: Sequence[str], unlike: Sequence[str] = ()) -> list[str]:
    """Return what tells the disturbed tables from their twins: in ``t``, its panes and late rows, and bad rows.

    Args:
        engine: open.
        names: of tables.
        unlike: columns that may differ (the machine's clock, where it is not the test's).
    """
    found: list[str] = []
    for name in names:
        relations = ["{}", "panes('{}')", "late_rows('{}')"]
        for relation in relations[:2] if name == "plain" else relations:
            found += compared(engine, relation.format(name + "_{}"), unlike)
    found += compared(engine, "bad_rows('{}')", [*unlike, "_table"])
    return found


def compared(engine: Any, relation: str, unlike: Sequence[str] = ()) -> Iterator[str]:
    """Yield what tells the rows of a relation of the disturbed table from its twin's."""
    one, other = (_texts(engine, relation.format(twin), unlike) for twin in "su")
    yield from (f"{relation}: {row} is missing" for row in (other - one).elements())
    yield from (f"{relation}: {row} should not be there" for row in (one - other).elements())


def _texts(engine: Any, relation: str, unlike: Sequence[str]) -> Counter[str]:
    found = rows_of(engine, f"SELECT * FROM {relation}")
    return Counter(str({k: v for k, v in row.items() if k not in unlike}) for row in found)
