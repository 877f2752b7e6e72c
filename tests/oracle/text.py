"""Programs as SQL text, in both directions: what is printed runs on the engine, what is read runs on the model.

A *program* is one streaming table over one replayed stream. ``script`` prints it as a SQL file with its data
in comments; ``read`` understands exactly such files (hand-written ones too), so that figures, transcripts and
shrunk failures are plain SQL for people, for the engine and for the model. The file's comments hold

    -- file rows.json            (lines that follow become ${data}/rows.json)
    --   {"k": "a", "v": 1, "event_time": "2015-01-01T12:00:00Z", "arrival": "2015-01-01T12:05:00Z"}
    -- rows                      (the same as a table: k, v, event_time, arrival, perhaps gap in seconds)
    -- watermark                 (a table that becomes ${data}/watermark.csv: at, to)
    -- expect panes              (the panes in order, all columns or some; also: expect t, late, bad)
    --   k | n | window_start | timing | emitted_at
    --   a | 1 | 12:00:00     | EARLY  | 12:05:00

The reader knows the one shape of query that tests need; it is no part of the product's language.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.oracle.model import (
    BEGIN,
    DAY,
    END,
    MINUTE,
    SECOND,
    After,
    And,
    AtWatermark,
    Condition,
    Every,
    Fixed,
    Global,
    Model,
    Never,
    Or,
    Query,
    Repeat,
    Replay,
    Row,
    Sessions,
    Sliding,
    Then,
    Time,
    Trigger,
    When,
    replay,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TODAY = "2015-01-01"
UNITS = {"MICROSECOND": 1, "MILLISECOND": 1000, "SECOND": SECOND, "MINUTE": MINUTE, "HOUR": 60 * MINUTE, "DAY": DAY}
CALLS = {"count": "count(*)", "count_v": "count({v})", "sum": "sum({v})", "min": "min({v})", "max": "max({v})"}
ALIASES = {"count": "n", "count_v": "c", "sum": "s", "min": "lo", "max": "hi"}


@dataclass(frozen=True)
class Program:
    """One streaming table over one replayed stream, and whether it is drained.

    Attributes:
        keyed: whether the query groups by the key.
        names: the aggregates' column names, in the order of ``query.select``.
        key, value, arrival: the source's column names.
        expected: by ``panes``, ``t``, ``late``, ``bad``: the rows a SQL file promises, as text.
        wide: whether it is many programs in one (``programs.random_wide_program``): a row's key is then a pair
            (number of the scenario, key), and the query groups by the scenario too.
    """

    query: Query
    source: Replay
    drain: bool = True
    keyed: bool = True
    names: tuple[str, ...] = ("n", "s")
    key: str = "k"
    value: str = "v"
    arrival: str = "arrival"
    expected: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    wide: bool = False

    def run(self) -> Model:
        """Run the program on the model."""
        return replay(self.query, replace(self.source, rows=self.grouped_rows()), self.drain)

    def grouped_rows(self) -> tuple[Row, ...]:
        """Return the rows with what the query groups by as their key."""
        if self.keyed:
            return self.source.rows
        return tuple(replace(row, key=(row.key[0], None) if self.wide else None) for row in self.source.rows)

    @property
    def grouping(self) -> list[str]:
        """Return the names of the columns by which the query groups."""
        return [*(["scenario"] if self.wide else []), *([self.key] if self.keyed else [])]


# ---------------------------------------------------------------- times


def micros(text: str) -> int:
    """Return ISO text, or a time of the tests' one day, as microseconds."""
    moment = datetime.fromisoformat(text if "-" in text else f"{TODAY}T{text}")
    moment = moment.replace(tzinfo=moment.tzinfo or UTC)
    return (moment - EPOCH) // timedelta(microseconds=1)


def iso(time: int) -> str:
    """Return microseconds as ISO text with zone."""
    return (EPOCH + timedelta(microseconds=time)).isoformat().replace("+00:00", "Z")


