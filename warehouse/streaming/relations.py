"""What stands for streams and for our table functions in a batch query, as SQL text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from pyspark.sql import SparkSession

from warehouse.catalog.entries import StreamEntry, StreamingTableEntry, quote_name
from warehouse.dataflow import step
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.select import columns
from warehouse.dataflow.times import END, bound_timestamp, watermark_timestamp
from warehouse.dataflow.windows import merges
from warehouse.errors import fail
from warehouse.language.statements import TableFunction
from warehouse.planning.context import Context
from warehouse.planning.render import FunctionRelation
from warehouse.planning.sources import SourceKind, StreamSource
from warehouse.planning.streaming_query import StreamingQuery
from warehouse.planning.streams import empty_relation
from warehouse.streaming import bad_rows, kafka, late, panes, sources
from warehouse.streaming.log import START, Commit, StepLog
from warehouse.streaming.runner import step_log, table_folder
from warehouse.streaming.state import State
from warehouse.streaming.tables import appends_only, keyed

FUNCTIONS = ("panes", "late_rows", "bad_rows", "stream_state", "stream_progress")


def stream_relation(spark: SparkSession, home: Path, source: StreamSource) -> str:
    """Return all that has arrived of a stream, as a batch sees it."""
    match source.kind:
        case SourceKind.STREAM:
            assert isinstance(source.entry, StreamEntry)
            if source.entry.format == "kafka":
                return kafka.batch_view(spark, source.entry)
            return sources.batch_relation(source.entry)
        case SourceKind.PANES:
            assert isinstance(source.entry, StreamingTableEntry)
            return panes.pane_rows(
                table_folder(home, source.entry) / "panes", source.entry.columns, keyed(source.entry)
            )
    return source.name


def function_relation(
    home: Path, context: Context, bind: Callable[[StreamingTableEntry], StreamingQuery]
) -> FunctionRelation:
    """Return what writes a table function of ours as a relation.

    Args:
        home: the warehouse folder.
        context: the catalog.
        bind: gives the query of a streaming table.
    """

    def relation(call: TableFunction) -> str:
        schema, name = context.resolve(call.argument)
        entry = context.catalog.streaming_table(schema, name)
        stream = context.catalog.stream(schema, name)
        if call.function == "bad_rows":
            if stream is not None:
                return bad_rows.relation(home, stream.schema, stream.name, stream.columns)
            known = context.analyzer.table_columns(call.argument)
            if known is None or entry is not None:
                _not_found(context, call, "stream")
            return bad_rows.relation(home, schema, name, known)
        if entry is None:
            _not_found(context, call, "streaming table")
        folder, log = table_folder(home, entry), step_log(home, entry)
        if call.step is not None and log.at(call.step) is None:
            fail("WAREHOUSE_STEP_UNKNOWN", call.span, table=entry.name, step=call.step, last=log.last().step)
        match call.function:
            case "table":
                stood = panes.latest(folder / "panes", entry.columns, keyed(entry), appends_only(entry), call.step)
                return f"({stood})"
            case "panes":
                return panes.pane_rows(folder / "panes", entry.columns, keyed(entry), call.step)
            case "late_rows":
                if entry.stateless:
                    fail("WAREHOUSE_STATELESS", call.span, table=entry.name, function=call.function)
                if not panes.exists(folder / "late_rows"):
                    return empty_relation(panes.late_columns(late.sources(bind(entry))))
                stored = panes.delta_path(folder / "late_rows")
                listed = columns(tuple(quote_name(c.name) for c in panes.late_columns(late.sources(bind(entry)))))
                until = "" if call.step is None else f" WHERE _step <= {call.step}"
                return f"(SELECT {listed} FROM {stored}{until} ORDER BY _step)"
            case "stream_progress":
                return progress(log, call.step)
            case "stream_state":
                query = bind(entry).windowed
                if query is None:
                    fail("WAREHOUSE_STATELESS", call.span, table=entry.name, function=call.function)
                return state(folder, query, _kept(folder, log, entry, call))
        raise AssertionError(call.function)

    return relation


def _not_found(context: Context, call: TableFunction, kind: str) -> NoReturn:
    similar = context.similar(call.argument, kind)
    condition = "WAREHOUSE_STREAM_NOT_FOUND" if kind == "stream" else "WAREHOUSE_STREAMING_TABLE_NOT_FOUND"
    fail(condition, call.argument.span, name=call.argument.last, similar=similar)


def _kept(folder: Path, log: StepLog, entry: StreamingTableEntry, call: TableFunction) -> Commit:
    """Return the commit record whose state is asked for; its files are still there, and of the query that runs now."""
    if call.step is None:
        return log.last()
    record = log.at(call.step)
    assert record
    names = [n for n in (record.base, *record.deltas) if n]
    if record.revision == entry.revision and all((folder / "state" / n).is_dir() for n in names):
        return record
    steps = [str(r.step) for r in log.recent() if r.revision == entry.revision]
    fail("WAREHOUSE_STEP_NOT_KEPT", call.span, table=entry.name, step=call.step, kept=", ".join(steps[::-1]))


# ------------------------------------------------------------------ stream_progress


PROGRESS = (
    "step", "emitted_at", "rows_in", "late", "finished", "bad", "panes", "panes_early", "panes_on_time", "panes_late",
    "withdrawals", "watermark", "skew_seconds", "lateness_p50", "lateness_p90", "lateness_p99", "lateness_max",
    "state_rows", "state_bytes", "seconds",
)  # fmt: skip
"""The columns of ``stream_progress``; ``docs/watching.md`` says what is in them."""


def progress(log: StepLog, until: int | None = None) -> str:
    """Return the relation of ``stream_progress('t')``: one row per step that is committed, those up to ``until``."""
    rows = [_progress_row(record) for record in log.all() if until is None or record.step <= until]
    names = ", ".join(PROGRESS)
    if not rows:
        rows = [_progress_row(START)]
        return f"(SELECT * FROM VALUES ({rows[0]}) AS __w_p({names}) WHERE false)"
    return f"(SELECT * FROM VALUES ({'), ('.join(rows)}) AS __w_p({names}))"


def _progress_row(record: Commit) -> str:
    skew = None if abs(record.after) >= END else record.now - record.after
    lateness = record.lateness or (None,) * 4
    values = (
        f"{record.step}L", f"timestamp_micros({record.now}L)", _bigint(record.rows), _bigint(record.late),
        _bigint(record.finished), _bigint(record.bad), _bigint(record.panes), _bigint(record.early),
        _bigint(record.on_time), _bigint(record.behind), _bigint(record.withdrawn),
        watermark_timestamp(f"{record.after}L"), _seconds(skew), *map(_seconds, lateness),
        _bigint(record.base_rows + record.delta_rows), _bigint(record.state_bytes), f"{record.seconds!r}D",
    )  # fmt: skip
    return ", ".join(values)


def _bigint(value: int | None) -> str:
    return "CAST(NULL AS BIGINT)" if value is None else f"{value}L"


def _seconds(micros: int | None) -> str:
    return "CAST(NULL AS DOUBLE)" if micros is None else f"{micros / 1e6!r}D"


# ------------------------------------------------------------------ stream_state


def state(folder: Path, query: WindowedQuery, commit: Commit) -> str:
    """Return the relation of ``stream_state('t')``: the live windows as of ``commit``."""
    files = State(folder / "state", query)
    names = ([commit.base] if commit.base else []) + list(commit.deltas)
    listed = columns(step.state_columns(query))
    keys = [f"{k} AS {_key_name(query, i)}" for i, k in enumerate(query.key_columns)]
    parts = query.content_columns
    partials = "named_struct(" + ", ".join(f"'{p}', {p}" for p in parts) + ")" if parts else "CAST(NULL AS STRING)"
    active = [f"{k.name} AS {quote_name(k.shown)}" for k in query.trigger_state]
    shown = columns(
        tuple(keys), f"{bound_timestamp('ws')} AS window_start", f"{bound_timestamp('we')} AS window_end",
        f"{partials} AS partials", "pn AS pending_rows", "timestamp_micros(pf) AS first_pending_at", tuple(active),
        "idx AS panes", "timestamp_micros(due_at) AS due_at",
        f"CASE WHEN due_wm < {END}L THEN timestamp_micros(due_wm) END AS due_watermark", "step AS changed_in_step",
    )  # fmt: skip
    if not names:
        kinds = dict(zip(query.key_columns, query.keys, strict=True))
        kinds |= step.content_types(query)
        kinds |= {k.name: k.type for k in query.trigger_state}
        kinds |= {"due_wm": "bigint", "dropped": "boolean", "idx": "int"} | step.standing_types(query)
        empty = ", ".join(f"CAST(NULL AS {kinds.get(c, 'bigint')}) AS {c}" for c in step.state_columns(query))
        return f"(SELECT {shown} FROM (SELECT {empty}) WHERE false)"
    versions = [f"SELECT {listed} FROM parquet.{_quoted(files.path(n))}" for n in names]
    if merges(query.window):
        gone = ", ".join(
            "__w_gone AS ws" if c == "ws" else "true AS dropped" if c == "dropped" else c
            for c in step.state_columns(query)
        )
        versions += [
            f"SELECT {gone} FROM parquet.{_quoted(files.path(n))} LATERAL VIEW explode(vanished) AS __w_gone"
            for n in commit.deltas
        ]
    return f"(SELECT {shown} FROM ({step.newest(query, '(' + ' UNION ALL '.join(versions) + ')')}))"


def _quoted(path: str) -> str:
    return "`" + path.replace("`", "``") + "`"


def _key_name(query: WindowedQuery, number: int) -> str:
    """Return the output that shows a key as it is, or ``key_<n>``."""
    return next((quote_name(o.name) for o in query.outputs if o.sql.strip() == f"__w_k{number}"), f"key_{number}")
