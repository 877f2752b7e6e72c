"""Windows and triggers of the user's own, bound: found in ``udfs/`` or among the SQL functions, typed, made text."""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import NoReturn

from warehouse.dataflow import triggers
from warehouse.dataflow.custom import CustomTrigger, CustomWindow
from warehouse.dataflow.triggers import Own
from warehouse.dataflow.windows import Custom
from warehouse.errors import Span, WarehouseError, fail
from warehouse.language.clauses import EXAMPLES, KINDS
from warehouse.language.fragments import Fragment, joined, of
from warehouse.language.names import quote_name
from warehouse.language.statements import OwnTrigger, OwnWindow
from warehouse.language.triggers import UNIT_STARTS
from warehouse.planning.context import Context
from warehouse.planning.windows.answers import asked, broken, parameters

_PAIR = r"struct<([^:<>]+):timestamp,([^:<>]+):timestamp>"


def _unknown(
    context: Context, place: Span, text: str, condition: str, kind: type, ours: tuple[str, ...], **more: str
) -> NoReturn:
    found = place.of(text)
    defined, broken_files = context.udfs.told(kind)
    known = [*ours, *defined]
    near = get_close_matches(found.upper(), [k.upper() for k in known], 1, 0.6)
    meant = next((k for k in known if near and k.upper() == near[0]), ours[0])
    own = f"those of {context.udfs.folder.name}/ ({', '.join(defined) or 'none'}"
    own += f"; {', '.join(broken_files)} cannot be read as Python)" if broken_files else ")"
    fail(condition, place, found=found, meant=meant, own=own, **more)


# ------------------------------------------------------------------ windows


def bound_window(
    context: Context, text: str, window: OwnWindow, analysis: Callable[[Span], Fragment], relation: Fragment
) -> tuple[Custom, Fragment]:
    """Return a window of the user's own, and SQL for the array of each row's windows, bounds in microseconds.

    Args:
        context: catalog, analyzer, definitions.
        text: the text that ``window`` stands in.
        window: the clause.
        analysis: renders expressions.
        relation: what the block reads, without rows.

    Raises:
        WarehouseError: nothing defines it, or what does so does not fit.
    """
    name = window.name.of(text).strip("`")
    own = context.udfs.find(name, CustomWindow, window.name)
    if own is None and not _has_function(context, f"{name}_assign"):
        example = EXAMPLES[next(iter(get_close_matches(name.upper(), KINDS, 1, 0.6)), "FIXED")]
        _unknown(context, window.name, text, "WAREHOUSE_WINDOW_UNKNOWN", CustomWindow, KINDS, example=example)
    _refuse_options(text, window, own)
    given = [analysis(span) for span in (window.time, *window.arguments)]
    context.analyzer.columns("SELECT " + joined(", ", given) + " FROM " + relation)
    if own is None:
        assign, merge = _by_functions(context, window, name, given, relation)
    else:
        assign = _by_class(window.name, name, own, given)
        merge = asked(window.name, name, own, "merge", "timestamp_micros(pe)", "timestamp_micros(ws)")
    try:
        (column,) = context.analyzer.columns("SELECT " + assign + " AS w FROM " + relation)
    except WarehouseError as error:
        fail("WAREHOUSE_UDF_SQL", window.name, name=name, part="assign", reason=error.diagnostics[0].message)
    if re.fullmatch(_PAIR, column.type):
        assign = "array(" + assign + ")"
    pair = re.fullmatch(f"(?:array<)?{_PAIR}>?", column.type)
    if pair is None:
        fail("WAREHOUSE_ASSIGN_TYPE", window.name, name=name, type=column.type)
    start, end = (f"unix_micros(__w_w.{quote_name(field)})" for field in pair.groups())
    listed = "transform(" + assign + f", __w_w -> named_struct('ws', {start}, 'we', {end}))"
    if merge is not None:
        _boolean(context, window.name, name, "merge", f"SELECT {merge} AS m FROM (SELECT 0L AS ws, 0L AS pe)")
    return Custom(" ".join(window.span.of(text).split()[1:]), merge), listed


