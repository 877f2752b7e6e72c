"""The rendered text of every mistake, exact. ``--update-goldens`` writes the right halves anew.

Each file holds pairs: the statement, a line ``---->``, what the user sees, a line ``====``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from warehouse.errors import SourceText, WarehouseError, conditions
from warehouse.language import parse

FOLDER = Path(__file__).parents[2] / "fixtures" / "errors"


def pairs(file: Path) -> list[tuple[str, str]]:
    halves = (block.split("\n---->\n") for block in file.read_text(encoding="utf-8").split("\n====\n")[:-1])
    return [(sql, expected) for sql, expected in halves]


def rendered(sql: str) -> str:
    try:
        return f"accepted: {type(parse(SourceText(sql))).__name__}"
    except WarehouseError as error:
        return error.render()


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.txt")), ids=lambda f: f.stem)
def test_errors_read_as_written(file: Path, request: pytest.FixtureRequest) -> None:
    actual = [(sql, rendered(sql)) for sql, _ in pairs(file)]
    if request.config.getoption("--update-goldens"):
        text = "".join(f"{sql}\n---->\n{expected}\n====\n" for sql, expected in actual)
        file.write_text(text, encoding="utf-8")
    assert actual == pairs(file)


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.txt")), ids=lambda f: f.stem)
def test_every_error_has_a_place_and_a_way_out(file: Path) -> None:
    for sql, expected in pairs(file):
        assert "hint: " in expected and "^" in expected, sql


ELSEWHERE = {"08", "22", "28", "38", "53", "54", "55", "57", "58", "F0", "HY", "XX"}
"""Classes of what is no mistake in a statement: connections, rows, secrets, a user's Python, limits, states, disks."""


def test_a_mistake_in_a_statement_is_of_class_42() -> None:
    others = {entry["sqlstate"][:2] for entry in conditions().values()} - {"42"}
    assert others <= ELSEWHERE
    for file in FOLDER.glob("*.txt"):
        for _, expected in pairs(file):
            assert "SQLSTATE: 42" in expected or "SQLSTATE: 54001" in expected, expected
