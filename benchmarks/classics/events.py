"""Lines of text, and what visitors of a site do with its advertisements; an event is a function of its number alone.

Half of the events are lines of about a hundred bytes, of fourteen words each: a few words are in most lines, most words
are in few, which the logarithm of a word's rank being uniform gives. The other half are views, clicks and purchases of
a thousand advertisements, ten to a campaign (Yahoo's streaming benchmark). A second of event time has a thousand of
either.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks import files

WORDS, IN_A_LINE, ADVERTISEMENTS, CAMPAIGNS = 10_000, 14, 1_000, 100

SCHEMAS = {
    "line": "text STRING, at TIMESTAMP",
    "visit": "visitor STRING, page STRING, advertisement INT, kind STRING, action STRING, at TIMESTAMP, address STRING",
}

_AT = "timestamp_micros(id * 1000) AS at"
_RANK = f"CAST(power({WORDS}, pmod(xxhash64(id, i), 1000000) / 1000000D) AS INT)"
_KINDS = {
    "line": (
        f"array_join(transform(sequence(1, {IN_A_LINE}), i -> concat('w', lpad({_RANK}, 5, '0'))), ' ') AS text",
        _AT,
    ),
    "visit": (
        "sha1(CAST(xxhash64(id, 1) AS STRING)) AS visitor",
        "md5(CAST(pmod(xxhash64(id, 2), 10000) AS STRING)) AS page",
        f"CAST(pmod(xxhash64(id, 3), {ADVERTISEMENTS}) AS INT) AS advertisement",
        "split('banner modal sponsored mail mobile', ' ')[pmod(xxhash64(id, 4), 5)] AS kind",
        "split('view click purchase', ' ')[pmod(xxhash64(id, 5), 3)] AS action",
        _AT,
        "concat_ws('.', 10, pmod(id, 256), pmod(xxhash64(id, 6), 256), pmod(xxhash64(id, 7), 256)) AS address",
    ),
}
"""By kind the select list of its columns."""


def write(spark: Any, folder: Path, events: int, count: int) -> None:
    """Write the events as Parquet, in ``line`` and ``visit``, so many files each, in the order of time."""
    each = events // len(_KINDS) // count
    for number in range(count):
        for kind, columns in _KINDS.items():
            numbered = spark.range(number * each, (number + 1) * each, 1, 1)
            files.write(numbered.selectExpr(*columns), folder / kind / f"{number:03}.parquet")
