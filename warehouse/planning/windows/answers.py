"""Methods of a window or a trigger of the user's own, asked; what they return, if it is what it should be."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from warehouse.catalog.udfs import blamed_on
from warehouse.dataflow.custom import Arrived, Kept
from warehouse.errors import Span, fail

_NO_ANSWER = object()


@dataclass(frozen=True)
class _Answer:
    """What a method of the user's has to return.

    Attributes:
        words: what that is, for messages.
        taken: returns the answer as it is used, or ``_NO_ANSWER`` where it is something else.
    """

    words: str
    taken: Callable[[Any], Any]


def _windows(said: Any) -> Any:
    """Return SQL for an array, or a list of pairs of SQL."""
    if isinstance(said, str):
        return said
    pairs = [said] if isinstance(said, tuple) and all(isinstance(part, str) for part in said) else said
    pairs = list(pairs) if isinstance(pairs, Iterable) else [pairs]
    good = all(isinstance(p, (tuple, list)) and len(p) == 2 and all(isinstance(t, str) for t in p) for p in pairs)
    return pairs if pairs and good else _NO_ANSWER


def _sql_or_none(said: Any) -> Any:
    return said if said is None or isinstance(said, str) else _NO_ANSWER


def _declared(kind: type) -> Callable[[Any], Any]:
    """Return what takes values of a dataclass of texts, by names."""

    def taken(said: Any) -> Any:
        good = isinstance(said, Mapping) and all(
            isinstance(key, str) and isinstance(value, kind) and all(isinstance(t, str) for t in vars(value).values())
            for key, value in said.items()
        )
        return said if good else _NO_ANSWER

    return taken


_ANSWERS = {
    "assign": _Answer("SQL for a start and an end, a list of such pairs, or SQL for an array of structs", _windows),
    "merge": _Answer("SQL for a BOOLEAN, or None", _sql_or_none),
    "arrived": _Answer("Arrived, of texts, by name", _declared(Arrived)),
    "kept": _Answer("Kept, of texts, by name", _declared(Kept)),
    "on_rows": _Answer("SQL for a BOOLEAN, or None", _sql_or_none),
    "on_watermark": _Answer("SQL for a TIMESTAMP, or None", _sql_or_none),
    "on_time": _Answer("SQL for a TIMESTAMP, or None", _sql_or_none),
}
"""By the names of the methods that users define."""


def asked(place: Span, name: str, own: object, part: str, *given: Any) -> Any:
    """Return what a method of the user's says.

    Args:
        place: the name in the statement.
        name: that of the file.
        own: what the file defines.
        part: a key of ``_ANSWERS``.
        given: the arguments.

    Raises:
        WarehouseError: there is no such method, it takes other arguments, fails, or returns something else.
    """
    method = _method(place, name, own, part, *given)
    wanted = _ANSWERS[part]
    with blamed_on(f"{name}.py", place):
        said = method(*given)
        taken = wanted.taken(said)
    if taken is _NO_ANSWER:
        found = "None" if said is None else f"a value of type {type(said).__name__}"
        if isinstance(said, (tuple, list, Mapping)):
            found += " with something else in it"
        broken(place, name, f"{part} returned {found}, and is to return {wanted.words}")
    return taken


def _method(place: Span, name: str, own: object, part: str, *given: Any) -> Callable[..., Any]:
    """Return a method of the user's that takes these arguments."""
    with blamed_on(f"{name}.py", place):
        method = getattr(own, part)
        signature = inspect.signature(method) if callable(method) else None
    if signature is None:
        broken(place, name, f"{part} is a value of type {type(method).__name__}, and is to be a method")
    try:
        signature.bind(*given)
    except TypeError:
        takes = [p for p in parameters(method) if p != "window"]
        fail("WAREHOUSE_UDF_ARGUMENTS", place, name=name, takes=", ".join(takes) or "none")
    return cast(Callable[..., Any], method)


def parameters(method: Callable[..., Any]) -> list[str]:
    """Return the names of what a method takes."""
    return list(inspect.signature(method).parameters)


def broken(place: Span, name: str, reason: str) -> NoReturn:
    """Refuse what the file of a name says."""
    fail("WAREHOUSE_UDF_BROKEN", place, file=f"{name}.py", reason=reason)
