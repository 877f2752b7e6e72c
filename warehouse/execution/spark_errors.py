"""Spark's errors, pointed back at the words the user wrote."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.errors.exceptions.captured import convert_exception

from warehouse.errors import Diagnostic, SourceText, Span, WarehouseError, diagnostic, render
from warehouse.language.fragments import Fragment
from warehouse.language.literals import string_literal

RAISED = (PySparkException, Py4JError)
"""What PySpark raises for mistakes in SQL and for failures while it runs."""

_LINE_AND_POSITION = re.compile(r"(?:\(line (\d+), pos (\d+)\)|; line (\d+) pos (\d+))")
_JAVA_CLASS = re.compile(r"^(?:An error occurred while calling \S+\.\s*: )?(?:[\w$]+\.)+[A-Z]\w*(?:Exception|Error): ")
"""How Py4J and Java begin a message that no condition goes with."""
_READING = re.compile(r"(while reading file )(.+?)(\.(?:\s.*)?)$", re.DOTALL)
_SUGGESTIONS = re.compile(r"\[(`[^\]]*`)\]")
_STATE = re.compile(r"SQLSTATE: (\w{5})")
_WRAPPERS = frozenset({
    None, "TASK_WRITE_FAILED", "STREAM_FAILED", "FOREACH_BATCH_USER_FUNCTION_ERROR",
    "FAILED_TO_CREATE_PLAN_FOR_DIRECT_QUERY", "STAGE_MATERIALIZATION_MULTIPLE_FAILURES",
})  # fmt: skip
"""Conditions (None: no condition) that only say where something else went wrong."""

_WAITED = re.compile(r"(?:[^\n]*\n: )?\S*\s*Exception thrown in awaitResult")
"""What Spark says first of a failure in another thread."""

_WAYS_OUT = {
    "STREAM_FAILED": "The checkpoint or a source does not fit any more: restore the warehouse folder from a copy, or"
    " REFRESH STREAMING TABLE … FULL builds the table again.",
    "FAILED_READ_FILE.FILE_NOT_EXIST": "The file was there when its folder was listed: bring it back, or REFRESH"
    " TABLE.",
    "FAILED_READ_FILE": "The file is damaged, or does not hold the columns that were declared: CREATE OR REPLACE"
    " STREAM, or the table anew, with the types it has, or move the file away.",
    "DELTA_SOURCE_TABLE_IGNORE_CHANGES": "Rows of the table were changed or deleted, and a stream reads one that only"
    " grows: REFRESH STREAMING TABLE … FULL reads it as it is now.",
    "DELTA_SOURCE_IGNORE_DELETE": "Rows of the table were deleted, and a stream reads one that only grows: REFRESH"
    " STREAMING TABLE … FULL reads it as it is now.",
    "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE": "The table that was read was dropped, and another"
    " one has its name: REFRESH STREAMING TABLE … FULL reads that from its start.",
    "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES": "Give the columns other names with AS; or TBLPROPERTIES"
    " ('delta.columnMapping.mode' = 'name') behind the table's name lets them have these.",
    "UNSUPPORTED_FEATURE.PARAMETER_MARKER": "What is kept as a text, such as a view, keeps no parameters: write the"
    " value, or make a table.",
    "DELTA_METADATA_MISMATCH": "INSERT WITH SCHEMA EVOLUTION INTO t … gives the table the columns that it lacks, and so"
    " does ALTER TABLE t ADD COLUMNS; else leave out what it has no column for.",
    "DELTA_SCHEMA_CHANGED": "REFRESH STREAMING TABLE … FULL reads the table as it is now.",
    "NOT_SUPPORTED_COMMAND_FOR_V2_TABLE": "A Delta table needs no ANALYZE and no REPAIR: its files tell their sizes and"
    " values, which partition_stats('t') shows. LOAD DATA is INSERT INTO t SELECT * FROM parquet.`folder`.",
    "UNBOUND_SQL_PARAMETER": "warehouse-sql --param NAME=VALUE gives :NAME a value; so does the program that runs a"
    " statement, and without one the value is written itself.",
    "TABLE_OR_VIEW_NOT_FOUND": "SHOW TABLES lists what there is; a stream is read with FROM STREAM.",
}
"""What to do about errors of Spark and Delta that say nothing of it, by the beginning of their condition."""

_WINDOW_FUNCTION = re.compile(r"routine `(?:tumble|hop|session)(?:_start|_end|_rowtime|_proctime)?`", re.IGNORECASE)
"""What Flink writes as functions."""
_WINDOW_CLAUSE = (
    "A window is a clause: SELECT window_start, count(*) FROM t WINDOW FIXED (at, SIZE INTERVAL 10 MINUTES);"
    " SLIDING and SESSIONS are written likewise."
)

_IMMEDIATE = re.compile(r"\s*EXECUTE\s+IMMEDIATE\b", re.IGNORECASE)
_SCRIPT = re.compile(rf"\s*BEGIN\b|{_IMMEDIATE.pattern}", re.IGNORECASE)
_OURS = re.compile(
    r"\b(?:STREAM|STREAMING|TRIGGER|WINDOW)\s+\w|\b(?:panes|late_rows|bad_rows|stream_state|stream_progress|GENERATE)\b",
    re.IGNORECASE,
)
_OF_WORDS = ("PARSE_SYNTAX_ERROR", "TABLE_OR_VIEW_NOT_FOUND", "UNRESOLVABLE_TABLE_VALUED_FUNCTION")
_NOT_IN_SCRIPTS = (
    "BEGIN … END and EXECUTE IMMEDIATE run what is Spark's own alone; statements and clauses of the warehouse stand by"
    " themselves, one after the other."
)

_OWN_FILE = re.compile(r"/streaming/[^/\s]+/(state|panes|late_rows)\b")
"""A file or folder that the engine wrote itself."""
_OWN_FILE_MISSED = ("FAILED_READ_FILE", "DELTA_TABLE_NOT_FOUND", "PATH_NOT_FOUND")
_OWN_FILE_DAMAGED = (
    "The file is damaged or gone. A table that is built again or dropped meanwhile takes its files with it: run the"
    " statement once more. If that is not it, restore the warehouse folder from a copy, or REFRESH STREAMING TABLE …"
    " FULL."
)

_UDF_FAILED = re.compile(r"User defined function \(.*?\) failed due to: (?:[\w.$]+: )?", re.DOTALL)
_RAISED_OURS = re.compile(
    r"WarehouseError: \[(WAREHOUSE_\w+)\] (.*?) SQLSTATE: (\w{5})[ \t]*"
    r"(?:\nhint: ([^\n]*?)(?: SQLSTATE: P0001[^\n]*)?(?=\n|$))?",  # Spark's own, where raise_error said it
    re.DOTALL,
)
_TOO_LARGE = re.compile(r"is bigger than spark\.driver\.maxResultSize \(([^)]*)\)")
_CANCELLED = ("cancelled", "Job aborted due to stage failure: Task killed", "SparkJobCancelled")


def raising(condition: str, values: Mapping[str, str], **texts: object) -> str:
    """Return SQL that raises an error of ours when it is computed.

    Args:
        condition: of the error.
        values: parameters of its message that are SQL.
        texts: the others.
    """
    marks = {name: f"\0{name}\0" for name in values}
    told = "WarehouseError: " + render(diagnostic(condition, None, **texts, **marks), None)
    parts = [values[part] if number % 2 else string_literal(part) for number, part in enumerate(told.split("\0"))]
    return f"raise_error(concat({', '.join(parts)}))"


def translate(error: BaseException, source: SourceText, fragment: Fragment | None = None) -> WarehouseError:
    """Return Spark's error as one of ours, with its condition, SQLSTATE and a caret where Spark named a place.

    Args:
        error: what PySpark raised.
        source: the user's statement.
        fragment: the text Spark was given, or None when it was the statement itself.
    """
    if isinstance(error, WarehouseError):
        return error.located_in(source)
    ours = _ours(error)
    if ours is not None:
        return WarehouseError(ours, source=source)
    if is_disk_full(error):
        return WarehouseError(diagnostic("WAREHOUSE_DISK_FULL"), source=source)
    too_large = _TOO_LARGE.search(str(error))
    if too_large:
        return WarehouseError(diagnostic("WAREHOUSE_RESULT_TOO_LARGE", most=too_large[1]), source=source)
    error = root(error)
    said = str(error)
    condition = _condition_of(error)
    if condition is None and "java.io.FileNotFoundException" in said:
        condition, state = "PATH_NOT_FOUND", "42K03"
    else:
        state = _state_of(error, condition)
        condition = condition or "WAREHOUSE_SPARK_FAILED"
    places: tuple[Span | None, ...] = (_context_span(error, source, fragment), _named_span(said, source, fragment))
    if _IMMEDIATE.match(source.text):  # places in the text that it ran
        places = ()
    span = next(filter(None, places), None) or _quoted_span(said, source, fragment)
    span = span or _bare_span(error, source, fragment)
    if condition == "UNCLOSED_BRACKETED_COMMENT":
        span = _last_comment(source)
    return WarehouseError(
        Diagnostic(condition, _sentence(error, said), state, span, _way_out(condition, said, source.text)),
        source=source,
    )


def _last_comment(source: SourceText) -> Span | None:
    """Return where the last comment of a text begins."""
    at = source.text.rfind("/*")
    return Span(at, at + 2) if at >= 0 else None


def _way_out(condition: str, said: str, text: str) -> str | None:
    if condition in _OF_WORDS and _SCRIPT.match(text) and _OURS.search(text):
        return _NOT_IN_SCRIPTS
    if condition.startswith(_OWN_FILE_MISSED) and _OWN_FILE.search(said):
        return _OWN_FILE_DAMAGED
    if condition == "UNRESOLVED_ROUTINE" and _WINDOW_FUNCTION.search(said):
        return _WINDOW_CLAUSE
    return next((way for prefix, way in _WAYS_OUT.items() if condition.startswith(prefix)), None)


def root(error: BaseException) -> BaseException:
    """Return the error inside those that only say which task or file it happened in, or that they waited for it."""
    errors = chain(error)
    tasks = [place for place, e in enumerate(errors) if _condition_of(e) == "TASK_WRITE_FAILED"]
    inside = errors[tasks[-1] + 1 :] if tasks else errors
    telling = (e for e in inside if not _WAITED.match(str(e)))
    return next((e for e in errors if _condition_of(e) not in _WRAPPERS), None) or next(telling, error)


def chain(error: BaseException) -> list[BaseException]:
    """Return an error and what caused it, from the outside in."""
    return [error, *_causes(error)]


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield what caused ``error``, from the outside in; PySpark leaves some errors as the JVM's own."""
    if isinstance(error, Py4JJavaError):
        java = error.java_exception
        while (java := java.getCause()) is not None:
            yield convert_exception(java)
        return
    cause = getattr(error, "_cause", None)
    while cause is not None:
        yield cause
        cause = getattr(cause, "_cause", None)


