"""The second half of a step: what its windows came to, written as the state's delta and emitted as panes."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame

from warehouse.dataflow.outcome import outcome
from warehouse.dataflow.state_columns import EARLY, LATE, ON_TIME
from warehouse.dataflow.times import Clock
from warehouse.execution.frames import figures
from warehouse.execution.relations import Relations
from warehouse.language.statements import Mode
from warehouse.streaming import faults
from warehouse.streaming.delta import panes
from warehouse.streaming.delta.appends import Appends
from warehouse.streaming.log import Intent
from warehouse.streaming.state.state import State


@dataclass(frozen=True)
class Made:
    """What a step made of its windows.

    Attributes:
        kept: windows written to the delta. shown: panes, by timing ``early``, ``on_time`` and ``behind``.
        gone: standing panes that others replaced. due_wm, due_at: when the kept windows are due next, or None.
    """

    kept: int = 0
    shown: int = 0
    early: int = 0
    on_time: int = 0
    behind: int = 0
    gone: int = 0
    due_wm: int | None = None
    due_at: int | None = None

    def with_panes(self, momentary: Made) -> Made:
        """Return the whole of a step, with the panes of its momentary windows."""
        panes = {name: getattr(self, name) + getattr(momentary, name) for name in ("shown", *_TIMINGS)}
        return Made(self.kept, **panes, gone=self.gone, due_wm=self.due_wm, due_at=self.due_at)


_TIMINGS = {"early": EARLY, "on_time": ON_TIME, "behind": LATE}
_OF_PANES = {
    "shown": "count_if(shown)",
    **{name: f"count_if(shown AND timing = {timing})" for name, timing in _TIMINGS.items()},
}


class Outcome:
    """Writes what the windows of one step came to.

    Args:
        relations: the step's.
        state: of the streaming table.
        appends: of the streaming table.
        intent: the step's.
        clock: the step's.
        windows: SQL for the windows that the step looks at, merged.
        few: so many windows at most are held in this process; 0 where there are likely more.
        apart: there may be windows that open and close within the step, and computing all of ``windows`` twice costs
            less than writing those to the delta only to read them again. They are emitted from as they are computed.
    """

    def __init__(
        self, relations: Relations, state: State, appends: Appends, intent: Intent, clock: Clock, windows: str,
        few: int, apart: bool,
    ):  # fmt: skip
        self.relations, self.state, self.appends, self.intent, self.clock = relations, state, appends, intent, clock
        self.query, self.few, self.apart = state.query, few, apart
        self.rows = outcome(self.query, windows, clock)
        self.delta = state.delta_name(intent.step)

    def written(self) -> Made:
        """Write delta and panes, each once however often the step runs."""
        made, few = self._delta()
        faults.passed("delta")
        return self._panes(made, few)

    def emitted(self) -> Made:
        """Write panes alone, of windows of which none outlives the step."""
        return self._panes(Made())

    def _delta(self) -> tuple[Made, DataFrame | None]:
        """Write the delta; return what is in it, and its rows where they are few.

        One that is whole already was written before a crash and may have been emitted from: it stays as it is,
        so that panes and state agree even where adding doubles in another order ends in another last digit.
        """
        gone = "coalesce(sum(CASE WHEN gone IS NOT NULL THEN size(gone) END), 0L)"
        measures = {
            "kept": "count_if(NOT momentary)", **_OF_PANES, "gone": "0" if self.query.mode is Mode.DISCARDING else gone,
            "due_wm": "min(CASE WHEN NOT dropped THEN due_wm END)",
            "due_at": "min(CASE WHEN NOT dropped THEN due_at END)",
        }  # fmt: skip
        if self.state.is_whole(self.delta):
            stored = self.state.read(self.relations.session, self.delta)
            return Made(**figures(stored.where(self._in_delta), measures)), None
        text = f"SELECT * FROM ({self.rows}) WHERE {self._in_delta}"
        found, few = self.relations.write("__w_delta", text, measures, self.state.path(self.delta), self.few)
        if few is not None:
            self.state.hold(self.delta, few)
        return Made(**found), few

    @property
    def _in_delta(self) -> str:
        return "NOT momentary" if self.apart else "true"

    def _panes(self, made: Made, few: DataFrame | None = None) -> Made:
        """Emit the panes, those of the delta as they stand in it: the ``few`` rows of it, or what was written."""
        texts, momentary = [], None
        if made.shown or made.gone:
            if few is None:
                self.relations.put("__w_delta", self.state.read(self.relations.session, self.delta))
            emitting = f"(SELECT * FROM __w_delta WHERE emit AND {self._in_delta})"
            texts = [panes.changes(self.query, emitting, self.clock)] if made.gone else []
            texts.append(panes.inserts(self.query, emitting, self.clock, beside_changes=made.gone > 0))
        if self.apart:
            text = f"SELECT * FROM ({self.rows}) WHERE momentary AND shown"
            momentary = self.relations.measured(text, _OF_PANES)
            self.relations.put("__w_momentary", momentary.frame)
            texts.append(panes.inserts(self.query, "__w_momentary", self.clock, beside_changes=made.gone > 0))
        if not texts:
            return made
        one_file = "" if few is None else "/*+ COALESCE(1) */ "
        rows = self.relations.sql(f"SELECT {one_file}* FROM ({' UNION ALL '.join(texts)})")
        appended = self.appends.append(rows, "panes", self.intent)
        if momentary is None:
            return made
        passed = momentary.figures() if appended else self.relations.figures("__w_momentary", _OF_PANES)
        return made.with_panes(Made(**passed))
