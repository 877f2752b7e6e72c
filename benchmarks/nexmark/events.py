"""Nexmark's auction site: of fifty events one is a new person, three are new auctions, the rest are bids.

The shape is that of the Nexmark suites of Beam and Flink: half of the bids go to one of few hot auctions, three in four
come from hot bidders, as do three in four auctions from hot sellers; prices spread over six powers of ten. An event is
a function of its number alone, computed by Spark.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks import files

PERSONS, AUCTIONS, OF = 1, 3, 50
"""Of so many events, how many are persons and auctions."""
FIRST = 1_000
"""The id of the first person, and of the first auction."""
SECOND = 1_000
"""Events in a second of event time."""

SCHEMAS = {
    "person": "id BIGINT, name STRING, email STRING, credit_card STRING, city STRING, state STRING, at TIMESTAMP,"
    " extra STRING",
    "auction": "id BIGINT, item STRING, description STRING, initial_bid BIGINT, reserve BIGINT, at TIMESTAMP,"
    " expires TIMESTAMP, seller BIGINT, category BIGINT, extra STRING",
    "bid": "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, at TIMESTAMP, extra STRING",
}

_PLACES = "Boise:ID Portland:OR Seattle:WA Kent:WA Phoenix:AZ Cheyenne:WY Bend:OR Oakland:CA Fresno:CA Eugene:OR"
_NAMES = "Ada Ben Cleo Dan Eve Finn Gus Hal Ida Joe Kate Lou"
_FAMILIES = "Abrams Bartels Cox Jones Noris Shultz Smith Spencer Walton White"
_HOT = "Google Facebook Baidu Apple"


def write(spark: Any, folder: Path, events: int, count: int) -> None:
    """Write the events as Parquet, in ``person``, ``auction`` and ``bid``, so many files each, in the order of time."""
    each = events // count
    for number in range(count):
        numbered = spark.range(number * each, (number + 1) * each, 1, 1)
        known = numbered.selectExpr("id", *_known())
        for kind, (which, columns) in _KINDS.items():
            files.write(known.where(which).selectExpr(*columns), folder / kind / f"{number:03}.parquet")


def _drawn(below: int | str, salt: int) -> str:
    """Return SQL for a number from 0 to ``below``, not included."""
    return f"pmod(xxhash64(id, {salt}), {below})"


def _one_of(words: str, salt: int) -> str:
    listed = words.split()
    return f"element_at(array({', '.join(map(repr, listed))}), CAST({_drawn(len(listed), salt)} AS INT) + 1)"


def _known() -> tuple[str, ...]:
    """Return the select list of what events of all kinds are made from: turn, persons and auctions so far, …"""
    turn = f"id % {OF}"
    return (
        f"{turn} AS turn",
        f"id DIV {OF} + 1 AS persons",
        f"id DIV {OF} * {AUCTIONS} + least(greatest({turn} - {PERSONS - 1}, 0), {AUCTIONS}) AS auctions",
        f"timestamp_micros(id * {1_000_000 // SECOND}) AS at",
        f"CAST(power(10, {_drawn(6_000_000, 1)} / 1000000) * 100 AS BIGINT) AS price",
        f"substring(sha2(CAST(id AS STRING), 256), 1, 32 + {_drawn(32, 2)}) AS extra",
    )


def _hot(count: str, once: int, spread: int, salt: int) -> str:
    """Return SQL for an id: but for one in ``once`` that of a hot one, else one of the last ``spread``."""
    hot = f"({count} - 1) DIV 100 * 100"
    recent = f"{count} - 1 - pmod(xxhash64(id, {salt + 1}), least({count}, {spread}))"
    return f"{FIRST} + CASE WHEN {_drawn(once, salt)} > 0 THEN {hot} ELSE {recent} END"


_PLACE = _one_of(_PLACES, 4)
_KINDS = {
    "person": (
        f"turn < {PERSONS}",
        (
            f"{FIRST} + persons - 1 AS id",
            f"concat({_one_of(_NAMES, 5)}, ' ', {_one_of(_FAMILIES, 6)}) AS name",
            "concat(sha1(CAST(id AS STRING)), '@example.org') AS email",
            f"concat_ws(' ', {', '.join(f'lpad({_drawn(10_000, 7 + i)}, 4, 0)' for i in range(4))}) AS credit_card",
            f"split_part({_PLACE}, ':', 1) AS city", f"split_part({_PLACE}, ':', 2) AS state", "at", "extra",
        ),
    ),
    "auction": (
        f"turn BETWEEN {PERSONS} AND {PERSONS + AUCTIONS - 1}",
        (
            f"{FIRST} + auctions - 1 AS id", "concat('item ', auctions) AS item", "extra AS description",
            "price AS initial_bid", f"price + {_drawn(10_000, 11)} AS reserve", "at",
            f"timestamp_micros(unix_micros(at) + 1000000 + {_drawn(19_000_000, 12)}) AS expires",
            f"{_hot('persons', 4, 1_000, 13)} AS seller", f"10 + {_drawn(5, 15)} AS category", "extra",
        ),
    ),
    "bid": (
        f"turn >= {PERSONS + AUCTIONS}",
        (
            f"{_hot('auctions', 2, 100, 16)} AS auction", f"{_hot('persons', 4, 1_000, 18)} AS bidder", "price",
            f"CASE WHEN {_drawn(2, 20)} > 0 THEN {_one_of(_HOT, 21)}"
            f" ELSE concat('channel-', {_drawn(10_000, 22)}) END AS channel",
            f"concat('https://www.nexmark.example/', {_drawn(1_000, 23)}, '/',"
            f" {_drawn(1_000, 24)}, '/item.htm?query=1&channel_id=', {_drawn(10_000, 22)}) AS url",
            "at", "extra",
        ),
    ),
}  # fmt: skip
"""By kind: which numbers are of it, and the select list of its columns."""
