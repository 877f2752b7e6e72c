"""What a plan does with streams: whether they stand where each of their rows counts by itself."""

from __future__ import annotations

from enum import Enum
from typing import Any


class Misuse(Enum):
    """Why a plan over rows so far says nothing of rows to come."""

    JOINED = "with another stream"
    AWAITED = "on the side of an outer, semi or anti join that decides on rows of a table"
    SAMPLED = "rows left out by chance"
    ASKED = "in a subquery of an expression"


_AWAITED = {"LEFT OUTER": (False, True), "RIGHT OUTER": (True, False), "FULL OUTER": (True, True),
            "LEFT SEMI": (False, True), "LEFT ANTI": (False, True)}  # fmt: skip
"""By the kinds of joins, whether a stream on the left side, or on the right one, decides on the other side's rows."""


class StreamsInPlan:
    """Walks an analyzed plan in which streams are told by a mark.

    Args:
        plan: as the JVM has it.
        mark: stands in a filter over each stream, and nowhere else.

    Attributes:
        misuse: the first that was found, or None.
    """

    def __init__(self, plan: Any, mark: str):
        self._mark, self._named = mark, set[int]()
        self.misuse: Misuse | None = None
        self._reads(plan)

    def _reads(self, plan: Any) -> bool:
        """Say whether a part of the plan reads a stream."""
        kind = plan.nodeName()
        if kind == "CTERelationRef":
            return plan.cteId() in self._named
        below = [self._reads(plan.children().apply(i)) for i in range(plan.children().size())]
        asked = [self._reads(plan.subqueries().apply(i)) for i in range(plan.subqueries().size())]
        if any(asked):
            self._found(Misuse.ASKED)
        if kind == "CTERelationDef" and any(below):
            self._named.add(plan.id())
        if kind == "Join":
            self._joined(plan.joinType().sql(), *below)
        if kind == "Sample" and any(below):
            self._found(Misuse.SAMPLED)
        return any(below) or (kind == "Filter" and self._mark in plan.condition().toString())

    def _joined(self, kind: str, left: bool, right: bool) -> None:
        if left and right:
            self._found(Misuse.JOINED)
        of_left, of_right = _AWAITED.get(kind, (False, False))
        if (left and of_left) or (right and of_right):
            self._found(Misuse.AWAITED)

    def _found(self, misuse: Misuse) -> None:
        self.misuse = self.misuse or misuse