def by_functions(context: Context, text: str, window: OwnWindow) -> bool:
    """Say whether a window is defined by SQL functions, and not in ``udfs/``."""
    return context.udfs.find(window.name.of(text).strip("`"), CustomWindow, window.name) is None


def _by_class(place: Span, name: str, own: CustomWindow, given: list[Fragment]) -> Fragment:
    """Return the assignment of a class: its text sees the row's values under names of ours."""
    fields = ["ts", *(f"a{i}" for i in range(len(given) - 1))]
    said = asked(place, name, own, "assign", *(f"__w_r.{field}" for field in fields))
    if not isinstance(said, str):
        structs = (f"named_struct('ws', CAST({s} AS TIMESTAMP), 'we', CAST({e} AS TIMESTAMP))" for s, e in said)
        said = f"array({', '.join(structs)})"
    values = joined(", ", [of(f"'{field}', ") + value for field, value in zip(fields, given, strict=True)])
    return "transform(array(named_struct(" + values + f")), __w_r -> {said})[0]"


def _by_functions(
    context: Context, window: OwnWindow, name: str, given: list[Fragment], relation: Fragment
) -> tuple[Fragment, str | None]:
    """Return the assignment by SQL functions ``<name>_assign`` and, where there is one, ``<name>_merge``."""
    home = quote_name(context.schema) + "."
    assign = home + quote_name(f"{name}_assign") + "(" + joined(", ", given) + ")"
    try:
        context.analyzer.columns("SELECT " + assign + " FROM " + relation)
    except WarehouseError as error:
        fail("WAREHOUSE_UDF_SQL", window.name, name=name, part="assign", reason=error.diagnostics[0].message)
    if not _has_function(context, f"{name}_merge"):
        return assign, None
    return assign, f"{home}{quote_name(f'{name}_merge')}(timestamp_micros(pe), timestamp_micros(ws))"


def _has_function(context: Context, name: str) -> bool:
    """Say whether the current schema has a SQL function of that name."""
    try:
        context.analyzer.columns(of(f"SELECT {quote_name(context.schema)}.{quote_name(name)}()"))
    except WarehouseError as error:
        return not error.diagnostics[0].condition.startswith("UNRESOLVED_ROUTINE")
    return True


_OPTION = re.compile(r"(SIZE|EVERY|GAP|OFFSET)\s+(INTERVAL\b|PER\b|['\"0-9])", re.IGNORECASE)
"""An option of the windows that are ours; nothing of the kind is an expression."""


def _refuse_options(text: str, window: OwnWindow, own: CustomWindow | None) -> None:
    """Refuse the options of our windows in one of the user's own, which takes values in order."""
    for span in window.arguments:
        if found := _OPTION.match(span.of(text)):
            name = window.name.of(text)
            takes = [f"{window.time.of(text)}", *parameters(own.assign)[1:]] if own else []
            how = f"It is written WINDOW {name} ({', '.join(takes)})" if takes else f"See the function {name}_assign"
            place = Span(span.start, span.start + len(found[1]))
            fail("WAREHOUSE_WINDOW_OWN_OPTION", place, name=name, option=found[1].upper(), how=how)


def _boolean(context: Context, place: Span, name: str, part: str, query: str) -> None:
    """Refuse SQL of the user's definition that does not analyze, or is no BOOLEAN."""
    try:
        (column,) = context.analyzer.columns(of(query))
    except WarehouseError as error:
        fail("WAREHOUSE_UDF_SQL", place, name=name, part=part, reason=error.diagnostics[0].message)
    if column.type != "boolean":
        fail("WAREHOUSE_UDF_TYPE", place, name=name, part=part, type=column.type, wanted="BOOLEAN")


# ------------------------------------------------------------------ triggers

_DUE = {"on_rows": "boolean", "on_watermark": "timestamp", "on_time": "timestamp"}
"""What says that a trigger is due, with the type of its SQL."""


