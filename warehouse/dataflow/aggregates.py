"""What results: aggregates taken apart into (partial, merge, final).

One row of ``FORMS`` per function that has partial results: of bounded size, or, where distinct values count, the set of
these. Every other aggregate keeps the window's rows (their argument values) in one sorted array and runs Spark's own
function over it at the end, so that any aggregate works and none depends on the order of arrival.

Sums of DOUBLE must not depend on order either: a value is cut into whole numbers of units 2^32, 1, 2^-32,
2^-64 and 2^-96, which are summed exactly as BIGINT (the idea of a superaccumulator: Kulisch, "Computer
Arithmetic and Validity", and reproducible summation as in Demmel and Nguyen, 2015). Values of 2^64 and
above, infinities and NaN are added apart; what a value has below 2^-96 is cut off.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice


@dataclass(frozen=True)
class Argument:
    """An argument of an aggregate: SQL over the source row, its Spark type, and whether it is a constant."""

    sql: str
    type: str
    constant: bool = False


@dataclass(frozen=True)
class Call:
    """One aggregate call of a query, as bound.

    Attributes:
        function: lower case name.
        arguments: ``*`` is written as no argument.
        distinct: DISTINCT was written.
        filter: the FILTER condition over the source row, or None.
        rest: what follows the closing parenthesis apart from FILTER, with ``{0}`` for ordering arguments
            (``WITHIN GROUP (ORDER BY {0} DESC)``), or "".
        ordering: the ordering arguments of ``rest``.
        type: the result's Spark type.
    """

    function: str
    arguments: tuple[Argument, ...]
    distinct: bool
    filter: str | None
    type: str
    rest: str = ""
    ordering: tuple[Argument, ...] = ()


@dataclass(frozen=True)
class Partial:
    """One column of partial results.

    Attributes:
        sql: aggregate expression over the argument columns of the batch.
        merge: the same kind of result from partial results; ``{}`` is the column.
        type: its Spark type, so that an empty one can be written as a typed NULL.
        row: what ``sql`` comes to for one row, over the same columns, where that is an expression; else None.
        small: a sum of numbers so small that no rows there can be make it leave its type, in whatever order.
        since: the format of states (``streaming/log.py``) since which it is kept; before, there were rows instead.
    """

    sql: str
    merge: str
    type: str
    row: str | None = None
    small: bool = False
    since: int = 0


@dataclass(frozen=True)
class Form:
    """A call taken apart. ``inputs`` are columns computed per row; ``final`` reads partials as ``{0}``."""

    inputs: tuple[str, ...]
    partials: tuple[Partial, ...]
    final: str


INTEGRAL = frozenset({"tinyint", "smallint", "int", "bigint"})
FLOATING = frozenset({"float", "double"})

Build = Callable[[Call], "Form | None"]


def comparable(kind: str) -> bool:
    """Say whether values of a type can be compared, hence sorted, grouped and found again."""
    return "map<" not in kind and "variant" not in kind


def _values(call: Call) -> tuple[str, ...]:
    """Return the arguments as column expressions, NULL where the FILTER does not hold."""
    if call.filter is None:
        return tuple(a.sql for a in call.arguments)
    return tuple(f"CASE WHEN {call.filter} THEN {a.sql} END" for a in call.arguments)


def _count(call: Call) -> Form | None:
    if call.arguments:
        values = _values(call)
        names = [f"{{a{i}}}" for i in range(len(values))]
        return Form(values, (_counted(*names),), "coalesce({0}, 0L)")
    if call.filter is None:
        return Form((), (Partial("count(1)", "sum({})", "bigint", "1L", small=True),), "coalesce({0}, 0L)")
    return Form((f"CASE WHEN {call.filter} THEN 1 END",), (_counted("{a0}"),), "coalesce({0}, 0L)")


def _counted(*names: str) -> Partial:
    """Return how many rows have none of the columns NULL."""
    known = " AND ".join(f"{name} IS NOT NULL" for name in names)
    return Partial(
        f"count({', '.join(names)})", "sum({})", "bigint", f"CASE WHEN {known} THEN 1L ELSE 0L END", small=True
    )


def _count_if(call: Call) -> Form | None:
    counted = Partial("count_if({a0})", "sum({})", "bigint", "CASE WHEN {a0} THEN 1L ELSE 0L END", small=True)
    return Form(_values(call), (counted,), "coalesce({0}, 0L)")


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


def _sum(call: Call) -> Form | None:
    kind = call.arguments[0].type
    (value,) = _values(call)
    if kind in FLOATING:
        return _double_sum(value)
    if kind in INTEGRAL or kind.startswith(("decimal", "interval")):
        total, one = f"CAST(sum({{}}) AS {call.type})", f"CAST({{a0}} AS {call.type})"
        summed = Partial(total.format("{a0}"), total, call.type, one, small=kind in INTEGRAL and kind != "bigint")
        return Form((value,), (summed,), "{0}")
    return None


def _avg(call: Call) -> Form | None:
    kind = call.arguments[0].type
    (value,) = _values(call)
    if kind in FLOATING:
        summed = _double_sum(value)
        counted = _counted(f"{{a{len(summed.inputs)}}}")
        final = f"({summed.final}) / nullif({{{len(summed.partials)}}}, 0)"
        return Form((*summed.inputs, value), (*summed.partials, counted), final)
    if kind in INTEGRAL or kind.startswith("decimal"):
        total = _total_type(kind)
        partials = (
            Partial(
                f"sum(CAST({{a0}} AS {kind if kind.startswith('decimal') else total}))",
                f"CAST(sum({{}}) AS {total})",
                total,
                f"CAST({{a0}} AS {total})",
                small=total == "bigint",
            ),
            _counted("{a0}"),
        )
        return Form((value,), partials, _quotient(kind, call.type))
    return None


def _quotient(kind: str, result: str) -> str:
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


def _total_type(kind: str) -> str:
    """Return the type in which an average's sum is kept without overflow."""
    if kind == "bigint":
        return "decimal(38,0)"
    if kind in INTEGRAL:
        return "bigint"
    precision, scale = _digits(kind)
    return f"decimal({min(38, precision + 10)},{scale})"


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


