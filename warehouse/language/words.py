"""The words by which a text that may hold something of ours is known at a glance, long before it is parsed."""

from __future__ import annotations

WORDS = (
    "STREAM", "WINDOW", "TRIGGER", "DISCARDING", "ACCUMULATING", "RETRACTING", "LATENESS", "WATERMARK",
    "PANES", "LATE_ROWS", "BAD_ROWS", "TUMBLE", "HOP", "SESSION", "AS OF STEP", "REWRITE", "ANALYZE",
    "MODEL", "GENERATE", "GENERATOR", "ML_PREDICT", "ML_EVALUATE",
    "DISTRIBUTE", "TBLPROPERTIES", "PARTITION_STATS", "CACHE_STATS",
    # of a table that is distributed they keep it so, or say that they do not
    "MERGE", "UPDATE", "DELETE", "TRUNCATE", "OPTIMIZE", "RESTORE",
    # what was made is told as it was written
    "SHOW CREATE",
    # behind WITH or FROM: it writes, and what we maintain nobody writes to
    "INSERT",
)  # fmt: skip
"""A query without any of these, in whatever case and place, is Spark's byte for byte; one with some may be, too."""


def words_of_ours() -> str:
    """Return a regular expression, for Java and Python alike, that finds any of them; upper and lower case are one."""
    return "|".join(word.replace(" ", r"\s+") for word in WORDS)
