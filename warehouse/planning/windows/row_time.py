"""When a row is, by the expressions of its window: its time, and the gap of its own after which a session ends."""

from __future__ import annotations

from warehouse.catalog.entries import Column
from warehouse.errors import Span, fail
from warehouse.language.fragments import Fragment
from warehouse.planning.context import Context
from warehouse.planning.words.text import Render, Text


def check_time(text: Text, time: Span, column: Column) -> None:
    """Refuse a window's time, analyzed as ``column``, that is no point in time."""
    if column.type not in ("timestamp", "timestamp_ntz", "date"):
        fail("WAREHOUSE_WINDOW_TIME_TYPE", time, expression=time.of(text.text), type=column.type)


def gap_micros(context: Context, text: Text, relation: Span, gap: Span, analysis: Render) -> Fragment:
    """Return SQL for a row's own gap in microseconds, NULL where it has months.

    Raises:
        WarehouseError: it is neither an interval of days to seconds nor a string.
    """
    expression = "(" + analysis(gap) + ")"
    (column,) = context.analyzer.columns("SELECT " + expression + " FROM " + analysis(relation))
    of_string = column.type == "string"
    if of_string:
        expression = "CAST(" + expression + " AS INTERVAL)"
    elif not column.type.startswith("interval") or set(column.type.split()) & {"month", "year"}:
        fail("WAREHOUSE_GAP_TYPE", gap, expression=gap.of(text.text), type=column.type)
    micros = "unix_micros(TIMESTAMP'1970-01-01 00:00:00Z' + " + expression + ")"
    if not of_string:
        return micros
    fixed = "extract(YEAR FROM " + expression + ") = 0 AND extract(MONTH FROM " + expression + ") = 0"
    return "CASE WHEN " + fixed + " THEN " + micros + " END"


def as_timestamp(time: Fragment, kind: str) -> Fragment:
    """Return the time of a window, whose type is ``kind``, as a TIMESTAMP."""
    return time if kind == "timestamp" else "CAST(" + time + " AS TIMESTAMP)"