def clock(time: Time) -> str:
    """Return a time as expectations spell it: without the tests' day; NULL and ``end`` at the ends of time."""
    if time in (BEGIN, END):
        return "NULL" if time == BEGIN else "end"
    text = iso(int(time))
    return text.removeprefix(f"{TODAY}T").removesuffix("Z")


# ---------------------------------------------------------------- printing


def interval(size: Time) -> str:
    """Return an interval literal."""
    unit, length = next((u, n) for u, n in reversed(UNITS.items()) if size % n == 0 and (size or u == "SECOND"))
    return f"INTERVAL {int(size // length)} {unit}{'' if size == length else 'S'}"


def window_sql(window: Fixed | Sliding | Sessions | Global) -> str:
    """Return the WINDOW clause."""
    match window:
        case Fixed(size, offset):
            inside = f"FIXED (event_time, SIZE {interval(size)}" + (f", OFFSET {interval(offset)}" if offset else "")
        case Sliding(size, every, offset):
            inside = f"SLIDING (event_time, SIZE {interval(size)}, EVERY {interval(every)}"
            inside += f", OFFSET {interval(offset)}" if offset else ""
        case Sessions(gap):
            length = "make_dt_interval(0, 0, 0, gap)" if gap is None else interval(gap)
            inside = f"SESSIONS (event_time, GAP {length}"
        case Global():
            return "WINDOW GLOBAL"
    return f"WINDOW {inside})"


def condition_sql(condition: Condition, value: str = "v") -> str:
    """Return a condition over an aggregate or over a row."""
    left = value if condition.aggregate is None else CALLS[condition.aggregate].format(v=value)
    return f"{left} {condition.operator} {condition.number}"


def trigger_sql(trigger: Trigger) -> str:
    """Return a trigger, with parentheses around every part that is not a unit."""

    def unit(part: Trigger) -> str:
        compound = isinstance(part, Or | And | Then | Repeat) or (
            isinstance(part, AtWatermark) and (part.early is not None or part.late is not None)
        )
        return f"({trigger_sql(part)})" if compound else trigger_sql(part)

    match trigger:
        case AtWatermark(early, late):
            text = "AT WATERMARK"
            # A bare AT WATERMARK here would take the LATE that follows for its own.
            inner = f"({trigger_sql(early)})" if isinstance(early, AtWatermark) else early and unit(early)
            text += "" if early is None else f" EARLY {inner}"
            return text + ("" if late is None else f" LATE {unit(late)}")
        case Every(length, rows, size) | After(length, rows, size):
            verb = type(trigger).__name__.upper()
            if length is not None:
                return f"{verb} {interval(length)}"
            return f"{verb} {rows} ROWS" if rows is not None else f"{verb} {size} BYTES"
        case When(condition):
            return f"WHEN ({condition_sql(condition)})"
        case Never():
            return "NEVER"
        case Or(parts) | And(parts) | Then(parts):
            return f" {type(trigger).__name__.upper()} ".join(unit(part) for part in parts)
        case Repeat(body, until):
            return f"REPEAT {unit(body)}" + ("" if until is None else f" UNTIL {unit(until)}")
    raise TypeError(trigger)


def query_sql(program: Program, stream: str) -> str:
    """Return the SELECT."""
    query = program.query
    key = program.grouping
    calls = [f"{CALLS[name].format(v='v')} AS {alias}" for name, alias in zip(query.select, program.names, strict=True)]
    lines = [
        f"SELECT {', '.join([*key, *calls, 'window_start', 'window_end'])}",
        f"FROM STREAM {stream}",
        *([f"GROUP BY {', '.join(key)}"] if key else []),
        *([] if query.having is None else [f"HAVING {condition_sql(query.having)}"]),
        window_sql(query.window),
        f"TRIGGER ONCE ({trigger_sql(query.trigger)})" if query.once else f"TRIGGER {trigger_sql(query.trigger)}",
        query.mode,
        "ALLOWED LATENESS " + ("UNBOUNDED" if query.lateness == END else interval(query.lateness)),
    ]
    return "\n".join(lines)


