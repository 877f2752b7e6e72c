"""CREATE, SHOW, DESCRIBE and DROP STREAM as far as they need neither Spark nor files.

``plan_stream`` takes the typed statement through ``CHECKS``, one small function per kind of mistake, and
returns what is to be made. What only the source itself can tell (does the path exist, what are its columns)
``warehouse.streaming.sources.new_stream`` asks afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from warehouse.catalog.entries import Column, Pairs, StreamEntry, quote_name
from warehouse.errors import Diagnostic, SourceText, Span, WarehouseError, diagnostic, fail, is_secret, without_secrets
from warehouse.language.cursor import Cursor
from warehouse.language.intervals import interval_at, text_length
from warehouse.language.statements import CreateStream, Interval, Name
from warehouse.language.tokens import Kind, Token, tokenize, tokenize_prefix
from warehouse.planning.lengths import duration
from warehouse.planning.streams import kafka
from warehouse.planning.streams.options import close_to, key_span, option, option_span

SPARK_CATALOG = "spark_catalog"

FILE_FORMATS = frozenset({"json", "csv", "parquet", "orc", "text", "xml", "avro", "binaryfile"})
RECORD_FORMATS = frozenset({"json", "csv", "xml"})
"""Formats in which one record may be broken and the next one fine."""

RECORDED_FORMATS = frozenset({"json", "csv", "parquet", "orc", "delta"})
"""Formats a replay can read."""

FORMATS = FILE_FORMATS | {"delta", "rate", "rate-micro-batch", "socket", "replay", "kafka"}
WITH_PATH = FILE_FORMATS | {"delta", "replay"}

RESERVED_PREFIX = "__w_"
RESERVED_COLUMNS = frozenset({"_corrupt_record", "_metadata", "_record", "_why", "_at", "_position", "_table"})

REPLAY_OPTIONS = ("path", "format", "arrival", "step", "watermark")
FILE_STREAM_OPTIONS = (
    "maxFilesPerTrigger",
    "maxBytesPerTrigger",
    "maxFileAge",
    "maxCachedFiles",
    "latestFirst",
    "fileNameOnly",
    "cleanSource",
    "sourceArchiveDir",
)
"""Options that say how files are taken up, not how they are read."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_FILE_OPTIONS = _words("path basePath recursiveFileLookup pathGlobFilter ignoreCorruptFiles ignoreMissingFiles")
_READER_OPTIONS: dict[str, tuple[str, ...]] = {
    "csv": _words(
        "charToEscapeQuoteEscaping charset codec columnPruning comment compression dateFormat delimiter emptyValue "
        "enableDateTimeParsingFallback encoding enforceSchema escape escapeQuotes extension header "
        "ignoreLeadingWhiteSpace ignoreTrailingWhiteSpace inferSchema inputBufferSize lineSep locale "
        "maxCharsPerColumn maxColumns mode multiLine nanValue negativeInf nullValue positiveInf preferDate quote "
        "quoteAll samplingRatio sep timeFormat timeZone timestampFormat timestampNTZFormat "
        "unescapedQuoteHandling"
    ),
    "json": _words(
        "allowBackslashEscapingAnyCharacter allowComments allowNonNumericNumbers allowNumericLeadingZeros "
        "allowSingleQuotes allowUnquotedControlChars allowUnquotedFieldNames charset compression dateFormat "
        "dropFieldIfAllNull enableDateTimeParsingFallback encoding inferTimestamp lineSep locale mode multiLine "
        "prefersDecimal primitivesAsString samplingRatio timeFormat timeZone timestampFormat timestampNTZFormat "
        "useUnsafeRow"
    ),
    "parquet": ("compression", "datetimeRebaseMode", "int96RebaseMode", "mergeSchema"),
    "orc": ("compression", "mergeSchema"),
    "delta": (
        *("path", "maxFilesPerTrigger", "maxBytesPerTrigger", "startingVersion", "startingTimestamp"),
        *("ignoreDeletes", "ignoreChanges", "skipChangeCommits", "withEventTimeOrder", "excludeRegex"),
        *("readChangeFeed", "failOnDataLoss", "schemaTrackingLocation"),
    ),
}
_COUNTS = frozenset({"maxfilespertrigger", "maxoffsetspertrigger"})


