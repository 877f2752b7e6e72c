"""The tables of the algebra in ``dataflow.triggers`` say what its functions do."""

from __future__ import annotations

import re

import pytest

from warehouse.dataflow import triggers
from warehouse.dataflow.custom import Arrived, CustomTrigger, Kept, TriggerView
from warehouse.dataflow.times import Clock
from warehouse.dataflow.triggers import Kind, Node

CLOCK = Clock(1, 111, 100, 222, faster={9.0: 333}).literals()
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
    inner = {Kind.OR, Kind.AND, Kind.THEN, Kind.REPEAT}
    assert list(LEAVES) + list(INNERS) == [k.name for k in Kind if k not in inner] + [
        k.name for k in Kind if k in inner
    ]


@pytest.mark.parametrize("name", [name for name in LEAVES if "as it says" not in LEAVES[name].values()])
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


class Own(CustomTrigger):
    def arrived(self, limit: str) -> dict[str, Arrived]:
        return {"top": Arrived("int", "max(x0)", "max", "0")}

    def kept(self, window: TriggerView, limit: str) -> dict[str, Kept]:
        return {"target": Kept("int", limit, f"{window['target']} + 1", "min")}

    def on_rows(self, window: TriggerView, limit: str) -> str:
        return f"{window['top']} > {window['target']}"

    def on_watermark(self, window: TriggerView, limit: str) -> str:
        return f"{window.start} + INTERVAL 1 HOUR"

    def on_time(self, window: TriggerView, limit: str) -> str:
        return f"{window.first_arrival} + INTERVAL 1 DAY"


@pytest.mark.parametrize("goes_on", [True, False])
def test_a_leaf_of_the_users_own_does_as_it_says(goes_on: bool) -> None:
    own = Own()
    own.goes_on = goes_on
    node = Node(Kind.CUSTOM, 3, own=triggers.Own(own, ("9",)))
    assert {column for column, cell in LEAVES["CUSTOM"].items() if cell == "as it says"} == {
        "on rows", "on the watermark", "on the clock", "after firing", "on merge",
    }  # fmt: skip
    due = triggers.ready(node, CLOCK)
    assert "c_3_top > c_3_target" in due
    assert "222L >= unix_micros(__w_start + INTERVAL 1 HOUR)" in due
    assert "111L >= unix_micros(timestamp_micros(pf) + INTERVAL 1 DAY)" in due
    assert triggers.finished(node) == ("false" if goes_on else "f_3")
    top = triggers.pending(node)[-1]
    assert (top.name, top.first, top.merge, top.none) == ("c_3_top", "max(x0)", "max(c_3_top)", "0")
    (target,) = triggers.trigger_state(node)
    assert (target.name, target.first) == ("c_3_target", "9")
    assert target.merge == "min(CASE WHEN {member} THEN c_3_target END)"
    assert "WHEN (z_3) THEN 9 WHEN f_3 THEN c_3_target + 1 ELSE c_3_target" in target.next


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
    kept = {k.name: k for k in triggers.trigger_state(node)}
    assert least == ("t_0" in kept)
    if least:
        assert advances and "WHEN t_0 = 0 AND z_1 THEN 1" in kept["t_0"].next
        assert kept["t_0"].merge == "min(CASE WHEN {member} THEN t_0 END)"