def statements(program: Program, table: str = "t", data: str = "${data}") -> list[str]:
    """Return the program's statements: stream, table, and DRAIN where it has one."""
    source, stream = program.source, f"{table}_source"
    options = [f"path '{data}/rows.json'", "format 'json'", "arrival 'arrival'"]
    if source.step is not None:
        options.append(f"step '{interval(source.step).removeprefix('INTERVAL ').lower()}'")
    delay = ""
    match source.watermark:
        case str(word):
            options.append(f"watermark '{word}'")
        case int(length):
            delay = f"\nWATERMARK event_time DELAY OF {interval(length)}"
        case _:
            options.append(f"watermark '{data}/watermark.csv'")
    scenario = "scenario INT, " if program.wide else ""
    gap = ", gap INT" if program.query.window == Sessions(None) else ""
    stream_sql = (
        f"CREATE STREAM {stream} ({scenario}k STRING, v INT, event_time TIMESTAMP, arrival TIMESTAMP{gap})\n"
        f"USING replay OPTIONS ({', '.join(options)}){delay}"
    )
    table_sql = f"CREATE STREAMING TABLE {table} AS\n{query_sql(program, stream)}"
    return [stream_sql, table_sql, *([f"DRAIN STREAMING TABLE {table}"] if program.drain else [])]


def files(program: Program) -> dict[str, str]:
    """Return the program's data files by name."""
    lines = []
    for row in program.source.rows:
        fields: dict[str, object] = (
            dict(zip(("scenario", "k"), row.key, strict=True)) if program.wide else {"k": row.key}
        )
        fields["v"] = row.value
        fields["event_time"] = None if row.time is None else iso(row.time)
        fields["arrival"] = iso(row.arrival)
        if program.query.window == Sessions(None):
            fields["gap"] = None if row.gap is None else row.gap // SECOND
        lines.append(json.dumps(fields))
    found = {"rows.json": "\n".join(lines) + "\n"}
    if isinstance(program.source.watermark, tuple):
        moves = [f"{iso(at)},{iso(to)}" for at, to in program.source.watermark]
        found["watermark.csv"] = "\n".join(["processing_time,watermark", *moves]) + "\n"
    return found


def script(program: Program, table: str = "t") -> str:
    """Return the program as a SQL file that carries its data, ready to be kept as a test."""
    blocks = []
    for name, content in files(program).items():
        blocks += [f"-- file {name}", *(f"--   {line}" for line in content.splitlines())]
    return "\n".join(
        [*blocks, *(f"{text};" for text in statements(program, table)), f"SELECT * FROM panes('{table}');", ""]
    )


# ---------------------------------------------------------------- reading


class _Tokens:
    """The words of a text, consumed from the left."""

    def __init__(self, text: str) -> None:
        self.words = re.findall(r"'[^']*'|\w+|<=|>=|<>|[^\s\w]", text)

    def peek(self, ahead: int = 0) -> str:
        return self.words[ahead].upper() if ahead < len(self.words) else ""

    def take(self) -> str:
        return self.words.pop(0)

    def accept(self, phrase: str) -> bool:
        wanted = phrase.split()
        if [self.peek(position) for position in range(len(wanted))] != wanted:
            return False
        del self.words[: len(wanted)]
        return True

    def expect(self, phrase: str) -> None:
        if not self.accept(phrase):
            raise ValueError(f"expected {phrase} before: {' '.join(self.words[:8])}")


def _interval(tokens: _Tokens) -> int:
    tokens.accept("INTERVAL")
    words = [tokens.take()]
    words = words[0].strip("'").split() if words[0].startswith("'") else [*words, tokens.take()]
    return int(words[0]) * UNITS[words[1].upper().removesuffix("S")]


def _condition(tokens: _Tokens) -> Condition:
    name, aggregate = tokens.take().lower(), None
    if tokens.accept("("):
        aggregate = "count_v" if name == "count" and tokens.take() != "*" else name
        if name != "count":
            tokens.take()
        tokens.expect(")")
    sign = tokens.take()
    minus = "-" if tokens.accept("-") else ""
    return Condition(aggregate, sign, int(minus + tokens.take()))


