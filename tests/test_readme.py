"""The tour in the README is real: its commands run, and what it shows is what comes out."""

from __future__ import annotations

import io
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warehouse.cli.formats.aligned import write_table

if TYPE_CHECKING:
    from warehouse.engine import Engine

README = Path(__file__).parent.parent / "README.md"
FENCE = re.compile(r"```(sh|sql|text)\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    start: int
    end: int


def tour() -> list[Block]:
    """Return the fenced blocks of the section "Five minutes"."""
    whole = README.read_text()
    first, last = whole.index("## Five minutes"), whole.index("## What there is")
    return [Block(m[1], m[2], m.start(2), m.end(2)) for m in FENCE.finditer(whole, first, last)]


def shown(engine: Engine, sql: str) -> str:
    """Return the results of all statements as a terminal shows them."""
    out = []
    for result in engine.run(sql):
        if result.schema is not None:
            written = io.BytesIO()
            write_table(result.schema, result.batches, written)
            out.append(written.getvalue().decode())
    return "\n".join(out)


def test_the_tour_is_real(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    list(engine.run("CREATE SCHEMA IF NOT EXISTS tour; USE tour"))
    found: list[tuple[Block, str]] = []
    output = ""
    try:
        for block in tour():
            if block.language == "sh":
                subprocess.run(["bash", "-euc", block.text], check=True, cwd=tmp_path)
            elif block.language == "sql":
                output = shown(engine, block.text)
            else:
                found.append((block, output))
    finally:
        list(engine.run("USE default"))
    if request.config.getoption("--update-goldens"):
        whole = README.read_text()
        for block, text in reversed(found):
            whole = whole[: block.start] + text + whole[block.end :]
        README.write_text(whole)
        return
    assert found
    for block, text in found:
        assert block.text == text