def is_disk_full(error: BaseException) -> bool:
    """Say whether there was no room to write, in Spark or in our own files."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    said = "\n".join(map(str, chain(error)))
    return any(os.strerror(number) in said for number in (errno.ENOSPC, errno.EDQUOT))


def is_cancellation(error: BaseException) -> bool:
    """Say whether ``error`` is what remains of a cancelled job."""
    said = str(error)
    return any(word in said for word in _CANCELLED)


def _ours(error: BaseException) -> Diagnostic | None:
    """Return the error of ours that was raised inside Spark, of which only the text comes back; or what means one."""
    said = "\n".join(map(str, chain(error)))
    found = _RAISED_OURS.search(said)
    if found:
        return Diagnostic(found[1], found[2], found[3], hint=found[4])
    unseen = re.search(r"Unseen label: (.*?)\. +To handle unseen labels", said)
    return diagnostic("WAREHOUSE_MODEL_UNSEEN", value=unseen[1]) if unseen else None


def condition_and_state(error: BaseException) -> tuple[str | None, str | None]:
    """Return the condition and the SQLSTATE of an error, of what went wrong rather than of where it did."""
    ours = _ours(error)
    if ours is not None:
        return ours.condition, ours.sqlstate
    inner = root(error)
    return _condition_of(inner), _stated(inner)


def _ask(error: BaseException, question: str) -> Any:
    try:
        return getattr(error, question)()
    except Exception:
        return None


def _condition_of(error: BaseException) -> str | None:
    """Return the condition that an error has, or names: PySpark leaves some errors as the JVM's own."""
    found = re.search(r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]", str(error))
    return _ask(error, "getCondition") or (found[1] if found else None)