def _several(kind: type, word: str, inner: Callable[[_Tokens], Trigger]) -> Callable[[_Tokens], Trigger]:
    def parse(tokens: _Tokens) -> Trigger:
        parts = [inner(tokens)]
        while tokens.accept(word):
            parts.append(inner(tokens))
        return parts[0] if len(parts) == 1 else kind(parts)

    return parse


def _unit(tokens: _Tokens) -> Trigger:
    if tokens.accept("("):
        inside = _trigger(tokens)
        tokens.expect(")")
        return inside
    if tokens.accept("AT WATERMARK"):
        early = _unit(tokens) if tokens.accept("EARLY") else None
        return AtWatermark(early, _unit(tokens) if tokens.accept("LATE") else None)
    if tokens.accept("REPEAT"):
        body = _unit(tokens)
        return Repeat(body, _unit(tokens) if tokens.accept("UNTIL") else None)
    if tokens.accept("WHEN ("):
        condition = _condition(tokens)
        tokens.expect(")")
        return When(condition)
    if tokens.accept("NEVER"):
        return Never()
    verb = {"EVERY": Every, "AFTER": After}[tokens.take().upper()]
    if tokens.accept("ROW") or tokens.accept("ROWS"):
        return verb(rows=1)
    if tokens.peek(1) in ("ROW", "ROWS", "BYTES"):
        number, what = int(tokens.take()), tokens.take().upper()
        return verb(bytes=number) if what == "BYTES" else verb(rows=number)
    return verb(interval=_interval(tokens))


_trigger = _several(Then, "THEN", _several(Or, "OR", _several(And, "AND", _unit)))


def _window(tokens: _Tokens) -> Fixed | Sliding | Sessions | Global:
    kind = tokens.take().upper()
    if kind == "GLOBAL":
        return Global()
    tokens.expect("(")
    tokens.take()
    sizes = {}
    while tokens.accept(","):
        word = tokens.take().upper()
        if tokens.accept("MAKE_DT_INTERVAL"):
            tokens.expect("( 0 , 0 , 0 , GAP )")
        else:
            sizes[word] = _interval(tokens)
    tokens.expect(")")
    match kind:
        case "FIXED":
            return Fixed(sizes["SIZE"], sizes.get("OFFSET", 0))
        case "SLIDING":
            return Sliding(sizes["SIZE"], sizes["EVERY"], sizes.get("OFFSET", 0))
    return Sessions(sizes.get("GAP"))


def read_clauses(text: str, select: tuple[str, ...] = ("count", "sum")) -> Query:
    """Return the query of ``[HAVING …] [WINDOW …] [TRIGGER …] [mode] [ALLOWED LATENESS …]``."""
    tokens = _Tokens(text)
    query = Query(select=select)
    if tokens.accept("HAVING"):
        query = replace(query, having=_condition(tokens))
    if tokens.accept("WINDOW"):
        query = replace(query, window=_window(tokens))
    if tokens.accept("TRIGGER"):
        query = replace(query, once=tokens.accept("ONCE"), trigger=_trigger(tokens))
    tokens.accept("ACCUMULATING AND")
    for mode in ("DISCARDING", "ACCUMULATING", "RETRACTING"):
        if tokens.accept(mode):
            query = replace(query, mode=mode)
    if tokens.accept("ALLOWED LATENESS"):
        query = replace(query, lateness=END if tokens.accept("UNBOUNDED") else _interval(tokens))
    if tokens.words:
        raise ValueError(f"not understood: {' '.join(tokens.words)}")
    return query


def comment_blocks(text: str) -> dict[str, list[str]]:
    """Return the comment blocks of a SQL file by heading (``file rows.json``, ``expect panes``)."""
    blocks: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for line in text.splitlines():
        heading = re.fullmatch(r"-- (file \S+|rows|watermark|expect \w+)\s*", line)
        if heading:
            lines = blocks.setdefault(heading[1], [])
        elif lines is not None and line.startswith("--   "):
            lines.append(line[5:])
        else:
            lines = None
    return blocks


