"""Which records of Kafka belong to a step: arithmetic over the offsets of partitions, without a broker.

A step's offsets are kept whole, as ``{"from": …, "to": …}``: a step that is run again reads exactly what it read
before, also where partitions were added or records lost in between, and also the very first step, whose beginning
Spark's offset log does not keep.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

LOST = "__w_lost"
"""BIGINT: of a row that stands for lost records the offset after them, its own being their first; else NULL."""

Place = tuple[str, int]
"""Topic and partition."""

Offsets = dict[Place, int]
"""Per partition the offset of the next record."""


@dataclass(frozen=True)
class Marks:
    """What the broker has now: per partition the first offset, and the one after the last that may be read."""

    earliest: Offsets
    latest: Offsets


@dataclass(frozen=True)
class Lost:
    """Records that were gone before they were read: ``first`` up to, and without, ``end``; empty where unknown."""

    place: Place
    first: int
    end: int

    def __str__(self) -> str:
        topic, partition = self.place
        if self.end > self.first:
            return f"{topic}-{partition}: {self.first} to {self.end - 1}"
        return f"{topic}-{partition}: everything after {self.first - 1}"


@dataclass(frozen=True)
class Step:
    """What a step reads: each partition of ``end`` from its offset in ``begin``; ``lost`` is passed over."""

    begin: Offsets
    end: Offsets
    lost: tuple[Lost, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the offset as Spark logs it; the lost ranges are there only if there are any."""
        out: dict[str, Any] = {"from": nested(self.begin), "to": nested(self.end)}
        if self.lost:
            out["lost"] = {f"{topic}-{partition}": f"{lost.first}-{lost.end}" for lost in self.lost
                           for topic, partition in [lost.place]}  # fmt: skip
        return out

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Step:
        """Return what ``as_json`` wrote."""
        lost = []
        for place, records in data.get("lost", {}).items():
            topic, _, partition = place.rpartition("-")
            first, _, end = records.partition("-")
            lost.append(Lost((topic, int(partition)), int(first), int(end)))
        return cls(flat(data["from"]), flat(data["to"]), tuple(lost))


def next_step(start: Offsets, marks: Marks, most: int | None) -> Step:
    """Return what is read after ``start``.

    A partition that ``start`` does not know was added since: it is read from its first record. What is no longer
    there is passed over and told in ``lost``: records that retention removed, and those of a topic that is gone
    or was made again.

    Args:
        start: where the step before ended.
        marks: what there is.
        most: the number of offsets the step may have, or None.
    """
    begin, lost = Offsets(), []
    for place in sorted(marks.latest):
        begin[place] = wanted = start.get(place, 0)
        if wanted < marks.earliest[place]:
            lost.append(Lost(place, wanted, marks.earliest[place]))
            begin[place] = marks.earliest[place]
        elif wanted > marks.latest[place]:
            lost.append(Lost(place, marks.latest[place], marks.latest[place]))
            begin[place] = marks.latest[place]
    for place in sorted(start.keys() - marks.latest.keys()):
        lost.append(Lost(place, start[place], start[place]))
    return Step(begin, bounded(begin, marks.latest, most), tuple(lost))


def bounded(begin: Offsets, latest: Offsets, most: int | None) -> Offsets:
    """Return where a step ends that has at most ``most`` offsets, shared out by what is there to be read.

    Example:
        >>> bounded({("a", 0): 0, ("a", 1): 0}, {("a", 0): 30, ("a", 1): 10}, 20)
        {('a', 0): 15, ('a', 1): 5}
    """
    sizes = {place: latest[place] - begin[place] for place in begin}
    total = sum(sizes.values())
    if most is None or total <= most:
        return {place: latest[place] for place in begin}
    shares = {place: size * most // total for place, size in sizes.items()}
    left = most - sum(shares.values())
    for place in sorted(sizes, key=lambda p: (shares[p] - sizes[p] * most / total, p)):
        if left and shares[place] < sizes[place]:
            shares[place] += 1
            left -= 1
    return {place: begin[place] + shares[place] for place in begin}


def starting_offsets(text: str, marks: Marks) -> Offsets:
    """Return where each partition starts.

    Args:
        text: ``earliest``, ``latest`` or ``{"topic": {"0": 5, "1": -1}}``, where -1 is the latest and -2 the
            earliest; partitions that it does not name start at the earliest.
        marks: what there is.
    """
    if text.strip().lower() == "latest":
        return marks.latest
    given = flat(json.loads(text)) if text.strip().startswith("{") else {}
    marked = {-1: marks.latest, -2: marks.earliest}
    out = Offsets()
    for place, first in marks.earliest.items():
        at = given.get(place, first)
        out[place] = marked[at][place] if at in marked else at
    return out


def is_behind(end: str, latest: str) -> bool:
    """Say whether a step that ended at ``end`` has left records before ``latest``; both as a reader tells Spark.

    Example:
        >>> is_behind('{"t": {"0": 5}}', '{"t": {"0": 7}}')
        True
    """
    read, there = (flat(told.get("to", told)) for told in (json.loads(end), json.loads(latest)))
    return any(read.get(place, 0) < at for place, at in there.items())


def flat(nested: dict[str, dict[str, int]]) -> Offsets:
    """Return offsets as Spark writes them, ``{"topic": {"0": 5}}``, per partition."""
    return {(topic, int(number)): int(at) for topic, numbers in nested.items() for number, at in numbers.items()}


def nested(offsets: Offsets) -> dict[str, dict[str, int]]:
    """Return offsets as Spark writes them."""
    out: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(offsets.items()):
        out.setdefault(topic, {})[str(partition)] = offset
    return out
