"""Runs the steps of one streaming table: rows in, windows merged, panes out, each exactly once.

A step writes in this order: intent, state delta, panes, late and bad rows, commit record. Whatever is killed
when, the next run finds the newest commit record, repeats the step that has none under its logged clock, and
writes nothing twice.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from warehouse.catalog.entries import Column, StreamEntry, StreamingTableEntry, quote_name
from warehouse.dataflow import step
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.times import BEGINNING, END, Clock
from warehouse.dataflow.windows import Global, Sessions
from warehouse.execution.spark_errors import RAISED
from warehouse.language.statements import Mode
from warehouse.planning.sources import SourceKind, StreamSource
from warehouse.planning.streaming_query import StreamingQuery, source_view
from warehouse.streaming import bad_rows, faults, panes, poison, sources
from warehouse.streaming import lags as recent
from warehouse.streaming.json_size import json_size
from warehouse.streaming.lags import Lags
from warehouse.streaming.log import Commit, Intent, StepLog
from warehouse.streaming.measured import Measured
from warehouse.streaming.state import FEW_HITS, State

Report = Callable[[Commit], None]


@dataclass(frozen=True)
class Seen:
    """What one pass over a source's rows of a step found.

    Attributes:
        rows, bad: how many came, and how many did not parse. high: the highest timestamp, or None.
    """

    rows: int
    bad: int
    high: int | None


NOTHING = Seen(0, 0, None)


@dataclass(frozen=True)
class Grouped:
    """What the rows of a step came to.

    Attributes:
        windows: how many rows of partial results there are. bounds: their least start and greatest end.
        few: those rows themselves unless they are many.
        seen: per source. untimed: rows without a timestamp. late: rows that miss at least one of their windows.
        lateness: see ``LATENESS``. lags: see ``lags.measures``, where a trigger has a PERCENTILE.
    """

    windows: int = 0
    bounds: tuple[int | None, int | None] = (None, None)
    few: DataFrame | None = None
    seen: list[Seen] = field(default_factory=list)
    untimed: int = 0
    late: int = 0
    lateness: tuple[int, ...] = ()
    lags: dict[str, Any] = field(default_factory=dict)


NO_ROWS = Grouped()
NOTHING_MADE: dict[str, Any] = {
    **dict.fromkeys(("kept", "shown", "early", "on_time", "behind", "gone"), 0), "due_wm": None, "due_at": None,
}  # fmt: skip

LATENESS = (0.5, 0.9, 0.99)
"""Of the time from a row's timestamp to its arrival, a step keeps these percentiles and the maximum."""
LATENESS_ACCURACY = 1000
"""A percentile may be wrong by one rank in so many."""
_TIMINGS = (("early", step.EARLY), ("on_time", step.ON_TIME), ("behind", step.LATE))

FEW_ROWS, FEW_WINDOWS, MUCH_STATE = 20_000, 5_000, 50_000
"""A step of few rows that hit few windows of little state is interpreted, not compiled, by one task a stage."""

SETTINGS = {
    # every stage of a small step would become a job of its own (FACTS: 10 to 20 % of a step)
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
}
"""What a step's session differs in from a user's: no user's SET can change what a step computes."""


def table_folder(home: Path, entry: StreamingTableEntry) -> Path:
    """Return the folder that holds everything of a streaming table."""
    return home / "streaming" / entry.id


