"""What planning knows of MLlib's algorithms and of the user's own generators; a ``Library`` finds them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Protocol

from warehouse.catalog.entries import Column
from warehouse.errors import Span


class Kind(Enum):
    """What a column is to an algorithm."""

    NUMBER = auto()
    BOOLEAN = auto()
    STRING = auto()
    VECTOR = auto()
    ARRAY = auto()  # of numbers: a vector as SQL has it
    TOKENS = auto()  # an array of strings
    OTHER = auto()


_NUMBER = re.compile(r"(tinyint|smallint|int|bigint|float|double|decimal\(.*\))")


def kind_of(type_: str) -> Kind:
    """Return what a column of a type, as Spark's ``simpleString`` has it, is to an algorithm.

    Example:
        >>> [kind_of(t).name for t in ("decimal(9,2)", "array<int>", "array<string>", "vector", "date")]
        ['NUMBER', 'ARRAY', 'TOKENS', 'VECTOR', 'OTHER']
    """
    if _NUMBER.fullmatch(type_):
        return Kind.NUMBER
    if type_.startswith("array<") and _NUMBER.fullmatch(type_[6:-1]):
        return Kind.ARRAY
    plain = {"string": Kind.STRING, "boolean": Kind.BOOLEAN, "array<string>": Kind.TOKENS, "vector": Kind.VECTOR}
    return plain.get(type_.partition(" collate ")[0], Kind.OTHER)


FEATURES = ("inputCol", "inputCols", "featuresCol")
"""Parameters that say which columns are the features."""

OUTPUTS = (
    "predictionCol", "probabilityCol", "rawPredictionCol", "topicDistributionCol", "leafCol", "varianceCol",
    "quantilesCol", "linkPredictionCol", "outputCol", "outputCols",
)  # fmt: skip
"""Parameters that name a column to be added."""


class Role(Enum):
    """What an algorithm does with rows."""

    ESTIMATOR = "estimator"
    TRANSFORMER = "transformer"
    EVALUATOR = "evaluator"
    SEARCH = "search"  # CrossValidator, TrainValidationSplit
    WRAPPER = "wrapper"  # OneVsRest: an estimator over an estimator
    DIRECT = "direct"  # rows in, other rows out, without a model: PrefixSpan
    OWN = "own"  # a function in udfs/


@dataclass(frozen=True)
class Parameter:
    """A parameter of an algorithm.

    Attributes:
        name: MLlib's, in camelCase; of the user's own generators as its function has it.
        type: as SQL would call it: ``INT``, ``DOUBLE``, ``STRING``, ``BOOLEAN``, ``ARRAY<INT>`` …
        default: as text, or None where there is none.
        required: it has to be given.
    """

    name: str
    type: str
    doc: str
    default: str | None = None
    required: bool = False


@dataclass(frozen=True)
class Algorithm:
    """An algorithm by its class name, or a generator of the user's own.

    Attributes:
        family: MLlib's module (``classification``), or ``udfs``.
        summary: the first sentence of its documentation; ``doc``: all of it.
        positional: the parameters that a value without a name means, in order.
        makes: what its ``inputCol`` may be, each with what comes out; empty where it has none.
        returns: of the user's own: the columns of its rows, as DDL; a leading ``*`` stands for those of its input.
    """

    name: str
    family: str
    role: Role
    summary: str
    doc: str
    parameters: tuple[Parameter, ...]
    positional: tuple[str, ...] = ()
    makes: tuple[tuple[Kind, Kind], ...] = ()
    returns: str = ""

    def parameter(self, written: str) -> Parameter | None:
        """Return the parameter meant by ``max_iter``, ``maxIter`` or ``label`` (for ``labelCol``), or None."""
        plain = plainly(written)
        named = {plainly(p.name): p for p in self.parameters}
        return named.get(plain) or named.get(f"{plain}col") or named.get(f"{plain}cols")

    def has(self, name: str) -> bool:
        """Say whether there is a parameter of that name, MLlib's."""
        return any(p.name == name for p in self.parameters)

    @property
    def accepts(self) -> frozenset[Kind]:
        """Return what a column that it reads by itself may be."""
        return frozenset(kind for kind, _ in self.makes)

    @property
    def reads_columns(self) -> tuple[str, ...]:
        """Return the parameters that name a column to read, features left out."""
        if self.has("formula"):
            return ()
        named = (p.name for p in self.parameters if p.name.endswith("Col") and p.name not in FEATURES)
        return tuple(n for n in named if self.role is Role.EVALUATOR or n not in OUTPUTS)

    @property
    def gathers(self) -> bool:
        """Say whether it makes one column of several, by their names: those of the frame are the user's then."""
        return self.has("inputCols") and not self.has("outputCols")

    @property
    def classifies(self) -> bool:
        """Say whether it learns classes."""
        return self.family == "classification"

    @property
    def weighs(self) -> bool:
        """Say whether it learns a weight for each feature, so that strings have to be one-hot."""
        return self.has("fitIntercept") or self.has("layers")

    @property
    def splits(self) -> bool:
        """Say whether it is made of trees, which take the index of a string as a category."""
        return self.has("maxBins")


def plainly(name: str) -> str:
    """Return a parameter's name without case and underscores."""
    return name.replace("_", "").lower()


def snake(name: str) -> str:
    """Return a name of MLlib's as SQL writes it.

    Example:
        >>> snake("maxMemoryInMB"), snake("KMeans"), snake("PCA"), snake("LDA2Vec")
        ('max_memory_in_mb', 'kmeans', 'pca', 'lda2_vec')
    """
    parts = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    parts = re.sub(r"([A-Z]{2,})([A-Z][a-z])", r"\1_\2", parts)
    return parts.lower()


class Library(Protocol):
    """Finds algorithms and judges values. Runs nothing."""

    def find(self, name: str, place: Span) -> Algorithm | None:
        """Return the algorithm of that name, whatever its case, or None."""

    def names(self) -> tuple[str, ...]:
        """Return the names of all, in order."""

    def value(self, algorithm: Algorithm, parameter: Parameter, value: Any) -> Any:
        """Return ``value`` as the parameter takes it.

        Raises:
            TypeError: it is of another type.
            ValueError: MLlib refuses it; with its words.
        """

    def constant(self, expression: str) -> Any:
        """Return what a constant expression comes to, lists as tuples.

        Raises:
            WarehouseError: it does not analyze, or it needs rows.
        """

    def schema(self, ddl: str) -> tuple[Column, ...]:
        """Return the columns that a list of columns, as DDL, declares.

        Raises:
            WarehouseError: it is no such list.
        """
