"""What the benchmarks tell of where time goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import profile

if TYPE_CHECKING:
    from warehouse.engine import Engine


def test_the_stages_of_steps_are_told_by_their_operators(engine: Engine) -> None:
    """Two steps that shuffle a million rows: a line for what shuffles, and figures a step, not of both."""

    def steps() -> int:
        for _ in range(2):
            list(engine.run("SELECT count(DISTINCT id) FROM (SELECT id FROM range(1000000) DISTRIBUTE BY id)"))
        return 2

    lines = _lines(profile.of_steps(engine.spark, steps))
    header, whole = lines["stages of"], lines["**all stages**"]
    assert whole[header.index("shuffled")].replace(",", "").startswith("1000")
    assert float(lines["**a step**"][header.index("clock s")]) >= float(whole[header.index("clock s")])
    assert any("Exchange" in name for name in lines)


def test_a_query_is_a_line_with_its_dearest_stage(engine: Engine) -> None:
    text = "SELECT sum(hash(id)) FROM (SELECT id FROM range(100000) DISTRIBUTE BY id)"
    asked = {"shuffled": lambda: list(engine.run(text)), "none": lambda: None}
    lines = _lines(profile.of_queries(engine.spark, asked, 1))
    header = lines["query"]
    shuffled = dict(zip(header, lines["shuffled"], strict=True))
    assert float(shuffled["MB shuffled"]) > 0
    assert int(shuffled["stages"]) >= 2
    assert "%" in shuffled["the dearest stage"]
    assert float(shuffled["no task s"]) <= float(shuffled["clock s"])
    assert dict(zip(header, lines["none"], strict=True))["the dearest stage"] == ""


def test_time_that_stages_share_counts_once() -> None:
    assert profile.covered([(4.0, 5.0), (0.0, 2.0), (1.0, 3.0), (1.5, 1.6)]) == 4.0
    assert profile.covered([]) == 0.0


def _lines(table: str) -> dict[str, list[str]]:
    """Return the cells of each line of a table by its first one."""
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
    return {name: figures for name, *figures in cells}
