"""The options of CREATE STREAM: their values, where they stand in the text, and which known name was meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from warehouse.errors import Span
from warehouse.language.statements import CreateStream, CreateStreamingTable
from warehouse.language.tokens import Kind, tokenize_prefix


def option(statement: CreateStream, name: str) -> str | None:
    """Return the value of an option, whose name is not case-sensitive."""
    return next((value for key, value in statement.options if key.lower() == name.lower()), None)


def option_span(statement: CreateStream, name: str) -> Span | None:
    """Return where an option stands, or None."""
    return next((span for key, span in statement.option_spans if key.lower() == name.lower()), None)


def key_span(statement: CreateStream | CreateStreamingTable, value: Span) -> Span:
    """Return where the name of the option, or property, stands whose value is at ``value``."""
    tokens, _ = tokenize_prefix(statement.source.text[: value.start])
    tokens = [t for t in tokens if t.kind is not Kind.END]
    if tokens and tokens[-1].text == "=":
        tokens.pop()
    last = first = len(tokens) - 1
    while first > 1 and tokens[first - 1].text in (".", "-") and tokens[first].kind is not Kind.STRING:
        first -= 2
    return tokens[first].span.to(tokens[last].span) if tokens else value


def close_to(word: str, known: Iterable[str], cutoff: float = 0.75) -> str | None:
    """Return the known word that ``word`` is probably meant to be, or None."""
    folded = {k.lower(): k for k in known}
    found = difflib.get_close_matches(word.lower(), folded, 1, cutoff)
    return folded[found[0]] if found else None
