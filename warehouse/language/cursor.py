"""A reader of tokens: look, take, expect, and fail with a caret and a suggestion."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import NoReturn

from warehouse.errors import SourceText, Span, fail
from warehouse.language.literals import string_value
from warehouse.language.statements import Name
from warehouse.language.tokens import Kind, Token

_CLOSING = {"(": ")", "[": "]", "{": "}"}


class Cursor:
    """The tokens of one statement and a place among them; a token of kind END follows the last one."""

    def __init__(self, source: SourceText, tokens: Sequence[Token]):
        self.source = source
        end = tokens[-1].end if tokens else len(source.text)
        self.tokens = [*tokens, Token(Kind.END, "", end, end)]
        self.at = 0
        self._closing = _matches(self.tokens)

    # ---------------------------------------------------------------- look

    @property
    def token(self) -> Token:
        """Return the token at the cursor (END beyond the last)."""
        return self.tokens[min(self.at, len(self.tokens) - 1)]

    def peek(self, ahead: int = 1) -> Token:
        """Return the token ``ahead`` places on (END beyond the last)."""
        return self.tokens[min(max(self.at + ahead, 0), len(self.tokens) - 1)]

    def sees(self, *words: str) -> bool:
        """Say whether the next tokens are these words or symbols (upper case)."""
        return all(self.peek(i).upper == word for i, word in enumerate(words))

    def sees_any(self, words: Iterable[str]) -> bool:
        """Say whether the token at the cursor is one of ``words``."""
        return self.token.upper in words and bool(self.token.upper)

    @property
    def done(self) -> bool:
        """Say whether nothing is left."""
        return self.token.kind is Kind.END

    def closing(self, index: int) -> int:
        """Return the index of the bracket that closes the one at ``index`` (of END when none does)."""
        return self._closing.get(index, len(self.tokens) - 1)

    def span(self, first: int, last: int | None = None) -> Span:
        """Return the span of the tokens from index ``first`` up to, not including, ``last`` (the cursor)."""
        last = self.at if last is None else last
        if last <= first:
            return Span(self.tokens[first].start, self.tokens[first].start)
        return Span(self.tokens[first].start, self.tokens[last - 1].end)

    # ---------------------------------------------------------------- take

    def take(self) -> Token:
        """Return the token at the cursor and move on."""
        token = self.token
        if token.kind is not Kind.END:
            self.at += 1
        return token

    def accept(self, *words: str) -> bool:
        """Move over these words if they stand here."""
        if not self.sees(*words):
            return False
        self.at += len(words)
        return True

    def expect(self, word: str, clause: str, example: str) -> Token:
        """Return the token ``word``, or fail saying what ``clause`` looks like."""
        if self.token.upper == word:
            return self.take()
        self.fail_expecting(word, clause, example)

    def skip_brackets(self) -> Span:
        """Move behind the bracket that closes the one at the cursor; return the span between the two."""
        close = self.closing(self.at)
        inner = Span(self.token.end, self.tokens[close].start)
        self.at = min(close + 1, len(self.tokens) - 1)
        return inner

    def name(self, clause: str, example: str) -> Name:
        """Return a possibly qualified name."""
        if not self.token.is_name:
            self.fail_expecting("a name", clause, example)
        first = self.at
        parts = [self.take().text]
        while self.token.upper == "." and self.peek().is_name:
            self.take()
            parts.append(self.take().text)
        return Name(tuple(parts), self.span(first))

    def string(self, clause: str, example: str) -> str:
        """Return the value of a string literal (adjacent ones are one)."""
        if self.token.kind is not Kind.STRING:
            self.fail_expecting("a string", clause, example)
        parts = []
        while self.token.kind is Kind.STRING:
            parts.append(string_value(self.take().text))
        return "".join(parts)

    # ---------------------------------------------------------------- fail

    def here(self) -> Span:
        """Return the span to point at: the token at the cursor, or the place behind the last one."""
        return self.token.span

    def fail_expecting(self, expected: str, clause: str, example: str) -> NoReturn:
        """Fail because ``expected`` should stand here; a near miss is named as such."""
        found = self.token.text
        meant = close_to(self.token, [expected])
        if meant:
            fail_misspelt(self.token, meant, clause, example)
        expected = expected if expected[0].isalpha() else f"'{expected}'"
        found = "the end" if self.token.kind is Kind.END else f"'{found}'"
        fail("WAREHOUSE_EXPECTED", self.here(), expected=expected, found=found, clause=clause, example=example)


def fail_misspelt(token: Token, meant: str, clause: str, example: str) -> NoReturn:
    """Fail because ``token`` is nearly ``meant``, which should stand in its place."""
    fail("WAREHOUSE_MISSPELT", token.span, found=token.text, meant=meant, clause=clause, example=example)


def close_to(token: Token, words: Iterable[str]) -> str | None:
    """Return the word of ``words`` that ``token`` was probably meant to be, or None."""
    if token.kind is not Kind.WORD:
        return None
    found = difflib.get_close_matches(token.upper, [w for w in words if w.isupper()], 1, 0.7)
    return found[0] if found and found[0] != token.upper else None


def _matches(tokens: Sequence[Token]) -> dict[int, int]:
    """Return for each opening bracket's index that of its closing one; unclosed ones are left out."""
    open_: list[int] = []
    out = {}
    for i, token in enumerate(tokens):
        if token.upper in ("(", "[", "{"):
            open_.append(i)
        elif open_ and _CLOSING[tokens[open_[-1]].upper] == token.upper:
            out[open_.pop()] = i
    return out


def query_end(cursor: Cursor) -> int:
    """Return the index behind the statement's last token, a closing semicolon left out."""
    end = len(cursor.tokens) - 1
    while end > 0 and cursor.tokens[end - 1].upper == ";":
        end -= 1
    return end
