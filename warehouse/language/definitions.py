"""Our statements that are no queries: CREATE, DROP, SHOW, DESCRIBE, REFRESH, DRAIN, START, STOP."""

from __future__ import annotations

from warehouse.errors import SourceText, Span, fail
from warehouse.language.cursor import Cursor, close_to, fail_misspelt, query_end
from warehouse.language.generate import generate
from warehouse.language.intervals import interval
from warehouse.language.keywords import TAILS, starts_query
from warehouse.language.query import query_shape
from warehouse.language.relations import option_list, refuse_watermark_for, watermark_clause
from warehouse.language.statements import (
    CreateStream,
    CreateStreamingTable,
    DescribeObject,
    DrainStreamingTable,
    DropObject,
    Interval,
    Name,
    QueryShape,
    RefreshStreamingTable,
    ShowObjects,
    StartStreamingTable,
    Statement,
    StopStreamingTable,
    Watermark,
)
from warehouse.language.table_layout import layout_clauses
from warehouse.language.tokens import Kind

STREAM_EXAMPLE = "CREATE STREAM plays (player STRING, event_time TIMESTAMP) USING json OPTIONS (path 'landing/plays')"
TABLE_EXAMPLE = "CREATE STREAMING TABLE totals AS SELECT … FROM STREAM plays"


def definition(cursor: Cursor) -> Statement | None:
    """Return the statement of ours that the cursor's head opens, or None when it is none of ours."""
    match cursor.token.upper:
        case "CREATE":
            return _create(cursor)
        case "DROP":
            return _drop(cursor)
        case "SHOW":
            return _show(cursor)
        case "DESCRIBE" | "DESC":
            return _describe(cursor)
        case "REFRESH" | "DRAIN" | "START" | "STOP":
            return _act(cursor)
        case "GENERATE" if cursor.peek().is_name:
            return generate(cursor)
    return None


def _end(cursor: Cursor, clause: str, example: str) -> None:
    """Fail if anything is left behind a whole statement."""
    while cursor.accept(";"):
        pass
    if not cursor.done:
        fail("WAREHOUSE_UNEXPECTED", cursor.here(), found=cursor.token.text, clause=clause, example=example)


# ---------------------------------------------------------------- CREATE


def _create(cursor: Cursor) -> Statement | None:
    first = cursor.at
    cursor.take()
    replace = cursor.accept("OR", "REPLACE")
    if cursor.sees("STREAM"):
        cursor.take()
        return _create_stream(cursor, replace)
    if cursor.sees("STREAMING"):
        cursor.take()
        cursor.expect("TABLE", "CREATE STREAMING TABLE", TABLE_EXAMPLE)
        return _create_table(cursor, replace)
    if cursor.peek().upper == "TABLE" and (meant := close_to(cursor.token, ["STREAMING"])):
        fail_misspelt(cursor.token, meant, "CREATE", TABLE_EXAMPLE)
    if cursor.peek().is_name and (meant := close_to(cursor.token, ["STREAM"])):
        fail_misspelt(cursor.token, meant, "CREATE", STREAM_EXAMPLE)
    cursor.at = first
    return None


def _if_not_exists(cursor: Cursor, replace: bool, clause: str) -> bool:
    first = cursor.at
    if not cursor.accept("IF", "NOT", "EXISTS"):
        return False
    if replace:
        fail("WAREHOUSE_REPLACE_IF_NOT_EXISTS", cursor.span(first), clause=clause)
    return True


class _Once:
    """Clauses that may stand once each, in any order."""

    def __init__(self, cursor: Cursor):
        self.cursor = cursor
        self.seen: set[str] = set()

    def accept(self, *words: str) -> bool:
        """Move over ``words`` if they stand here; fail if they did before."""
        at = self.cursor.at
        if not self.cursor.accept(*words):
            return False
        title = " ".join(words)
        if title in self.seen:
            fail("WAREHOUSE_CLAUSE_TWICE", self.cursor.span(at), clause=title)
        self.seen.add(title)
        return True


