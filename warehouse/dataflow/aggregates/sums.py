"""Counts, sums and averages.

Sums of DOUBLE must not depend on the order of rows: a value is cut into whole numbers of units 2^32, 1, 2^-32,
2^-64 and 2^-96, which are summed exactly as BIGINT (the idea of a superaccumulator: Kulisch, "Computer
Arithmetic and Validity", and reproducible summation as in Demmel and Nguyen, 2015). Values of 2^64 and
above, infinities and NaN are added apart; what a value has below 2^-96 is cut off.
"""

from __future__ import annotations

import re

from warehouse.dataflow.aggregates.calls import FLOATING, INTEGRAL, Call, Form, Partial, values_of


def counting(call: Call) -> Form | None:
    """Return the form of COUNT without DISTINCT."""
    if call.arguments:
        values = values_of(call)
        names = [f"{{a{i}}}" for i in range(len(values))]
        return Form(values, (counted(*names),), "coalesce({0}, 0L)")
    if call.filter is None:
        return Form((), (Partial("count(1)", "sum({})", "bigint", "1L", small=True),), "coalesce({0}, 0L)")
    return Form((f"CASE WHEN {call.filter} THEN 1 END",), (counted("{a0}"),), "coalesce({0}, 0L)")


def counted(*names: str) -> Partial:
    """Return how many rows have none of the columns NULL."""
    known = " AND ".join(f"{name} IS NOT NULL" for name in names)
    return Partial(
        f"count({', '.join(names)})", "sum({})", "bigint", f"CASE WHEN {known} THEN 1L ELSE 0L END", small=True
    )


def counting_if(call: Call) -> Form | None:
    """Return the form of COUNT_IF."""
    number = Partial("count_if({a0})", "sum({})", "bigint", "CASE WHEN {a0} THEN 1L ELSE 0L END", small=True)
    return Form(values_of(call), (number,), "coalesce({0}, 0L)")


UNIT = "4294967296D"


def _cut(value: str, power: int) -> str:
    """Return SQL for ``value`` in units of 2^(-32·power), cut to a whole number and still a DOUBLE, exactly."""
    scaled = f"({value} * {float(2.0 ** (32 * power))!r}D)"
    return (
        f"CASE WHEN abs({scaled}) < 9007199254740992D THEN CAST(CAST({scaled} AS BIGINT) AS DOUBLE) ELSE {scaled} END"
    )


def exact_double_sum(value: str) -> tuple[tuple[str, ...], tuple[Partial, ...], str]:
    """Return inputs, partials and total of a sum of DOUBLE that no order of the rows can change.

    The total is that of the values within 2^64, NULL without any; the last partial is the sum of those beyond.
    """
    wide = f"CAST({value} AS DOUBLE)"
    within = f"CASE WHEN abs({wide}) < 18446744073709551616D THEN {wide} END"
    beyond = f"CASE WHEN NOT abs({wide}) < 18446744073709551616D THEN {wide} END"
    inputs = (*(_cut(within, power) for power in (-1, 0, 1, 2, 3)), beyond)
    units = ["CAST({a0} AS BIGINT)", *(f"CAST({{a{i}}} - {{a{i - 1}}} * {UNIT} AS BIGINT)" for i in range(1, 5))]
    partials = [Partial(f"sum({unit})", "sum({})", "bigint", unit, small=True) for unit in units]
    partials.append(Partial("sum({a5})", "sum({})", "double", "{a5}"))
    low = "{4} / " + UNIT
    for i in (3, 2):
        low = f"({low} + {{{i}}}) / {UNIT}"
    return inputs, tuple(partials), f"({low} + {{1}} + {{0}} * {UNIT})"


def _double_sum(value: str) -> Form:
    """Return the form of a sum of DOUBLE, NULL when every value was NULL."""
    inputs, partials, total = exact_double_sum(value)
    return Form(inputs, partials, f"CASE WHEN {{0}} IS NULL THEN {{5}} ELSE {total} + coalesce({{5}}, 0D) END")


