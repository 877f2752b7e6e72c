"""A year of flights through windowed, triggered, correctable SQL: what ``make demo`` runs.

Everything it makes lies in ``demo-data``. It starts from nothing each time, but for the files of reports: the
stories below are told from the first report on, and a year that has been drained takes no more rows.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import prepare  # noqa: E402
import show  # noqa: E402

from warehouse.cli.interrupts import Interrupts  # noqa: E402
from warehouse.engine import Engine, WarehouseError  # noqa: E402
from warehouse.project.files import load_files, load_settings  # noqa: E402
from warehouse.project.graph import project_of  # noqa: E402
from warehouse.project.runs import run_unit  # noqa: E402

DATA = Path("demo-data")
LANDING = DATA / "landing" / "flights"
PROJECT = HERE / "project"
TABLES = ("departures", "aircraft_sessions", "carrier_delay", "weather_hours", "weather_year", "cancelled")
"""The project's streaming tables, each after those that it reads."""
WINDOWED = TABLES[:-1]
FIRST_DAY = len(prepare.first_day_cuts())
"""How many of the files tell the first day."""
FIRST_FILES = ("flights.sql", "departures.sql")
"""What of the project the first day needs."""
MONTHS_AT_ONCE = 4


class Demo:
    """An open warehouse and the files that are still to come."""

    def __init__(self, engine: Engine, files: list[Path], interrupts: Interrupts):
        self.engine, self.files, self.interrupts = engine, files, interrupts
        self.newest = prepare.START
        self.seconds = 0.0

    # ------------------------------------------------------------------ asking

    def run(self, text: str) -> list[dict[str, Any]]:
        """Run statements and return the rows of the last one."""
        rows: list[dict[str, Any]] = []
        begun = time.monotonic()
        with self.interrupts.cancelling(self.engine.cancel):
            for result in self.engine.run(text):
                rows = [row for batch in result.batches for row in batch.to_pylist()]
        self.seconds = time.monotonic() - begun
        return rows

    def ask(self, text: str) -> None:
        """Print a query and its answer."""
        show.code(text)
        rows = self.run(text)
        show.table(list(rows[0]) if rows else ["nothing"], [list(row.values()) for row in rows])

    def arrive(self, count: int) -> None:
        """Let the next files arrive."""
        for file in self.files[:count]:
            # under a hidden name first: a reader sees the whole file or none of it
            shutil.copyfile(file, LANDING / f".{file.name}")
            os.replace(LANDING / f".{file.name}", LANDING / file.name)
            self.newest = prepare.last_report(file)
        del self.files[:count]

    def changes(self, names: tuple[str, ...], since: dict[str, int]) -> list[dict[str, Any]]:
        """Return one row per table and step after those in ``since``: what came in and what went out."""
        parts = [
            f"SELECT {number} AS place, '{name}' AS table, * FROM stream_progress('{name}')"
            f" WHERE step > {since.get(name, 0)}"
            for number, name in enumerate(names)
        ]
        rows = self.run(" UNION ALL ".join(parts) + " ORDER BY place, step")
        since |= {row["table"]: row["step"] for row in rows}
        return rows

    def behind(self, watermark: Any) -> str:
        """Return how far a watermark is behind the newest report."""
        if watermark is None or watermark.year == 9999:
            return "-"
        return show.span(self.newest - watermark)

    # ------------------------------------------------------------------ the stories

    def create(self, chosen: Callable[[str], bool]) -> None:
        """Run the chosen files of the project, in the order in which they need each other."""
        project = project_of(load_files(PROJECT, load_settings(PROJECT)))
        made = []
        for unit in project.units:
            if not chosen(str(unit.file.path)):
                continue
            begun = time.monotonic()
            with self.interrupts.cancelling(self.engine.cancel):
                for _ in run_unit(unit, self.engine):
                    pass
            names = [m.name for m in unit.makes if not m.name.endswith("_csv")]
            kind = unit.makes[-1].kind + ("s" if len(names) > 1 else "")
            made.append((f"sql/project/{unit.file.path}", f"{kind} {', '.join(names)}", time.monotonic() - begun))
        show.table(("file", "makes", "seconds"), made)

    def first_day(self, since: dict[str, int]) -> None:
        """Read one day, two hours at a time, and look at one of its hours."""
        newest = [self.newest]
        for _ in range(1, FIRST_DAY):
            self.arrive(1)
            self.run("REFRESH STREAMING TABLE departures")
            newest.append(self.newest)
        rows = [
            (
                at, r["rows_in"], r["panes_early"], r["panes_on_time"], r["panes_late"], r["watermark"],
                show.span(at - r["watermark"]), r["seconds"],
            )
            for at, r in zip(newest, self.changes(("departures",), since), strict=True)
        ]  # fmt: skip
        names = ("newest report", "rows in", "early", "on time", "late", "watermark", "behind by", "seconds")
        show.table(names, rows)


