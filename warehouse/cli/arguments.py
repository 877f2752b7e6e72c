"""Command-line words in, one frozen ``Invocation`` out. Opens, reads and runs nothing."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from warehouse import __version__
from warehouse.cli.parameters import Value, parameter

FORMAT_NAMES = ("table", "vertical", "csv", "tsv", "json", "jsonl", "markdown", "arrow")
"""The names of ``formats.FORMATS``, which takes a third of a second to load."""

DEFAULT_WAREHOUSE = Path("warehouse-data")


class UsageError(Exception):
    """The command line cannot be carried out as written; the text says what to write instead."""


@dataclass(frozen=True)
class Input:
    """One piece of SQL to run: ``kind`` is ``text`` (``value`` is SQL), ``file`` (a path) or ``stdin``."""

    kind: str
    value: str = ""


@dataclass(frozen=True)
class Invocation:
    """Everything the user asked for.

    Attributes:
        command: ``sql`` (no subcommand), ``run``, ``test``, ``plan``, ``docs``, ``doctor``, ``serve``, ``stop``,
            ``password``, ``token``.
        inputs: what ``-e``, ``-f`` and ``-`` named, in the order given; for ``sql`` only.
        format: a name of ``FORMAT_NAMES``, or None to let the terminal decide.
        warehouse: the folder, or None when the user named none.
        parameters: typed values of ``--param``.
        project: the project's folder, for ``run``, ``test``, ``plan`` and ``docs``.
        select, exclude: the words after ``--select`` and ``--exclude``.
        target: the folder that ``docs`` writes, or None for the usual one.
        server: host and port of a server to run on, or None.
        embedded: the engine is to run in this process.
        serving: what ``serve`` was told, by the names of ``server.options.Options``.
        user, file, expires: of ``password`` and ``token``; the last in seconds.
    """

    command: str
    inputs: tuple[Input, ...] = ()
    format: str | None = None
    warehouse: Path | None = None
    parameters: tuple[tuple[str, Value], ...] = ()
    keep_going: bool = False
    dry_run: bool = False
    verbose: bool = False
    quiet: bool = False
    debug: bool = False
    project: Path = Path(".")
    select: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    full_refresh: bool = False
    target: Path | None = None
    server: str | None = None
    embedded: bool = False
    serving: tuple[tuple[str, Any], ...] = ()
    user: str = ""
    file: Path | None = None
    expires: int = 8 * 3600


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        if message.startswith("argument COMMAND: invalid choice"):
            message = f"{message.removeprefix('argument COMMAND: ')}\nhint: SQL goes after -e, a file of SQL after -f"
        raise UsageError(f"{message}\nhint: {self.prog} --help lists what there is")


class _Append(argparse.Action):
    """Collect ``-e`` and ``-f`` in one list, so that their order survives."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: str | None = None) -> None:
        kind = self.metavar if isinstance(self.metavar, str) else ""
        item = Input("text", values) if kind == "SQL" else Input("stdin") if values == "-" else Input("file", values)
        namespace.inputs = [*getattr(namespace, "inputs", ()), item]


class _Parameters(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, values: Any, option: str | None = None) -> None:
        try:
            name, value = parameter(values)
        except ValueError as error:
            raise argparse.ArgumentError(self, str(error)) from None
        seen = getattr(namespace, "parameters", ())
        if any(name.lower() == other.lower() for other, _ in seen):
            raise argparse.ArgumentError(self, f"{name} is given twice")
        namespace.parameters = [*seen, (name, value)]


def _general() -> _Parser:
    # SUPPRESS: an option before the subcommand must not be overwritten by the subcommand's default.
    general = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    add = general.add_argument
    add("--warehouse", type=Path, metavar="DIR", help="folder that holds everything (default: ./warehouse-data)")
    add("--verbose", action="store_true", help="messages and one line per step, also when not on a terminal")
    add("--quiet", action="store_true", help="nothing on standard error but errors")
    add("--debug", action="store_true", help="show the trace of an error")
    return general