def summing(call: Call) -> Form | None:
    """Return the form of SUM."""
    kind = call.arguments[0].type
    (value,) = values_of(call)
    if kind in FLOATING:
        return _double_sum(value)
    if kind in INTEGRAL or kind.startswith(("decimal", "interval")):
        total, one = f"CAST(sum({{}}) AS {call.type})", f"CAST({{a0}} AS {call.type})"
        summed = Partial(total.format("{a0}"), total, call.type, one, small=kind in INTEGRAL and kind != "bigint")
        return Form((value,), (summed,), "{0}")
    return None


def averaging(call: Call) -> Form | None:
    """Return the form of AVG: the sum, wide enough for all rows, and how many they are."""
    kind = call.arguments[0].type
    (value,) = values_of(call)
    if kind in FLOATING:
        summed = _double_sum(value)
        number = counted(f"{{a{len(summed.inputs)}}}")
        final = f"({summed.final}) / nullif({{{len(summed.partials)}}}, 0)"
        return Form((*summed.inputs, value), (*summed.partials, number), final)
    if kind in INTEGRAL or kind.startswith("decimal"):
        total = total_type(kind)
        partials = (
            Partial(
                f"sum(CAST({{a0}} AS {kind if kind.startswith('decimal') else total}))",
                f"CAST(sum({{}}) AS {total})",
                total,
                f"CAST({{a0}} AS {total})",
                small=total == "bigint",
            ),
            counted("{a0}"),
        )
        return Form((value,), partials, quotient(kind, call.type))
    return None


def quotient(kind: str, result: str) -> str:
    """Return SQL for the average of values of ``kind``, of their sum ``{0}`` and their number ``{1}``."""
    count = "nullif({1}, 0)"
    if not kind.startswith("decimal"):
        return f"CAST({{0}} AS DOUBLE) / {count}"
    return _decimal_quotient(*_digits(kind), count, result)


def _decimal_quotient(precision: int, scale: int, count: str, result: str) -> str:
    """Return SQL that divides ``{0}``, a sum of DECIMALs, and rounds to four digits more than these have, as avg does.

    Of 38 digits, division keeps as many for the integral part as the dividend's *type* has there, so a wide one leaves
    none for further decimals. What ``%`` leaves of the sum is less than the count, and fits a narrow type; the rest is
    a multiple of the count. Fewer decimals come of what is left over 10^(34 - scale), and one less of all 38 digits.
    """
    wanted = min(38, scale + 4)
    if precision <= 24 and wanted >= LEAST_SCALE:
        return f"CAST(CAST({{0}} AS DECIMAL(34,{scale})) / {count} AS {result})"
    left, integral = f"({{0}} % {count})", min(38, precision + 10) - scale
    whole = f"(CAST({{0}} - {left} AS DECIMAL({max(1, integral)},0)) / {count})"
    room = 38 - wanted if wanted >= LEAST_SCALE else 19
    below_one = f"DECIMAL({min(38, wanted + 1)},{wanted})"
    exact, rough = f"TRY_CAST({left} AS DECIMAL({room + scale},{scale})) / {count}", f"{left} / {count}"
    fraction = f"coalesce(CAST({exact} AS {below_one}), CAST({rough} AS {below_one}))"
    full = f"CAST(CAST({whole} AS DECIMAL(38,{wanted})) + {fraction} AS {result})"
    if wanted < 38:  # a sum's type has one digit more than its operands, or else one decimal less
        full = f"coalesce(CAST(TRY_CAST({whole} AS DECIMAL(37,{wanted})) + {fraction} AS {result}), {full})"
    return f"CASE WHEN {whole} = 0 THEN CAST({fraction} AS {result}) ELSE {full} END"


LEAST_SCALE = 6
"""The fewest decimals that Spark's division of DECIMALs gives."""


def _digits(kind: str) -> tuple[int, int]:
    """Return precision and scale of a DECIMAL."""
    precision, scale = map(int, re.findall(r"\d+", kind))
    return precision, scale


def total_type(kind: str) -> str:
    """Return the type in which an average's sum is kept without overflow."""
    if kind == "bigint":
        return "decimal(38,0)"
    if kind in INTEGRAL:
        return "bigint"
    precision, scale = _digits(kind)
    return f"decimal({min(38, precision + 10)},{scale})"
