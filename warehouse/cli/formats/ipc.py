"""Arrow's streaming format: every result is a whole stream of its own, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa


def write_arrow(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO, width: int | None = None) -> None:
    """Write one IPC stream, ended by its marker, so that a reader can open the next one behind it."""
    with pa.ipc.new_stream(pa.PythonFile(out, mode="w"), schema) as stream:
        for batch in batches:
            stream.write_batch(batch)
            out.flush()
