"""``{{ ref('x') }}``, ``{{ source('a', 'b') }}`` and ``{{ config(…) }}`` in a file: found, and replaced in place.

A replacement has the length of what it replaces, line breaks included, so that positions do not move. Comments
and quoted text are left alone; only ``-- depends_on: {{ ref('x') }}`` counts in a comment, as in dbt. There is
no template language behind this: any other ``{{ … }}`` and every ``{% … %}`` is refused with its place.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NoReturn

from warehouse.engine import found_in, quote_name
from warehouse.errors import SourceText, Span, WarehouseError, diagnostic
from warehouse.project.files import SqlFile

MATERIALIZED = ("view", "table", "streaming_table")
_COUNTERPARTS = {
    "incremental": "streaming_table, which reads what has arrived since the last run",
    "materialized_view": "streaming_table, or table",
    "ephemeral": "view",
}
"""What users of dbt may look for, with what it is here."""

SEVERITIES = ("error", "warn")


@dataclass(frozen=True)
class Reference:
    """One ``ref`` or ``source``: the name's parts as written, and its place in the file."""

    kind: str
    parts: tuple[str, ...]
    span: Span


@dataclass(frozen=True)
class Config:
    """What ``config(…)`` says.

    Attributes:
        materialized: one of ``MATERIALIZED``, or None when left out.
        alias: the name to use instead of the file's.
        schema: the schema to create it in.
        tags: words for ``--select tag:…``.
        severity: of a test, one of ``SEVERITIES``, or None when left out.
        span: the call in the file, or None when there is none.
    """

    materialized: str | None = None
    alias: str | None = None
    schema: str | None = None
    tags: tuple[str, ...] = ()
    severity: str | None = None
    span: Span | None = None


@dataclass(frozen=True)
class Template:
    """A file with its templates found.

    Attributes:
        holes: the templates' spans, in order, each with its reference or None for text that only goes away.
        depends_on: references in ``-- depends_on:`` comments.
    """

    file: SqlFile
    holes: tuple[tuple[Span, Reference | None], ...] = ()
    depends_on: tuple[Reference, ...] = ()
    config: Config = field(default_factory=Config)

    @property
    def references(self) -> tuple[Reference, ...]:
        """Return every reference of the file."""
        return tuple(reference for _, reference in self.holes if reference) + self.depends_on

    def render(self, name: Callable[[Reference], tuple[str, ...]]) -> str:
        """Return the file's SQL with ``name`` of each reference in its place; as long as the file."""
        text = self.file.text
        for span, reference in reversed(self.holes):
            new = _in_place(span.of(text), quoted(name(reference)) if reference else "")
            if new is None:
                _fail(self.file, span, f"the name {quoted(name(reference))} does not fit in" if reference else "")
            text = text[: span.start] + new + text[span.end :]
        return text

    def written_out(self, name: Callable[[Reference], tuple[str, ...]]) -> Template:
        """Return the file with ``name`` of each reference in its place, however long, and no template left in it."""
        text = self.file.text
        for span, reference in reversed(self.holes):
            text = text[: span.start] + (quoted(name(reference)) if reference else "") + text[span.end :]
        return replace(self, file=replace(self.file, text=text.strip()), holes=(), depends_on=())


def find_templates(file: SqlFile) -> Template:
    """Return the templates of a file.

    Raises:
        WarehouseError: something in braces that is not run here.
    """
    holes: list[tuple[Span, Reference | None]] = []
    depends_on: list[Reference] = []
    config = Config()
    for match, end in found_in(file.text, _TOKENS):
        span = Span(match.start(), end)
        if match["line"]:
            if "depends_on:" in match["line"]:
                depends_on += _references(file, span)
        elif match["gone"]:
            holes.append((span, None))
        elif match["block"]:
            _fail(file, span, "a block is not run here:")
        elif match["braces"]:
            call = _call(file, match["braces"], span)
            if call.func == "config":
                config = _config(file, call, span)
                holes.append((span, None))
            else:
                holes.append((span, _reference(file, call, span)))
    return Template(file, tuple(holes), tuple(depends_on), config)