def _placing() -> _Parser:
    placing = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    placing.add_argument(
        "--embedded", action="store_true", help="run the engine in this very process, not in the background"
    )
    return placing


def _running() -> _Parser:
    running = _Parser(add_help=False, argument_default=argparse.SUPPRESS, parents=[_placing()])
    add = running.add_argument
    add("--format", choices=FORMAT_NAMES, help="how rows look (default: table on a terminal, else csv)")
    add("--param", action=_Parameters, metavar="K=V", help="value of the named parameter :K")
    add("--server", metavar="HOST:PORT", help="run on a server of warehouse-sql serve; over HTTP: http://HOST:PORT")
    add("--keep-going", action="store_true", help="go on after an error, exit 1 if any statement failed")
    add("--dry-run", action="store_true", help="check and compile, run nothing")
    return running


def _project() -> _Parser:
    project = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    project.add_argument("--project", type=Path, metavar="DIR", help="folder of .sql files (default: the current one)")
    return project


def _selecting() -> _Parser:
    selecting = _Parser(add_help=False, argument_default=argparse.SUPPRESS, parents=[_project()])
    add = selecting.add_argument
    add("--select", "-s", nargs="+", action="extend", metavar="WORD", help="only these: name, +name, name+, path, glob")
    add("--exclude", nargs="+", action="extend", metavar="WORD", help="all but these, in the same words")
    return selecting


_SERVING: tuple[tuple[str, str, Any, str, str], ...] = (
    ("host", "--host", str, "ADDRESS", "address to listen on (default: 127.0.0.1, this machine alone)"),
    ("port", "--port", int, "N", "port of the binary transport (default: 10000; 0: any free one)"),
    ("http_port", "--http-port", int, "N", "port of the HTTP transport, path /cliservice (default: none)"),
    ("password_file", "--password-file", Path, "FILE", "who may come in; warehouse-sql password writes it"),
    ("token_key", "--token-key", Path, "FILE", "key of bearer tokens; warehouse-sql token makes them"),
    ("ldap_url", "--ldap-url", str, "URL", "directory that knows the users: ldaps://HOST:636"),
    ("ldap_pattern", "--ldap-user", str, "DN", "a user's name in it: uid=%%s,ou=people,dc=example,dc=org"),
    ("certificate", "--tls-certificate", Path, "PEM", "certificate, with those that vouch for it behind it"),
    ("key", "--tls-key", Path, "PEM", "its key, PKCS #8 without a password"),
    ("sessions", "--max-sessions", int, "N", "sessions at a time (default: 300)"),
    ("sessions_per_user", "--max-sessions-per-user", int, "N", "of these for one user (default: 100)"),
    ("statements", "--max-statements", int, "N", "statements at a time (default: 100)"),
    ("statements_per_user", "--max-statements-per-user", int, "N", "of these for one user (default: 50)"),
    ("query_timeout", "--query-timeout", int, "SECONDS", "cancel statements that take longer (default: never)"),
    ("idle_session", "--idle-session", int, "SECONDS", "close sessions idle for so long (default: 28800)"),
)


def _serving() -> _Parser:
    serving = _Parser(add_help=False, argument_default=argparse.SUPPRESS)
    for _, flag, kind, meta, text in _SERVING:
        serving.add_argument(flag, type=kind, metavar=meta, help=text)
    serving.add_argument(
        "--insecure", action="store_true", help="listen beyond this machine without authentication or TLS"
    )
    return serving


