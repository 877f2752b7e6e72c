"""What EXPLAIN ANALYZE prints, from values alone: the plan that ran, what changed meanwhile, shuffles and stages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from warehouse.adaptive.observed import Join, Operator, Ran, Read, Shuffle, Stage, operators
from warehouse.adaptive.quantities import count, duration, size
from warehouse.execution.results import Progress, TrainingProgress

SIDES = ("left", "right")


class Recorded(Protocol):
    """What was recorded of a statement, its time in seconds."""

    seconds: float

    def runs(self) -> Sequence[Ran]:
        """Return the plans that ran."""

    def stages(self) -> Sequence[Stage]:
        """Return the stages that had tasks."""


def lines(said: str | None, recording: Recorded, steps: Sequence[Progress | TrainingProgress]) -> Iterator[str]:
    """Yield the lines of EXPLAIN ANALYZE.

    Args:
        said: what the statement says of itself.
        recording: what Spark did for it.
        steps: what it reported while it ran: a streaming table's steps, a training's stages.
    """
    stages, runs = recording.stages(), recording.runs()
    yield f"ran in {duration(1000 * recording.seconds)}" + (f"; {said}" if said else "")
    scanned = [each for run in runs for each in operators(run.tree) if not each.children and "Scan " in each.name]
    yield f"rows read: {sum(each.rows or 0 for each in scanned) or sum(stage.rows_in for stage in stages):,}"
    yield ""
    if steps:
        yield "== Steps =="
        yield from map(_step_line, steps)
        yield ""
        runs = []  # dozens of them
    for number, each in enumerate(runs, 1):
        of = f", {number} of {len(runs)}" if len(runs) > 1 else ""
        yield f"== Plan that ran{of} =="
        yield from tree_lines(each.tree)
        if each.adaptive:
            yield ""
            yield "== What changed while it ran =="
            yield from changes(each)
        if each.shuffles:
            yield ""
            yield "== Shuffles =="
            for shuffle in each.shuffles:
                yield from shuffle_lines(shuffle)
        yield ""
    yield "== Stages =="
    yield from stage_lines(stages)


def _step_line(step: Progress | TrainingProgress) -> str:
    took = duration(1000 * step.seconds)
    if isinstance(step, TrainingProgress):
        return f"{step.stage}: {step.work}, pass {step.passes}, {took} since the beginning"
    return (
        f"step {step.step}: {count(step.rows, 'row')}, {step.late:,} late, {count(step.panes, 'pane')},"
        f" watermark {step.watermark}, {took}"
    )


def tree_lines(root: Operator) -> Iterator[str]:
    """Yield a plan as a tree, each operator with what it took."""
    yield from _branch(root, "", "")


def _branch(operator: Operator, first: str, rest: str) -> Iterator[str]:
    measures = [count(operator.rows, "row")] if operator.rows is not None else []
    measures += [f"{label} {value}" for label, value in operator.measures]
    told = " ".join(part for part in (operator.name, operator.detail) if part)
    yield f"{first}{told}" + (f"  ({', '.join(measures)})" if measures else "")
    last = len(operator.children) - 1
    for number, child in enumerate(operator.children):
        ends = number == last
        yield from _branch(child, rest + ("└─ " if ends else "├─ "), rest + ("   " if ends else "│  "))


def changes(run: Ran) -> Iterator[str]:
    """Yield what adaptive execution made different from what was planned."""
    told = [*_join_changes(run), *_read_changes(run.reads, run.shuffles)]
    yield from told or ["nothing"]


def _join_changes(run: Ran) -> Iterator[str]:
    left = list(run.joins)
    for planned in run.planned:
        now = next((j for j in left if j.identity == planned.identity), None)
        if now is None:
            yield f"{planned.on}: {planned.algorithm} is gone: the rows that had come made it needless"
            continue
        left.remove(now)
        if now.algorithm != planned.algorithm:
            yield f"{planned.on}: {planned.algorithm} became {now.algorithm}{_reason(now, run.broadcast_limit)}"
        elif now.first is not None:
            was = size(now.sizes[now.first] or 0)
            yield (
                f"{planned.on}: stays a {now.algorithm}: the {SIDES[now.first]} side was run first, as it was likely"
                f" small, and came to {was} (up to {size(run.broadcast_limit)} are broadcast)"
            )


def _reason(join: Join, limit: int) -> str:
    if join.build is None:
        return ""
    built, other = join.sizes[join.build], join.sizes[1 - join.build]
    if join.algorithm != "BroadcastHashJoin":
        return f": the {SIDES[join.build]} side came to {size(built or 0)}"
    reason = f": the {SIDES[join.build]} side came to {size(built or 0)} (up to {size(limit)} are broadcast)"
    if join.first is not None:
        reason += f"; it was run first, as it was likely small, and the {SIDES[1 - join.first]} side"
        reason += " was never shuffled" if other is None else f" had a shuffle of {size(other)} of its own"
    elif other is not None:
        reason += f"; the {SIDES[1 - join.build]} side had been shuffled by then, {size(other)}"
    return reason


def _read_changes(reads: Iterable[Read], shuffles: Sequence[Shuffle]) -> Iterator[str]:
    for read in reads:
        if read.local or read.split or read.coalesced:
            of = next((s for s in shuffles if s.number == read.shuffle), None)
            sizes = f" (partitions of {size(of.least)} to {size(of.largest)})" if of and not read.local else ""
            yield f"shuffle {read.shuffle}: {read.text}{sizes}"


def shuffle_lines(shuffle: Shuffle) -> Iterator[str]:
    """Yield the lines that tell of one shuffle."""
    many = count(len(shuffle.partitions), "partition")
    how = f"by {shuffle.by}" if shuffle.by else "to one place"
    yield (
        f"shuffle {shuffle.number} {how}: {count(shuffle.rows, 'row')}, {size(sum(shuffle.partitions))} in"
        f" {many}: least {size(shuffle.least)}, median {size(shuffle.median)}, largest {size(shuffle.largest)}"
    )
    for hitter in shuffle.heavy:
        share = 100 * hitter.rows / shuffle.rows if shuffle.rows else 0
        yield f"  heavy hitter {hitter.key}: {count(hitter.rows, 'row')}, {share:.0f} % of the shuffle"


_HEAD = ("stage", "tasks", "longest", "median", "rows read", "from shuffles", "to a shuffle", "spilled")


def stage_lines(stages: Sequence[Stage]) -> Iterator[str]:
    """Yield the table of stages, columns aligned."""
    if not stages:
        yield "none: nothing was computed by tasks"
        return
    table = [_HEAD, *(_cells(number, stage) for number, stage in enumerate(stages, 1))]
    widths = [max(len(row[i]) for row in table) for i in range(len(_HEAD))]
    for row in table:
        yield "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _cells(number: int, stage: Stage) -> tuple[str, ...]:
    def moved(rows: int, bytes_: int) -> str:
        return f"{count(rows, 'row')}, {size(bytes_)}" if rows or bytes_ else "-"

    spilled = stage.spilled_memory + stage.spilled_disk
    return (
        str(number), str(len(stage.times)), duration(stage.longest), duration(stage.median),
        f"{stage.rows_in:,}" if stage.rows_in else "-", moved(stage.shuffle_rows_in, stage.shuffle_bytes_in),
        moved(stage.shuffle_rows_out, stage.shuffle_bytes_out), size(spilled) if spilled else "-",
    )  # fmt: skip
