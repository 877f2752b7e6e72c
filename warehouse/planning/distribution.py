"""Distributed tables: what CREATE TABLE … AS … DISTRIBUTE BY and INSERT write, so that equal keys meet.

Partition ``i`` of ``n`` is the files that the ``i``-th task wrote, and holds the rows whose keys hash to ``i`` as
Spark's shuffles hash them. So a join or an aggregation on the keys needs no shuffle of the table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from warehouse.catalog.entries import Column, quote_name
from warehouse.dataflow.query import WindowedQuery
from warehouse.errors import SourceText, Span, fail
from warehouse.language.fragments import Fragment
from warehouse.language.literals import string_literal
from warehouse.language.statements import Mode, Name
from warehouse.language.table_layout import Inserted, LayoutClauses, alters, inserted, layout_clauses, renamed, unset
from warehouse.planning.context import Context

PROPERTY = "warehouse.distribution"
PARTITIONS = 8
"""How many partitions a distributed table gets that says nothing of it."""
_MOST = 10_000
_UNHASHED = re.compile(r"(?:^|[<:])(?:map<|variant(?!:)|string collate)")
"""Types, or parts of them, whose equal values SQL's ``hash`` cannot take or does not tell equal."""
_WIDENS = ("void", "tinyint", "smallint", "int", "bigint")
Edits = list[tuple[Span, Fragment | str]]


@dataclass(frozen=True)
class Distribution:
    """How a table is distributed.

    Attributes:
        keys: names of columns. types: theirs, as SQL writes them.
        partitions: how many there are.
    """

    keys: tuple[str, ...]
    types: tuple[str, ...]
    partitions: int

    def written(self) -> str:
        """Return it as the value of a table's property."""
        return json.dumps({"by": self.keys, "types": self.types, "partitions": self.partitions})

    def __str__(self) -> str:
        """Return it in words."""
        return f"by {', '.join(self.keys)} over {self.partitions} partitions"

    def line(self) -> str:
        """Return what EXPLAIN says of it."""
        return f"distribution: {self}; joins and aggregations on that shuffle none of it"

    def hint(self) -> str:
        """Return the hint that spreads the rows of a query this way."""
        return f"/*+ REPARTITION({self.partitions}, {', '.join(map(quote_name, self.keys))}) */"


@dataclass(frozen=True)
class LayoutChange:
    """What a statement asks of how the rows of a table are laid out.

    Attributes:
        table: the table, as the statement names it.
        distribution: what it says or keeps; None where it says nothing.
        cache: whether the table is to be in memory; None where it says nothing.
        former: the name that the table had before, where it gets another one.
        afresh: a key may be another column now, so all of its rows have to be looked at.
    """

    table: Name
    distribution: Distribution | None = None
    cache: bool | None = None
    former: Name | None = None
    afresh: bool = False

    def lines(self) -> Iterator[str]:
        """Yield what EXPLAIN says of it."""
        if self.distribution:
            yield self.distribution.line()
        if self.cache is not None:
            yield f"cache: {'in the columnar memory store' if self.cache else 'not kept in memory'}"


def recorded(properties: Mapping[str, str] | None) -> Distribution | None:
    """Return the distribution that a table's properties record, or None."""
    return read((properties or {}).get(PROPERTY))


def read(text: str | None) -> Distribution | None:
    """Return the distribution that ``Distribution.written`` gave; None where the text is none of it."""
    try:
        found = json.loads(text or "")
        return Distribution(tuple(found["by"]), tuple(found["types"]), int(found["partitions"]))
    except (KeyError, ValueError, TypeError):
        return None


def streamed(
    context: Context, source: SourceText, name: str, columns: tuple[Column, ...], block: WindowedQuery | None,
    appends_only: bool,
) -> Distribution | None:  # fmt: skip
    """Return how the panes of a streaming table are to be distributed; None where CREATE says nothing of it.

    A pane and what takes it back have to meet in one partition, so their keys have to be equal.

    Args:
        context: where it is planned.
        source: the CREATE statement.
        name: the table's.
        columns: its columns.
        block: what its panes come from; None where rows pass one by one.
        appends_only: no pane is ever taken back.

    Raises:
        WarehouseError: a key is no column or none that identifies a pane, the partner does not match, or the table is
            to be in memory.
    """
    said = layout_clauses(source)
    if said is None:
        return None
    if _flag(said):
        fail("WAREHOUSE_CACHE_STREAMING", said.properties["cache"].span, name=name)
    if said.clause is None:
        _refuse_keyless(said)
        return None
    found = _distribution(context, said, columns)
    if appends_only:
        return found
    if block is None:
        fail("WAREHOUSE_DISTRIBUTION_CHANGES", said.clause, name=name)
    if block.mode is Mode.ACCUMULATING:
        for key in said.keys:
            if block.identity(key.last) is None:
                fail("WAREHOUSE_DISTRIBUTION_RESULT", key.span, key=key.last, name=name)
    return found


