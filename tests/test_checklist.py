"""``checklist.md`` is true: every point of the Dataflow Model is named by tests that are there, and that run."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent
LINE = re.compile(r"\| (\d+) \| [^|]+ \| (.+) \|")
REFERENCE = re.compile(r"`([\w/.]+)(?:::(test_\w+)(?:\[([^]]+)\])?)?`")
RUN_BY_THE_ORACLE = {"sql/figures", "transcripts"}


def missing(reference: re.Match[str]) -> bool:
    """Say whether a test, one of its cases, or a script that the oracle runs, is not there."""
    path, function, case = reference.groups()
    if not (TESTS / path).is_file():
        return True
    if function is None:
        return str(Path(path).parent) not in RUN_BY_THE_ORACLE
    module = ast.parse((TESTS / path).read_text())
    found = any(isinstance(node, ast.FunctionDef) and node.name == function for node in module.body)
    cases = {node.value for node in ast.walk(module) if isinstance(node, ast.Constant)}
    return not found or (case is not None and case not in cases)


def test_every_point_is_named_by_tests_that_exist() -> None:
    lines = [LINE.fullmatch(line) for line in (TESTS / "checklist.md").read_text().splitlines()]
    named = {int(line[1]): list(REFERENCE.finditer(line[2])) for line in lines if line}
    assert sorted(named) == list(range(1, 41))
    assert all(named.values())
    gone = [(point, one[0]) for point, references in named.items() for one in references if missing(one)]
    assert not gone
