"""``warehouse-sql doctor``: what the engine finds on this machine, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from warehouse.cli.console import Output


class Finding(Protocol):
    """One thing looked at."""

    @property
    def ok(self) -> bool:
        """Say whether it is as it has to be."""

    @property
    def what(self) -> str:
        """Return its name."""

    @property
    def detail(self) -> str:
        """Return what was found."""

    @property
    def way_out(self) -> str:
        """Return what to do about it, or nothing."""


def examine(folder: Path, output: Output) -> int:
    """Write the findings and return 0 when all is well, else 2."""
    from warehouse.engine import examine as look

    findings = look(folder)
    output.write(report(findings).encode())
    return 0 if all(finding.ok for finding in findings) else 2


def report(findings: Sequence[Finding]) -> str:
    """Return the findings as text, the way out under what is not right."""
    width = max((len(finding.what) for finding in findings), default=0)
    lines = []
    for finding in findings:
        lines.append(f"{'ok     ' if finding.ok else 'NOT OK '} {finding.what:<{width}}  {finding.detail}".rstrip())
        if finding.way_out and not finding.ok:
            lines.append(f"{'':8}{'':<{width}}  -> {finding.way_out}")
    return "\n".join(lines) + "\n"