def created(
    context: Context, source: SourceText, target: Name, analyzable: Callable[[Span], Fragment]
) -> tuple[LayoutChange | None, Edits]:
    """Return what a CREATE TABLE says of how its rows are laid out, and the edits that make it so.

    Args:
        context: where it is planned.
        source: the statement.
        target: the table.
        analyzable: gives a part of it as Spark can analyze it.

    Raises:
        WarehouseError: a key is no column of the result, or the partner does not match.
    """
    said = layout_clauses(source)
    if said is None:
        return None, []
    cache = _flag(said)
    if said.clause is None:
        _refuse_keyless(said)
        return (LayoutChange(target, None, cache) if cache is not None else None), []
    if said.provider and said.provider.last.lower() != "delta":
        fail("WAREHOUSE_DISTRIBUTION_FORMAT", said.provider.span, format=said.provider.last)
    columns = context.analyzer.columns(analyzable(said.query))
    distribution = _distribution(context, said, columns)
    added = f"'{PROPERTY}' = {string_literal(distribution.written())}"
    edits: Edits = [
        (Span(said.into, said.into), f"{added}, " if said.listed else f"TBLPROPERTIES ({added}) "),
        (Span(said.query.start, said.query.start), f"SELECT {distribution.hint()} * FROM ("),
        (said.clause, ")"),
    ]
    return LayoutChange(target, distribution, cache), edits


def written(
    context: Context, source: SourceText, target: Name, verb: str, analyzable: Callable[[Span], Fragment]
) -> tuple[LayoutChange | None, Edits]:
    """Return what a statement that writes to a table keeps, and the edits that make it so; nothing for plain tables."""
    properties = context.analyzer.table_properties(target) or {}
    distribution = _current(context, target, recorded(properties))
    for_memory = properties.get("cache", "").lower() == "true"
    cache = _set(source) if verb == "ALTER TABLE" else None
    if verb == "RESTORE":
        return (LayoutChange(target, distribution, afresh=True) if distribution or for_memory else None), []
    if verb == "ALTER TABLE" and (name := renamed(source)):
        parts = name.parts if len(name.parts) > 1 else (*target.parts[:-1], *name.parts)
        return LayoutChange(Name(parts, name.span), distribution, former=target), []
    if distribution and verb == "ALTER TABLE":
        return LayoutChange(target, distribution, cache, afresh=alters(source, distribution.keys)), []
    if distribution is None:
        return (LayoutChange(target, None, cache) if cache is not None or for_memory else None), []
    said = inserted(source) if verb == "INSERT" else None
    if said is None or said.defaults:
        return LayoutChange(target, distribution, cache), []
    query = analyzable(said.query)
    if said.ctes:
        query = analyzable(said.ctes) + "SELECT * FROM (" + query + ")"
    columns = _as_written(context, target, said, context.analyzer.columns(query), distribution)
    if columns is None:
        return LayoutChange(target, distribution), []
    names = ", ".join(quote_name(c.name) for c in columns)
    wanted = dict(zip(map(str.lower, distribution.keys), distribution.types, strict=True))
    listed = ", ".join(
        f"CAST({quote_name(c.name)} AS {wanted[c.name.lower()]}) AS {quote_name(c.name)}"
        if wanted.get(c.name.lower(), c.type) != c.type else quote_name(c.name)
        for c in columns
    )  # fmt: skip
    head = f"SELECT {distribution.hint()} * FROM (SELECT {listed} FROM ("
    return LayoutChange(target, distribution), [
        (Span(said.query.start, said.query.start), head),
        (Span(said.query.end, said.query.end), f") AS __w_written({names}))"),
    ]


def _of_table(context: Context, name: Name) -> Distribution | None:
    """Return the distribution that a table records, with the types that its keys have now."""
    return _current(context, name, recorded(context.analyzer.table_properties(name)))


def _current(context: Context, name: Name, found: Distribution | None) -> Distribution | None:
    if found is None:
        return None
    types = {c.name.lower(): c.type for c in context.analyzer.table_columns(name) or ()}
    current = (types.get(key.lower(), known) for key, known in zip(found.keys, found.types, strict=True))
    return replace(found, types=tuple(current))


