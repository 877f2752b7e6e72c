"""A warehouse's fact table of 103 columns with arrays and structs, and the four shapes of query asked most of it.

After the video-analytics company of Zaharia's dissertation (3.5.5): a row is a viewing session. Days follow each
other, as logs do, and customers' rows lie together within a day, so a day and a customer are few partitions. The
shapes: statistics in twelve dimensions of one customer's users on one day; sessions and distinct pairs of customer and
client by country, under eight filters; sessions and distinct users of all countries but two; statistics in seven
dimensions by one column, the greatest groups first. In memory, on disk, and on the same rows as Parquet files, with
the columns and partitions that were read beside the times; and by peers that have the files (``benchmarks.peers``).
All give the same answers as DuckDB.

Usage: ``python -m benchmarks video [--rows 1000000] [--days 30] [--rounds 6] [--peers "newcomer,tuned,…"]
[--scratch FOLDER]``. Writes ``benchmarks/out/video.{md,json}``.
"""

from __future__ import annotations

import re
import shutil

from benchmarks import arguments, peers, protocol, report, ways
from benchmarks.systems import HEAP, Duck, Warehouse, opened

CUSTOMERS = 40
COUNTRIES = ("US", "DE", "FR", "GB", "JP", "BR", "IN", "CA", "ES", "IT")
CONNECTIONS = ("cable", "fibre", "mobile", "satellite")
METRICS, COUNTERS, FLAGS, LABELS = 40, 28, 10, 8
WAYS = ("memory", "disk", "Parquet files")


