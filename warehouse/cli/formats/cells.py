"""Arrow arrays in, arrays of text out: as Spark casts a value to STRING, and as JSON.

Column by column in Arrow's own kernels, so that a large result costs little more than its scan. ``texts`` keeps
nulls; ``literals`` writes them as ``null``. Nested values are JSON in both.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from warehouse.engine import Json, unique_names

ROWS = 16_384
"""Rows that are turned into text at once."""


def pieces(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return the batches cut to at most ``ROWS`` rows, without empty ones."""
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS):
            yield batch.slice(start, ROWS)


def texts(array: pa.Array) -> pa.Array:
    """Return each value as ``CAST(value AS STRING)`` writes it; nested values as JSON, binary as hex digits."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return texts(array.dictionary_decode())
    if isinstance(kind, Json):
        return pa.array(array.to_pylist(), pa.string())
    if pa.types.is_floating(kind):
        return _floats(array)
    if pa.types.is_decimal(kind):
        return _decimals(array)
    if pa.types.is_timestamp(kind):
        return _trimmed(_wall(array))
    if pa.types.is_time(kind):
        return _trimmed(array.cast(pa.time64("us")).cast(pa.string()))
    if pa.types.is_duration(kind):
        return _each(array.cast(pa.duration("us")).cast(pa.int64()), _day_time)
    if pa.types.is_interval(kind):
        return _each(array, _calendar)
    if _is_binary(kind):
        return _each(array, lambda value: value.hex().upper())
    if pa.types.is_nested(kind):
        return _where_valid(array, literals(array))
    return array.cast(pa.string())


def literals(array: pa.Array) -> pa.Array:
    """Return each value as JSON; a null is ``null``, a timestamp ISO 8601, binary base64, NaN the string ``NaN``."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return literals(array.dictionary_decode())
    if isinstance(kind, Json):
        return pc.fill_null(array.storage, "null")
    if pa.types.is_floating(kind):
        text = _floats(array)
        out = pc.if_else(pc.is_finite(array), text, pc.binary_join_element_wise('"', text, '"', ""))
    elif pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        out = texts(array)
    elif pa.types.is_timestamp(kind):
        out = pc.binary_join_element_wise('"', _iso(array), '"', "")
    elif _is_binary(kind):
        out = _each(array, lambda value: f'"{base64.b64encode(value).decode()}"')
    elif pa.types.is_map(kind):
        keys, items = _inside(array, array.keys), _inside(array, array.items)
        pairs = pc.binary_join_element_wise(quoted(texts(keys)), literals(items), ":")
        out = _lists(array, pairs, "{", "}")
    elif pa.types.is_struct(kind):
        out = objects(_names(kind), array.flatten(), len(array))
    elif pa.types.is_nested(kind):
        if pa.types.is_fixed_size_list(kind):
            array = array.cast(pa.list_(kind.value_type))
        out = _lists(array, literals(_inside(array, array.values)), "[", "]")
    else:
        out = quoted(texts(array))
    return pc.fill_null(_where_valid(array, out), "null")


def objects(names: list[str], columns: list[pa.Array], rows: int) -> pa.Array:
    """Return one JSON object per row."""
    if not columns:
        return pa.array(["{}"] * rows)
    parts: list[pa.Array | str] = []
    for at, (name, column) in enumerate(zip(names, columns, strict=True)):
        parts += [("{" if at == 0 else ",") + json.dumps(name, ensure_ascii=False) + ":", literals(column)]
    return pc.binary_join_element_wise(*parts, "}", "")


def quoted(array: pa.Array) -> pa.Array:
    """Return strings as JSON strings; nulls stay."""
    plain = pc.binary_join_element_wise('"', array, '"', "")
    special = pc.match_substring_regex(array, r'["\\\x00-\x1f\x7f]')
    if not pc.any(special).as_py():
        return plain
    escaped = [json.dumps(value, ensure_ascii=False) for value in array.filter(special).to_pylist()]
    return pc.replace_with_mask(plain, pc.fill_null(special, False), pa.array(escaped, pa.string()))


