"""Pages of documentation whose statements run: what a page shows of them is what comes out."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path

from warehouse.cli.formats.aligned import write_table
from warehouse.engine import Engine

PAIRS = re.compile(r"```sql\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


def shown(engine: Engine, sql: str, plan: Callable[[str], str]) -> str:
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


def filled(page: Path, show: Callable[[str], str]) -> str:
    """Return the page with what each of its statements gives, by ``show``, in the place of what it shows."""
    whole = page.read_text(encoding="utf-8")
    edits = [
        (found.span(2), output)
        for found in PAIRS.finditer(whole)
        if (output := show(found[1])) and found[2] is not None
    ]
    for (start, end), output in reversed(edits):
        whole = whole[:start] + output + whole[end:]
    return whole
