"""Functions that merge their own partial results, and the best by another value."""

from __future__ import annotations

from warehouse.dataflow.aggregates.calls import Build, Call, Form, Partial, comparable, values_of


def merging_itself(function: str) -> Build:
    """Return the form of a function whose partial results are merged by the function itself."""

    def build(call: Call) -> Form | None:
        same = Partial(f"{function}({{a0}})", f"{function}({{}})", call.type, "{a0}")
        return Form((values_of(call)[0],), (same,), "{0}")

    return build


def best_by(function: str) -> Build:
    """Return the form of MIN_BY or MAX_BY: the best (order, value) pair, or the best k of them, the very best first.

    Equal orders are settled by the value.
    """

    def build(call: Call) -> Form | None:
        value, order, *count = call.arguments
        kept = f"{order.sql} IS NOT NULL" + (f" AND ({call.filter})" if call.filter else "")
        pair = f"CASE WHEN {kept} THEN named_struct('o', {order.sql}, 'v', {value.sql}) END"
        kind = f"struct<o:{order.type},v:{value.type}>"
        if not comparable(kind):
            return None
        if not count:
            return Form((pair,), (Partial(f"{function}({{a0}})", f"{function}({{}})", kind, "{a0}"),), "{0}.v")
        (most,) = count
        ascending = str(function == "min").lower()
        best = Partial(
            f"{function}_by({{a0}}, {{a0}}, {most.sql})",
            f"slice(sort_array(flatten(collect_list({{}})), {ascending}), 1, {most.sql})",
            f"array<{kind}>",
            "array_compact(array({a0}))",
        )
        return Form((pair,), (best,), "CASE WHEN size({0}) > 0 THEN transform({0}, p -> p.v) END")

    return build
