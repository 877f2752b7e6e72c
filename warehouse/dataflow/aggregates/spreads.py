"""Variances, standard deviations and covariances: sums of products and of values, added up exactly."""

from __future__ import annotations

from itertools import islice

from warehouse.dataflow.aggregates.calls import FLOATING, INTEGRAL, SIGN, Build, Call, Form, Partial, values_of
from warehouse.dataflow.aggregates.subtracting import net_rows
from warehouse.dataflow.aggregates.sums import counted

PRODUCT, LINEAR = range(-6, 8), range(-3, 4)
"""The powers of 2^32 that make up a product of two values, and a value."""


def _spread(over: str, root: bool = False, retracted: bool = False) -> Build:
    """Return the form of variances, their roots, and covariances: sums of products and of values, added up exactly.

    Args:
        over: SQL for what the sum of the products of deviations is divided by; ``{}`` is how many rows there are.
        root: its square root is meant.
        retracted: rows of the input can be taken back.
    """
    sign = f"{SIGN} * " if retracted else ""

    def units(one: str, other: str, powers: range) -> list[Partial]:
        each = [f"{sign}__w_unit({one}, {other}, {power})" for power in powers]
        return [Partial(f"sum({unit})", "sum({})", "bigint", unit, small=True, since=9) for unit in each]

    def build(call: Call) -> Form | None:
        if not all(a.type in FLOATING | INTEGRAL or a.type.startswith("decimal") for a in call.arguments):
            return None
        values = tuple(f"CAST({value} AS DOUBLE)" for value in values_of(call))
        x, *other = names = [f"{{a{i}}}" for i in range(len(values))]
        if other:
            known = " AND ".join(f"{value} IS NOT NULL" for value in values)
            values = tuple(f"CASE WHEN {known} THEN {value} END" for value in values)
        sums = [units(x, names[-1], PRODUCT), *(units(name, "1D", LINEAR) for name in names)]
        beyond = " OR ".join(f"NOT abs({name}) < {float(2.0**128)!r}D" for name in names)
        if retracted:
            counts = [net_rows(call), Partial(f"sum(CASE WHEN {beyond} THEN {SIGN} END)", "sum({})", "bigint")]
        else:
            one = f"CASE WHEN {beyond} THEN 1L ELSE 0L END"
            counts = [counted("{a0}"), Partial(f"count_if({beyond})", "sum({})", "bigint", one, small=True)]
        partials = tuple(partial for its in (*sums, counts) for partial in its)
        places = (f"{{{i}}}" for i in range(len(partials)))
        products, *linear = [f"array({', '.join(islice(places, len(its)))})" for its in sums]
        rows, apart = places
        divisor = over.format(rows)
        spread = f"__w_covariance({rows}, {divisor}, {products}, {linear[0]}, {linear[-1]})"
        known = f"CASE WHEN {apart} > 0 THEN DOUBLE('NaN') ELSE {f'sqrt({spread})' if root else spread} END"
        return Form(values, partials, f"CASE WHEN {divisor} > 0 THEN {known} END")

    return build


def spreads(retracted: bool) -> dict[str, Build]:
    """Return what makes the forms of all of them, by function; ``retracted``: see ``_spread``."""
    sample, population = "({} - 1L)", "{}"
    return {
        **dict.fromkeys(("std", "stddev", "stddev_samp"), _spread(sample, True, retracted)),
        **dict.fromkeys(("var_samp", "variance", "covar_samp"), _spread(sample, False, retracted)),
        **dict.fromkeys(("var_pop", "covar_pop"), _spread(population, False, retracted)),
        "stddev_pop": _spread(population, True, retracted),
    }
