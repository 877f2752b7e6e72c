"""The arguments of GENERATE's calls: which parameter each one means, and its value, checked before anything runs."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from warehouse.errors import SourceText, Span, WarehouseError, fail
from warehouse.language.statements import Argument, GeneratorCall, Value, Words
from warehouse.planning.algorithms import FEATURES, Algorithm, Library, Parameter, Role, plainly, snake
from warehouse.planning.models.training import NULLS, STRINGS, UNSEEN

OPTIONS = {"nulls": NULLS, "strings": STRINGS, "unseen": UNSEEN}
"""What may be said at any call of a chain, and holds for all of it."""


@dataclass(frozen=True)
class Call:
    """A call with what it calls and its arguments, by MLlib's names; ``features`` is the columns it reads.

    Attributes:
        places: the words of each argument.
    """

    call: GeneratorCall
    algorithm: Algorithm
    values: dict[str, Value]
    places: dict[str, Span]

    def place(self, name: str) -> Span:
        """Return the words of an argument, or of the call's name where it is left out."""
        return self.places.get(name, self.call.place)


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """Return up to three names that ``word`` was probably meant to be, whatever their case."""
    names = {name.lower(): name for name in known}
    return [names[n] for n in difflib.get_close_matches(word.lower(), names, 3, 0.6)]


def advice(word: str, known: Collection[str], otherwise: str) -> str:
    """Return what to write instead of ``word``."""
    near = nearest(word, known)
    return f"Did you mean {' or '.join(near)}?" if near else otherwise


