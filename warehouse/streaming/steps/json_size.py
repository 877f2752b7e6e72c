"""How long a row is as UTF-8 JSON, without writing the JSON where its length is known sooner.

Writing it, ``octet_length(to_json(…))``, is the dearest thing a trigger does for a row. A row of whole numbers, plain
text, and dates and times of four-digit years is counted instead; what other types write is asked of ``to_json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from warehouse.catalog.entries import Column, quote_name

LENGTHS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "length(CAST({} AS STRING))"),
    "boolean": "if({}, 4, 5)",
    "string": "octet_length({}) + 2",
    "date": "12",
    "timestamp": "26",
}
"""How long a value is as JSON, by its type, in a row that needs no care."""
CONTROLS = "".join(rf"\x{i:02x}" for i in range(0x20))
PLAIN_TEXT = rf"""{{}} RLIKE r'\A[^"\\{CONTROLS}]*\z'"""
"""A text that is its own JSON. Java looks such characters up in a table if each is named, in one loop if anchored."""
LONGER_YEARS = {
    "date": "NOT {} BETWEEN DATE'0001-01-01' AND DATE'9999-12-31'",
    "timestamp": "NOT {} BETWEEN TIMESTAMP'0001-01-01 00:00:00Z' AND TIMESTAMP'9999-12-31 23:59:59.999999Z'",
}


def json_size(columns: tuple[Column, ...]) -> str:
    """Return SQL for ``octet_length(to_json(struct(columns)))``, in a session whose time zone is UTC.

    NULLs are left out, as ``to_json`` does.
    """
    counted = {quote_name(c.name): c.type for c in columns if c.type in LENGTHS}
    names = {quote_name(c.name): len(json.dumps(c.name, ensure_ascii=False).encode()) for c in columns}
    parts = [
        f"CASE WHEN {name} IS NULL THEN 0 ELSE {names[name] + len(':,')} + {LENGTHS[kind].format(name)} END"
        for name, kind in counted.items()
    ]
    others = [name for name in names if name not in counted]
    if others:  # its braces are not counted, but a comma behind it is
        parts.append(f"coalesce(nullif({_written(others)}, {len('{}')}) - 1, 0)")
    size = f"greatest({' + '.join(parts) or '0'} + 1, 2)"  # each part has a comma, the last one has none: two braces
    texts = [name for name, kind in counted.items() if kind == "string"]
    care = [LONGER_YEARS[kind].format(name) for name, kind in counted.items() if kind in LONGER_YEARS]
    if texts:
        care.append("NOT " + PLAIN_TEXT.format(texts[0] if len(texts) == 1 else f"concat_ws('', {', '.join(texts)})"))
    return f"CASE WHEN {' OR '.join(care)} THEN {_written(names)} ELSE {size} END" if care else size


def _written(names: Iterable[str]) -> str:
    return f"octet_length(to_json(struct({', '.join(names)})))"
