"""An engine for the command line's tests: answers from a table, remembers what it was asked, starts nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.engine import Standing
from warehouse.errors import Diagnostic, SourceText, Span, WarehouseError
from warehouse.execution.results import Progress, Result


def broken(source: SourceText, words: str, condition: str = "WAREHOUSE_TEST", state: str = "42000") -> WarehouseError:
    """Return an error that points at ``words``."""
    start = source.text.index(words)
    span = Span(start, start + len(words))
    return WarehouseError(Diagnostic(condition, "This is wrong.", state, span, "write it right"), source=source)


@dataclass
class FakeEngine:
    """Runs ``SELECT <number>`` (that many rows), ``CREATE …`` (a message), ``FAIL``, ``BUG``, ``STREAM``, ``WAIT``."""

    answers: dict[str, Callable[[SourceText], Result]] = field(default_factory=dict)
    ran: list[str] = field(default_factory=list)
    parameters: list[dict[str, Any]] = field(default_factory=list)
    opened: list[tuple[Path, dict[str, str]]] = field(default_factory=list)
    cancelled: threading.Event = field(default_factory=threading.Event)
    waiting: threading.Event = field(default_factory=threading.Event)
    there: Callable[[SourceText], Standing | None] = lambda _: None
    closed: bool = False
    on_progress: Callable[[Progress], None] = print

    def open(self, folder: Path, settings: dict[str, str], on_progress: Callable[[Progress], None]) -> FakeEngine:
        self.opened.append((folder, settings))
        self.on_progress = on_progress
        return self

    def split(self, text: str, name: str | None = None) -> list[SourceText]:
        out, at = [], 0
        for part in text.split(";"):
            lead = len(part) - len(part.lstrip())
            if part.strip():
                out.append(SourceText(part.strip(), name, text[: at + lead].count("\n") + 1))
            at += len(part) + 1
        return out

    def compile(self, text: str, name: str | None = None) -> list[str]:
        for source in self.split(text, name):
            if "FAIL" in source.text:
                raise broken(source, "FAIL")
        return [source.text for source in self.split(text, name)]

    def run(self, text: str | SourceText, parameters: dict[str, Any] | None = None) -> Iterator[Result]:
        source = SourceText(text) if isinstance(text, str) else text
        self.ran.append(source.text)
        self.parameters.append(dict(parameters or {}))
        verb, _, rest = source.text.partition(" ")
        if source.text in self.answers:
            yield self.answers[source.text](source)
        elif verb == "SELECT":
            batches = (pa.record_batch({"n": [number]}) for number in range(int(rest)))
            yield Result(source, pa.schema({"n": pa.int64()}), batches)
        elif verb == "CREATE":
            yield Result(source, message=f"{rest} created", warnings=("[DOUBT] Is that so?",) * ("doubt" in rest))
        elif verb == "STREAM":
            self.on_progress(Progress("t", 1, 1000, 2, 30, "2013-01-01T05:00:00Z", 90.0, 0.5))
            yield Result(source, message="t refreshed")
        elif verb == "WAIT":
            self.waiting.set()
            # In small pieces: Python sees a signal that comes just before a wait only after it.
            assert any(self.cancelled.wait(0.05) for _ in range(1200))
            raise broken(source, "WAIT", "CANCELLED", "HY008")
        elif verb == "BUG":
            raise KeyError("what nobody thought of")
        else:
            raise broken(source, source.text, state="XX000" if verb == "INTERNAL" else "42000")

    def standing(self, source: SourceText) -> Standing | None:
        return self.there(source)

    def cancel(self) -> None:
        self.cancelled.set()

    def close(self) -> None:
        self.closed = True