@dataclass(frozen=True)
class StreamPlan:
    """A stream that is to be made, as the statement has it: columns are still text, the path as written.

    Attributes:
        format: normalized (lower case where it is a known one).
        recorded: the format of the files: of a replay, that of its recording (None: to be told from the path).
        watermark_column: SQL text, or None.
    """

    statement: CreateStream
    schema: str
    name: str
    format: str
    recorded: str | None
    watermark_column: str | None

    @property
    def place(self) -> Span:
        """Return where the text says what is read: the path, Kafka's servers, or the format's name."""
        return self.span_of("kafka.bootstrap.servers" if self.format == "kafka" else "path")

    def span_of(self, option: str) -> Span:
        """Return where the option's value stands, or the format's name when the option is not there."""
        return option_span(self.statement, option) or self.statement.format_span


def plan_stream(statement: CreateStream, schema: str) -> StreamPlan:
    """Return what ``statement`` is to make, in ``schema`` unless the name says otherwise.

    Raises:
        WarehouseError: with everything that is wrong in the statement as text.
    """
    wrong = [d for check in CHECKS for d in check(statement)]
    if wrong:
        raise WarehouseError(*wrong)
    place, name = object_name(statement.name, schema)
    kind = normal_format(statement.format)
    recorded = kind if kind != "replay" else option(statement, "format")
    column = statement.watermark.column.of(statement.source.text) if statement.watermark else None
    return StreamPlan(statement, place, name, kind, recorded.lower() if recorded else None, column)


def object_name(name: Name, schema: str) -> tuple[str, str]:
    """Return schema and name of an object of ours.

    Raises:
        WarehouseError: the name has a catalog that cannot hold objects of ours.
    """
    if len(name.parts) > 3 or (len(name.parts) == 3 and name.parts[0].lower() != SPARK_CATALOG):
        fail("WAREHOUSE_NAME_TOO_LONG", name.span, name=".".join(map(quote_name, name.parts)), catalog=SPARK_CATALOG)
    return name.within(schema)


def normal_format(text: str) -> str:
    """Return a known format in lower case, any other as written (it may be a class)."""
    return text.lower() if text.lower() in FORMATS else text


# ---------------------------------------------------------------- checks


def _check_format(statement: CreateStream) -> Iterator[Diagnostic]:
    """Refuse a source that is nearly a known one."""
    kind = normal_format(statement.format)
    if kind not in FORMATS and "." not in kind and (meant := close_to(kind, FORMATS, 0.6)):
        yield unknown_format(statement, meant)


def unknown_format(statement: CreateStream, meant: str | None = None) -> Diagnostic:
    """Return the diagnostic for a source that nobody knows."""
    known = ", ".join(sorted(FORMATS - {"rate-micro-batch", "avro"}))
    advice = f"did you mean {meant}?" if meant else f"the sources are {known}, and any that Spark finds by its class."
    return diagnostic("WAREHOUSE_STREAM_FORMAT_UNKNOWN", statement.format_span, format=statement.format, advice=advice)