def _create_stream(cursor: Cursor, replace: bool) -> CreateStream:
    exists = _if_not_exists(cursor, replace, "CREATE STREAM")
    name = cursor.name("CREATE STREAM", STREAM_EXAMPLE)
    columns = None
    if cursor.token.upper == "(":
        if cursor.tokens[cursor.closing(cursor.at)].kind is Kind.END:
            fail("WAREHOUSE_UNCLOSED", cursor.here(), clause="CREATE STREAM", example=STREAM_EXAMPLE)
        first = cursor.at
        columns = cursor.skip_brackets()
        for at in range(first, cursor.at):
            refuse_watermark_for(cursor, at)
    once = _Once(cursor)
    provider: Name | None = None
    options: tuple[tuple[str, str], ...] = ()
    option_spans: tuple[tuple[str, Span], ...] = ()
    watermark: Watermark | None = None
    idle: Interval | None = None
    on_error_fail = False
    comment = None
    properties: tuple[tuple[str, str], ...] = ()
    while not cursor.done and not cursor.sees(";"):
        if once.accept("USING"):
            provider = cursor.name("USING", "USING json")
        elif once.accept("OPTIONS"):
            options, option_spans = option_list(cursor, "OPTIONS", "OPTIONS (path 'landing/plays')")
        elif cursor.sees("WATERMARK"):
            once.accept("WATERMARK")
            cursor.at -= 1
            watermark = watermark_clause(cursor, len(cursor.tokens) - 1)
        elif once.accept("IDLE"):
            cursor.expect("TIMEOUT", "IDLE TIMEOUT", "IDLE TIMEOUT INTERVAL 1 MINUTE")
            idle = interval(cursor, "IDLE TIMEOUT", "IDLE TIMEOUT INTERVAL 1 MINUTE")
        elif once.accept("ON"):
            cursor.expect("ERROR", "ON ERROR", "ON ERROR QUARANTINE")
            if not cursor.sees_any(("QUARANTINE", "FAIL")):
                meant = close_to(cursor.token, ["QUARANTINE", "FAIL"])
                cursor.fail_expecting(meant or "QUARANTINE or FAIL", "ON ERROR", "ON ERROR QUARANTINE")
            on_error_fail = cursor.take().upper == "FAIL"
        elif once.accept("COMMENT"):
            comment = cursor.string("COMMENT", "COMMENT 'plays of a mobile game'")
        elif once.accept("TBLPROPERTIES"):
            properties, _ = option_list(cursor, "TBLPROPERTIES", "TBLPROPERTIES ('owner' = 'games')")
        else:
            _unknown(
                cursor, "CREATE STREAM", ("USING", "OPTIONS", "WATERMARK", "IDLE", "ON", "COMMENT", "TBLPROPERTIES")
            )
    if provider is None:
        cursor.fail_expecting("USING", "CREATE STREAM", STREAM_EXAMPLE)
    _end(cursor, "CREATE STREAM", STREAM_EXAMPLE)
    return CreateStream(
        cursor.source,
        name,
        replace,
        exists,
        columns,
        ".".join(provider.parts),
        provider.span,
        options,
        option_spans,
        watermark,
        idle,
        on_error_fail,
        comment,
        properties,
    )


def _unknown(cursor: Cursor, clause: str, words: tuple[str, ...]) -> None:
    """Fail because a word opens no clause of this statement."""
    meant = close_to(cursor.token, words)
    example = STREAM_EXAMPLE if clause == "CREATE STREAM" else TABLE_EXAMPLE
    if meant:
        fail_misspelt(cursor.token, meant, clause, example)
    titles = {"IDLE": "IDLE TIMEOUT", "ON": "ON ERROR", "AS": "AS SELECT …"}
    known = ", ".join(titles.get(w, w) for w in words)
    fail("WAREHOUSE_CLAUSE_UNKNOWN", cursor.here(), found=cursor.token.text, clause=clause, known=known)


