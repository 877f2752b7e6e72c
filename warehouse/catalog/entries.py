"""What the catalog holds, one frozen dataclass per kind of object, and how each is written as JSON.

An entry is everything that is known of an object before Spark runs: texts are the user's own, types are
Spark's ``simpleString``, durations are microseconds. Names are kept as written and compared without case.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Any, TypeVar

from warehouse.language.names import quote_name

Pairs = tuple[tuple[str, str], ...]

HIDDEN_SCHEMA = "warehouse_streams"
"""The schema of Spark's that holds what the engine alone reads, for batch queries of streams."""


def qualified(schema: str, name: str) -> str:
    """Return ``schema.name``, each part quoted where it has to be: unique per object, and SQL text."""
    return f"{quote_name(schema)}.{quote_name(name)}"


def new_id(name: str) -> str:
    """Return a folder name for a new object: readable, safe in any path, and never given out before."""
    readable = re.sub(r"[^a-z0-9_]", "", name.lower())[:24]
    return f"{readable or 'object'}-{secrets.token_hex(4)}"


_NEEDS_MAPPING = frozenset(" ,;{}()\n\t=")


def needs_mapping(name: str) -> bool:
    """Say whether Parquet refuses a column of this name, so that Delta has to keep it under another one."""
    return not _NEEDS_MAPPING.isdisjoint(name)


@dataclass(frozen=True)
class Column:
    """A column; ``type`` is Spark's ``simpleString`` (``array<struct<a:int>>``)."""

    name: str
    type: str
    comment: str | None = None


class _Named:
    """The qualified name of an entry that has ``schema`` and ``name``."""

    schema: str
    name: str

    @property
    def qualified(self) -> str:
        """Return ``schema.name``, quoted where needed."""
        return qualified(self.schema, self.name)


@dataclass(frozen=True)
class StreamEntry(_Named):
    """A stream that ``CREATE STREAM`` declared.

    Attributes:
        columns: the source's columns, in order.
        format: lower case (``json``, ``csv``, ``replay`` …), or a source's class name as written.
        options: as written, but ``path`` absolute.
        watermark_column: SQL text of the timestamp, or None.
        watermark_delay, idle_timeout: microseconds, or None.
        text: the CREATE statement.
        created_at: ISO 8601 in UTC.
        inferred: the column list was left out and taken from the source.
    """

    schema: str
    name: str
    columns: tuple[Column, ...]
    format: str
    options: Pairs
    watermark_column: str | None
    watermark_delay: int | None
    idle_timeout: int | None
    fail_on_error: bool
    comment: str | None
    properties: Pairs
    text: str
    created_at: str
    inferred: bool = False

    @property
    def parsed_format(self) -> str:
        """Return the format of what is read: of a replay, that of its recording."""
        return self.format if self.format != "replay" else self.option("format") or ""

    def option(self, name: str) -> str | None:
        """Return the value of an option, whose name is not case-sensitive."""
        return next((value for key, value in self.options if key.lower() == name.lower()), None)


@dataclass(frozen=True)
class StreamingTableEntry(_Named):
    """A streaming table.

    Attributes:
        id: the folder under which it keeps everything; not the name, so that a table made again starts anew.
        text: the CREATE statement.
        sources: qualified names of the streams and tables whose changes it reads.
        stateless: it has no windows: rows in, rows out.
        mode: ``ACCUMULATING``, ``DISCARDING`` or ``RETRACTING``.
        repeats: a window may be emitted more than once.
        facts: what DESCRIBE EXTENDED tells besides (watermark, window, trigger, …), as label and text.
        definitions: the user's own windows and triggers that it was made with, as text.
        current: the schema in which the query's names without one are looked up.
        revision: how often its state was rewritten for another query; step records of later ones do not count.
        closed: see ``dataflow.query.WindowedQuery``.
        key_order: the positions of the query's group keys in the order in which the state and the panes have them;
            empty where that is the same.
        former: columns that its panes have, and that a query before this one filled.
        models: the models that it asks, by qualified name, each with the version that it stays with.
        distribution: how its panes are distributed, as ``planning.distribution`` writes it; None where they are not.
        views: the views over streams that it reads, by qualified name, each with the statement that it stays with.
    """

    schema: str
    name: str
    id: str
    text: str
    comment: str | None
    properties: Pairs
    columns: tuple[Column, ...]
    sources: tuple[str, ...]
    stateless: bool
    mode: str
    repeats: bool
    facts: Pairs
    created_at: str
    definitions: tuple[str, ...] = ()
    current: str = "default"
    revision: int = 0
    closed: int | None = None
    key_order: tuple[str, ...] = ()
    former: tuple[Column, ...] = ()
    models: Pairs = ()
    distribution: str | None = None
    views: Pairs = ()

    @property
    def appends_only(self) -> bool:
        """Say whether no pane of the table is ever taken back."""
        return self.mode == "DISCARDING" and not (self.stateless and self.repeats)

    @property
    def keyed(self) -> bool:
        """Say whether the panes of the table carry keys."""
        return self.stateless or dict(self.facts).get("Keys", "0") != "0"