def _count_distinct(call: Call) -> Form | None:
    kinds = [a.type for a in call.arguments]
    if not kinds or not all(map(is_settable, kinds)):
        return None
    values, kind = _values(call), kinds[0]
    if len(values) > 1:
        known = " AND ".join(f"({value}) IS NOT NULL" for value in values)
        row = ", ".join(f"'v{i}', {value}" for i, value in enumerate(values))
        values = (f"CASE WHEN {known} THEN named_struct({row}) END",)
        kind = "struct<" + ",".join(f"v{i}:{kind}" for i, kind in enumerate(kinds)) + ">"
    return Form(values, (_set("{a0}", kind),), "CAST(coalesce(size({0}), 0) AS BIGINT)")


def _collect_set(call: Call) -> Form | None:
    kind = call.arguments[0].type
    if not is_settable(kind):
        return None
    return Form((_values(call)[0],), (_set("{a0}", kind),), "sort_array(coalesce({0}, array()))")


def _same(function: str) -> Build:
    """Return the form of a function whose partial results are merged by the function itself."""

    def build(call: Call) -> Form | None:
        same = Partial(f"{function}({{a0}})", f"{function}({{}})", call.type, "{a0}")
        return Form((_values(call)[0],), (same,), "{0}")

    return build


def _by(function: str) -> Build:
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
        values = tuple(f"CAST({value} AS DOUBLE)" for value in _values(call))
        x, *other = names = [f"{{a{i}}}" for i in range(len(values))]
        if other:
            known = " AND ".join(f"{value} IS NOT NULL" for value in values)
            values = tuple(f"CASE WHEN {known} THEN {value} END" for value in values)
        sums = [units(x, names[-1], PRODUCT), *(units(name, "1D", LINEAR) for name in names)]
        beyond = " OR ".join(f"NOT abs({name}) < {float(2.0**128)!r}D" for name in names)
        if retracted:
            counts = [_net_rows(call), Partial(f"sum(CASE WHEN {beyond} THEN {SIGN} END)", "sum({})", "bigint")]
        else:
            one = f"CASE WHEN {beyond} THEN 1L ELSE 0L END"
            counts = [_counted("{a0}"), Partial(f"count_if({beyond})", "sum({})", "bigint", one, small=True)]
        partials = tuple(partial for its in (*sums, counts) for partial in its)
        places = (f"{{{i}}}" for i in range(len(partials)))
        products, *linear = [f"array({', '.join(islice(places, len(its)))})" for its in sums]
        rows, apart = places
        divisor = over.format(rows)
        spread = f"__w_covariance({rows}, {divisor}, {products}, {linear[0]}, {linear[-1]})"
        known = f"CASE WHEN {apart} > 0 THEN DOUBLE('NaN') ELSE {f'sqrt({spread})' if root else spread} END"
        return Form(values, partials, f"CASE WHEN {divisor} > 0 THEN {known} END")

    return build


