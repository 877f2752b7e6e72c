"""The only composer: split, parse, plan and execute, written out once.

Front doors (command line, projects, later the endpoint) call ``Engine`` and nothing behind it. Importing this
module starts nothing and loads no Spark.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from warehouse.catalog.entries import StreamEntry, StreamingTableEntry, ViewEntry
from warehouse.errors import Diagnostic, SourceText, Span, WarehouseError, fail, is_secret, without_secrets
from warehouse.execution.doctor import Finding, examine
from warehouse.execution.results import Progress, Result
from warehouse.language import statements
from warehouse.language.parser import parse
from warehouse.language.split import split
from warehouse.planning import plans

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from warehouse.catalog.store import Catalog
    from warehouse.execution.analyzer import SparkAnalyzer
    from warehouse.planning.schemas import Held
    from warehouse.planning.streaming_query import StreamingQuery
    from warehouse.streaming.ddl import Acting
    from warehouse.streaming.log import Commit

Parameters = Mapping[str, Any]


class Engine:
    """One warehouse folder, open. Use ``Engine.open``."""

    def __init__(
        self, spark: Any, folder: Path, on_progress: Callable[[Progress], None] | None, moved: bool, udfs: Path
    ):
        from warehouse.catalog.store import Catalog
        from warehouse.catalog.udfs import Udfs
        from warehouse.execution.analyzer import SparkAnalyzer
        from warehouse.streaming.tables import StreamingTables

        self.spark, self.folder, self.on_progress = spark, folder, on_progress
        self.catalog, self.udfs = Catalog.open(folder), Udfs(udfs)
        self.analyzer = SparkAnalyzer(spark)
        self.tables = StreamingTables(spark, self.catalog, folder, self._bound, self._report)
        self.tables.mend(moved)
        self._cancelled = threading.Event()

    @classmethod
    def open(
        cls,
        folder: Path,
        settings: Mapping[str, str] | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Engine:
        """Open the warehouse in ``folder``, starting Spark.

        Raises:
            WarehouseError: Java or the jars are missing, the folder is in use or cannot be used.
        """
        from warehouse.execution import session

        spark = session.start(Path(folder), settings or {})
        running = session.current()
        assert running is not None
        try:
            place = running.folder
            return cls(spark, place.path, on_progress, place.moved_from is not None, running.settings.udfs)
        except BaseException:
            session.stop(spark)
            raise

    def close(self) -> None:
        """Stop what runs in the background, then Spark."""
        from warehouse.execution import session

        self.tables.close()
        session.stop(self.spark)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------ the line

    def split(self, text: str, name: str | None = None) -> list[SourceText]:
        """Return the statements of ``text``."""
        return split(text, name)

    def compile(self, text: str | SourceText, name: str | None = None) -> list[plans.Plan]:
        """Return what each statement comes to; runs nothing and changes nothing.

        Later statements see the streams, streaming tables and views of ours that earlier ones would make. One
        that reads a table which an earlier statement has yet to make cannot be judged: it becomes ``Unjudged``.
        """
        from warehouse.streaming import ddl
        from warehouse.streaming.ddl import Acting

        draft = self.catalog.draft()
        made: set[str] = set()
        out: list[plans.Plan] = []
        for source in self._sources(text, name):
            try:
                planned = self._planned(source, draft)
            except WarehouseError as error:
                if error.condition != "TABLE_OR_VIEW_NOT_FOUND" or not any(m in str(error).lower() for m in made):
                    raise
                planned = plans.Unjudged(source)
            match planned:
                case plans.MakeStream(statement=statement):
                    draft.put_stream(ddl.draft_stream(statement, Acting(self.spark, draft, self._schema())))
                case plans.MakeStreamingTable(entry=entry):
                    _refuse(planned)
                    draft.put_streaming_table(entry)
                    made.add(entry.name.lower())
                case plans.RunSpark(keep_view=keep, target=target):
                    if keep:
                        draft.put_view(keep)
                    if target:
                        made.add(target.lower())
            out.append(planned)
        return out

    def run(
        self, text: str | SourceText, name: str | None = None, parameters: Parameters | None = None
    ) -> Iterator[Result]:
        """Run each statement and yield its result; the next one starts when the iterator is advanced."""
        for source in self._sources(text, name):
            self._cancelled.clear()
            yield self._executed(self._planned(source), parameters or {})

    def cancel(self) -> None:
        """Cancel the statement that is running, from any thread; nothing happens when none is."""
        self._cancelled.set()
        self.spark.sparkContext.cancelAllJobs()

    def _sources(self, text: str | SourceText, name: str | None) -> list[SourceText]:
        return [text] if isinstance(text, SourceText) else split(text, name)

    def _planned(self, source: SourceText, catalog: Catalog | None = None) -> plans.Plan:
        from warehouse.planning.context import Context
        from warehouse.planning.lower import plan

        context = Context(catalog or self.catalog, self.analyzer, self._schema(), self.udfs)
        return plan(context, parse(source), self._relations(context.catalog))

    def _schema(self) -> str:
        return self.spark.catalog.currentDatabase()

    def _relations(self, catalog: Catalog):  # type: ignore[no-untyped-def]
        from warehouse.planning.lower import Relations
        from warehouse.streaming import relations

        def bound(entry: StreamingTableEntry) -> StreamingQuery:
            return self._bound(entry, catalog)

        return Relations(
            lambda source: relations.stream_relation(self.spark, self.folder, source),
            lambda context: relations.function_relation(self.folder, context, bound),
            lambda known, entry: self._bound(entry, known),
        )

    def _bound(self, entry: StreamingTableEntry, catalog: Catalog | None = None) -> StreamingQuery:
        """Return the query of a streaming table that exists."""
        from warehouse.planning.context import Context
        from warehouse.planning.continued import as_kept
        from warehouse.planning.lower import bound_query

        statement = parse(SourceText(entry.text))
        assert isinstance(statement, statements.CreateStreamingTable)
        catalog = catalog or self.catalog
        context = Context(catalog, self._analyzer_in(entry.current), entry.current, self.udfs)
        return as_kept(bound_query(context, statement.source, statement.query, self._relations(catalog)), entry)

    def _analyzer_in(self, schema: str) -> SparkAnalyzer:
        """Return an analyzer that looks names up in ``schema``, whatever the session's current one is by now."""
        from warehouse.execution.analyzer import SparkAnalyzer

        session = self.spark.newSession()
        if session.catalog.databaseExists(schema):
            session.catalog.setCurrentDatabase(schema)
        return SparkAnalyzer(session)

    # ------------------------------------------------------------------ execution

    def _executed(self, plan: plans.Plan, parameters: Parameters) -> Result:
        from warehouse.execution.spark_errors import RAISED, is_cancellation, translate

        try:
            return self._act(plan, parameters)
        except WarehouseError as error:
            raise error.placed_at(_place(plan)).located_in(plan.source) from None
        except RAISED as error:
            if self._cancelled.is_set() and is_cancellation(error):
                fail("WAREHOUSE_CANCELLED")
            fragment = plan.fragment if isinstance(plan, plans.RunSpark) else None
            raise translate(error, plan.source, fragment).placed_at(_place(plan)) from None

    def _act(self, plan: plans.Plan, parameters: Parameters) -> Result:
        from warehouse.planning.explain import losses
        from warehouse.planning.replacement import Outcome
        from warehouse.streaming import ddl
        from warehouse.streaming.runner import step_log

        source = plan.source
        match plan:
            case plans.RunSpark(fragment=fragment, keep_view=keep, forget_view=forget, drops=drops):
                self._drop_all(drops)
                frame = self.spark.sql(fragment.text, args=dict(parameters) or None)
                if keep:
                    self.catalog.put_view(keep)
                elif forget:
                    self.catalog.drop_view(forget.schema, forget.name)
                return self._rows(source, frame, plan)
            case plans.MakeStream(statement=statement):
                return Result(source, message=ddl.create_stream(statement, self._acting()))
            case plans.DropStreamPlan(statement=dropped):
                return Result(source, message=ddl.drop_stream(dropped, self._acting()))
            case plans.Show(statement=shown) if shown.kind == "STREAM" or shown.kind == "STREAMS":
                return _table(source, ddl.show_streams(shown, self._acting()))
            case plans.Show(statement=shown):
                return _table(source, self._show_tables(shown))
            case plans.Describe(statement=asked) if asked.kind == "STREAM":
                return _table(source, ddl.describe_stream(asked, self._acting()))
            case plans.Describe(statement=asked, entry=StreamingTableEntry() as entry):
                return _table(source, self._describe_table(entry, asked.extended))
            case plans.Nothing(message=message):
                return Result(source, message=message)
            case plans.Unjudged():
                raise AssertionError("only compile leaves a statement unjudged")
            case plans.MakeStreamingTable(entry=entry, query=query, replaces=old, verdict=verdict):
                _refuse(plan)
                if verdict and old and verdict.outcome is Outcome.CONTINUE:
                    commits, made = self.tables.change(entry, query, old, verdict.carry), "replaced, continues"
                else:
                    commits = self.tables.create(entry, query, old)
                    made = "replaced, rebuilt from source" if old else "created"
                message = f"streaming table {entry.qualified} {made}: {_summary(commits)}"
                told = (*(verdict.changes if verdict else ()), *(f"warning: {line}" for line in losses(query)))
                if verdict and verdict.entry and step_log(self.folder, entry).last().drained:
                    told += ("warning: it was drained: rows that come are late until REFRESH STREAMING TABLE … FULL",)
                return Result(source, message=message, warnings=told)
            case plans.Refresh(entry=entry, full=full, drain=drain):
                commits = self.tables.refresh(entry, full, drain)
                done = "drained" if drain else "refreshed"
                return Result(source, message=f"streaming table {entry.qualified} {done}: {_summary(commits)}")
            case plans.Start(entry=entry, every=every):
                started = self.tables.start(entry, every)
                return Result(
                    source, message=f"streaming table {entry.qualified} {'started' if started else 'runs already'}"
                )
            case plans.Stop(entry=entry):
                stopped = self.tables.stop(entry)
                return Result(
                    source, message=f"streaming table {entry.qualified} {'stopped' if stopped else 'was not running'}"
                )
            case plans.DropStreamingTable(entry=entry):
                self.tables.drop(entry)
                return Result(source, message=f"streaming table {entry.qualified} dropped")
            case plans.Tell():
                return self._explained(plan)
        raise AssertionError(plan)

    def _drop_all(self, entries: Held) -> None:
        """Drop what goes with a schema."""
        from warehouse.streaming import ddl

        for entry in entries:
            match entry:
                case StreamingTableEntry():
                    self.tables.drop(entry)
                case StreamEntry():
                    ddl.forget_stream(entry, self._acting())
                case ViewEntry():
                    self.catalog.drop_view(entry.schema, entry.name)

    def _rows(self, source: SourceText, frame: DataFrame, plan: plans.Plan) -> Result:
        """Return a frame's rows as Arrow; nothing for a statement without columns."""
        if not frame.columns:
            return Result(source)
        table = _portable(frame).toArrow()
        return Result(source, table.schema, iter(table.to_batches()))

    def _explained(self, plan: plans.Tell) -> Result:
        lines = list(plan.lines)
        if plan.spark is not None:
            if lines:
                lines.append("")
            explained = self.spark.sql(
                f"EXPLAIN {'' if plan.mode == 'simple' else plan.mode.upper()} " + plan.spark.text
            )
            lines += explained.collect()[0][0].splitlines()
        return _table(plan.source, _Lines(("plan",), [("\n".join(lines),)]))

    def _acting(self) -> Acting:
        from warehouse.streaming.ddl import Acting

        return Acting(self.spark, self.catalog, self._schema())

    # ------------------------------------------------------------------ SHOW and DESCRIBE

    def _show_tables(self, statement: statements.ShowObjects) -> _Lines:
        from warehouse.planning.streams import matching

        schema = statement.schema.last if statement.schema else self.spark.catalog.currentDatabase()
        found = [e for e in self.catalog.streaming_tables() if e.schema.lower() == schema.lower()]
        wanted = matching([e.name for e in found], statement.pattern)
        rows = [
            (
                e.schema,
                e.name,
                "stateless" if e.stateless else e.mode,
                "running" if self.tables.is_running(e) else "idle",
            )
            for e in found
            if e.name in wanted
        ]
        return _Lines(("namespace", "tableName", "mode", "status"), rows)

    def _describe_table(self, entry: StreamingTableEntry, extended: bool) -> _Lines:
        from warehouse.streaming.runner import step_log, table_folder

        rows: list[tuple[str, str, str | None]] = [(c.name, c.type, c.comment) for c in entry.columns]
        if extended:
            folder = table_folder(self.folder, entry)
            last = step_log(self.folder, entry).last()
            facts = [("Name", entry.qualified), ("Reads", ", ".join(entry.sources)), ("Mode", entry.mode)]
            facts += [f for f in entry.facts if f[0] != "Keys"]
            facts += [("Steps", str(last.step)), ("Watermark", _instant(last.after)), ("Panes", str(folder / "panes"))]
            facts += [("Created", entry.created_at), ("Status", "running" if self.tables.is_running(entry) else "idle")]
            facts += [("Comment", entry.comment)] if entry.comment else []
            facts += [(f"Property {k}", "***" if is_secret(k) else v) for k, v in entry.properties]
            rows += [("", "", ""), ("# Streaming table", "", "")]
            rows += [(label, text, "") for label, text in [*facts, ("Text", without_secrets(entry.text))]]
        return _Lines(("col_name", "data_type", "comment"), rows)

    def _report(self, entry: StreamingTableEntry, commit: Commit) -> None:
        if self.on_progress is None:
            return
        from warehouse.dataflow.times import END

        finite = abs(commit.after) < END
        self.on_progress(
            Progress(
                entry.name, commit.step, commit.rows, commit.late, commit.panes, _instant(commit.after),
                (commit.now - commit.after) / 1e6 if finite else None, commit.seconds,
            )
        )  # fmt: skip


