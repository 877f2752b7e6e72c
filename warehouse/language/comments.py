"""Where bracketed comments end, for those who look at texts without reading them."""

from __future__ import annotations

import re

_EDGES = re.compile(r"/\*(?!\+)|\*/")


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
