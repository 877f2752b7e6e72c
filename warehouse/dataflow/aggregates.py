"""What results: aggregates taken apart into (partial, merge, final).

One row of ``FORMS`` per function whose partial result has a bounded size; every other aggregate keeps the
window's rows (their argument values) in one sorted array and runs Spark's own function over it at the end,
so that any aggregate works and none depends on the order of arrival.

Sums of DOUBLE must not depend on order either: a value is cut into whole numbers of units 2^32, 1, 2^-32,
2^-64 and 2^-96, which are summed exactly as BIGINT (the idea of a superaccumulator: Kulisch, "Computer
Arithmetic and Validity", and reproducible summation as in Demmel and Nguyen, 2015). Values of 2^64 and
above, infinities and NaN are added apart; what a value has below 2^-96 is cut off.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


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
    """

    sql: str
    merge: str
    type: str


@dataclass(frozen=True)
class Form:
    """A call taken apart. ``inputs`` are columns computed per row; ``final`` reads partials as ``{0}``."""

    inputs: tuple[str, ...]
    partials: tuple[Partial, ...]
    final: str


INTEGRAL = frozenset({"tinyint", "smallint", "int", "bigint"})
FLOATING = frozenset({"float", "double"})

Build = Callable[[Call], "Form | None"]


def _values(call: Call) -> tuple[str, ...]:
    """Return the arguments as column expressions, NULL where the FILTER does not hold."""
    if call.filter is None:
        return tuple(a.sql for a in call.arguments)
    return tuple(f"CASE WHEN {call.filter} THEN {a.sql} END" for a in call.arguments)


def _count(call: Call) -> Form | None:
    if call.arguments:
        values = _values(call)
        names = ", ".join(f"{{a{i}}}" for i in range(len(values)))
        return Form(values, (Partial(f"count({names})", "sum({})", "bigint"),), "coalesce({0}, 0L)")
    if call.filter is None:
        return Form((), (Partial("count(1)", "sum({})", "bigint"),), "coalesce({0}, 0L)")
    counted = (f"CASE WHEN {call.filter} THEN 1 END",)
    return Form(counted, (Partial("count({a0})", "sum({})", "bigint"),), "coalesce({0}, 0L)")


def _count_if(call: Call) -> Form | None:
    return Form(_values(call), (Partial("count_if({a0})", "sum({})", "bigint"),), "coalesce({0}, 0L)")


UNIT = "4294967296D"


def _cut(value: str, power: int) -> str:
    """Return SQL for ``value`` in units of 2^(-32·power), cut to a whole number and still a DOUBLE, exactly."""
    scaled = f"({value} * {float(2.0 ** (32 * power))!r}D)"
    return (
        f"CASE WHEN abs({scaled}) < 9007199254740992D THEN CAST(CAST({scaled} AS BIGINT) AS DOUBLE) ELSE {scaled} END"
    )


def exact_double_sum(value: str) -> tuple[tuple[str, ...], tuple[Partial, ...], str]:
    """Return inputs, partials and final of a sum of DOUBLE that no order of the rows can change.

    The final is NULL when every value was NULL.
    """
    wide = f"CAST({value} AS DOUBLE)"
    within = f"CASE WHEN abs({wide}) < 18446744073709551616D THEN {wide} END"
    beyond = f"CASE WHEN NOT abs({wide}) < 18446744073709551616D THEN {wide} END"
    inputs = (*(_cut(within, power) for power in (-1, 0, 1, 2, 3)), beyond)
    partials = [Partial("sum(CAST({a0} AS BIGINT))", "sum({})", "bigint")]
    partials += [
        Partial(f"sum(CAST({{a{i}}} - {{a{i - 1}}} * {UNIT} AS BIGINT))", "sum({})", "bigint") for i in range(1, 5)
    ]
    partials.append(Partial("sum({a5})", "sum({})", "double"))
    low = "{4} / " + UNIT
    for i in (3, 2):
        low = f"({low} + {{{i}}}) / {UNIT}"
    total = f"({low} + {{1}} + {{0}} * {UNIT})"
    return inputs, tuple(partials), f"CASE WHEN {{0}} IS NULL THEN {{5}} ELSE {total} + coalesce({{5}}, 0D) END"


