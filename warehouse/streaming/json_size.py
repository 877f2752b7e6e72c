"""How long a row is as UTF-8 JSON, without writing the JSON where its length is known sooner.

Writing it, ``octet_length(to_json(…))``, is the dearest thing a trigger does for a row. Whole numbers, text without
characters to escape, dates and timestamps are counted instead; whatever else there is goes through ``to_json``.
"""

from __future__ import annotations

import json

from warehouse.catalog.entries import Column, quote_name

WHOLE_NUMBERS = frozenset({"tinyint", "smallint", "int", "bigint"})
AROUND_ONE_VALUE = len('{"v":}')


def json_size(columns: tuple[Column, ...]) -> str:
    """Return SQL for ``octet_length(to_json(struct(columns)))``, in a session whose time zone is UTC.

    NULLs are left out, as ``to_json`` does.
    """
    parts, others = [], []
    for column in columns:
        name = quote_name(column.name)
        length = _value(name, column.type)
        if length is None:
            others.append(name)
        else:
            key = len(json.dumps(column.name, ensure_ascii=False).encode())
            parts.append(f"CASE WHEN {name} IS NULL THEN 0 ELSE {key} + {len(':,')} + {length} END")
    if others:  # its braces are not counted, but a comma behind it is
        parts.append(f"coalesce(nullif(octet_length(to_json(struct({', '.join(others)}))), {len('{}')}) - 1, 0)")
    return f"greatest({' + '.join(parts) or '0'} + 1, 2)"  # each part has a comma, the last one has none: two braces


def _value(name: str, kind: str) -> str | None:
    """Return SQL for the length of a value as JSON, None for a type that ``to_json`` is asked about."""
    written = f"octet_length(to_json(struct({name} AS v))) - {AROUND_ONE_VALUE}"
    match kind:
        case "boolean":
            return f"if({name}, 4, 5)"
        case "string":
            return f"CASE WHEN {name} RLIKE r'[\"\\\\\\x00-\\x1f]' THEN {written} ELSE octet_length({name}) + 2 END"
        case "date":
            four_digits = f"{name} >= DATE'0001-01-01' AND {name} < DATE'+10000-01-01'"
            return f"CASE WHEN {four_digits} THEN 12 ELSE {written} END"
        case "timestamp":
            four_digits = f"{name} >= TIMESTAMP'0001-01-01 00:00:00Z' AND {name} < TIMESTAMP'+10000-01-01 00:00:00Z'"
            return f"CASE WHEN {four_digits} THEN 26 ELSE {written} END"
    return f"length(CAST({name} AS STRING))" if kind in WHOLE_NUMBERS else None
