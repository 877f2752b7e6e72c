"""The stages of MLlib that a bound chain comes to, in order, none of them fitted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyspark.ml.feature import Imputer, OneHotEncoder, StringIndexer, VectorAssembler, VectorSizeHint

from warehouse.ml.library import classes
from warehouse.planning.algorithms import Kind
from warehouse.planning.models.training import Assembly, Step, Training


@dataclass(frozen=True)
class Facts:
    """What is known of the rows before anything is learnt.

    Attributes:
        rows: how many there are.
        classes: the highest label and one, or None without labels.
        sizes: the length of each column of vectors, by its name in the frame.
        categories: how many values each column of strings has.
    """

    rows: int
    classes: int | None = None
    sizes: dict[str, int] = field(default_factory=dict)
    categories: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Stage:
    """A stage with the number of the step that it is for."""

    stage: Any
    step: int

    @property
    def name(self) -> str:
        """Return the name of its class."""
        return type(self.stage).__name__


def stages(training: Training, facts: Facts) -> list[Stage]:
    """Return the stages of a chain."""
    out = []
    for number, step in enumerate(training.steps):
        if step.assembly:
            out += [Stage(stage, number) for stage in _assembling(step.assembly, training, facts)]
        out.append(Stage(instance(step, facts), number))
    return out


def instance(step: Step, facts: Facts) -> Any:
    """Return the stage of one step itself."""
    made: Any = classes()[step.algorithm.name.lower()]()
    settings = dict(step.settings)
    if step.inner:
        made.setClassifier(instance(step.inner, facts))
    if step.algorithm.splits and step.assembly and "maxBins" not in settings:
        most = max((facts.categories.get(name, 0) for name in step.assembly.strings), default=0)
        if most >= made.getMaxBins():
            settings["maxBins"] = most + 1
    made._set(**settings)
    return made


def _assembling(assembly: Assembly, training: Training, facts: Facts) -> Iterator[Any]:
    """Yield what makes one vector of several columns."""
    numbers = [name for name, kind in assembly.inputs if kind is Kind.NUMBER and name.startswith("__w_c")]
    names = {name: name for name, _ in assembly.inputs}
    if training.nulls == "impute" and numbers:
        names |= {name: f"{name}_imputed" for name in numbers}
        yield Imputer(inputCols=numbers, outputCols=[names[n] for n in numbers])
    strings = list(assembly.strings)
    if strings:
        kept = "keep" if training.nulls == "impute" or training.unseen == "keep" else "error"
        names |= {name: f"{name}_index" for name in strings}
        yield StringIndexer(inputCols=strings, outputCols=[names[n] for n in strings], handleInvalid=kept)
        if assembly.onehot:
            indexed = [names[n] for n in strings]
            names |= {name: f"{name}_onehot" for name in strings}
            yield OneHotEncoder(inputCols=indexed, outputCols=[names[n] for n in strings], handleInvalid=kept)
    for name in assembly.vectors:
        if name in facts.sizes:
            yield VectorSizeHint(inputCol=name, size=facts.sizes[name])
    yield VectorAssembler(inputCols=[names[name] for name, _ in assembly.inputs], outputCol=assembly.output)
