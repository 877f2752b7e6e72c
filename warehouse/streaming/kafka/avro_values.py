"""Avro values decoded with ``fastavro``, in Arrow batches: Spark's own ``from_avro`` is in a jar of its own."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import BooleanType, StructField, StructType

from warehouse.catalog.entries import Column, quote_name
from warehouse.errors import fail

_PLAIN = {
    "boolean": "boolean", "int": "int", "long": "bigint", "float": "float", "double": "double", "bytes": "binary",
    "string": "string", "enum": "string", "fixed": "binary",
}  # fmt: skip
_LOGICAL = {
    "date": "date", "timestamp-millis": "timestamp", "timestamp-micros": "timestamp", "uuid": "string",
    "local-timestamp-millis": "timestamp_ntz", "local-timestamp-micros": "timestamp_ntz",
}  # fmt: skip


def columns(schema: str) -> tuple[Column, ...]:
    """Return the columns that the record of an Avro schema has, in Spark's types.

    Example:
        >>> columns('{"type": "record", "name": "r", "fields": [{"name": "a", "type": ["null", "long"]}]}')
        (Column(name='a', type='bigint', comment=None),)

    Raises:
        WarehouseError: it is no Avro schema, none of a record, or has a type without a counterpart.
    """
    parsed = _parsed(schema)
    if not isinstance(parsed, dict) or parsed.get("type") != "record":
        fail("WAREHOUSE_KAFKA_AVRO_SCHEMA", reason="the value is no record")
    return tuple(Column(field["name"], _type(field["type"]), field.get("doc")) for field in parsed["fields"])


def decoder(schema: str, kind: StructType, bad: str) -> Callable[..., Any]:
    """Return a Spark function from the bytes of a value to its columns.

    Args:
        schema: the Avro schema, as text.
        kind: the columns in Spark's types.
        bad: the name of one more column, TRUE where the bytes are no such value.
    """
    result = StructType([*kind.fields, StructField(bad, BooleanType())])

    @F.arrow_udf(result)  # type: ignore[arg-type, untyped-decorator, unused-ignore]
    def decode(values: pa.Array) -> pa.Array:
        from fastavro import parse_schema, schemaless_reader

        known = parse_schema(json.loads(schema))
        rows = []
        for value in values:
            data = value.as_py()
            if data is None:
                rows.append({bad: False})
                continue
            source = io.BytesIO(data)
            try:
                row = schemaless_reader(source, known, None)
                whole = source.tell() == len(data)
            except Exception:  # fastavro tells of broken bytes by whatever they lead it into
                whole = False
            rows.append(row | {bad: False} if whole else {bad: True})
        return pa.array([_plain(row) for row in rows], to_arrow_type(result, timezone="UTC"))

    return decode


def _plain(value: Any) -> Any:
    """Return a decoded value in the types that Arrow takes: an UUID as text."""
    match value:
        case dict():
            return {name: _plain(part) for name, part in value.items()}
        case list():
            return [_plain(part) for part in value]
    return str(value) if type(value).__name__ == "UUID" else value


def _parsed(schema: str) -> Any:
    """Return a schema with all names of types written out."""
    try:
        from fastavro.schema import expand_schema
    except ImportError:
        fail("WAREHOUSE_KAFKA_PACKAGE", package="fastavro")
    try:
        return expand_schema(json.loads(schema))
    except Exception as error:  # of many kinds: JSON's, fastavro's, and what a wrong shape leads to
        fail("WAREHOUSE_KAFKA_AVRO_SCHEMA", reason=str(error) or type(error).__name__)


def _type(avro: Any) -> str:
    """Return Spark's ``simpleString`` of an Avro type."""
    if isinstance(avro, list):
        return _union([part for part in avro if part != "null"])
    if isinstance(avro, str):
        return _PLAIN.get(avro) or _unknown(avro)
    if avro.get("logicalType") == "decimal":
        return f"decimal({avro['precision']},{avro.get('scale', 0)})"
    logical = avro.get("logicalType")
    if logical in _LOGICAL:
        return _LOGICAL[logical]
    if logical is not None and logical.startswith("time-"):
        return _unknown(logical)
    match avro["type"]:
        case "record":
            fields = (quote_name(f["name"]) + ":" + _type(f["type"]) for f in avro["fields"])
            return f"struct<{','.join(fields)}>"
        case "array":
            return f"array<{_type(avro['items'])}>"
        case "map":
            return f"map<string,{_type(avro['values'])}>"
        case inner:
            return _type(inner)


def _union(parts: list[Any]) -> str:
    """Return the type of a union without its null: of one type, or of numbers that fit into the wider one."""
    if len(parts) == 1:
        return _type(parts[0])
    for narrow, wide in (("int", "long"), ("float", "double")):
        if sorted(map(str, parts)) == [narrow, wide]:
            return _type(wide)
    return _unknown("union of several types")


def _unknown(avro: str) -> str:
    fail("WAREHOUSE_KAFKA_AVRO_SCHEMA", reason=f"{avro} has no type of Spark's that it could become")
