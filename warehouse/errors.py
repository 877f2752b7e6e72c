"""Spans, source texts and diagnostics in Spark's shape.

A mistake is raised as ``WarehouseError`` with a condition of ``conditions.json``, the parameters of its
message and the span of the words at fault. Whoever knows the text attaches it with ``located_in``; rendering
is here and nowhere else. Nothing in this module knows SQL or Spark.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import NoReturn

_SECRET = r"[\w.\-]*(?:(?:pass|secret|token|jaas|credential|oauthbearer\.config)[\w.\-]*|\.key(?:\.pem)?)"
_SECRET_VALUE = re.compile(
    rf"""(?is)((?<![\w.\-]){_SECRET}['"`]?\s*=?\s*)('(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*")"""
)
_OPTIONS = re.compile(r"\b(?:OPTIONS|TBLPROPERTIES)\s*\(", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Say whether an option of that name holds a secret, which is shown to nobody."""
    return re.fullmatch(_SECRET, name, re.IGNORECASE) is not None


def without_secrets(text: str) -> str:
    """Return a statement with the values of secret options and properties as stars, as long as before.

    Example:
        >>> without_secrets("OPTIONS ('kafka.sasl.password' 'x''y', subscribe 't')")
        "OPTIONS ('kafka.sasl.password' '****', subscribe 't')"
    """

    def hidden(found: re.Match[str]) -> str:
        value = found[2]
        return found[1] + value[0] + re.sub(r"[^\n]", "*", value[1:-1]) + value[-1]

    options = _OPTIONS.search(text)
    return text[: options.end()] + _SECRET_VALUE.sub(hidden, text[options.end() :]) if options else text


@dataclass(frozen=True, order=True)
class Span:
    """A half-open range of character offsets in one statement's text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the words that the span covers in ``text``."""
        return text[self.start : self.end]

    def covers(self, other: Span) -> bool:
        """Say whether ``other`` lies inside this span."""
        return self.start <= other.start and other.end <= self.end

    def to(self, other: Span) -> Span:
        """Return the span from the start of this one to the end of ``other``."""
        return Span(self.start, other.end)


@dataclass(frozen=True)
class SourceText:
    """One statement as the user wrote it, and where it stood.

    Attributes:
        text: the statement without its terminating semicolon, byte for byte.
        name: the file it came from, or None for text given directly.
        line: 1-based line of the statement's first character in that file.
    """

    text: str
    name: str | None = None
    line: int = 1


@dataclass(frozen=True)
class Diagnostic:
    """One thing wrong (or doubtful) in a statement.

    Attributes:
        condition: name in Spark's style, ours prefixed ``WAREHOUSE_``.
        message: one sentence of fact.
        sqlstate: five characters, or None when Spark gave none.
        span: the words at fault, or None when no words are.
        hint: what to write instead, or None.
    """

    condition: str
    message: str
    sqlstate: str | None = None
    span: Span | None = None
    hint: str | None = None


class WarehouseError(Exception):
    """A user's mistake: diagnostics, and the text they point into once it is known."""

    def __init__(self, *diagnostics: Diagnostic, source: SourceText | None = None):
        self.diagnostics = tuple(sorted(diagnostics, key=lambda d: d.span.start if d.span else -1))
        self.source = source
        super().__init__(self.render())

    @property
    def condition(self) -> str:
        """Return the condition of the first diagnostic."""
        return self.diagnostics[0].condition

    @property
    def sqlstate(self) -> str | None:
        """Return the SQLSTATE of the first diagnostic."""
        return self.diagnostics[0].sqlstate

    def located_in(self, source: SourceText) -> WarehouseError:
        """Return the same error pointing into ``source``, unless it already points somewhere."""
        return self if self.source else type(self)(*self.diagnostics, source=source)

    def placed_at(self, span: Span | None) -> WarehouseError:
        """Return the same error with ``span`` for the diagnostics that point nowhere."""
        return type(self)(*(replace(d, span=d.span or span) for d in self.diagnostics), source=self.source)

    def shifted(self, offset: int) -> WarehouseError:
        """Return the same error with all spans moved by ``offset`` characters."""
        moved = (
            replace(d, span=Span(d.span.start + offset, d.span.end + offset)) if d.span else d for d in self.diagnostics
        )
        return type(self)(*moved, source=self.source)

    def render(self) -> str:
        """Return the whole text a user sees, without a trailing newline."""
        return "\n\n".join(render(d, self.source) for d in self.diagnostics)


@cache
def conditions() -> dict[str, dict[str, str]]:
    """Return the table of conditions: name to ``sqlstate``, ``message`` and optional ``hint``."""
    return json.loads(files("warehouse").joinpath("conditions.json").read_text(encoding="utf-8"))


def diagnostic(condition: str, span: Span | None = None, **parameters: object) -> Diagnostic:
    """Build a diagnostic of ``condition`` from its templates.

    Raises:
        KeyError: ``condition`` is not in the table, or a parameter of its message is missing (a bug of ours).
    """
    entry = conditions()[condition]
    hint = entry.get("hint")
    return Diagnostic(
        condition,
        entry["message"].format(**parameters),
        entry["sqlstate"],
        span,
        hint.format(**parameters) if hint else None,
    )


def fail(condition: str, span: Span | None = None, **parameters: object) -> NoReturn:
    """Raise a ``WarehouseError`` with one diagnostic."""
    raise WarehouseError(diagnostic(condition, span, **parameters))


def line_and_position(text: str, offset: int) -> tuple[int, int]:
    """Return the 1-based line and 0-based position in it, as Spark counts them."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1)


def render(diagnostic: Diagnostic, source: SourceText | None) -> str:
    """Return a diagnostic as Spark prints one: head, the lines of the statement, carets, hint."""
    state = f" SQLSTATE: {diagnostic.sqlstate}" if diagnostic.sqlstate else ""
    head = f"[{diagnostic.condition}] {diagnostic.message}{state}"
    parts = []
    if diagnostic.span is not None and source is not None:
        line, position = line_and_position(source.text, diagnostic.span.start)
        place = f"{source.name}, line {source.line + line - 1}" if source.name else f"line {line}"
        head += f" ({place}, pos {position})"
        parts.append(f"== SQL ({place}) ==")
        parts += _marked_lines(source, diagnostic.span)
    if diagnostic.hint:
        parts.append(f"hint: {diagnostic.hint}")
    return "\n".join([head, *parts])


def _marked_lines(source: SourceText, span: Span, context: int = 1) -> list[str]:
    """Return the numbered lines around ``span`` with carets under its words."""
    lines = without_secrets(source.text).split("\n")
    first, start = line_and_position(source.text, span.start)
    last, end = line_and_position(source.text, max(span.end, span.start + 1) - 1)
    shift = source.line - 1 if source.name else 0
    width = len(str(last + shift + context))
    out = []
    for number in range(max(1, first - context), min(len(lines), last + context) + 1):
        text = lines[number - 1].replace("\t", " ")
        if not text.strip() and not first <= number <= last:
            continue
        out.append(f"{number + shift:>{width}} | {text}".rstrip())
        if first <= number <= last:
            left = start if number == first else len(text) - len(text.lstrip())
            right = end + 1 if number == last else len(text.rstrip())
            out.append(f"{'':>{width}} | {' ' * left}{'^' * max(1, right - left)}")
    return out