def _check_options(statement: CreateStream) -> Iterator[Diagnostic]:
    """Refuse options that are repeated, ours, misspelt or no number, and a source without its path."""
    kind = normal_format(statement.format)
    seen: set[str] = set()
    known = _known_options(statement)
    for key, value_span in statement.option_spans:
        low, span = key.lower(), key_span(statement, value_span)
        value = option(statement, key) or ""
        if low in seen:
            yield diagnostic("WAREHOUSE_STREAM_OPTION_REPEATED", span, option=key)
        seen.add(low)
        if low == "columnnameofcorruptrecord" or (low == "mode" and value.upper() != "PERMISSIVE"):
            yield diagnostic("WAREHOUSE_STREAM_OPTION_OURS", span, option=key)
        elif known and "." not in key and low not in {k.lower() for k in known}:
            meant = close_to(key, known)
            if meant or kind == "replay":
                advice = f"did you mean {meant}?" if meant else f"a replay has {', '.join(REPLAY_OPTIONS)}."
                yield diagnostic("WAREHOUSE_STREAM_OPTION_UNKNOWN", span, option=key, source=kind, advice=advice)
        if low in _COUNTS and not (value.isdecimal() and int(value) > 0):
            wanted = "a number above 0"
            yield diagnostic("WAREHOUSE_STREAM_OPTION_VALUE", value_span, option=key, value=value, wanted=wanted)
    if kind in WITH_PATH and not option(statement, "path"):
        yield diagnostic(
            "WAREHOUSE_STREAM_PATH_MISSING", option_span(statement, "path") or statement.format_span, source=kind
        )


def _known_options(statement: CreateStream) -> tuple[str, ...]:
    """Return the options of the statement's source, or nothing where any may be meant."""
    kind = normal_format(statement.format)
    if kind == "replay":
        recorded = (option(statement, "format") or "").lower()
        formats = [recorded] if recorded in RECORDED_FORMATS else sorted(RECORDED_FORMATS)
        return (*REPLAY_OPTIONS, *_FILE_OPTIONS, *(o for f in formats for o in _READER_OPTIONS[f]))
    if kind == "delta":
        return _READER_OPTIONS[kind]
    if kind in _READER_OPTIONS:
        return (*_READER_OPTIONS[kind], *_FILE_OPTIONS, *FILE_STREAM_OPTIONS)
    return ()


def _check_kafka(statement: CreateStream) -> Iterator[Diagnostic]:
    """Refuse what cannot be meant of Kafka."""
    if normal_format(statement.format) == "kafka":
        yield from kafka.check(statement, _READER_OPTIONS["json"])


def _check_replay(statement: CreateStream) -> Iterator[Diagnostic]:
    """Refuse a replay that does not say when its rows arrived, or whose clock cannot be understood."""
    if normal_format(statement.format) != "replay":
        return
    if not option(statement, "arrival"):
        yield diagnostic("WAREHOUSE_REPLAY_ARRIVAL_MISSING", statement.format_span)
    recorded = option(statement, "format")
    if recorded is not None and recorded.lower() not in RECORDED_FORMATS:
        meant = close_to(recorded, RECORDED_FORMATS, 0.6)
        known = ", ".join(sorted(RECORDED_FORMATS))
        advice = f"did you mean {meant}?" if meant else f"a recording is one of {known}."
        yield diagnostic("WAREHOUSE_REPLAY_FORMAT", option_span(statement, "format"), format=recorded, advice=advice)
    step = option(statement, "step")
    if step is not None and step_length(step) == 0:
        yield diagnostic("WAREHOUSE_REPLAY_STEP", option_span(statement, "step"), step=step)


def step_length(text: str) -> int | None:
    """Return the option ``step`` in microseconds, None for ``arrival``, and 0 where it cannot be used.

    Example:
        >>> step_length("arrival"), step_length("1 minute"), step_length("INTERVAL '0:01' HOUR TO MINUTE")
        (None, 60000000, 60000000)
        >>> step_length("INTERVAL 1 MONTH"), step_length("often")
        (0, 0)
    """
    if text.strip().lower() == "arrival":
        return None
    found = text_length(text)
    if found is None and (tokens := tokenize(text)):
        with suppress(WarehouseError):
            literal = interval_at(Cursor(SourceText(text), tokens))
            found = (literal.micros, literal.months) if literal else None
    if found is None or found[1] or found[0] <= 0:
        return 0
    return found[0]


