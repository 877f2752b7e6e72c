"""Spark's named windows in blocks with clauses of ours: written out where they are used, as a block is taken apart."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from warehouse.errors import Span
from warehouse.language.fragments import Fragment, quoted, rewritten
from warehouse.language.parser import parse
from warehouse.language.statements import QueryBlock, QueryStatement
from warehouse.language.tokens import Token, tokenize
from warehouse.planning.words import scan
from warehouse.planning.words.text import Text


def next_use(text: Text) -> tuple[Span, Fragment] | None:
    """Return where a block with clauses of ours uses a window by its name, and the definition in brackets."""
    for block in text.shape.blocks:
        defined = _defined(text, block) if block.clauses else {}
        for name in _uses(text, block) if defined else ():
            definition = defined.get(_plain(name))
            if definition is not None:
                return name.span, quoted(text.text, definition)
    return None


def written_out(statement: QueryStatement) -> tuple[QueryStatement, Fragment]:
    """Return a statement with the windows that blocks of ours use by name written out, and the way back to its text."""
    source = statement.source
    fragment = quoted(source.text, Span(0, len(source.text)))
    while True:
        text = Text(fragment.text, tuple(tokenize(fragment.text) or ()), statement.query)
        use = next_use(text)
        if use is None:
            return statement, fragment
        fragment = rewritten(text.text, Span(0, len(text.text)), [use]).through(fragment)
        read = parse(replace(source, text=fragment.text))
        assert isinstance(read, QueryStatement)
        statement = read


def _defined(text: Text, block: QueryBlock) -> dict[str, Span]:
    """Return the words, brackets included, of the windows that a block gives names."""
    words = _own(text, block)
    defined: dict[str, Span] = {}
    others: dict[str, str] = {}
    for at, word in enumerate(words):
        if word.upper != "WINDOW" or [t.upper for t in words[at + 2 : at + 3]] != ["AS"]:
            continue
        while at + 3 < len(words) and words[at + 1].is_name and words[at + 2].upper == "AS":
            name, first = _plain(words[at + 1]), words[at + 3]
            if first.upper == "(":
                close = scan.closing(words, at + 3)
                if close == at + 5 and words[at + 4].is_name:
                    others[name] = _plain(words[at + 4])
                else:
                    defined[name] = first.span.to(words[close].span)
            else:
                close = at + 3
                others[name] = _plain(first)
            if close + 1 >= len(words) or words[close + 1].upper != ",":
                break
            at = close + 1
    return defined | {name: defined[other] for name, other in others.items() if other in defined}


def _uses(text: Text, block: QueryBlock) -> list[Token]:
    """Return the names behind OVER in a block's own words."""
    words = _own(text, block)
    return [b for a, b in pairwise(words) if a.upper == "OVER" and b.is_name]


def _own(text: Text, block: QueryBlock) -> list[Token]:
    """Return the words of a block without those of the blocks inside it."""
    inside = [b.span for b in text.shape.blocks if b is not block and block.span.covers(b.span)]
    return [t for t in text.words(block.span) if not any(i.covers(t.span) for i in inside)]


def _plain(name: Token) -> str:
    return name.text.strip("`").lower()
