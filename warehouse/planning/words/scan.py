"""Looks inside expressions, token by token: aggregate calls, group keys, window bounds. No tree, exact spans."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from warehouse.errors import Span
from warehouse.language.tokens import Kind, Token

_OPEN, _CLOSE = ("(", "[", "{"), (")", "]", "}")
_AFTER_ORDER = ("LIMIT", "OFFSET", "WINDOW", "SORT", "DISTRIBUTE", "CLUSTER")


@dataclass(frozen=True)
class FoundCall:
    """An aggregate call in the text.

    Attributes:
        span: all of it, FILTER and WITHIN GROUP included.
        function: lower-case name. name: where it stands.
        arguments: spans; a lone ``*`` is no argument.
        filter: the condition inside ``FILTER (WHERE …)``, or None.
        rest: the span of ``WITHIN GROUP (…)`` or ``IGNORE NULLS``, or None.
        ordering: the ordering expressions inside ``rest``, without ASC and DESC.
    """

    span: Span
    function: str
    name: Span
    arguments: tuple[Span, ...]
    distinct: bool
    filter: Span | None
    rest: Span | None
    ordering: tuple[Span, ...]


def within(tokens: Sequence[Token], span: Span) -> list[Token]:
    """Return the tokens that lie inside ``span``, of ``tokens`` in their order."""
    first = bisect_left(tokens, span.start, key=lambda token: token.span.start)
    last = bisect_right(tokens, span.end, lo=first, key=lambda token: token.span.end)
    return list(tokens[first:last])


def closing(tokens: Sequence[Token], at: int) -> int:
    """Return the position of the bracket that closes the one at ``at`` (the last token when none does)."""
    depth = 0
    for position in range(at, len(tokens)):
        text = tokens[position].upper
        if text in _OPEN:
            depth += 1
        elif text in _CLOSE:
            depth -= 1
            if depth == 0:
                return position
    return len(tokens) - 1


def named_subqueries(tokens: Sequence[Token]) -> Iterator[tuple[Token, Span]]:
    """Yield the names that stand behind brackets, with or without AS, and what the brackets hold."""
    for at, token in enumerate(tokens):
        end = closing(tokens, at) if token.upper == "(" else len(tokens)
        behind = [t for t in tokens[end + 1 : end + 3] if t.upper != "AS"][:1]
        if behind and behind[0].is_name:
            yield behind[0], token.span.to(tokens[end].span)


def split_at_commas(tokens: Sequence[Token]) -> list[list[Token]]:
    """Return the runs of tokens between commas outside brackets."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.upper in _OPEN:
            depth += 1
        elif token.upper in _CLOSE:
            depth -= 1
        if token.upper == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def span_of(tokens: Sequence[Token]) -> Span:
    """Return the span from the first to the last of ``tokens``."""
    return Span(tokens[0].start, tokens[-1].end)


def aggregate_calls(tokens: Sequence[Token], functions: Collection[str]) -> list[FoundCall]:
    """Return the outermost calls of ``functions`` in ``tokens``, by position; those of subqueries are not theirs.

    A call with OVER is none: it is a window function over the block's result, and what it is given may hold calls.
    """
    found: list[FoundCall] = []
    at = 0
    while at < len(tokens) - 1:
        token = tokens[at]
        dotted = at > 0 and tokens[at - 1].upper == "."
        name = at + _of_spark(tokens, at)
        if token.upper == "(" and tokens[at + 1].upper in ("SELECT", "WITH"):
            at = closing(tokens, at) + 1
        elif not dotted and _is_call(tokens, name, functions):
            call, behind = _call(tokens, name)
            call = replace(call, span=Span(token.start, call.span.end))
            is_over = behind < len(tokens) and tokens[behind].upper == "OVER"
            if not is_over:
                found.append(call)
            at = name + 1 if is_over else behind
        else:
            at += 1
    return found


def _of_spark(tokens: Sequence[Token], at: int) -> int:
    """Return how many tokens at ``at`` say that what follows is Spark's own: ``builtin.`` or ``system.builtin.``."""
    ahead = [token.text.lower() for token in tokens[at : at + 4]]
    return next((len(path) for path in _SPARKS_OWN if ahead[: len(path)] == path), 0)


