"""The options that the benchmarks have in common."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.peers import PEERS
from benchmarks.protocol import ROUNDS
from benchmarks.report import OUT


def parser(name: str, told: str | None, keeps_data: bool = False) -> argparse.ArgumentParser:
    """Return a parser that knows ``--rounds``, and ``--scratch`` for a benchmark that keeps data between runs.

    Args:
        told: the benchmark's docstring, of which the first line is shown.
    """
    made = argparse.ArgumentParser(prog=f"python -m benchmarks {name}", description=(told or "").partition("\n")[0])
    made.add_argument("--rounds", type=_rounds, default=ROUNDS, help="the first one is not counted")
    if keeps_data:
        made.add_argument("--scratch", type=Path, default=OUT.parent / "data", help="folder for data and tables")
    return made


def add_peers(parser: argparse.ArgumentParser) -> None:
    """Let a parser know ``--peers``, all of them unless told."""
    parser.add_argument("--peers", type=_peers, default=tuple(PEERS), help="whom to run beside us; '' for none")


def _peers(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"{name} is not known; there are {', '.join(PEERS)}")
    return names


def _rounds(text: str) -> int:
    if int(text) < 2:
        raise argparse.ArgumentTypeError("the first round is not counted: it takes two at least")
    return int(text)
