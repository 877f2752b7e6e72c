"""Generators of your own: a function in ``udfs/<name>.py``, declared by a decorator, is called by GENERATE.

Example:
    >>> @generator(returns="*, parts INT")
    ... def parted(frame: "DataFrame", parts: int = 2) -> "DataFrame":
    ...     '''Say into how many parts each row is cut.'''
    ...     return frame.selectExpr("*", f"{parts} AS parts")
    >>> parted.name, [(p.name, p.type, p.default) for p in parted.parameters]
    ('parted', [('parts', 'INT', '2')])
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TYPES = {
    int: "INT", float: "DOUBLE", str: "STRING", bool: "BOOLEAN",
    list[int]: "ARRAY<INT>", list[float]: "ARRAY<DOUBLE>", list[str]: "ARRAY<STRING>",
}  # fmt: skip
"""What a parameter may be, and what SQL calls it."""


@dataclass(frozen=True)
class OwnParameter:
    """A parameter of a generator; ``default`` is text, None where it must be given."""

    name: str
    type: str
    default: str | None


@dataclass(frozen=True)
class Generator:
    """A function that GENERATE calls.

    Attributes:
        returns: the columns of its rows, as DDL; a leading ``*`` stands for those of its input.
    """

    name: str
    function: Callable[..., DataFrame]
    returns: str
    doc: str
    parameters: tuple[OwnParameter, ...]

    def __call__(self, frame: DataFrame, **values: Any) -> DataFrame:
        """Return the rows that the function makes of those of ``frame``."""
        return self.function(frame, **values)


def generator(returns: str) -> Callable[[Callable[..., DataFrame]], Generator]:
    """Declare a function to be a generator.

    Its first parameter gets the input's rows as a DataFrame; the others are what the user writes, by name or in
    order, each annotated with one of ``int float str bool list[int] list[float] list[str]``. Its docstring is what
    DESCRIBE GENERATOR shows.

    Args:
        returns: the columns of the DataFrame that it returns, as DDL: ``"user STRING, clicks BIGINT"``; a leading
            ``*`` stands for the input's columns: ``"*, clicks BIGINT"``.

    Raises:
        TypeError: ``returns`` is no text, the function has no parameter for the rows, or one whose annotation is none
            of these.
    """
    if not isinstance(returns, str):
        raise TypeError(f'returns is a value of type {type(returns).__name__}, not text such as "*, clicks BIGINT"')

    def declare(function: Callable[..., DataFrame]) -> Generator:
        listed = list(inspect.signature(function).parameters.values())
        if not listed:
            raise TypeError(f"{function.__name__} has no parameter for the input's rows")
        names = {**vars(typing), "DataFrame": Any, **function.__globals__}
        parameters = []
        for parameter in listed[1:]:
            declared = parameter.annotation
            kind = eval(declared, names) if isinstance(declared, str) else declared
            if kind not in TYPES:
                raise TypeError(f"{parameter.name} of {function.__name__} is annotated with none of the known types")
            default = None if parameter.default is parameter.empty else str(parameter.default)
            parameters.append(OwnParameter(parameter.name, TYPES[kind], default))
        return Generator(function.__name__, function, returns, inspect.getdoc(function) or "", tuple(parameters))

    return declare