def _as_written(
    context: Context, target: Name, said: Inserted, found: tuple[Column, ...], known: Distribution
) -> list[Column] | None:
    """Return a query's columns by the names of those they go to; None where that cannot be told, or a key differs."""
    there = context.analyzer.table_columns(target) or ()
    names = [c.name for c in found] if said.by_name else list(said.columns or [c.name for c in there])
    if len(names) != len(found) or len({n.lower() for n in names}) < len(names):
        return None
    types = {c.name.lower(): c.type for c in there}
    columns = [Column(name, column.type) for name, column in zip(names, found, strict=True)]
    for key in known.keys:
        mine = next((c.type for c in columns if c.name.lower() == key.lower()), None)
        if mine is None or not _fits(mine, types.get(key.lower(), "")):
            return None
    return columns


def _fits(written: str, wanted: str) -> bool:
    """Say whether a value of one type is the same value in another, which Spark makes of it when it is stored."""
    if written == wanted or written == "void":
        return True
    return written in _WIDENS and wanted in _WIDENS and _WIDENS.index(written) < _WIDENS.index(wanted)


def _refuse_keyless(said: LayoutClauses) -> None:
    """Refuse a partner without a key."""
    if "copartition" in said.properties:
        partner = said.properties["copartition"]
        fail("WAREHOUSE_COPARTITION_KEY", partner.span, partner=partner.value)


def _distribution(context: Context, said: LayoutClauses, columns: tuple[Column, ...]) -> Distribution:
    by_name = {c.name.lower(): c for c in columns}
    found = []
    for key in said.keys:
        column = by_name.get(key.last.lower()) if len(key.parts) <= 2 else None
        if column is None:
            fail("WAREHOUSE_DISTRIBUTION_KEY", key.span, key=".".join(key.parts))
        if _UNHASHED.search(column.type):
            fail("WAREHOUSE_DISTRIBUTION_TYPE", key.span, key=column.name, type=column.type)
        found.append(column)
    asked = _partitions(said)
    names, types = tuple(c.name for c in found), tuple(c.type for c in found)
    partner = said.properties.get("copartition")
    if partner is None:
        return Distribution(names, types, asked or PARTITIONS)
    named = partner.name
    maintained = context.catalog.streaming_tables.get(*context.resolve(named))
    if maintained is None and context.analyzer.table_columns(named) is None:
        fail("WAREHOUSE_COPARTITION_UNKNOWN", partner.span, partner=partner.value)
    other = read(maintained.distribution) if maintained else _of_table(context, named)
    if other is None:
        fail("WAREHOUSE_COPARTITION_PLAIN", partner.span, partner=partner.value)
    if other.types != types:
        as_many = len(other.types) == len(types)
        fail(
            "WAREHOUSE_COPARTITION_TYPES" if as_many else "WAREHOUSE_COPARTITION_KEYS", said.clause,
            partner=partner.value, keys=_listing(names, types), others=_listing(other.keys, other.types),
        )  # fmt: skip
    if asked is not None and asked != other.partitions:
        fail(
            "WAREHOUSE_COPARTITION_COUNT", said.properties["partitions"].span, partner=partner.value, count=asked,
            other=other.partitions,
        )  # fmt: skip
    return Distribution(names, types, other.partitions)


def _set(source: SourceText) -> bool | None:
    """Return what ALTER TABLE … SET, or UNSET, TBLPROPERTIES says of memory; None when it says nothing."""
    if "cache" in unset(source):
        return False
    said = layout_clauses(source)
    return _flag(said) if said else None


def _listing(names: tuple[str, ...], types: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {kind.upper()}" for name, kind in zip(names, types, strict=True))


def _partitions(said: LayoutClauses) -> int | None:
    given = said.properties.get("partitions")
    if given is None:
        return None
    if not given.value.isdecimal() or not 0 < int(given.value) <= _MOST:
        fail("WAREHOUSE_PROPERTY_VALUE", given.span, property="partitions", value=given.value,
             wanted=f"a number from 1 to {_MOST}")  # fmt: skip
    return int(given.value)


def _flag(said: LayoutClauses) -> bool | None:
    given = said.properties.get("cache")
    if given is None:
        return None
    if given.value.lower() not in ("true", "false"):
        fail("WAREHOUSE_PROPERTY_VALUE", given.span, property="cache", value=given.value, wanted="true or false")
    return given.value.lower() == "true"
