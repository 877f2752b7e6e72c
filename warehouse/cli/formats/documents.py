"""JSON: one array per result (``json``) or one object per line (``jsonl``), streamed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import pyarrow as pa

from warehouse.cli.formats.cells import objects, pieces
from warehouse.engine import unique_names


def write_jsonl(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO, width: int | None = None) -> None:
    """Write one object per row and line; nothing at all for no rows."""
    for rows in _rows(schema, batches):
        out.write(("\n".join(rows) + "\n").encode())
        out.flush()


def write_json(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO, width: int | None = None) -> None:
    """Write one array of objects, one row per line; ``[]`` for no rows."""
    before = "["
    for rows in _rows(schema, batches):
        out.write((before + ",\n ".join(rows)).encode())
        out.flush()
        before = ",\n "
    out.write(b"[]\n" if before == "[" else b"]\n")


def _rows(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[list[str]]:
    names = unique_names(schema.names)
    for batch in pieces(batches):
        yield objects(names, batch.columns, batch.num_rows).to_pylist()