def _stated(error: BaseException) -> str | None:
    """Return the SQLSTATE that an error has, or says."""
    found = _STATE.search(str(error))
    return _ask(error, "getSqlState") or (found[1] if found else None)


def _state_of(error: BaseException, condition: str | None) -> str:
    """Return an error's SQLSTATE; Spark's of the class XX, or one of ours where it has none, unless it means a bug."""
    state = _stated(error)
    if condition is None or condition.startswith("INTERNAL_ERROR"):
        return state or "XX000"
    if condition == "STREAM_FAILED":
        return "55000"  # a run that has ended and cannot go on is its table's state, not the engine's
    return state or "HY000"


def _sentence(error: BaseException, said: str) -> str:
    """Return the message without condition, SQLSTATE, position, plan and stack."""
    text = _ask(error, "getMessage") or said
    text = str(text).strip()
    found = re.search(r"\[[A-Z][A-Z0-9_.]*\]\s", text)
    if found:
        text = text[found.end() :]
    text = re.split(r"\n==|\n\s+at |;\n|\n'|\nJVM stacktrace|\n\tat ", text)[0]
    text = re.sub(r"\s*SQLSTATE: \w{5}.*", "", text, flags=re.DOTALL)
    text = _LINE_AND_POSITION.sub("", text)
    text = _JAVA_CLASS.sub("", text)
    text = _UDF_FAILED.sub("A function failed: ", text)
    text = _SUGGESTIONS.sub(_without_ours, text)
    text = _READING.sub(_as_it_is_called, text)
    return text.strip() or said.strip().splitlines()[0]


