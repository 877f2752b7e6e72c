"""Where an expression stands in another one as a whole, by the precedence of Spark's operators.

Source: ``booleanExpression``, ``valueExpression`` and ``primaryExpression`` of Spark's ``SqlBaseParser.g4``; operators
of equal precedence are grouped from the left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from warehouse.errors import Span
from warehouse.planning.words.scan import Word, depths

_OPERATORS = (
    ("*", "/", "%", "div"),
    ("+", "-", "||"),
    ("<<", ">>", ">>>"),
    ("&",),
    ("^",),
    ("|",),
    ("=", "==", "<=>", "<>", "!=", "<", "<=", "!>", ">", ">=", "!<"),
    ("is", "in", "like", "ilike", "rlike", "regexp", "between", "from"),
    ("not",),
    ("and",),
    ("or",),
)
"""From those that bind closest to those that bind loosest."""

_LEVELS = {operator: level for level, operators in enumerate(_OPERATORS, 1) for operator in operators}
_WHOLE, _LOOSEST = 0, len(_OPERATORS) + 1
_BEFORE = ("", "(", "[", ",", "case", "when", "then", "else")
_AFTER = ("", ")", "]", ",", "when", "then", "else", "end", "as")
_OPEN, _CLOSE = ("(", "[", "{", "case"), (")", "]", "}", "end")


def occurrences(
    text: list[Word], pattern: list[Word], covered: Iterable[Span] = (), others: Collection[Span] = ()
) -> list[Span]:
    """Return where ``pattern`` stands in ``text`` as an expression of its own, which precedence does not tear apart.

    Args:
        text: looked at.
        pattern: looked for; brackets around all of it say nothing.
        covered: where it is not looked for.
        others: words that are no columns, see ``no_columns``: not what a pattern of one word means.
    """
    words = [w for w, _ in text]
    wanted = _without_brackets([w for w, _ in pattern])
    level, hidden, found = _level(wanted), list(covered), list[Span]()
    for at in range(len(text) - len(wanted) + 1):
        end = at + len(wanted)
        if words[at:end] != wanted:
            continue
        span = text[at][1].to(text[end - 1][1])
        if any(h.covers(span) for h in hidden) or (found and span.start < found[-1].end):
            continue
        is_call = words[end : end + 1] == ["("] and _is_name(wanted[-1])
        if is_call or (at and words[at - 1] == ".") or (len(wanted) == 1 and span in others):
            continue
        if level == _WHOLE or (_binds_looser_before(words, at, level) and _binds_looser_after(words, end, level)):
            found.append(span)
    return found


def _binds_looser_before(words: Sequence[str], at: int, level: int) -> bool:
    before = words[at - 1] if at else ""
    if before in ("+", "-") and not (at > 1 and _ends_operand(words[at - 2])):
        return False  # a sign
    return before in _BEFORE or _LEVELS.get(before, _WHOLE) > level


def _binds_looser_after(words: Sequence[str], end: int, level: int) -> bool:
    after = words[end] if end < len(words) else ""
    return after in _AFTER or _LEVELS.get(after, _WHOLE) >= level


def _ends_operand(word: str) -> bool:
    return word in _CLOSE or not (word in _LEVELS or word in _BEFORE)


def _is_name(word: str) -> bool:
    return word not in _CLOSE and word not in _LEVELS


def _level(wanted: Sequence[str]) -> int:
    """Return how loosely the loosest operator outside brackets binds; ``_WHOLE`` without any."""
    outside = [word for word, depth in zip(wanted, depths(wanted, _OPEN, _CLOSE), strict=True) if depth == 0]
    unknown = any(word in ("->", "=>", ":", "!", "~") for word in outside)
    return _LOOSEST if unknown else max((_LEVELS.get(word, _WHOLE) for word in outside), default=_WHOLE)


def _without_brackets(wanted: list[str]) -> list[str]:
    while len(wanted) > 2 and wanted[0] == "(" and wanted[-1] == ")":
        inner = wanted[1:-1]
        within = depths(inner, _OPEN, _CLOSE)
        is_one = min(within) >= 0 and inner[0] not in ("select", "with")
        if not is_one or any(word == "," and depth == 0 for word, depth in zip(inner, within, strict=True)):
            break
        wanted = inner
    return wanted