def found_trigger(context: Context, text: str, unit: OwnTrigger) -> CustomTrigger:
    """Return what defines a unit of the user's own.

    Raises:
        WarehouseError: nothing does.
    """
    name = unit.name.of(text).strip("`")
    own = context.udfs.find(name, CustomTrigger, unit.name)
    if own is None:
        _unknown(context, unit.name, text, "WAREHOUSE_TRIGGER_UNKNOWN", CustomTrigger, tuple(sorted(UNIT_STARTS)))
    return own


def check_trigger(context: Context, text: str, unit: OwnTrigger, own: Own, types: dict[str, str]) -> None:
    """Refuse a unit whose definition does not say what a step can compute.

    Args:
        context: catalog and analyzer.
        text: the text that ``unit`` stands in.
        unit: the unit as written.
        own: its definition.
        types: the types of the *input* columns that its arguments may be.
    """
    name = unit.name.of(text).strip("`")
    node = triggers.Node(triggers.Kind.CUSTOM, 0, own=own)
    view = triggers.own_view(node)
    if not isinstance(own.trigger.goes_on, bool):
        broken(unit.name, name, f"goes_on is a value of type {type(own.trigger.goes_on).__name__}, not a bool")
    asked(unit.name, name, own.trigger, "arrived", *own.arguments)
    asked(unit.name, name, own.trigger, "kept", view, *own.arguments)
    due = {part: asked(unit.name, name, own.trigger, part, view, *own.arguments) for part in _DUE}
    pending, kept = triggers.pending(node), triggers.trigger_state(node)

    def analyzed(part: str, sql: str, columns: dict[str, str], wanted: str) -> None:
        typed = ", ".join(f"CAST(NULL AS {kind}) AS {column}" for column, kind in columns.items()) or "1"
        try:
            (column,) = context.analyzer.columns(of(f"SELECT {sql} AS v FROM (SELECT {typed})"))
        except WarehouseError as error:
            rows = [w.of(text) for w, its in zip(unit.arguments, own.arguments, strict=True) if its in types]
            if rows and part != "arrived":
                fail("WAREHOUSE_UDF_ROW_ARGUMENT", unit.name, name=name, part=part, arguments=", ".join(rows))
            fail("WAREHOUSE_UDF_SQL", unit.name, name=name, part=part, reason=error.diagnostics[0].message)
        if wanted and column.type != wanted:
            fail("WAREHOUSE_UDF_TYPE", unit.name, name=name, part=part, type=column.type, wanted=wanted.upper())

    known = {p.name: p.type for p in pending} | {k.name: k.type for k in kept}
    known |= {"__w_start": "timestamp", "__w_end": "timestamp"}
    for p in pending:
        analyzed("arrived", f"CAST({p.first} AS {p.type})", types | {"__w_arrival": "bigint"}, "")
        analyzed("arrived", f"CAST({p.merge} AS {p.type})", known, "")
    for k in kept:
        analyzed("kept", f"CAST({k.first} AS {k.type})", known, "")
        analyzed("kept", k.next, known | {"f_0": "boolean", "z_0": "boolean"}, "")
        analyzed("kept", f"CAST({k.merge.format(member='true')} AS {k.type})", known, "")
    for part, sql in due.items():
        if sql is not None:
            analyzed(part, sql, known, _DUE[part])
    if all(sql is None for sql in due.values()):
        reason = "neither it nor on_watermark nor on_time says when the trigger is due"
        fail("WAREHOUSE_UDF_SQL", unit.name, name=name, part="on_rows", reason=reason)


def definition(own: Own) -> str:
    """Return all that a trigger's definition says, as one text: it changes when the definition does."""
    node = triggers.Node(triggers.Kind.CUSTOM, 0, own=own)
    view = triggers.own_view(node)
    says = [getattr(own.trigger, part)(view, *own.arguments) for part in _DUE]
    return repr((own.trigger.goes_on, triggers.pending(node), triggers.trigger_state(node), says))