def _as_it_is_called(reading: re.Match[str]) -> str:
    """Return the name of a file that could not be read as its user knows it; Spark gives most of them as a URI."""
    words, name, end = reading.groups()
    name = name if " Could not read footer" in end else unquote(name)
    return words + re.sub("^file:/+", "/", name) + end


def _without_ours(suggestions: re.Match[str]) -> str:
    """Return a list of names that a message suggests without those that are ours."""
    return f"[{', '.join(name for name in suggestions[1].split(', ') if '`__w_' not in name)}]"


def _context_span(error: BaseException, source: SourceText, fragment: Fragment | None) -> Span | None:
    for context in _ask(error, "getQueryContext") or []:
        try:
            start, stop, words, kind = (
                context.startIndex(),
                context.stopIndex(),
                context.fragment(),
                context.objectType(),
            )
        except Exception:
            continue
        if start < 0 or kind:
            continue
        text = fragment.text if fragment else source.text
        if words in (text[start : stop + 1], _utf16(text, start, stop + 1)):
            return fragment.origin(start, stop + 1) if fragment else Span(start, stop + 1)
        at = source.text.find(words) if words else -1
        if at >= 0:
            return Span(at, at + len(words))
    return None


def _utf16(text: str, start: int, end: int) -> str:
    """Return what Java gives for that part of a text: Spark counts characters, of which Java takes some for two."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le", "replace")


def _quoted_span(said: str, source: SourceText, fragment: Fragment | None) -> Span | None:
    """Return the first place where the user wrote an expression that a message quotes."""
    for words in re.findall(r'"([^"]+)"|`([^`]+)`', said):
        if found := _written(next(w for w in words if w), source, fragment):
            return found[0]
    return None


def _bare_span(error: BaseException, source: SourceText, fragment: Fragment | None) -> Span | None:
    """Return the one place where the user wrote a name that a message gives as it is, such as that of a WINDOW."""
    for value in (_ask(error, "getMessageParameters") or {}).values():
        found = _written(value, source, fragment) if re.fullmatch(r"[A-Za-z_]\w*", value) else []
        if len(found) == 1:
            return found[0]
    return None


def _written(words: str, source: SourceText, fragment: Fragment | None) -> list[Span]:
    """Return the places where the user wrote ``words``, as they are or in backticks."""
    text, bare = fragment.text if fragment else source.text, re.escape(words)
    found = [Span(*place.span()) for place in re.finditer(rf"(?<![\w`]){bare}(?![\w`])|`{bare}`", text)]
    if fragment is None:
        return found
    origins = (fragment.origin(place.start, place.end) for place in found)
    return list(dict.fromkeys(filter(None, origins)))


def _named_span(said: str, source: SourceText, fragment: Fragment | None) -> Span | None:
    """Return the place that a message names by line and position."""
    found = _LINE_AND_POSITION.search(said)
    if not found:
        return None
    line, position = (int(g) for g in found.groups() if g is not None)
    text = fragment.text if fragment else source.text
    lines = text.split("\n")
    if not 1 <= line <= len(lines):
        return None
    start = sum(len(row) + 1 for row in lines[: line - 1]) + position
    word = re.match(r"\w+|\S", text[start:])
    end = start + (len(word.group()) if word else 1)
    if start >= len(text):
        return Span(len(source.text), len(source.text) + 1)
    return fragment.origin(start, end) if fragment else Span(start, end)
