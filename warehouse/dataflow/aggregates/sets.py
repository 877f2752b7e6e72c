"""Distinct values: sets of them, how many there are, and an estimate of that."""

from __future__ import annotations

from warehouse.dataflow.aggregates.calls import INTEGRAL, Call, Form, Partial, comparable, values_of

SETTABLE = INTEGRAL | {"boolean", "date", "string", "timestamp", "timestamp_ntz"}
"""Types of which Spark finds equal values by hashing, and DECIMAL; of others, and of rows, by sorting."""


def is_settable(kind: str) -> bool:
    """Say whether values of a type are the same to a set as they are to DISTINCT, and found in it by hashing."""
    return kind in SETTABLE or kind.startswith("decimal")


def set_of(values: str, kind: str) -> str:
    """Return SQL for the distinct ones of an array of ``kind``; those of rows come sorted, which merges them fast."""
    if is_settable(kind):
        return f"array_distinct({values})"
    return f"transform(array(sort_array({values})), s -> filter(s, (v, i) -> i = 0 OR NOT v <=> get(s, i - 1)))[0]"


def _set(value: str, kind: str) -> Partial:
    """Return the distinct values that are not NULL."""
    merged = set_of("flatten(collect_list({}))", kind)
    return Partial(f"collect_set({value})", merged, f"array<{kind}>", f"array_compact(array({value}))", since=6)


def counting_distinct(call: Call) -> Form | None:
    """Return the form of COUNT(DISTINCT …): the set of the values, or of the rows of several."""
    kinds = [a.type for a in call.arguments]
    if not kinds or not all(map(is_settable, kinds)):
        return None
    values, kind = values_of(call), kinds[0]
    if len(values) > 1:
        known = " AND ".join(f"({value}) IS NOT NULL" for value in values)
        row = ", ".join(f"'v{i}', {value}" for i, value in enumerate(values))
        values = (f"CASE WHEN {known} THEN named_struct({row}) END",)
        kind = "struct<" + ",".join(f"v{i}:{kind}" for i, kind in enumerate(kinds)) + ">"
    return Form(values, (_set("{a0}", kind),), "CAST(coalesce(size({0}), 0) AS BIGINT)")


def collecting_set(call: Call) -> Form | None:
    """Return the form of COLLECT_SET, which comes sorted."""
    kind = call.arguments[0].type
    if not is_settable(kind):
        return None
    return Form((values_of(call)[0],), (_set("{a0}", kind),), "sort_array(coalesce({0}, array()))")


def estimating_distinct(call: Call) -> Form | None:
    """Return the form that has the registers of Spark's HyperLogLog++: of each that is not 0 its number and value."""
    value, kind = values_of(call)[0], call.arguments[0].type
    if not comparable(kind) or "collate" in kind:
        return None
    error = f"CAST({call.arguments[1].sql} AS DOUBLE)" if len(call.arguments) > 1 else "0.05D"
    register = f"CASE WHEN ({value}) IS NOT NULL THEN __w_register(xxhash64({value}), {error}) END"
    registers = Partial(
        "__w_largest(collect_set({a0}))",
        "__w_largest(flatten(collect_list({})))",
        "array<int>",
        "array_compact(array({a0}))",
        since=9,
    )
    return Form((register,), (registers,), f"coalesce(__w_estimate({{0}}, {error}), 0L)")