_SPARKS_OWN = (["builtin", "."], ["system", ".", "builtin", "."])


def _is_call(tokens: Sequence[Token], at: int, functions: Collection[str]) -> bool:
    named = at + 1 < len(tokens) and tokens[at].is_name and tokens[at].text.lower() in functions
    is_quantifier = at > 0 and tokens[at - 1].upper in ("LIKE", "ILIKE")  # LIKE ANY (…), LIKE SOME (…)
    return named and tokens[at + 1].upper == "(" and not is_quantifier


@dataclass(frozen=True)
class Star:
    """A star that stands for columns, as an argument.

    Attributes:
        span: the star, its qualifier included.
        qualifier: the last name before it, lower case; empty without one.
        listed: where the names behind its EXCEPT end, or None without one.
    """

    span: Span
    qualifier: str
    listed: int | None


def stars(tokens: Sequence[Token]) -> list[Star]:
    """Return the stars in ``tokens``, of expressions; not ``count(*)``, which is of rows, nor those of subqueries."""
    found: list[Star] = []
    end = 0
    for at, token in enumerate(tokens):
        if at >= end and token.upper == "(" and at + 1 < len(tokens) and tokens[at + 1].upper in ("SELECT", "WITH"):
            end = closing(tokens, at) + 1
        if at < end or token.upper != "*":
            continue
        before = tokens[at - 1].upper if at else ","
        after = tokens[at + 1].upper if at + 1 < len(tokens) else ""
        qualifier = tokens[at - 2] if before == "." and at > 1 else None
        counts_rows = before == "(" and at > 1 and tokens[at - 2].upper == "COUNT"
        if counts_rows or (not qualifier and before not in ("(", ",", "DISTINCT", "ALL")):
            continue
        listed = tokens[closing(tokens, at + 2)].start if after == "EXCEPT" else None
        span = (qualifier or token).span.to(token.span)
        found.append(Star(span, qualifier.text.strip("`").lower() if qualifier else "", listed))
    return found


def without_columns(stars: Iterable[Star], columns: str, qualifiers: Collection[str]) -> list[tuple[Span, str]]:
    """Return edits by which stars leave out ``columns`` that are there: all but those with a qualifier not listed."""
    edits = []
    for star in stars:
        if not star.qualifier or star.qualifier in qualifiers:
            at = star.span.end if star.listed is None else star.listed
            edits.append((Span(at, at), f" EXCEPT ({columns})" if star.listed is None else f", {columns}"))
    return edits


def _call(tokens: Sequence[Token], at: int) -> tuple[FoundCall, int]:
    end = closing(tokens, at + 1)
    inside = list(tokens[at + 2 : end])
    distinct = bool(inside) and inside[0].upper in ("DISTINCT", "ALL")
    is_distinct = distinct and inside[0].upper == "DISTINCT"
    arguments = split_at_commas(inside[1:] if distinct else inside)
    if not is_distinct and len(arguments) == 1 and len(arguments[0]) == 1 and arguments[0][0].upper == "*":
        arguments = []
    condition = rest = None
    ordering: list[Span] = []
    last = end
    while last + 1 < len(tokens):
        words = [t.upper for t in tokens[last + 1 : last + 4]]
        if words[:2] == ["FILTER", "("]:
            stop = closing(tokens, last + 2)
            condition = span_of(tokens[last + 4 : stop])
            last = stop
        elif words[:3] == ["WITHIN", "GROUP", "("]:
            stop = closing(tokens, last + 3)
            rest = span_of(tokens[last + 1 : stop + 1])
            ordering = [_without_direction(p) for p in split_at_commas(tokens[last + 6 : stop])]
            last = stop
        elif words[:2] in (["IGNORE", "NULLS"], ["RESPECT", "NULLS"]):
            rest = span_of(tokens[last + 1 : last + 3])
            last += 2
        else:
            break
    call = FoundCall(
        Span(tokens[at].start, tokens[last].end), tokens[at].text.lower(), tokens[at].span,
        tuple(span_of(a) for a in arguments), is_distinct, condition, rest, tuple(ordering),
    )  # fmt: skip
    return call, last + 1


