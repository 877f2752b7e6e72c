"""A file in, a ``Unit`` out: what the file makes, writes and reads, and the statements that run.

A file that is one query becomes ``CREATE OR REPLACE VIEW stem AS`` that query (or a table, or a streaming table, as
its ``config`` says). Every other file runs as it stands. Names are compared without case, ``default`` and
``spark_catalog`` being where an unqualified name lives anyway.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import NoReturn

from warehouse.engine import OF_PROJECT, parse, partner, split
from warehouse.engine import statements as s
from warehouse.errors import SourceText, Span, WarehouseError, diagnostic
from warehouse.project.files import SqlFile
from warehouse.project.templates import Reference, Template, quoted

Key = tuple[str, ...]
"""A name made comparable; a model's starts with ``MODEL``, since models and tables may have the same name."""

MODEL = "MODEL"
"""Upper case, as no part of a name made comparable is."""

_CREATE = {
    "view": "CREATE OR REPLACE VIEW {name} AS ",
    "table": f"CREATE OR REPLACE TABLE {{name}} USING delta TBLPROPERTIES ('{OF_PROJECT}' = 'query') AS ",
    "streaming_table": "CREATE OR REPLACE STREAMING TABLE {name} AS ",
}
_DEFINES = ("CREATE", "REPLACE", "DROP")
_WRITES = ("INSERT", "MERGE", "UPDATE", "DELETE", "TRUNCATE", "LOAD", "ALTER", "OPTIMIZE", "VACUUM", "RESTORE")


@dataclass(frozen=True)
class Made:
    """One thing that a file creates: ``kind`` is ``stream``, ``streaming table``, ``table``, ``view`` or ``model``."""

    kind: str
    name: str
    key: Key


@dataclass(frozen=True)
class Target:
    """What a reference stands for: the name to write in its place, and the same name made comparable."""

    parts: tuple[str, ...]
    key: Key


@dataclass(frozen=True)
class Step:
    """One statement as it runs.

    Attributes:
        source: what the engine gets.
        own: the same statement as the user wrote it.
        shift: how many characters of ``source`` stand before the user's first one.
        name: what this creates, as SQL, where what becomes of it depends on what is there already: of a query, and of
            a streaming table that is created ``IF NOT EXISTS``; else None.
        becomes: of a query, ``view``, ``table`` or ``streaming table``; None: this is the user's own statement.
    """

    source: SourceText
    own: SourceText
    shift: int = 0
    name: str | None = None
    becomes: str | None = None

    @property
    def first(self) -> Span:
        """Return the place of the user's first word, to point at where no other is at fault."""
        found = re.match(r"\w*", self.own.text)
        return Span(*found.span()) if found else Span(0, 0)

    def within(self, before: str, after: str) -> Step:
        """Return the statement with text before and after it, which no error points at."""
        text = f"{before}{self.source.text}{after}"
        return replace(self, source=replace(self.source, text=text), shift=self.shift + len(before))

    def query(self) -> Step:
        """Return the user's words without what was put in front of them."""
        return replace(self, source=replace(self.source, text=self.source.text[self.shift :]), shift=0)

    def owned(self, error: WarehouseError) -> WarehouseError:
        """Return an error about ``source`` as one about the user's own words: the first, if about none of them."""
        if error.source is not None and error.source.text != self.source.text:
            return error
        moved = WarehouseError(*error.diagnostics).shifted(-self.shift).diagnostics
        length = len(self.own.text)
        fitting = (d if d.span and 0 <= d.span.start <= length else replace(d, span=self.first) for d in moved)
        return WarehouseError(*fitting, source=self.own)


@dataclass(frozen=True)
class Unit:
    """One file of a project.

    Attributes:
        makes: what it creates.
        writes: names it inserts into and the like.
        reads: names it reads that it does not make.
        tags: its ``config``'s.
        materialized: of a file that is one query, what becomes of it: ``view``, ``table`` or ``streaming_table``.
        severity: of a test, ``error`` or ``warn``; None: it is none. A test is one query, for rows that are wrong.
    """

    file: SqlFile
    steps: tuple[Step, ...]
    makes: tuple[Made, ...]
    writes: frozenset[Key]
    reads: frozenset[Key]
    tags: tuple[str, ...] = ()
    materialized: str | None = None
    severity: str | None = None


def unit_of(template: Template, target: Callable[[Reference], Target]) -> Unit:
    """Return the unit of a file whose references stand for ``target(reference)``.

    Raises:
        WarehouseError: the file does not parse; positions are the file's.
    """
    steps, parsed = _parsed(template, target)
    config, materialized = template.config, None
    if len(parsed) == 1 and _is_query(parsed[0]):
        materialized = config.materialized or "view"
        _check_name(template, steps[0])
        steps = [*_schema(template, steps[0]), _model(template, steps[0], _CREATE[materialized])]
        parsed = [parse(step.source) for step in steps]
    elif config.materialized or config.alias or config.schema:
        _misplaced(template, "WAREHOUSE_PROJECT_CONFIG_MISPLACED")
    if config.severity:
        _misplaced(template, "WAREHOUSE_PROJECT_SEVERITY_MISPLACED")
    steps = [_named(step, statement, materialized) for step, statement in zip(steps, parsed, strict=True)]
    makes = tuple(chain.from_iterable(map(_makes, parsed)))
    made = {each.key for each in makes}
    writes = set(chain.from_iterable(map(_writes, parsed)))
    reads = _all_read(template, target, parsed)
    if materialized and reads & made:
        _fail_on_itself(template, steps[-1], target, made)
    return Unit(
        template.file, tuple(steps), makes, frozenset(writes - made), frozenset(reads - made), config.tags, materialized
    )  # fmt: skip


