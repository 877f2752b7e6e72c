"""What a trigger tree costs: the same steps under AT WATERMARK alone and under trees up to three levels deep.

One stream of Parquet files, a file a step, with the same windows and keys for all. What a trigger costs is looked
for, not what panes cost, so the trees of the first group have parts that do not come true before the watermark: they
emit what AT WATERMARK emits, and the table says how many panes that was. The second group emits sooner, hence more.

The trees take turns in one process. A step's own seconds are compared, from ``stream_progress``, and the seconds
that the JVM kept cores busy from one step's end to the next one's, which other work on the machine disturbs less.
The first step of a table, which finds no state, and the first round are not counted. A ratio is the median, over the
rounds, of a tree's steps to those of AT WATERMARK in the same round: the machine's own speed drifts.

Usage: ``python -m benchmarks triggers [--rows 1000000] [--windows 20000] [--rounds 4] [--only PATTERN]``. Writes
``benchmarks/out/triggers.{md,json}``.
"""

from __future__ import annotations

import argparse
import re
import statistics
import sys
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.protocol import cpu_seconds
from benchmarks.report import keep
from benchmarks.systems import process_of
from warehouse.engine import Engine, Progress

FILES = 3
MINUTES = 10
"""Event time that a file spans; windows are a minute long."""

ALONE = "AT WATERMARK"
LONG = "INTERVAL 1000 DAYS"
QUIET = (
    ("time", f"AT WATERMARK EARLY EVERY {LONG} LATE EVERY ROW"),
    ("rows and time", f"AT WATERMARK OR (AFTER 1000000 ROWS AND AFTER {LONG})"),
    ("bytes", "AT WATERMARK OR (EVERY 1000000000 BYTES AND AFTER 1000000 ROWS)"),
    ("WHEN, of the row", f"AT WATERMARK OR (WHEN (marked) AND AFTER {LONG})"),
    ("WHEN, of the aggregate", f"AT WATERMARK OR (WHEN (sum(value) > 1e15) AND AFTER {LONG})"),
    ("THEN in REPEAT UNTIL", f"REPEAT (AFTER 1000000 ROWS THEN AFTER {LONG}) UNTIL AT WATERMARK"),
    ("percentile", f"AT WATERMARK PERCENTILE 99 EARLY AFTER {LONG} LATE EVERY ROW"),
    (
        "nine leaves",
        f"(AFTER 1000000 ROWS AND EVERY {LONG} AND WHEN (marked)) OR"
        f" REPEAT (WHEN (sum(value) > 1e15) THEN AFTER {LONG}) UNTIL AT WATERMARK OR"
        f" (EVERY 1000000 ROWS AND AFTER {LONG} AND WHEN (count(*) > 1000000))",
    ),
)
LOUD = (
    ("every row", "EVERY ROW"),
    ("early and late", "AT WATERMARK EARLY EVERY ROW LATE EVERY ROW"),
    ("data-driven", "AT WATERMARK OR (WHEN (count(*) > 0) THEN AFTER 1 ROW)"),
)


@dataclass(frozen=True)
class Run:
    """The counted steps of one table."""

    name: str
    trigger: str
    seconds: tuple[float, ...]
    cpu: tuple[float, ...]
    panes: int


class CpuClock:
    """Notes, at the end of each step, for how many seconds the JVM has kept cores busy so far."""

    def __init__(self) -> None:
        self.engine: Engine | None = None
        self.notes: list[float] = []

    def __call__(self, _: Progress) -> None:
        """Take note of a step."""
        assert self.engine
        self.notes.append(cpu_seconds(process_of(self.engine.spark)))

    def since_first(self) -> tuple[float, ...]:
        """Return what each step but the first took, and forget them."""
        taken = tuple(later - sooner for sooner, later in pairwise(self.notes))
        self.notes.clear()
        return taken