class _Lines:
    """Rows of strings with the names of their columns."""

    def __init__(self, columns: tuple[str, ...], rows: list):
        self.columns, self.rows = columns, rows


def _place(plan: plans.Plan) -> Span | None:
    """Return the words to point at when running ``plan`` fails at no place of its own."""
    match plan:
        case plans.MakeStreamingTable(query=query):
            return query.place
        case plans.Refresh(entry=entry) | plans.Start(entry=entry) | plans.Stop(entry=entry):
            at = plan.source.text.lower().rfind(entry.name.lower())
            return Span(at, at + len(entry.name)) if at >= 0 else None
    return None


def _refuse(plan: plans.MakeStreamingTable) -> None:
    """Refuse a replacement under which others could not go on reading."""
    from warehouse.planning.replacement import Outcome

    if plan.verdict and plan.verdict.outcome is Outcome.REFUSED:
        reasons = "; ".join(plan.verdict.changes)
        at = plan.source.text.lower().find(plan.entry.name.lower())
        try:
            fail(
                "WAREHOUSE_REPLACE_REFUSED", Span(at, at + len(plan.entry.name)), name=plan.entry.name, reasons=reasons
            )
        except WarehouseError as error:
            raise error.located_in(plan.source) from None


def _table(source: SourceText, rows: Any) -> Result:
    schema = pa.schema([(name, pa.string()) for name in rows.columns])
    columns = list(zip(*rows.rows, strict=True)) if rows.rows else [()] * len(rows.columns)
    batch = pa.record_batch([pa.array(c, pa.string()) for c in columns], schema=schema)
    return Result(source, schema, iter([batch]))