class Runner:
    """Runs steps of one streaming table; one step at a time, whoever asks."""

    def __init__(
        self, spark: SparkSession, home: Path, entry: StreamingTableEntry, query: StreamingQuery, report: Report
    ):
        self.home, self.folder = home, table_folder(home, entry)
        self.entry, self.query, self.report = entry, query, report
        self.log = StepLog(self.folder)
        self.state = State(self.folder / "state", query.windowed) if query.windowed else None
        self.lock = threading.Lock()
        self.partitions = spark.conf.get("spark.sql.shuffle.partitions")
        self.session = spark.newSession()
        for key, value in SETTINGS.items():
            self.session.conf.set(key, value)
        if spark.catalog.databaseExists(entry.current):
            self.session.catalog.setCurrentDatabase(entry.current)

    # ------------------------------------------------------------------ one step

    def run(self, intent: Intent, frames: list[DataFrame] | None) -> Commit:
        """Run one step and commit it.

        Args:
            intent: recorded before; its clock is the only time the step sees.
            frames: per source the rows of the step in the layout of ``streaming.sources``; None: no rows.
        """
        started = time.monotonic()
        last = self.log.last()
        with ExitStack() as kept:
            try:
                record = self._computed(intent, last, frames, kept)
            except RAISED as error:
                again = replace(intent, repeated=True)
                record = self._computed(again, last, self._without_poison(error, frames), kept)
        record = replace(record, seconds=round(time.monotonic() - started, 3))
        self.log.commit(record)
        faults.passed("commit")
        if self.state:
            self.state.clean(self.log.recent())
            faults.passed("cleaned")
        self.report(record)
        return record

    def _computed(self, intent: Intent, last: Commit, frames: list[DataFrame] | None, kept: ExitStack) -> Commit:
        """Do everything of a step but commit it."""
        if self.query.windowed is None:
            return self._stateless(intent, last, frames)
        return self._windowed(self.query.windowed, intent, last, frames, kept)

    def _without_poison(self, error: BaseException, frames: list[DataFrame] | None) -> list[DataFrame]:
        """Return the rows of a step with those marked as bad on which the query's expressions fail.

        Raises:
            BaseException: ``error``, where no row is to blame or its stream says ON ERROR FAIL.
        """
        if frames is None or not poison.is_data_error(error):
            raise error
        cleared = []
        for number, (source, frame) in enumerate(zip(self.query.sources, frames, strict=True)):
            stops = isinstance(source.entry, StreamEntry) and source.entry.fail_on_error
            marked = None if stops else poison.set_aside(frame, source.columns, partial(self._probe, number))
            if marked is None:
                raise error
            cleared.append(marked)
        if not any(frame.where(f"{bad_rows.WHY} IS NOT NULL").head(1) for frame in cleared):
            raise error
        return cleared

    def _probe(self, number: int, rows: DataFrame) -> None:
        """Run the row-wise part of the query over some rows of one source, and nothing of the others."""
        session = rows.sparkSession
        for other in range(len(self.query.sources)):
            session.sql(f"SELECT * FROM {self._no_rows()[other]}").createOrReplaceTempView(source_view(other))
        rows.agg(*_measures(self.query.sources[number])).collect()
        self._make_view(number, rows, 0)
        session.sql(self.query.input.text).write.format("noop").mode("overwrite").save()

    def _windowed(
        self, query: WindowedQuery, intent: Intent, last: Commit, frames: list[DataFrame] | None, kept: ExitStack
    ) -> Commit:
        assert self.state
        session = frames[0].sparkSession if frames else self.session
        little = last.base_rows + last.delta_rows <= MUCH_STATE
        foreseen = intent.batch is None or last.rows > 0  # a replay's steps are small, others are like the last one
        self._tune(session, little and foreseen and last.rows <= FEW_ROWS)
        new = NO_ROWS if frames is None else self._grouped(query, intent, frames, kept)
        watermarks, after = self._watermark(intent, last, new.seen)
        lags = Lags(**last.lags)
        if new.lags:
            lags = lags.with_rows(query.percentiles, new.lags)
        faster = lags.watermarks(query.percentiles)
        clock = Clock(intent.step, intent.now, intent.before, after, intent.drain, intent.complete, faster)
        small = little and new.windows <= FEW_WINDOWS
        self._tune(session, small)
        touched = self.state.touched(session, last, clock, new.few, new.bounds)
        if touched is not None:
            touched.createOrReplaceTempView("__w_state")
        state = "__w_state" if touched is not None else None
        batch = "__w_batch" if new.windows else None
        delta, made = self.state.delta_name(intent.step), NOTHING_MADE
        if state or batch:
            windows = step.merged(query, state, batch, clock, at_once=small)
            made = self._outcome(session, session.sql(step.outcome(query, windows, clock)), delta)
        faults.passed("delta")
        if made["shown"] or made["gone"]:
            self.state.read(session, delta).where("emit").createOrReplaceTempView("__w_delta")
            emitted = panes.emitted(query, "__w_delta", clock, replaces=made["gone"] > 0)
            self._append(session.sql(emitted), "panes", intent)
        finished, refused = self._finished(session, query, state, batch, clock), 0
        if new.late or finished:
            listed, late = late_sources(self.query), step.late_rows(query, "__w_rows", intent.before)
            texts = [panes.late(listed, late, "LATE", clock, query.retracted)]
            if finished:
                texts.append(panes.late(listed, finished, "FINISHED", clock, query.retracted))
            if not panes.exists(self.folder / "late_rows"):
                panes.create_late(session, self.folder / "late_rows", listed, query.retracted)
            watch = Measured(session.sql(" UNION ALL ".join(texts)), F.count_if(F.col("_why") == "FINISHED").alias("n"))
            if self._append(watch.frame, "late_rows", intent):
                refused = watch.figures()["n"] or 0
            else:
                refused = self._written("late_rows", intent.step).where("_why = 'FINISHED'").count()
        bad = self._bad(frames, intent, new.seen, {"__w_rows": new.untimed, **self._unassigned(frames)})
        reached = BEGINNING if intent.complete and not intent.drain else after
        record = Commit(
            step=intent.step, batch=intent.batch if intent.batch is not None else last.batch, now=intent.now,
            before=intent.before, after=reached,
            watermarks=watermarks, drained=last.drained or intent.drain,
            base=last.base, deltas=(*last.deltas, *((delta,) if made["kept"] else ())), base_rows=last.base_rows,
            delta_rows=last.delta_rows + made["kept"],
            due_watermark=_least(_still(last.due_watermark, reached), made["due_wm"]),
            due_clock=_least(_still(last.due_clock, intent.now), made["due_at"]),
            rows=sum(s.rows for s in new.seen), late=new.late, finished=refused, bad=bad, lateness=new.lateness,
            panes=made["shown"], early=made["early"], on_time=made["on_time"], behind=made["behind"],
            withdrawn=made["gone"] if query.mode is Mode.RETRACTING else 0,
            arrived=intent.now if frames is not None else last.arrived, lags=asdict(lags) if query.percentiles else {},
        )  # fmt: skip
        self._tune(session, False)
        record = self.state.compacted(session, record)
        return replace(record, state_bytes=self.state.size(record))

    def _grouped(self, query: WindowedQuery, intent: Intent, frames: list[DataFrame], kept: ExitStack) -> Grouped:
        """Group the rows of a step into partial results, the view ``__w_batch``, and measure them in the same pass."""
        session, observed = self._sources(frames, intent.now)
        rows = session.sql(step.assigned(query, f"({self.query.input.text})"))
        if query.retracted:
            rows = self._without_replacements_of_late(session, query, rows, intent, kept)
        late_here = F.expr(step.is_late(query, intent.before))
        lags = recent.measures(query.percentiles) if query.percentiles else {}
        watch = Measured(
            rows, F.count_if(F.col("ts").isNull()).alias("untimed"), F.count_if(late_here).alias("late"),
            *([] if isinstance(query.window, Global) else _lateness()),
            *(F.expr(sql).alias(name) for name, sql in lags.items()),
        )  # fmt: skip
        watch.frame.createOrReplaceTempView("__w_rows")
        batch = session.sql(step.partials(query, "__w_rows", intent.before)).persist()
        kept.callback(batch.unpersist)
        batch.createOrReplaceTempView("__w_batch")
        counted, start, end = batch.agg(F.count(F.lit(1)), F.min("ws"), F.max("we")).first()
        figures = watch.figures()
        return Grouped(
            windows=counted, bounds=(start, end), few=batch if counted <= FEW_HITS else None,
            seen=[_seen(o) for o in observed], untimed=figures["untimed"] or 0, late=figures["late"] or 0,
            lateness=_known_lateness(figures), lags={name: figures[name] for name in lags},
        )  # fmt: skip

    def _without_replacements_of_late(
        self, session: SparkSession, query: WindowedQuery, rows: DataFrame, intent: Intent, kept: ExitStack
    ) -> DataFrame:
        """Mark the rows whose withdrawn predecessors still count, since the withdrawal was late, and so on from those.

        Returns ``rows`` as they are when there are none, which one look at the withdrawals tells.
        """
        rows.createOrReplaceTempView("__w_changes")
        earlier = "(SELECT CAST(NULL AS STRING) AS identity WHERE false)"
        if panes.exists(self.folder / "late_rows"):
            stored = f"{panes.delta_path(self.folder / 'late_rows')} WHERE _step < {intent.step}"
            earlier = f"(SELECT __w_identity AS identity FROM {stored} AND __w_identity IS NOT NULL)"
        out, known = earlier, 0
        while True:
            pairs = session.sql(step.late_pairs(query, "__w_changes", intent.before, out)).persist()
            kept.callback(pairs.unpersist)
            if (found := pairs.count()) == known:
                break
            known = found
            pairs.createOrReplaceTempView("__w_pairs")
            replaced = session.sql(step.replacements("__w_changes", "__w_pairs")).persist()
            kept.callback(replaced.unpersist)
            replaced.createOrReplaceTempView("__w_replaced")
            out = f"({earlier} UNION ALL SELECT identity FROM __w_replaced)"
        return session.sql(step.with_refused("SELECT * FROM __w_changes", out)) if known else rows

    def _outcome(self, session: SparkSession, outcome: DataFrame, delta: str) -> dict[str, int]:
        """Write the delta of a step and return its figures.

        One that is whole already was written before a crash and may have been emitted from: it stays as it is,
        so that panes and state agree even where adding doubles in another order ends in another last digit.
        """
        assert self.state and self.query.windowed
        figures = (
            F.count_if(~F.col("momentary")).alias("kept"),
            F.count_if(F.col("shown")).alias("shown"),
            *(F.count_if(F.expr(f"shown AND timing = {timing}")).alias(name) for name, timing in _TIMINGS),
            (
                F.expr("coalesce(sum(CASE WHEN gone IS NOT NULL THEN size(gone) END), 0L)")
                if _withdraws(self.query.windowed)
                else F.lit(0)
            ).alias("gone"),
            F.min(F.expr("CASE WHEN NOT dropped THEN due_wm END")).alias("due_wm"),
            F.min(F.expr("CASE WHEN NOT dropped THEN due_at END")).alias("due_at"),
        )
        if self.state.is_whole(delta):
            return self.state.read(session, delta).agg(*figures).collect()[0].asDict()
        measured = Measured(outcome, *figures)
        measured.frame.write.mode("overwrite").parquet(self.state.path(delta))
        return measured.figures()

    def _finished(
        self, session: SparkSession, query: WindowedQuery, state: str | None, batch: str | None, clock: Clock
    ) -> str | None:
        """Return SQL for the rows of the step that came to windows whose trigger has finished; None without any."""
        if not query.once or state is None or batch is None:
            return None
        refused = session.sql(step.refused(query, state, batch, clock))
        if refused.isEmpty():
            return None
        refused.createOrReplaceTempView("__w_refused")
        return step.finished_rows(query, "__w_rows", "__w_refused", clock.before)

    def _stateless(self, intent: Intent, last: Commit, frames: list[DataFrame] | None) -> Commit:
        seen, made = list[Seen](), {"insert": 0, "delete": 0}
        if frames is not None:
            seen = [_looked_at(frame, s) for frame, s in zip(frames, self.query.sources, strict=True)]
        watermarks, after = self._watermark(intent, last, seen)
        if frames is not None:
            session, _ = self._sources(frames, intent.now)
            session.sql(self.query.input.text).createOrReplaceTempView("__w_input")
            clock = Clock(intent.step, intent.now, intent.before, after, intent.drain, intent.complete)
            frame = session.sql(panes.passed_on(self.query.columns, "__w_input", self.query.reads_changes, clock))
            counts = [F.count_if(F.col("_change_type") == kind).alias(kind) for kind in made]
            emitted = Measured(frame, *counts)
            if self._append(emitted.frame, "panes", intent):
                made = emitted.figures()
            else:
                made = self._written("panes", intent.step).agg(*counts).collect()[0].asDict()
        bad = self._bad(frames, intent, seen, self._unassigned(frames))
        return Commit(
            step=intent.step, batch=intent.batch if intent.batch is not None else last.batch, now=intent.now,
            before=intent.before, after=after, watermarks=watermarks, drained=last.drained or intent.drain,
            rows=sum(s.rows for s in seen), finished=0, bad=bad, panes=made["insert"], withdrawn=made["delete"],
            arrived=intent.now if frames is not None else last.arrived,
        )  # fmt: skip

    def pass_by(self, intent: Intent, last: Commit, after: int) -> Commit:
        """Commit a step in which only the clock and the watermark move and nothing is due."""
        record = replace(
            last, step=intent.step, now=intent.now, before=intent.before,
            after=BEGINNING if intent.complete else after,
            watermarks=dict.fromkeys(last.watermarks, after) or {"0": after},
            rows=0, late=0, finished=0, bad=0, panes=0, early=0, on_time=0, behind=0, withdrawn=0, lateness=(),
            seconds=0.0,
        )  # fmt: skip
        self.log.commit(record)
        return record

    # ------------------------------------------------------------------ parts of a step

    def _sources(self, frames: list[DataFrame], now: int) -> tuple[SparkSession, list[Measured]]:
        """Make the source views of a step; return its session and, per source, the observation of its rows."""
        observed = []
        for number, source in enumerate(self.query.sources):
            if isinstance(source.entry, StreamEntry):
                sources.refuse_bad(source.entry, frames[number])
            measured = Measured(frames[number], *_measures(source))
            self._make_view(number, measured.frame, now)
            observed.append(measured)
        return frames[0].sparkSession, observed

    def _make_view(self, number: int, frame: DataFrame, now: int) -> None:
        """Make the view of a source from the good ones among its rows."""
        arrival = "__w_arrival" if "__w_arrival" in frame.columns else f"{now}L"
        listed = [quote_name(c.name) for c in self.query.sources[number].columns]
        good = frame.where("__w_bad IS NULL")
        good.selectExpr(
            *listed, f"{self._row(number)} AS __w_row", f"{arrival} AS __w_arrival"
        ).createOrReplaceTempView(source_view(number))

    def _row(self, number: int) -> str:
        """Return SQL for the hidden column that carries the source's row: one field per source, the others NULL."""
        source = self.query.sources[number]
        fields = ["'position', CAST(__w_position AS STRING)"]
        if self.query.windowed and self.query.windowed.counts_bytes:
            fields.append(f"'size', {json_size(source.columns)}")
        for other, its in enumerate(self.query.sources):
            kind = panes.struct_type(its.columns)
            values = ", ".join(f"'{_quoted(c.name)}', {quote_name(c.name)}" for c in its.columns)
            value = f"named_struct({values})" if other == number else "NULL"
            fields.append(f"'r{other}', CAST({value} AS {kind})")
        if self.query.reads_changes:
            changes = source.kind is SourceKind.CHANGES
            fields.append(f"'change', {'__w_change' if changes else chr(39) + 'insert' + chr(39)}")
            several = f"concat('{number}:', {{}})" if len(self.query.sources) > 1 else "{}"
            for name in ("identity", "pair"):
                fields.append(f"'{name}', {several.format(f'__w_{name}') if changes else 'CAST(NULL AS STRING)'}")
        return f"named_struct({', '.join(fields)})"

    def _no_rows(self) -> list[str]:
        """Return, per source, a relation like its source view, without rows."""
        rows = [f"'r{i}', CAST(NULL AS {panes.struct_type(s.columns)})" for i, s in enumerate(self.query.sources)]
        changes = ["'change', ''", "'identity', ''", "'pair', ''"] if self.query.reads_changes else []
        size = ["'size', 0"] if self.query.windowed and self.query.windowed.counts_bytes else []
        hidden = ", ".join(["'position', ''", *size, *rows, *changes])
        return [
            "(SELECT "
            + ", ".join(f"CAST(NULL AS {c.type}) AS {quote_name(c.name)}" for c in source.columns)
            + f", named_struct({hidden}) AS __w_row, CAST(NULL AS BIGINT) AS __w_arrival WHERE false)"
            for source in self.query.sources
        ]

    def _watermark(self, intent: Intent, last: Commit, seen: list[Seen]) -> tuple[dict[str, int], int]:
        """Return the watermark of each source, and the query's after the step: the least, and never going back."""
        if intent.complete:
            return {}, END
        found: dict[str, int] = {}
        for number, source in enumerate(self.query.sources):
            its = seen[number] if seen else NOTHING
            candidates = [last.watermarks.get(str(number), BEGINNING), intent.given.get(str(number), BEGINNING)]
            if source.watermark and its.high is not None and str(number) not in intent.given:
                candidates.append(its.high - source.watermark[1])
            found[str(number)] = max(candidates)
        after = max(intent.before, min(found.values(), default=BEGINNING))
        return found, END if intent.drain else after

    def _append(self, frame: DataFrame, kind: str, intent: Intent) -> bool:
        """Append the rows of a step unless it is repeated and did so before; say whether they were appended.

        Delta could tell by its ``txnVersion``, but looks that up in the whole table, in every step.
        """
        wanted = not intent.repeated or self._written(kind, intent.step).isEmpty()
        if wanted:
            panes.append(frame, self.folder / kind)
        faults.passed(kind)
        return wanted

    def _written(self, kind: str, number: int) -> DataFrame:
        """Return what a step has written to one of the table's Delta tables."""
        return self.session.read.format("delta").load(str(self.folder / kind)).where(F.col("_step") == number)

    def dues(self, last: Commit) -> Commit:
        """Return ``last`` with the dues that are known no better than "from now on" looked up in the state."""
        if self.state is None or (last.due_watermark != last.after + 1 and last.due_clock != last.now + 1):
            return last
        return self.state.with_dues(self.session, last)

    def _tune(self, session: SparkSession, small: bool) -> None:
        """Choose how plans run: for few rows, compiling code and starting tasks cost more than they save."""
        session.conf.set("spark.sql.codegen.wholeStage", str(not small).lower())
        session.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN" if small else "FALLBACK")
        session.conf.set("spark.sql.shuffle.partitions", "1" if small else self.partitions)

    def _unassigned(self, frames: list[DataFrame] | None) -> dict[str, int]:
        """Make the view of the rows that fall into no window which they are given; return its name and how many."""
        if frames is None or not self.query.untimed:
            return {}
        rows = frames[0].sparkSession.sql(self.query.untimed)
        rows.createOrReplaceTempView("__w_unassigned")
        return {"__w_unassigned": rows.count()}

    def _bad(self, frames: list[DataFrame] | None, intent: Intent, seen: list[Seen], untimed: dict[str, int]) -> int:
        """Set aside the records that did not parse and the rows without a timestamp; return how many.

        Args:
            frames: see ``run``.
            intent: the step's.
            seen: what was found of each source.
            untimed: how many rows without a timestamp are in which view.
        """
        if frames is None:
            return 0
        at, told = f"timestamp_micros({intent.now}L)", set()
        for number, (source, its) in enumerate(zip(self.query.sources, seen, strict=True)):
            parts = []
            if its.bad and source.name not in told:  # a stream that is read twice has its broken records once
                told.add(source.name)
                broken = frames[number].where("__w_bad IS NOT NULL")
                known = F.col(bad_rows.WHY) if bad_rows.WHY in broken.columns else F.lit(None).cast("string")
                parts.append(broken.withColumn(bad_rows.WHY, F.coalesce(known, F.lit(bad_rows.NOT_PARSED))))
            views = [view for view, count in untimed.items() if count]
            parts += [self._untimed(frames[number].sparkSession, number, view) for view in views]
            for part in parts[1:]:
                parts[0] = parts[0].unionByName(part, allowMissingColumns=True)
            if parts:
                schema, name = (source.entry.schema, source.entry.name) if source.entry else _split_name(source.name)
                columns = (schema, name, source.columns)
                transaction = (number, intent.step)
                bad_rows.append(parts[0].sparkSession, self.home, columns, self.entry, transaction, parts[0], at)
                faults.passed("bad_rows")
        return sum(s.bad for s in seen) + sum(untimed.values())

    def _untimed(self, session: SparkSession, number: int, view: str) -> DataFrame:
        """Return the rows of a source whose timestamp for the window is NULL."""
        row = f"__w_row.r{number}"
        listed = [f"{row}.{quote_name(c.name)} AS {quote_name(c.name)}" for c in self.query.sources[number].columns]
        rows = session.table(view).where(f"ts IS NULL AND {row} IS NOT NULL")
        return rows.selectExpr(
            *listed, "CAST(NULL AS STRING) AS __w_bad", "__w_row.position AS __w_position",
            f"if(__w_time IS NULL, '{bad_rows.TIME_IS_NULL}', '{self._unplaced()}') AS {bad_rows.WHY}",
        )  # fmt: skip

    def _unplaced(self) -> str:
        """Return why a row with a timestamp is in no window."""
        block = self.query.windowed
        sessions = block is not None and isinstance(block.window, Sessions)
        return bad_rows.GAP_NOT_POSITIVE if sessions else bad_rows.NO_WINDOW


