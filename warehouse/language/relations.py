"""What stands in a FROM: names, streams, table functions of ours, joins; everything else is passed over."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from warehouse.errors import Span, fail
from warehouse.language.clauses import MODES, clause_here
from warehouse.language.cursor import Cursor, close_to, fail_misspelt
from warehouse.language.expressions import walk
from warehouse.language.intervals import interval, interval_at
from warehouse.language.keywords import (
    NEVER_ALIAS,
    clause_start,
    join_start,
    relation_suffix,
    starts_query,
    time_travel,
)
from warehouse.language.literals import split_name, string_value
from warehouse.language.model_calls import model_call, model_call_here
from warehouse.language.statements import (
    Cte,
    Interval,
    ModelCall,
    Name,
    QueryBlock,
    RelationReference,
    StreamReference,
    TableFunction,
    Watermark,
    WindowCall,
)
from warehouse.language.tokens import Kind
from warehouse.language.window_calls import refuse_watermark, window_call, window_call_here

TABLE_FUNCTIONS = frozenset(
    {"panes", "late_rows", "bad_rows", "stream_state", "stream_progress", "partition_stats", "cache_stats"}
)
_WATERMARK = "WATERMARK event_time DELAY OF INTERVAL 10 SECONDS"


@dataclass
class Found:
    """What a scan has collected so far."""

    blocks: list[QueryBlock] = field(default_factory=list)
    ctes: list[Cte] = field(default_factory=list)
    streams: list[StreamReference] = field(default_factory=list)
    functions: list[TableFunction] = field(default_factory=list)
    relations: list[RelationReference] = field(default_factory=list)
    calls: list[WindowCall] = field(default_factory=list)
    models: list[ModelCall] = field(default_factory=list)
    delays: list[Interval] = field(default_factory=list)


@dataclass(frozen=True)
class Relations:
    """A reader of FROM lists.

    Attributes:
        bracket: reads what a bracket of an expression holds, given the bracket's index.
        query: reads the query that stands between two token indexes.
    """

    cursor: Cursor
    found: Found
    bracket: Callable[[int], None]
    query: Callable[[int, int], None]

    def read(self, end: int) -> None:
        """Move over relations up to index ``end`` or the first thing that is none."""
        cursor = self.cursor
        while cursor.at < end:
            self._relation(end)
            if cursor.at < end and cursor.accept(","):
                continue
            if not join_start(cursor):
                return
            while not cursor.accept("JOIN"):
                cursor.take()

    def lateral_views(self, end: int) -> None:
        """Move over ``LATERAL VIEW [OUTER] f(…) [table] [AS columns]``, as many as stand here."""
        cursor = self.cursor
        while cursor.at < end and cursor.accept("LATERAL", "VIEW"):
            cursor.accept("OUTER")
            if cursor.token.is_name:
                cursor.name("LATERAL VIEW", "LATERAL VIEW explode(items) AS item")
            if cursor.token.upper == "(":
                self.bracket(cursor.at)
                cursor.skip_brackets()
            if cursor.token.is_name and cursor.token.upper != "AS" and not self._clause(end):
                cursor.take()
            if cursor.accept("AS") or (cursor.token.is_name and not self._clause(end)):
                cursor.take()
                while cursor.at < end and cursor.token.upper == "," and cursor.peek().is_name:
                    cursor.at += 2

    def _clause(self, end: int) -> bool:
        """Say whether a clause, a join or nothing more starts here, so that no alias does."""
        cursor = self.cursor
        return (
            cursor.at >= end
            or clause_start(cursor) is not None
            or join_start(cursor)
            or clause_here(cursor, True) is not None
        )

    # ---------------------------------------------------------------- one relation

    def _relation(self, end: int) -> None:
        cursor = self.cursor
        if cursor.token.upper == "LATERAL" and cursor.peek().upper != "VIEW":
            cursor.take()
        if self._stream_here(end):
            self._stream(end)
        elif cursor.token.upper == "(":
            self._bracketed()
            self._suffixes(end)
            self._watermark(end)
            self._alias(end)
        elif cursor.token.upper == "VALUES" and self._values_here():
            self._inline_table(end)
            self._alias(end)
        elif cursor.token.is_name:
            self._named(end)
        self._suffixes(end)
        self._join_condition(end)
        self.lateral_views(end)

    def _bracketed(self) -> None:
        cursor = self.cursor
        close = cursor.closing(cursor.at)
        if (cursor.peek().upper != "(" and starts_query(cursor, cursor.at + 1)) or (
            cursor.peek().upper == "(" and starts_query(cursor, cursor.at + 1) and self._is_query(cursor.at + 1, close)
        ):
            self.query(cursor.at + 1, close)
        else:
            cursor.take()
            self.read(close)
        cursor.at = min(close + 1, len(cursor.tokens) - 1)

    def _is_query(self, first: int, close: int) -> bool:
        """Say whether ``(…) UNION …`` or ``(…) ORDER BY …`` stands here rather than a bracketed relation."""
        cursor = self.cursor
        at, cursor.at = cursor.at, cursor.closing(first) + 1
        word = clause_start(cursor) if cursor.at < close else "end"
        cursor.at = at
        return word is not None and word not in ("WHERE", "LATERAL")

    def _values_here(self) -> bool:
        """Say whether rows follow VALUES, so that it is not a table's name."""
        after = self.cursor.peek()
        return (
            after.upper in ("(", "-", "+")
            or after.kind in (Kind.STRING, Kind.NUMBER)
            or (after.is_name and self.cursor.peek(2).upper in (",", "("))
        )

    def _inline_table(self, end: int) -> None:
        cursor = self.cursor
        cursor.take()
        walked = walk(cursor, end, lambda c: c.token.upper == "AS" or self._clause(end) or c.token.is_name)
        for index in walked.brackets:
            self.bracket(index)

    def _named(self, end: int) -> None:
        cursor = self.cursor
        first = cursor.at
        if window_call_here(cursor):
            self._window_call(end)
            return
        if model_call_here(cursor):
            call = model_call(cursor, self._relation)
            self.found.models.append(replace(call, aliased=self._alias(end) is not None))
            return
        name = cursor.name("FROM", "FROM orders")
        if cursor.token.upper == "(" and cursor.at < end:
            self._call(first, name)
            self._watermark(end)
            self._alias(end)
            return
        step = self._step()
        if step is not None:
            span = cursor.span(first)
            aliased = self._alias(end) is not None
            self.found.functions.append(TableFunction(span, "table", name, step, aliased))
            return
        self._suffixes(end)
        watermark = self._watermark(end)
        alias = self._alias(end)
        self.found.relations.append(RelationReference(name, alias, cursor.span(first), watermark))

    def _window_call(self, end: int) -> None:
        """Read a table function that assigns windows, with its alias."""
        cursor = self.cursor
        call = window_call(cursor, self._relation)
        if self._watermark_here(end):
            refuse_watermark(cursor, call)
        self.found.calls.append(replace(call, alias=self._alias(end)))

    def _call(self, first: int, name: Name) -> None:
        """Read a call where a relation may stand; ours are kept, all others are looked through."""
        cursor = self.cursor
        opening, close = cursor.at, cursor.closing(cursor.at)
        inner = cursor.tokens[opening + 1 : close]
        cursor.skip_brackets()
        if len(name.parts) == 1 and name.last.lower() in TABLE_FUNCTIONS:
            kind, span = (inner[0].kind, cursor.span(opening + 1, close)) if inner else (Kind.END, cursor.span(first))
            argument = _argument(cursor, name.last.lower(), kind, span)
            if argument is not None:
                step = self._step()
                function = TableFunction(cursor.span(first), name.last.lower(), argument, step)
                if step is not None and function.function in ("bad_rows", "partition_stats", "cache_stats"):
                    fail("WAREHOUSE_NO_STEPS", function.span, function=function.function)
                self.found.functions.append(function)
                return
        at, cursor.at = cursor.at, opening + 1
        if name.last.upper() == "TABLE" and cursor.token.is_name:  # TABLE(f(…)), TABLE(t)
            self.read(close)
        else:
            self.bracket(opening)
            for i in range(opening + 1, close):
                bracketed = cursor.tokens[i + 1].upper == "(" and cursor.closing(i + 1) == i + 3
                if cursor.tokens[i].upper == "TABLE" and cursor.tokens[i + 1 + bracketed].is_name:
                    cursor.at = i + 1 + bracketed
                    table = cursor.name("TABLE", "TABLE orders")
                    self.found.relations.append(RelationReference(table, None, table.span))
        cursor.at = at

    def _step(self) -> int | None:
        """Return the ``n`` of ``AS OF STEP n`` where that stands here, moving over it."""
        cursor = self.cursor
        if not cursor.sees("AS", "OF", "STEP"):
            return None
        if not cursor.peek(3).text.isdigit():
            fail("WAREHOUSE_STEP_NUMBER", cursor.span(cursor.at, cursor.at + 3))
        number = int(cursor.peek(3).text)
        cursor.at += 4
        return number

    # ---------------------------------------------------------------- streams

    def _stream_here(self, end: int) -> bool:
        """Say whether ``STREAM x`` stands here, and not a table that is called stream."""
        cursor = self.cursor
        if cursor.token.upper != "STREAM" or cursor.at + 1 >= end:
            return False
        after = cursor.peek()
        if after.upper == "(":
            inner = cursor.tokens[cursor.at + 2 : cursor.closing(cursor.at + 1)]
            return bool(inner) and all(t.is_name if i % 2 == 0 else t.upper == "." for i, t in enumerate(inner))
        if after.kind is Kind.IDENTIFIER_QUOTED:
            return True
        if after.kind is not Kind.WORD or after.upper in NEVER_ALIAS or after.upper == "AS":
            return False
        if after.upper in MODES:  # a mode cannot be the first clause
            return cursor.peek(2).upper != "AND"
        at = cursor.at
        windowed = after.upper == "WINDOW" and cursor.peek(2).upper == "GLOBAL"
        if after.upper in ("WINDOW", "TRIGGER") and cursor.peek(2).is_name and not windowed:
            cursor.at += 3  # STREAM trigger never: to Spark, a stream called trigger under an alias
            aliased = cursor.at >= end or cursor.sees(",") or clause_start(cursor) is not None or join_start(cursor)
            cursor.at = at
            if aliased:
                return True
        cursor.at += 1
        table = self._clause(end) or relation_suffix(cursor) or self._watermark_here(end)
        cursor.at = at
        return not table

    def _stream(self, end: int) -> None:
        cursor = self.cursor
        first = cursor.at
        cursor.take()
        bracketed = cursor.accept("(")
        name_at = cursor.at
        name = cursor.name("STREAM", "FROM STREAM orders")
        if bracketed:
            cursor.expect(")", "STREAM", "FROM STREAM (orders)")
        panes = False
        if cursor.token.upper == "(" and not bracketed:
            inner = cursor.tokens[cursor.at + 1 : cursor.closing(cursor.at)]
            argument = None
            if len(name.parts) == 1 and name.last.lower() in TABLE_FUNCTIONS and inner:
                span = cursor.span(cursor.at + 1, cursor.closing(cursor.at))
                argument = _argument(cursor, name.last.lower(), inner[0].kind, span)
            if argument is None:  # a table function of Spark's, read as a stream by Spark
                self._call(name_at, name)
                self._watermark(end)
                self._alias(end)
                return
            if name.last.lower() != "panes":
                span = cursor.span(first, cursor.closing(cursor.at) + 1)
                fail("WAREHOUSE_FUNCTION_NOT_STREAM", span, function=name.last.lower())
            cursor.skip_brackets()
            name, panes = argument, True
        if cursor.sees("AS", "OF", "STEP"):
            fail("WAREHOUSE_STEP_OF_STREAM", cursor.span(cursor.at, cursor.at + 3), name=name.written)
        options = _options(cursor) if cursor.sees("WITH", "(") else None
        if cursor.accept("IDENTIFIED", "BY"):
            cursor.take()
        refuse_watermark_for(cursor, cursor.at)
        watermark = self._watermark(end)
        alias = self._alias(end)
        if alias is not None and self._watermark_here(end):
            fail(
                "WAREHOUSE_WATERMARK_AFTER_ALIAS", cursor.here(), example=f"STREAM {name.last} {_WATERMARK} AS {alias}"
            )
        span = cursor.span(first)
        self.found.streams.append(StreamReference(span, name, panes, watermark, alias, options))

    def _watermark_here(self, end: int) -> bool:
        """Say whether ``WATERMARK … DELAY`` stands here, and not an alias called watermark."""
        cursor = self.cursor
        if cursor.token.upper != "WATERMARK":
            return False
        if cursor.peek(1).is_name and cursor.peek(2).upper == "DELAY" and cursor.peek(3).upper in ("OF", "INTERVAL"):
            return True
        if cursor.peek(1).is_name and close_to(cursor.peek(2), ("DELAY",)) and cursor.peek(3).upper == "OF":
            return True
        at = cursor.at
        cursor.take()
        if not self._clause(end) and not join_start(cursor):
            walk(cursor, end, lambda c: c.token.upper == "DELAY" or self._clause(end), commas=False)
        after = cursor.peek()
        delay = after.upper in ("OF", "INTERVAL") or after.kind in (Kind.STRING, Kind.NUMBER)
        found = cursor.at < end and cursor.token.upper == "DELAY" and cursor.at > at + 1 and delay
        cursor.at = at
        return found

    def _watermark(self, end: int) -> Watermark | None:
        if not self._watermark_here(end):
            return None
        watermark = watermark_clause(self.cursor, end)
        if watermark.delay.span.of(self.cursor.source.text)[-1] in "'\"":
            self.found.delays.append(watermark.delay)
        return watermark

    # ---------------------------------------------------------------- around a relation

    def _suffixes(self, end: int) -> None:
        """Move over samples, pivots and time travel, each with the alias it may carry."""
        cursor = self.cursor
        while cursor.at < end and relation_suffix(cursor):
            if time_travel(cursor):
                cursor.accept("FOR")
                cursor.at += 3
                walk(cursor, end, lambda c: c.token.is_name, commas=False)
                continue
            sample = cursor.token.upper == "TABLESAMPLE"
            while cursor.token.upper != "(" and cursor.at < end:
                cursor.take()
            self.bracket(cursor.at)
            cursor.skip_brackets()
            if sample and cursor.accept("REPEATABLE"):
                cursor.skip_brackets()
            self._alias(end)

    def _alias(self, end: int) -> str | None:
        """Return the alias at the cursor as it is written, moving over its column list, or None."""
        cursor = self.cursor
        if cursor.at >= end:
            return None
        if cursor.token.upper == "AS" and cursor.peek().is_name:
            cursor.take()
        elif cursor.token.kind is Kind.WORD:
            word = cursor.token.upper
            if (
                word in NEVER_ALIAS
                or word == "AS"
                or self._clause(end)
                or relation_suffix(cursor)
                or self._watermark_here(end)
            ):
                return None
        elif cursor.token.kind is not Kind.IDENTIFIER_QUOTED:
            return None
        first = cursor.at
        cursor.take()
        alias = cursor.span(first).of(cursor.source.text)
        if cursor.token.upper == "(" and cursor.at < end:
            cursor.skip_brackets()
        return alias

    def _join_condition(self, end: int) -> None:
        cursor = self.cursor
        if cursor.sees("USING", "("):
            cursor.take()
            cursor.skip_brackets()
            self._alias(end)
        elif cursor.accept("ON"):
            walked = walk(cursor, end, lambda c: self._stops_condition(), commas=False)
            for index in walked.brackets:
                self.bracket(index)

    def _stops_condition(self) -> bool:
        cursor = self.cursor
        return clause_start(cursor) is not None or join_start(cursor) or clause_here(cursor, False) is not None


