"""How a table's rows are to be laid out: DISTRIBUTE BY and TBLPROPERTIES of CREATE TABLE … AS, and what INSERT writes.

Source: Shark, SIGMOD 2013, 3.4 ("Data Co-partitioning"); the dissertation's 3.4.2.
"""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.errors import SourceText, Span, fail
from warehouse.language.cursor import Cursor, query_end
from warehouse.language.keywords import starts_query
from warehouse.language.literals import string_value
from warehouse.language.statements import Name
from warehouse.language.tokens import Kind, Token, tokenize

_AFTER = ("SORT", "LIMIT", "OFFSET", "WINDOW", "ORDER", "CLUSTER")
_INTO = ("INTO", "OVERWRITE", "WITH")
_OURS = ("cache", "copartition", "partitions")
EXAMPLE = "CREATE TABLE t TBLPROPERTIES ('copartition' = 'u') AS SELECT … DISTRIBUTE BY key"


@dataclass(frozen=True)
class Property:
    """One of TBLPROPERTIES that is ours; ``span`` is the value's."""

    value: str
    span: Span

    @property
    def name(self) -> Name:
        """Return the table that the value names."""
        return Name(tuple(self.value.replace("`", "").split(".")), self.span)


@dataclass(frozen=True)
class LayoutClauses:
    """What a CREATE TABLE … AS says of how its rows are laid out.

    Attributes:
        query: the query without DISTRIBUTE BY and what follows it.
        clause: DISTRIBUTE BY and its keys; None when there is none.
        keys: the columns after DISTRIBUTE BY.
        properties: those of ours: ``cache``, ``copartition``, ``partitions``, by name.
        into: offset where a property can be added: behind the bracket of TBLPROPERTIES, or before AS.
        listed: there is a TBLPROPERTIES.
        provider: the word after USING, or None.
    """

    query: Span
    clause: Span | None
    keys: tuple[Name, ...]
    properties: dict[str, Property]
    into: int
    listed: bool
    provider: Name | None


@dataclass(frozen=True)
class Inserted:
    """What an INSERT writes.

    Attributes:
        query: its query.
        ctes: the WITH list in front of INSERT, which the query may speak of; None where there is none.
        columns: the columns listed, or None.
        by_name: columns are matched by name.
        defaults: some value is DEFAULT, which only a bare VALUES may hold.
    """

    query: Span
    ctes: Span | None
    columns: tuple[str, ...] | None
    by_name: bool
    defaults: bool


def layout_clauses(source: SourceText) -> LayoutClauses | None:
    """Return what a CREATE [OR REPLACE] TABLE says of how its rows are laid out; None when it says nothing of that.

    Raises:
        WarehouseError: a key is no column, or a table without a query is to be distributed.
    """
    tokens = tokenize(source.text)
    if not tokens:
        return None
    cursor = Cursor(source, tokens)
    end, query = query_end(cursor), _query(cursor)
    listed = _listed(cursor, query)
    properties = _properties(cursor, listed) if listed is not None else {}
    bracket = query
    while query < end and tokens[query].upper == "(" and cursor.closing(query) == end - 1:
        query, end = query + 1, end - 1
    at = _distribute(cursor, query, end)
    if at is None and not properties:
        return None
    if query == end and (at is not None or "copartition" in properties):
        place = cursor.span(at, at + 2) if at is not None else properties["copartition"].span
        fail("WAREHOUSE_EXPECTED", place, expected="AS and a query", found="none",
             clause="DISTRIBUTE BY", example=EXAMPLE)  # fmt: skip
    keys, behind = _keys(cursor, at + 2, end) if at is not None else ((), end)
    into = (
        tokens[listed + 1].end
        if listed is not None
        else tokens[bracket - 1].start
        if query < end
        else tokens[end - 1].end
    )
    provider = next((cursor.tokens[i + 1] for i in _top(cursor, 0, query) if cursor.tokens[i].upper == "USING"), None)
    return LayoutClauses(
        cursor.span(query, at if at is not None else end) if query < end else Span(len(source.text), len(source.text)),
        cursor.span(at, behind) if at is not None else None, keys, properties, into, listed is not None,
        Name((provider.text,), provider.span) if provider else None,
    )  # fmt: skip


def partner(source: SourceText) -> Name | None:
    """Return the table that a CREATE … AS says its rows are to be laid out like; None where it names none."""
    cursor = Cursor(source, tokenize(source.text) or [])
    listed = _listed(cursor, _query(cursor))
    found = _properties(cursor, listed).get("copartition") if listed is not None else None
    return found.name if found else None


