"""Standard error: messages, warnings, errors, and on a terminal one live line that is gone at the end.

Standard output is written through ``Output`` beside it, because on a terminal both share the screen and the live
line has to give way before anything else is printed.
"""

from __future__ import annotations

import shutil
import sys
import threading
import time
from typing import TYPE_CHECKING, BinaryIO, TextIO

from warehouse.cli.arguments import UsageError
from warehouse.cli.widths import clip

if TYPE_CHECKING:
    from warehouse.engine import Progress, TrainingProgress

RUNNING = "running"
"""A label that says nothing once there are steps to show."""

FIRST_SIGN = 1.0
"""Seconds of silence before the live line says that something is running."""


class Console:
    """What a user reads beside the results. Safe to call from several threads."""

    def __init__(
        self, stream: TextIO | None = None, *, verbose: bool = False, quiet: bool = False, columns: int | None = None
    ):
        """Write to ``stream``, standard error unless given; a live line only where it is a terminal.

        ``columns`` is the width of a terminal that is not this process's.
        """
        self._columns = columns
        self._stream = stream or sys.stderr
        self._terminal = self._stream.isatty()
        self._verbose = verbose
        self._live = self._terminal and not quiet
        self._talks = (self._terminal or verbose) and not quiet
        self._quiet = quiet
        self._drawn = ""
        self._running: tuple[str, float] | None = None
        self._step = ""
        self._wake = threading.Event()
        self.lock = threading.RLock()

    def error(self, text: str) -> None:
        """Print an error; nothing silences it."""
        self._print(text)

    def warning(self, text: str) -> None:
        """Print a warning unless the user wants quiet."""
        if not self._quiet:
            self._print(text)

    def message(self, text: str) -> None:
        """Print what a statement without rows has to say, to a person or on demand."""
        if self._talks:
            self._print(text)

    def report(self, text: str) -> None:
        """Print a line of a command's report, terminal or not, unless the user wants quiet."""
        if not self._quiet:
            self._print(text)

    def progress(self, step: Progress | TrainingProgress) -> None:
        """Show a streaming table's step or a training: on the live line, and under ``--verbose`` for good."""
        self._step = glance(step)
        if self._verbose:
            self._print(describe(step))
        self._redraw()

    def begin(self, label: str) -> None:
        """Say what is running from now on."""
        self._running, self._step = (label, time.monotonic()), ""
        if self._live:
            self._wake = threading.Event()
            threading.Thread(target=self._tick, args=(self._wake,), daemon=True).start()

    def end(self) -> None:
        """Say that it has ended, and take the live line away."""
        self._running = None
        self._wake.set()
        self.clear()

    def clear(self) -> None:
        """Take the live line off the screen."""
        with self.lock:
            if self._drawn:
                self._stream.write("\r\x1b[K")
                self._stream.flush()
                self._drawn = ""

    def _print(self, text: str) -> None:
        with self.lock:
            self.clear()
            self._stream.write(text + "\n")
            self._stream.flush()

    def _tick(self, wake: threading.Event) -> None:
        delay = FIRST_SIGN
        while not wake.wait(delay):
            delay = 0.5
            self._redraw()

    def _redraw(self) -> None:
        with self.lock:
            running = self._running
            if not self._live or running is None:
                return
            label, since = running
            label = label if label != RUNNING or not self._step else ""
            text = "  ".join(part for part in (label, self._step, f"{time.monotonic() - since:.0f} s") if part)
            text = clip(text, (self._columns or shutil.get_terminal_size().columns) - 1)
            if text != self._drawn:
                self._stream.write(f"\r\x1b[K{text}")
                self._stream.flush()
                self._drawn = text


class ReaderGone(Exception):
    """Nobody reads standard output any more."""


class NotWritten(UsageError):
    """Standard output takes no more, such as a file on a disk that is full."""

    def __init__(self, error: OSError):
        super().__init__(f"standard output: {error.strerror or error}")


