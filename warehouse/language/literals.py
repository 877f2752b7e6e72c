"""String literals and dotted names: what stands between the quotes."""

from __future__ import annotations

import re
import sys

from warehouse.errors import Span
from warehouse.language.statements import Name

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2}|.)", re.DOTALL)
_SIMPLE = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_NO_CHARACTER = 0xFFFD
"""Stands for what is none."""
_PART = re.compile(r"\s*(?:`((?:[^`]|``)+)`|([^.`]+?))\s*(?:\.|$)")


def string_value(literal: str) -> str:
    r"""Return what a string literal stands for, by Spark's rules (``'…'``, ``"…"`` and raw ``r'…'``).

    Example:
        >>> string_value(r"'a\tb'")
        'a\tb'
        >>> string_value("'it''s'")
        "it's"
        >>> string_value(r"'\ud83d\ude00'") == string_value(r"'\U0001F600'") == "\U0001f600"
        True
    """
    if literal[0] in "rR":
        return literal[2:-1]
    quote = literal[0]
    text = _ESCAPE.sub(_unescaped, literal[1:-1].replace(quote * 2, quote))
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def string_literal(text: str) -> str:
    r"""Return a string literal that stands for ``text``.

    Example:
        >>> string_literal("it's")
        "'it\\'s'"
    """
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _unescaped(match: re.Match[str]) -> str:
    code = match.group(1)
    if len(code) == 3:
        return chr(int(code, 8))
    if len(code) > 1:
        point = int(code[1:], 16)
        return chr(point if point <= sys.maxunicode else _NO_CHARACTER)
    return _SIMPLE.get(code, code)


def split_name(text: str, span: Span) -> Name | None:
    """Return the parts of a dotted name inside a string (``'a.`b.c`'``), or None where it is none."""
    parts, position = [], 0
    while position < len(text):
        match = _PART.match(text, position)
        if not match:
            return None
        parts.append(match.group(1).replace("``", "`") if match.group(1) else match.group(2))
        position = match.end()
    return Name(tuple(parts), span) if parts and not text.endswith(".") else None
