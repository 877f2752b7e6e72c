"""When what was typed is a whole statement, or a command of the prompt's."""

from __future__ import annotations

import re

from warehouse.engine import comment_end, found_in

_PIECES = re.compile(r"""--[^\n]*|/\*|'(?:[^'\\]|\\.)*(?:'|\Z)|"(?:[^"\\]|\\.)*(?:"|\Z)|`[^`]*(?:`|\Z)""", re.DOTALL)
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
        >>> [is_whole(t) for t in ("/* a /* b */ SELECT 1;", "/* a /* b */ c */ SELECT 1;")]
        [False, True]
    """
    if is_command(text):
        return True
    bare = _bare(text).strip()
    if not bare:
        return not text.strip() or text.strip().startswith("--")
    if _open(text):
        return False
    if re.match(r"(?:\w+\s*:\s*)?BEGIN\b(?!\s*(?:;|TRANSACTION|WORK))", bare, re.IGNORECASE):
        return re.search(r"\bEND\b\s*\w*\s*;$", bare, re.IGNORECASE) is not None
    return bare.endswith(";")


def _bare(text: str) -> str:
    """Return a text with a blank in the place of each comment, and nothing in quotes."""
    at, bare = 0, ""
    for piece, end in found_in(text, _PIECES):
        bare += text[at : piece.start()] + (" " if piece[0][:2] in ("--", "/*") else "''")
        at = end
    return bare + text[at:]


def _open(text: str) -> bool:
    """Say whether the text ends inside a string, a quoted name or a comment."""
    *_, (last, end) = (None, 0), *found_in(text, _PIECES)
    if last is None or end != len(text) or last[0].startswith("--"):
        return False
    if last[0] == "/*":
        return comment_end(text + " ", last.start()) > end
    return not last[0].endswith(last[0][0]) or len(last[0]) < 2
