"""Identifiers as SQL text."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def quote_name(name: str) -> str:
    """Return ``name`` as one identifier of SQL text, in backticks where it is not a plain word.

    Example:
        >>> quote_name("plays"), quote_name("a`b.c")
        ('plays', '`a``b.c`')
    """
    return name if _PLAIN.fullmatch(name) else "`" + name.replace("`", "``") + "`"
