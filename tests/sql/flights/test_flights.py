"""Streaming tables over real flights equal the batch answer of the same SQL, however the files arrive.

Oracle: the statement's own SELECT, run ad hoc over all that has arrived, and for two of the tables plain Spark SQL
without any clause of ours. By default the first twelve days of 2013, in four files. ``FLIGHTS=year``
takes the whole year in twelve months, and every combination; ``FLIGHTS=days`` the whole year in 365 files as well.
"""

from __future__ import annotations

import os
import random
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sql import prepare

SIZE = os.environ.get("FLIGHTS", "small")
ARRIVALS = ("one", "twelve", "shuffled", *(("days",) if SIZE == "days" else ()))
LATENESS = timedelta(days=4)
"""More than the two days by which reports are shuffled, and the day that a flight's report may take."""

COLUMNS = """reported TIMESTAMP, scheduled TIMESTAMP, departed TIMESTAMP, carrier STRING, flight INT, tailnum STRING,
origin STRING, dest STRING, dep_delay INT, arr_delay INT, air_time INT, distance INT"""

WINDOWS = {
    "fixed": ("origin", "FIXED (departed, SIZE INTERVAL 1 HOUR)", "AT WATERMARK EARLY EVERY 1 ROW LATE EVERY 1 ROW"),
    "sliding": ("carrier", "SLIDING (departed, SIZE INTERVAL 24 HOURS, EVERY INTERVAL 1 HOUR)", "AT WATERMARK"),
    "sessions": ("tailnum", "SESSIONS (departed, GAP INTERVAL 6 HOURS)", "AT WATERMARK EARLY EVERY 1 ROW"),
    "global": ("dest", "GLOBAL", "EVERY 1 ROW"),
}
MODES = ("ACCUMULATING", "DISCARDING")
FEW = {
    "one": (),
    "twelve": (("fixed", "ACCUMULATING"),),
    "shuffled": (),
}
"""What the small size tries of the arrivals."""

ALL = tuple((kind, mode) for kind in WINDOWS for mode in MODES)
CASES = [
    (arrival, kind, mode) for arrival in ARRIVALS for kind, mode in (FEW.get(arrival, ALL) if SIZE == "small" else ALL)
]


def query(stream: str, kind: str, mode: str) -> str:
    key, window, trigger = WINDOWS[kind]
    more = ", avg(dep_delay) AS mean, max(distance) AS farthest, min(departed) AS first" if mode == MODES[0] else ""
    return f"""
        SELECT {key} AS k, window_start AS ws, window_end AS we, count(*) AS n, sum(dep_delay) AS delay{more}
        FROM STREAM {stream} WHERE departed IS NOT NULL GROUP BY {key}
        WINDOW {window} TRIGGER {trigger} {mode} ALLOWED LATENESS INTERVAL {LATENESS.days} DAYS"""


