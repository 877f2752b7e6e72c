"""Texts looked through without being read: what a pattern finds in them, bracketed comments as wholes."""

from __future__ import annotations

import re
from collections.abc import Iterator

_EDGES = re.compile(r"/\*(?!\+)|\*/")


def found_in(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[re.Match[str], int]]:
    """Yield what a pattern finds in a text, one behind the other, with its end; where that is ``/*``, the comment's.

    Example:
        >>> [(found[0], end) for found, end in found_in("a /* b /* c */ d */ e", re.compile("/[*]|[a-z]"))]
        [('a', 1), ('/*', 19), ('e', 21)]
    """
    at = 0
    while found := pattern.search(text, at):
        at = comment_end(text, found.start()) if found[0] == "/*" else found.end()
        yield found, at


def comment_end(text: str, start: int) -> int:
    """Return the end of the comment, or hint, that begins with the two characters at ``start``; where none, the text's.

    As to Spark, comments nest, and what would begin a hint begins none inside a comment.

    Example:
        >>> text = "/* a /* b */ c */ SELECT /*+ COALESCE(1) */ 1"
        >>> text[comment_end(text, 0) :], text[comment_end(text, 25) :]
        (' SELECT /*+ COALESCE(1) */ 1', ' 1')
    """
    depth = 1
    for edge in _EDGES.finditer(text, start + 2):
        depth += -1 if edge[0] == "*/" else 1
        if depth == 0:
            return edge.end()
    return len(text)
