"""Are two answers to one query the same? Exact where both are exact, to what both know where one is not.

Integers, decimals, strings and dates are compared exactly. Where one side is a floating-point number and the other a
decimal (Spark averages decimals to decimals, DuckDB to doubles), they may differ by one in the decimal's last place;
two floating-point numbers by a billionth. Rows are a multiset. Of a query with ORDER BY the sequence of the keys must
be the same too, and with LIMIT the rows that tie with the last one may be others: which of them a limit keeps is open.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from decimal import Decimal
from numbers import Number
from typing import Any

import pyarrow as pa
import pyarrow.csv
import sqlglot
from sqlglot import exp

RELATIVE = 1e-9
Row = tuple[Any, ...]


def difference(query: str, mine: pa.Table, theirs: pa.Table) -> str | None:
    """Return a sentence on the first difference between two answers to ``query``, None if they are the same."""
    if mine.num_columns != theirs.num_columns:
        return f"{mine.num_columns} columns instead of {theirs.num_columns}"
    if mine.num_rows != theirs.num_rows:
        return f"{mine.num_rows} rows instead of {theirs.num_rows}"
    ours, others = _rows(mine), _rows(theirs)
    keys, limit = order(query)
    for number, (one, other) in enumerate(zip(ours, others, strict=True)):
        if not _same_row(_key(one, keys), _key(other, keys)):
            return f"row {number} in order has the keys {_key(one, keys)} instead of {_key(other, keys)}"
    if limit is not None and ours and len(ours) == limit:
        last = _key(others[-1], keys)
        ours = [r for r in ours if not _same_row(_key(r, keys), last)]
        others = [r for r in others if not _same_row(_key(r, keys), last)]
    for one, other in zip(_arranged(ours, others), _arranged(others, ours), strict=True):
        if not _same_row(one, other):
            return f"row {one} instead of {other}"
    return None


def order(query: str) -> tuple[tuple[int, ...], int | None]:
    """Return which of its columns a query is ordered by, and its limit; a key that is no column ends the list."""
    tree = sqlglot.parse_one(query, read="duckdb")
    names = [column.alias_or_name.lower() for column in tree.selects]
    keys: list[int] = []
    ordered = tree.args.get("order")
    for term in ordered.expressions if ordered else ():
        if not isinstance(term.this, exp.Column) or term.this.name.lower() not in names:
            break
        keys.append(names.index(term.this.name.lower()))
    limit = tree.args.get("limit")
    return tuple(keys), int(limit.expression.name) if limit else None


def from_text(text: str, schema: pa.Schema) -> pa.Table:
    """Return an answer that is written as lines with bars between the values, the first one naming the columns."""
    names = [f"c{number}" for number in range(len(schema))]
    return pyarrow.csv.read_csv(
        io.BytesIO(text.encode()),
        pyarrow.csv.ReadOptions(column_names=names, skip_rows=1),
        pyarrow.csv.ParseOptions(delimiter="|", quote_char=False, ignore_empty_lines=False),
        pyarrow.csv.ConvertOptions(column_types=dict(zip(names, schema.types, strict=True)), null_values=["", "NULL"]),
    )


def _rows(table: pa.Table) -> list[Row]:
    columns = [column.to_pylist() for column in table.columns]
    return list(zip(*columns, strict=True))


def _key(row: Row, keys: Sequence[int]) -> Row:
    return tuple(row[k] for k in keys)


def _arranged(rows: list[Row], beside: list[Row]) -> list[Row]:
    """Return rows in an order that two equal answers share: what is exact on both sides first."""
    width = len(rows[0]) if rows else 0
    inexact = {n for n in range(width) for row in (*rows, *beside) if isinstance(row[n], float)}
    columns = sorted(range(width), key=lambda n: n in inexact)
    return sorted(rows, key=lambda row: [(row[n] is None, _sortable(row[n])) for n in columns])


def _sortable(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return math.inf
    return 0 if value is None else value


def _same_row(one: Row, other: Row) -> bool:
    return all(_same(a, b) for a, b in zip(one, other, strict=True))


def _same(one: Any, other: Any) -> bool:
    if not (isinstance(one, Number) and isinstance(other, Number)):
        return bool(one == other)
    if not isinstance(one, float) and not isinstance(other, float):
        return bool(one == other)
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    if math.isinf(one) or math.isinf(other):
        return float(one) == float(other)
    last_place = sum(10.0 ** int(v.as_tuple().exponent) for v in (one, other) if isinstance(v, Decimal))
    allowed = max(RELATIVE * max(abs(float(one)), abs(float(other))), last_place)
    return abs(float(one) - float(other)) <= allowed