def _check_intervals(statement: CreateStream) -> Iterator[Diagnostic]:
    """Refuse months, a delay below zero, and a timeout that is not above zero."""
    text = statement.source.text
    if statement.watermark and _unfit(statement.watermark.delay, 0):
        delay = statement.watermark.delay.span
        yield diagnostic("WAREHOUSE_STREAM_DELAY", delay, written=delay.of(text))
    if statement.idle_timeout and _unfit(statement.idle_timeout, 1):
        timeout = statement.idle_timeout.span
        yield diagnostic("WAREHOUSE_STREAM_IDLE_TIMEOUT", timeout, written=timeout.of(text))


def _check_watermark(statement: CreateStream) -> Iterator[Diagnostic]:
    """Refuse a watermark that would make a column, which the stream's records do not have."""
    mark = statement.watermark
    if mark and mark.name:
        written = mark.column.of(statement.source.text)
        yield diagnostic("WAREHOUSE_WATERMARK_NAME", mark.span, column=written, name=mark.name)


def _unfit(interval: Interval, least: int) -> bool:
    return bool(interval.months) or interval.micros < least


def _check_columns(statement: CreateStream) -> Iterator[Diagnostic]:
    """Refuse column names that are repeated or kept for ourselves."""
    seen: set[str] = set()
    for name, span in column_names(statement):
        if name.lower() in seen:
            yield diagnostic("WAREHOUSE_STREAM_COLUMN_REPEATED", span, column=name)
        seen.add(name.lower())
        if is_reserved(name):
            yield diagnostic("WAREHOUSE_STREAM_COLUMN_RESERVED", span, column=name)


CHECKS: tuple[Callable[[CreateStream], Iterator[Diagnostic]], ...] = (
    _check_format,
    _check_options,
    _check_kafka,
    _check_replay,
    _check_intervals,
    _check_watermark,
    _check_columns,
)


def is_reserved(column: str) -> bool:
    """Say whether a column name is one that we add to a stream's rows."""
    return column.lower().startswith(RESERVED_PREFIX) or column.lower() in RESERVED_COLUMNS


# ---------------------------------------------------------------- the column list


def column_names(statement: CreateStream) -> tuple[tuple[str, Span], ...]:
    """Return the names in the column list with their places; types are not looked at."""
    out, fresh, depth = [], True, 0
    for token in _column_tokens(statement):
        if fresh and token.is_name:
            out.append((token.text, token.span))
        fresh = False
        if token.kind is Kind.SYMBOL:
            depth += sum(token.text.count(c) for c in "(<") - sum(token.text.count(c) for c in ")>")
            fresh = depth == 0 and token.text == ","
    return tuple(out)


def column_place(statement: CreateStream, line: int, position: int) -> Span:
    """Return the words that stand at Spark's 1-based line and 0-based position inside the column list."""
    assert statement.columns is not None
    lines = statement.columns.of(statement.source.text).split("\n")
    offset = statement.columns.start + sum(len(text) + 1 for text in lines[: line - 1]) + position
    tokens = _column_tokens(statement)
    at = next((t for t in tokens if t.start <= offset < t.end), None)
    if at is not None:
        return at.span
    last = tokens[-1].span if tokens else statement.columns
    return last if offset >= last.end else Span(offset, offset + 1)


def _column_tokens(statement: CreateStream) -> list[Token]:
    """Return the tokens of the column list, placed in the whole statement."""
    if statement.columns is None:
        return []
    tokens, _ = tokenize_prefix(statement.columns.of(statement.source.text))
    shift = statement.columns.start
    placed = [Token(t.kind, t.text, t.start + shift, t.end + shift, t.upper) for t in tokens]
    return [t for t in placed if t.kind is not Kind.END]


# ---------------------------------------------------------------- replacing