def _approx_count_distinct(call: Call) -> Form | None:
    """Return the form that has the registers of Spark's HyperLogLog++: of each that is not 0 its number and value."""
    value, kind = _values(call)[0], call.arguments[0].type
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


# ------------------------------------------------------------------ over input that takes rows back

SIGN = "__w_sign"
"""Column of the input: 1 for a row, -1 for the withdrawal of one."""


def _signed(value: str) -> str:
    return f"CASE WHEN {SIGN} < 0 THEN -({value}) ELSE {value} END"


def _net_rows(call: Call) -> Partial:
    """Return how many rows stand in which no argument is NULL."""
    known = [f"({v}) IS NOT NULL" for v in _values(call)] or ([f"({call.filter})"] if call.filter else [])
    counted = f"CASE WHEN {' AND '.join(known)} THEN {SIGN} END" if known else SIGN
    return Partial(f"sum({counted})", "sum({})", "bigint")


def _subtracting_count(call: Call) -> Form | None:
    return Form((), (_net_rows(call),), "coalesce({0}, 0L)")


def _subtracting_count_if(call: Call) -> Form | None:
    holds = f"CASE WHEN {_values(call)[0]} THEN {SIGN} END"
    return Form((), (Partial(f"sum({holds})", "sum({})", "bigint"),), "coalesce({0}, 0L)")


def _subtracting_sum(call: Call) -> Form | None:
    kind = call.arguments[0].type
    (value,) = _values(call)
    if kind in FLOATING:
        return _subtracting_doubles(call, "{sum}")
    if kind in INTEGRAL or kind.startswith(("decimal", "interval")):
        wide = f"CAST({value} AS BIGINT)" if kind in INTEGRAL else value
        total = Partial(f"CAST(sum({_signed(wide)}) AS {call.type})", f"CAST(sum({{}}) AS {call.type})", call.type)
        return Form((), (total, _net_rows(call)), "CASE WHEN {1} > 0 THEN {0} END")
    return None


def _changing_sum(call: Call) -> Form | None:
    """Return the form of a sum by which rows came and went, NULL where none of them had a value."""
    if call.arguments[0].type in FLOATING:
        return _subtracting_doubles(call, "{sum}", "{0} IS NOT NULL OR size({5}) > 0")
    form = _subtracting_sum(call)
    return form and Form((), form.partials[:1], "{0}")


def _subtracting_avg(call: Call) -> Form | None:
    kind = call.arguments[0].type
    (value,) = _values(call)
    if kind in FLOATING:
        return _subtracting_doubles(call, "{sum} / {rows}")
    if kind in INTEGRAL or kind.startswith("decimal"):
        total = _total_type(kind)
        wide = value if kind.startswith("decimal") else f"CAST({value} AS {total})"
        partial = Partial(f"CAST(sum({_signed(wide)}) AS {total})", f"CAST(sum({{}}) AS {total})", total)
        return Form((), (partial, _net_rows(call)), f"CASE WHEN {{1}} > 0 THEN {_quotient(kind, call.type)} END")
    return None


def _subtracting_doubles(call: Call, final: str, known: str = "{6} > 0") -> Form:
    """Return the form of a sum of DOUBLE from which values can be taken away again, exactly.

    Whole units subtract as they add; values beyond them (infinities, NaN) are kept one by one with their signs.

    Args:
        call: the call.
        final: SQL over ``{sum}`` and ``{rows}``, how many there are of the values.
        known: SQL for when there is any.
    """
    (value,) = _values(call)
    inputs, partials, total = exact_double_sum(_signed(value))
    apart = f"CASE WHEN {{a5}} IS NOT NULL THEN named_struct('v', CAST({value} AS DOUBLE), 's', {SIGN}) END"
    beyond = Partial(f"collect_list({apart})", "flatten(collect_list({}))", "array<struct<v:double,s:int>>")
    net = "aggregate(filter({5}, p -> p.v <=> v), 0, (n, p) -> n + p.s)"
    rest = (
        "aggregate(array_distinct(transform(coalesce({5}, array()), p -> p.v)), 0D,"
        f" (whole, v) -> CASE WHEN {net} > 0 THEN whole + v * {net} ELSE whole END)"
    )
    text = final.replace("{sum}", f"(coalesce({total}, 0D) + {rest})").replace("{rows}", "{6}")
    return Form(inputs, (*partials[:5], beyond, _net_rows(call)), f"CASE WHEN {known} THEN {text} END")