def _without_direction(tokens: list[Token]) -> Span:
    kept = list(tokens)
    while kept and kept[-1].upper in ("ASC", "DESC", "NULLS", "FIRST", "LAST"):
        kept.pop()
    return span_of(kept or tokens)


Word = tuple[str, Span]


def words(tokens: Sequence[Token], aliases: Collection[str], apart: Collection[str] = ()) -> list[Word]:
    """Return ``tokens`` for comparison: names in lower case, qualifiers that are table aliases left out.

    Two expressions over the same relations are written the same when their words are equal.

    Args:
        tokens: of an expression.
        aliases: of tables, lower case.
        apart: names of columns that nothing but their qualifiers tells apart.
    """
    out: list[Word] = []
    at = 0
    while at < len(tokens):
        start = tokens[at].start
        at += _qualifiers(tokens, at, aliases, apart)
        token = tokens[at]
        out.append((token.text.lower() if token.is_name else token.text, Span(start, token.end)))
        at += 1
    return out


def without_qualifiers(
    tokens: Sequence[Token], aliases: Collection[str], columns: Collection[str]
) -> list[tuple[Span, str]]:
    """Return the edits that leave out what only says which table a column is of.

    Args:
        tokens: of an expression.
        aliases: of tables, lower case.
        columns: names, lower case, that are columns in front of a point as well: their fields stay theirs.
    """
    starts = (at for at, token in enumerate(tokens) if token.text.lower() not in columns)
    counts = ((at, _qualifiers(tokens, at, aliases, ())) for at in starts)
    return [(span_of(tokens[at : at + count]), "") for at, count in counts if count]


def _qualifiers(tokens: Sequence[Token], at: int, aliases: Collection[str], apart: Collection[str]) -> int:
    """Return how many tokens at ``at`` only say which table a column is of: ``t.``, ``schema.t.``."""
    if at and tokens[at - 1].upper == ".":
        return 0
    for names in (1, 2, 3):  # a catalog, a schema, a table
        end = at + 2 * names
        path = tokens[at : end + 1]
        if len(path) <= 2 * names or not all(t.is_name if i % 2 == 0 else t.upper == "." for i, t in enumerate(path)):
            return 0
        if path[-3].text.lower() in aliases:
            return 0 if path[-1].text.lower() in apart else 2 * names
    return 0


def told_apart(expressions: Iterable[Sequence[Token]]) -> frozenset[str]:
    """Return the names that stand alone in several of some expressions, with different qualifiers."""
    qualifiers: dict[str, set[str]] = {}
    for tokens in expressions:
        if len(tokens) == 3 and tokens[1].upper == ".":
            qualifiers.setdefault(tokens[2].text.lower(), set()).add(tokens[0].text.lower())
    return frozenset(name for name, found in qualifiers.items() if len(found) > 1)


def depths(words: Sequence[str], opened: Sequence[str] = _OPEN, closed: Sequence[str] = _CLOSE) -> list[int]:
    """Return in how many brackets each of the words stands; these themselves count as outside."""
    out, depth = [], 0
    for word in words:
        depth -= word in closed
        out.append(depth)
        depth += word in opened
    return out


def ordering(tokens: Sequence[Token]) -> list[Span]:
    """Return the expressions of the ORDER BY that ``tokens`` begin with, without ASC and DESC.

    There are none in other tails, nor in ORDER BY ALL, which is of what is selected.
    """
    if [t.upper for t in tokens[:2]] != ["ORDER", "BY"]:
        return []
    depth = depths([t.upper for t in tokens])
    end = next((i for i, t in enumerate(tokens) if depth[i] == 0 and t.upper in _AFTER_ORDER), len(tokens))
    parts = split_at_commas(tokens[2:end])
    return [_without_direction(part) for part in parts if len(parts) > 1 or part[0].upper != "ALL"]


def operands(tokens: Sequence[Token], wanted: Collection[str]) -> list[tuple[str, Span]]:
    """Return those uses of the names ``wanted`` that can be columns."""
    others = no_columns(tokens)
    return [(name, span) for name, span in names(tokens, wanted) if span not in others]


_WITH_UNIT = ("DATEADD", "DATE_ADD", "TIMESTAMPADD", "DATEDIFF", "DATE_DIFF", "TIMESTAMPDIFF", "TIMEDIFF")
"""Functions that take a unit before two operands."""


