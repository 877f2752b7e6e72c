"""SQL text that remembers which words of the user each part of it stands for.

Rewriting never prints a syntax tree: it keeps the user's characters and replaces or moves spans of them. A
``Fragment`` is the result: a sequence of pieces, each copied from the user's text character by character, or
generated on behalf of a span. So a position in the rewritten text, as Spark reports it, leads back to the
words the user wrote.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from warehouse.errors import Span


@dataclass(frozen=True)
class Piece:
    """A stretch of text. ``origin`` is what it stands for; ``copied``: character by character."""

    text: str
    origin: Span | None = None
    copied: bool = False


@dataclass(frozen=True)
class Fragment:
    """Pieces in order.

    Example:
        >>> quoted("SELECT a", Span(7, 8)) + " + 1"
        Fragment('a + 1')
    """

    pieces: tuple[Piece, ...]

    @cached_property
    def text(self) -> str:
        """Return the whole text."""
        return "".join(piece.text for piece in self.pieces)

    def __add__(self, other: Fragment | str) -> Fragment:
        return Fragment(self.pieces + of(other).pieces)

    def __radd__(self, other: str) -> Fragment:
        return of(other) + self

    def __repr__(self) -> str:
        return f"Fragment({self.text!r})"

    def origin(self, start: int, end: int) -> Span | None:
        """Return the user's words behind [start, end) of the text, or None where everything was generated.

        What was generated on behalf of more than words that are there adds nothing to them, such as a CAST around them.
        """
        found: list[Span] = []
        copied: list[Span] = []
        at = 0
        for piece in self.pieces:
            first, last = max(start, at), min(max(end, start + 1), at + len(piece.text))
            if first < last and piece.origin is not None:
                if piece.copied:
                    copied.append(Span(piece.origin.start + first - at, piece.origin.start + last - at))
                else:
                    found.append(piece.origin)
            at += len(piece.text)
        found = copied + [s for s in found if not any(s.covers(words) for words in copied)]
        return Span(min(s.start for s in found), max(s.end for s in found)) if found else None

    def through(self, inner: Fragment) -> Fragment:
        """Return this fragment, a rewriting of ``inner.text``, with spans that point where those of ``inner`` do."""
        pieces: list[Piece] = []
        for piece in self.pieces:
            if piece.origin is None:
                pieces.append(piece)
            elif piece.copied:
                pieces += inner._slice(piece.origin)
            else:
                pieces.append(replace(piece, origin=inner.origin(piece.origin.start, piece.origin.end)))
        return Fragment(tuple(pieces))

    def _slice(self, span: Span) -> list[Piece]:
        pieces, at = [], 0
        for piece in self.pieces:
            first, last = max(span.start, at), min(span.end, at + len(piece.text))
            if first < last:
                origin = piece.origin
                if origin is not None and piece.copied:
                    origin = Span(origin.start + first - at, origin.start + last - at)
                pieces.append(replace(piece, text=piece.text[first - at : last - at], origin=origin))
            at += len(piece.text)
        return pieces

    def standing_for(self, span: Span) -> Fragment:
        """Return the same text, generated on behalf of ``span`` as a whole."""
        return Fragment((Piece(self.text, span),))


def of(value: Fragment | str) -> Fragment:
    """Return ``value`` as a fragment; a string stands for nothing of the user's."""
    return value if isinstance(value, Fragment) else Fragment((Piece(value),))


def quoted(text: str, span: Span) -> Fragment:
    """Return the user's words at ``span`` of ``text``."""
    return Fragment((Piece(span.of(text), span, copied=True),))


def rewritten(text: str, span: Span, edits: Iterable[tuple[Span, Fragment | str]]) -> Fragment:
    """Return the user's words at ``span`` with some spans inside it replaced.

    Args:
        text: the user's text.
        span: the part to copy.
        edits: what to replace by what; an empty span inserts. Edits outside ``span`` are left out.

    Raises:
        ValueError: two edits overlap (a bug of ours).
    """
    pieces: list[Piece] = []
    at = span.start
    for place, replacement in sorted(edits, key=lambda e: (e[0].start, e[0].end)):
        if not span.covers(place):
            continue
        if place.start < at:
            raise ValueError(f"edits overlap at {place}")
        pieces.append(Piece(text[at : place.start], Span(at, place.start), copied=True))
        if isinstance(replacement, str):
            pieces.append(Piece(replacement, place))
        else:
            pieces.extend(p if p.origin else Piece(p.text, place) for p in replacement.pieces)
        at = place.end
    pieces.append(Piece(text[at : span.end], Span(at, span.end), copied=True))
    return Fragment(tuple(p for p in pieces if p.text))


def joined(separator: str, parts: Iterable[Fragment | str]) -> Fragment:
    """Return the parts with ``separator`` between them."""
    out: tuple[Piece, ...] = ()
    for number, part in enumerate(parts):
        if number:
            out += (Piece(separator),)
        out += of(part).pieces
    return Fragment(out)