def _spreads(retracted: bool) -> dict[str, Build]:
    sample, population = "({} - 1L)", "{}"
    return {
        **dict.fromkeys(("std", "stddev", "stddev_samp"), _spread(sample, True, retracted)),
        **dict.fromkeys(("var_samp", "variance", "covar_samp"), _spread(sample, False, retracted)),
        **dict.fromkeys(("var_pop", "covar_pop"), _spread(population, False, retracted)),
        "stddev_pop": _spread(population, True, retracted),
    }


SUBTRACTING: dict[str, Build] = {
    "avg": _subtracting_avg,
    "count": _subtracting_count,
    "count_if": _subtracting_count_if,
    "mean": _subtracting_avg,
    "sum": _subtracting_sum,
    **_spreads(retracted=True),
}
"""The forms over input that takes rows back; every other aggregate is computed again from the rows that stand."""

CHANGING: dict[str, Build] = {"count": _subtracting_count, "count_if": _subtracting_count_if, "sum": _changing_sum}
"""The forms of what rows that came and were taken back have changed: those that can be added up."""

FORMS: dict[str, Build] = {
    "any": _same("bool_or"),
    "any_value": _same("min"),
    "approx_count_distinct": _approx_count_distinct,
    "avg": _avg,
    "bit_and": _same("bit_and"),
    "bit_or": _same("bit_or"),
    "bit_xor": _same("bit_xor"),
    "bool_and": _same("bool_and"),
    "bool_or": _same("bool_or"),
    "collect_set": _collect_set,
    "count": _count,
    "count_if": _count_if,
    "every": _same("bool_and"),
    "max": _same("max"),
    "max_by": _by("max"),
    "mean": _avg,
    "min": _same("min"),
    "min_by": _by("min"),
    "some": _same("bool_or"),
    "sum": _sum,
    **_spreads(retracted=False),
}
"""One row per function that has partial results. A form may decline (None): then rows are kept."""

