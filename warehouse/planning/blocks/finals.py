"""An analyzed block, taken apart: its aggregates read columns of the input, its items read what these came to."""

from __future__ import annotations

from functools import cached_property

from warehouse.catalog.entries import quote_name
from warehouse.dataflow.aggregates.calls import Argument, Call
from warehouse.errors import Span, fail
from warehouse.language.fragments import Fragment, rewritten
from warehouse.language.statements import QueryBlock
from warehouse.planning.blocks.bounds import Bounds, bound_values
from warehouse.planning.context import Context
from warehouse.planning.words import scan
from warehouse.planning.words.precedence import occurrences
from warehouse.planning.words.text import Render, Text


def distinct_calls(text: Text, found: list[scan.FoundCall]) -> list[scan.FoundCall]:
    """Return the calls, each text once."""
    seen: dict[tuple[str, ...], scan.FoundCall] = {}
    for call in found:
        seen.setdefault(_words(text, call.span), call)
    return list(seen.values())


def _words(text: Text, span: Span) -> tuple[str, ...]:
    return tuple(t.text.lower() if t.is_name else t.text for t in text.words(span))


def bound_edits(
    text: Text, place: Span, found: list[scan.FoundCall], bounds: Bounds, written: dict[str, str]
) -> list[tuple[Span, str]]:
    """Return edits that replace the window's bounds at ``place``, outside aggregate calls, by ``written`` of them."""
    calls = [c.span for c in found]
    return [
        (span, written[column])
        for span, column in bounds.places(text.words(place))
        if not any(c.covers(span) for c in calls)
    ]


class Arguments:
    """Gives every argument of every aggregate a column of the *input* relation, each text once."""

    def __init__(self, context: Context, text: Text, relation: Span, render: Render):
        self.context, self.text, self.relation, self.render = context, text, relation, render
        self.columns: list[tuple[str, Fragment]] = []
        self._names: dict[tuple[str, ...], str] = {}

    def column(self, span: Span) -> str:
        """Return the column that holds the expression at ``span``."""
        key = _words(self.text, span)
        if key not in self._names:
            self._names[key] = f"x{len(self.columns)}"
            self.columns.append((self._names[key], self.render(span)))
        return self._names[key]

    def argument(self, span: Span) -> Argument:
        """Return the expression at ``span`` as written where it is a constant, else the column that holds it."""
        written = span.of(self.text.text)
        if self.context.analyzer.is_constant(written) and not self._names_column(span):
            return Argument(written, "", constant=True)
        return Argument(self.column(span), "")

    def _names_column(self, span: Span) -> bool:
        """Say whether the expression at ``span`` names a column, which goes before a variable of that name."""
        words = self.text.words(span)
        return any(word.is_name for word in words) and bool(scan.operands(words, self._known))

    @cached_property
    def _known(self) -> frozenset[str]:
        found = self.context.analyzer.columns("SELECT * FROM " + self.render(self.relation))
        return frozenset(column.name.lower() for column in found)

    def call(self, found: scan.FoundCall, kind: str) -> Call:
        """Return the call over argument columns; argument types are still unknown.

        Raises:
            WarehouseError: an argument is a star, which is several.
        """
        for argument in found.arguments:
            if any(star.span.start == argument.start for star in scan.stars(self.text.words(argument))):
                fail(
                    "WAREHOUSE_NOT_SUPPORTED", argument, what=f"A star as an argument of {found.function}",
                    instead="the columns one by one",
                )  # fmt: skip
        arguments = [self.argument(a) for a in found.arguments]
        of_rows = [self.argument(o) for o in found.ordering]
        if arguments and all(a.constant for a in (*arguments, *of_rows)):
            arguments[0] = Argument(self.column(found.arguments[0]), "")
        rest, at = "", found.rest.start if found.rest else 0
        for i, ordering in enumerate(found.ordering if found.rest else ()):
            rest += f"{_braced(self.text.text[at : ordering.start])}{{{i}}}"
            at = ordering.end
        rest += _braced(self.text.text[at : found.rest.end]) if found.rest else ""
        return Call(
            found.function, tuple(arguments), found.distinct,
            self.column(found.filter) if found.filter else None, kind, rest,
            tuple(of_rows),
        )  # fmt: skip

    def typed(self, call: Call, types: dict[str, str]) -> Call:
        """Return the call with the types of its arguments filled in."""

        def fill(a: Argument) -> Argument:
            return Argument(a.sql, types.get(a.sql, "constant"), a.constant)

        return Call(
            call.function, tuple(map(fill, call.arguments)), call.distinct, call.filter, call.type, call.rest,
            tuple(map(fill, call.ordering)),
        )  # fmt: skip


def _braced(words: str) -> str:
    """Return words as they are written in a format."""
    return words.replace("{", "{{").replace("}", "}}")


class Finals:
    """Rewrites an item or HAVING to read finals, keys and bounds instead of rows."""

    def __init__(self, text: Text, block: QueryBlock, keys: list[Span], found: list[scan.FoundCall], bounds: Bounds):
        self.text, self.found, self.bounds = text, found, bounds
        self.aliases = text.aliases(block.relation or block.span)
        self.apart = scan.told_apart(text.words(k) for k in keys)
        self.keys = [scan.words(text.words(k), self.aliases, self.apart) for k in keys]
        order = {_words(text, c.span): i for i, c in enumerate(distinct_calls(text, found))}
        self.calls = [(c.span, f"__w_f{order[_words(text, c.span)]}") for c in found]
        self.named = {i.alias.strip("`").lower(): i.expression for i in reversed(block.items) if i.alias}
        self.in_keys = {word for key in self.keys if len(key) > 1 for word, _ in key}

    def of(self, place: Span) -> Fragment:
        """Return the expression at ``place`` over ``__w_f…``, ``__w_k…``, ``__w_start`` and ``__w_end``.

        A name that is none of these, and was analyzed, is the alias of an item, in HAVING or of an earlier item.

        Raises:
            WarehouseError: it may be a part of a key as well.
        """
        edits: list[tuple[Span, Fragment | str]] = [(s, n) for s, n in self.calls if place.covers(s)]
        edits += bound_edits(self.text, place, self.found, self.bounds, bound_values(self.bounds))
        tokens = self.text.words(place)
        text, others = scan.words(tokens, self.aliases, self.apart), scan.no_columns(tokens)
        for number, key in sorted(enumerate(self.keys), key=lambda k: -len(k[1])):
            covered = [s for s, _ in edits]
            edits += [(span, f"__w_k{number}") for span in occurrences(text, key, covered, others)]
        for name, span in scan.operands(tokens, self.named):
            its = self.named[name]
            if any(s.covers(span) for s, _ in edits) or its.covers(span):
                continue
            if name in self.in_keys:
                fail("WAREHOUSE_ALIAS_AMBIGUOUS", span, name=name)
            edits.append((span, "(" + self.of(its) + ")"))
        fields = scan.fields(tokens)
        named = [(s, new + f" AS {quote_name(fields[s])}" if s in fields else new) for s, new in edits]
        return rewritten(self.text.text, place, named)