def _create_table(cursor: Cursor, replace: bool) -> CreateStreamingTable:
    exists = _if_not_exists(cursor, replace, "CREATE STREAMING TABLE")
    name = cursor.name("CREATE STREAMING TABLE", TABLE_EXAMPLE)
    once = _Once(cursor)
    comment = None
    properties: tuple[tuple[str, str], ...] = ()
    places: tuple[tuple[str, Span], ...] = ()
    while not cursor.done and not cursor.sees("AS"):
        if once.accept("COMMENT"):
            comment = cursor.string("COMMENT", "COMMENT 'score per team'")
        elif once.accept("TBLPROPERTIES"):
            properties, places = option_list(cursor, "TBLPROPERTIES", "TBLPROPERTIES ('owner' = 'games')")
        else:
            if starts_query(cursor, cursor.at):
                cursor.expect("AS", "CREATE STREAMING TABLE", TABLE_EXAMPLE)
            _unknown(cursor, "CREATE STREAMING TABLE", ("COMMENT", "TBLPROPERTIES", "AS"))
    cursor.expect("AS", "CREATE STREAMING TABLE", TABLE_EXAMPLE)
    first, end = cursor.at, query_end(cursor)
    if not starts_query(cursor, first):
        cursor.fail_expecting("a query", "CREATE STREAMING TABLE", TABLE_EXAMPLE)
    shape = _shape(cursor, first, end)
    return CreateStreamingTable(cursor.source, name, replace, exists, comment, properties, shape, places)


def _shape(cursor: Cursor, first: int, end: int) -> QueryShape:
    """Return the shape of a streaming table's query; DISTRIBUTE BY at its end is said of the table."""
    whole = query_shape(cursor, first, end)
    said = layout_clauses(cursor.source)
    if said is None or said.clause is None:
        return whole
    behind = next(i for i in range(first, end + 1) if i == end or cursor.tokens[i].start >= said.clause.end)
    if behind < end and cursor.tokens[behind].upper in TAILS:
        fail("WAREHOUSE_ORDER_IN_STREAMING_TABLE", cursor.span(behind, end), words=cursor.tokens[behind].upper)
    return query_shape(cursor, first, next(i for i in range(end) if cursor.tokens[i].start >= said.clause.start))


# ---------------------------------------------------------------- DROP, SHOW, DESCRIBE


def _kind(cursor: Cursor, verb: str) -> str | None:
    """Return STREAM, STREAMING TABLE or MODEL and move over it; None when none of them stands here."""
    for kind in ("STREAM", "MODEL"):
        if cursor.accept(kind):
            return kind
    if cursor.accept("STREAMING", "TABLE"):
        return "STREAMING TABLE"
    if cursor.sees("STREAMING") and (cursor.peek().is_name or verb != "DESCRIBE"):
        cursor.take()
        cursor.expect("TABLE", f"{verb} STREAMING TABLE", f"{verb} STREAMING TABLE totals")
    return None


def _drop(cursor: Cursor) -> DropObject | None:
    cursor.take()
    kind = _kind(cursor, "DROP")
    if kind is None:
        cursor.at -= 1
        return None
    example = f"DROP {kind} IF EXISTS plays"
    exists = cursor.accept("IF", "EXISTS")
    name = cursor.name(f"DROP {kind}", example)
    _end(cursor, f"DROP {kind}", example)
    return DropObject(cursor.source, kind, name, exists)


_SHOWN = {"STREAMS": "STREAM", "MODELS": "MODEL", "GENERATORS": "GENERATOR"}