class Flights:
    """The engine, and streams whose files arrive in some way or other."""

    def __init__(self, engine: Any, folder: Path):
        self.engine, self.folder = engine, folder
        self.streamed = cache(self._streamed)

    def rows(self, text: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for result in self.engine.run(text):
            found = [row for batch in result.batches for row in batch.to_pylist()]
        return found

    def _streamed(self, arrival: str) -> str:
        """Let the files of ``arrival`` come in, with a REFRESH of its tables after each; return the stream's name."""
        stream, landing = f"flights_{arrival}", self.folder / arrival / "landing"
        landing.mkdir(parents=True)
        self.rows(
            f"CREATE STREAM {stream} ({COLUMNS}) USING csv OPTIONS (path '{landing}', header 'true')"
            " WATERMARK departed DELAY OF INTERVAL 2 HOURS"
        )
        chosen = [(kind, mode) for way, kind, mode in CASES if way == arrival]
        for number, file in enumerate(files(arrival, self.folder / arrival / "files")):
            file.rename(landing / file.name)
            for kind, mode in chosen:
                name = f"{stream}_{kind}_{mode}"
                made = f"CREATE STREAMING TABLE {name} AS {query(stream, kind, mode)}"
                self.rows(f"REFRESH STREAMING TABLE {name}" if number else made)
        for kind, mode in chosen:
            self.rows(f"DRAIN STREAMING TABLE {stream}_{kind}_{mode}")
        return stream

    def differences(self, streamed: str, batch: str) -> list[dict[str, Any]]:
        """Return some rows that one side has more often than the other."""
        return self.rows(
            f"WITH both AS (SELECT 1 AS side, struct(*) AS r FROM ({streamed}) UNION ALL"
            f" SELECT -1 AS side, struct(*) AS r FROM ({batch}))"
            " SELECT sum(side) AS surplus, r FROM both GROUP BY r HAVING surplus <> 0 ORDER BY to_json(r) LIMIT 5"
        )


@cache
def reports() -> prepare.Reports:
    found = prepare.reports(prepare.package())
    if SIZE != "small":
        return found
    stop = int(np.searchsorted(found.at, int((prepare.START + timedelta(days=12)).timestamp())))
    return prepare.Reports(found.rows.slice(0, stop), found.at[:stop])


def files(arrival: str, folder: Path) -> list[Path]:
    """Write the files of an arrival; return them in order."""
    found = reports()
    if arrival == "shuffled":
        return shuffled(found, folder)
    if arrival == "one":
        cuts = [("all", prepare.END + timedelta(days=3))]
    elif arrival == "twelve":
        cuts = prepare.daily_cuts(days=12)[2::3] if SIZE == "small" else prepare.monthly_cuts()
    else:
        cuts = prepare.daily_cuts()
    return prepare.write(found, cuts, folder)


def shuffled(found: prepare.Reports, folder: Path, seed: int = 7) -> list[Path]:
    """Write four files of reports, each made up to two days later than it was."""
    chance = random.Random(seed)
    at = found.at + np.array([chance.randrange(2 * prepare.DAY) for _ in found.at])
    order = np.argsort(at, kind="stable")
    parts = [prepare.Reports(found.rows.take(pa.array(part)), at[part]) for part in np.array_split(order, 4)]
    end = prepare.END + timedelta(days=9)
    return [prepare.write(part, [(f"part-{number}", end)], folder)[0] for number, part in enumerate(parts)]


@pytest.fixture(scope="module")
def flights(engine: Any, tmp_path_factory: pytest.TempPathFactory) -> Flights:
    return Flights(engine, tmp_path_factory.mktemp("flights"))


@pytest.mark.parametrize(("arrival", "kind", "mode"), CASES)
def test_stream_equals_batch(arrival: str, kind: str, mode: str, flights: Flights) -> None:
    """Accumulating: row for row. Discarding: the panes of a window together."""
    stream = flights.streamed(arrival)
    table = f"{stream}_{kind}_{mode}"
    streamed, batch = f"SELECT * FROM {table}", query(stream, kind, mode)
    if mode == "DISCARDING":
        # a session's panes have the bounds it had then: they count for the session that holds them
        inside = "t.ws >= b.ws AND t.we <= b.we" if kind == "sessions" else "t.ws <=> b.ws AND t.we <=> b.we"
        streamed = (
            f"SELECT b.k, b.ws, b.we, sum(t.n) AS n, sum(t.delay) AS delay FROM {table} AS t"
            f" LEFT JOIN ({batch}) AS b ON t.k <=> b.k AND {inside} GROUP BY ALL"
        )
    assert not flights.differences(streamed, batch)
    assert flights.rows(f"SELECT count(*) AS n FROM late_rows('{table}')") == [{"n": 0}]
    assert flights.rows(f"SELECT count(*) AS n FROM {table}")[0]["n"] > 0


@pytest.mark.parametrize(
    ("kind", "plain"),
    [
        ("fixed", "origin, date_trunc('HOUR', departed), date_trunc('HOUR', departed) + INTERVAL 1 HOUR"),
        ("global", "dest, CAST(NULL AS TIMESTAMP), CAST(NULL AS TIMESTAMP)"),
    ],
)
def test_batch_equals_plain_sql(kind: str, plain: str, flights: Flights) -> None:
    """The batch answer, on which the tests above lean, is that of Spark without our clauses."""
    stream = flights.streamed("one")
    spark = (
        f"SELECT {plain}, count(*), sum(dep_delay), avg(dep_delay), max(distance), min(departed)"
        f" FROM STREAM {stream} WHERE departed IS NOT NULL GROUP BY 1, 2, 3"
    )
    assert not flights.differences(query(stream, kind, MODES[0]), spark)


@pytest.mark.parametrize("mode", [mode for way, kind, mode in CASES if (way, kind) == ("twelve", "fixed")])
def test_late_reports_correct_hours(mode: str, flights: Flights) -> None:
    """Reports really are out of order: some hours were emitted when open, when complete, and again after that."""
    table = f"{flights.streamed('twelve')}_fixed_{mode}"
    found = flights.rows(f"SELECT DISTINCT _pane_timing AS timing FROM panes('{table}') ORDER BY 1")
    assert [row["timing"] for row in found] == ["EARLY", "LATE", "ON_TIME"]


def test_instants_agree_with_the_recorded_clocks() -> None:
    """Landing minus departure is the time in the air and some on the ground, over both changes of the clocks."""
    rows = prepare.reports(prepare.package()).rows.to_pydict()
    assert len(rows["reported"]) == 336_776
    assert rows["reported"] == sorted(rows["reported"])
    assert sum(departed is None for departed in rows["departed"]) == 8_255
    grounds = [
        (np.datetime64(landed[:-1]) - np.datetime64(departed[:-1])).astype(int) // 60 - air
        for landed, departed, air in zip(rows["reported"], rows["departed"], rows["air_time"], strict=True)
        if departed and air
    ]
    assert min(grounds) > 0
    assert max(grounds) < 240
