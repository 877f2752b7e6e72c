"""A GENERATE statement, bound: which columns go in, what is done with them, one call after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warehouse.catalog.entries import Column
from warehouse.errors import Span
from warehouse.language.fragments import Fragment
from warehouse.planning.algorithms import Algorithm, Kind, Role

NULLS = ("error", "skip", "impute")
STRINGS = ("index", "onehot")
UNSEEN = ("error", "keep")
SEED = 42
"""The seed where none is given, so that runs repeat."""


@dataclass(frozen=True)
class Prepared:
    """A column of the input as the stages see it.

    Attributes:
        name: in the frame that is trained on; ``column``: in the input.
        kind: what it is made into: NUMBER (double), STRING, VECTOR; OTHER is taken as it is.
        declared: its type in the input.
        taught: a label or a weight, which prediction does without.
        nullable: the algorithm itself says what it does with a NULL.
    """

    name: str
    column: str
    kind: Kind
    declared: str
    taught: bool = False
    nullable: bool = False


@dataclass(frozen=True)
class Assembly:
    """Columns made into one vector: strings are indexed, and one-hot where ``onehot``."""

    inputs: tuple[tuple[str, Kind], ...]
    output: str
    onehot: bool

    @property
    def strings(self) -> tuple[str, ...]:
        """Return the columns to be indexed."""
        return tuple(name for name, kind in self.inputs if kind is Kind.STRING)

    @property
    def vectors(self) -> tuple[str, ...]:
        """Return the columns whose length has to be known."""
        return tuple(name for name, kind in self.inputs if kind is Kind.VECTOR)


@dataclass(frozen=True)
class Step:
    """One call of MLlib in a chain.

    Attributes:
        settings: parameters by MLlib's name, columns included.
        given: those that the user wrote, for EXPLAIN and DESCRIBE.
        outputs: the columns that it adds, by the names they get, with what they are to the next step.
        inner: the estimator that a wrapper wraps.
        whole: what comes out is not the rows with columns added, but whatever the step makes of them.
    """

    algorithm: Algorithm
    settings: tuple[tuple[str, Any], ...]
    given: tuple[tuple[str, Any], ...]
    assembly: Assembly | None
    outputs: tuple[tuple[str, Kind], ...]
    place: Span
    inner: Step | None = None
    whole: bool = False

    def setting(self, name: str) -> Any:
        """Return the value of a parameter, None where it is left to MLlib."""
        return dict(self.settings).get(name)


@dataclass(frozen=True)
class OwnStep:
    """One call of a generator of the user's own, with the columns that it declares."""

    algorithm: Algorithm
    given: tuple[tuple[str, Any], ...]
    columns: tuple[Column, ...]
    place: Span


@dataclass(frozen=True)
class Search:
    """A search for the best values of some parameters.

    Attributes:
        grid: step number, parameter, and the values that are tried.
        metric: what is compared, or None for what fits the model.
    """

    algorithm: Algorithm
    settings: tuple[tuple[str, Any], ...]
    grid: tuple[tuple[int, str, tuple[Any, ...]], ...]
    metric: str | None
    place: Span


@dataclass(frozen=True)
class Training:
    """What GENERATE does.

    Attributes:
        relation: a query for the input's rows; ``columns``: its columns.
        before, after: generators of the user's own, under and over the steps.
        prepared: the columns that the steps read; ``trained`` are those of the input when ``before`` is done.
        place: the words of the input.
    """

    relation: Fragment
    columns: tuple[Column, ...]
    trained: tuple[Column, ...]
    before: tuple[OwnStep, ...]
    prepared: tuple[Prepared, ...]
    steps: tuple[Step, ...]
    after: tuple[OwnStep, ...]
    search: Search | None
    nulls: str
    unseen: str
    place: Span

    @property
    def makes_model(self) -> bool:
        """Say whether there is something to store: a call of MLlib's that learns or transforms row by row."""
        if not self.steps or self.last.whole:
            return False
        return self.last.algorithm.role not in (Role.EVALUATOR, Role.DIRECT)

    @property
    def last(self) -> Step:
        """Return the outermost step of MLlib's."""
        return self.steps[-1]

    @property
    def label(self) -> str | None:
        """Return the input's column with the label, or None."""
        return next((p.column for p in self.prepared if p.name == LABEL), None)


LABEL = "__w_label"
"""What the label is called in the frame that is trained on."""

RATING = "__w_rating"
"""What a rating is called there."""
