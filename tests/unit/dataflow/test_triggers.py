"""The tables of the algebra in ``dataflow.triggers`` say what its functions do."""

from __future__ import annotations

import re

import pytest

from warehouse.dataflow import triggers
from warehouse.dataflow.times import Clock
from warehouse.dataflow.triggers import INNER, Kind, Node

CLOCK = Clock(1, 111, 100, 222, faster={9.0: 333})
NOTHING = "-"


def table(first: str) -> dict[str, dict[str, str]]:
    """Return the table of the docstring whose first column is called ``first``: its cells by kind and column."""
    lines = (triggers.__doc__ or "").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(first + " "))
    places = [match.span() for match in re.finditer(r"=+", lines[at - 1])]
    found: dict[str, dict[str, str]] = {}
    names = [lines[at][start:end].strip() for start, end in places]
    last = ""
    for line in lines[at + 2 :]:
        if line.startswith("="):
            return found
        cells = [line[start:end].strip() for start, end in places]
        if cells[0]:
            last = cells[0]
            found[last] = dict.fromkeys(names, "")
        for name, cell in zip(names, cells, strict=True):
            found[last][name] = f"{found[last][name]} {cell}".strip()
    raise AssertionError("the table has no end")


LEAVES, INNERS = table("leaf"), table("inner")
A, B = Node(Kind.AFTER_ROWS, 1, 7), Node(Kind.EVERY_TIME, 2, 8)


def test_each_kind_has_its_row() -> None:
    assert list(LEAVES) + list(INNERS) == [k.name for k in Kind if k not in INNER or k is Kind.NEVER] + [
        k.name for k in Kind if k in INNER and k is not Kind.NEVER
    ]


@pytest.mark.parametrize("name", LEAVES)
def test_leaf(name: str) -> None:
    row, node = LEAVES[name], Node(Kind[name], 3, 7, condition="holds", percent=9.0)
    due = triggers.ready(node, CLOCK)
    counts = re.sub(r"pn > 0 AND", "", due)
    assert bool(re.search(r"\bp[nbf]\b|\bph_3\b|\bholds\b", counts)) == (row["on rows"] != NOTHING)
    assert bool(re.search(r"\b(222|333)L >= we", due)) == (row["on the watermark"] != NOTHING)
    assert ("333L" in due) == ("faster" in row["on the watermark"])
    assert ("111L" in due) == (row["on the clock"] != NOTHING)
    assert (triggers.finished(node) == "false") == (row["finished"] == "never")
    assert row["finished"] == "never" or triggers.finished(node) == "f_3"
    pending = {p.name.removesuffix("_3"): p for p in triggers.pending(node)}
    read = set(re.findall(r"\b(p[nbf]|ph)(?=\b|_3)", counts))
    assert (row["after firing"] == NOTHING) == (not read)
    for column in read:
        none = re.sub(r"CAST\(NULL AS \w+\)", "NULL", pending[column].none)
        assert row["after firing"] == f"{column} = {none}"
        assert row["on merge"] == pending[column].merge.replace("_3", "")


@pytest.mark.parametrize("name", INNERS)
def test_inner(name: str) -> None:
    row, node = INNERS[name], Node(Kind[name], 0, parts=(A, B))
    a, b = (triggers.ready(part, CLOCK) for part in (A, B))
    due = {
        "when a part is": f"({a} OR {b})",
        "when all parts are": f"({a} AND {b})",
        "when the active is": f"(CASE t_0 WHEN 0 THEN {a} WHEN 1 THEN {b} END)",
    }
    assert triggers.ready(node, CLOCK) == due[row["due"]]
    fires = triggers.fired(node)
    root = fires[0]
    fired = {
        "those that are due": (f"({root} AND r_1)", f"({root} AND r_2)"),
        "all": (f"({root} AND r_1)", f"({root} AND r_2)"),  # all are due when it fires
        "the active one": (f"({root} AND t_0 = 0)", f"({root} AND t_0 = 1)"),
        "UNTIL if due, or else the body": (f"({root} AND NOT r_2)", f"({root} AND r_2)"),
    }
    assert (fires[1], fires[2]) == fired[row["of its parts fire"]]
    finished = {
        "when a part that fired is": f"({triggers.finished(A)} OR {triggers.finished(B)})",
        "when its last part is": triggers.finished(B),
        "when UNTIL fired": "f_2",
    }
    assert triggers.finished(node) == finished[row["finished"]]
    advances, least = (row[c] not in (NOTHING, "its parts do") for c in ("after firing", "on merge"))
    assert least == (node in triggers.thens(node))
    if least:
        assert advances and "WHEN t_0 = 0 AND z_1 THEN 1" in triggers.advanced(node, node)
        assert "min(CASE WHEN kept THEN t_0 END)" in triggers.merged_part(node, node, "kept")