def watermark_clause(cursor: Cursor, end: int) -> Watermark:
    """Return the clause at the cursor, which stands on WATERMARK."""
    first = cursor.at
    refuse_watermark_for(cursor, first)
    cursor.take()
    column = cursor.at
    walk(cursor, end, lambda c: c.token.upper in ("DELAY", "INTERVAL"), commas=False)
    if cursor.at == column:
        cursor.fail_expecting("a column", "WATERMARK", _WATERMARK)
    *words, last = cursor.tokens[column : cursor.at]
    if words and last.upper == "OF" and close_to(words[-1], ("DELAY",)):
        fail_misspelt(words[-1], "DELAY", "WATERMARK", _WATERMARK)
    name = last.text if len(words) > 1 and words[-1].upper == "AS" and last.is_name else None
    column_span = cursor.span(column, cursor.at - 2 if name else cursor.at)
    cursor.expect("DELAY", "WATERMARK", _WATERMARK)
    cursor.expect("OF", "WATERMARK", _WATERMARK)
    delay = interval(cursor, "WATERMARK … DELAY OF", _WATERMARK)
    return Watermark(column_span, delay, cursor.span(first), name)


def refuse_watermark_for(cursor: Cursor, at: int) -> None:
    """Fail where ``WATERMARK FOR column`` begins at a token, which is Flink's spelling of it."""
    word, column = (cursor.tokens[min(at + ahead, len(cursor.tokens) - 1)] for ahead in (1, 2))
    if cursor.tokens[at].upper == "WATERMARK" and word.upper == "FOR" and column.is_name and column.upper != "DELAY":
        written = column.span.of(cursor.source.text)
        fail("WAREHOUSE_WATERMARK_FOR", cursor.span(at, at + 3), column=written)


