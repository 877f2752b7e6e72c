"""For people: boxed tables, Markdown tables, and one field per line.

Widths come from the first ``SAMPLE`` rows; a wider cell further down pushes its line out instead of being cut.
Only on a terminal is anything left out: cells end in ``…``, and columns in the middle give way to a ``…`` column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from warehouse.cli.formats.cells import is_number, pieces, texts
from warehouse.cli.widths import clip, display_width, pad

SAMPLE = 10_000
NARROWEST = 8
"""A column of text is not made narrower than this to fit the terminal; whole columns go instead."""

Row = tuple[str, ...]


def write_table(schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO, width: int | None = None) -> None:
    """Write a boxed table; ``width`` is the terminal's, or None for no limit."""
    rows, sample = _sampled(batches, _one_line)
    header = tuple(map(_one_line, schema.names))
    widths = _widths(header, sample)
    shown: Sequence[int | None] = range(len(header))
    if width is not None:
        widths, shown = fit(widths, [_is_whole(field.type) for field in schema], width)
    right = [at is not None and is_number(schema.field(at).type) for at in shown]

    def line(cells: Row) -> str:
        picked = ("…" if at is None else cells[at] for at in shown)
        padded = (
            pad(clip(cell, size) if width is not None else cell, size, end)
            for cell, size, end in zip(picked, widths, right, strict=True)
        )
        return f"│ {' │ '.join(padded)} │\n"

    def rule(left: str, middle: str, end: str) -> str:
        return left + middle.join("─" * (size + 2) for size in widths) + end + "\n"

    out.write((rule("┌", "┬", "┐") + line(header) + rule("├", "┼", "┤")).encode())
    _write_lines(out, (line(row) for row in rows))
    out.write(rule("└", "┴", "┘").encode())


def write_markdown(
    schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO, width: int | None = None
) -> None:
    """Write a Markdown table (GitHub's)."""
    rows, sample = _sampled(batches, _markdown)
    header = tuple(map(_markdown, schema.names))
    widths = [max(3, size) for size in _widths(header, sample)]
    right = [is_number(field.type) for field in schema]

    def line(cells: Row) -> str:
        return f"| {' | '.join(map(pad, cells, widths, right))} |\n"

    rules = ("-" * (size + 1) + (":" if end else "-") for size, end in zip(widths, right, strict=True))
    out.write((line(header) + f"|{'|'.join(rules)}|\n").encode())
    _write_lines(out, (line(row) for row in rows))


def write_vertical(
    schema: pa.Schema, batches: Iterator[pa.RecordBatch], out: BinaryIO, width: int | None = None
) -> None:
    """Write one field per line under a numbered rule per row."""
    names = [_one_line(name) for name in schema.names]
    size = max(map(display_width, names), default=0)
    labels = [pad(name, size, False) for name in names]

    def record(number: int, cells: Row) -> str:
        head = f"-[ RECORD {number} ]".ljust(size + 3, "-")
        fields = (f"{label} | {_hanging(cell, size)}" for label, cell in zip(labels, cells, strict=True))
        return "\n".join([head, *fields]) + "\n"

    rows = chain.from_iterable(_rows(piece, str) for piece in pieces(batches))
    _write_lines(out, (record(number, row) for number, row in enumerate(rows, 1)))


def fit(widths: list[int], whole: list[bool], width: int) -> tuple[list[int], Sequence[int | None]]:
    """Return widths and column numbers that fit into ``width``; None stands for the columns left out.

    A column that must stay ``whole`` is shown in full or left out.

    Example:
        >>> fit([4, 40], [True, False], 30)
        ([4, 19], range(0, 2))
        >>> fit([3, 3], [True, True], 30)
        ([3, 3], range(0, 2))
        >>> fit([9, 9, 9, 9], [False] * 4, 30)
        ([8, 1, 8], [0, None, 3])
    """
    columns = range(len(widths))
    for cap in range(max(*widths, NARROWEST), NARROWEST - 1, -1):
        sizes = [size if keep else min(size, cap) for size, keep in zip(widths, whole, strict=True)]
        if _total(sizes) <= width:
            return sizes, columns
    shown: list[int | None] = [*columns]
    for left_out in _from_the_middle(len(widths)):
        shown = [at for at in shown if at is not None and at != left_out]
        shown.insert(sum(at < left_out for at in shown if at is not None), None)
        kept = [1 if at is None else sizes[at] for at in shown]
        if _total(kept) <= width:
            break
    return [1 if at is None else sizes[at] for at in shown], shown


def _is_whole(kind: pa.DataType) -> bool:
    """Say whether values of this type say something else, or nothing, when they are cut short."""
    return is_number(kind) or pa.types.is_timestamp(kind) or pa.types.is_date(kind)


def _total(sizes: list[int]) -> int:
    """Return the width of a table with columns of these sizes."""
    return sum(sizes) + 3 * len(sizes) + 1


def _from_the_middle(count: int) -> list[int]:
    """Return all column numbers but the first, the middle ones before the outer ones."""
    return sorted(range(1, count), key=lambda at: abs(2 * at - count))


def _sampled(batches: Iterator[pa.RecordBatch], clean: Callable[[str], str]) -> tuple[Iterator[Row], list[Row]]:
    rows = chain.from_iterable(_rows(piece, clean) for piece in pieces(batches))
    sample = list(islice(rows, SAMPLE))
    return chain(sample, rows), sample


def _rows(batch: pa.RecordBatch, clean: Callable[[str], str]) -> Iterator[Row]:
    columns = []
    for column in batch.columns:
        text = pc.fill_null(texts(column), "NULL").to_pylist()
        columns.append(text if clean is str or is_number(column.type) else [clean(cell) for cell in text])
    return zip(*columns, strict=True)


def _widths(header: Row, rows: list[Row]) -> list[int]:
    return [max(map(display_width, column)) for column in zip(header, *rows, strict=True)]


def _write_lines(out: BinaryIO, lines: Iterator[str]) -> None:
    while chunk := list(islice(lines, 1_000)):
        out.write("".join(chunk).encode())
        out.flush()


_ESCAPES = {code: f"\\x{code:02x}" for code in (*range(32), 127)} | {9: "\\t", 10: "\\n", 13: "\\r"}


def _one_line(cell: str) -> str:
    """Return ``cell`` with control characters spelt out, so that it stays on its line."""
    return cell if cell.isprintable() else cell.translate(_ESCAPES)


def _markdown(cell: str) -> str:
    cell = cell.replace("|", "\\|").replace("\r\n", "<br>").replace("\n", "<br>")
    return _one_line(cell)


def _hanging(cell: str, size: int) -> str:
    lines = cell.split("\n")
    return f"\n{' ' * size} | ".join(_one_line(line) for line in lines)
