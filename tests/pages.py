"""Pages of documentation whose statements run: what a page shows of them is what comes out."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from warehouse.cli.formats.aligned import write_table
from warehouse.engine import Engine

FENCE = re.compile(r"```(sh|sql)\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


def shown(engine: Engine, sql: str, plan: Callable[[str], str] = str) -> str:
    """Return what statements give as a terminal shows it; of an EXPLAIN, what ``plan`` leaves of it."""
    out = []
    for result in engine.run(sql):
        if result.schema is None:
            continue
        if result.schema.names == ["plan"]:
            out.append(plan(next(iter(result.batches)).to_pylist()[0]["plan"]))
        else:
            written = io.BytesIO()
            write_table(result.schema, result.batches, written)
            out.append(written.getvalue().decode())
    return "\n".join(out)


def check_page(
    request: pytest.FixtureRequest,
    page: Path,
    count: int,
    show: Callable[[str], str],
    *,
    section: str = "",
    shell: Callable[[str], object] | None = None,
    lasting: Callable[[str], str] = str,
) -> None:
    """Check that a page shows what its statements give; under ``--update-goldens`` it is made to.

    Args:
        request: of the test.
        page: its file.
        count: how many outputs it shows.
        show: returns what statements give.
        section: the heading of the part that is run, the whole page without one.
        shell: runs its shell commands, which are left alone without it.
        lasting: returns a page without what is different each time.
    """
    whole = page.read_text(encoding="utf-8")
    start = whole.index(section)
    end = whole.index("\n## ", start) if section else len(whole)
    edits = []
    for found in FENCE.finditer(whole, start, end):
        language, text, output = found.groups()
        if language == "sql":
            gives = show(text)
            if output is not None:
                edits.append((found.span(3), gives))
        elif shell:
            shell(text)
    assert len(edits) == count
    filled = whole
    for (first, last), gives in reversed(edits):
        filled = filled[:first] + gives + filled[last:]
    if request.config.getoption("--update-goldens"):
        page.write_text(filled, encoding="utf-8")
    else:
        assert lasting(filled) == lasting(whole)