def late_sources(query: StreamingQuery) -> tuple[tuple[str, tuple[Column, ...]], ...]:
    """Return the sources of a query as ``panes`` wants them for late rows: name and columns."""
    return tuple((s.reference.name.last, s.columns) for s in query.sources)


def _least(one: int | None, other: int | None) -> int | None:
    return min((value for value in (one, other) if value is not None), default=None)


def _still(due: int | None, reached: int) -> int | None:
    """Return the next due after ``reached`` as far as one due tells: once it has passed, the rest may be due any time.

    Whoever needs it more exactly asks ``Runner.dues``; most steps are followed by rows and nobody does.
    """
    return due if due is None or due > reached else min(reached + 1, END)


def _split_name(name: str) -> tuple[str, str]:
    parts = [p.strip("`") for p in name.split(".")]
    return (parts[-2] if len(parts) > 1 else "default"), parts[-1]


def _lateness() -> list:
    """Return what is observed of *rows*: how long after their timestamps they arrived."""
    percentiles = ", ".join(map(str, LATENESS))
    within = f"approx_percentile(__w_arrival - ts, array({percentiles}), {LATENESS_ACCURACY})"
    return [F.expr(within).alias("lateness"), F.expr("max(__w_arrival - ts)").alias("latest")]


def _known_lateness(figures: dict[str, Any]) -> tuple[int, ...]:
    within = figures.get("lateness")
    return (*within, figures["latest"]) if within else ()


def _withdraws(query: WindowedQuery) -> bool:
    return query.mode is not Mode.DISCARDING


def _quoted(name: str) -> str:
    return name.replace("\\", "\\\\").replace("'", "\\'")


def _measures(source: StreamSource) -> list:
    """Return what is observed of a source's rows: their count, how many are bad, and the highest timestamp."""
    high = F.lit(None).cast("bigint")
    if source.watermark:
        timestamp = f"unix_micros(CAST(({source.watermark[0]}) AS TIMESTAMP))"
        high = F.max(F.expr(f"CASE WHEN __w_bad IS NULL THEN {timestamp} END"))
    return [F.count(F.lit(1)).alias("rows"), F.count("__w_bad").alias("bad"), high.alias("high")]


def _seen(measured: Measured) -> Seen:
    found = measured.figures()
    return Seen(found.get("rows") or 0, found.get("bad") or 0, found.get("high"))


def _looked_at(frame: DataFrame, source: StreamSource) -> Seen:
    found = frame.agg(*_measures(source)).first()
    return Seen(found["rows"] or 0, found["bad"] or 0, found["high"])
