"""What of a step's rows goes to ``late_rows``: rows that came too late, or to a window whose trigger has finished."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from warehouse.dataflow import lateness
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.times import Clock
from warehouse.execution.relations import Relations
from warehouse.planning.queries.streaming_query import StreamingQuery
from warehouse.streaming.delta import delta_tables
from warehouse.streaming.delta.appends import Appends
from warehouse.streaming.delta.late_table import FOLDER, LateTable
from warehouse.streaming.log import Intent


def without_replacements(
    relations: Relations, query: WindowedQuery, folder: Path, rows: str, intent: Intent, before: str, kept: ExitStack
) -> str:
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
    """
    relations.put("__w_changes", relations.sql(rows))
    earlier = "(SELECT CAST(NULL AS STRING) AS identity WHERE false)"
    if delta_tables.exists(folder / FOLDER):
        stored = f"{delta_tables.relation(folder / FOLDER)} WHERE _step < {intent.step}"
        earlier = f"(SELECT __w_identity AS identity FROM {stored} AND __w_identity IS NOT NULL)"
    out, known, rounds = earlier, 0, 0
    while True:
        pairs = relations.sql(lateness.late_pairs(query, "__w_changes", before, out)).persist()
        kept.callback(pairs.unpersist)
        if (found := pairs.count()) == known:
            break
        known, rounds = found, rounds + 1  # the texts of rounds differ: none reads what came of itself
        relations.put(f"__w_pairs{rounds}", pairs)
        replaced = relations.sql(lateness.replacements("__w_changes", f"__w_pairs{rounds}")).persist()
        kept.callback(replaced.unpersist)
        relations.put(f"__w_replaced{rounds}", replaced)
        out = f"({earlier} UNION ALL SELECT identity FROM __w_replaced{rounds})"
    return lateness.with_refused("SELECT * FROM __w_changes", out) if known else rows


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