OF_DISTINCT: dict[str, Build] = {
    "approx_count_distinct": _approx_count_distinct,
    "collect_set": _collect_set,
    "count": _count_distinct,
    "max": _same("max"),
    "min": _same("min"),
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


@dataclass(frozen=True)
class Decomposition:
    """All aggregates of a query block taken apart together.

    Attributes:
        inputs: SQL of the columns ``a0``, ``a1``, … computed per row from the argument columns.
        partials: the columns ``p0``, ``p1``, … with all placeholders resolved to input columns.
        finals: per call, SQL over partial columns, or None where the rows are kept.
        holistic: per call that keeps rows, its text over the fields of the kept rows, by the call's position.
        rows: the name of the partial column that holds the kept rows, or None.
        sortable: whether the kept rows can be sorted, so that order-dependent arithmetic repeats exactly.
        standing: over input that takes rows back, the partial column that counts the rows that stand; else None.
        fields: the argument columns whose values the kept rows hold.
        sets: per argument column whose distinct values are kept by themselves, its type and the partial column.
    """

    inputs: tuple[str, ...]
    partials: tuple[Partial, ...]
    finals: tuple[str | None, ...]
    holistic: tuple[tuple[int, str], ...]
    rows: str | None
    sortable: bool
    standing: str | None = None
    fields: tuple[str, ...] = ()
    sets: tuple[tuple[str, str, str], ...] = ()

    @property
    def held(self) -> str | None:
        """Return SQL for an array of rows that have the values which the state holds one by one; None without any.

        Where these are sets, a row has a value of one of them and is NULL elsewhere.
        """
        if self.rows or not self.sets:
            return self.rows
        each = (
            ", ".join(
                f"'{name}', " + ("v" if name == known else f"CAST(NULL AS {kind})") for name, kind, _ in self.sets
            )
            for known, _, _ in self.sets
        )
        lists = (
            f"transform({partial}, v -> named_struct({row}))"
            for row, (_, _, partial) in zip(each, self.sets, strict=True)
        )
        return f"concat({', '.join(lists)})"

    @property
    def held_fields(self) -> tuple[str, ...]:
        """Return the names of the fields of ``held``."""
        return self.fields if self.rows else tuple(name for name, _, _ in self.sets)

    @property
    def holds_sets(self) -> bool:
        """Say whether ``held`` lacks how often a value came."""
        return self.is_set or not self.rows

    @property
    def is_set(self) -> bool:
        """Say whether of equal kept rows only one is kept."""
        return any(f"p{i}" == self.rows and p.sql.startswith("collect_set(") for i, p in enumerate(self.partials))


def decompose(calls: tuple[Call, ...], retracted: bool = False, changes: bool = False) -> Decomposition:
    """Take the aggregates of a block apart; argument SQL must be columns of the input relation (or constants).

    Args:
        calls: the aggregates.
        retracted: rows of the input can be taken back.
        changes: see ``form_of``.
    """
    inputs: list[str] = []
    partials: list[Partial] = []
    finals: list[str | None] = []
    holistic: list[tuple[int, str]] = []
    fields: dict[str, str] = {}
    sets: dict[str, tuple[str, str, str]] = {}
    for position, call in enumerate(calls):
        form = form_of(call, retracted, changes)
        if form is None:
            finals.append(None)
            holistic.append((position, _over_kept_rows(call)))
            fields |= {a.sql: a.type for a in (*call.arguments, *call.ordering) if not a.constant}
            if call.filter is not None:
                fields[call.filter] = "boolean"
            continue
        columns = {f"a{i}": _place(inputs, text) for i, text in enumerate(form.inputs)}
        named = (replace(p, sql=p.sql.format(**columns), row=p.row and p.row.format(**columns)) for p in form.partials)
        places = [_place(partials, partial) for partial in named]
        finals.append(form.final.format(*(f"p{i}" for i in places)))
        if keeps_set(call) and call.filter is None and len(call.arguments) == 1 and not call.arguments[0].constant:
            (argument,) = call.arguments
            sets[argument.sql] = (argument.sql, argument.type, f"p{places[0]}")
    rows = None
    sortable = all(map(comparable, fields.values()))
    if holistic:
        rows, fields = f"p{len(partials)}", fields or {"1": "int"}
        as_set = sortable and all(calls[i].distinct or calls[i].function in BLIND_TO_DUPLICATES for i, _ in holistic)
        partials.append(_kept_changes(fields) if retracted else _kept_rows(fields, as_set))
    standing = None
    if retracted:
        standing = f"p{_place(partials, Partial(f'sum({SIGN})', 'sum({})', 'bigint'))}"
    return Decomposition(
        tuple(inputs), tuple(partials), tuple(finals), tuple(holistic), rows, sortable, standing,
        tuple(fields) if rows else (), tuple(sets.values()),
    )  # fmt: skip


def _place(columns: list, value: object) -> str | int:
    """Return where ``value`` stands among ``columns``, adding it when new: ``a<n>`` for text, the number otherwise."""
    if value not in columns:
        columns.append(value)
    position = columns.index(value)
    return f"a{position}" if isinstance(value, str) else position


def _row_of(fields: dict[str, str]) -> tuple[str, str]:
    """Return a struct of columns as SQL, and its type."""
    row = "named_struct(" + ", ".join(f"'{name}', {name}" for name in fields) + ")"
    return row, "struct<" + ",".join(f"{name}:{kind}" for name, kind in fields.items()) + ">"


def _kept_rows(fields: dict[str, str], as_set: bool) -> Partial:
    """Return the partial that gathers the argument values of the rows."""
    row, one = _row_of(fields)
    kind = f"array<{one}>"
    if as_set:
        return Partial(f"collect_set({row})", set_of("flatten(collect_list({}))", one), kind, since=6)
    return Partial(f"collect_list({row})", "flatten(collect_list({}))", kind)


def _kept_changes(fields: dict[str, str]) -> Partial:
    """Return the partial that gathers the argument values of the rows, ``r``, and how often they stand, ``n``."""
    row, one = _row_of(fields)
    changes = f"collect_list(named_struct('r', {row}, 'n', CAST({SIGN} AS BIGINT)))"
    return Partial(changes, "flatten(collect_list({}))", f"array<struct<r:{one},n:bigint>>")


def _over_kept_rows(call: Call) -> str:
    """Return the call as Spark shall run it over the kept rows; a set comes sorted, as it does where sets are kept."""
    arguments = ", ".join(a.sql for a in call.arguments) or ("*" if call.function == "count" else "")
    distinct = "DISTINCT " if call.distinct else ""
    rest = " " + call.rest.format(*(a.sql for a in call.ordering)) if call.rest else ""
    chosen = f" FILTER (WHERE {call.filter})" if call.filter else ""
    called = f"{call.function}({distinct}{arguments}){rest}{chosen}"
    return f"sort_array({called})" if call.function == "collect_set" and comparable(call.arguments[0].type) else called
