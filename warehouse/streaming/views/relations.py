"""What stands for streams and for our table functions in a batch query, as SQL text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from pyspark.sql import SparkSession

from warehouse.catalog.entries import StreamEntry, StreamingTableEntry, quote_name
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.select import columns
from warehouse.dataflow.state_columns import newest, state_columns, state_types
from warehouse.dataflow.times import END, bound_timestamp, watermark_timestamp
from warehouse.dataflow.windows import merges
from warehouse.errors import WarehouseError, fail
from warehouse.language.fragments import of
from warehouse.language.statements import TableFunction
from warehouse.planning.context import Context
from warehouse.planning.queries.render import FunctionRelation
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.planning.streams.sources import SourceKind, StreamSource
from warehouse.planning.streams.streams import empty_relation
from warehouse.streaming.delta import bad_rows, delta_tables, panes
from warehouse.streaming.delta.late_table import FOLDER, LateTable
from warehouse.streaming.kafka import reading as kafka
from warehouse.streaming.layout import quoted
from warehouse.streaming.log import START, Commit, StepLog, step_log, table_folder
from warehouse.streaming.sources import sources
from warehouse.streaming.sources.paths import check_path
from warehouse.streaming.state.state import State

FUNCTIONS = ("panes", "late_rows", "bad_rows", "stream_state", "stream_progress")


def stream_relation(spark: SparkSession, home: Path, source: StreamSource) -> str:
    """Return all that has arrived of a stream, as a batch sees it.

    Raises:
        WarehouseError: the stream's folder is gone, which Spark would take for one without files; or Spark would leave
            out some of its files.
    """
    match source.kind:
        case SourceKind.STREAM:
            assert isinstance(source.entry, StreamEntry)
            if source.entry.format == "kafka":
                return kafka.batch_view(spark, source.entry)
            check_path(spark, source.entry, source.reference.name.span)
            try:
                return sources.batch_relation(source.entry)
            except WarehouseError as error:
                raise error.placed_at(source.reference.name.span) from None
        case SourceKind.PANES:
            assert isinstance(source.entry, StreamingTableEntry)
            return panes.pane_rows(table_folder(home, source.entry) / "panes", source.entry)
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
        entry = context.catalog.streaming_tables.get(schema, name)
        stream = context.catalog.streams.get(schema, name)
        if call.function == "bad_rows":
            if stream is not None:
                return bad_rows.relation(home, stream.schema, stream.name, stream.columns)
            found = entry.columns if entry else context.analyzer.table_columns(call.argument)
            if found is None:
                _not_found(context, call, "stream")
            known = bad_rows.of_table(home, schema, name, found, context.analyzer)
            return bad_rows.relation(home, schema, name, known)
        if entry is None:
            _not_found(context, call, "streaming table")
        folder, log = table_folder(home, entry), step_log(home, entry)
        if call.step is not None and log.at(call.step) is None:
            fail("WAREHOUSE_STEP_UNKNOWN", call.span, table=entry.name, step=call.step, last=log.last().step)
        match call.function:
            case "table":
                stood = panes.latest(folder / "panes", entry, call.step)
                return f"({stood})"
            case "panes":
                return panes.pane_rows(folder / "panes", entry, call.step)
            case "late_rows":
                if entry.stateless:
                    fail("WAREHOUSE_STATELESS", call.span, table=entry.name, function=call.function)
                return _late(context, LateTable.of(bind(entry)), folder / FOLDER, call)
            case "stream_progress":
                return progress(log, call.step)
            case "stream_state":
                query = bind(entry).windowed
                if query is None:
                    fail("WAREHOUSE_STATELESS", call.span, table=entry.name, function=call.function)
                return state(folder, query, _kept(folder, log, entry, call))
        raise AssertionError(call.function)

    return relation


def _late(context: Context, table: LateTable, folder: Path, call: TableFunction) -> str:
    """Return what ``late_rows`` shows; columns that a source has got since come with the next step."""
    if not delta_tables.exists(folder):
        return empty_relation(table.columns)
    stored = delta_tables.relation(folder)
    known = {column.name.lower() for column in context.analyzer.columns(of(f"SELECT * FROM {stored}"))}
    listed = columns(tuple(quote_name(c.name) for c in table.columns if c.name.lower() in known))
    until = "" if call.step is None else f" WHERE {table.step} <= {call.step}"
    return f"(SELECT {listed} FROM {stored}{until} ORDER BY {table.step})"


def _not_found(context: Context, call: TableFunction, kind: str) -> NoReturn:
    similar = context.similar(call.argument, kind)
    condition = "WAREHOUSE_STREAM_NOT_FOUND" if kind == "stream" else "WAREHOUSE_STREAMING_TABLE_NOT_FOUND"
    fail(condition, call.argument.span, name=call.argument.written, similar=similar)


def _kept(folder: Path, log: StepLog, entry: StreamingTableEntry, call: TableFunction) -> Commit:
    """Return the commit record whose state is asked for; its files are still there, and of the query that runs now."""
    if call.step is None:
        return log.last()
    record = log.at(call.step)
    assert record
    names = [n for n in (record.base, *record.deltas, *record.slices) if n]
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


_COUNTS = (
    "step", "now", "after", "rows", "late", "finished", "bad", "panes", "early", "on_time", "behind", "withdrawn",
    "base_rows", "delta_rows", "slice_rows", "state_bytes",
)  # fmt: skip
_FIELDS = {**dict.fromkeys(_COUNTS, "bigint"), "lateness": "array<bigint>", "seconds": "double"}
"""The fields of a commit record that are shown, with their types."""
_SHOWN = (
    "step", "timestamp_micros(now)", "rows", "late", "finished", "bad", "panes", "early", "on_time", "behind",
    "withdrawn", watermark_timestamp("after"), f"CASE WHEN abs(after) < {END}L THEN (now - after) / 1e6D END",
    *(f"get(lateness, {i}) / 1e6D" for i in range(4)), "base_rows + delta_rows + coalesce(slice_rows, 0L)",
    "state_bytes", "seconds",
)  # fmt: skip
"""The columns of ``PROGRESS`` over these fields."""


def progress(log: StepLog, until: int | None = None) -> str:
    """Return the relation of ``stream_progress('t')``: one row per step that is committed, those up to ``until``.

    The newest records stand in the text; those that are folded Spark reads where they are.
    """
    loose = log.loose()
    listed = ", ".join(_FIELDS)
    rows = ", ".join(f"({', '.join(_literal(getattr(r, f), t) for f, t in _FIELDS.items())})" for r in loose or [START])
    raw = f"SELECT {listed} FROM VALUES {rows} AS __w_r({listed}){'' if loose else ' WHERE false'}"
    if log.folded():
        kind = ", ".join(f"{name} {kind}" for name, kind in _FIELDS.items())
        lines = f"SELECT from_json(value, '{kind}') AS r FROM text.{quoted(str(log.history))}"
        before = f" WHERE r.step < {loose[0].step}" if loose else ""
        raw = f"SELECT {columns(tuple(f'r.{name}' for name in _FIELDS))} FROM ({lines}){before} UNION ALL {raw}"
    shown = columns(tuple(f"{sql} AS {name}" for sql, name in zip(_SHOWN, PROGRESS, strict=True)))
    chosen = "" if until is None else f" WHERE step <= {until}"
    return f"(SELECT {shown} FROM ({raw}){chosen})"


def _literal(value: object, kind: str) -> str:
    if value is None:
        return f"CAST(NULL AS {kind})"
    if isinstance(value, tuple):
        return f"CAST(array({', '.join(f'{v}L' for v in value)}) AS {kind})"
    return f"{value!r}D" if isinstance(value, float) else f"{value}L"


# ------------------------------------------------------------------ stream_state


def state(folder: Path, query: WindowedQuery, commit: Commit) -> str:
    """Return the relation of ``stream_state('t')``: the live windows as of ``commit``."""
    files = State(folder / "state", query)
    names = ([commit.base] if commit.base else []) + list(commit.deltas)
    listed = columns(state_columns(query))
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
    if not names and not commit.slices:
        empty = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in state_types(query).items())
        return f"(SELECT {shown} FROM (SELECT {empty}) WHERE false)"
    versions = [f"SELECT {listed} FROM parquet.{quoted(files.path(n))}" for n in names]
    if merges(query.window):
        gone = ", ".join(
            "__w_gone AS ws" if c == "ws" else "true AS dropped" if c == "dropped" else c for c in state_columns(query)
        )
        versions += [
            f"SELECT {gone} FROM parquet.{quoted(files.path(n))} LATERAL VIEW explode(vanished) AS __w_gone"
            for n in commit.deltas
        ]
    live = newest(query, f"({' UNION ALL '.join(versions)})") if versions else None
    if commit.slices:
        live = files.with_slices(commit, live and f"({live})")
    return f"(SELECT {shown} FROM ({live}))"


def _key_name(query: WindowedQuery, number: int) -> str:
    """Return the output that shows a key as it is, or ``key_<n>``."""
    return next((quote_name(o.name) for o in query.outputs if o.sql.strip() == f"__w_k{number}"), f"key_{number}")
