"""EXPLAIN of GENERATE: the chain of calls, what is done to the columns before them, and how often the input is read."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.planning.algorithms import Kind, Role, snake
from warehouse.planning.models.arguments import shown
from warehouse.planning.models.training import Prepared, Step, Training


def lines(training: Training) -> Iterator[str]:
    """Yield the lines that explain a training."""
    yield "== Pipeline =="
    number = 0
    for own in training.before:
        number += 1
        yield f"{number}. {own.algorithm.name} ({_given(own.given)}): your own"
    for step in training.steps:
        for told in _step(training, step):
            number += 1
            yield f"{number}. {told}"
    for own in training.after:
        number += 1
        yield f"{number}. {own.algorithm.name} ({_given(own.given)}): your own"
    search = training.search
    if search:
        count = 1
        for at, name, values in search.grid:
            count *= len(values)
            yield f"   tries {snake(name)} of {training.steps[at].algorithm.name} = {shown(values)}"
        yield f"   {search.algorithm.name} compares {count} combinations by {search.metric or 'what fits the model'}"
    if training.label:
        yield f"label:   {training.label}"
    yield f"nulls:   {_NULLS[training.nulls]}"
    added = ", ".join(name for name, _ in training.steps[-1].outputs) if training.steps else ""
    if added:
        yield f"adds:    {added}"
    if reads_once(training):
        yield "input:   read once and kept in memory while it is trained on, unless it is in memory already"
    for warning in warnings(training):
        yield f"warning: {warning}"
    yield ""
    yield "== Input =="


_NULLS = {
    "error": "a NULL or NaN among the features is an error",
    "skip": "rows with a NULL or NaN are not learnt from, and get no prediction",
    "impute": "a NULL or NaN number is the column's mean, a NULL string a category of its own",
}


def reads_once(training: Training) -> bool:
    """Say whether something is learnt, in more than one pass over the rows."""
    return any(step.algorithm.role in (Role.ESTIMATOR, Role.WRAPPER) for step in training.steps)


def warnings(training: Training) -> Iterator[str]:
    """Yield what a user should beware of."""
    for step in training.steps:
        assembly = step.assembly
        if step.algorithm.family == "clustering" and assembly and assembly.strings and not assembly.onehot:
            names = ", ".join(_name(training, s) for s in assembly.strings)
            yield f"distances between the indexes of strings mean little: strings => 'onehot' spreads out {names}"


def _step(training: Training, step: Step) -> Iterator[str]:
    """Yield what happens to the rows for one call: indexing, encoding, assembling, then the call itself."""
    assembly = step.assembly
    if assembly:
        names = ", ".join(_name(training, name) for name, _ in assembly.inputs)
        if training.nulls == "impute" and any(kind is Kind.NUMBER for _, kind in assembly.inputs):
            yield "Imputer (mean)"
        if assembly.strings:
            indexed = ", ".join(_name(training, s) for s in assembly.strings)
            yield f"StringIndexer ({indexed})"
            if assembly.onehot:
                yield f"OneHotEncoder ({indexed})"
        yield f"VectorAssembler ({names})"
    inner = f"{step.inner.algorithm.name} ({_given(step.inner.given)})" if step.inner else ""
    told = ", ".join(filter(None, (inner, _given(step.given))))
    yield f"{step.algorithm.name} ({told})" if told else step.algorithm.name


def _given(values: tuple[tuple[str, object], ...]) -> str:
    return ", ".join(f"{snake(name)} => {shown(value)}" for name, value in values)


def _name(training: Training, working: str) -> str:
    """Return the user's name of a column of the frame that is trained on."""
    found: Prepared | None = next((p for p in training.prepared if p.name == working), None)
    return found.column if found else working.removeprefix("__w_").partition("_")[2] or working