def _argument(cursor: Cursor, function: str, kind: Kind, span: Span) -> Name | None:
    """Return the name in the argument of a table function of ours; None when it is a string of no name."""
    written = span.of(cursor.source.text)
    if kind is Kind.STRING:
        name = split_name(string_value(written), span) if written.count(written[-1]) == 2 else None
    else:
        name = None
    if name is None:
        suggestion = written if re.fullmatch(r"\w+|`[^`']+`", written) else "name"
        fail("WAREHOUSE_FUNCTION_ARGUMENT", span, function=function, example=f"{function}('{suggestion}')")
    return name


def _options(cursor: Cursor) -> Span:
    """Return where the options ``WITH ('key' = 'value', …)`` behind a stream are."""
    first = cursor.at
    cursor.take()
    option_list(cursor, "WITH", "STREAM orders WITH ('maxFilesPerTrigger' = '1')")
    return cursor.span(first)


def option_list(
    cursor: Cursor, clause: str, example: str
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, Span], ...]]:
    """Return the pairs of ``(key [=] value, …)`` and the span of each value."""
    cursor.expect("(", clause, example)
    pairs: list[tuple[str, str]] = []
    spans: list[tuple[str, Span]] = []
    while not cursor.accept(")"):
        if pairs:
            cursor.expect(",", clause, example)
        key = (
            string_value(cursor.take().text)
            if cursor.token.kind is Kind.STRING
            else ".".join(cursor.name(clause, example).parts)
        )
        cursor.accept("=")
        first = cursor.at
        if cursor.token.kind is Kind.STRING:
            value = cursor.string(clause, example)
        elif key.lower() == "step" and interval_at(cursor):  # ours, a replay's
            value = cursor.span(first).of(cursor.source.text)
        else:
            if cursor.token.upper == "-":
                cursor.take()
            if cursor.token.kind is not Kind.NUMBER and cursor.token.upper not in ("TRUE", "FALSE"):
                cursor.fail_expecting("a value", clause, example)
            cursor.take()
            value = cursor.span(first).of(cursor.source.text)
        pairs.append((key, value))
        spans.append((key, cursor.span(first)))
    return tuple(pairs), tuple(spans)
