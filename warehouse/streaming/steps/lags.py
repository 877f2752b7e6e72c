"""How far rows lag behind the newest one: what AT WATERMARK PERCENTILE p knows of the recent past.

The faster watermark trusts the best p percent of recent rows to be on time: it stands where p percent of them
had come when it got there. A step reads the lags of its rows at some levels, p among them, in the pass that groups
the rows anyway. They are kept in buckets whose width grows with the lag (eight per doubling, the bucket's upper end
counts, so the answer errs on the side of waiting, by an eighth at most). With every step that has rows, what was
counted before weighs half as much: that is what "recent" means. A row that lags further behind than the others makes
the faster watermark wait for more, and never go back: what it has passed it has passed.

Source: the Dataflow Model, section 2.3, percentile watermarks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from warehouse.dataflow.times import BEGINNING

DECAY = 0.5
LEAST_WEIGHT = 1e-6
"""A bucket that weighs less than this, against one row of the newest step, is forgotten."""

ROUNDING = 1e-9
"""How far, in parts of the whole, sums of weights may be off."""

LEVELS = frozenset({*(part / 64 for part in range(1, 65)), *(1 - 0.5**part for part in range(7, 14))})
"""The parts of a step's rows whose lags are read, whatever percentages are asked for; finer where rows are few."""


def levels(percentages: Iterable[float]) -> list[float]:
    """Return the parts of a step's rows whose lags are read, rising."""
    return sorted(LEVELS | {percent / 100 for percent in percentages})


def measures(percentages: Iterable[float], looked_at: str) -> dict[str, str]:
    """Return what is to be observed of a step's rows, which have a timestamp ``ts``: aggregates by name.

    Args:
        percentages: see ``levels``; without any nothing is observed.
        looked_at: a condition; the lags of the rows for which it holds stand for those of all rows.
    """
    if not percentages:
        return {}
    wanted = ", ".join(f"{level!r}D" for level in levels(percentages))
    behind = f"approx_percentile(CASE WHEN {looked_at} THEN -ts END, array({wanted}))"
    return {"behind": behind, "timed": "count(ts)", "newest": "max(ts)"}


@dataclass(frozen=True)
class Lags:
    """The lags of recent rows.

    Attributes:
        newest: the greatest timestamp so far, microseconds.
        weights: rows per bucket, by the bucket's upper end in microseconds (as text: it is kept as JSON).
        reached: the faster watermarks so far, by percentage (as text).
    """

    newest: int = BEGINNING
    weights: dict[str, float] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)

    def with_rows(self, percentages: Collection[float], figures: Mapping[str, Any]) -> Lags:
        """Return the lags after a step, given what was observed of its rows.

        Example:
            >>> seen = {"behind": [-100 + level for level in range(len(levels([])))], "timed": 640, "newest": 100}
            >>> Lags().with_rows([], seen).watermarks([50.0])
            {50.0: 68}
        """
        if not figures["behind"]:
            return self
        newest = max(self.newest, figures["newest"])
        weights = {lag: weight * DECAY for lag, weight in self.weights.items() if weight * DECAY >= LEAST_WEIGHT}
        reached = 0.0
        for level, behind in zip(levels(percentages), figures["behind"], strict=True):
            bucket = str(_bucket(newest + behind))
            weights[bucket] = weights.get(bucket, 0.0) + (level - reached) * figures["timed"]
            reached = level
        before, now = self.watermarks(percentages), Lags(newest, weights, self.reached).watermarks(percentages)
        return Lags(newest, weights, {repr(p): max(moment, before.get(p, moment)) for p, moment in now.items()})

    def watermarks(self, percentages: Iterable[float]) -> dict[float, int]:
        """Return the faster watermark per percentage, where it stands or would by now; none before the first row.

        Example:
            >>> Lags(1000, {"0": 90.0, "16": 9.0, "640": 1.0}).watermarks([50.0, 95.0, 99.9])
            {50.0: 1000, 95.0: 984, 99.9: 360}
        """
        if not self.weights:
            return {}
        buckets = sorted((int(lag), weight) for lag, weight in self.weights.items())
        whole = sum(weight for _, weight in buckets)
        within = list(accumulate(weight for _, weight in buckets))

        def lag(percent: float) -> int:
            wanted = whole * percent / 100 * (1 - ROUNDING)
            return buckets[min(bisect_left(within, wanted), len(buckets) - 1)][0]

        return {p: max(self.newest - lag(p), self.reached.get(repr(p), BEGINNING)) for p in percentages}


def _bucket(lag: int) -> int:
    """Return the upper end of a lag's bucket: a multiple of the least 2^k with at most 16 of them in the lag.

    Example:
        >>> [_bucket(lag) for lag in (0, 1, 15, 17, 31, 33, 1000)]
        [0, 1, 16, 18, 32, 36, 1024]
    """
    width = 1 << max(0, (lag + 1).bit_length() - 4)
    return -(-lag // width) * width