def no_columns(tokens: Sequence[Token]) -> set[Span]:
    """Return the unqualified names that are no columns: units, types, aliases, parameters, typed literals."""
    found = {span for scope, parameters in _lambdas(tokens) for _, span in names(scope, parameters)}
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else None
        after = tokens[at + 1] if at + 1 < len(tokens) else None
        function = tokens[at - 2].upper if at > 1 and before and before.upper == "(" else ""
        if token.upper == "AS" and _is_in_cast(tokens, at):
            found |= {part.span for part in _argument(tokens, at) if part.is_name}
        behind_operand = before and (
            before.kind in (Kind.NUMBER, Kind.STRING) or before.upper in (")", "::", "AS", "TO")
        )
        ahead = after and (after.kind is Kind.STRING or after.upper == "=>")
        is_part = function == "EXTRACT" and after and after.upper == "FROM"
        is_unit = function in _WITH_UNIT and len(split_at_commas(tokens[at : closing(tokens, at - 1)])) > 2
        if token.is_name and (behind_operand or ahead or is_part or is_unit):
            found.add(token.span)
    return found


def _is_in_cast(tokens: Sequence[Token], at: int) -> bool:
    """Say whether the innermost bracket around a token is that of a CAST."""
    depth = 0
    for before in range(at - 1, 0, -1):
        text = tokens[before].upper
        depth += (text in _CLOSE) - (text in _OPEN)
        if depth < 0:
            return tokens[before - 1].upper in ("CAST", "TRY_CAST")
    return False


def _argument(tokens: Sequence[Token], at: int) -> Sequence[Token]:
    """Return the tokens from ``at`` to the comma or bracket that ends them."""
    depth = 0
    for end in range(at, len(tokens)):
        text = tokens[end].upper
        depth += (text in _OPEN) - (text in _CLOSE)
        if depth < 0 or (depth == 0 and text == ","):
            return tokens[at:end]
    return tokens[at:]


def _lambdas(tokens: Sequence[Token]) -> list[tuple[Sequence[Token], set[str]]]:
    """Return the lambda functions, each with the names of its parameters in lower case."""
    found = []
    for arrow in (i for i, token in enumerate(tokens) if token.upper == "->"):
        first = arrow - 1
        if tokens[first].upper == ")":
            first = next((i for i in range(first, -1, -1) if tokens[i].upper == "("), 0)
        parameters = {token.text.lower() for token in tokens[first:arrow] if token.is_name}
        found.append((tokens[first : arrow + 1 + len(_argument(tokens, arrow + 1))], parameters))
    return found


_BEFORE_ROW = frozenset(
    ["(", ",", "=", "==", "<=>", "<>", "!=", "<", "<=", ">", ">=", "WHEN", "THEN", "ELSE", "AND", "OR", "NOT"]
)


def fields(tokens: Sequence[Token]) -> dict[Span, str]:
    """Return what becomes a field of ``struct(a, b)`` or ``(a, b)``, and the names that Spark gives these fields."""
    found: dict[Span, str] = {}
    for at, token in enumerate(tokens):
        if token.upper != "(":
            continue
        before = tokens[at - 1].upper if at else "("
        parts = split_at_commas(tokens[at + 1 : closing(tokens, at)])
        if before == "STRUCT" or (before in _BEFORE_ROW and len(parts) > 1):
            for number, part in enumerate(parts, 1):
                plain = all(t.is_name if i % 2 == 0 else t.upper == "." for i, t in enumerate(part))
                found[span_of(part)] = part[-1].text if plain and len(part) % 2 else f"col{number}"
    return found


def names(tokens: Sequence[Token], wanted: Collection[str]) -> list[tuple[str, Span]]:
    """Return the unqualified uses of the names ``wanted`` (lower case) in ``tokens``."""
    out = []
    for at, token in enumerate(tokens):
        plain = token.kind in (Kind.WORD, Kind.IDENTIFIER_QUOTED) and token.text.lower() in wanted
        before = tokens[at - 1].upper if at else ""
        after = tokens[at + 1].upper if at + 1 < len(tokens) else ""
        if plain and before != "." and after != "(":
            out.append((token.text.lower(), token.span))
    return out