def _show(cursor: Cursor) -> ShowObjects | None:
    cursor.take()
    kind = None
    if cursor.sees_any(_SHOWN):
        kind = _SHOWN[cursor.take().upper]
    elif cursor.accept("STREAMING", "TABLES"):
        kind = "STREAMING TABLE"
    elif cursor.sees("STREAMING"):
        cursor.take()
        cursor.expect("TABLES", "SHOW STREAMING TABLES", "SHOW STREAMING TABLES")
    elif cursor.sees_any(_SHOWN.values()):
        title = f"SHOW {cursor.token.upper}S"
        cursor.expect(f"{cursor.token.upper}S", title, title)
    if kind is None:
        cursor.at -= 1
        return None
    example = f"SHOW {kind}S LIKE 'p*'"
    schema = None
    if cursor.accept("IN") or cursor.accept("FROM"):
        schema = cursor.name(f"SHOW {kind}S", f"SHOW {kind}S IN sales")
    pattern = None
    if cursor.accept("LIKE") or cursor.token.kind is Kind.STRING:
        pattern = (
            cursor.string("LIKE", example) if cursor.token.kind is Kind.STRING else cursor.name("LIKE", example).last
        )
    _end(cursor, f"SHOW {kind}S", example)
    return ShowObjects(cursor.source, kind, schema, pattern)


_DESCRIBED = ("STREAM", "MODEL", "GENERATOR")


def _describe(cursor: Cursor) -> DescribeObject | None:
    first = cursor.at
    cursor.take()
    extended = cursor.sees("EXTENDED") and cursor.peek().upper in ("STREAMING", *_DESCRIBED) and bool(cursor.take())
    streaming = cursor.sees("STREAMING", "TABLE") and cursor.peek(2).is_name
    other = cursor.sees_any(_DESCRIBED) and cursor.peek().is_name and cursor.peek().upper not in ("PARTITION", "AS")
    if not streaming and not other:
        cursor.at = first
        return None
    kind = "STREAMING TABLE" if streaming else cursor.token.upper
    cursor.at += 2 if streaming else 1
    if not extended and cursor.sees("EXTENDED") and cursor.peek().is_name:
        extended = cursor.accept("EXTENDED")
    example = f"DESCRIBE {kind} {'KMeans' if kind == 'GENERATOR' else 'churn' if kind == 'MODEL' else 'plays'}"
    name = cursor.name(f"DESCRIBE {kind}", example)
    _end(cursor, f"DESCRIBE {kind}", example)
    return DescribeObject(cursor.source, kind, name, extended)


# ---------------------------------------------------------------- REFRESH, DRAIN, START, STOP


def _act(cursor: Cursor) -> Statement | None:
    verb = cursor.take().upper
    example = f"{verb} STREAMING TABLE totals"
    if not cursor.sees("STREAMING"):
        if (meant := close_to(cursor.token, ["STREAMING"])) and cursor.peek().upper == "TABLE":
            fail_misspelt(cursor.token, meant, verb, example)
        if verb != "REFRESH" and cursor.sees_any(("STREAM", "TABLE")) and cursor.peek().is_name:
            cursor.expect("STREAMING", verb, example)
        cursor.at -= 1
        return None
    if verb == "REFRESH" and not cursor.peek().is_name:
        cursor.at -= 1
        return None
    cursor.take()
    cursor.expect("TABLE", f"{verb} STREAMING TABLE", example)
    name = cursor.name(f"{verb} STREAMING TABLE", example)
    statement: Statement
    if verb == "REFRESH":
        statement = RefreshStreamingTable(cursor.source, name, cursor.accept("FULL"))
        example += " FULL"
    elif verb == "START":
        every = interval(cursor, "EVERY", f"{example} EVERY INTERVAL 5 SECONDS") if cursor.accept("EVERY") else None
        statement = StartStreamingTable(cursor.source, name, every)
        example += " EVERY INTERVAL 5 SECONDS"
    elif verb == "DRAIN":
        statement = DrainStreamingTable(cursor.source, name)
    else:
        statement = StopStreamingTable(cursor.source, name)
    _end(cursor, f"{verb} STREAMING TABLE", example)
    return statement


def source_behind(source: SourceText, offset: int) -> SourceText:
    """Return the part of ``source`` from ``offset`` on as a source of its own, its line kept right."""
    return SourceText(source.text[offset:], source.name, source.line + source.text.count("\n", 0, offset))
