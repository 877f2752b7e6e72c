"""Spark's types as text that Spark can read again."""

from __future__ import annotations

from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from warehouse.catalog.entries import quote_name


def type_text(kind: DataType) -> str:
    """Return Spark's ``simpleString`` of a type, with field names quoted where they have to be.

    Lengths of CHAR and VARCHAR are left out: files keep none.
    """
    match kind:
        case StructType():
            return f"struct<{','.join(f'{quote_name(f.name)}:{type_text(f.dataType)}' for f in kind.fields)}>"
        case ArrayType():
            return f"array<{type_text(kind.elementType)}>"
        case MapType():
            return f"map<{type_text(kind.keyType)},{type_text(kind.valueType)}>"
    text = kind.simpleString()
    return "string" if text.startswith(("char(", "varchar(")) else text