def write(engine: Engine, folder: Path, rows: int, windows: int) -> None:
    """Write the files, one a step; each moves the event time on by so many minutes, and one row in two crosses."""
    keys = max(1, windows // MINUTES)
    (folder / "events").mkdir()
    for number in range(FILES):
        engine.spark.range(rows).selectExpr(
            f"concat('key ', pmod(xxhash64(id, {number}), {keys})) AS key",
            "CAST(id % 1000 AS INT) AS value",
            f"timestamp_seconds({number * MINUTES * 60} + pmod(xxhash64(id), {MINUTES * 60})) AS at",
            "id < 0 AS marked",
        ).coalesce(1).write.parquet(str(folder / f"written-{number}"))
        (part,) = (folder / f"written-{number}").glob("*.parquet")
        part.rename(folder / "events" / f"{number}.parquet")


def measured(engine: Engine, clock: CpuClock, name: str, trigger: str) -> Run:
    """Make a streaming table under a trigger; return what its counted steps took and emitted."""
    _rows(
        engine,
        "CREATE STREAMING TABLE bench AS SELECT key, count(*) AS n, sum(value) AS total, window_start"
        f" FROM STREAM events GROUP BY key WINDOW FIXED (at, SIZE INTERVAL 1 MINUTE) TRIGGER {trigger}",
    )
    steps = _rows(engine, "SELECT seconds, panes FROM stream_progress('bench') WHERE step > 1")
    _rows(engine, "DROP STREAMING TABLE bench")
    seconds = tuple(s["seconds"] for s in steps)
    return Run(name, trigger, seconds, clock.since_first(), sum(s["panes"] for s in steps))


def main(arguments: list[str] | None = None) -> int:
    """Run everything, print the table and write it down."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks triggers", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows a step")
    parser.add_argument("--windows", type=int, default=20_000, help="windows a step, of all keys")
    parser.add_argument("--rounds", type=int, default=4, help="counted rounds; one more goes before them")
    parser.add_argument("--only", default="", help="only the trees whose name matches this pattern")
    chosen = parser.parse_args(arguments)
    trees = [(name, tree) for name, tree in (*QUIET, *LOUD) if re.search(chosen.only, name)]
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as scratch_name:
        scratch = Path(scratch_name)
        clock = CpuClock()
        with Engine.open(scratch / "warehouse", on_progress=clock) as engine:
            clock.engine = engine
            write(engine, scratch, chosen.rows, chosen.windows)
            _rows(
                engine,
                "CREATE STREAM events (key STRING, value INT, at TIMESTAMP, marked BOOLEAN) USING parquet"
                f" OPTIONS (path '{scratch / 'events'}', maxFilesPerTrigger '1')"
                " WATERMARK at DELAY OF INTERVAL 0 SECONDS",
            )
            for turn in range(chosen.rounds + 1):
                for name, tree in (("", ALONE), *trees):
                    run = measured(engine, clock, name, tree)
                    print(
                        f"round {turn} {tree[:70]:70} {run.seconds} {_rounded(run.cpu)} {run.panes}",
                        file=sys.stderr,
                        flush=True,
                    )
                    runs += [run] if turn else []
    report(runs, trees, chosen.rows, chosen.windows)
    return 0


def report(runs: list[Run], trees: list[tuple[str, str]], rows: int, windows: int) -> None:
    """Print what the trees cost over AT WATERMARK alone, and keep it with every run."""
    alone = [r for r in runs if r.trigger == ALONE]
    steps = sum(len(r.seconds) for r in alone)
    lines = [
        f"Steps of {rows:,} rows that fall into {windows:,} windows: the median of {steps} steps each (the least), and"
        " of the ratios within a round.",
        "",
        "| | trigger | seconds a step | ratio | CPU seconds a step | ratio | panes |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, tree in (("", ALONE), *trees):
        mine = [r for r in runs if r.trigger == tree]
        wall = _compared([r.seconds for r in mine], [r.seconds for r in alone])
        cpu = _compared([r.cpu for r in mine], [r.cpu for r in alone])
        lines.append(f"| {name} | `{tree}` | {wall} | {cpu} | {mine[0].panes:,} |")
    keep("triggers", "\n".join(lines), runs)


def _compared(mine: list[tuple[float, ...]], alone: list[tuple[float, ...]]) -> str:
    """Return what a tree's steps took, and how that compares with the steps of the same rounds; both round by round."""
    steps = [s for taken in mine for s in taken]
    ratio = statistics.median(sum(its) / sum(other) for its, other in zip(mine, alone, strict=True))
    return f"{statistics.median(steps):.2f} ({min(steps):.2f}) | {ratio:.2f}"


def _rounded(values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(round(value, 2) for value in values)


def _rows(engine: Engine, text: str) -> list[dict[str, Any]]:
    return [row for result in engine.run(text) for batch in result.batches for row in batch.to_pylist()]


if __name__ == "__main__":
    sys.exit(main())
