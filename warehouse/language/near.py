"""Near misses: words in clause position that only make sense as a clause of ours that was misspelt."""

from __future__ import annotations

from warehouse.errors import fail
from warehouse.language.clauses import EXAMPLES, KINDS, MODES, clauses
from warehouse.language.cursor import Cursor, close_to, fail_misspelt
from warehouse.language.keywords import clause_start
from warehouse.language.tokens import Kind
from warehouse.language.triggers import UNIT_STARTS

_TRIGGER = "TRIGGER AT WATERMARK"
_LATENESS = "ALLOWED LATENESS INTERVAL 1 HOUR"


def clearly_meant(cursor: Cursor, end: int, after_ours: bool) -> None:
    """Fail if the words at the cursor (or the one before, taken for an alias) are a clause of ours, misspelt.

    ``after_ours``: clauses of ours stand right before; then only what may follow them is let through.
    """
    if cursor.at >= end:
        return
    for at in (cursor.at - 1, cursor.at):
        if at >= 0:
            misspelt(cursor, at)
    if not after_ours or clause_start(cursor) is not None:
        return
    token = cursor.token
    if token.upper in ("EARLY", "LATE", "UNTIL", "AND", "OR", "THEN"):
        hints = {"EARLY": "AT WATERMARK", "LATE": "AT WATERMARK", "UNTIL": "REPEAT"}
        fail(
            "WAREHOUSE_TRIGGER_WORD_MISPLACED", token.span, word=token.upper, owner=hints.get(token.upper, "a trigger")
        )
    meant = close_to(token, (*MODES, "WINDOW", "TRIGGER", "ALLOWED", "EARLY", "LATE", "UNTIL", "ONCE"))
    if meant:
        fail_misspelt(token, meant, "The query", _shown(meant))
    if token.kind is not Kind.END:
        fail("WAREHOUSE_AFTER_CLAUSES", token.span, found=token.text)


def misspelt(cursor: Cursor, at: int) -> None:
    """Fail if the two words from index ``at`` on are a clause of ours with a slip in it."""
    word, after, third = (cursor.tokens[min(at + i, len(cursor.tokens) - 1)] for i in range(3))
    if word.kind is not Kind.WORD or after.kind is not Kind.WORD:
        return
    if word.upper == "TRIGGER" and at < cursor.at and (close_to(after, UNIT_STARTS) or after.upper == "WATERMARK"):
        cursor.at = at
        clauses(cursor)
    if after.upper in UNIT_STARTS and (meant := close_to(word, ["TRIGGER"])):
        fail_misspelt(word, meant, "The clause", _TRIGGER)
    if after.upper in KINDS and (meant := close_to(word, ["WINDOW"])):
        fail_misspelt(word, meant, "The clause", EXAMPLES[after.upper])
    if (
        word.upper == "WINDOW"
        and third.upper not in ("AS", "(")
        and after.kind is Kind.WORD
        and (meant := close_to(after, KINDS))
    ):
        fail("WAREHOUSE_WINDOW_KIND", after.span, found=after.text, meant=meant, example=EXAMPLES[meant])
    if after.upper == "LATENESS" and (meant := close_to(word, ["ALLOWED"])):
        fail_misspelt(word, meant, "The clause", _LATENESS)
    if word.upper == "ALLOWED" and (meant := close_to(after, ["LATENESS"])):
        fail_misspelt(after, meant, "ALLOWED LATENESS", _LATENESS)


def _shown(word: str) -> str:
    return {
        **{mode: f"{_TRIGGER} {mode}" for mode in MODES},
        "WINDOW": EXAMPLES["FIXED"],
        "TRIGGER": _TRIGGER,
        "ALLOWED": _LATENESS,
        "EARLY": f"{_TRIGGER} EARLY EVERY INTERVAL 1 MINUTE",
        "LATE": f"{_TRIGGER} LATE EVERY 1 ROW",
        "UNTIL": "TRIGGER REPEAT EVERY 10 ROWS UNTIL AT WATERMARK",
        "ONCE": "TRIGGER ONCE (AT WATERMARK)",
    }.get(word, word)
