"""Rows of SHOW MODELS, SHOW GENERATORS, DESCRIBE MODEL and DESCRIBE GENERATOR."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from warehouse.catalog.entries import ModelEntry, ModelVersion
from warehouse.errors import Span, without_secrets
from warehouse.execution.results import DESCRIBED, Listing
from warehouse.ml.library import SparkLibrary
from warehouse.planning.algorithms import Algorithm, Role, snake
from warehouse.planning.streams.streams import matching


def models(entries: Iterable[ModelEntry], pattern: str | None) -> Listing:
    """Return SHOW MODELS."""
    entries = tuple(entries)
    wanted = matching([e.name for e in entries], pattern)
    rows: list[tuple[str | None, ...]] = []
    for entry in entries:
        if entry.name in wanted:
            newest = entry.newest
            measured = ", ".join(f"{name} {value}" for name, value in newest.metrics[:2])
            algorithm = dict(newest.facts).get("Algorithm", "")
            rows.append((entry.schema, entry.name, str(newest.number), algorithm, measured, newest.created_at))
    return Listing(("namespace", "modelName", "version", "algorithm", "metrics", "created"), rows)


def generators(library: SparkLibrary, pattern: str | None) -> Listing:
    """Return SHOW GENERATORS."""
    rows: list[tuple[str | None, ...]] = []
    for name in library.names():
        if name in matching([name], pattern):
            found = library.find(name, Span(0, 0))
            assert found is not None
            rows.append((name, found.family, found.role.value, found.summary))
    return Listing(("generator", "family", "kind", "summary"), rows)


def model(entry: ModelEntry, extended: bool) -> Listing:
    """Return DESCRIBE MODEL: what goes in, what comes out, how it was made; ``extended``: all versions and the text."""
    version = entry.newest
    rows: list[tuple[str | None, ...]] = [(c.name, c.type, "input") for c in version.inputs]
    rows += [(c.name, c.type, "output") for c in version.outputs]
    rows += [("", "", ""), ("# Model", "", "")]
    rows += [(label, text, "") for label, text in _facts(entry, version, extended)]
    if extended:
        rows += [("", "", ""), ("# Trained on", "", "")]
        rows += [(c.name, c.type, "") for c in version.schema]
        if len(entry.versions) > 1:
            rows += [("", "", ""), ("# Versions", "", "")]
            for old in entry.versions:
                told = ", ".join(f"{n} {v}" for n, v in old.metrics)
                rows.append((str(old.number), f"{dict(old.facts).get('Algorithm')}, {old.created_at}", told))
    return Listing(DESCRIBED, rows)


def _facts(entry: ModelEntry, version: ModelVersion, extended: bool) -> Iterator[tuple[str, str]]:
    yield "Name", entry.qualified
    yield "Version", str(version.number)
    yield from version.facts
    yield from ((f"Metric {name}", value) for name, value in version.metrics)
    if version.scores:
        tried = json.loads(version.scores)
        yield "Scores", f"{len(tried['rows'])} combinations: SELECT * FROM ML_SCORES(MODEL {entry.name})"
    yield "Predicts", "each row by itself" if version.row_wise else "by joins with tables of its own"
    yield "Created", version.created_at
    if extended:
        yield "Files", f"models/{version.folder}"
        yield "Text", without_secrets(version.text)


def generator(algorithm: Algorithm) -> Listing:
    """Return DESCRIBE GENERATOR: its parameters and what is documented of it."""
    rows: list[tuple[str | None, ...]] = []
    own = algorithm.role is Role.OWN
    for parameter in algorithm.parameters:
        kind = parameter.type
        default = "required" if parameter.required else "" if parameter.default is None else parameter.default
        rows.append((parameter.name if own else snake(parameter.name), kind, default, parameter.doc))
    positional = ", ".join(p if own else snake(p) for p in algorithm.positional)
    call = f"GENERATE {'' if own else 'ML '}{algorithm.name}(input{', ' + positional if positional else ''}, …)"
    rows += [("", "", "", ""), ("# Generator", "", "", "")]
    rows += [("Call", "", "", call), ("Family", "", "", algorithm.family), ("Kind", "", "", algorithm.role.value)]
    if own:
        rows.append(("Returns", "", "", algorithm.returns))
    rows.append(("Description", "", "", algorithm.doc))
    return Listing(("parameter", "type", "default", "description"), rows)