@dataclass(frozen=True)
class ViewEntry(_Named):
    """A view whose query holds something of ours, with the CREATE VIEW statement as the user wrote it.

    Attributes:
        current: the schema in which its query's names without one are looked up; None for the view's own.
        made_of: what streams and table functions in it stood for when Spark was given it (``streaming.views``); None
            where that is not known.
        given: what Spark was given of it, in short: a view of which Spark has something else is another one. None where
            that is not known.
    """

    schema: str
    name: str
    text: str
    current: str | None = None
    made_of: str | None = None
    given: str | None = None


@dataclass(frozen=True)
class ModelVersion:
    """One training of a model.

    Attributes:
        number: from 1 on; ``folder``: where its files are, seen from the folder of models.
        text: the GENERATE statement.
        schema: the rows that it was trained on.
        inputs: the columns that prediction needs; ``outputs``: those that it adds, as SQL has them.
        row_wise: each row's prediction depends on that row alone.
        recipe: how the inputs are made ready, as JSON; only ``warehouse.ml`` reads it.
        facts: algorithm, parameters, summary of the training, as label and text.
        metrics: over the rows that it was trained on, by name.
        scores: of a search, as JSON; empty without one.
    """

    number: int
    folder: str
    text: str
    created_at: str
    schema: tuple[Column, ...]
    inputs: tuple[Column, ...]
    outputs: tuple[Column, ...]
    row_wise: bool
    recipe: str
    facts: Pairs
    metrics: Pairs
    scores: str = ""


@dataclass(frozen=True)
class ModelEntry(_Named):
    """A model, with all its versions, oldest first.

    Attributes:
        id: the folder of its versions; not the name, so that a model made again starts anew.
    """

    schema: str
    name: str
    id: str
    versions: tuple[ModelVersion, ...]

    @property
    def newest(self) -> ModelVersion:
        """Return the version that is meant where none is named."""
        return self.versions[-1]

    def version(self, number: int | None) -> ModelVersion | None:
        """Return a version by its number, the newest for None; None where there is none of that number."""
        return self.newest if number is None else next((v for v in self.versions if v.number == number), None)


Entry = StreamEntry | StreamingTableEntry | ViewEntry | ModelEntry
E = TypeVar("E", StreamEntry, StreamingTableEntry, ViewEntry, ModelEntry)


def to_json(entry: Entry) -> dict[str, Any]:
    """Return ``entry`` as plain JSON values."""
    return asdict(entry)


D = TypeVar("D")


_FORMER = ("every",)
"""Fields that entries of older folders have, and nobody reads."""


def from_json(kind: type[D], data: dict[str, Any]) -> D:
    """Return the entry, or the part of one, that ``to_json`` wrote.

    Raises:
        ValueError: a field is missing, unknown or of the wrong shape.
    """
    if not isinstance(data, dict):
        raise ValueError("no fields")
    data = {name: value for name, value in data.items() if name not in _FORMER}
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    unknown = sorted(set(data) - set(known))
    missing = sorted(n for n, f in known.items() if n not in data and f.default is MISSING)
    if unknown or missing:
        raise ValueError(f"unknown fields {unknown}, missing fields {missing}")
    return kind(**{name: _value(name, known[name].type, value) for name, value in data.items()})


_SCALARS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "int": (int,),
    "str | None": (str, type(None)),
    "int | None": (int, type(None)),
}


def _value(name: str, declared: Any, value: Any) -> Any:
    """Return a JSON value as the field's type, checked."""
    try:
        match declared:
            case "tuple[Column, ...]":
                return tuple(Column(**column) for column in value)
            case "Pairs":
                return tuple((_text(key), _text(text)) for key, text in value)
            case "tuple[ModelVersion, ...]":
                return tuple(from_json(ModelVersion, version) for version in value)
            case "tuple[str, ...]":
                return tuple(_text(text) for text in value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"field {name}: {error}") from error
    if not isinstance(value, _SCALARS[declared]):
        raise ValueError(f"field {name} is not {declared}")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not text")
    return value
