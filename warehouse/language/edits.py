"""Edits on a statement's own text, and the way back from the edited text to the user's words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warehouse.errors import Span


@dataclass(frozen=True)
class Piece:
    """A part of a replacement: text of ours (``origin`` None) or words of the user's, moved from ``origin``."""

    text: str
    origin: Span | None = None


@dataclass(frozen=True)
class Edit:
    """The words at ``span`` give way to ``pieces``."""

    span: Span
    pieces: tuple[Piece, ...]


def edit(span: Span, *pieces: str | Piece) -> Edit:
    """Return an edit; plain strings are text of ours."""
    return Edit(span, tuple(p if isinstance(p, Piece) else Piece(p) for p in pieces))


def moved(text: str, span: Span) -> Piece:
    """Return the user's words at ``span`` as a piece that remembers where they came from."""
    return Piece(span.of(text), span)


@dataclass(frozen=True)
class _Run:
    """A range of the edited text: copied from ``origin`` character by character, or standing for all of it."""

    start: int
    end: int
    origin: Span
    exact: bool


@dataclass(frozen=True)
class Edited:
    """The edited text with its source map.

    Attributes:
        text: what the edits made of the original.
        runs: its ranges in order, each with the place it came from.
    """

    text: str
    runs: tuple[_Run, ...]

    def origin(self, start: int, end: int) -> Span:
        """Return the words of the original that a range of the edited text comes from.

        A range inside a replacement maps to the span that was replaced, one inside moved words to exactly
        those words, one over several runs to everything between the first and the last of their places.
        """
        end = max(end, start)
        touched = [r for r in self.runs if r.start < end and start < r.end] or [self._run_at(start)]
        spans = [self._within(run, start, end) for run in touched]
        return Span(min(s.start for s in spans), max(s.end for s in spans))

    def _run_at(self, position: int) -> _Run:
        """Return the run that holds a position; behind the text, the last one."""
        for run in self.runs:
            if run.start <= position < run.end:
                return run
        last = self.runs[-1] if self.runs else _Run(0, 0, Span(0, 0), True)
        end = last.origin.end
        return _Run(last.end, last.end, Span(end, end), True)

    @staticmethod
    def _within(run: _Run, start: int, end: int) -> Span:
        if not run.exact:
            return run.origin
        first = run.origin.start + max(start - run.start, 0)
        return Span(first, max(first, run.origin.start + min(end, run.end) - run.start))


def apply(text: str, edits: Iterable[Edit]) -> Edited:
    """Return ``text`` with the edits made, and the map back.

    Edits at the same empty span are made in the order given.

    Example:
        >>> edited = apply("FROM s WINDOW GLOBAL", [edit(Span(5, 6), "(SELECT 1) s"), edit(Span(6, 20))])
        >>> edited.text, edited.origin(6, 12)
        ('FROM (SELECT 1) s', Span(start=5, end=6))

    Raises:
        ValueError: two edits overlap, or one reaches beyond the text: a bug of the caller's.
    """
    parts: list[str] = []
    runs: list[_Run] = []
    position, length = 0, 0

    def add(piece: str, origin: Span, exact: bool) -> None:
        nonlocal length
        if piece:
            parts.append(piece)
            runs.append(_Run(length, length + len(piece), origin, exact))
            length += len(piece)

    for one in sorted(edits, key=lambda e: (e.span.start, e.span.end)):
        if not position <= one.span.start <= one.span.end <= len(text):
            raise ValueError(f"edit at {one.span} overlaps another or reaches beyond the text")
        add(text[position : one.span.start], Span(position, one.span.start), True)
        for piece in one.pieces:
            if piece.origin is not None and piece.origin.of(text) != piece.text:
                add(piece.text, piece.origin, False)
            else:
                add(piece.text, piece.origin or one.span, piece.origin is not None)
        position = one.span.end
    add(text[position:], Span(position, len(text)), True)
    return Edited("".join(parts), tuple(runs))
