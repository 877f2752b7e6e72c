"""The page on changes is real: its statements run, and what it shows of them is what comes out."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from tests.statements import Rows
from warehouse.cli.formats.aligned import write_table
from warehouse.engine import Engine

PAGE = Path(__file__).parents[2] / "docs" / "changing.md"
PAIRS = re.compile(r"```sql\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
PLAYS = """
{"team": "red",  "score": 5, "at": "2024-05-01T12:00:27Z"}
{"team": "red",  "score": 7, "at": "2024-05-01T12:02:25Z"}
{"team": "blue", "score": 3, "at": "2024-05-01T12:03:40Z"}
"""


def shown(engine: Engine, sql: str) -> str:
    """Return what the last statement gives as a terminal shows it; of an EXPLAIN, the verdict."""
    out = ""
    for result in engine.run(sql):
        if result.schema is None:
            continue
        if result.schema.names == ["plan"]:
            plan = next(iter(result.batches)).to_pylist()[0]["plan"]
            out = plan.partition("== Streaming table ==")[0]
        else:
            written = io.BytesIO()
            write_table(result.schema, result.batches, written)
            out = written.getvalue().decode()
    return out


@pytest.mark.soak
def test_the_page_is_real(
    engine: Engine, rows: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plays").mkdir()
    (tmp_path / "plays" / "1.json").write_text(PLAYS.lstrip())
    whole, schema = PAGE.read_text(encoding="utf-8"), rows("SELECT current_schema() AS s")[0]["s"]
    edits = []
    for found in PAIRS.finditer(whole):
        output = shown(engine, found[1]).replace(f"{schema}.", "default.").replace(str(tmp_path), "/data")
        if found[2] is not None:
            edits.append((found.span(2), output))
    assert len(edits) == 5
    page = whole
    for (start, end), output in reversed(edits):
        page = page[:start] + output + page[end:]
    if request.config.getoption("--update-goldens"):
        PAGE.write_text(page, encoding="utf-8")
    else:
        assert page == whole
