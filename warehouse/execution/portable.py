"""Rows with types, and strings, that Arrow, and who reads it, can take."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructField

_AS_TEXT = frozenset({"variant", "yearmonthinterval", "interval"})
"""Types that Arrow has none for, or, as for VARIANT, one that says nothing."""


_JSON = "__w_json"
"""The one field of the struct in which a VARIANT travels, so that whoever reads it knows that it is JSON."""


class Json(pa.ExtensionType):
    """A VARIANT, kept as JSON; to Python it is the text that Spark casts it to."""

    def __init__(self) -> None:
        """Return the type."""
        super().__init__(pa.string(), "warehouse.json")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> Json:
        return cls()

    def __arrow_ext_scalar_class__(self) -> type:
        return _JsonScalar


class _JsonScalar(pa.ExtensionScalar):
    def as_py(self, **given: Any) -> str | None:
        text = self.value.as_py() if self.value is not None else None
        return json.loads(text) if text and text.startswith('"') else text


def unpacked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch of what ``portable`` gave with each VARIANT in a column of its type."""
    if not any(map(_is_packed, batch.schema.types)):
        return batch
    columns = [
        pa.ExtensionArray.from_storage(Json(), column.flatten()[0]) if _is_packed(column.type) else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, schema=unpacked_schema(batch.schema))


def unpacked_schema(schema: pa.Schema) -> pa.Schema:
    """Return the schema of what ``unpacked`` returns."""
    return pa.schema([field.with_type(Json()) if _is_packed(field.type) else field for field in schema])


def _is_packed(kind: pa.DataType) -> bool:
    return pa.types.is_struct(kind) and kind.num_fields == 1 and kind.field(0).name == _JSON


def portable(frame: DataFrame) -> DataFrame:
    """Return ``frame`` with text for types that Arrow readers do not know, and with fields as they may be.

    A VARIANT that is a column is packed into a struct of its JSON, to be ``unpacked`` where it is read.

    A field that is never NULL has no value where its struct is NULL, and PyArrow refuses that, as it does the elements
    of an empty list, which are of no type and never NULL, and two fields of a name.
    """
    from pyspark.sql import functions as F

    wanted = [_wanted(f.dataType) for f in frame.schema.fields]
    if not any(wanted):
        return frame
    apart = frame.toDF(*(f"c{i}" for i in range(len(wanted))))  # a result's names may be any, and the same twice

    def carried(column: Column, field: StructField, kind: DataType | None) -> Column:
        if field.dataType.typeName() == "variant":
            return F.struct(F.to_json(column).alias(_JSON))
        return column.cast(kind) if kind else column

    chosen = map(carried, (F.col(name) for name in apart.columns), frame.schema.fields, wanted)
    return apart.select(*(column.alias(name) for column, name in zip(chosen, frame.columns, strict=True)))


def _wanted(kind: DataType) -> DataType | None:
    """Return the type that a column gets instead; None where it keeps its own."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    known = _known(kind)
    inside = known != kind or "struct<" in kind.simpleString() or "void" in kind.simpleString()
    if inside and isinstance(known, StructType | ArrayType | MapType):
        known = known.toNullable()
    return known if known != kind else None


def _known(kind: DataType) -> DataType:
    """Return a type with STRING for all in it that Arrow does not know, and the fields of a struct told apart."""
    from pyspark.sql.types import ArrayType, MapType, NullType, StringType, StructField, StructType

    match kind:
        case ArrayType():
            return ArrayType(_known(kind.elementType), kind.containsNull)
        case MapType():
            key = StringType() if isinstance(kind.keyType, NullType) else _known(kind.keyType)
            return MapType(key, _known(kind.valueType), kind.valueContainsNull)
        case StructType():
            named = zip(unique_names(kind.names), kind, strict=True)
            return StructType([StructField(name, _known(f.dataType), f.nullable) for name, f in named])
    return StringType() if kind.typeName() in _AS_TEXT else kind


def readable(table: pa.Table) -> pa.Table:
    """Return ``table`` with U+FFFD for bytes that are not UTF-8, in strings at any depth."""
    if _is_valid(table):
        return table
    columns = (pa.chunked_array([_mended(c) for c in column.chunks], column.type) for column in table.columns)
    return pa.table(list(columns), schema=table.schema)


def _is_valid(data: pa.Table | pa.Array) -> bool:
    try:
        data.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _mended(array: pa.Array) -> pa.Array:
    kind = array.type
    if _is_valid(array):
        return array
    if pa.types.is_string(kind):
        given = array.cast(pa.binary()).to_pylist()
        return pa.array([None if v is None else v.decode(errors="replace") for v in given], kind)
    if pa.types.is_struct(kind):
        inside, own = [array.field(at) for at in range(kind.num_fields)], 1
    elif pa.types.is_list(kind) or pa.types.is_map(kind):
        inside, own = [array.values], 2
    else:
        return array
    mended = [_mended(child) for child in inside]
    return pa.Array.from_buffers(
        kind, len(array), array.buffers()[:own], array.null_count, array.offset, mended
    )  # fmt: skip


def zone_of(session: SparkSession) -> str:
    """Return the time zone of a session by the name that Arrow has for it: Spark also takes ``GMT+1`` and ``PST``."""
    zone = session.conf.get("spark.sql.session.timeZone") or "UTC"
    if zone == "UTC":
        return zone
    view = session._jvm
    assert view is not None
    name: str = view.org.apache.spark.sql.catalyst.util.DateTimeUtils.getZoneId(zone).normalized().getId()
    return "UTC" if name == "Z" else name


def zoned(table: pa.Table, zone: str) -> pa.Table:
    """Return the same instants with another time zone in their types than UTC."""
    if zone == "UTC":
        return table
    return table.cast(pa.schema([field.with_type(_zoned(field.type, zone)) for field in table.schema]))


def _zoned(kind: pa.DataType, zone: str) -> pa.DataType:
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, zone)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_zoned(field.type, zone)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_zoned(kind.value_type, zone)))
    if pa.types.is_map(kind):
        key, item = (field.with_type(_zoned(field.type, zone)) for field in (kind.key_field, kind.item_field))
        return pa.map_(key, item)
    return kind


def unique_names(names: list[str]) -> list[str]:
    """Return ``names`` with ``_1``, ``_2``, … behind repeated ones, as JSON keys must differ.

    Example:
        >>> unique_names(["n", "n", "n_1"])
        ['n', 'n_2', 'n_1']
    """
    seen: set[str] = set()
    out = []
    for name in names:
        new, count = name, 0
        while new in seen or (count and new in names):
            count += 1
            new = f"{name}_{count}"
        seen.add(new)
        out.append(new)
    return out