def _parser() -> _Parser:
    general, running, selecting = _general(), _running(), _selecting()
    parser = _Parser(
        prog="warehouse-sql",
        description="Run SQL on batch tables and streams. Results go to standard output, all else to standard error.",
        epilog="Exit codes: 0 all well, 1 the SQL failed, 2 usage, configuration or an internal error, 130 cancelled.",
        parents=[general, running],
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument("--version", action="version", version=f"warehouse-sql {__version__}")
    parser.add_argument("-e", "--execute", action=_Append, metavar="SQL", help="SQL to run; may be repeated")
    parser.add_argument("-f", "--file", action=_Append, metavar="FILE", help="file of SQL to run, - for standard input")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=False, parser_class=_Parser)

    def command(name: str, text: str, *parents: _Parser) -> _Parser:
        return commands.add_parser(
            name, help=text, description=text, parents=parents, allow_abbrev=False,
            argument_default=argparse.SUPPRESS,
        )  # fmt: skip

    run = command("run", "run the .sql files of a folder in dependency order", general, running, selecting)
    run.add_argument("--full-refresh", action="store_true", help="streaming tables start again from nothing")
    command("test", "run the tests of a project: queries for rows that are wrong", general, running, selecting)
    command("plan", "list the files of a project in the order they run", general, _placing(), selecting)
    docs = command("docs", "write a page about a project, and its manifest.json", general, _placing(), selecting)
    docs.add_argument("--dry-run", action="store_true", help="start no engine: columns have no types")
    docs.add_argument("--target", type=Path, metavar="DIR", help="where to (default: target in the project's folder)")
    command("doctor", "say what is missing on this machine", general)
    command("serve", "start the Thrift/JDBC endpoint, and run what was started", general, _serving())
    command("stop", "end the engine that runs in the background", general)
    known = command("password", "give a user a password for serve; it is asked for, or read from a pipe", general)
    known.add_argument("user", metavar="USER")
    known.add_argument("--file", type=Path, required=True, metavar="FILE", help="the file of passwords")
    signed = command("token", "print a bearer token that lets a user in", general)
    signed.add_argument("user", metavar="USER")
    signed.add_argument(
        "--key", dest="file", type=Path, required=True, metavar="FILE", help="the key of serve --token-key"
    )
    signed.add_argument("--expires", type=int, metavar="SECONDS", help="how long it holds (default: 28800)")
    return parser


def _stdin_word(words: Sequence[str]) -> list[str]:
    """Return ``words`` with a ``-`` that stands alone turned into ``-f -``."""
    takes_value = {"-e", "--execute", "-f", "--file", "--format", "--param", "--server", "--warehouse"}
    out: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        out += ["-f", "-"] if word == "-" and before not in takes_value else [word]
    return out


def parse_arguments(words: Sequence[str]) -> Invocation:
    """Return what the user asked for.

    Raises:
        UsageError: the words make no sense together.
        SystemExit: ``--help`` or ``--version`` has been answered.

    Example:
        >>> parse_arguments(["-e", "SELECT 1", "--format", "json"]).inputs
        (Input(kind='text', value='SELECT 1'),)
    """
    values, extra = _parser().parse_known_args(_stdin_word(words))
    given = vars(values)
    command = given.pop("command", None) or "sql"
    if extra:
        raise UsageError(f"unknown: {' '.join(extra)}\nhint: warehouse-sql --help lists what there is")
    if "server" in given and not re.fullmatch(r"(https?://)?(\[[^\]]+\]|[^:/]+):\d+", given["server"]):
        raise UsageError(f"--server {given['server']}: write HOST:PORT, or http://HOST:PORT")
    if command != "sql" and "server" in given:
        raise UsageError(f"--server does not go with {command}: it runs on a warehouse folder of this machine")
    if command != "sql" and "inputs" in given:
        raise UsageError(f"-e, -f and - do not go with {command}: its SQL is in the project's files")
    if given.get("verbose") and given.get("quiet"):
        raise UsageError("--verbose and --quiet exclude each other")
    names = {flag.removeprefix("--").replace("-", "_"): name for name, flag, *_ in _SERVING} | {"insecure": "insecure"}
    if command == "serve":
        given["serving"] = tuple((name, given.pop(word)) for word, name in names.items() if word in given)
    for name in ("inputs", "parameters", "select", "exclude"):
        if name in given:
            given[name] = tuple(given[name])
    return Invocation(command, **given)
