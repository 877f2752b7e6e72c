"""The layout in which every source gives its rows: the stream's columns, then ``BAD`` and ``POSITION``."""

from __future__ import annotations

from collections.abc import Container, Iterable

from pyspark.sql.types import StructType

from warehouse.catalog.entries import Column, StreamEntry
from warehouse.execution.spark_errors import raising
from warehouse.planning.streams.streams import RESERVED_PREFIX

BAD = f"{RESERVED_PREFIX}bad"
"""STRING: the text of a record that did not parse, else NULL."""

POSITION = f"{RESERVED_PREFIX}position"
"""STRING: where a row came from: its file as a URI, ``topic-partition@offset``; NULL where the source has neither."""

WHY = f"{RESERVED_PREFIX}why"
"""STRING: why a bad row is set aside; the column may be missing: then every bad row is one that did not parse."""

OFFSETS_LOST = "OFFSETS_LOST"
"""Why a row is set aside that no record came with: it tells of records that were gone."""

ARRIVAL_IS_NULL = "ARRIVAL_IS_NULL"
"""Why a row of a replay is set aside that says of no time that it arrived then."""


def quoted(name: str) -> str:
    """Return ``name`` in backticks: what Spark's column functions need for every name that is data."""
    return "`" + name.replace("`", "``") + "`"


def free_name(name: str, taken: Container[str]) -> str:
    """Return ``name`` with as many underscores in front as it takes not to be among those ``taken``, in lower case."""
    while name.lower() in taken:
        name = f"_{name}"
    return name


def schema_of(columns: Iterable[Column]) -> StructType:
    """Return a Spark schema of ``columns``."""
    return StructType.fromDDL(", ".join(f"{quoted(c.name)} {c.type}" for c in columns))


def broken(entry: StreamEntry, where: str) -> str:
    """Return SQL that raises the error of a broken record, which is ``where``."""
    record = {
        "file": where,
        "record": f"left(regexp_replace(trim(coalesce({BAD}, 'a row that never arrives')), '\\\\s+', ' '), 200)",
    }
    return raising("WAREHOUSE_BAD_RECORD", record, name=entry.qualified)