class Output:
    """Standard output as the formats see it."""

    def __init__(self, stream: BinaryIO, console: Console, columns: int | None = None):
        """Write to ``stream``; a terminal's width is what ``width`` says, None stands for anything else.

        ``columns`` is the width of a terminal that is not this process's.
        """
        self._columns = columns
        self._stream = stream
        self._console = console
        self.terminal = stream.isatty()
        self.used = False

    @property
    def width(self) -> int | None:
        """Return the terminal's width, or None when this is no terminal."""
        return (self._columns or shutil.get_terminal_size().columns) if self.terminal else None

    @property
    def closed(self) -> bool:
        """Say whether the stream is closed (Arrow asks)."""
        return self._stream.closed

    def write(self, data: bytes) -> int:
        """Write ``data``.

        Raises:
            ReaderGone: the other end of the pipe is closed.
            NotWritten: it cannot be written to.
        """
        self.used = True
        with self._console.lock:
            if self.terminal:
                self._console.clear()
            try:
                return self._stream.write(data)
            except BrokenPipeError:
                raise ReaderGone from None
            except OSError as error:
                raise NotWritten(error) from None

    def flush(self) -> None:
        """Hand what is written to the reader.

        Raises:
            ReaderGone: the other end of the pipe is closed.
            NotWritten: it cannot be written to.
        """
        try:
            self._stream.flush()
        except BrokenPipeError:
            raise ReaderGone from None
        except OSError as error:
            raise NotWritten(error) from None


def describe(step: Progress | TrainingProgress) -> str:
    """Return one step, or how far a training has come, as one line.

    Example:
        >>> from warehouse.execution.results import Progress
        >>> describe(Progress("t", 3, 9000, 2, 40, "2013-01-01T05:00:00Z", 7500.0, 0.5))
        't  step 3  9,000 rows (18,000/s)  40 panes  2 late  watermark 2013-01-01T05:00:00Z  lag 2 h 5 min'
    """
    from warehouse.engine import TrainingProgress

    if isinstance(step, TrainingProgress):
        return glance(step)
    counts = [f"{step.rows:,} rows ({_rate(step)}/s)", f"{step.panes:,} panes"]
    counts += [f"{step.late:,} late"] if step.late else []
    return "  ".join([step.table, f"step {step.step}", *counts, *_clock(step)])


def glance(step: Progress | TrainingProgress) -> str:
    """Return what fits on a live line: step, rows per second, watermark, lag; of a training, the pass over the rows.

    Example:
        >>> from warehouse.execution.results import Progress
        >>> glance(Progress("t", 3, 9000, 2, 40, "2013-01-01T05:00:00Z", 7500.0, 0.5))
        't  step 3  18,000 rows/s  watermark 2013-01-01T05:00:00Z  lag 2 h 5 min'
        >>> from warehouse.execution.results import TrainingProgress
        >>> glance(TrainingProgress("LogisticRegression", "treeAggregate at RDDLossFunction.scala:61", 7, 3.2))
        'LogisticRegression  pass 7  treeAggregate at RDDLossFunction.scala:61'
    """
    from warehouse.engine import TrainingProgress

    if isinstance(step, TrainingProgress):
        return "  ".join([step.stage, f"pass {step.passes}", step.work])
    return "  ".join([step.table, f"step {step.step}", f"{_rate(step)} rows/s", *_clock(step)])


def _rate(step: Progress) -> str:
    return f"{step.rows / max(step.seconds, 1e-3):,.0f}"


def _clock(step: Progress) -> list[str]:
    lag = [] if step.lag_seconds is None else [f"lag {duration(step.lag_seconds)}"]
    return [f"watermark {step.watermark}", *lag]


def duration(seconds: float) -> str:
    """Return a length of time in its two largest units.

    Example:
        >>> duration(0.42), duration(95), duration(-7500), duration(3 * 86400 + 7200)
        ('0.4 s', '1 min 35 s', '-2 h 5 min', '3 d 2 h')
    """
    sign, seconds = ("-" if seconds < 0 else ""), abs(seconds)
    if seconds < 60:
        return f"{sign}{seconds:.1f} s" if seconds < 10 else f"{sign}{seconds:.0f} s"
    for size, unit, part, name in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            whole, rest = divmod(int(seconds), size)
            return f"{sign}{whole} {unit} {rest // part} {name}" if rest // part else f"{sign}{whole} {unit}"
    raise AssertionError("unreachable")
