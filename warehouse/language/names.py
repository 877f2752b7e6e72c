"""Identifiers as SQL text."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SPOKEN = frozenset({
    "anti", "cross", "except", "full", "inner", "intersect", "join", "lateral", "left", "minus", "natural", "on",
    "right", "semi", "stream", "union", "using",
})  # fmt: skip
"""Words that Spark's grammar takes for its own before a relation, or in the place of its alias."""


def quote_name(name: str) -> str:
    """Return ``name`` as one identifier of SQL text, in backticks where it is not a plain word that is only a name.

    Example:
        >>> quote_name("plays"), quote_name("a`b.c"), quote_name("Stream")
        ('plays', '`a``b.c`', '`Stream`')
    """
    return name if _PLAIN.fullmatch(name) and name.lower() not in _SPOKEN else "`" + name.replace("`", "``") + "`"
