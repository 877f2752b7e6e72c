"""Writes a query's text for one of three readers: Spark's analyzer, a batch run, or a step of a streaming table.

The user's words stay; STREAM references, our table functions and windowed blocks are replaced where they stand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

from warehouse.catalog.entries import quote_name
from warehouse.dataflow import batch
from warehouse.errors import Span, WarehouseError, fail
from warehouse.language.fragments import Fragment, rewritten
from warehouse.language.statements import Cte, ModelCall, QueryBlock, RelationReference, StreamReference, TableFunction
from warehouse.planning.blocks.assignment import Assignments
from warehouse.planning.blocks.blocks import BoundBlock, bind_block, sorted_by
from warehouse.planning.blocks.bounds import bound_values
from warehouse.planning.context import Context
from warehouse.planning.models import predictions
from warehouse.planning.models.predictions import Evaluation
from warehouse.planning.streams.sources import StreamSource, resolve, typed_empty, watermark_value
from warehouse.planning.words import scan
from warehouse.planning.words.marks import Marks
from warehouse.planning.words.text import Text

FunctionRelation = Callable[[TableFunction], str]
"""Returns the relation that stands for a table function of ours, as SQL text."""

StreamRelation = Callable[[StreamSource], str]
"""Returns the relation that stands for a stream, as SQL text, without its alias."""


@dataclass(frozen=True)
class Writer:
    """Renders spans of one text.

    Attributes:
        stream, function: what stands for a stream and for a table function of ours.
        hidden: append the hidden columns to inner blocks that read a stream, so that rows stay traceable.
        alone: what is rendered shall stand without the WITH lists around it.
        analyzed: it is rendered to be analyzed: relations have no rows.
    """

    context: Context
    text: Text
    stream: StreamRelation
    function: FunctionRelation
    hidden: str = ""
    alone: bool = False
    analyzed: bool = False
    _answers: dict[Span, list[tuple[Span, Fragment | str]]] = field(default_factory=dict, init=False, compare=False)

    def __call__(self, span: Span) -> Fragment:
        """Return the user's words at ``span`` with everything of ours inside it replaced."""
        return rewritten(self.text.text, span, self.edits(span))

    def edits(self, span: Span) -> list[tuple[Span, Fragment | str]]:
        """Return the replacements inside ``span``, outermost only."""
        shape = self.text.shape
        edits: list[tuple[Span, Fragment | str]] = []
        assignment = self.assignments()
        for block in shape.blocks:
            if block.clauses and span.covers(block.span) and not _inside(block.span, edits):
                alone = assignment.is_all(block)
                edits += assignment.of_block(block) if alone else self.answered(block)
        for call in shape.calls:
            if span.covers(call.span) and not _inside(call.span, edits):
                edits.append((call.span, assignment.of_call(call)))
        for function in shape.functions:
            if span.covers(function.span) and not _inside(function.span, edits):
                alias = "" if function.aliased else f" AS {quote_name(function.argument.last)}"
                edits.append((function.span, self.function(function) + alias))
        for asked in shape.models:
            if span.covers(asked.span) and not _inside(asked.span, edits):
                edits.append((asked.span, self.asked(asked)))
        for reference in shape.streams:
            if span.covers(reference.span) and not _inside(reference.span, edits):
                edits.append((reference.span, self._stream(reference)))
        for delay in shape.delays:
            if span.covers(delay.span) and not _inside(delay.span, edits):
                months = f"'{delay.months}' MONTHS " if delay.months else ""
                edits.append((delay.span, f"INTERVAL {months}'{delay.micros}' MICROSECONDS"))
        for number, dead in enumerate(self.text.without):
            if span.covers(dead) and not _inside(dead, edits):
                edits.append((dead, f"__w_unused{number} AS (SELECT 1)"))
        if self.alone:
            for relation in shape.relations:
                cte = self.text.shape.cte_of(relation)
                if (
                    cte
                    and not cte.span.covers(span)
                    and span.covers(relation.span)
                    and not _inside(relation.span, edits)
                ):
                    edits.append((relation.span, self._written_out(cte, relation)))
        if self.hidden:
            edits += self._hidden_columns(span, edits)
        return edits

    def _written_out(self, cte: Cte, relation: RelationReference) -> Fragment:
        """Return a common table expression as the subquery that it is."""
        alias = relation.alias or quote_name(relation.name.last)
        if cte.recursive:
            return "(WITH RECURSIVE " + self(cte.span) + f" SELECT * FROM {cte.name}) AS {alias}"
        return "(" + self(cte.query) + f") AS {alias}{cte_columns(self.text, cte)}"

    def _stream(self, reference: StreamReference) -> Fragment | str:
        """Return the relation that stands for a stream, with the column that its watermark makes."""
        source = resolve(self.context, self.text.text, reference)
        rows = f"{self.stream(source)} AS {source.alias}"
        if reference.watermark is None or reference.watermark.name is None:
            return rows
        value = watermark_value(self.text.text, source)
        return "(SELECT *, " + value + f" AS {reference.watermark.name} FROM {rows}) AS {source.alias}"

    def asked(self, call: ModelCall) -> Fragment | str:
        """Return the relation that stands for a function that asks a model."""
        if call.function == "ml_scores":
            return predictions.scores(self.context, call)
        if call.part:
            return predictions.contents(self.context, call, call.part, self.text.text)
        assert call.relation
        if call.function == "ml_evaluate":
            predictions.named(self.context, call)
            return self.context.models().measured(call.span.start)
        columns = self.context.analyzer.columns(_select_all(self._analysis(call.relation)))
        alone = _select_all(replace(self, alone=True)(call.relation))
        return predictions.predicted(self.context, call, self(call.relation), columns, alone)

    def evaluations(self) -> tuple[Evaluation, ...]:
        """Return what has to be measured before the text runs."""
        found = []
        for call in self.text.shape.models:
            if call.function == "ml_evaluate":
                assert call.relation
                entry, version = predictions.named(self.context, call)
                rows = _select_all(replace(self, alone=True)(call.relation))
                found.append(Evaluation(self.context.models().measured(call.span.start), rows, entry, version))
        return tuple(found)

    def answered(self, block: QueryBlock) -> list[tuple[Span, Fragment | str]]:
        """Return the edits that put the batch answer of a windowed block in its place.

        A block is bound once: those around it are looked at several times each.
        """
        if block.span not in self._answers:
            self._answers[block.span] = self._answered(block)
        return self._answers[block.span]

    def _answered(self, block: QueryBlock) -> list[tuple[Span, Fragment | str]]:
        marks = Marks()
        bound = self.bound(block, marks.mark)
        behind = sorted_by(self.context, self.text, block, bound.query, bound.bounds)
        if behind:
            bound = self.bound(block, marks.mark, tuple(behind))
        relation = bound.input(self, "0L AS __w_arrival")
        sql = batch.answer(bound.query, "(" + marks.mark(relation) + ")")
        outputs = [f"o{i} AS {quote_name(o.name)}" for i, o in enumerate(bound.query.outputs)]
        selected = len(outputs) - len(behind)
        # an ORDER BY behind the block may speak of the bounds and of what is aggregated, selected or not
        hidden = [f"{value} AS {name}" for name, value in bound_values(bound.bounds).items()] + outputs[selected:]
        names = ", ".join(outputs[:selected])
        hints = marks.mark(bound.hints.of_rows)
        answer = marks.expand(f"SELECT{hints} {names} FROM (SELECT {', '.join(['*', *hidden])} FROM ({sql}))")
        return [(block.span, answer), *((span, f"__w_order{i}") for i, span in enumerate(behind))]

    def bound(self, block: QueryBlock, mark: Callable[[Fragment], str], ordering: tuple[Span, ...] = ()) -> BoundBlock:
        """Return a windowed block bound, its relations without rows for the analysis; ``ordering``: see there.

        Raises:
            WarehouseError: see there; and the block speaks of a row of the query around it.
        """
        try:
            return bind_block(self.context, self.text, block, self._analysis, mark, ordering)
        except WarehouseError as error:
            (told, *_) = error.diagnostics
            if told.condition.startswith("UNRESOLVED_COLUMN") and told.span and self._is_outer(block, told.span):
                fail("WAREHOUSE_CORRELATED_WINDOW", told.span, name=told.span.of(self.text.text).strip())
            raise

    def _is_outer(self, block: QueryBlock, place: Span) -> bool:
        """Say whether a name that ``block`` does not know is qualified by a relation of a query around it."""
        qualifier = self.text.words(place)[0]
        around = (
            b.relation for b in self.text.shape.blocks if b is not block and b.span.covers(block.span) and b.relation
        )
        return any(qualifier.text.lower() in self.text.aliases(relation) for relation in around)

    def assignments(self) -> Assignments:
        """Return what renders windows that are assigned and not aggregated."""
        return Assignments(self.context, self.text, self, None if self.alone else self._analysis)

    @cached_property
    def _analysis(self) -> Writer:
        if self.analyzed:
            return self
        return Writer(
            self.context, self.text, lambda s: typed_empty(s.columns), self.function, alone=True, analyzed=True
        )

    def _hidden_columns(
        self, span: Span, edits: list[tuple[Span, Fragment | str]]
    ) -> list[tuple[Span, Fragment | str]]:
        found: list[tuple[Span, Fragment | str]] = []
        for block in filter(self.text.reads_stream, self.text.shape.blocks):
            found += [
                edit for edit in self._without_hidden(block) if span.covers(edit[0]) and not _inside(edit[0], edits)
            ]
            if not span.covers(block.span) or _inside(block.span, edits):
                continue
            if not has_hidden(self.text, block):
                at = block.items[-1].span.end
                found.append((Span(at, at), ", " + self.hidden))
            names = self._column_names(block)
            if names is not None and span.covers(names):
                found.append((Span(names.end - 1, names.end - 1), ", " + self.hidden))
        return found

    def _without_hidden(self, block: QueryBlock) -> list[tuple[Span, str]]:
        """Return the edits by which stars in the block's expressions leave the hidden columns out."""
        assert block.relation
        listed = [item.span for item in block.items if item.star]
        stars = [s for s in scan.stars(self.text.words(block.span)) if not any(i.covers(s.span) for i in listed)]
        return scan.without_columns(stars, self.hidden, self.text.streaming(block.relation))

    def _column_names(self, block: QueryBlock) -> Span | None:
        """Return the names, in brackets, that a subquery's alias gives to the columns of ``block``, or None."""
        behind = [t for t in self.text.tokens if t.start >= block.span.end][:4]
        if [t.upper for t in behind[:2]] != [")", "AS"] or len(behind) < 4 or behind[3].upper != "(":
            return None
        at = self.text.tokens.index(behind[3])
        return behind[3].span.to(self.text.tokens[scan.closing(self.text.tokens, at)].span)


def _select_all(relation: Fragment) -> Fragment:
    return "SELECT * FROM " + relation


def cte_columns(text: Text, cte: Cte) -> str:
    """Return the list of column names of a common table expression, with its brackets, or nothing."""
    head = text.words(Span(cte.span.start, cte.query.start))
    if len(head) < 2 or head[1].upper != "(" or head[-1] is head[1]:
        return ""
    return head[1].span.to(head[scan.closing(head, 1)].span).of(text.text)


def has_hidden(text: Text, block: QueryBlock) -> bool:
    """Say whether a star of the block brings the hidden columns along by itself."""
    names = text.streaming(block.relation) if block.relation else ()
    stars = [star for item in block.items if item.star for star in scan.stars(text.words(item.span))]
    return any(not star.qualifier or star.qualifier in names for star in stars)


def _inside(span: Span, edits: list[tuple[Span, Fragment | str]]) -> bool:
    return any(place.covers(span) for place, _ in edits)