def is_number(kind: pa.DataType) -> bool:
    """Say whether values of this type stand on the right of a column."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def _names(kind: pa.StructType) -> list[str]:
    return unique_names([kind.field(at).name for at in range(kind.num_fields)])


def _is_binary(kind: pa.DataType) -> bool:
    return any(check(kind) for check in (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary))


def _where_valid(array: pa.Array, text: pa.Array) -> pa.Array:
    return pc.if_else(array.is_valid(), text, pa.scalar(None, pa.string()))


def _each(array: pa.Array, render: Callable[..., str]) -> pa.Array:
    return pa.array([None if value is None else render(value) for value in array.to_pylist()], pa.string())


def _inside(array: pa.Array, values: pa.Array) -> pa.Array:
    """Return those of the values that a list array, which may be a slice, covers."""
    first, last = array.offsets[0].as_py(), array.offsets[-1].as_py()
    return values.slice(first, last - first)


def _lists(array: pa.Array, values: pa.Array, opening: str, closing: str) -> pa.Array:
    offsets = pc.subtract(array.offsets, array.offsets[0]).cast(pa.int32())
    joined = pc.binary_join(pa.ListArray.from_arrays(offsets, values), ",")
    return pc.binary_join_element_wise(opening, joined, closing, "")


def _floats(array: pa.Array) -> pa.Array:
    """Write floating-point numbers as Java does: ``1.0``, ``1.0E10``, ``NaN``, ``Infinity``."""
    text = array.cast(pa.string())
    size = pc.abs(array)
    plain = pc.or_(pc.equal(size, 0), pc.and_(pc.greater_equal(size, 1e-3), pc.less(size, 1e7)))
    pointed = pc.match_substring(text, ".")
    text = pc.if_else(pc.and_(plain, pc.invert(pointed)), pc.binary_join_element_wise(text, ".0", ""), text)
    odd = pc.fill_null(pc.invert(plain), False)
    if not pc.any(odd).as_py():
        return text
    return pc.replace_with_mask(text, odd, _each(text.filter(odd), _scientific))


def _scientific(text: str) -> str:
    """Return Java's form of a number that it writes with an exponent.

    Example:
        >>> _scientific("1e+10"), _scientific("0.00015"), _scientific("-inf")
        ('1.0E10', '1.5E-4', '-Infinity')
    """
    if text.lstrip("-") in ("inf", "nan"):
        return text.replace("inf", "Infinity").replace("-nan", "NaN").replace("nan", "NaN")
    number = Decimal(text).normalize()
    sign, digits, _ = number.as_tuple()
    first, *rest = (str(digit) for digit in digits)
    return f"{'-' if sign else ''}{first}.{''.join(rest) or '0'}E{number.adjusted()}"


def _decimals(array: pa.Array) -> pa.Array:
    text = array.cast(pa.string())
    odd = pc.fill_null(pc.match_substring(text, "E"), False)
    if not pc.any(odd).as_py():
        return text
    return pc.replace_with_mask(text, odd, _each(text.filter(odd), lambda value: f"{Decimal(value):f}"))


def _utc(array: pa.Array) -> pa.Array:
    return array.cast(pa.timestamp("us", array.type.tz)).cast(pa.timestamp("us"))


def _wall(array: pa.Array) -> pa.Array:
    """Return ``2013-01-01 05:00:00.000000`` on the wall clock of the column's zone."""
    if array.type.tz in (None, "UTC", "Etc/UTC", "Z", "+00:00"):
        return _utc(array).cast(pa.string())
    return pc.local_timestamp(array.cast(pa.timestamp("us", array.type.tz))).cast(pa.string())


def _trimmed(text: pa.Array) -> pa.Array:
    """Drop the zeros that end a fraction of a second, and its point when nothing is left."""
    return pc.replace_substring_regex(text, r"\.?0*$", "")


def _iso(array: pa.Array) -> pa.Array:
    text = pc.replace_substring(_trimmed(_wall(array)), " ", "T")
    zone = array.type.tz
    if zone is None:
        return text
    if zone in ("UTC", "Etc/UTC", "Z", "+00:00"):
        return pc.binary_join_element_wise(text, "Z", "")
    local = pc.local_timestamp(array.cast(pa.timestamp("us", zone)))
    seconds = pc.divide(pc.subtract(local, _utc(array)).cast(pa.int64()), 1_000_000).dictionary_encode()
    offsets = pa.array([_offset(value) for value in seconds.dictionary.to_pylist()], pa.string())
    return pc.binary_join_element_wise(text, offsets.take(seconds.indices), "")


def _offset(seconds: int) -> str:
    minutes, rest = divmod(abs(seconds), 60)
    text = f"{'-' if seconds < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"
    return f"{text}:{rest:02}" if rest else text


def _day_time(micros: int) -> str:
    seconds, fraction = divmod(abs(micros), 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    point = f".{fraction:06}".rstrip("0") if fraction else ""
    sign = "-" if micros < 0 else ""
    return f"INTERVAL '{sign}{days} {hours:02}:{minutes:02}:{seconds:02}{point}' DAY TO SECOND"


def _calendar(value: pa.MonthDayNano) -> str:
    years, months = divmod(abs(value.months), 12)
    sign = -1 if value.months < 0 else 1
    seconds = Decimal(value.nanoseconds) / 1_000_000_000
    parts = ((sign * years, "years"), (sign * months, "months"), (value.days, "days"), (seconds.normalize(), "seconds"))
    return " ".join(f"{amount:f} {unit}" if unit == "seconds" else f"{amount} {unit}" for amount, unit in parts if amount) or "0 seconds"  # fmt: skip  # noqa: E501
