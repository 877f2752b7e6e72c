"""Arrow's streaming format: every result is a whole stream of its own, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa

from warehouse.cli.formats.cells import texts
from warehouse.engine import Json


def write_arrow(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO, width: int | None = None) -> None:
    """Write one IPC stream, ended by its marker, so that a reader can open the next one behind it."""
    schema = pa.schema([field.with_type(pa.string()) if isinstance(field.type, Json) else field for field in schema])
    with pa.ipc.new_stream(pa.PythonFile(out, mode="w"), schema) as stream:
        for batch in batches:
            columns = [texts(column) if isinstance(column.type, Json) else column for column in batch.columns]
            stream.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
            out.flush()
