"""Which function is taken apart how: of bounded size, or, where distinct values count, the set of these."""

from __future__ import annotations

from warehouse.dataflow.aggregates.calls import Build, Call, Form
from warehouse.dataflow.aggregates.extremes import best_by, merging_itself
from warehouse.dataflow.aggregates.sets import collecting_set, counting_distinct, estimating_distinct
from warehouse.dataflow.aggregates.spreads import spreads
from warehouse.dataflow.aggregates.subtracting import (
    changing_sum,
    subtracting_average,
    subtracting_count,
    subtracting_count_if,
    subtracting_sum,
)
from warehouse.dataflow.aggregates.sums import averaging, counting, counting_if, summing

SUBTRACTING: dict[str, Build] = {
    "avg": subtracting_average,
    "count": subtracting_count,
    "count_if": subtracting_count_if,
    "mean": subtracting_average,
    "sum": subtracting_sum,
    **spreads(retracted=True),
}
"""The forms over input that takes rows back; every other aggregate is computed again from the rows that stand."""

CHANGING: dict[str, Build] = {"count": subtracting_count, "count_if": subtracting_count_if, "sum": changing_sum}
"""The forms of what rows that came and were taken back have changed: those that can be added up."""

FORMS: dict[str, Build] = {
    "any": merging_itself("bool_or"),
    "any_value": merging_itself("min"),
    "approx_count_distinct": estimating_distinct,
    "avg": averaging,
    "bit_and": merging_itself("bit_and"),
    "bit_or": merging_itself("bit_or"),
    "bit_xor": merging_itself("bit_xor"),
    "bool_and": merging_itself("bool_and"),
    "bool_or": merging_itself("bool_or"),
    "collect_set": collecting_set,
    "count": counting,
    "count_if": counting_if,
    "every": merging_itself("bool_and"),
    "max": merging_itself("max"),
    "max_by": best_by("max"),
    "mean": averaging,
    "min": merging_itself("min"),
    "min_by": best_by("min"),
    "some": merging_itself("bool_or"),
    "sum": summing,
    **spreads(retracted=False),
}
"""One row per function that has partial results. A form may decline (None): then rows are kept."""

OF_DISTINCT: dict[str, Build] = {
    "approx_count_distinct": estimating_distinct,
    "collect_set": collecting_set,
    "count": counting_distinct,
    "max": merging_itself("max"),
    "min": merging_itself("min"),
}
"""The forms of calls with DISTINCT."""

BLIND_TO_DUPLICATES = frozenset({"approx_count_distinct", "collect_set", "bit_and", "bit_or", "min", "max"})
"""Functions whose result repeated rows cannot change: with only these, the kept rows are a set."""

ORDER_SENSITIVE = frozenset(
    {"array_agg", "collect_list", "first", "first_value", "last", "last_value", "listagg", "string_agg"}
)
"""Functions whose result hangs on the order of rows, unless WITHIN GROUP (ORDER BY …) settles it."""


def form_of(call: Call, retracted: bool = False, changes: bool = False) -> Form | None:
    """Return the form of ``call``, or None when the window's rows must be kept for it.

    Args:
        call: the call.
        retracted: rows of the input can be taken back.
        changes: where they can, it is of what has come and gone since the last pane, not of the rows that stand.
    """
    if (call.distinct and retracted) or call.rest:
        return None
    over_changing = CHANGING if changes else SUBTRACTING
    build = (over_changing if retracted else OF_DISTINCT if call.distinct else FORMS).get(call.function)
    return build(call) if build else None


def keeps_set(call: Call) -> bool:
    """Say whether the form of a call, where it has one, is the set of its values."""
    return call.function == "collect_set" or (call.distinct and call.function == "count")
