"""The entry point: words in, exit code out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from warehouse.cli.arguments import DEFAULT_WAREHOUSE, Input, Invocation, UsageError, parse_arguments
from warehouse.cli.codes import CANCELLED, OK, TROUBLE
from warehouse.cli.console import Console, Output, ReaderGone
from warehouse.errors import WarehouseError

# What takes long to load is loaded where it is needed: with a warm engine, nothing of it is.

Opener = Callable[..., Any]


def main(words: Sequence[str] | None = None, opener: Opener | None = None) -> int:
    """Do what ``words`` (the process's arguments unless given) say and return the exit code.

    ``opener`` stands in for ``Engine.open`` in tests.
    """
    words = sys.argv[1:] if words is None else words
    try:
        invocation = parse_arguments(words)
    except UsageError as error:
        print(f"warehouse-sql: {error}", file=sys.stderr)
        return TROUBLE
    console = Console(verbose=invocation.verbose, quiet=invocation.quiet)
    if sys.stdout is None:  # it was closed before: nobody is to read anything
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    output = Output(sys.stdout.buffer, console)
    try:
        code = _command(invocation, words, console, output, opener)
        output.flush()
    except UsageError as error:
        console.error(f"warehouse-sql: {error}")
        return TROUBLE
    except ImportError as error:
        console.error(f"warehouse-sql: the engine cannot be loaded: {error}\nhint: install the project's packages anew")
        return _internal(error, console, True) if invocation.debug else TROUBLE
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
        code = _internal(error, console, invocation.debug)
    finally:
        console.end()
        _forget_closed_output()
    return code


def _command(
    invocation: Invocation, words: Sequence[str], console: Console, output: Output, opener: Opener | None
) -> int:
    match invocation.command:
        case "doctor":
            from warehouse.cli import doctor

            return doctor.examine(invocation.warehouse or DEFAULT_WAREHOUSE, output)
        case "plan" | "run" | "test" | "docs":
            return _project(invocation, words, console, output, opener)
        case "stop":
            return _stop(invocation, console)
        case "serve" | "password" | "token":
            from warehouse.cli import serving

            if invocation.command == "password":
                return serving.password(invocation)
            if invocation.command == "token":
                return serving.token(invocation, output)
            return serving.serve(invocation, invocation.warehouse or DEFAULT_WAREHOUSE, opener or _open, console)
    return _sql(invocation, words, console, output, opener)


def _sql(invocation: Invocation, words: Sequence[str], console: Console, output: Output, opener: Opener | None) -> int:
    folder = invocation.warehouse or DEFAULT_WAREHOUSE
    embedded = _is_embedded(invocation, opener)
    if not invocation.inputs and sys.stdin is not None and sys.stdin.isatty() and output.terminal:
        from warehouse.cli.prompt import prompt

        return prompt.run(invocation, words, folder, embedded, console)
    texts = [_read(item) for item in _inputs(invocation)]
    if invocation.server:
        return _on_server(invocation, texts, console, output)
    if not embedded:
        return _in_background(folder, words, texts, console)
    return _on(lambda: _opened(opener, folder, {}, console), invocation, texts, console, output)


def _on_server(
    invocation: Invocation, texts: Sequence[tuple[str, str | None]], console: Console, output: Output
) -> int:
    from warehouse.cli.thrift_client import ThriftEngine

    if invocation.parameters:
        raise UsageError("--param does not go with --server: the protocol carries no parameters")
    return _on(lambda: ThriftEngine(invocation.server or ""), invocation, texts, console, output)


def _on(
    opened: Callable[[], Any],
    invocation: Invocation,
    texts: Sequence[tuple[str, str | None]],
    console: Console,
    output: Output,
) -> int:
    """Run texts on an engine, which is opened once it is known that they can be shown, or only check them."""
    from warehouse.cli.script import Text

    interrupts, form = _ready(invocation, output)
    engine = opened()
    try:
        runner = _runner(engine, invocation, console, output, interrupts, form)
        whole = [Text(text, name) for text, name in texts]
        return runner.check(whole) if invocation.dry_run else runner.run(whole)
    finally:
        engine.close()


def _in_background(
    folder: Path,
    words: Sequence[str],
    texts: Sequence[tuple[str, str | None]],
    console: Console,
    settings: Mapping[str, str] | None = None,
) -> int:
    from warehouse.cli import frames, remote

    try:
        with remote.engine(folder, lambda: console.begin("starting"), settings) as connection:
            console.end()
            return remote.run(connection, remote.request(words, texts))
    except remote.NoEngine as error:
        console.end()
        console.error(str(error))
    except frames.Broken:
        console.error(
            "the engine in the background went away\nhint: its log is in the warehouse folder, logs/engine.log"
        )
    return TROUBLE


def _stop(invocation: Invocation, console: Console) -> int:
    from warehouse.cli import frames

    folder = invocation.warehouse or DEFAULT_WAREHOUSE
    connection = frames.connect(folder)
    if connection is None:
        console.report(f"no engine runs in the background for {folder}")
        return OK
    frames.send(connection, b"Q")
    with suppress(frames.Broken, OSError):  # it breaks when the process ends, and gives the folder back before
        if frames.receive(connection)[0] == b"N":
            console.error(f"the engine of {folder} is that of warehouse-sql serve\nhint: end that process, with Ctrl-C")
            return TROUBLE
    return OK


def _project(
    invocation: Invocation, words: Sequence[str], console: Console, output: Output, opener: Opener | None
) -> int:
    from warehouse.project.files import load_settings

    settings = load_settings(invocation.project)
    folder = invocation.warehouse or settings.warehouse or DEFAULT_WAREHOUSE
    is_read_only = invocation.command == "plan" or invocation.dry_run
    if not is_read_only and not _is_embedded(invocation, opener):
        return _in_background(folder, words, (), console, settings.settings)
    from warehouse.cli import projects

    if is_read_only and invocation.command != "docs":
        return projects.plan(invocation, settings, output, console)

    @contextmanager
    def opened() -> Iterator[Any]:
        engine = _opened(opener, folder, dict(settings.settings), console)
        try:
            yield engine
        finally:
            engine.close()

    interrupts, form = _ready(invocation, output)

    def runner_on(engine: Any) -> Any:
        return _runner(engine, invocation, console, output, interrupts, form)

    return projects.carry_out(invocation, settings, opened(), runner_on, console)


def _is_embedded(invocation: Invocation, opener: Opener | None) -> bool:
    return opener is not None or invocation.embedded or os.environ.get("WAREHOUSE_ENGINE") == "embedded"


def _ready(invocation: Invocation, output: Output) -> tuple[Any, str]:
    """Return what Ctrl-C does, and the format; refuses a format that does not fit."""
    from warehouse.cli.formats import FORMATS
    from warehouse.cli.interrupts import Interrupts

    form = invocation.format or ("table" if output.terminal else "csv")
    if FORMATS[form].binary and output.terminal:
        raise UsageError(f"--format {form} is not for a terminal\nhint: send it to a file or a program")
    return Interrupts(), form


def _opened(opener: Opener | None, folder: Path, settings: dict[str, str], console: Console) -> Any:
    console.begin("starting")
    engine = (opener or _open)(folder, settings, on_progress=console.progress)
    console.end()
    return engine


def _runner(engine: Any, invocation: Invocation, console: Console, output: Output, interrupts: Any, form: str) -> Any:
    from warehouse.cli.script import Runner

    return Runner(
        engine,
        console,
        output,
        interrupts,
        form,
        dict(invocation.parameters),
        keep_going=invocation.keep_going,
        debug=invocation.debug,
    )


def _internal(error: BaseException, console: Console, debug: bool) -> int:
    from warehouse.cli.script import internal_error

    return internal_error(error, console, debug)


def _open(folder: Path, settings: dict[str, str], **hooks: Any) -> Any:
    # Imported here so that --help and a mistyped option answer at once.
    from warehouse.cli import remote
    from warehouse.engine import Engine

    remote.ask_to_give_way(folder)
    return Engine.open(folder, settings, **hooks)


def _inputs(invocation: Invocation) -> Sequence[Input]:
    if invocation.inputs:
        return invocation.inputs
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(
            "the prompt needs a terminal for its results, too\n"
            "hint: warehouse-sql -e 'SELECT 1', or -f FILE, or SQL on standard input; --help lists the rest"
        )
    return (Input("stdin"),)


def _read(item: Input) -> tuple[str, str | None]:
    """Return a text and the name of its file."""
    if item.kind == "text":
        return item.value, None
    try:
        if item.kind == "stdin":
            return sys.stdin.buffer.read().decode("utf-8-sig"), None
        return Path(item.value).read_bytes().decode("utf-8-sig"), item.value
    except OSError as error:
        raise UsageError(f"{item.value}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{item.value or 'standard input'} is not UTF-8: {error}") from None


def _forget_closed_output() -> None:
    """Keep the interpreter from complaining at its end about a reader that left, or a disk that is full."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
