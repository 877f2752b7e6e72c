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

    table = profile.of_steps(engine.spark, steps)
    cells = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
    lines = {name: figures for name, *figures in cells}
    header, whole = lines["stages of"], lines["**all stages**"]
    assert whole[header.index("shuffled")].replace(",", "").startswith("1000")
    assert float(lines["**a step**"][header.index("clock s")]) >= float(whole[header.index("clock s")])
    assert any("Exchange" in name for name in lines)


def test_time_that_stages_share_counts_once() -> None:
    assert profile.covered([(4.0, 5.0), (0.0, 2.0), (1.0, 3.0), (1.5, 1.6)]) == 4.0
    assert profile.covered([]) == 0.0