def _check_name(template: Template, step: Step) -> None:
    """Refuse a name that Spark takes for no view or table, where the query says it or the file is called so."""
    config = template.config
    for name in filter(None, (config.schema, config.alias or template.file.path.stem)):
        if not re.fullmatch(r"[A-Za-z0-9_]+", name):
            said = name == config.schema or name == config.alias
            text = SourceText(template.file.text, template.file.name)
            place, source = (config.span, text) if said else (step.first, step.own)
            raise WarehouseError(diagnostic("WAREHOUSE_PROJECT_NAME", place, name=name), source=source)


def _fail_on_itself(
    template: Template, step: Step, target: Callable[[Reference], Target], made: set[Key]
) -> NoReturn:  # fmt: skip
    """Refuse a query that reads what it becomes, at the reference where it is one."""
    files = f"{template.file.name} needs itself"
    for reference in template.references:
        if target(reference).key in made:
            error = diagnostic("WAREHOUSE_PROJECT_CYCLE", reference.span, files=files)
            raise WarehouseError(error, source=SourceText(template.file.text, template.file.name))
    error = diagnostic("WAREHOUSE_PROJECT_CYCLE", step.first, files=files)
    raise WarehouseError(error, source=step.own)


def test_of(template: Template, target: Callable[[Reference], Target]) -> Unit:
    """Return the unit of a test's file.

    Raises:
        WarehouseError: the file does not parse, or is not one query; positions are the file's.
    """
    whole = template.written_out(lambda each: target(each).parts) if template.file.asked_by else template
    steps, parsed = _parsed(whole, target)
    config = template.config
    if len(parsed) != 1 or not _is_query(parsed[0]):
        odd = steps[min(1, len(steps) - 1)].own if steps else None
        word = re.match(r"\w+", odd.text) if odd else None
        error = diagnostic("WAREHOUSE_PROJECT_TEST", Span(*word.span()) if word else None, file=template.file.name)
        raise WarehouseError(error, source=odd)
    if config.materialized or config.alias or config.schema:
        _misplaced(template, "WAREHOUSE_PROJECT_TEST", file=template.file.name)
    reads = frozenset(_all_read(template, target, parsed))
    severity = config.severity or "error"
    return Unit(template.file, tuple(steps), (), frozenset(), reads, config.tags, severity=severity)


def _parsed(
    template: Template, target: Callable[[Reference], Target]
) -> tuple[list[Step], list[s.Statement]]:  # fmt: skip
    steps: list[Step] = []
    parsed: list[s.Statement] = []
    for source, own in _sources(template, lambda reference: target(reference).parts):
        step = Step(source, own)
        try:
            statement = parse(source)
        except WarehouseError as error:
            raise step.owned(error) from None
        steps.append(step)
        parsed.append(statement)
    return steps, parsed


def _all_read(
    template: Template, target: Callable[[Reference], Target], parsed: Iterable[s.Statement]
) -> set[Key]:  # fmt: skip
    return set(chain.from_iterable(map(_reads, parsed))) | {target(each).key for each in template.references}


def _misplaced(template: Template, condition: str, **words: str) -> NoReturn:
    error = diagnostic(condition, template.config.span, **words)
    raise WarehouseError(error, source=SourceText(template.file.text, template.file.name))


def key_of(parts: tuple[str, ...]) -> Key:
    """Return a name made comparable.

    Example:
        >>> key_of(("spark_catalog", "default", "Flights")), key_of(("raw", "flights"))
        (('flights',), ('raw', 'flights'))
    """
    lowered = tuple(part.lower() for part in parts)
    if len(lowered) == 3 and lowered[0] == "spark_catalog":
        lowered = lowered[1:]
    return lowered[1:] if len(lowered) == 2 and lowered[0] == "default" else lowered


def model_key(parts: tuple[str, ...]) -> Key:
    """Return the name of a model made comparable.

    Example:
        >>> model_key(("default", "Churn"))
        ('MODEL', 'churn')
    """
    return MODEL, *key_of(parts)


def told(key: Key) -> str:
    """Return a comparable name as it is told to the user."""
    return ".".join(part for part in key if part != MODEL)


