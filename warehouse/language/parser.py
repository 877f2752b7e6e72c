"""A source text to a typed statement: ours where it holds something of ours, else Spark's, byte for byte."""

from __future__ import annotations

from itertools import pairwise

from warehouse.errors import SourceText, WarehouseError
from warehouse.language.cursor import Cursor, close_to, fail_misspelt, query_end
from warehouse.language.definitions import definition, source_behind
from warehouse.language.keywords import starts_query
from warehouse.language.query import expression_shape, merge_shape, query_shape
from warehouse.language.statements import Explain, Name, QueryShape, QueryStatement, SparkStatement, Statement
from warehouse.language.table_layout import layout_clauses
from warehouse.language.tokens import Kind, tokenize

_MODES = ("REWRITE", "EXTENDED", "FORMATTED", "COST", "CODEGEN")
_OBJECTS = ("TABLE", "VIEW", "FUNCTION", "SCHEMA", "DATABASE", "NAMESPACE", "CATALOG", "VARIABLE", "INDEX", "PROCEDURE")
_BEFORE_OBJECT = frozenset(
    ["OR", "REPLACE", "EXTERNAL", "GLOBAL", "LOCAL", "TEMPORARY", "TEMP", "MATERIALIZED", "UNSET", "RECURSIVE"]
)
_QUERY_HEADS = frozenset(["SELECT", "WITH", "FROM", "VALUES", "TABLE", "MAP", "REDUCE", "("])


def parse(source: SourceText) -> Statement:
    """Return the statement that ``source`` holds.

    Raises:
        WarehouseError: it holds a clause of ours that is malformed or misplaced; located in ``source``.
    """
    tokens = tokenize(source.text)
    if not tokens:
        return SparkStatement(source, "")
    try:
        return _statement(Cursor(source, tokens))
    except WarehouseError as error:
        raise error.located_in(source) from None
    except RecursionError:  # brackets nested hundreds deep: Spark is the judge
        return SparkStatement(source, "")


def _statement(cursor: Cursor) -> Statement:
    if cursor.token.upper == "EXPLAIN":
        return _explain(cursor)
    ours = definition(cursor)
    return ours if ours is not None else _spark(cursor)


# ---------------------------------------------------------------- EXPLAIN


def _explain(cursor: Cursor) -> Statement:
    source = cursor.source
    cursor.take()
    mode = ""
    if cursor.sees_any(_MODES) or (cursor.sees("ANALYZE") and not _gathers_statistics(cursor)):
        mode = cursor.take().upper
    elif cursor.peek().upper in _QUERY_HEADS and (meant := close_to(cursor.token, ["REWRITE", "ANALYZE"])):
        fail_misspelt(cursor.token, meant, "EXPLAIN", f"EXPLAIN {meant} SELECT …")
    if cursor.done:
        return SparkStatement(source, "EXPLAIN")
    offset = cursor.token.start
    inner = source_behind(source, offset)
    try:
        statement = parse(inner)
    except WarehouseError as error:  # point into the whole text, EXPLAIN included
        raise WarehouseError(*error.diagnostics).shifted(offset).located_in(source) from None
    asks_spark_alone = mode not in ("REWRITE", "ANALYZE")
    if asks_spark_alone and isinstance(statement, SparkStatement) and not _says_layout(statement):
        return SparkStatement(source, "EXPLAIN", None, _moved(statement.query, cursor))
    return Explain(source, mode, statement)


def _says_layout(statement: SparkStatement) -> bool:
    return statement.verb in ("CREATE TABLE", "REPLACE TABLE") and layout_clauses(statement.source) is not None


def _gathers_statistics(cursor: Cursor) -> bool:
    """Say whether the words at the cursor are Spark's ANALYZE TABLE(S) … COMPUTE STATISTICS."""
    if cursor.peek().upper not in ("TABLE", "TABLES"):
        return False
    words = [token.upper for token in cursor.tokens[cursor.at :]]
    return ("COMPUTE", "STATISTICS") in pairwise(words)


def _moved(shape: QueryShape | None, cursor: Cursor) -> QueryShape | None:
    """Return the shape of the explained query with its places in the whole statement."""
    return None if shape is None else query_shape(cursor, _query_head(cursor, cursor.at), query_end(cursor))


# ---------------------------------------------------------------- Spark's statements


def _spark(cursor: Cursor) -> Statement:
    """Return Spark's own statement, or a QueryStatement if a query in it holds something of ours."""
    source, verb = cursor.source, _verb(cursor)
    if verb == "BEGIN":
        return SparkStatement(source, verb)
    target = _target(cursor, verb)
    end = query_end(cursor)
    behind_ctes = cursor.tokens[0].upper in ("WITH", "FROM")
    head = _query_head(cursor, 0 if target is None or behind_ctes else cursor.at)
    if verb == "MERGE":
        shape = merge_shape(cursor, 0, end)
    elif head < end:
        shape = query_shape(cursor, head, end)
    else:
        shape = expression_shape(cursor, 0, end)
    if shape.ours:
        return QueryStatement(source, verb, target, shape)
    found = shape.blocks or shape.relations
    return SparkStatement(source, verb, target, shape if found else None)


