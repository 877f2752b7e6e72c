"""Counts, sums and averages over input that takes rows back: what came and what went, added up."""

from __future__ import annotations

from warehouse.dataflow.aggregates.calls import FLOATING, INTEGRAL, SIGN, Call, Form, Partial, values_of
from warehouse.dataflow.aggregates.sums import exact_double_sum, quotient, total_type


def _signed(value: str) -> str:
    return f"CASE WHEN {SIGN} < 0 THEN -({value}) ELSE {value} END"


def net_rows(call: Call) -> Partial:
    """Return how many rows stand in which no argument is NULL."""
    known = [f"({v}) IS NOT NULL" for v in values_of(call)] or ([f"({call.filter})"] if call.filter else [])
    counted = f"CASE WHEN {' AND '.join(known)} THEN {SIGN} END" if known else SIGN
    return Partial(f"sum({counted})", "sum({})", "bigint")


def subtracting_count(call: Call) -> Form | None:
    """Return the form of COUNT."""
    return Form((), (net_rows(call),), "coalesce({0}, 0L)")


def subtracting_count_if(call: Call) -> Form | None:
    """Return the form of COUNT_IF."""
    holds = f"CASE WHEN {values_of(call)[0]} THEN {SIGN} END"
    return Form((), (Partial(f"sum({holds})", "sum({})", "bigint"),), "coalesce({0}, 0L)")


def subtracting_sum(call: Call) -> Form | None:
    """Return the form of SUM, NULL where no row stands that has a value."""
    kind = call.arguments[0].type
    (value,) = values_of(call)
    if kind in FLOATING:
        return _subtracting_doubles(call, "{sum}")
    if kind in INTEGRAL or kind.startswith(("decimal", "interval")):
        wide = f"CAST({value} AS BIGINT)" if kind in INTEGRAL else value
        total = Partial(f"CAST(sum({_signed(wide)}) AS {call.type})", f"CAST(sum({{}}) AS {call.type})", call.type)
        return Form((), (total, net_rows(call)), "CASE WHEN {1} > 0 THEN {0} END")
    return None


def changing_sum(call: Call) -> Form | None:
    """Return the form of a sum by which rows came and went, NULL where none of them had a value."""
    if call.arguments[0].type in FLOATING:
        return _subtracting_doubles(call, "{sum}", "{0} IS NOT NULL OR size({5}) > 0")
    form = subtracting_sum(call)
    return form and Form((), form.partials[:1], "{0}")


def subtracting_average(call: Call) -> Form | None:
    """Return the form of AVG."""
    kind = call.arguments[0].type
    (value,) = values_of(call)
    if kind in FLOATING:
        return _subtracting_doubles(call, "{sum} / {rows}")
    if kind in INTEGRAL or kind.startswith("decimal"):
        total = total_type(kind)
        wide = value if kind.startswith("decimal") else f"CAST({value} AS {total})"
        partial = Partial(f"CAST(sum({_signed(wide)}) AS {total})", f"CAST(sum({{}}) AS {total})", total)
        return Form((), (partial, net_rows(call)), f"CASE WHEN {{1}} > 0 THEN {quotient(kind, call.type)} END")
    return None


def _subtracting_doubles(call: Call, final: str, known: str = "{6} > 0") -> Form:
    """Return the form of a sum of DOUBLE from which values can be taken away again, exactly.

    Whole units subtract as they add; values beyond them (infinities, NaN) are kept one by one with their signs.

    Args:
        call: the call.
        final: SQL over ``{sum}`` and ``{rows}``, how many there are of the values.
        known: SQL for when there is any.
    """
    (value,) = values_of(call)
    inputs, partials, total = exact_double_sum(_signed(value))
    apart = f"CASE WHEN {{a5}} IS NOT NULL THEN named_struct('v', CAST({value} AS DOUBLE), 's', {SIGN}) END"
    beyond = Partial(f"collect_list({apart})", "flatten(collect_list({}))", "array<struct<v:double,s:int>>")
    net = "aggregate(filter({5}, p -> p.v <=> v), 0, (n, p) -> n + p.s)"
    rest = (
        "aggregate(array_distinct(transform(coalesce({5}, array()), p -> p.v)), 0D,"
        f" (whole, v) -> CASE WHEN {net} > 0 THEN whole + v * {net} ELSE whole END)"
    )
    text = final.replace("{sum}", f"(coalesce({total}, 0D) + {rest})").replace("{rows}", "{6}")
    return Form(inputs, (*partials[:5], beyond, net_rows(call)), f"CASE WHEN {known} THEN {text} END")