def panes_of_one_window(demo: Demo) -> None:
    """Show the panes of the hour that changed most often."""
    (found,) = demo.run(
        "SELECT origin, hour FROM panes('departures') GROUP BY origin, hour"
        " ORDER BY count(DISTINCT _pane_timing) DESC, count(*) DESC, hour, origin LIMIT 1"
    )
    show.say(
        "One of these hours, pane by pane: what stood while it was open, when the watermark reached its end, and "
        "what each late report made of it."
    )
    print()
    demo.ask(
        "SELECT _pane_index AS pane, _pane_timing AS timing, flights, mean_delay, worst_delay, _watermark AS watermark"
        "\nFROM panes('departures')"
        f"\nWHERE origin = '{found['origin']}' AND hour = TIMESTAMP '{found['hour']:%Y-%m-%d %H:%M:%S}'"
    )


def the_year(demo: Demo, since: dict[str, int]) -> None:
    """Read the months, some at a time, into every table."""
    first = True
    while demo.files:
        months = [file.stem for file in demo.files[:MONTHS_AT_ONCE]]
        demo.arrive(MONTHS_AT_ONCE)
        print(f"\n{months[0]} to {months[-1]} arrive.")
        begun = time.monotonic()
        if first:
            demo.create(lambda file: file not in FIRST_FILES)
        for name in TABLES[:1] if first else TABLES:
            demo.run(f"REFRESH STREAMING TABLE {name}")
        first, taken = False, time.monotonic() - begun
        rows = [
            (
                r["table"], r["rows_in"], r["panes_early"], r["panes_on_time"], r["panes_late"], r["late"],
                r["watermark"], demo.behind(r["watermark"]), r["seconds"],
            )
            for r in demo.changes(TABLES, since)
        ]  # fmt: skip
        names = ("table", "rows in", "early", "on time", "late", "late rows", "watermark", "behind by", "seconds")
        show.table(names, rows)
        print(f"{show.MARGIN}{sum(r[1] for r in rows):,} rows in {taken:.1f} s")


def drain(demo: Demo, since: dict[str, int]) -> None:
    """Close every window."""
    for name in TABLES:
        demo.run(f"DRAIN STREAMING TABLE {name}")
    rows = [
        (r["table"], r["rows_in"], r["panes_early"], r["panes_on_time"], r["panes_late"], r["watermark"], r["seconds"])
        for r in demo.changes(WINDOWED, since)
    ]
    show.table(("table", "rows in", "early", "on time", "late", "watermark", "seconds"), rows)


QUERIES = (
    (
        "Which weather costs how much, and on which aircraft?",
        """
SELECT sky, aircraft, sum(flights) AS flights, sum(delay) / sum(flights) AS mean_delay
FROM weather_hours WHERE aircraft <> 'unknown' GROUP BY sky, aircraft ORDER BY mean_delay DESC LIMIT 6""",
    ),
    (
        "The worst 24 hours of the five carriers that had the worst, with at least 100 flights in them.",
        """
SELECT name, max_by(at, mean_delay) AS until, max_by(flights, mean_delay) AS flights, max(mean_delay) AS mean_delay
FROM carrier_delay JOIN airlines USING (carrier) WHERE flights >= 100 GROUP BY name ORDER BY mean_delay DESC LIMIT 5""",
    ),
    (
        "Which aircraft were busiest without six hours of rest?",
        """
SELECT tailnum, manufacturer, model, first_departure, last_departure, flights, miles
FROM aircraft_sessions LEFT JOIN planes USING (tailnum) ORDER BY flights DESC, miles DESC, tailnum LIMIT 5""",
    ),
)


# ------------------------------------------------------------------ the proof


def query_of(name: str) -> str:
    """Return the SELECT of a streaming table as its file has it."""
    text = (PROJECT / f"{name}.sql").read_text(encoding="utf-8")
    found = re.search(rf"CREATE STREAMING TABLE IF NOT EXISTS {name} AS\n(.*?);", text, re.DOTALL)
    assert found, name
    return found[1]


