"""All aggregates of a query block taken apart together.

One that has no form keeps the window's rows (their argument values) in one sorted array and runs Spark's own function
over it at the end, so that any aggregate works and none depends on the order of arrival.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from warehouse.dataflow.aggregates.calls import SIGN, Call, Partial, comparable
from warehouse.dataflow.aggregates.forms import BLIND_TO_DUPLICATES, form_of, keeps_set
from warehouse.dataflow.aggregates.sets import set_of


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
