"""How many columns of a terminal a text takes."""

from __future__ import annotations

import unicodedata


def display_width(text: str) -> int:
    """Return the number of terminal columns of ``text``.

    Example:
        >>> display_width("naïve"), display_width("東京"), display_width("e\u0301")
        (5, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_width, text))


def pad(text: str, width: int, right: bool) -> str:
    """Return ``text`` filled with spaces up to ``width`` columns, at the ``right`` edge or the left one."""
    space = " " * (width - display_width(text))
    return space + text if right else text + space


def clip(text: str, width: int) -> str:
    """Return ``text`` cut to ``width`` columns, its last one a ``…`` when anything was cut."""
    if len(text) <= width and display_width(text) <= width:
        return text
    taken, out = 0, []
    for character in text:
        taken += _width(character)
        if taken > width - 1:
            break
        out.append(character)
    return "".join(out) + "…"


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
