"""Plans: what a statement comes to, one frozen dataclass per kind of act. Execution matches on them."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.catalog.entries import ModelEntry, StreamEntry, StreamingTableEntry, ViewEntry
from warehouse.errors import SourceText, Span
from warehouse.language.fragments import Fragment
from warehouse.language.statements import CreateStream, DescribeObject, DropObject, Generate, Name, ShowObjects
from warehouse.planning.algorithms import Algorithm
from warehouse.planning.distribution import LayoutChange
from warehouse.planning.models.predictions import Evaluation
from warehouse.planning.models.training import Training
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.planning.replacing.replacement import Verdict

Held = tuple[StreamingTableEntry | StreamEntry | ViewEntry | ModelEntry, ...]
"""What goes with a schema that is dropped, readers before what they read."""


@dataclass(frozen=True)
class RunSpark:
    """Hand a text to Spark.

    Attributes:
        fragment: the text; the user's own, or rewritten.
        keep_view: a view that holds something of ours, to remember when Spark has created its rewritten form.
        forget_view: a view of ours whose name the statement drops or gives to something else, if it does.
        target: the unqualified name of the table or view that it makes or changes, or None.
        drops: objects of ours that go with the schema which it drops, to be dropped before it runs.
        evaluations: what it asks models to be measured on, before it runs.
        layout: what is to be done for the table that it writes, when it has.
        reshapes: a table whose columns or version it changes, as Spark takes no table in memory along.
        lists: it is a SHOW, which may list temporary views of ours.
        counts: the columns in which Delta says how many rows it changed; none where it changes none.
    """

    source: SourceText
    fragment: Fragment
    target: str | None = None
    keep_view: ViewEntry | None = None
    forget_view: ViewEntry | None = None
    drops: Held = ()
    evaluations: tuple[Evaluation, ...] = ()
    layout: LayoutChange | None = None
    reshapes: Name | None = None
    lists: bool = False
    counts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Train:
    """GENERATE: train, then return the rows, or keep them as a table, the model as a model.

    Attributes:
        table: where the rows go, as SQL text, or None.
        replaces_table: one of that name gives way.
        model: qualified parts of the model's name, or None.
        replaces: the model that gets a new version, or None.
    """

    source: SourceText
    statement: Generate
    training: Training
    table: str | None
    replaces_table: bool
    model: tuple[str, str] | None
    replaces: ModelEntry | None


@dataclass(frozen=True)
class DropModel:
    """DROP MODEL."""

    source: SourceText
    entry: ModelEntry


@dataclass(frozen=True)
class MakeStream:
    """CREATE STREAM."""

    source: SourceText
    statement: CreateStream


@dataclass(frozen=True)
class MakeStreamingTable:
    """CREATE STREAMING TABLE: register it, then read what is there.

    Attributes:
        replaces: the entry that OR REPLACE takes the place of, or None.
        verdict: what becomes of that one's state and panes.
        named: where the table's name stands.
    """

    source: SourceText
    named: Span
    entry: StreamingTableEntry
    query: StreamingQuery
    replaces: StreamingTableEntry | None
    verdict: Verdict | None = None


@dataclass(frozen=True)
class Nothing:
    """The object is there already (IF NOT EXISTS) or is not (IF EXISTS)."""

    source: SourceText
    message: str


@dataclass(frozen=True)
class Refresh:
    """REFRESH or DRAIN STREAMING TABLE; ``named`` is where its name stands, here as below."""

    source: SourceText
    named: Span
    entry: StreamingTableEntry
    full: bool = False
    drain: bool = False


@dataclass(frozen=True)
class Start:
    """START STREAMING TABLE; ``every`` in microseconds, None: step after step."""

    source: SourceText
    named: Span
    entry: StreamingTableEntry
    every: int | None


@dataclass(frozen=True)
class Stop:
    """STOP STREAMING TABLE."""

    source: SourceText
    named: Span
    entry: StreamingTableEntry


@dataclass(frozen=True)
class DropStreamPlan:
    """DROP STREAM."""

    source: SourceText
    statement: DropObject


@dataclass(frozen=True)
class DropStreamingTable:
    """DROP STREAMING TABLE."""

    source: SourceText
    named: Span
    entry: StreamingTableEntry


@dataclass(frozen=True)
class Show:
    """SHOW STREAMS, STREAMING TABLES, MODELS or GENERATORS."""

    source: SourceText
    statement: ShowObjects


@dataclass(frozen=True)
class Describe:
    """DESCRIBE STREAM, STREAMING TABLE, MODEL or GENERATOR."""

    source: SourceText
    statement: DescribeObject
    entry: StreamEntry | StreamingTableEntry | ModelEntry | Algorithm


@dataclass(frozen=True)
class Tell:
    """EXPLAIN: lines of text, then, when ``spark`` is given, Spark's plan for it.

    Attributes:
        mode: Spark's explain mode for the second part.
    """

    source: SourceText
    lines: tuple[str, ...]
    spark: Fragment | None
    mode: str = "simple"


@dataclass(frozen=True)
class Measure:
    """EXPLAIN ANALYZE: do what a plan says, throw its rows away, and tell what it took.

    Attributes:
        measured: the plan, whose source is a part of this one.
    """

    source: SourceText
    measured: Plan


@dataclass(frozen=True)
class Unjudged:
    """A statement that reads a table, or asks a model, which an earlier one, that was not run, would have made."""

    source: SourceText


Plan = (
    Unjudged | RunSpark | MakeStream | MakeStreamingTable | Nothing | Refresh | Start | Stop | DropStreamPlan
    | DropStreamingTable | Show | Describe | Tell | Train | DropModel | Measure
)  # fmt: skip

__all__ = [
    "Describe", "DropModel", "DropStreamPlan", "DropStreamingTable", "MakeStream", "MakeStreamingTable", "Measure",
    "Nothing", "Plan", "Refresh", "RunSpark", "Show", "Span", "Start", "Stop", "Tell", "Train", "Unjudged",
]  # fmt: skip