def _portable(frame: DataFrame) -> DataFrame:
    """Return ``frame`` with the types that Arrow readers do not know as text."""
    from pyspark.sql import functions as F

    odd = {f.name for f in frame.schema.fields if f.dataType.typeName() in ("variant", "yearmonthinterval")}
    if not odd:
        return frame
    return frame.select(
        *(
            F.col(f"`{n.replace('`', '``')}`").cast("string").alias(n)
            if n in odd
            else F.col(f"`{n.replace('`', '``')}`")
            for n in frame.columns
        )
    )


def _summary(commits: list[Commit]) -> str:
    rows, panes = sum(c.rows for c in commits), sum(c.panes for c in commits)
    late = sum(c.late for c in commits)
    text = f"{len(commits)} step{'s' if len(commits) != 1 else ''}, {rows} rows, {panes} panes"
    finished = sum(c.finished or 0 for c in commits)
    return (
        text
        + (f", {late} late" if late else "")
        + (f", {finished} after their trigger had finished" if finished else "")
    )


def _instant(micros: int) -> str:
    from warehouse.dataflow.times import BEGINNING, END

    if micros <= BEGINNING:
        return "-"
    if micros >= END:
        return "end"
    return datetime.fromtimestamp(micros / 1e6, UTC).isoformat(sep=" ")


__all__ = [
    "Diagnostic", "Engine", "Finding", "Parameters", "Progress", "Result", "SourceText", "WarehouseError",
    "examine", "parse", "replace", "split", "statements",
]  # fmt: skip
