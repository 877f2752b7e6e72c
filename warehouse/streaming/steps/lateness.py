"""How long after their timestamps the rows of a step arrived, which ``stream_progress`` tells, and for how many."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.windows import Global
from warehouse.streaming.steps.inputs import ARRIVAL, size_of

LEVELS = (0.5, 0.9, 0.99)
"""A step keeps these percentiles and the maximum."""
ACCURACY = 1000
"""A percentile may be wrong by one rank in so many of the rows that are looked at."""

ENOUGH = 256 * 1024
"""Of a step with more bytes than this, about so many are looked at: thousands of rows, whatever the format."""
UNKNOWN = 1 << 60
"""A source that does not know its size claims more bytes than this."""


def sample(query: WindowedQuery, frames: list[DataFrame]) -> str:
    """Return a condition over *rows* that holds for those whose percentiles are looked at: all, unless there are many.

    A sketch of percentiles is dear for each row. Which rows are looked at depends on themselves alone, so that a step
    which is repeated finds what it found.
    """
    size = size_of(frames)
    if size < 2 * ENOUGH or size > UNKNOWN:
        return "true"
    values = ", ".join(("ts", *query.key_columns))
    one_in = 1 << (size // ENOUGH).bit_length() - 1  # steps of about the same size share the code that is generated
    return f"pmod(xxhash64({values}), {one_in}L) = 0"


def measures(query: WindowedQuery, looked_at: str) -> dict[str, str]:
    """Return what is observed of *rows*, those that are ``looked_at`` for the percentiles."""
    if isinstance(query.window, Global):
        return {}
    behind = f"{ARRIVAL} - ts"
    levels = ", ".join(map(str, LEVELS))
    within = f"approx_percentile(CASE WHEN {looked_at} THEN {behind} END, array({levels}), {ACCURACY})"
    return {"lateness": within, "latest": f"max({behind})"}


def known(figures: dict[str, Any]) -> tuple[int, ...]:
    """Return the percentiles and the maximum, in microseconds; nothing where no row had a timestamp."""
    within = figures.get("lateness")
    return (*within, figures["latest"]) if within else ()
