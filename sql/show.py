"""How the demo prints: paragraphs, small tables, spans of time. Text in, text out."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

MARGIN = "  "


def title(text: str) -> None:
    """Print a heading."""
    print(f"\n{text}\n{'─' * len(text)}", flush=True)


def say(text: str) -> None:
    """Print a paragraph."""
    print(textwrap.fill(" ".join(text.split()), 110), flush=True)


def code(text: str) -> None:
    """Print lines of SQL as they are written."""
    print(textwrap.indent(text.strip(), MARGIN), flush=True)


def table(names: Sequence[str], rows: Iterable[Sequence[Any]], after: str = "") -> None:
    """Print rows under the names of their columns; numbers stand on the right."""
    listed = [list(row) for row in rows]
    right = [all(isinstance(row[i], int | float | None) for row in listed) for i in range(len(names))]
    cells = [list(names)] + [[_cell(value) for value in row] for row in listed]
    widths = [max(len(row[i]) for row in cells) for i in range(len(names))]
    print()
    for number, row in enumerate(cells):
        line = "  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True))
        print(f"{MARGIN}{line.rstrip()}")
        if number == 0:
            print(MARGIN + "  ".join("─" * w for w in widths))
    print(after or "", flush=True)


def _cell(value: Any) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return str(value).lower()
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.1f}"
        case datetime():
            return instant(value)
    return str(value)


def instant(value: datetime | None) -> str:
    """Return an instant to the minute; the ends of time by name."""
    if value is None:
        return "beginning of time"
    if value.year == 9999:
        return "end of time"
    return f"{value.astimezone(UTC):%Y-%m-%d %H:%M}" if value.tzinfo else f"{value:%Y-%m-%d %H:%M}"


def span(length: timedelta) -> str:
    """Return a length of time to the minute.

    Example:
        >>> span(timedelta(minutes=135))
        '2 h 15 min'
    """
    minutes = round(length.total_seconds() / 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min"
