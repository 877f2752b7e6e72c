"""What a statement did, as values: its plans with what each operator took, its shuffles, joins and stages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Operator:
    """One operator of a plan that has run.

    Attributes:
        name: Spark's name of it, ``SortMergeJoin``.
        detail: keys, columns and the like.
        rows: how many came out, or None where Spark does not count them.
        measures: what else was measured, as ``(label, value with its unit)``.
    """

    name: str
    detail: str
    rows: int | None
    measures: tuple[tuple[str, str], ...]
    children: tuple[Operator, ...] = ()


@dataclass(frozen=True)
class HeavyHitter:
    """A value of a shuffle's key that many of its rows have; ``key`` as text."""

    key: str
    rows: int


@dataclass(frozen=True)
class Shuffle:
    """One shuffle.

    Attributes:
        number: from 1, those further down in the plan first.
        by: the keys, or how else rows are distributed; empty: all in one partition.
        rows: rows written. size: bytes that the rows have in memory, by which joins are chosen.
        partitions: bytes of each partition on disk, as Spark knows them: a byte of a logarithmic code for each task and
            partition, at most ten percent off.
        heavy: the commonest keys of the largest partition, where it is far above the median.
    """

    number: int
    by: str
    rows: int
    size: int
    partitions: tuple[int, ...]
    heavy: tuple[HeavyHitter, ...] = ()

    @property
    def least(self) -> int:
        """Return the size of the smallest partition."""
        return min(self.partitions, default=0)

    @property
    def median(self) -> int:
        """Return the size of the median partition, the lower of two."""
        ordered = sorted(self.partitions)
        return ordered[(len(ordered) - 1) // 2] if ordered else 0

    @property
    def largest(self) -> int:
        """Return the size of the largest partition."""
        return max(self.partitions, default=0)


@dataclass(frozen=True)
class Read:
    """How adaptive execution had a shuffle read.

    Attributes:
        shuffle: the number of the shuffle. before: how many partitions it has. after: how many its readers had.
        local: each reader took what one task had written, and nothing was moved.
        split: how many partitions were split for their size, and into how many parts.
        coalesced: how many of the readers' partitions are several of the shuffle's.
    """

    shuffle: int
    before: int
    after: int
    local: bool
    split: tuple[int, int] | None
    coalesced: int

    @property
    def text(self) -> str:
        """Return it in a few words."""
        if self.local:
            return "local: each reader takes what one task has written"
        if self.split:
            parts, of = self.split[1], f"{self.split[0]} of {self.before} partitions"
            rest = f", the others read by {self.after - parts} tasks" if self.after > parts else ""
            return f"{of} skewed and split into {parts} parts{rest}"
        return f"{self.before} partitions coalesced to {self.after}" if self.coalesced else f"{self.after} partitions"


@dataclass(frozen=True)
class Join:
    """An equi-join of a plan.

    Attributes:
        identity: of the join within a statement, whatever becomes of it.
        on: its keys, as text.
        algorithm: Spark's name of the operator.
        sizes: the bytes that came out of the shuffle of the left and of the right side; None of one without.
        first: 0 or 1, where the rule ran that side before the other, else None.
        build: 0 or 1, the side that was hashed, or None.
    """

    identity: str
    on: str
    algorithm: str
    sizes: tuple[int | None, int | None] = (None, None)
    first: int | None = None
    build: int | None = None


@dataclass(frozen=True)
class Ran:
    """One of Spark's executions.

    Attributes:
        tree: what ran.
        planned: the joins as they were planned before anything ran. joins: those that ran.
        broadcast_limit: how large the side of a join may be to be broadcast, in bytes; negative: none may.
        adaptive: Spark could change the plan while it ran.
    """

    tree: Operator
    planned: tuple[Join, ...]
    joins: tuple[Join, ...]
    shuffles: tuple[Shuffle, ...]
    reads: tuple[Read, ...]
    broadcast_limit: int
    adaptive: bool = True


@dataclass(frozen=True)
class Stage:
    """One of Spark's stages: what its tasks moved, and how long each took, in milliseconds."""

    number: int
    rows_in: int
    bytes_in: int
    shuffle_rows_in: int
    shuffle_bytes_in: int
    shuffle_rows_out: int
    shuffle_bytes_out: int
    spilled_memory: int
    spilled_disk: int
    times: tuple[int, ...]

    @property
    def longest(self) -> int:
        """Return the time of the longest task."""
        return max(self.times, default=0)

    @property
    def median(self) -> int:
        """Return the time of the median task, the lower of two."""
        ordered = sorted(self.times)
        return ordered[(len(ordered) - 1) // 2] if ordered else 0


def operators(root: Operator) -> Iterator[Operator]:
    """Yield an operator and all below it."""
    yield root
    for child in root.children:
        yield from operators(child)
