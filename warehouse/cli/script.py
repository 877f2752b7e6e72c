"""Texts in, exit code out: runs them statement by statement and writes each result in turn."""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

import pyarrow as pa

from warehouse.cli.codes import CANCELLED, FAILED, OK, TROUBLE
from warehouse.cli.console import RUNNING, Console, NotWritten, Output, ReaderGone
from warehouse.cli.formats import FORMATS
from warehouse.cli.interrupts import Interrupts
from warehouse.cli.parameters import Value
from warehouse.errors import SourceText, WarehouseError

if TYPE_CHECKING:
    from warehouse.engine import Result, Standing


class Engine(Protocol):
    """What the command line needs of the engine."""

    def split(self, text: str, name: str | None = None) -> list[SourceText]:
        """Return the statements of a text."""

    def compile(self, text: str, name: str | None = None) -> Sequence[object]:
        """Return the plans of a text without running anything."""

    def run(self, text: str | SourceText, *, parameters: Mapping[str, Any] = ...) -> Iterator[Result]:
        """Run a text, one result per statement."""

    def standing(self, source: SourceText) -> Standing | None:
        """Return what there is under the name that a statement creates, None where that is nothing."""

    def cancel(self) -> None:
        """Cancel the statement that runs."""


@dataclass(frozen=True)
class Text:
    """SQL to run, and the file it came from."""

    text: str
    name: str | None = None


@dataclass(frozen=True)
class Runner:
    """One run's surroundings.

    Attributes:
        format: a name of ``FORMATS``.
    """

    engine: Engine
    console: Console
    output: Output
    interrupts: Interrupts
    format: str
    parameters: Mapping[str, Value]
    keep_going: bool = False
    debug: bool = False

    def run(self, texts: Sequence[Text]) -> int:
        """Run all statements of ``texts`` in order and return the exit code."""
        worst = OK
        waiting = list(texts)
        while waiting:
            text = waiting.pop(0)
            try:
                sources = self.engine.split(text.text, text.name)
            except WarehouseError as error:
                worst = max(worst, self.failed(error))
                if not self.keep_going:
                    return worst
                continue
            for at, source in enumerate(sources):
                try:
                    code = self.statement(source)
                except ReaderGone:
                    return max(worst, self._reader_gone(len(sources) - at - 1, waiting))
                worst = max(worst, code)
                if code in (CANCELLED, TROUBLE) or (code and not self.keep_going):
                    return worst
        return worst

    def check(self, texts: Sequence[Text]) -> int:
        """Compile all of ``texts`` and return the exit code; nothing runs."""
        worst = OK
        for text in texts:
            try:
                plans = self.engine.compile(text.text, text.name)
            except WarehouseError as error:
                worst = max(worst, self.failed(error))
                if not self.keep_going:
                    return worst
            else:
                count = f"{len(plans)} statement{'s' if len(plans) != 1 else ''}"
                self.console.message(f"{text.name or 'SQL'}: {count} compiled, nothing run")
        return worst

    def statement(self, source: SourceText) -> int:
        """Run one statement and return an exit code; see ``results``."""
        return self.results(self.engine.run(source, parameters=self.parameters), RUNNING)

    def results(self, results: Iterator[Result], label: str) -> int:
        """Go through results, write their rows, say their messages, and return an exit code.

        Raises:
            ReaderGone: nobody reads the rows any more.
            NotWritten: they cannot be written.
        """
        self.console.begin(label)
        try:
            with self.interrupts.cancelling(self.engine.cancel):
                for result in results:
                    self.show(result)
        except WarehouseError as error:
            return CANCELLED if self._cancelled() else self.failed(error)
        except KeyboardInterrupt:
            self.interrupts.happened = True
            self._cancelled()
            return CANCELLED
        except (ReaderGone, NotWritten):
            self.engine.cancel()
            raise
        except Exception as error:
            return CANCELLED if self._cancelled() else internal_error(error, self.console, self.debug)
        finally:
            self.console.end()
        return CANCELLED if self._cancelled() else OK

    def show(self, result: Result) -> None:
        """Write one result: warnings, rows, message."""
        for warning in result.warnings:
            self.console.warning(warning)
        if result.schema is not None and len(result.schema):
            form = FORMATS[self.format]
            if form.gap and self.output.used:
                self.output.write(b"\n")
            form.write(result.schema, self._until_cancelled(result), cast(BinaryIO, self.output), self.output.width)
            self.output.flush()
        if result.message:
            self.console.message(result.message)

    def failed(self, error: WarehouseError) -> int:
        """Print an error of the user's and return its exit code."""
        return failed(error, self.console, self.debug)

    def _until_cancelled(self, result: Result) -> Iterator[pa.RecordBatch]:
        for batch in result.batches:
            if self.interrupts.happened:
                return
            yield batch

    def _cancelled(self) -> bool:
        if self.interrupts.happened:
            self.console.error("cancelled")
        return self.interrupts.happened

    def _reader_gone(self, left: int, waiting: Sequence[Text]) -> int:
        """Return the exit code when the reader left: all is well unless statements are left that did not run."""
        left += sum(len(self.engine.split(text.text, text.name)) for text in waiting)
        if not left:
            return OK
        self.console.error(f"standard output was closed: {left} statement{'s' if left > 1 else ''} did not run")
        return FAILED


def failed(error: WarehouseError, console: Console, debug: bool) -> int:
    """Print an error of the user's and return its exit code."""
    console.error(error.render())
    if debug:
        console.error(trace(error))
    return TROUBLE if (error.sqlstate or "").startswith(("08", "XX")) else FAILED


def internal_error(error: BaseException, console: Console, debug: bool) -> int:
    """Print one line about a mistake of ours, keep or show its trace, and return the exit code."""
    summary = " ".join(f"{type(error).__name__}: {error}".split())
    summary = summary if len(summary) <= 300 else summary[:299] + "…"
    if debug:
        console.error(f"{trace(error)}\ninternal error: {summary}")
    else:
        with tempfile.NamedTemporaryFile(
            "w", prefix="warehouse-sql-", suffix=".trace", delete=False, encoding="utf-8"
        ) as file:
            file.write(trace(error) + "\n")
        console.error(f"internal error: {summary} (trace in {file.name}; --debug shows it)")
    return TROUBLE


def trace(error: BaseException) -> str:
    """Return the Python trace of an error, causes included."""
    return "".join(traceback.format_exception(error)).rstrip()
