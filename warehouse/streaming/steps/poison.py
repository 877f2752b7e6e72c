"""Finds the rows of a step on which the query's own expressions fail: a value that does not cast, a zero divisor.

Spark stops at the first such row and does not say which one it was. The query of a step works row by row up to
its aggregation, so the rows can be told apart by halves: a half that runs through is good, one that fails is
halved again. This costs jobs only when something failed.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from warehouse.catalog.entries import Column, quote_name
from warehouse.execution.spark_errors import RAISED, condition_and_state
from warehouse.streaming.layout import BAD, WHY

MOST = 200
"""Rows of one step that are looked for; a step with more of them fails, as the query itself must be wrong."""

ID = "__w_id"
Probe = Callable[[DataFrame], None]
"""Runs the query's row-wise part over some rows of the source, and raises what Spark raises."""


def is_data_error(error: BaseException) -> bool:
    """Say whether ``error`` comes from a value: SQLSTATE class 22, data exception, or ``raise_error`` in the query."""
    if not isinstance(error, RAISED):
        return False
    condition, state = condition_and_state(error)
    return (state or "").startswith("22") or condition == "USER_RAISED_EXCEPTION"


def set_aside(frame: DataFrame, columns: tuple[Column, ...], probe: Probe) -> DataFrame | None:
    """Return ``frame`` with the rows on which ``probe`` fails marked as bad, or None when there are too many.

    Args:
        frame: rows in the layout of ``streaming.layout``.
        columns: the source's columns.
        probe: see ``Probe``.
    """
    # an id must not change between probes: it is drawn once and kept
    numbered = frame.withColumn(ID, F.monotonically_increasing_id()).persist(StorageLevel.MEMORY_AND_DISK)
    ids = sorted(row[0] for row in numbered.where("__w_bad IS NULL").select(ID).collect())
    found: list[tuple[int, str]] = []
    halves = [(0, len(ids))]
    while halves:
        low, high = halves.pop()
        if low >= high:
            continue
        condition = _failure(numbered.where((F.col(ID) >= ids[low]) & (F.col(ID) <= ids[high - 1])), probe)
        if condition is None:
            continue
        if high - low == 1:
            found.append((ids[low], condition))
            if len(found) > MOST:
                numbered.unpersist()
                return None
            continue
        middle = (low + high) // 2
        halves += [(low, middle), (middle, high)]
    whole = "to_json(struct(" + ", ".join(quote_name(c.name) for c in columns) + "))"
    conditions = [part for number, told in found for part in (F.lit(number).cast("bigint"), F.lit(told))]
    why = F.create_map(*conditions)[F.col(ID)] if found else F.lit(None)
    known = F.col(WHY) if WHY in frame.columns else F.lit(None)
    marked = numbered.withColumn(BAD, F.coalesce(BAD, F.when(why.isNotNull(), F.expr(whole))))
    return marked.withColumn(WHY, F.coalesce(known, why.cast("string"))).drop(ID)


def _failure(rows: DataFrame, probe: Probe) -> str | None:
    """Return the condition with which ``probe`` fails on ``rows``, None when it runs through."""
    try:
        probe(rows)
    except RAISED as error:
        if not is_data_error(error):
            raise
        return condition_and_state(error)[0]
    return None
