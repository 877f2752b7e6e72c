"""What SHOW, DESCRIBE and EXPLAIN say of streaming tables, and the lines that statements leave."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from warehouse.catalog.entries import StreamingTableEntry
from warehouse.dataflow.times import shown
from warehouse.errors import SourceText, is_secret, without_secrets
from warehouse.execution.results import DESCRIBED, STREAMS, Listing
from warehouse.execution.spark_errors import translate
from warehouse.planning import plans
from warehouse.streaming.feeding.running import Running
from warehouse.streaming.log import Commit, step_log, table_folder

TABLES = ("namespace", "tableName", "mode", "status")
EXPLAINED = ("plan",)
"""The columns of what is not Spark's to answer."""


def columns(plan: plans.Plan) -> tuple[str, ...]:
    """Return the names of the columns that a plan gives back when it is not Spark's to run."""
    match plan:
        case plans.Show(statement=asked):
            return STREAMS if asked.kind == "STREAM" else TABLES
        case plans.Describe():
            return DESCRIBED
        case plans.Tell() | plans.Measure():
            return EXPLAINED
        case plans.RunSpark():
            return plan.counts
    return ()


def explained(lines: Iterable[str]) -> Listing:
    """Return EXPLAIN's one row."""
    return Listing(EXPLAINED, [("\n".join(lines),)])


def tables(entries: Iterable[StreamingTableEntry], known: Running) -> Listing:
    """Return SHOW STREAMING TABLES."""
    return Listing(
        TABLES,
        [
            (e.schema, e.name, "stateless" if e.stateless else e.mode, _status(e, known).partition(":")[0])
            for e in entries
        ],
    )


def described(entry: StreamingTableEntry, extended: bool, known: Running, home: Path) -> Listing:
    """Return DESCRIBE STREAMING TABLE of a table in the warehouse folder ``home``."""
    rows: list[tuple[str, str, str | None]] = [(c.name, c.type, c.comment) for c in entry.columns]
    if extended:
        last = step_log(home, entry).last()
        facts = [
            ("Name", entry.qualified), ("Reads", ", ".join(entry.sources)), ("Mode", entry.mode),
            *(fact for fact in entry.facts if fact[0] != "Keys"),
            ("Steps", str(last.step)), ("Watermark", shown(last.after)),
            ("Panes", str(table_folder(home, entry) / "panes")),
            ("Created", entry.created_at), ("Status", _status(entry, known)),
            *([("Comment", entry.comment)] if entry.comment else []),
            *((f"Property {key}", "***" if is_secret(key) else value) for key, value in entry.properties),
            ("Text", without_secrets(entry.text)),
        ]  # fmt: skip
        rows += [("", "", ""), ("# Streaming table", "", ""), *((label, text, "") for label, text in facts)]
    return Listing(DESCRIBED, rows)


def _status(entry: StreamingTableEntry, known: Running) -> str:
    """Return ``running``, ``idle``, or what has ended the table's run in the background, after ``failed:``."""
    if known.runs(entry):
        return "running"
    failure = known.failure(entry)
    if failure is None:
        return "idle"
    told = translate(failure, SourceText("")).diagnostics[0]
    return f"failed: [{told.condition}] {told.message}"


def summary(commits: Sequence[Commit]) -> str:
    """Return what steps came to: ``2 steps, 1000 rows, 30 panes, 2 late``."""
    rows, panes, late = sum(c.rows for c in commits), sum(c.panes for c in commits), sum(c.late for c in commits)
    finished = sum(c.finished or 0 for c in commits)
    said = [f"{len(commits)} step{'s' if len(commits) != 1 else ''}", f"{rows} rows", f"{panes} panes"]
    said += [f"{late} late"] if late else []
    said += [f"{finished} after their trigger had finished"] if finished else []
    return ", ".join(said)
