"""A query's shape: its blocks, CTEs, streams, relations and our clauses, found by one pass over the tokens.

No tree is built and nothing is understood that need not be: what the scan does not know it passes over, looking
only for queries inside brackets. Spark judges the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn

from warehouse.errors import Span, WarehouseError, fail
from warehouse.language.clauses import clause_here, clauses
from warehouse.language.cursor import Cursor
from warehouse.language.expressions import Walked, walk
from warehouse.language.keywords import SET_OPERATORS, TAILS, clause_start, named_window, starts_query
from warehouse.language.near import clearly_meant, misspelt
from warehouse.language.relations import Found, Relations
from warehouse.language.spellings import respelt
from warehouse.language.statements import Clauses, Cte, QueryBlock, QueryShape, SelectItem
from warehouse.language.tokens import Kind

_BEFORE_NAME = frozenset({".", ",", "AS", "SELECT", "EXTEND"})
_ORDER = "FROM, WHERE, GROUP BY, HAVING, WINDOW, TRIGGER, mode, ALLOWED LATENESS, ORDER BY, LIMIT"


def query_shape(cursor: Cursor, first: int, end: int) -> QueryShape:
    """Return the shape of the query between two token indexes; the cursor ends at ``end``."""
    scan = _Scan(cursor)
    scan.query(first, end)
    return scan.shape(first, end)


def expression_shape(cursor: Cursor, first: int, end: int) -> QueryShape:
    """Return the shape of whatever queries stand in brackets between two token indexes."""
    scan = _Scan(cursor)
    scan.brackets(first, end)
    return scan.shape(first, end)


def merge_shape(cursor: Cursor, first: int, end: int) -> QueryShape:
    """Return the shape of a MERGE: the relation after USING, and queries in brackets."""
    scan = _Scan(cursor)
    using = next((i for i in range(first, end) if cursor.tokens[i].upper == "USING"), end)
    cursor.at = min(using + 1, end)
    scan.relations.read(end)
    scan.brackets(cursor.at, end)
    return scan.shape(first, end)


@dataclass
class _Parts:
    """What a block is made of while it is read."""

    relation: Span | None = None
    where: Span | None = None
    group_by: tuple[Span, ...] = ()
    grouping_sets: Span | None = None
    having: Span | None = None
    clauses: Clauses | None = None


class _Scan:
    def __init__(self, cursor: Cursor):
        self.cursor = cursor
        self.found = Found()
        self.relations = Relations(cursor, self.found, self.bracket, self._nested)

    def shape(self, first: int, end: int) -> QueryShape:
        found = self.found
        shape = QueryShape(
            self.cursor.span(first, end),
            tuple(sorted(found.blocks, key=lambda b: (b.span.start, -b.span.end))),
            tuple(sorted(found.ctes, key=lambda c: c.span)),
            tuple(sorted(found.streams, key=lambda s: s.span)),
            tuple(sorted(found.functions, key=lambda f: f.span)),
            tuple(sorted(found.relations, key=lambda r: r.span)),
            tuple(sorted(found.calls, key=lambda c: (c.span.start, -c.span.end))),
            tuple(sorted(found.models, key=lambda c: (c.span.start, -c.span.end))),
            tuple(sorted(found.delays, key=lambda d: d.span)),
        )
        return respelt(self.cursor, shape)

    # ---------------------------------------------------------------- brackets

    def _nested(self, first: int, end: int) -> None:
        """Read the query between two indexes and put the cursor back."""
        at = self.cursor.at
        self.query(first, end)
        self.cursor.at = at

    def bracket(self, opening: int) -> None:
        """Look through the bracket at index ``opening`` for queries."""
        close = self.cursor.closing(opening)
        if starts_query(self.cursor, opening + 1):
            self._nested(opening + 1, close)
        else:
            self.brackets(opening + 1, close)

    def brackets(self, first: int, end: int) -> None:
        """Look through all brackets between two indexes for queries; the cursor stays."""
        index = first
        while index < end:
            if self.cursor.tokens[index].upper == "(":
                self.bracket(index)
                index = self.cursor.closing(index)
            index += 1

    def walk(self, end: int, stop: Callable[[Cursor], bool]) -> Walked:
        """Walk over expressions and look through their brackets."""
        first = self.cursor.at
        walked = walk(self.cursor, end, stop)
        self.brackets(first, self.cursor.at)
        return walked

    # ---------------------------------------------------------------- queries

    def query(self, first: int, end: int) -> list[int]:
        """Read ``[WITH …] term [set operator term]* [tail]``; return the indexes of its outermost blocks."""
        cursor = self.cursor
        cursor.at = first
        if cursor.token.upper == "WITH" and cursor.peek().is_name:
            self._ctes(first, end)
            if cursor.token.upper == "INSERT":
                self._insert_head(end)
        terms: list[list[int]] = []
        operators: list[Span] = []
        while cursor.at < end:
            at = cursor.at
            terms.append(self._term(end))
            self._tail(end, terms[-1])
            if cursor.at < end and cursor.token.upper == "|>":
                self._pipe(end)
            if cursor.at < end and cursor.token.upper in SET_OPERATORS and clause_start(cursor):
                operator = cursor.at
                cursor.take()
                for word in ("ALL", "DISTINCT"):
                    cursor.accept(word)
                operators.append(cursor.span(operator))
                cursor.accept("BY", "NAME")
            elif cursor.at < end:
                self._not_understood(end, terms[-1])
            if cursor.at <= at:
                break
        self._tie(terms, operators)
        cursor.at = end
        return [index for term in terms for index in term]

    def _tie(self, terms: list[list[int]], operators: list[Span]) -> None:
        """Note on each block of a set operation the operator that ties it to its neighbor."""
        if not operators:
            return
        for i, term in enumerate(terms):
            operator = operators[i - 1] if i else operators[0]
            for index in term:
                block = self.found.blocks[index]
                self.found.blocks[index] = replace(block, set_operator=block.set_operator or operator)

    def _ctes(self, first: int, end: int) -> None:
        cursor = self.cursor
        cursor.take()
        recursive = cursor.accept("RECURSIVE")
        scope = cursor.span(first, end)
        while cursor.at < end and cursor.token.is_name:
            at = cursor.at
            name = cursor.take().text
            if cursor.token.upper == "(":
                cursor.skip_brackets()
            while cursor.token.upper in ("MAX", "RECURSION", "LEVEL") or cursor.token.kind is Kind.NUMBER:
                cursor.take()
            cursor.accept("AS")
            if cursor.token.upper != "(":
                return
            opening, close = cursor.at, cursor.closing(cursor.at)
            self.query(opening + 1, close)
            cursor.at = min(close + 1, end)
            self.found.ctes.append(Cte(name, cursor.span(at), cursor.span(opening + 1, close), scope, recursive))
            if not cursor.accept(","):
                return

    def _insert_head(self, end: int) -> None:
        """Move over ``INSERT INTO target …`` to the query behind it."""
        cursor = self.cursor
        cursor.accept("INSERT", "INTO", "TABLE") or cursor.accept("INSERT", "INTO") or cursor.accept("INSERT")
        while cursor.at < end and not starts_query(cursor, cursor.at):
            if cursor.token.upper == "(":
                cursor.skip_brackets()
            else:
                cursor.take()

    def _term(self, end: int) -> list[int]:
        cursor = self.cursor
        word = cursor.token.upper
        if word == "(":
            close = cursor.closing(cursor.at)
            inside: list[int] = []
            if starts_query(cursor, cursor.at + 1):
                inside = self.query(cursor.at + 1, close)
            else:
                self.brackets(cursor.at, min(close + 1, end))
            cursor.at = min(close + 1, end)
            return inside
        if word in ("SELECT", "MAP", "REDUCE"):
            return [self._block(end)]
        if word == "FROM":
            return self._from_first(end)
        if word == "TABLE" and cursor.peek().is_name:
            cursor.take()
            self.relations.read(end)
            return []
        if word == "VALUES":
            self.relations.read(end)
            return []
        cursor.take()
        return []

    # ---------------------------------------------------------------- blocks

    def _block(self, end: int) -> int:
        """Read a block that starts with SELECT; return its index."""
        cursor = self.cursor
        first = cursor.at
        select, distinct, items = self._select(end)
        parts = _Parts()
        if cursor.at < end and cursor.token.upper == "FROM":
            cursor.take()
            at = cursor.at
            self.relations.read(end)
            parts.relation = cursor.span(at)
        elif cursor.at < end and cursor.sees("LATERAL", "VIEW"):
            self.relations.lateral_views(end)
        self._body(end, parts)
        return self._add(cursor.span(first), select, distinct, items, parts)

    def _from_first(self, end: int) -> list[int]:
        """Read ``FROM relations (SELECT … | INSERT … SELECT …)*``; return the blocks' indexes."""
        cursor = self.cursor
        first = cursor.at
        cursor.take()
        at = cursor.at
        self.relations.read(end)
        relation = cursor.span(at)
        blocks: list[int] = []
        self._refuse_leading_clauses()
        while cursor.at < end and cursor.token.upper in ("SELECT", "INSERT"):
            start = cursor.at
            while cursor.at < end and cursor.token.upper != "SELECT":
                if cursor.token.upper == "(":
                    cursor.skip_brackets()
                else:
                    cursor.take()
            if cursor.at >= end:
                break
            select, distinct, items = self._select(end)
            parts = _Parts(relation=relation)
            self.relations.lateral_views(end)
            self._body(end, parts)
            span = cursor.span(first if not blocks else start)
            blocks.append(self._add(span, select, distinct, items, parts))
            if cursor.token.upper == "INSERT" or cursor.tokens[start].upper == "INSERT":
                if parts.clauses is not None:
                    what = "A WINDOW or TRIGGER in FROM … INSERT … INSERT"
                    fail(
                        "WAREHOUSE_NOT_SUPPORTED",
                        parts.clauses.span,
                        what=what,
                        instead="one INSERT … SELECT … FROM per target",
                    )
                self._tail(end, blocks[-1:])
        return blocks

    def _refuse_leading_clauses(self) -> None:
        cursor = self.cursor
        kind = clause_here(cursor, False)
        if kind is not None:
            found = clauses(cursor)
            fail("WAREHOUSE_CLAUSE_MISPLACED", found.span, clause=kind, where="before SELECT", order=_ORDER)

    def _add(
        self, span: Span, select: Span, distinct: Span | None, items: tuple[SelectItem, ...], parts: _Parts
    ) -> int:
        self.found.blocks.append(
            QueryBlock(
                span,
                select,
                distinct,
                items,
                parts.relation,
                parts.where,
                parts.group_by,
                parts.grouping_sets,
                parts.having,
                parts.clauses,
                None,
                None,
            )
        )
        return len(self.found.blocks) - 1

    def _select(self, end: int) -> tuple[Span, Span | None, tuple[SelectItem, ...]]:
        cursor = self.cursor
        first = cursor.at
        cursor.take()
        while cursor.token.kind is Kind.HINT:
            cursor.take()
        distinct = None
        if cursor.sees_any(("DISTINCT", "ALL")) and cursor.peek().upper not in (",", ".", "FROM", "=", ")", ""):
            distinct = cursor.take().span if cursor.token.upper == "DISTINCT" else None
            if distinct is None:
                cursor.take()
        elif cursor.sees("DISTINCT") and cursor.peek().kind in (Kind.NUMBER, Kind.STRING, Kind.IDENTIFIER_QUOTED):
            distinct = cursor.take().span
        select = cursor.span(first)
        walked = self.walk(end, self._stops_items)
        return select, distinct, tuple(self._item(*item) for item in walked.items)

    def _stops_items(self, cursor: Cursor) -> bool:
        return clause_start(cursor) is not None or clause_here(cursor, True) is not None

    def _item(self, first: int, end: int, alias: int | None) -> SelectItem:
        cursor = self.cursor
        span = cursor.span(first, end)
        stars = [t for t in cursor.tokens[first:end] if t.upper == "*"]
        star = bool(stars) and (
            first == end - 1 or cursor.tokens[first].upper == "*" or _qualified_star(cursor, first, end)
        )
        if alias is None or alias == first:
            return SelectItem(span, span, None, star)
        behind = alias - 1 if cursor.tokens[alias - 1].upper == "AS" else alias
        return SelectItem(span, cursor.span(first, behind), cursor.tokens[alias].text, star)

    # ---------------------------------------------------------------- after FROM

    def _body(self, end: int, parts: _Parts) -> None:
        """Read WHERE, GROUP BY, HAVING, named windows and our clauses into ``parts``."""
        cursor = self.cursor
        while cursor.at < end:
            word = clause_start(cursor)
            ours = clause_here(cursor, False)
            if ours is not None:
                if parts.clauses is not None:
                    self._refuse_more(parts.clauses, "after a named WINDOW")
                parts.clauses = clauses(cursor)
                clearly_meant(cursor, end, after_ours=True)
            elif word == "WINDOW":
                self._named_window(end)
            elif word in ("FROM", "WHERE", "GROUP", "HAVING") and parts.clauses is not None:
                title = f"{word} BY" if word == "GROUP" else word
                fail(
                    "WAREHOUSE_CLAUSE_MISPLACED",
                    parts.clauses.span,
                    clause=_titles(parts.clauses)[0],
                    where=f"before {title}",
                    order=_ORDER,
                )
            elif word == "WHERE":
                cursor.take()
                parts.where = self._condition(end)
            elif word == "HAVING":
                cursor.take()
                parts.having = self._condition(end)
            elif word == "GROUP":
                cursor.at += 2
                self._group_by(end, parts)
            elif word == "QUALIFY" and parts.clauses is None:
                self._qualify(end)
            else:
                return

    def _stops(self, cursor: Cursor) -> bool:
        misspelt(cursor, cursor.at)
        return clause_start(cursor) is not None or clause_here(cursor, False) is not None

    def _condition(self, end: int) -> Span:
        first = self.cursor.at
        self.walk(end, self._stops)
        return self.cursor.span(first)

    def _qualify(self, end: int) -> None:
        """Read QUALIFY, which stays Spark's; refuse it in front of clauses of ours."""
        cursor = self.cursor
        first = cursor.at
        cursor.take()
        self._condition(end)
        written = cursor.span(first)
        if (kind := clause_here(cursor, False)) is not None:
            fail(
                "WAREHOUSE_NOT_SUPPORTED", written, what=f"QUALIFY in a query with {kind}",
                instead=f"SELECT * FROM (SELECT … {kind} …) QUALIFY …",
            )  # fmt: skip

    def _group_by(self, end: int, parts: _Parts) -> None:
        cursor = self.cursor
        first = cursor.at
        walked = self.walk(end, lambda c: c.sees("GROUPING", "SETS") or c.sees_any(("WITH",)) or self._stops(c))
        whole = cursor.span(first)
        if cursor.at < end and (cursor.sees("GROUPING", "SETS") or cursor.sees("WITH")):
            cursor.at = min(cursor.at + 2, end)
            if cursor.token.upper == "(":
                self.bracket(cursor.at)
                cursor.skip_brackets()
            parts.grouping_sets = cursor.span(first)
            return
        words = [cursor.tokens[a].upper for a, _, _ in walked.items]
        behind = [cursor.tokens[a + 1].upper for a, _, _ in walked.items]
        sets = any(
            (w in ("ROLLUP", "CUBE") and b == "(") or (w == "GROUPING" and b == "SETS")
            for w, b in zip(words, behind, strict=True)
        )
        if sets or (words == ["ALL"] and walked.items[0][1] - walked.items[0][0] == 1):
            parts.grouping_sets = whole
        else:
            parts.group_by = tuple(cursor.span(a, b) for a, b, _ in walked.items)

    def _named_window(self, end: int) -> None:
        cursor = self.cursor
        cursor.take()
        while cursor.at < end and cursor.token.is_name and cursor.peek().upper == "AS":
            cursor.at += 2
            if cursor.token.upper == "(":
                cursor.skip_brackets()
            else:
                cursor.take()
            if not (cursor.token.upper == "," and cursor.peek(2).upper == "AS"):
                return
            cursor.take()

    # ---------------------------------------------------------------- behind a block

    def _tail(self, end: int, blocks: list[int]) -> None:
        """Read ORDER BY … LIMIT … behind a term and note its span on the blocks that have none yet."""
        cursor = self.cursor
        first = cursor.at
        while cursor.at < end:
            word = clause_start(cursor)
            if word in TAILS:
                cursor.at += 1 if word in ("LIMIT", "OFFSET") else 2
                self.walk(end, self._stops)
            elif named_window(cursor):
                self._named_window(end)
            else:
                break
        if cursor.at == first:
            return
        tail = cursor.span(first)
        for index in blocks:
            if self.found.blocks[index].tail is None:
                self.found.blocks[index] = replace(self.found.blocks[index], tail=tail)
        if cursor.at < end and clause_here(cursor, False) is not None:
            start = cursor.tokens[first].upper
            title = f"{start} BY" if start not in ("LIMIT", "OFFSET", "WINDOW") else start
            before = [c for i in blocks if (c := self.found.blocks[i].clauses) is not None]
            self._refuse_more(before[0] if before else None, f"after {title}")

    def _refuse_more(self, before: Clauses | None, where: str) -> NoReturn:
        """Refuse the clauses of ours at the cursor: the place is wrong, or one of them stands in ``before`` as well."""
        found = clauses(self.cursor, continued=before is not None)
        twice = [title for title in _titles(found) if before and title in _titles(before)]
        if twice:
            fail("WAREHOUSE_CLAUSE_TWICE", found.span, clause=twice[0])
        fail("WAREHOUSE_CLAUSE_MISPLACED", found.span, clause=_titles(found)[0], where=where, order=_ORDER)

    def _pipe(self, end: int) -> None:
        """Pass over ``|> …`` operators; relations after JOIN and queries in brackets are still seen."""
        cursor = self.cursor
        while cursor.at < end and cursor.token.upper == "|>":
            cursor.take()
            if cursor.token.upper in ("WINDOW", "TRIGGER") and (kind := clause_here(cursor, False)) is not None:
                fail(
                    "WAREHOUSE_NOT_SUPPORTED",
                    clauses(cursor).span,
                    what=f"{kind} as a pipe operator",
                    instead=f"SELECT … FROM … {kind} …",
                )
            while cursor.at < end and cursor.token.upper != "|>":
                if cursor.token.upper == "JOIN":
                    cursor.take()
                    self.relations.read(end)
                elif cursor.token.upper == "(":
                    self.bracket(cursor.at)
                    cursor.skip_brackets()
                elif cursor.tokens[cursor.at - 1].upper not in _BEFORE_NAME and self._refused_in_pipe():
                    kind = clause_here(cursor, True) or ""
                    fail(
                        "WAREHOUSE_NOT_SUPPORTED",
                        clauses(cursor).span,
                        what=f"{kind} behind a pipe operator",
                        instead=f"SELECT … FROM … {kind} …",
                    )
                else:
                    cursor.take()

    def _refused_in_pipe(self) -> bool:
        """Say whether a whole clause of ours stands here; a column called trigger with an alias is none."""
        cursor = self.cursor
        if clause_here(cursor, True) not in ("WINDOW", "TRIGGER"):
            return False
        at = cursor.at
        try:
            clauses(cursor)
        except WarehouseError:
            return False
        finally:
            cursor.at = at
        return True

    def _not_understood(self, end: int, blocks: list[int]) -> None:
        """Fail where words of ours are clearly meant; else pass over the rest, looking into brackets only."""
        cursor = self.cursor
        clearly_meant(cursor, end, after_ours=any(self.found.blocks[i].clauses for i in blocks))
        if (kind := clause_here(cursor, False)) is not None and cursor.token.upper not in ("ALLOWED",):
            found = clauses(cursor)
            fail("WAREHOUSE_CLAUSE_MISPLACED", found.span, clause=kind, where="here", order=_ORDER)
        self.brackets(cursor.at, end)
        cursor.at = end


def _qualified_star(cursor: Cursor, first: int, end: int) -> bool:
    """Say whether the item is ``a.b.*``, with or without ``EXCEPT (…)``."""
    index = first
    while index + 1 < end and cursor.tokens[index].is_name and cursor.tokens[index + 1].upper == ".":
        index += 2
    return index > first and index < end and cursor.tokens[index].upper == "*"


def _titles(found: Clauses) -> tuple[str, ...]:
    """Return what the clauses that are given are called, in their order."""
    every = {
        "WINDOW": found.window, "TRIGGER": found.trigger, "The mode": found.mode, "ALLOWED LATENESS": found.lateness
    }  # fmt: skip
    return tuple(title for title, clause in every.items() if clause is not None)
