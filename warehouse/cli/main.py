"""The entry point: words in, exit code out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from warehouse.cli import doctor
from warehouse.cli.arguments import DEFAULT_WAREHOUSE, Input, Invocation, UsageError, parse_arguments
from warehouse.cli.console import Console, Output, ReaderGone
from warehouse.cli.formats import FORMATS
from warehouse.cli.interrupts import Interrupts
from warehouse.cli.script import CANCELLED, OK, TROUBLE, Runner, Text, internal_error
from warehouse.errors import WarehouseError
from warehouse.project.files import Settings, load_settings

Opener = Callable[..., Any]


def main(words: Sequence[str] | None = None, opener: Opener | None = None) -> int:
    """Do what ``words`` (the process's arguments unless given) say and return the exit code.

    ``opener`` stands in for ``Engine.open`` in tests.
    """
    try:
        invocation = parse_arguments(sys.argv[1:] if words is None else words)
    except UsageError as error:
        print(f"warehouse-sql: {error}", file=sys.stderr)
        return TROUBLE
    console = Console(verbose=invocation.verbose, quiet=invocation.quiet)
    output = Output(sys.stdout.buffer, console)
    try:
        code = _command(invocation, console, output, opener or _open)
        output.flush()
    except UsageError as error:
        console.error(f"warehouse-sql: {error}")
        return TROUBLE
    except ImportError as error:
        console.error(f"warehouse-sql: the engine cannot be loaded: {error}\nhint: install the project's packages anew")
        return internal_error(error, console, True) if invocation.debug else TROUBLE
    except WarehouseError as error:
        console.error(error.render())
        return TROUBLE
    except KeyboardInterrupt:
        console.clear()
        console.error("cancelled")
        return CANCELLED
    except ReaderGone:
        code = OK
    except Exception as error:
        code = internal_error(error, console, invocation.debug)
    finally:
        console.end()
    _forget_closed_output()
    return code


def _command(invocation: Invocation, console: Console, output: Output, opener: Opener) -> int:
    if invocation.command == "doctor":
        return doctor.examine(invocation.warehouse or DEFAULT_WAREHOUSE, output)
    if invocation.command == "plan" or (invocation.command == "run" and invocation.dry_run):
        from warehouse.cli import projects

        return projects.plan(invocation, output)
    settings = Settings("")
    if invocation.command == "run":
        settings = load_settings(invocation.project)
    texts = [_read(item) for item in _inputs(invocation)] if invocation.command == "sql" else []
    form = invocation.format or ("table" if output.terminal else "csv")
    if FORMATS[form].binary and output.terminal:
        raise UsageError(f"--format {form} is not for a terminal\nhint: send it to a file or a program")
    interrupts = Interrupts()
    folder = invocation.warehouse or settings.warehouse or DEFAULT_WAREHOUSE
    console.begin("starting")
    engine = opener(folder, dict(settings.settings), on_progress=console.progress)
    console.end()
    try:
        runner = Runner(
            engine,
            console,
            output,
            interrupts,
            form,
            dict(invocation.parameters),
            keep_going=invocation.keep_going,
            debug=invocation.debug,
        )
        if invocation.command == "run":
            from warehouse.cli import projects

            return projects.run(invocation, settings, runner)
        return runner.check(texts) if invocation.dry_run else runner.run(texts)
    finally:
        engine.close()


def _open(folder: Path, settings: dict[str, str], **hooks: Any) -> Any:
    # Imported here so that --help and a mistyped option answer at once.
    from warehouse.engine import Engine

    return Engine.open(folder, settings, **hooks)


def _inputs(invocation: Invocation) -> Sequence[Input]:
    if invocation.inputs:
        return invocation.inputs
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(
            "there is no prompt yet\n"
            "hint: warehouse-sql -e 'SELECT 1', or -f FILE, or SQL on standard input; --help lists the rest"
        )
    return (Input("stdin"),)


def _read(item: Input) -> Text:
    if item.kind == "text":
        return Text(item.value)
    try:
        if item.kind == "stdin":
            return Text(sys.stdin.buffer.read().decode("utf-8-sig"))
        return Text(Path(item.value).read_bytes().decode("utf-8-sig"), item.value)
    except OSError as error:
        raise UsageError(f"{item.value}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{item.value or 'standard input'} is not UTF-8: {error}") from None


def _forget_closed_output() -> None:
    """Keep the interpreter from complaining at its end about a reader that left."""
    try:
        sys.stdout.flush()
    except (BrokenPipeError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
