"""What of a step's rows goes to ``late_rows``: rows that came too late, or to a window whose trigger has finished."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from pyspark.sql import DataFrame

from warehouse.dataflow import lateness
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.times import Clock
from warehouse.execution.frames import figures
from warehouse.execution.relations import Relations
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.streaming.delta import delta_tables
from warehouse.streaming.delta.appends import Appends
from warehouse.streaming.delta.late_table import FOLDER, LateTable
from warehouse.streaming.log import Intent
from warehouse.streaming.state.slices import Bounds
from warehouse.streaming.state.state import FEW_HITS

Known = Callable[[DataFrame | None, Bounds], DataFrame | None]
"""Finds the state, of all versions, that some windows hit: themselves unless they are many, and their bounds."""


def without_replacements(
    relations: Relations, query: WindowedQuery, folder: Path, rows: str, intent: Intent, before: str, kept: ExitStack,
    known: Known,
) -> str:  # fmt: skip
    """Mark the rows whose withdrawn predecessors still count, since the withdrawal was late, and so on from those.

    Returns SQL for the rows, those as they are when there are none, which one look at the withdrawals tells.

    Args:
        relations: the step's.
        query: over the changes of a RETRACTING table.
        folder: the streaming table's.
        rows: SQL for them, see ``partials.assigned``.
        intent: the step's.
        before: SQL for the watermark against which rows are judged.
        kept: what is stored in between is let go with it.
        known: finds the state of sessions.
    """
    relations.put("__w_changes", relations.sql(rows))
    changes, inserted = "__w_changes", ""
    if query.holds and (late := relations.figures(changes, lateness.behind(query, before)))["late"]:
        if late["withdrawn"]:
            changes = _with_held(relations, query, before, kept, known)
        inserted = f" UNION ALL {lateness.inserted_behind(query, changes, before)}"
    earlier = "(SELECT CAST(NULL AS STRING) AS identity WHERE false)"
    if delta_tables.exists(folder / FOLDER):
        stored = f"{delta_tables.relation(folder / FOLDER)} WHERE _step < {intent.step}"
        earlier = f"(SELECT __w_identity AS identity FROM {stored} AND __w_identity IS NOT NULL)"
    earlier = f"({earlier}{inserted})" if inserted else earlier
    out, so_far, rounds = earlier, 0, 0
    while True:
        pairs = relations.sql(lateness.late_pairs(query, changes, before, out)).persist()
        kept.callback(pairs.unpersist)
        if (found := pairs.count()) == so_far:
            break
        so_far, rounds = found, rounds + 1  # the texts of rounds differ: none reads what came of itself
        relations.put(f"__w_pairs{rounds}", pairs)
        replaced = relations.sql(lateness.replacements(changes, f"__w_pairs{rounds}")).persist()
        kept.callback(replaced.unpersist)
        relations.put(f"__w_replaced{rounds}", replaced)
        out = f"({earlier} UNION ALL SELECT identity FROM __w_replaced{rounds})"
    return lateness.with_refused(f"SELECT * FROM {changes}", out) if so_far or inserted else rows


def _with_held(relations: Relations, query: WindowedQuery, before: str, kept: ExitStack, known: Known) -> str:
    """Mark the rows of ``__w_changes`` that are taken back from sessions which have state; return the relation."""
    hits = relations.sql(lateness.withdrawn_behind(query, "__w_changes", before)).persist()
    kept.callback(hits.unpersist)
    found = figures(hits, {"count": "count(1)", "start": "min(ws)", "end": "max(we)"})
    state = known(hits if found["count"] <= FEW_HITS else None, (found["start"], found["end"]))
    if state is None:
        return "__w_changes"
    relations.put("__w_known", state)
    marked = relations.sql(lateness.held(query, "__w_changes", "__w_known", before)).persist()
    kept.callback(marked.unpersist)
    relations.put("__w_marked", marked)
    return "__w_marked"


def finished(
    relations: Relations, query: WindowedQuery, state: str | None, batch: str | None, clock: Clock
) -> str | None:
    """Return SQL for the rows of the step that came to windows whose trigger has finished; None without any."""
    if not query.once or state is None or batch is None:
        return None
    refused = relations.sql(lateness.refused(query, state, batch, clock))
    if refused.isEmpty():
        return None
    relations.put("__w_refused", refused)
    return lateness.finished_rows(query, "__w_rows", "__w_refused", clock.reading().before)


def keep(
    relations: Relations, appends: Appends, query: StreamingQuery, count: int, refused: str | None, intent: Intent,
    clock: Clock,
) -> int:  # fmt: skip
    """Write the late rows of a step, and return how many of them came to a window whose trigger has finished.

    Args:
        relations: the step's.
        appends: of the streaming table.
        query: its query.
        count: how many rows of the relation ``__w_rows`` are late.
        refused: see ``finished``.
        intent: the step's.
        clock: the step's.
    """
    if not count and not refused:
        return 0
    assert query.windowed
    table, retracted = LateTable.of(query), query.windowed.retracted
    too_late = lateness.late_rows(query.windowed, "__w_rows", clock.reading().before)
    texts = [table.rows(too_late, "LATE", clock, retracted)]
    if refused:
        texts.append(table.rows(refused, "FINISHED", clock, retracted))
    if not delta_tables.exists(appends.folder / FOLDER):
        table.create(relations.session, appends.folder / FOLDER, retracted)
    finished = f"{table.why} = 'FINISHED'"
    watch = relations.measured(" UNION ALL ".join(texts), {"n": f"count_if({finished})"})
    if appends.append(watch.frame, FOLDER, intent):
        return watch.figures()["n"] or 0
    return appends.of_step(FOLDER, intent.step).where(finished).count()
