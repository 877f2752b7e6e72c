"""Windows that are assigned and not aggregated: a SELECT with WINDOW alone, and TUMBLE, HOP and SESSION as relations.

FIXED and SLIDING windows are a LATERAL VIEW behind the relation; sessions look at all its rows at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from warehouse.catalog.entries import quote_name
from warehouse.dataflow import assign
from warehouse.dataflow.windows import Sessions, Window, merges
from warehouse.errors import Span, fail
from warehouse.language.fragments import Fragment, of
from warehouse.language.spellings import BOUNDS
from warehouse.language.statements import (
    FixedWindow,
    Interval,
    OwnWindow,
    QueryBlock,
    SessionWindow,
    WindowCall,
    WindowSpec,
)
from warehouse.planning.blocks.scope import Scope, refuse_bounds_in_where
from warehouse.planning.context import Context
from warehouse.planning.windows import own
from warehouse.planning.windows.row_time import check_time, gap_micros
from warehouse.planning.windows.windowing import planned_window, time_of
from warehouse.planning.words import scan
from warehouse.planning.words.marks import Marks
from warehouse.planning.words.text import Render, Text


@dataclass(frozen=True)
class Assignments:
    """Renders the assignments of one text.

    Attributes:
        render: the user's words with all streams, table functions and inner blocks of ours replaced.
        analysis: the same without rows, to check types with; None: it is the analysis itself that is rendered.
    """

    context: Context
    text: Text
    render: Render
    analysis: Render | None

    def is_all(self, block: QueryBlock) -> bool:
        """Say whether a block with clauses of ours has nothing to aggregate."""
        if not block.clauses or block.group_by or block.grouping_sets or block.having:
            return False
        functions = self.context.analyzer.aggregate_functions()
        return not any(scan.aggregate_calls(self.text.words(item.expression), functions) for item in block.items)

    def is_relation(self, call: WindowCall) -> bool:
        """Say whether a call stays a relation, since it is not the window of a block that aggregates."""
        return not any(b.spelling and b.spelling.call is call for b in self.text.shape.blocks)

    def windows(self, span: Span) -> Iterator[Window]:
        """Yield the windows that are assigned inside ``span``."""
        for block in self.text.shape.blocks:
            if span.covers(block.span) and self.is_all(block) and block.clauses:
                yield self.planned(block.clauses.window, block.relation or block.span)
        for call in self.text.shape.calls:
            if span.covers(call.span) and self.is_relation(call):
                yield self.planned(call.window, call.relation)

    def planned(self, window: WindowSpec | None, relation: Span) -> Window:
        """Return the window of an assignment over ``relation``."""
        return self._planned(window, relation)[0]

    # ------------------------------------------------------------------ a block

    def of_block(self, block: QueryBlock) -> list[tuple[Span, Fragment | str]]:
        """Return the edits that make a block's rows come once per window.

        Raises:
            WarehouseError: it has no FROM, a clause about panes, a window that cannot be, or sessions over a join.
        """
        clauses = block.clauses
        assert clauses
        self._check_clauses(block)
        assert block.relation is not None
        if isinstance(clauses.window, FixedWindow) and clauses.window.per_key_offset:
            fail("WAREHOUSE_PER_KEY_WITHOUT_KEYS", clauses.window.per_key_offset)
        edits: list[tuple[Span, Fragment | str]] = [(clauses.span, "")]
        window, own_windows = self._checked(clauses.window, block.relation)
        if self.analysis:
            refuse_bounds_in_where(Scope(self.context, self.text, block, self.analysis))
        if isinstance(clauses.window, SessionWindow):
            alias = self._only_alias(block)
            rows = self.render(block.relation)
            if block.where:
                rows = rows + " WHERE " + self.render(block.where)
            whole = Span(block.relation.start, (block.where or block.relation).end)
            named = f" AS {alias}" if alias else ""
            edits.append((whole, "(" + self._sessions(clauses.window, block.relation, rows, ()) + ")" + named))
            return edits
        end = block.relation.end
        edits.append((Span(end, end), self._view(clauses.window, window, own_windows)))
        for item in block.items:
            for name, place in scan.names(self.text.words(item.expression), BOUNDS):
                edits.append((place, f"{assign.ASSIGNED}.{name}"))
        return edits

    def _check_clauses(self, block: QueryBlock) -> None:
        clauses = block.clauses
        assert clauses
        if block.relation is None:
            fail("WAREHOUSE_WINDOW_WITHOUT_FROM", clauses.span)
        about_panes = (
            ("TRIGGER", clauses.trigger.span if clauses.trigger else None),
            (clauses.mode.name if clauses.mode else "", clauses.mode_span),
            ("ALLOWED LATENESS", clauses.lateness.span if clauses.lateness else None),
        )
        for clause, span in about_panes:
            if span is not None:
                fail("WAREHOUSE_ASSIGNMENT_WITHOUT_PANES", span, clause=clause)

    def _only_alias(self, block: QueryBlock) -> str | None:
        """Return the name of the one relation in FROM, as SQL text; refuse a join and a LATERAL VIEW."""
        assert block.relation and block.clauses and block.clauses.window and block.clauses.window.span
        tokens, depth = self.text.words(block.relation), 0
        for token in tokens:
            depth += token.upper in ("(", "[", "{")
            depth -= token.upper in (")", "]", "}")
            if depth == 0 and token.upper in (",", "JOIN", "LATERAL"):
                fail("WAREHOUSE_ASSIGNED_SESSIONS_OF_JOIN", block.clauses.window.span)
        shape = self.text.shape
        for stream in shape.streams:
            if stream.span == block.relation:
                return stream.alias or quote_name(stream.name.last)
        for relation in shape.relations:
            if relation.span == block.relation:
                return relation.alias or quote_name(relation.name.last)
        last = tokens[-1]
        return last.span.of(self.text.text) if last.is_name and len(tokens) > 1 else None

    # ------------------------------------------------------------------ a table function

    def of_call(self, call: WindowCall) -> Fragment:
        """Return the relation of a table function; where it is the window of its block, that of the rows alone.

        Raises:
            WarehouseError: its window cannot be, or a name of its bounds is taken.
        """
        rows = self.render(call.relation)
        if not self.is_relation(call):
            return "(SELECT * FROM " + rows + ")" if call.alias else rows
        window, _ = self._checked(call.window, call.relation)
        if self.analysis:
            self._check_names(call, self.analysis)
        if isinstance(call.window, SessionWindow):
            relation = "(" + self._sessions(call.window, call.relation, rows, call.partition) + ")"
        else:
            relation = "(SELECT * FROM " + rows + self._view(call.window, window, of("")) + ")"
        inner = None if call.alias else self._inner_name(call)
        return relation + (f" AS {inner}" if inner else "")

    def _inner_name(self, call: WindowCall) -> str | None:
        for stream in self.text.shape.streams:
            if stream.span == call.relation:
                return stream.alias or quote_name(stream.name.last)
        for relation in self.text.shape.relations:
            if relation.span == call.relation:
                return relation.alias or quote_name(relation.name.last)
        return None

    def _check_names(self, call: WindowCall, analysis: Render) -> None:
        for column in self.context.analyzer.columns("SELECT * FROM " + analysis(call.relation)):
            if column.name.lower() in BOUNDS:
                fail("WAREHOUSE_WINDOW_COLUMN_TAKEN", call.relation, function=call.function, name=column.name)

    # ------------------------------------------------------------------ both

    def _planned(self, window: WindowSpec | None, relation: Span) -> tuple[Window, Fragment]:
        """Return the planned window and, where it is of the user's own, SQL for the array of a row's windows."""
        if not isinstance(window, OwnWindow):
            return planned_window(self.text.text, window), of("")
        rows = (self.analysis or self.render)(relation)
        planned, listed = own.bound_window(self.context, self.text.text, window, self.render, rows)
        if merges(planned):
            fail("WAREHOUSE_ASSIGNED_SESSIONS_GROW", window.span)
        if own.by_functions(self.context, self.text.text, window):  # Spark expands none where rows are made of one
            fail("WAREHOUSE_ASSIGNED_BY_FUNCTION", window.name, name=window.name.of(self.text.text))
        return planned, listed

    def _checked(self, window: WindowSpec | None, relation: Span) -> tuple[Window, Fragment]:
        """Return what ``_planned`` does after a look at the type of the window's time."""
        planned = self._planned(window, relation)
        time = time_of(window)
        if self.analysis and time:
            asked = "SELECT (" + self.analysis(time) + ") AS __w_time FROM " + self.analysis(relation)
            check_time(self.text, time, self.context.analyzer.columns(asked)[0])
        return planned

    def _view(self, window: WindowSpec | None, planned: Window, own_windows: Fragment) -> Fragment:
        """Return the LATERAL VIEW of a window whose rows know it by themselves."""
        assert not isinstance(planned, Sessions)
        marks, time = Marks(), time_of(window)
        at = marks.mark(self.render(time)) if time else ""
        return marks.expand(assign.lateral_view(planned, at, marks.mark(own_windows)))

    def _sessions(self, window: SessionWindow, relation: Span, rows: Fragment, keys: tuple[Span, ...]) -> Fragment:
        """Return the query that gives each of ``rows``, the relation with its WHERE, the bounds of its session."""
        marks = Marks()
        planned = planned_window(self.text.text, window)
        assert isinstance(planned, Sessions)
        if isinstance(window.gap, Interval):
            gap: Fragment = of(f"{planned.gap}L")
        else:
            gap = gap_micros(self.context, self.text, relation, window.gap, self.analysis or self.render)
        by = tuple(marks.mark(self.render(key)) for key in keys)
        time = marks.mark(self.render(window.time))
        return marks.expand(assign.sessions(planned, marks.mark(rows), time, marks.mark(gap), by))

    def untimed(self, window: WindowSpec | None, relation: Span, where: Span | None) -> Fragment | None:
        """Return the query for the rows of a step that fall into no window: they have no time."""
        time = time_of(window)
        if time is None:
            return None
        condition = "(" + self.render(where) + ") AND " if where else of("")
        at = "(" + self.render(time) + ")"
        rows = "SELECT __w_row, CAST(" + at + " AS TIMESTAMP) AS __w_time, CAST(NULL AS BIGINT) AS ts FROM "
        rows = rows + self.render(relation) + " WHERE " + condition
        planned, own_windows = self._planned(window, relation)
        marks = Marks()
        placed = assign.is_placed(planned, marks.mark(at), marks.mark(own_windows))
        return rows + marks.expand(f"NOT coalesce({placed}, false)")