def _sum(call: Call) -> Form | None:
    kind = call.arguments[0].type
    (value,) = _values(call)
    if kind in FLOATING:
        return Form(*exact_double_sum(value))
    if kind in INTEGRAL or kind.startswith(("decimal", "interval")):
        merge = f"CAST(sum({{}}) AS {call.type})"
        return Form((value,), (Partial(f"CAST(sum({{a0}}) AS {call.type})", merge, call.type),), "{0}")
    return None


def _avg(call: Call) -> Form | None:
    kind = call.arguments[0].type
    (value,) = _values(call)
    if kind in FLOATING:
        inputs, partials, final = exact_double_sum(value)
        counted = Partial(f"count({{a{len(inputs)}}})", "sum({})", "bigint")
        return Form((*inputs, value), (*partials, counted), f"({final}) / nullif({{{len(partials)}}}, 0)")
    if kind in INTEGRAL or kind.startswith("decimal"):
        total = _total_type(kind)
        partials = (
            Partial(
                f"sum(CAST({{a0}} AS {kind if kind.startswith('decimal') else total}))",
                f"CAST(sum({{}}) AS {total})",
                total,
            ),
            Partial("count({a0})", "sum({})", "bigint"),
        )
        summed = "{0}" if kind.startswith("decimal") else "CAST({0} AS DOUBLE)"
        return Form((value,), partials, f"{summed} / nullif({{1}}, 0)")
    return None


def _total_type(kind: str) -> str:
    """Return the type in which an average's sum is kept without overflow."""
    if kind == "bigint":
        return "decimal(38,0)"
    if kind in INTEGRAL:
        return "bigint"
    precision, scale = map(int, re.findall(r"\d+", kind))
    return f"decimal({min(38, precision + 10)},{scale})"


def _same(function: str) -> Build:
    """Return the form of a function whose partial results are merged by the function itself."""

    def build(call: Call) -> Form | None:
        return Form((_values(call)[0],), (Partial(f"{function}({{a0}})", f"{function}({{}})", call.type),), "{0}")

    return build


def _by(function: str) -> Build:
    """Return the form of MIN_BY or MAX_BY: the best (order, value) pair; equal orders are settled by the value."""

    def build(call: Call) -> Form | None:
        value, order = call.arguments
        kept = f"{order.sql} IS NOT NULL" + (f" AND ({call.filter})" if call.filter else "")
        pair = f"CASE WHEN {kept} THEN named_struct('o', {order.sql}, 'v', {value.sql}) END"
        kind = f"struct<o:{order.type},v:{value.type}>"
        if "map<" in kind or "variant" in kind:
            return None
        return Form((pair,), (Partial(f"{function}({{a0}})", f"{function}({{}})", kind),), "{0}.v")

    return build


FORMS: dict[str, Build] = {
    "any": _same("bool_or"),
    "any_value": _same("min"),
    "avg": _avg,
    "bit_and": _same("bit_and"),
    "bit_or": _same("bit_or"),
    "bit_xor": _same("bit_xor"),
    "bool_and": _same("bool_and"),
    "bool_or": _same("bool_or"),
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
}
"""One row per function with a partial form of bounded size. A form may decline (None): then rows are kept."""

BLIND_TO_DUPLICATES = frozenset({"approx_count_distinct", "collect_set", "bit_and", "bit_or", "min", "max"})
"""Functions whose result repeated rows cannot change: with only these, the kept rows are a set."""

ORDER_SENSITIVE = frozenset(
    {"array_agg", "collect_list", "first", "first_value", "last", "last_value", "listagg", "string_agg"}
)
"""Functions whose result hangs on the order of rows, unless WITHIN GROUP (ORDER BY …) settles it."""


