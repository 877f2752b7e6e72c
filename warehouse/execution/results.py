"""What a statement gives back: Arrow batches with a schema, or nothing but a message."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from warehouse.errors import SourceText


@dataclass(frozen=True)
class Result:
    """The outcome of one statement.

    Attributes:
        source: the statement.
        schema: Arrow schema of the rows, or None when the statement returns no rows.
        batches: record batches of that schema, to be consumed once, in order.
        message: one line for standard error (``plays created``), or None.
        warnings: rendered diagnostics that did not stop the statement.
        replaced: of what took the place of something, what became of that: of a streaming table ``continues`` or
            ``rebuilt from source``, in a project ``was a table`` or the like, too.
    """

    source: SourceText
    schema: pa.Schema | None = None
    batches: Iterator[pa.RecordBatch] = field(default_factory=lambda: iter(()))
    message: str | None = None
    warnings: tuple[str, ...] = ()
    replaced: str | None = None


STREAMS = ("namespace", "streamName", "source")
DESCRIBED = ("col_name", "data_type", "comment")
"""The columns of listings that several make, or that are told before they are made."""


@dataclass(frozen=True)
class Listing:
    """What SHOW, DESCRIBE and EXPLAIN tell: rows of strings with the names of their columns."""

    columns: tuple[str, ...]
    rows: Sequence[tuple[str | None, ...]]

    def result(self, source: SourceText) -> Result:
        """Return it as the result of a statement."""
        schema = pa.schema([(name, pa.string()) for name in self.columns])
        columns = list(zip(*self.rows, strict=True)) if self.rows else [()] * len(self.columns)
        batch = pa.record_batch([pa.array(c, pa.string()) for c in columns], schema=schema)
        return Result(source, schema, iter([batch]))


@dataclass(frozen=True)
class Progress:
    """One step of a streaming table, as it is reported while it runs.

    Attributes:
        table: the streaming table's name.
        step: the step's number.
        rows: rows read by the step. late: rows set aside as late. panes: panes emitted.
        watermark: the watermark after the step in ISO 8601, ``-`` at the beginning and ``end`` at the end of time.
        lag_seconds: clock minus watermark, or None where either end of time is involved.
        seconds: wall time of the step.
    """

    table: str
    step: int
    rows: int
    late: int
    panes: int
    watermark: str
    lag_seconds: float | None
    seconds: float


@dataclass(frozen=True)
class TrainingProgress:
    """What GENERATE is doing.

    Attributes:
        stage: the algorithm that is fitted.
        work: what runs, as MLlib calls it: ``treeAggregate at RDDLossFunction.scala:61``.
        passes: how often that has run in this stage: of an iterative algorithm, the iteration.
        seconds: since the statement began.
    """

    stage: str
    work: str
    passes: int
    seconds: float


Report = Callable[[Progress | TrainingProgress], None]
"""Is told of what goes on."""