@dataclass(frozen=True)
class Reader:
    """Reads the arguments of the calls of one statement."""

    library: Library
    text: SourceText

    def algorithm(self, call: GeneratorCall) -> Algorithm:
        """Return what a call calls."""
        found = self.library.find(call.name, call.place)
        if found is None:
            told = advice(call.name, self.library.names(), "SHOW GENERATORS lists what there is.")
            fail("WAREHOUSE_GENERATOR_NOT_FOUND", call.place, name=call.name, advice=told)
        return found

    def call(self, call: GeneratorCall, algorithm: Algorithm, inner: tuple[Algorithm, ...] = ()) -> Call:
        """Return a call with its arguments named; ``inner``: algorithms whose parameters it takes as well."""
        values: dict[str, Value] = {}
        places: dict[str, Span] = {}
        positional = list(algorithm.positional)
        for argument in call.arguments:
            if is_option(argument, algorithm):
                continue
            if argument.name is not None:
                name = self._meant(argument, algorithm, inner)
            elif positional:
                name = positional.pop(0)
            else:
                takes = " and then ".join(map(snake, algorithm.positional)) or "none"
                value = argument.words.of(self.text.text)
                fail("WAREHOUSE_GENERATOR_POSITION", argument.words, name=algorithm.name, takes=takes, value=value)
            if name in values:
                fail("WAREHOUSE_GENERATOR_PARAMETER_TWICE", argument.place, parameter=snake(name))
            values[name], places[name] = argument.value, argument.place.to(argument.words)
        return Call(call, algorithm, values, places)

    def options(self, calls: Iterable[tuple[GeneratorCall, Algorithm]]) -> dict[str, str]:
        """Return what the calls say for the whole chain."""
        found: dict[str, str] = {}
        for call, algorithm in calls:
            for argument in call.arguments:
                if not is_option(argument, algorithm):
                    continue
                assert argument.name
                name, value = argument.name.lower(), argument.value
                if name in found:
                    fail("WAREHOUSE_GENERATOR_PARAMETER_TWICE", argument.place, parameter=name)
                if not isinstance(value, str) or value.lower() not in OPTIONS[name]:
                    fail(
                        "WAREHOUSE_GENERATOR_PARAMETER_RANGE", argument.place.to(argument.words), name=algorithm.name,
                        parameter=name, value=argument.words.of(self.text.text),
                        doc="it is one of " + ", ".join(f"'{v}'" for v in OPTIONS[name]),
                    )  # fmt: skip
                found[name] = value.lower()
        return found

    def _meant(self, argument: Argument, algorithm: Algorithm, inner: tuple[Algorithm, ...]) -> str:
        """Return MLlib's name of the parameter that an argument names."""
        assert argument.name
        written = plainly(argument.name)
        if algorithm.role is Role.SEARCH and written in ("folds", "metric"):
            return {"folds": "numFolds", "metric": "metric"}[written]
        takes_features = algorithm.role is not Role.OWN and any(algorithm.has(c) for c in FEATURES)
        found = algorithm.parameter(argument.name)
        if takes_features and (written == "features" or (found and found.name in FEATURES)):
            return "features"
        for one in (algorithm, *reversed(inner)):
            if found := one.parameter(argument.name):
                return found.name
        known = [snake(p.name) for one in (algorithm, *reversed(inner)) for p in one.parameters]
        known += ["features", *OPTIONS] if takes_features else []
        otherwise = f"It has {', '.join(known)}." if known else "It has no parameters."
        fail(
            "WAREHOUSE_GENERATOR_PARAMETER_UNKNOWN", argument.place, name=algorithm.name, parameter=argument.name,
            advice=advice(snake(argument.name), known, otherwise),
        )  # fmt: skip

    # ---------------------------------------------------------------- values

    def value(self, call: Call, name: str) -> Any:
        """Return the value of an argument as its parameter takes it."""
        parameter = call.algorithm.parameter(name)
        assert parameter is not None
        return self.checked(call.algorithm, parameter, call.values[name], call.place(name))

    def checked(self, algorithm: Algorithm, parameter: Parameter, value: Value, place: Span) -> Any:
        """Return ``value`` as ``parameter`` takes it; MLlib is the judge.

        Raises:
            WarehouseError: it is of a wrong type or out of range.
        """
        known = self.known(value)
        named = {"name": algorithm.name, "parameter": snake(parameter.name), "value": shown(known)}
        named["doc"] = parameter.doc
        try:
            return self.library.value(algorithm, parameter, known)
        except TypeError:
            fail("WAREHOUSE_GENERATOR_PARAMETER_TYPE", place, type=parameter.type, **named)
        except ValueError:
            fail("WAREHOUSE_GENERATOR_PARAMETER_RANGE", place, **named)

    def known(self, value: Value) -> Any:
        """Return a value with its expressions computed."""
        if isinstance(value, tuple):
            return tuple(self.known(v) for v in value)
        if not isinstance(value, Words):
            return value
        try:
            return self.library.constant(value.span.of(self.text.text))
        except WarehouseError as error:
            told = error.diagnostics[0].message
            fail("WAREHOUSE_GENERATOR_VALUE", value.span, value=value.span.of(self.text.text), reason=told)

    def names(self, value: Value, place: Span, parameter: str) -> list[tuple[str, Span]]:
        """Return the columns that a value names, by strings or bare words, each with its place."""
        found = []
        for one in value if isinstance(value, tuple) else (value,):
            words = one.span.of(self.text.text) if isinstance(one, Words) else ""
            if isinstance(one, str):
                found.append((one, place))
            elif isinstance(one, Words) and (words.isidentifier() or words[0] == words[-1] == "`"):
                found.append((words.strip("`"), one.span))
            else:
                fail("WAREHOUSE_GENERATE_COLUMN_NAME", place, parameter=snake(parameter))
        return found


def is_option(argument: Argument, algorithm: Algorithm) -> bool:
    """Say whether an argument holds for the whole chain."""
    return algorithm.role is not Role.OWN and argument.name is not None and argument.name.lower() in OPTIONS


def shown(value: Any) -> str:
    """Return a value as SQL would write it."""
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(shown, value))})"
    if isinstance(value, str):
        return f"'{value}'"
    return "NULL" if value is None else str(value).upper() if isinstance(value, bool) else str(value)