def inserted(source: SourceText) -> Inserted | None:
    """Return what an INSERT writes, where that is one query behind its target; None for other shapes."""
    tokens = tokenize(source.text)
    if not tokens or tokens[0].upper not in ("INSERT", "WITH"):
        return None
    cursor = Cursor(source, tokens)
    end = query_end(cursor)
    top = _top(cursor, 0, end)
    first = next((i for i in top if cursor.tokens[i].upper == "INSERT" and cursor.tokens[i + 1].upper in _INTO), end)
    if first == end or any(cursor.tokens[i].upper == "FROM" for i in top if i < first):
        return None
    words = {cursor.tokens[i].upper for i in range(first, end)}
    cursor.at = first + 1
    cursor.accept("WITH", "SCHEMA", "EVOLUTION")
    cursor.take()
    cursor.accept("TABLE")
    columns, at = None, cursor.at
    while at < end and not starts_query(cursor, at):
        if cursor.tokens[at].upper in ("PARTITION", "REPLACE"):
            return None
        if cursor.tokens[at].upper == "(":
            close = cursor.closing(at)
            columns = tuple(t.text for t in cursor.tokens[at + 1 : close] if t.is_name)
            at = close
        at += 1
    if at >= end:
        return None
    by_name = any(cursor.tokens[i].upper == "BY" and cursor.tokens[i + 1].upper == "NAME" for i in range(first, at))
    ctes = cursor.span(0, first) if first else None
    return Inserted(cursor.span(at, end), ctes, columns, by_name, "DEFAULT" in words)


def unset(source: SourceText) -> frozenset[str]:
    """Return those of our properties that an ALTER TABLE … UNSET TBLPROPERTIES takes away."""
    cursor = Cursor(source, tokenize(source.text) or [])
    for index in range(query_end(cursor)):
        cursor.at = index
        if cursor.accept("UNSET", "TBLPROPERTIES"):
            words = (string_value(t.text) if t.kind is Kind.STRING else t.text for t in cursor.tokens[cursor.at :])
            return frozenset(word.lower() for word in words) & frozenset(_OURS)
    return frozenset()


def renamed(source: SourceText) -> Name | None:
    """Return the name that an ALTER TABLE … RENAME TO gives a table; None where it does something else."""
    cursor = Cursor(source, tokenize(source.text) or [])
    for index in range(query_end(cursor)):
        cursor.at = index
        if cursor.accept("RENAME", "TO"):
            return cursor.name("ALTER TABLE", "ALTER TABLE t RENAME TO u")
    return None


def alters(source: SourceText, columns: tuple[str, ...]) -> bool:
    """Say whether the words of an ALTER TABLE name one of ``columns``, which may be another one when it is done."""
    cursor = Cursor(source, tokenize(source.text) or [])
    wanted = {name.lower() for name in columns}
    return any(t.is_name and t.text.strip("`").replace("``", "`").lower() in wanted for t in cursor.tokens)


def _top(cursor: Cursor, first: int, end: int) -> list[int]:
    """Return the indices of the tokens from ``first`` on that are in no brackets."""
    found, index = [], first
    while index < end:
        found.append(index)
        index = cursor.closing(index) + 1 if cursor.tokens[index].upper == "(" else index + 1
    return found


def _query(cursor: Cursor) -> int:
    """Return the index where the query behind AS begins; that of the end when there is none."""
    end = query_end(cursor)
    for index in _top(cursor, 0, end):
        if cursor.tokens[index].upper == "AS" and index + 1 < end and starts_query(cursor, index + 1):
            return index + 1
    return end


def _listed(cursor: Cursor, query: int) -> int | None:
    found = [i for i in _top(cursor, 0, query) if cursor.tokens[i].upper == "TBLPROPERTIES"]
    return found[0] if found and cursor.tokens[found[0] + 1].upper == "(" else None


def _properties(cursor: Cursor, listed: int) -> dict[str, Property]:
    found: dict[str, Property] = {}
    close = cursor.closing(listed + 1)
    inside = cursor.tokens[listed + 2 : close]
    for name, *rest in _split(inside):
        value = rest[-1] if rest else name
        key = (string_value(name.text) if name.kind is Kind.STRING else name.text).lower()
        if key in _OURS and rest and (len(rest) == 1 or len(rest) == 2):
            text = string_value(value.text) if value.kind is Kind.STRING else value.text
            found[key] = Property(text, value.span)
    return found


def _split(tokens: list[Token]) -> list[list[Token]]:
    groups: list[list[Token]] = [[]]
    for token in tokens:
        if token.upper == ",":
            groups.append([])
        else:
            groups[-1].append(token)
    return [g for g in groups if g]


def _distribute(cursor: Cursor, query: int, end: int) -> int | None:
    """Return the index of DISTRIBUTE in the last DISTRIBUTE BY of the query itself."""
    found = [
        i for i in _top(cursor, query, end)
        if cursor.tokens[i].upper == "DISTRIBUTE" and cursor.tokens[i + 1].upper == "BY"
    ]  # fmt: skip
    return found[-1] if found else None


def _keys(cursor: Cursor, first: int, end: int) -> tuple[tuple[Name, ...], int]:
    keys: list[Name] = []
    cursor.at = first
    while True:
        key = cursor.name("DISTRIBUTE BY", "DISTRIBUTE BY l_orderkey")
        nothing_else = cursor.at >= end or cursor.token.upper == "," or cursor.token.upper in _AFTER
        if not nothing_else:
            last = next((i for i in _top(cursor, cursor.at, end) if cursor.tokens[i].upper in (",", *_AFTER)), end)
            fail(
                "WAREHOUSE_DISTRIBUTION_KEY",
                cursor.span(first, last),
                key=cursor.span(first, last).of(cursor.source.text),
            )
        keys.append(key)
        if not cursor.accept(","):
            return tuple(keys), cursor.at
        first = cursor.at
