"""Text to statements: cut at the semicolons that stand outside strings, comments and scripting blocks."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.errors import SourceText
from warehouse.language.tokens import Kind, Token, tokenize_prefix

_COMPOUND = frozenset({"IF", "CASE", "LOOP", "WHILE", "FOR", "REPEAT"})
_STATEMENT_FOLLOWS = frozenset({";", "THEN", "ELSE", "DO", "LOOP", "REPEAT", ":", "ATOMIC"})
_NO_BLOCK = frozenset({"", ";", "TRANSACTION", "WORK", "TRAN", ",", "."})


def split(text: str, name: str | None = None) -> list[SourceText]:
    r"""Return the statements of ``text``, each byte for byte, without its semicolon and leading white space.

    Comments alone are no statement; a comment before a statement stays with it. Where the tokenizer gives up
    (an unclosed string), the rest of the text is one statement, for Spark to judge.

    Example:
        >>> [s.text for s in split("SELECT ';' ; -- done\nBEGIN SELECT 1; SELECT 2; END; ;")]
        ["SELECT ';' ", '-- done\nBEGIN SELECT 1; SELECT 2; END']
    """
    tokens, whole = tokenize_prefix(text)
    out = []
    start = 0
    for first, last in _ranges(tokens):
        end = tokens[last].start if last < len(tokens) else len(text)
        if first < last or (last == len(tokens) and not whole):
            out.append(_source(text, start, end, name))
        start = tokens[last].end if last < len(tokens) else len(text)
    if not whole and not tokens:
        out.append(_source(text, 0, len(text), name))
    return out


def _source(text: str, start: int, end: int, name: str | None) -> SourceText:
    start += len(text[start:end]) - len(text[start:end].lstrip())
    return SourceText(text[start:end], name, text.count("\n", 0, start) + 1)


def _ranges(tokens: list[Token]) -> Iterator[tuple[int, int]]:
    """Yield for each statement the index of its first token and that of its semicolon (or of the end)."""
    index = 0
    while index < len(tokens):
        first = index
        if _opens_block(tokens, index):
            index = _behind_block(tokens, index)
        while index < len(tokens) and tokens[index].upper != ";":
            index += 1
        yield first, index
        index += 1
    if tokens and tokens[-1].upper == ";":
        yield len(tokens), len(tokens)


def _word(tokens: list[Token], index: int) -> str:
    return tokens[index].upper if 0 <= index < len(tokens) else ""


def _opens_block(tokens: list[Token], index: int) -> bool:
    """Say whether a scripting block starts at a statement's first token: ``[label:] BEGIN …``."""
    if _word(tokens, index + 1) == ":" and tokens[index].is_name:
        index += 2
    return _word(tokens, index) == "BEGIN" and _word(tokens, index + 1) not in _NO_BLOCK


def _behind_block(tokens: list[Token], index: int) -> int:
    """Return the index behind the END that closes the block at ``index``; the number of tokens if none does."""
    open_: list[str] = []
    declares_handler = False
    while index < len(tokens):
        token = tokens[index]
        word, before = token.upper, _word(tokens, index - 1)
        inside = open_[-1] if open_ else ""
        begins = not open_ or (
            inside != "case" and (before in _STATEMENT_FOLLOWS or _after_begin(tokens, index, open_))
        )
        if begins:
            declares_handler = word == "DECLARE"
        if token.kind is not Kind.WORD or before in (".", "AS"):
            pass
        elif word == "BEGIN" and (begins or (declares_handler and _handler(tokens, index))):
            open_.append("BEGIN")
        elif word == "CASE" and _word(tokens, index + 1) not in (",", ")", "FROM", "", ".", ";"):
            open_.append("CASE" if begins else "case")
        elif word == "END" and inside == "case":
            open_.pop()
        elif word == "END" and begins:
            if _word(tokens, index + 1) in _COMPOUND - {"CASE"}:
                index += 1
            else:
                index += _word(tokens, index + 1) == "CASE"
                open_.pop()
                if not open_:
                    return index + 1
        index += 1
    return index


def _after_begin(tokens: list[Token], index: int, open_: list[str]) -> bool:
    """Say whether the token before ``index`` is a BEGIN that opened the block (not a column of that name)."""
    return (
        _word(tokens, index - 1) == "BEGIN" and _word(tokens, index - 2) in ("", ";", ":", *_STATEMENT_FOLLOWS)
    ) or (_word(tokens, index - 1) == "BEGIN" and len(open_) == 1 and index == 1)


def _handler(tokens: list[Token], index: int) -> bool:
    """Say whether the DECLARE before ``index`` is ``DECLARE … HANDLER FOR …``."""
    at = index - 1
    while at >= 0 and _word(tokens, at) not in (";", "BEGIN"):
        if _word(tokens, at) == "HANDLER":
            return True
        at -= 1
    return False