def columns(rows: int, days: int) -> dict[str, str]:
    """Return the 103 columns with the expression of each, over ``id``: the row's number, in the order of time."""

    def pick(names: tuple[str, ...], seed: int) -> str:
        listed = ", ".join(f"'{name}'" for name in names)
        return f"element_at(array({listed}), 1 + CAST(pmod(xxhash64(id, {seed}), {len(names)}) AS INT))"

    each = max(1, rows // days)
    found = {
        "session": "id",
        "day": f"date_add(DATE'2026-01-01', CAST(id DIV {each} AS INT))",
        "customer": f"CAST((id % {each}) * {CUSTOMERS} DIV {each} AS INT)",
        "client": "pmod(xxhash64(id, 1), 50000)",
        "viewer": "pmod(xxhash64(id, 2), 200000)",
        "country": pick(COUNTRIES, 3),
        "city": "concat('city ', pmod(xxhash64(id, 4), 500))",
        "connection": pick(CONNECTIONS, 5),
        "provider": "concat('AS', pmod(xxhash64(id, 6), 300))",
        "device": "concat('device ', pmod(xxhash64(id, 7), 60))",
        "title": "concat('title ', pmod(xxhash64(id, 8), 20000))",
        "started": f"timestamp_seconds(1767225600 + (id DIV {each}) * 86400 + (id % {each}) * 86400 DIV {each})",
        "player": "named_struct('name', concat('player ', pmod(xxhash64(id, 9), 5)),"
        " 'version', CAST(pmod(xxhash64(id, 10), 40) AS INT))",
        "place": "named_struct('latitude', pmod(xxhash64(id, 11), 18000) / 100 - 90,"
        " 'longitude', pmod(xxhash64(id, 12), 36000) / 100 - 180)",
        "bitrates": "transform(sequence(0, CAST(pmod(xxhash64(id, 13), 6) AS INT)),"
        " x -> CAST(pmod(xxhash64(id, x), 8000) AS INT))",
        "errors": "transform(sequence(1, CAST(1 + pmod(xxhash64(id, 14), 2) AS INT)),"
        " x -> named_struct('code', CAST(pmod(xxhash64(id, x), 40) AS INT), 'fatal', pmod(xxhash64(id, x), 9) = 0))",
        "tags": "array(concat('tag ', pmod(xxhash64(id, 15), 30)), concat('tag ', pmod(xxhash64(id, 16), 30)))",
    }
    found |= {f"metric{n}": f"pmod(xxhash64(id, {100 + n}), 1000000) / 1000" for n in range(METRICS)}
    found |= {f"counter{n}": f"CAST(pmod(xxhash64(id, {200 + n}), 1000) AS INT)" for n in range(COUNTERS)}
    found |= {f"flag{n}": f"pmod(xxhash64(id, {300 + n}), {n + 2}) = 0" for n in range(FLAGS)}
    found |= {f"label{n}": f"concat('label ', pmod(xxhash64(id, {400 + n}), {10 * (n + 1)}))" for n in range(LABELS)}
    assert len(found) == 103
    return found


def queries(days: int) -> dict[str, str]:
    """Return the four shapes."""
    day = f"DATE'2026-01-{1 + days // 2:02}'"
    statistics = ", ".join(f"avg(metric{n}) AS m{n}, max(counter{n}) AS c{n}" for n in range(6))
    seven = ", ".join(f"sum(counter{n}) AS c{n}" for n in range(6))
    return {
        "one customer, one day": f"SELECT count(*) AS sessions, {statistics} FROM sessions"
        f" WHERE customer = 7 AND day = {day}",
        "eight filters": "SELECT country, count(*) AS sessions, count(DISTINCT customer, client) AS pairs FROM sessions"
        f" WHERE day >= {day} AND day < date_add({day}, 3) AND connection <> 'satellite' AND flag0 AND NOT flag5 AND"
        " metric0 > 100 AND counter1 < 900 AND player.version < 30 AND label0 <> 'label 3' GROUP BY country",
        "all but two countries": "SELECT count(*) AS sessions, count(DISTINCT viewer) AS viewers FROM sessions"
        " WHERE country NOT IN ('US', 'DE')",
        "top groups": f"SELECT city, count(*) AS sessions, {seven} FROM sessions WHERE day = {day} GROUP BY city"
        " ORDER BY sessions DESC LIMIT 20",
    }


def main(given: list[str]) -> int:
    """Run everything, print the tables and write them down."""
    parser = arguments.parser("video", __doc__, keeps_data=True)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--days", type=int, default=30)
    arguments.add_peers(parser)
    chosen = parser.parse_args(given)
    if not 1 <= chosen.days <= 31:
        parser.error("--days is a number from 1 to 31")
    asked = queries(chosen.days)
    folder, files = chosen.scratch / "video-warehouse", chosen.scratch / "video"
    shutil.rmtree(folder, ignore_errors=True)
    with opened(Warehouse.open(folder, {"memory": HEAP})) as system:
        made = ", ".join(f"{text} AS {name}" for name, text in columns(chosen.rows, chosen.days).items())
        frame = system.spark.sql(f"SELECT {made} FROM range(0, {chosen.rows}, 1, {chosen.days})")
        frame.write.mode("overwrite").parquet(str(files))
        told = {"memory": " TBLPROPERTIES ('cache' = 'true')", "disk": ""}
        for number, way in enumerate(WAYS):
            system.run(f"CREATE SCHEMA way{number}")
            spread = f"/*+ REPARTITION_BY_RANGE({chosen.days}, day, customer) */ " if way in told else ""
            text = f"sessions{told.get(way, '')} AS SELECT {spread}* FROM parquet.`{files}`"
            system.run(f"CREATE {'TABLE' if way in told else 'VIEW'} way{number}.{text}")
        every = {"sessions": files / "*.parquet"}
        with opened(Duck(every)) as duck:
            expected = {name: duck.run(_for_duck(text)) for name, text in asked.items()}
        beside = {name: peers.apart(peers.peer, name, every, _of_peer(name, asked), expected) for name in chosen.peers}
        runs, watched = ways.timed(system, asked, WAYS, expected, chosen.rounds, beside=beside)
        lines = []
        for (query, way), seen in watched.items():
            reading = seen.reading
            lines.append([query, way, sum(len(s.tasks) for s in reading), f"{sum(s.rows_read for s in reading):,}",
                          f"{sum(s.read for s in reading) / 1e6:.1f}"])  # fmt: skip
    text = "\n\n".join((
        f"{chosen.rows:,} sessions of 103 columns over {chosen.days} days: the median (least–greatest) of"
        f" {chosen.rounds - 1} runs; {protocol.machine()}. Every answer equals DuckDB's.",
        "Seconds by the clock:", protocol.compared(runs, "memory"),
        "Seconds in which cores were busy:", protocol.compared(runs, "memory", "cpu"),
        report.table(["", "", "tasks that read", "rows read", "MB read"], lines),
    ))  # fmt: skip
    report.keep("video", text, {"runs": runs, "read": lines})
    return 0


def _of_peer(name: str, asked: dict[str, str]) -> dict[str, str]:
    return {query: _for_duck(text) if "DuckDB" in name else text for query, text in asked.items()}


def _for_duck(text: str) -> str:
    """Return a query as DuckDB writes it: distinct pairs are distinct rows, and a date plus days a sum."""
    text = text.replace("count(DISTINCT customer, client)", "count(DISTINCT (customer, client))")
    return re.sub(r"date_add\((DATE'[0-9-]+'), (\d+)\)", r"(\1 + \2)", text)