def _sources(template: Template, name: Callable[[Reference], tuple[str, ...]]) -> Iterator[tuple[SourceText, SourceText]]:  # fmt: skip  # noqa: E501
    """Yield each statement as rendered and as written."""
    file, text = template.file, template.render(name)
    try:
        sources = split(text, file.name)
    except WarehouseError as error:
        raise WarehouseError(*error.diagnostics, source=SourceText(file.text, file.name)) from None
    end = 0
    for source in sources:
        start = text.index(source.text, end)
        end = start + len(source.text)
        yield source, replace(source, text=file.text[start:end])


def _is_query(statement: s.Statement) -> bool:
    return isinstance(statement, (s.SparkStatement, s.QueryStatement)) and statement.verb == "SELECT"


def _model(template: Template, step: Step, create: str) -> Step:
    config = template.config
    name = config.alias or template.file.path.stem
    parts = (config.schema, name) if config.schema else (name,)
    prefix = create.format(name=quoted(parts))
    return replace(step, source=replace(step.source, text=prefix + step.source.text), shift=len(prefix))


def _schema(template: Template, step: Step) -> Iterator[Step]:
    """Yield what makes the schema that the model of ``step`` is to be created in."""
    if template.config.schema:
        text = f"CREATE SCHEMA IF NOT EXISTS {quoted((template.config.schema,))}"
        yield replace(step, source=replace(step.source, text=text), shift=len(text))


def _named(step: Step, statement: s.Statement, materialized: str | None) -> Step:
    """Return a step with the name that it creates, where it matters what there is already."""
    match statement:
        case s.CreateStreamingTable(name=name, if_not_exists=keeps):
            its_name = name.span.of(statement.source.text) if keeps or materialized else None
        case s.SparkStatement(target=s.Name() as name) | s.QueryStatement(target=s.Name() as name):
            its_name = name.span.of(statement.source.text) if materialized and statement.query else None
        case _:
            its_name = None
    becomes = materialized.replace("_", " ") if materialized and its_name else None
    return replace(step, name=its_name, becomes=becomes)


def _makes(statement: s.Statement) -> Iterator[Made]:
    match statement:
        case s.CreateStream(name=name):
            yield Made("stream", ".".join(name.parts), key_of(name.parts))
        case s.CreateStreamingTable(name=name):
            yield Made("streaming table", ".".join(name.parts), key_of(name.parts))
        case s.SparkStatement(target=s.Name() as name) | s.QueryStatement(target=s.Name() as name):
            words = statement.verb.split(" ")
            kind = next((word for word in ("VIEW", "TABLE") if word in words), None)
            if words[0] in ("CREATE", "REPLACE") and kind:
                yield Made(kind.lower(), ".".join(name.parts), key_of(name.parts))
        case s.Generate(table=table, model=model):
            if table:
                yield Made("table", ".".join(table.name.parts), key_of(table.name.parts))
            if model:
                yield Made("model", ".".join(model.name.parts), model_key(model.name.parts))
        case s.Explain(mode="ANALYZE", statement=inner):
            yield from _makes(inner)


def _writes(statement: s.Statement) -> Iterator[Key]:
    match statement:
        case s.SparkStatement(target=s.Name() as name) | s.QueryStatement(target=s.Name() as name):
            if statement.verb.split(" ")[0] in _WRITES:
                yield key_of(name.parts)
        case s.Explain(mode="ANALYZE", statement=inner):
            yield from _writes(inner)


def _reads(statement: s.Statement) -> Iterator[Key]:
    if not isinstance(statement, s.Explain) and any(_makes(statement)) and (other := partner(statement.source)):
        yield key_of(other.parts)
    match statement:
        case s.SparkStatement(target=s.Name() as name, verb=verb) if verb.split(" ")[0] not in _DEFINES + _WRITES:
            yield key_of(name.parts)
    match statement:
        case s.RefreshStreamingTable(name=name) | s.DrainStreamingTable(name=name):
            yield key_of(name.parts)
        case s.StartStreamingTable(name=name) | s.StopStreamingTable(name=name):
            yield key_of(name.parts)
        case s.DescribeObject(kind=kind, name=name):
            if kind != "GENERATOR":
                yield model_key(name.parts) if kind == "MODEL" else key_of(name.parts)
        case s.Generate(call=call):
            yield from _fed_by(call)
        case s.Explain(statement=inner):
            yield from _reads(inner)
        case s.CreateStreamingTable(query=query) | s.QueryStatement(query=query):
            yield from _read_by(query)
        case s.SparkStatement(query=s.QueryShape() as query):
            yield from _read_by(query)


def _fed_by(call: s.GeneratorCall) -> Iterator[Key]:
    match call.input:
        case s.GeneratorCall() as inner:
            yield from _fed_by(inner)
        case s.Name(parts=parts):
            yield key_of(parts)
        case s.QueryShape() as query:
            yield from _read_by(query)


def _read_by(query: s.QueryShape) -> Iterator[Key]:
    for stream in query.streams:
        yield key_of(stream.name.parts)
    for function in query.functions:
        yield key_of(function.argument.parts)
    for asked in query.models:
        yield model_key(asked.model.parts)
    for relation in query.relations:
        if query.cte_of(relation) is None:
            yield key_of(relation.name.parts)
