"""``--param k=v``: a word in, a name and a typed value out.

A value is read as Spark reads a literal: ``42`` is an integer, ``1.5`` a decimal, ``1.5e3`` a double, ``true``,
``false`` and ``null`` are themselves in any case, everything else is a string. ``'…'`` in quotes is a string
whatever it holds (``--param "zip='02139'"``), and so is a number that starts with a zero.
"""

from __future__ import annotations

import re
from decimal import Decimal

Value = int | Decimal | float | bool | str | None

_WORDS: dict[str, Value] = {"true": True, "false": False, "null": None}
_MOST_DIGITS = 38
"""Of a DECIMAL."""
_LONG = range(-(2**63), 2**63)


def parameter(word: str) -> tuple[str, Value]:
    """Return the name and value of ``k=v``.

    Raises:
        ValueError: there is no ``=``, or no name before it, or a number behind it that Spark has no type for.

    Example:
        >>> parameter("airport=JFK"), parameter("n=42"), parameter("zip='02139'")
        (('airport', 'JFK'), ('n', 42), ('zip', '02139'))
    """
    name, equals, text = word.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise ValueError(f"{word!r} is not of the form name=value")
    value = typed(text)
    if isinstance(value, Decimal) and _digits(value) > _MOST_DIGITS:
        raise ValueError(f"{name} has more than {_MOST_DIGITS} digits; a string is in quotes: \"{name}='…'\"")
    return name, value


def typed(text: str) -> Value:
    """Return ``text`` as the value it spells."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if re.fullmatch(r"-?(0|[1-9]\d*)", text):
        number = int(text)
        return number if number in _LONG else Decimal(text)
    if re.fullmatch(r"-?(0|[1-9]\d*)?\.\d+", text):
        return Decimal(text)
    if re.fullmatch(r"-?((0|[1-9]\d*)(\.\d*)?|\.\d+)[eE][+-]?\d+", text):
        return float(text)
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text


def written(value: Value) -> str:
    """Return the text that spells ``value``.

    Example:
        >>> written(None), written("42"), written(1500.0), written(Decimal("1E-7"))
        ('null', "'42'", '1500.0e0', '0.0000001')
    """
    match value:
        case None | bool():
            return str(value).lower() if value is not None else "null"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case float():
            return repr(value) if "e" in repr(value) else f"{value!r}e0"
        case Decimal():
            return format(value, "f")
    return str(value)


def _digits(number: Decimal) -> int:
    """Return how many digits a DECIMAL needs to hold a number without an exponent."""
    _, digits, exponent = number.as_tuple()
    return max(len(digits), -int(exponent))
