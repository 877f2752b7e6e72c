"""What the benchmark of endurance makes of its figures."""

from __future__ import annotations

import json

import pytest

from benchmarks.endurance import Sample, kind, lines, verdicts


@pytest.mark.parametrize(
    ("place", "what"),
    [
        ("streaming/t-1/panes", "Delta's data"),
        ("streaming/t-1/late_rows/_delta_log/_staged_commits", "Delta's logs"),
        ("streams/default.s/bad_rows/_delta_log", "Delta's logs"),
        ("streaming/t-1/checkpoint/sources/0", "checkpoint"),
        ("streaming/t-1/commits", "commits and intents"),
        ("streaming/t-1/history", "history"),
        ("tmp/hive", "scratch"),
        ("", "others"),
    ],
)
def test_every_file_is_of_some_kind(place: str, what: str) -> None:
    assert kind(tuple(filter(None, place.split("/")))) == what


def test_what_grows_is_told_from_what_is_flat() -> None:
    figures = {"flat": lambda n: 5 + n % 2, "growing": lambda n: n, "history, files": lambda n: n}
    samples = [Sample(n / 10, {name: figure(n) for name, figure in figures.items()}) for n in range(1, 31)]
    rows = [line.strip("| ").split(" | ") for line in verdicts(samples).splitlines()]
    told = {row[0]: row[-1] for row in rows}
    assert (told["flat"], told["growing"], told["history, files"]) == ("flat", "GROWS", "may grow")


def test_a_file_has_one_line_that_is_broken() -> None:
    found = list(lines(7, 50, 1_800_000_000_000_000, 30))
    assert len(found) == 50 and len([line for line in found[1:] if json.loads(line)["at"]]) == 49
