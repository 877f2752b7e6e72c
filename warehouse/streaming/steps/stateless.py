"""A step of a streaming table without windows: rows in, rows out."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

from pyspark.sql import DataFrame

from warehouse.dataflow.times import Clock
from warehouse.execution.frames import figures
from warehouse.streaming.delta import panes
from warehouse.streaming.log import Commit, Intent
from warehouse.streaming.steps.grouping import tell
from warehouse.streaming.steps.inputs import rows_seen, size_of
from warehouse.streaming.steps.parts import Parts
from warehouse.streaming.steps.tuning import Tuning, are_few


class Stateless:
    """Computes the steps of one streaming table that passes rows on."""

    def __init__(self, parts: Parts, tuning: Tuning):
        self.parts, self.tuning = parts, tuning

    def computed(self, intent: Intent, last: Commit, frames: list[DataFrame] | None, kept: ExitStack) -> Commit:
        """Do everything of a step but commit it: see ``Runner.run``; nothing has to be ``kept`` till its end."""
        parts, made = self.parts, {"insert": 0, "delete": 0}
        relations, few = parts.relations(frames), are_few(intent, last, partial(size_of, frames or []))
        self.tuning.tune(relations.session, few)
        marked = any(source.watermark for source in parts.query.sources)
        # ahead, as each row tells the watermark after its step
        seen = parts.inputs.looked_at(relations, frames, few) if marked and frames else []
        watermarks, after = parts.watermarks(intent, last, seen)
        if frames is not None:
            reached = intent.step, intent.now, intent.before, after
            clock = Clock(*reached, intent.drain, intent.complete, compiled=not few)
            tell(relations, clock)
            observed = parts.inputs.make(relations, frames, clock.reading().now)
            relations.put("__w_input", relations.sql(parts.query.input.text))
            counts = {kind: f"count_if(_change_type = '{kind}')" for kind in made}
            emitted = relations.measured(
                panes.passed_on(parts.query.columns, "__w_input", parts.query.reads_changes, clock), counts
            )
            if parts.appends.append(emitted.frame, "panes", intent):
                made = emitted.figures()
                seen = seen or [rows_seen(rows) for rows in observed]
            else:
                made = figures(parts.appends.of_step("panes", intent.step), counts)
                seen = seen or parts.inputs.looked_at(relations, frames, few)
        self.tuning.tune(relations.session, False)
        bad = parts.set_aside(frames, relations, intent, seen, {})
        return Commit(
            step=intent.step, batch=intent.batch if intent.batch is not None else last.batch, now=intent.now,
            before=intent.before, after=after, watermarks=watermarks, drained=last.drained or intent.drain,
            rows=sum(s.rows for s in seen), finished=0, bad=bad, panes=made["insert"], withdrawn=made["delete"],
            arrived=parts.arrived(intent, last, seen),
        )  # fmt: skip
