"""When what was typed is a whole statement, or a command of the prompt's."""

from __future__ import annotations

import re

_PIECES = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^'\\]|\\.)*(?:'|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z)|`[^`]*(?:`|\Z)""", re.DOTALL
)
_BARE = frozenset({"exit", "quit", "help", "exit;", "quit;", "help;"})


def is_command(text: str) -> bool:
    r"""Say whether a line is for the prompt and not for the engine: ``\dt``, ``exit``, ``.tables``.

    Example:
        >>> [is_command(t) for t in (r"\dt", "exit", ".tables", "SELECT 1", ".5")]
        [True, True, True, False, False]
    """
    line = text.strip()
    return line.startswith("\\") or line.lower() in _BARE or re.match(r"\.[a-z]", line) is not None


def is_whole(text: str) -> bool:
    r"""Say whether Enter ends the input: a command, nothing at all, or statements up to the last semicolon.

    Example:
        >>> [is_whole(t) for t in ("SELECT 1;", "SELECT ';'", "SELECT 1; -- why", "BEGIN SELECT 1; END;")]
        [True, False, True, True]
    """
    if is_command(text):
        return True
    bare = _PIECES.sub(lambda m: " " if m[0][:2] in ("--", "/*") else "''", text).strip()
    if not bare:
        return not text.strip() or text.strip().startswith("--")
    if _open(text):
        return False
    if re.match(r"(?:\w+\s*:\s*)?BEGIN\b(?!\s*(?:;|TRANSACTION|WORK))", bare, re.IGNORECASE):
        return re.search(r"\bEND\b\s*\w*\s*;$", bare, re.IGNORECASE) is not None
    return bare.endswith(";")


def _open(text: str) -> bool:
    """Say whether the text ends inside a string, a quoted name or a comment."""
    pieces = list(_PIECES.finditer(text))
    if not pieces or pieces[-1].end() != len(text):
        return False
    piece = pieces[-1][0]
    if piece.startswith("--"):
        return False
    closing = "*/" if piece.startswith("/*") else piece[0]
    return not piece.endswith(closing) or len(piece) < 2 * len(closing)
