"""For whom a view is: the words between CREATE and VIEW."""

from __future__ import annotations

from functools import lru_cache

from warehouse.language.tokens import tokenize


@lru_cache(512)
def view_scope(text: str) -> str:
    """Return for whom a statement's view is: ``GLOBAL``, ``TEMPORARY``, or nothing for one that stays.

    Example:
        >>> view_scope("CREATE OR REPLACE TEMP VIEW v AS SELECT 1")
        'TEMPORARY'
    """
    words = [token.upper for token in (tokenize(text) or ())[:6]]
    before = set(words[: words.index("VIEW")] if "VIEW" in words else ())
    return "GLOBAL" if "GLOBAL" in before else "TEMPORARY" if before & {"TEMP", "TEMPORARY"} else ""
