"""Arrow batches in, bytes out: one function per format, all of one shape.

A format writes one result to a binary stream, batch by batch, and never holds more than a bounded sample of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa

from warehouse.cli.formats.aligned import write_markdown, write_table, write_vertical
from warehouse.cli.formats.delimited import write_csv, write_tsv
from warehouse.cli.formats.documents import write_json, write_jsonl
from warehouse.cli.formats.ipc import write_arrow


@dataclass(frozen=True)
class Format:
    """How one result is written.

    Attributes:
        write: takes schema, batches, the stream, and the terminal's width (None when not on a terminal).
        gap: an empty line stands between two results.
        binary: not for a terminal.
    """

    write: Callable[[pa.Schema, Iterator[pa.RecordBatch], BinaryIO, int | None], None]
    gap: bool = False
    binary: bool = False


FORMATS = {
    "table": Format(write_table, gap=True),
    "csv": Format(write_csv),
    "tsv": Format(write_tsv),
    "json": Format(write_json),
    "jsonl": Format(write_jsonl),
    "markdown": Format(write_markdown, gap=True),
    "vertical": Format(write_vertical, gap=True),
    "arrow": Format(write_arrow, binary=True),
}
