"""What becomes of a streaming table that is replaced: the verdicts, without Spark."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import pytest

from warehouse.catalog.entries import Column, StreamEntry, StreamingTableEntry
from warehouse.dataflow.aggregates.calls import Argument, Call
from warehouse.dataflow.carry import first_part, passes
from warehouse.dataflow.query import Output, WindowedQuery
from warehouse.dataflow.triggers import Kind, Node
from warehouse.dataflow.windows import Fixed, Sessions, Window
from warehouse.errors import SourceText, Span
from warehouse.language.fragments import of
from warehouse.language.statements import Mode, Name, StreamReference
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.planning.replacing.continued import as_kept, reordered
from warehouse.planning.replacing.replacement import Outcome, Verdict, Version, harm, judge, with_readers
from warehouse.planning.streams.sources import SourceKind, StreamSource

HOUR = 3_600_000_000
DAY = 24 * HOUR
TYPES = {"d": "int", "x": "double", "p": "string", "q": "string", "ts": "timestamp"}
RESULTS = {"count": "bigint", "sum": "bigint", "avg": "double", "median": "double", "max": "int", "min": "int"}

HOURS = Fixed(HOUR)
AT_END = Node(Kind.AT_WATERMARK, 0)
EVERY_2 = Node(Kind.EVERY_ROWS, 0, 2)
EARLY_AND_LATE = Node(
    Kind.THEN, 0, 0,
    (Node(Kind.REPEAT, 1, 0, (Node(Kind.EVERY_ROWS, 2, 2), Node(Kind.AT_WATERMARK, 3))),
     Node(Kind.REPEAT, 4, 0, (Node(Kind.EVERY_ROWS, 5, 1),))),
)  # fmt: skip


@dataclass(frozen=True)
class Written:
    """A streaming table as a test writes it down; aggregates are called with a column and nothing else."""

    select: str = "p, sum(d) AS total, count(d) AS n"
    keys: str = "p"
    where: str = ""
    source: str = "s"
    window: Window | None = HOURS
    trigger: Node = EVERY_2
    once: bool = False
    mode: Mode = Mode.ACCUMULATING
    lateness: int | None = DAY
    having: str | None = None
    delay: int | None = 0
    comment: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    types: tuple[tuple[str, str], ...] = ()

    def version(self) -> Version:
        """Return entry and query as they are after binding."""
        query = self._stateless() if self.window is None else self._windowed(self.window)
        entry = StreamingTableEntry(
            "default", "t", "t-1", "", self.comment, self.properties, query.columns, ("default.s",),
            self.window is None, self.mode.name, True, (), "2024-01-01",
        )  # fmt: skip
        return Version(entry, query)

    def _items(self) -> list[tuple[str, str]]:
        """Return names and expressions of the SELECT list."""
        items = [item.strip().partition(" AS ") for item in self.select.split(",")]
        return [(name or sql, sql) for sql, _, name in items]

    def _sources(self) -> tuple[StreamSource, ...]:
        name = Name((self.source,), Span(0, 0))
        columns = tuple(Column(n, t) for n, t in TYPES.items())
        entry = StreamEntry(
            "default", self.source, columns, "json", (("path", "/in"),), "ts", 0, None, False, None, (), "", ""
        )
        watermark = None if self.delay is None else ("ts", self.delay)
        reference = StreamReference(Span(0, 0), name, False, None, None)
        return (StreamSource(SourceKind.STREAM, reference, f"default.{self.source}", columns, entry, watermark),)

    def _stateless(self) -> StreamingQuery:
        named = tuple(self._items())
        columns = tuple(Column(name, TYPES.get(sql, "int")) for name, sql in named)
        return StreamingQuery(
            SourceText(""), self._sources(), of(""), None, columns, named=named, origin=f"FROM s {self.where}"
        )

    def _windowed(self, window: Window) -> StreamingQuery:
        keys = self.keys.split(", ")
        calls: dict[str, Call] = {}
        arguments: dict[str, str] = {}
        numbers = count()

        def call(found: re.Match[str]) -> str:
            function, distinct, column = found[1].lower(), bool(found[2]), found[3].lower()
            if column and column not in arguments:
                arguments[column] = f"x{next(numbers)}"
            given = (Argument(arguments[column], TYPES[column]),) if column else ()
            calls.setdefault(found[0].lower(), Call(function, given, distinct, None, RESULTS[function]))
            return f"__w_f{list(calls).index(found[0].lower())}"

        def final(sql: str) -> str:
            sql = re.sub(r"(\w+)\((DISTINCT )?(\w*)\)", call, sql, flags=re.IGNORECASE)
            return re.sub(r"\b([pq])\b", lambda found: f"__w_k{keys.index(found[1])}", sql)

        types = TYPES | dict(self.types)
        outputs = tuple(Output(n, types.get(n, types.get(sql, "bigint")), final(sql)) for n, sql in self._items())
        having = final(self.having) if self.having else None
        block = WindowedQuery(
            tuple(TYPES[k] for k in keys), window, self.trigger, self.mode, self.lateness, tuple(calls.values()),
            having, outputs, once=self.once,
        )  # fmt: skip
        named = [*((f"__w_k{i}", k) for i, k in enumerate(keys)), ("__w_time", "(ts)")]
        named += [(column, written) for written, column in arguments.items()]
        select = ", ".join(f"{sql} AS {name}" for name, sql in named)
        columns = tuple(Column(o.name, o.type) for o in outputs)
        return StreamingQuery(
            SourceText(""), self._sources(), of(f"SELECT {select}"), block, columns, named=tuple(named),
            origin=f"FROM {self.source} {self.where}",
        )  # fmt: skip


SUMS = Written()
MIDS = Written("p, median(d) AS mid")
SETS = Written("p, count(DISTINCT d) AS n")
PLAIN = Written("p, d, ts", window=None, where="WHERE d > 1")
RETRACTING = replace(SUMS, mode=Mode.RETRACTING)
ON, ANEW = Outcome.CONTINUE, Outcome.REBUILD


def changed(table: Written, **changes: Any) -> tuple[Written, Written]:
    return table, replace(table, **changes)


THIRTY = (
    (changed(SUMS), ON, None),
    (changed(SUMS, comment="points"), ON, "COMMENT"),
    (changed(SUMS, properties=(("owner", "me"),)), ON, "TBLPROPERTIES"),
    (changed(SUMS, select="p,  SUM(d) AS total, Count(d) AS n"), ON, None),
    (changed(SUMS, select="count(d) AS n, sum(d) AS total, p"), ON, "the columns in another order"),
    (changed(SUMS, select="p, sum(d) AS total"), ON, "column n goes away"),
    (changed(SUMS, select="p, sum(d) AS points, count(d) AS n"), ON, "column points is added"),
    (changed(SUMS, select="p, sum(d) + 1 AS total, count(d) AS n"), ON, "column total is computed differently"),
    (
        changed(SUMS, select="p, sum(d) AS total, count(d) AS n, avg(d) AS mean"),
        ON,
        "avg(d) is added: from what is kept",
    ),
    (changed(SUMS, select="p, sum(d) AS total, count(d) AS n, max(d) AS top"), ANEW, "max(d): the rows"),
    (changed(SUMS, select="p, sum(x) AS total, count(d) AS n"), ANEW, "sum(x): the rows"),
    (
        changed(MIDS, select="p, median(d) AS mid, sum(d) AS total, count() AS n"),
        ON,
        "sum(d), count(*) are added: from what",
    ),
    (changed(MIDS, select="p, sum(d) AS total"), ON, "median(d) goes away: kept no longer"),
    (changed(MIDS, select="p, median(d) AS mid, median(x) AS other"), ANEW, "median(x): the rows"),
    (changed(SETS, select="p, count(DISTINCT d) AS n, max(d) AS top"), ON, "max(d)"),
    (changed(SETS, select="p, count(DISTINCT d) AS n, sum(d) AS total"), ANEW, "sum(d): the rows"),
    (changed(SUMS, having="sum(d) > 9"), ON, "HAVING"),
    (changed(SUMS, trigger=AT_END), ON, "it starts afresh"),
    (changed(SUMS, trigger=EARLY_AND_LATE), ON, "it starts afresh"),
    (changed(SUMS, once=True), ON, "ONCE"),
    (changed(RETRACTING, mode=Mode.ACCUMULATING), ON, "RETRACTING becomes ACCUMULATING"),
    (changed(SUMS, mode=Mode.RETRACTING), ANEW, "a withdrawal"),
    (changed(SUMS, mode=Mode.DISCARDING), ANEW, "what waits"),
    (changed(replace(SUMS, mode=Mode.DISCARDING), mode=Mode.ACCUMULATING), ANEW, "no longer in the state"),
    (changed(SUMS, lateness=HOUR), ON, "close now"),
    (changed(SUMS, lateness=None), ON, "stay closed"),
    (changed(SUMS, delay=HOUR), ON, "WATERMARK"),
    (changed(SUMS, delay=None), ANEW, "no watermark"),
    (changed(SUMS, where="WHERE d > 1"), ANEW, "FROM or WHERE"),
    (changed(SUMS, source="other"), ANEW, "it reads default.other"),
    (changed(SUMS, keys="p, q"), ANEW, "GROUP BY"),
    (changed(replace(SUMS, keys="p, q"), keys="q, p"), ON, "the keys of GROUP BY"),
    (changed(SUMS, window=Fixed(2 * HOUR)), ANEW, "WINDOW"),
    (changed(SUMS, window=Sessions(HOUR)), ANEW, "WINDOW"),
    (changed(SUMS, types=(("total", "decimal(9,2)"),)), ANEW, "of type decimal(9,2)"),
    (changed(PLAIN, select="ts, p"), ON, "column d goes away"),
    (changed(PLAIN, select="p, d, ts, x"), ANEW, "column x is new"),
    (changed(PLAIN, where="WHERE d > 2"), ANEW, "other rows"),
    ((PLAIN, SUMS), ANEW, "the new query has windows"),
)


@pytest.mark.parametrize(("tables", "outcome", "told"), THIRTY, ids=count(1))
def test_a_verdict(tables: tuple[Written, Written], outcome: Outcome, told: str | None) -> None:
    old, new = (table.version() for table in tables)
    found = judge(old, new)
    assert (found.outcome, found.entry is not None) == (outcome, outcome is ON), found.changes
    assert (found.changes == ()) == (told is None), found.changes
    assert told is None or any(told in line for line in found.changes), found.changes
    assert bool(found.reread) == (outcome is ANEW)


def verdict(old: Written, **changes: Any) -> Verdict:
    return judge(old.version(), replace(old, **changes).version())


def test_only_what_was_not_kept_is_named() -> None:
    found = verdict(SETS, select="p, count(DISTINCT d) AS n, max(d) AS top, sum(d) AS total")
    assert found.outcome is ANEW and "sum(d): the rows that it needs were not kept" in found.changes


def test_state_that_serves_as_it_is_stays_as_it_is() -> None:
    for changes in ({}, {"comment": "c"}, {"having": "sum(d) > 9"}, {"select": "p, sum(d) + count(d) AS total"}):
        carry = verdict(SUMS, **changes).carry
        assert carry and carry.is_idle, changes
    turned = verdict(Written("p, median(d) AS a, median(x) AS b"), select="p, median(x) AS b, median(d) AS a").carry
    assert turned and not turned.is_idle and dict(turned.fields) == {"x0": "x1", "x1": "x0"}
    values = verdict(RETRACTING, select="p, count(d) AS n, sum(d) AS total").carry
    assert values and not values.is_idle and values.outputs == (0, 2, 1)


def test_a_trigger_that_starts_afresh_is_past_what_the_watermark_finishes() -> None:
    assert passes(AT_END) and not passes(EVERY_2)
    assert first_part(EARLY_AND_LATE) == 1
    assert first_part(Node(Kind.THEN, 0, 0, (AT_END, AT_END))) == 0


def test_keys_stay_where_the_state_has_them() -> None:
    two = replace(SUMS, keys="p, q", select="p, q, count(d) AS n")
    found = verdict(two, keys="q, p")
    assert found.entry and found.query and found.entry.key_order == ("1", "0")
    natural = replace(two, keys="q, p").version().query
    kept = as_kept(natural, found.entry)
    assert kept == replace(found.query, windowed=kept.windowed)
    assert kept.windowed and [o.sql for o in kept.windowed.outputs][:2] == ["__w_k0", "__w_k1"]
    assert reordered(kept, (1, 0)).named[:2] == natural.named[:2]
    again = judge(Version(found.entry, kept), replace(two, keys="q, p").version())
    assert again.entry and again.entry.key_order == ("1", "0")
    back = judge(Version(found.entry, kept), two.version())
    assert back.entry and back.entry.key_order == ()


def test_a_column_that_went_away_comes_back_with_its_type() -> None:
    found = verdict(SUMS, select="p, sum(d) AS total")
    assert found.entry and found.query
    assert [c.name for c in found.entry.former] == ["n"]
    old = Version(found.entry, found.query)
    assert judge(old, replace(SUMS, select="p, sum(d) AS total, sum(d) AS n").version()).outcome is ON
    other = replace(SUMS, select="p, sum(d) AS total, sum(d) AS n", types=(("n", "int"),)).version()
    assert judge(old, other).changes[0].startswith("column n is of type int, and bigint in the panes")


def test_readers() -> None:
    goes, anew = verdict(SUMS, select="p, sum(d) AS total"), verdict(SUMS, where="WHERE d > 1")
    assert with_readers(goes, (), ("default.r",)) is goes
    hurt = with_readers(goes, (("default.r", "column n is gone"),), ("default.r",))
    assert hurt.outcome is Outcome.REFUSED and "default.r reads it" in hurt.changes[0]
    refused = with_readers(anew, (), ("default.r", "default.q"))
    assert refused.outcome is Outcome.REFUSED and "read by default.r, default.q" in refused.changes[0]
    assert list(refused.lines())[1].startswith("refused")
    reader = SUMS.version()
    assert harm(reader.query, reader.query, reader.entry) is None
    assert harm(reader.query, replace(SUMS, select="p, sum(d) AS total").version().query, reader.entry)


def test_names_without_a_schema_mean_the_same() -> None:
    old, new = SUMS.version(), SUMS.version()
    elsewhere = judge(old, replace(new, entry=replace(new.entry, current="other")))
    assert elsewhere.outcome is ANEW and "looked up in schema other" in elsewhere.changes[0]
