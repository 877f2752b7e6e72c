"""What of a step's rows goes to ``late_rows``: rows that came too late, or to a window whose trigger has finished."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from warehouse.catalog.entries import Column
from warehouse.dataflow import step
from warehouse.dataflow.query import WindowedQuery
from warehouse.dataflow.times import Clock
from warehouse.execution.frames import Measured
from warehouse.planning.streaming_query import StreamingQuery
from warehouse.streaming import panes
from warehouse.streaming.appends import Appends
from warehouse.streaming.log import Intent

FOLDER = "late_rows"


def without_replacements(
    session: SparkSession, query: WindowedQuery, folder: Path, rows: DataFrame, intent: Intent, kept: ExitStack
) -> DataFrame:
    """Mark the rows whose withdrawn predecessors still count, since the withdrawal was late, and so on from those.

    Returns ``rows`` as they are when there are none, which one look at the withdrawals tells.

    Args:
        session: the step's.
        query: over the changes of a RETRACTING table.
        folder: the streaming table's.
        rows: see ``step.assigned``.
        intent: the step's.
        kept: what is stored in between is let go with it.
    """
    rows.createOrReplaceTempView("__w_changes")
    earlier = "(SELECT CAST(NULL AS STRING) AS identity WHERE false)"
    if panes.exists(folder / FOLDER):
        stored = f"{panes.delta_path(folder / FOLDER)} WHERE _step < {intent.step}"
        earlier = f"(SELECT __w_identity AS identity FROM {stored} AND __w_identity IS NOT NULL)"
    out, known = earlier, 0
    while True:
        pairs = session.sql(step.late_pairs(query, "__w_changes", f"{intent.before}L", out)).persist()
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


def finished(
    session: SparkSession, query: WindowedQuery, state: str | None, batch: str | None, clock: Clock
) -> str | None:
    """Return SQL for the rows of the step that came to windows whose trigger has finished; None without any."""
    if not query.once or state is None or batch is None:
        return None
    refused = session.sql(step.refused(query, state, batch, clock))
    if refused.isEmpty():
        return None
    refused.createOrReplaceTempView("__w_refused")
    return step.finished_rows(query, "__w_rows", "__w_refused", clock.literals().before)


def keep(
    session: SparkSession, appends: Appends, query: StreamingQuery, count: int, refused: str | None, intent: Intent,
    clock: Clock,
) -> int:  # fmt: skip
    """Write the late rows of a step, and return how many of them came to a window whose trigger has finished.

    Args:
        session: the step's.
        appends: of the streaming table.
        query: its query.
        count: how many rows of the view ``__w_rows`` are late.
        refused: see ``finished``.
        intent: the step's.
        clock: the step's.
    """
    if not count and not refused:
        return 0
    assert query.windowed
    listed, retracted = sources(query), query.windowed.retracted
    too_late = step.late_rows(query.windowed, "__w_rows", clock.literals().before)
    texts = [panes.late(listed, too_late, "LATE", clock, retracted)]
    if refused:
        texts.append(panes.late(listed, refused, "FINISHED", clock, retracted))
    if not panes.exists(appends.folder / FOLDER):
        panes.create_late(session, appends.folder / FOLDER, listed, retracted)
    rows = session.sql(" UNION ALL ".join(texts))
    watch = Measured(rows, {"n": "count_if(_why = 'FINISHED')"})
    if appends.append(watch.frame, FOLDER, intent):
        return watch.figures()["n"] or 0
    return appends.of_step(FOLDER, intent.step).where("_why = 'FINISHED'").count()


def sources(query: StreamingQuery) -> tuple[tuple[str, tuple[Column, ...]], ...]:
    """Return the sources of a query as ``panes`` wants them for late rows: name and columns."""
    return tuple((s.reference.name.last, s.columns) for s in query.sources)