def incompatible(old: StreamEntry, new: StreamEntry) -> str | None:
    """Return why readers of ``old`` could not go on with ``new``, or None.

    Columns may be added; one that is there keeps its type. The kind of source stays, since a reader's place in
    a log of files means nothing to another kind.
    """
    if old.format != new.format and not {old.format, new.format} <= FILE_FORMATS:
        return f"its source changes from {old.format} to {new.format}"
    before, now = ((entry.option("reader") or "").lower() for entry in (old, new))
    if new.format == "kafka" and before != now:
        return f"its reader changes from {before} to {now}"
    types = {column.name.lower(): column.type for column in new.columns}
    for column in old.columns:
        kind = types.get(column.name.lower())
        if kind is None:
            return f"column {column.name} is gone"
        if kind != column.type:
            return f"column {column.name} changes from {column.type} to {kind}"
    return None


# ---------------------------------------------------------------- showing


def matching(names: Iterable[str], pattern: str | None) -> frozenset[str]:
    """Return the names that a LIKE pattern of SHOW matches, by Spark's rules.

    ``*`` stands for anything, ``|`` for or, case does not count, and the rest is a regular expression.

    Example:
        >>> sorted(matching(["plays", "players", "scores"], "play*|sc"))
        ['players', 'plays']
    """
    if pattern is None:
        return frozenset(names)
    names, found = tuple(names), set()
    for part in pattern.strip().split("|"):
        try:
            compiled = re.compile(part.replace("*", ".*"), re.IGNORECASE)
        except re.error:
            continue
        found |= {name for name in names if compiled.fullmatch(name)}
    return frozenset(found)


def description(entry: StreamEntry, extended: bool) -> list[tuple[str, str, str | None]]:
    """Return the rows of DESCRIBE STREAM: ``col_name``, ``data_type``, ``comment``."""
    rows: list[tuple[str, str, str | None]] = [(c.name, c.type, c.comment) for c in entry.columns]
    if not extended:
        return rows
    options = tuple(o for o in entry.options if o[0].lower() != "path")
    watermark = entry.watermark_column and f"{entry.watermark_column} DELAY OF {duration(entry.watermark_delay or 0)}"
    facts = (
        ("Schema", entry.schema),
        ("Stream", entry.name),
        ("Source", entry.format),
        ("Path", entry.option("path")),
        ("Options", pairs_text(options)),
        ("Columns", "inferred from the source" if entry.inferred else "declared"),
        ("Watermark", watermark or "none"),
        ("Idle timeout", duration(entry.idle_timeout) if entry.idle_timeout else "none"),
        ("On error", "FAIL" if entry.fail_on_error else "QUARANTINE"),
        ("Comment", entry.comment),
        ("Properties", pairs_text(entry.properties)),
        ("Created", entry.created_at),
        ("Text", without_secrets(entry.text)),
    )
    rows += [("", "", ""), ("# Detailed Stream Information", "", "")]
    return rows + [(label, value, "") for label, value in facts if value]


def pairs_text(pairs: Pairs) -> str:
    """Return options or properties as Spark's DESCRIBE shows them."""
    shown = (f"{key}={'***' if is_secret(key) else value}" for key, value in pairs)
    return f"[{', '.join(shown)}]" if pairs else ""


def empty_relation(columns: Iterable[Column], never: str = "false") -> str:
    """Return SQL text of a relation of ``columns`` without rows; ``never`` is the condition that leaves it none."""
    listed = ", ".join(f"CAST(NULL AS {c.type}) AS {quote_name(c.name)}" for c in columns)
    return f"(SELECT {listed} WHERE {never})"


def check_watermark_type(kind: str, column: Span, text: str) -> None:
    """Refuse a watermark of any other type than a timestamp's.

    Args:
        kind: the type of its expression, as Spark writes it in lower case.
        column: the expression's place.
        text: the statement.

    Raises:
        WarehouseError: it is of another one.
    """
    if kind not in ("timestamp", "timestamp_ntz"):
        fail("WAREHOUSE_STREAM_WATERMARK_TYPE", column, written=column.of(text), type=kind.upper())
