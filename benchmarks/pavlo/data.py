"""The two tables of Pavlo et al.: pages with their rank, and visits to them.

The columns are the benchmark's; the values are made by the engine itself, each from a hash of its row's number, so
that a scale and a seed give the same rows on any machine. Ranks are skewed (few pages rank high), visits favour
pages with low numbers. Addresses are as many as one in ``VISITS_PER_ADDRESS`` visits, so that the aggregation over them
has many groups at small scales too; their first seven characters give 1,024.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

PAGES = 180_000
"""Pages at scale 1."""

VISITS = 1_550_000
"""Visits at scale 1: the paper has 1.8 billion pages and 15.5 billion visits, so scale 10,000 is its size."""

VISITS_PER_ADDRESS = 6
DAYS = 365 * 3
"""Visits fall into so many days from 1999-01-01; the join asks for eight of them."""

TABLES = ("rankings", "uservisits")


def rankings(pages: int) -> str:
    """Return the query that gives the pages."""
    return (
        "SELECT concat('url_', id) AS pageURL,"
        " CAST(pow(10, pmod(xxhash64(id, 1), 1000000) / 1000000 * 4) AS INT) AS pageRank,"
        " CAST(1 + pmod(xxhash64(id, 2), 300) AS INT) AS avgDuration"
        f" FROM range(0, {pages}, 1, 4)"
    )


def uservisits(visits: int, pages: int) -> str:
    """Return the query that gives the visits."""
    address = f"pmod(xxhash64(pmod(xxhash64(id, 3), {max(1, visits // VISITS_PER_ADDRESS)}), 4), 4294967296)"
    return f"""SELECT
        concat_ws('.', 100 + address DIV 16777216 % 32, 100 + address DIV 65536 % 32,
                  address DIV 256 % 256, address % 256) AS sourceIP,
        concat('url_', CAST(floor(pow(pmod(xxhash64(id, 5), 1000000) / 1000000, 2) * {pages}) AS BIGINT)) AS destURL,
        date_add(DATE'1999-01-01', CAST(pmod(xxhash64(id, 6), {DAYS}) AS INT)) AS visitDate,
        CAST(pmod(xxhash64(id, 7), 100000) / 100 AS DECIMAL(9, 2)) AS adRevenue,
        concat('Mozilla/5.0 (', pmod(xxhash64(id, 8), 4000), ')') AS userAgent,
        element_at(array('USA', 'DEU', 'FRA', 'ITA', 'ESP', 'GBR', 'JPN', 'BRA'),
                   1 + CAST(pmod(xxhash64(id, 9), 8) AS INT)) AS countryCode,
        element_at(array('en', 'de', 'fr', 'it', 'es', 'ja', 'pt'),
                   1 + CAST(pmod(xxhash64(id, 10), 7) AS INT)) AS languageCode,
        concat('word', pmod(xxhash64(id, 11), 5000)) AS searchWord,
        CAST(1 + pmod(xxhash64(id, 12), 1000) AS INT) AS duration
    FROM (SELECT id, {address} AS address FROM range(0, {visits}, 1, 4))"""


def write(spark: Any, scratch: Path, scale: float) -> dict[str, Path]:
    """Write the tables as Parquet folders, once per scale and folder; return these by the tables' names."""
    pages, visits = max(1, int(PAGES * scale)), max(1, int(VISITS * scale))
    texts = {"rankings": rankings(pages), "uservisits": uservisits(visits, pages)}
    found = {name: scratch / f"pavlo-{scale:g}" / name for name in TABLES}
    for name, folder in found.items():
        if not (folder / "_SUCCESS").exists():
            spark.sql(texts[name]).write.mode("overwrite").parquet(str(folder))
    return found
