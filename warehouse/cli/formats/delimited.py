r"""CSV (RFC 4180 quoting) and TSV (PostgreSQL's escapes), streamed.

CSV: a null is an empty field, an empty string ``""``; lines end with a line feed. TSV: one line per row whatever
the cells hold, because tabs, line breaks and backslashes become ``\t``, ``\n``, ``\r``, ``\\``; a null is ``\N``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from warehouse.cli.formats.cells import pieces, texts


def write_csv(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO, width: int | None = None) -> None:
    """Write one result as CSV with a header."""
    _write(schema, batches, out, _csv, ",", "")


def write_tsv(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO, width: int | None = None) -> None:
    """Write one result as TSV with a header."""
    _write(schema, batches, out, _tsv, "\t", "\\N")


def _write(
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    out: BinaryIO,
    field: Callable[[pa.Array], pa.Array],
    between: str,
    null: str,
) -> None:
    header = field(pa.array(schema.names, pa.string())).to_pylist()
    out.write((between.join(header) + "\n").encode())
    for batch in pieces(batches):
        fields = (pc.fill_null(field(texts(column)), null) for column in batch.columns)
        lines = pc.binary_join_element_wise(*fields, between)
        out.write(("\n".join(lines.to_pylist()) + "\n").encode())
        out.flush()


def _csv(array: pa.Array) -> pa.Array:
    quote = pc.match_substring_regex(array, '[",\r\n]|^$')
    if not pc.any(quote).as_py():
        return array
    return pc.if_else(quote, pc.binary_join_element_wise('"', pc.replace_substring(array, '"', '""'), '"', ""), array)


def _tsv(array: pa.Array) -> pa.Array:
    if not pc.any(pc.match_substring_regex(array, r"[\\\t\r\n]")).as_py():
        return array
    for raw, escape in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r")):
        array = pc.replace_substring(array, raw, escape)
    return array