def quoted(parts: tuple[str, ...]) -> str:
    """Return a name as SQL, with backquotes where it needs them.

    Example:
        >>> quoted(("default", "2013 flights")), quoted(("select",))
        ('default.`2013 flights`', '`select`')
    """
    return ".".join(f"`{part}`" if part.lower() in _CLAUSES else quote_name(part) for part in parts)


_CLAUSES = frozenset(["as", "from", "not", "select", "table", "values", "where", "with"])
"""Words that Spark takes for names, and who reads a statement for the begin of something else."""


_TOKENS = re.compile(
    r"""(?P<line> --[^\n]* )
      | /\*
      | (?P<string> (?<!\w)[rR](?:'[^']*' | "[^"]*") | '(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*` )
      | (?P<gone> \{\#.*?\#\} )
      | (?P<block> \{%.*?%\} )
      | (?P<braces> \{\{.*?\}\} )""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class _Call:
    func: str
    arguments: tuple[object, ...]
    keywords: dict[str, object]


def _call(file: SqlFile, braces: str, span: Span) -> _Call:
    inner = braces[2:-2].strip().strip("-").strip()
    try:
        tree = ast.parse(inner, mode="eval").body
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in _KNOWN:
            arguments = tuple(ast.literal_eval(argument) for argument in tree.args)
            keywords = {str(each.arg): ast.literal_eval(each.value) for each in tree.keywords}
            return _Call(tree.func.id, arguments, keywords)
    except (SyntaxError, ValueError):
        pass
    _fail(file, span, "not known here:")


_KNOWN = ("ref", "source", "config")


def _reference(file: SqlFile, call: _Call, span: Span) -> Reference:
    parts = tuple(part for part in call.arguments if isinstance(part, str) and part)
    good = len(parts) == len(call.arguments) and not call.keywords
    if call.func == "ref" and good and len(parts) in (1, 2):
        return Reference("ref", parts[-1:], span)
    if call.func == "source" and good and len(parts) == 2:
        return Reference("source", parts, span)
    _fail(file, span, "not of the form ref('name') or source('schema', 'table'):")


def _references(file: SqlFile, comment: Span) -> Iterator[Reference]:
    for match in re.finditer(r"\{\{.*?\}\}", comment.of(file.text)):
        span = Span(comment.start + match.start(), comment.start + match.end())
        yield _reference(file, _call(file, match.group(), span), span)


def _config(file: SqlFile, call: _Call, span: Span) -> Config:
    values = dict(call.keywords)
    tags = values.pop("tags", ())
    tags = (tags,) if isinstance(tags, str) else tuple(map(str, tags)) if isinstance(tags, (list, tuple)) else ()
    chosen = values.get("materialized")
    if counterpart := _COUNTERPARTS.get(str(chosen)):
        known = ", ".join(MATERIALIZED)
        _fail(file, span, f"{chosen} is {counterpart}, here; materialized is one of {known}, unlike in")
    for key, value in values.items():
        if key not in ("materialized", "alias", "schema", "severity"):
            _fail(file, span, f"{key} is not one of materialized, alias, schema, tags, severity in")
        if not isinstance(value, str) or not value:
            _fail(file, span, f"{key} is not a string in")
    if call.arguments or (chosen is not None and chosen not in MATERIALIZED):
        _fail(file, span, f"materialized is one of {', '.join(MATERIALIZED)}, unlike in")
    if "severity" in values and values["severity"] not in SEVERITIES:
        _fail(file, span, f"severity is {' or '.join(SEVERITIES)}, unlike in")
    return Config(**values, tags=tags, span=span)  # type: ignore[arg-type]


def _in_place(old: str, new: str) -> str | None:
    """Return ``new`` and blanks in the shape of ``old``, or None when no line of ``old`` has room for it."""
    lines = [" " * len(line) for line in old.split("\n")]
    for at, line in enumerate(lines):
        if len(new) <= len(line):
            lines[at] = new + line[len(new) :]
            return "\n".join(lines)
    return None


def _fail(file: SqlFile, span: Span, reason: str) -> NoReturn:
    words = " ".join(span.of(file.text).split())
    error = diagnostic("WAREHOUSE_PROJECT_TEMPLATE", span, reason=reason, template=words)
    raise WarehouseError(error, source=SourceText(file.text, file.name))
