"""How far rows lag behind the newest one: what AT WATERMARK PERCENTILE p knows of the recent past.

The faster watermark trusts the best p percent of recent rows to be on time: it stands where p percent of them
had come when it got there. Lags are counted in buckets whose width grows with the lag (eight per doubling, the
bucket's upper end counts, so the answer errs on the side of waiting, by an eighth at most). With every step
that has rows, what was counted before weighs half as much: that is what "recent" means.

Source: the Dataflow Model, section 2.3, percentile watermarks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate

from warehouse.dataflow.times import BEGINNING

DECAY = 0.5
LEAST_WEIGHT = 1e-6
"""A bucket that weighs less than this, against one row of the newest step, is forgotten."""


@dataclass(frozen=True)
class Lags:
    """The lags of recent rows.

    Attributes:
        newest: the greatest timestamp so far, microseconds.
        weights: rows per bucket, by the bucket's upper end in microseconds (as text: it is kept as JSON).
    """

    newest: int = BEGINNING
    weights: dict[str, float] = field(default_factory=dict)

    def with_rows(self, counted: Iterable[tuple[int, int, int]]) -> Lags:
        """Return the lags after a step whose rows are counted as (bucket, rows, newest timestamp)."""
        weights = {lag: weight * DECAY for lag, weight in self.weights.items() if weight * DECAY >= LEAST_WEIGHT}
        newest = self.newest
        for lag, rows, high in counted:
            weights[str(lag)] = weights.get(str(lag), 0.0) + rows
            newest = max(newest, high)
        return Lags(newest, weights)

    def watermarks(self, percentages: Iterable[float]) -> dict[float, int]:
        """Return the faster watermark per percentage; none before the first row.

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
            return buckets[min(bisect_left(within, whole * percent / 100), len(buckets) - 1)][0]

        return {percent: self.newest - lag(percent) for percent in percentages}


def lag_counts(rows: str, newest: int) -> str:
    """Return SQL for the rows of a step per bucket of lag: bucket, rows, newest timestamp.

    Args:
        rows: a relation with the timestamp ``ts``.
        newest: the greatest timestamp before the step.
    """
    high = f"(SELECT greatest(max(ts), {newest}L) FROM {rows})"
    # the least width of 2^k with at most 16 of them in the lag: eight buckets per doubling
    width = "shiftleft(1L, greatest(0, CAST(floor(log2(lag + 1)) AS INT) - 3))"
    return (
        f"SELECT ceil(lag / {width}) * {width} AS bucket, count(1) AS rows, max(high) AS high"
        f" FROM (SELECT high - ts AS lag, high FROM (SELECT ts, {high} AS high FROM {rows} WHERE ts IS NOT NULL))"
        " GROUP BY 1"
    )