def data_files(text: str) -> dict[str, str]:
    """Return the data files that a SQL file carries, by name."""
    found = {}
    for name, lines in comment_blocks(text).items():
        if name.startswith("file "):
            found[name.removeprefix("file ")] = "\n".join(lines) + "\n"
        elif name == "rows":
            found["rows.json"] = "".join(json.dumps(_typed(row)) + "\n" for row in _table(lines))
        elif name == "watermark":
            moves = [f"{iso(micros(row['at']))},{iso(micros(row['to']))}\n" for row in _table(lines)]
            found["watermark.csv"] = "processing_time,watermark\n" + "".join(moves)
    return found


def _typed(row: dict[str, str]) -> dict[str, object]:
    """Return a line of a ``rows`` table as the object that the JSON file holds."""

    def value(name: str, text: str) -> object:
        if text == "NULL":
            return None
        return iso(micros(text)) if name in ("event_time", "arrival") else int(text) if name != "k" else text

    return {name: value(name, text) for name, text in row.items()}


def _table(lines: list[str]) -> list[dict[str, str]]:
    head, *body = [[cell.strip() for cell in line.split("|")] for line in lines]
    return [dict(zip(head, cells, strict=True)) for cells in body]


def expectations(text: str) -> dict[str, list[dict[str, str]]]:
    """Return the tables that a SQL file promises, by name."""
    blocks = comment_blocks(text)
    return {name.removeprefix("expect "): _table(blocks[name]) for name in blocks if name.startswith("expect ")}


def read(text: str, data: Path | None = None) -> Program:
    """Return the program of a SQL file; ``data`` is the folder for files that the text does not carry."""
    carried = data_files(text)

    def content(path: str) -> str:
        name = path.removeprefix("${data}/")
        return carried[name] if name in carried else (data / name).read_text()  # type: ignore[operator]

    sql = re.sub(r"--[^\n]*", "", text)
    options = dict(re.findall(r"(\w+) '([^']*)'", re.search(r"OPTIONS \((.*?)\)", sql, re.S)[1]))  # type: ignore[index]
    query = re.search(r"STREAMING TABLE \w+ AS\s+SELECT (.*?)FROM STREAM \w+(.*?);", sql, re.S)
    assert query is not None, "no CREATE STREAMING TABLE"
    calls = re.findall(r"(count|sum|min|max)\((\*|\w+)\) AS (\w+)", query[1])
    select = tuple("count_v" if name == "count" and argument != "*" else name for name, argument, _ in calls)
    value = next((argument for _, argument, _ in calls if argument != "*"), "v")
    grouped = re.match(r"\s*GROUP BY (\w+)", query[2])
    key = grouped[1] if grouped else "k"
    clauses = query[2][grouped.end() :] if grouped else query[2]

    rows = []
    for number, line in enumerate(content(options["path"]).splitlines()):
        fields = json.loads(line)
        time, gap = fields.get("event_time"), fields.get("gap")
        rows.append(
            Row(
                fields.get(key),
                None if time is None else micros(time),
                fields.get(value),
                micros(fields[options["arrival"]]),
                number,
                None if gap is None else gap * SECOND,
            )
        )
    watermark = options.get("watermark", "none")
    delay = re.search(r"WATERMARK event_time DELAY OF (INTERVAL \d+ \w+)", sql)
    source = Replay(
        tuple(rows),
        None if options.get("step", "arrival") == "arrival" else _interval(_Tokens(options["step"])),
        _interval(_Tokens(delay[1])) if delay else watermark,
    )
    if watermark not in ("none", "complete"):
        moves = [line.split(",") for line in content(watermark).splitlines()[1:]]
        source = replace(source, watermark=tuple((micros(at), micros(to)) for at, to in moves))
    return Program(
        read_clauses(clauses, select),
        source,
        bool(re.search(r"DRAIN STREAMING TABLE", sql)),
        grouped is not None,
        tuple(alias for _, _, alias in calls),
        key,
        value,
        options["arrival"],
        expectations(text),
    )