def form_of(call: Call) -> Form | None:
    """Return the bounded form of ``call``, or None when the window's rows must be kept for it."""
    if (call.distinct and call.function not in ("min", "max")) or call.rest:
        return None
    build = FORMS.get(call.function)
    return build(call) if build else None


@dataclass(frozen=True)
class Decomposition:
    """All aggregates of a query block taken apart together.

    Attributes:
        inputs: SQL of the columns ``a0``, ``a1``, … computed per row from the argument columns.
        partials: the columns ``p0``, ``p1``, … with all placeholders resolved to input columns.
        finals: per call, SQL over partial columns, or None where the rows are kept.
        kept: per call that keeps rows, its text over the fields of the kept rows, by the call's position.
        rows: the name of the partial column that holds the kept rows, or None.
        sortable: whether the kept rows can be sorted, so that order-dependent arithmetic repeats exactly.
    """

    inputs: tuple[str, ...]
    partials: tuple[Partial, ...]
    finals: tuple[str | None, ...]
    kept: tuple[tuple[int, str], ...]
    rows: str | None
    sortable: bool


def decompose(calls: tuple[Call, ...]) -> Decomposition:
    """Take the aggregates of a block apart; argument SQL must be columns of the input relation (or constants)."""
    inputs: list[str] = []
    partials: list[Partial] = []
    finals: list[str | None] = []
    kept: list[tuple[int, str]] = []
    fields: dict[str, str] = {}
    for position, call in enumerate(calls):
        form = form_of(call)
        if form is None:
            finals.append(None)
            kept.append((position, _over_kept_rows(call)))
            fields |= {a.sql: a.type for a in (*call.arguments, *call.ordering) if not a.constant}
            if call.filter is not None:
                fields[call.filter] = "boolean"
            continue
        columns = {f"a{i}": _place(inputs, text) for i, text in enumerate(form.inputs)}
        places = [_place(partials, Partial(p.sql.format(**columns), p.merge, p.type)) for p in form.partials]
        finals.append(form.final.format(*(f"p{i}" for i in places)))
    rows = None
    sortable = not any("map<" in kind or "variant" in kind for kind in fields.values())
    if kept:
        as_set = sortable and all(calls[i].distinct or calls[i].function in BLIND_TO_DUPLICATES for i, _ in kept)
        rows = f"p{len(partials)}"
        partials.append(_kept_rows(fields or {"1": "int"}, as_set))
    return Decomposition(tuple(inputs), tuple(partials), tuple(finals), tuple(kept), rows, sortable)


def _place(columns: list, value: object) -> str | int:
    """Return where ``value`` stands among ``columns``, adding it when new: ``a<n>`` for text, the number otherwise."""
    if value not in columns:
        columns.append(value)
    position = columns.index(value)
    return f"a{position}" if isinstance(value, str) else position


def _kept_rows(fields: dict[str, str], as_set: bool) -> Partial:
    """Return the partial that gathers the argument values of the rows."""
    row = "named_struct(" + ", ".join(f"'{name}', {name}" for name in fields) + ")"
    kind = "array<struct<" + ",".join(f"{name}:{kind}" for name, kind in fields.items()) + ">>"
    if as_set:
        return Partial(f"collect_set({row})", "array_distinct(flatten(collect_list({})))", kind)
    return Partial(f"collect_list({row})", "flatten(collect_list({}))", kind)


def _over_kept_rows(call: Call) -> str:
    """Return the call as Spark shall run it over the kept rows."""
    arguments = ", ".join(a.sql for a in call.arguments) or ("*" if call.function == "count" else "")
    distinct = "DISTINCT " if call.distinct else ""
    rest = " " + call.rest.format(*(a.sql for a in call.ordering)) if call.rest else ""
    chosen = f" FILTER (WHERE {call.filter})" if call.filter else ""
    return f"{call.function}({distinct}{arguments}){rest}{chosen}"