def compare(demo: Demo) -> bool:
    """Run every table's own SELECT as a batch over all reports and compare, row by row."""
    rows, equal = [], True
    columns = ", ".join(c["col_name"] for c in demo.run("DESCRIBE STREAM flights") if c["data_type"])
    for name in TABLES:
        query, streamed, note = query_of(name), f"SELECT * FROM {name}", ""
        if name == "weather_hours":
            query = query.replace(
                "STREAM flights AS f",
                f"(SELECT * FROM STREAM flights EXCEPT ALL SELECT {columns} FROM late_rows('weather_hours')) AS f",
            )
            streamed = f"SELECT sky, aircraft, hour, sum(flights), sum(delay) FROM {name} GROUP BY ALL"
            note = "but for late rows"
        begun = time.monotonic()
        # What EXCEPT ALL both ways would find, in one pass: equal rows, counted with the sign of their side.
        (found,) = demo.run(
            "SELECT sum(streamed) AS streamed, sum(batch) AS batch, count_if(streamed > batch) AS only_streamed,"
            " count_if(batch > streamed) AS only_batch"
            f" FROM (SELECT r, count_if(side) AS streamed, count_if(NOT side) AS batch FROM"
            f" (SELECT true AS side, struct(*) AS r FROM ({streamed})"
            f" UNION ALL SELECT false AS side, struct(*) AS r FROM ({query})) GROUP BY r)"
        )
        same = not found["only_streamed"] and not found["only_batch"]
        equal = equal and same
        rows.append((name, *found.values(), "equal" if same else "NOT EQUAL", note, time.monotonic() - begun))
    names = ("table", "streamed", "batch", "only streamed", "only batch", "", "", "seconds")
    show.table(names, rows)
    return equal


# ------------------------------------------------------------------ running it


def tell(files: list[Path], interrupts: Interrupts) -> bool:
    """Run the whole demo; say whether stream and batch agree."""
    begun = time.monotonic()
    with Engine.open(DATA / "warehouse") as engine:
        print(f"Engine open after {time.monotonic() - begun:.1f} s.", flush=True)
        demo, since = Demo(engine, files, interrupts), {}
        demo.arrive(1)
        show.title("1  One day, two hours at a time")
        show.say(
            "A flight is reported when it lands and counts in the hour in which it departed: reports are out of order "
            "by as long as flights last. Each REFRESH reads the reports of two hours and emits panes: early ones of "
            "hours that are open, one when the watermark passes an hour, late ones when a report corrects it."
        )
        demo.create(lambda file: file in FIRST_FILES)
        demo.first_day(since)
        panes_of_one_window(demo)
        show.title("2  The year, four months at a time")
        show.say(
            "Now the other tables, too: sessions of each aircraft, the last 24 hours of each carrier, flights joined "
            "with weather and aircraft (DISCARDING), a table over that one, and the cancelled flights. Early, on time "
            "and late are panes; late rows came after the lateness that their table allows and are in late_rows('t'). "
            "Behind by: from the watermark to the newest report; stream_progress('t') has the skew against the clock "
            "on the wall, which for flights of 2013 is years."
        )
        the_year(demo, since)
        show.title("3  The year is over: DRAIN")
        show.say("DRAIN moves the watermark to the end of time: what is still open closes, and nothing is left out.")
        drain(demo, since)
        show.title("4  Three questions")
        for question, query in QUERIES:
            show.say(question)
            demo.ask(query)
        show.title("5  The same SQL, as a batch")
        show.say(
            "Every table's own SELECT once more, as one batch over all reports, compared row by row. Where late rows "
            "were set aside the batch leaves out exactly those; of a DISCARDING table the panes are added up."
        )
        return compare(demo)


@contextmanager
def alone() -> Iterator[None]:
    """Hold ``demo-data`` for this process.

    Raises:
        SystemExit: another demo runs.
    """
    DATA.mkdir(exist_ok=True)
    with (DATA / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SystemExit("Another demo is running in this folder.") from None
        yield


def main() -> int:
    """Run the demo; return the exit code."""
    os.chdir(HERE.parent)
    interrupts, begun = Interrupts(), time.monotonic()
    try:
        with alone():
            for folder in (DATA / "warehouse", DATA / "landing"):
                shutil.rmtree(folder, ignore_errors=True)
            LANDING.mkdir(parents=True)
            files = prepare.prepare(DATA)
            print(f"Reports of a year in {len(files)} files: {time.monotonic() - begun:.1f} s.", flush=True)
            equal = tell(files, interrupts)
            verdict = "Stream and batch agree" if equal else "Stream and batch DIFFER"
            print(f"{verdict}. The whole demo took {time.monotonic() - begun:.0f} s.")
            print(f"Ask on: warehouse-sql --warehouse {DATA}/warehouse -e 'SHOW STREAMING TABLES'")
            return 0 if equal else 1
    except WarehouseError as error:
        if not interrupts.happened:
            print(error.render(), file=sys.stderr)
            return 1
    except KeyboardInterrupt:
        pass
    except OSError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 2
    print("\ncancelled; `make demo` starts again from nothing", file=sys.stderr)
    return 130


if __name__ == "__main__":
    sys.exit(main())