def _verb(cursor: Cursor) -> str:
    """Return the statement's first significant words, upper case."""
    tokens = cursor.tokens
    word = tokens[0].upper
    if word in ("(", "WITH", "FROM", "VALUES", "TABLE", "MAP", "REDUCE"):
        return "INSERT" if word in ("WITH", "FROM") and _head(cursor, "INSERT") else "SELECT"
    if word in (
        "CREATE",
        "REPLACE",
        "DROP",
        "ALTER",
        "DESCRIBE",
        "DESC",
        "CACHE",
        "UNCACHE",
        "REFRESH",
        "TRUNCATE",
        "REPAIR",
        "ANALYZE",
    ):
        word = "DESCRIBE" if word == "DESC" else word
        for token in tokens[1:6]:
            if token.upper in _OBJECTS:
                return f"{word} {token.upper}"
            if token.upper not in _BEFORE_OBJECT:
                break
    return "SHOW CREATE" if word == "SHOW" and cursor.peek().upper == "CREATE" else word


# The words that may stand between a verb and the object it names.
_BEFORE_TARGET = {
    "INSERT": ("WITH", "SCHEMA", "EVOLUTION", "INTO", "OVERWRITE", "TABLE"),
    "MERGE": ("WITH", "SCHEMA", "EVOLUTION", "INTO"),
    "DELETE": ("FROM",),
    "UPDATE": (),
    "TRUNCATE": (),
    "DESCRIBE": ("FORMATTED", "EXTENDED", "HISTORY", "DETAIL"),
    "CACHE": ("LAZY", "TABLE"),
    "UNCACHE": ("TABLE",),
    "REFRESH": (),
    "MSCK": ("REPAIR", "TABLE"),
    "OPTIMIZE": (),
    "VACUUM": (),
    "RESTORE": ("TABLE",),
    "REORG": ("TABLE",),
    "COMMENT": ("ON", "TABLE", "VIEW"),
}


def _target(cursor: Cursor, verb: str) -> Name | None:
    """Return the object the statement names and move behind it; None where it names none of interest."""
    first, *rest = verb.split() or [""]
    if verb == "SHOW CREATE":
        cursor.at = 2
        return cursor.name(verb, verb) if cursor.accept("TABLE") and cursor.token.is_name else None
    cursor.at = _head(cursor, first)
    cursor.take()
    if rest and rest[0] in ("TABLE", "VIEW"):
        while cursor.tokens[cursor.at - 1].upper != rest[0]:
            cursor.take()
    elif rest or first not in _BEFORE_TARGET:
        cursor.at = 0
        return None
    for word in ("IF", "NOT", "EXISTS", *_BEFORE_TARGET.get(first, ())):
        if cursor.peek().is_name:
            cursor.accept(word)
    object_given = first != "COMMENT" or cursor.tokens[cursor.at - 1].upper in ("TABLE", "VIEW")
    directory = cursor.sees("LOCAL", "DIRECTORY") or (
        cursor.sees("DIRECTORY") and (cursor.peek().kind is Kind.STRING or cursor.peek().upper == "USING")
    )
    query = first == "DESCRIBE" and cursor.sees("QUERY") and starts_query(cursor, cursor.at + 1)
    if not object_given or directory or query or starts_query(cursor, cursor.at) or not cursor.token.is_name:
        return None
    return cursor.name(verb, verb)


def _head(cursor: Cursor, verb: str) -> int:
    """Return the index of the verb: 0, but behind the CTEs or the FROM that stand before an INSERT."""
    index = 0
    while verb == "INSERT" and index < len(cursor.tokens) - 1:
        word, after = cursor.tokens[index].upper, cursor.tokens[index + 1].upper
        if word == "INSERT" and after in ("INTO", "OVERWRITE", "WITH"):
            return index
        index = cursor.closing(index) if word == "(" else index + 1
    return 0


def _query_head(cursor: Cursor, first: int) -> int:
    """Return the index of the first token at this depth that opens a query; the end when none does."""
    end = query_end(cursor)
    index = first
    while index < end:
        word = cursor.tokens[index].upper
        before = cursor.tokens[index - 1].upper if index else ""
        if before not in (".", ",") and starts_query(cursor, index) and _opens(cursor, index, first, before):
            return index
        index = cursor.closing(index) + 1 if word == "(" else index + 1
    return end


def _opens(cursor: Cursor, index: int, first: int, before: str) -> bool:
    """Say whether the query-like words at ``index`` are the statement's query and not a clause of it."""
    word = cursor.tokens[index].upper
    if index == first == 0 or before in ("AS", "QUERY", "RETURN"):
        return True
    if word == "SELECT":
        return True
    head = cursor.tokens[0].upper
    if head == "EXPLAIN":
        return index == first
    if head == "INSERT":
        return word in ("WITH", "VALUES", "TABLE", "FROM", "MAP", "REDUCE", "(") and (
            word != "(" or starts_query(cursor, index + 1)
        )
    return head in ("DESCRIBE", "DESC") and word in ("WITH", "VALUES", "FROM") and index > 0
