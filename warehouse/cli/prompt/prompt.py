"""The loop of the prompt."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.styles import style_from_pygments_cls
from pygments.styles import get_style_by_name

from warehouse.cli.arguments import FORMAT_NAMES, Invocation
from warehouse.cli.codes import OK, TROUBLE
from warehouse.cli.console import Console
from warehouse.cli.parameters import written
from warehouse.cli.prompt import meta
from warehouse.cli.prompt.talk import Pager, Talk
from warehouse.cli.prompt.text import is_command, is_whole
from warehouse.cli.prompt.words import Lexer, Names
from warehouse.cli.remote import NoEngine

_CHANGES = re.compile(r"\b(CREATE|DROP|ALTER|USE)\b", re.IGNORECASE)


def run(invocation: Invocation, words: Sequence[str], folder: Path, embedded: bool, console: Console) -> int:
    """Talk to a person until they leave; return the exit code."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started this may have had it ignored
    talk = Talk(folder, embedded)
    try:
        return Prompt(invocation, talk, folder).loop()
    finally:
        talk.close()


class Prompt:
    """One person at one terminal."""

    def __init__(self, invocation: Invocation, talk: Talk, folder: Path, session: Any = None):
        """Begin to talk; ``session`` stands in for the terminal in tests."""
        self._talk, self._folder = talk, folder
        self._format = invocation.format or "table"
        self._words = [w for name, value in invocation.parameters for w in ("--param", f"{name}={written(value)}")]
        self._timing, self._expanded = True, False
        self._file: Any = None
        self._last = ""
        self._names = Names()
        self._session = session or self._terminal()

    def loop(self) -> int:
        """Read and run until the end of input."""
        threading.Thread(target=self._learn, daemon=True).start()
        prefill = ""
        while True:
            try:
                text = self._session.prompt(default=prefill)
            except KeyboardInterrupt:
                continue
            except EOFError:
                return OK
            prefill = ""
            if not text.strip():
                continue
            try:
                if is_command(text):
                    prefill = self.command(text.strip())
                else:
                    self._last = text
                    self.run(text)
            except EOFError:
                return OK
            except KeyboardInterrupt:
                continue
            except NoEngine as error:
                print(error, file=sys.stderr)
                if self._talk.trouble is not None:
                    return TROUBLE
                self._talk.again()

    # ------------------------------------------------------------------ statements

    def run(self, text: str, page: bool = True) -> int:
        """Run a text and show what comes; return the exit code."""
        if not self._talk.ready:
            print("starting the engine …", file=sys.stderr)
            self._talk.wait()
        began = time.monotonic()
        command = os.environ.get("PAGER", "less -SFRX") if page and shutil.which("less") else None
        pager = Pager(command if sys.stdout.isatty() and self._file is None else None)
        write: Callable[[bytes], Any] = self._file.write if self._file else pager.write
        width = None if self._file else shutil.get_terminal_size().columns
        form = "vertical" if self._expanded else self._format
        try:
            code = self._talk.run(["--format", form, *self._words], text, write, width)
        finally:
            pager.close()
            if self._file:
                self._file.flush()
        if self._timing and code == OK:
            print(f"({time.monotonic() - began:.2f} s)", file=sys.stderr)
        if code == OK and _CHANGES.search(text):
            threading.Thread(target=self._learn, daemon=True).start()
        return code

    def _learn(self) -> None:
        """Learn the names of tables and their columns, over a connection of its own."""
        try:
            self._talk.wait()
            other = Talk(self._folder, embedded=False)
            try:
                known = {row["tableName"].lower(): "TABLE" for row in other.rows("SHOW TABLES", hear=False)}
                known |= {row["streamName"].lower(): "STREAM" for row in other.rows("SHOW STREAMS", hear=False)}
                self._names.tables = {name: self._names.tables.get(name, ()) for name in known}
                for name, kind in [pair for pair in known.items() if not self._names.tables[pair[0]]][:200]:
                    told = other.rows(f"DESCRIBE {kind} {meta.quoted(name)}", hear=False)
                    self._names.tables[name] = tuple(row["col_name"] for row in told)
            finally:
                other.close()
        except (NoEngine, KeyError, ValueError):
            return  # completion knows less

    # ------------------------------------------------------------------ commands

    def command(self, line: str) -> str:
        r"""Carry out a command of the prompt's; return what the next line begins with.

        Raises:
            EOFError: it was ``\q``.
        """
        word, _, rest = line.rstrip(";").partition(" ")
        argument = rest.strip()
        found = meta.statement(word, argument)
        if found is not None:
            self.run(found + ";")
            return ""
        match word.lower():
            case "\\q" | "exit" | "quit" | ".exit" | ".quit":
                raise EOFError
            case "\\?" | "help" | ".help":
                print(meta.HELP)
            case "\\h":
                wanted = argument.upper()
                shown = {k: v for k, v in meta.SYNTAX.items() if wanted in k} or meta.SYNTAX
                print("\n\n".join(f"{clause}\n{text}" for clause, text in shown.items()))
            case "\\x":
                self._expanded = not self._expanded
                print(f"one field per line: {'on' if self._expanded else 'off'}")
            case "\\timing":
                self._timing = not self._timing
                print(f"timing: {'on' if self._timing else 'off'}")
            case "\\format" | ".mode":
                if argument not in FORMAT_NAMES:
                    print(f"formats: {' '.join(FORMAT_NAMES)}")
                else:
                    self._format = argument
            case "\\o":
                self._output(argument)
            case "\\i" | "\\follow" if not argument:
                print(f"{word} takes a name; \\? lists what there is")
            case "\\i":
                self._file_of(argument)
            case "\\e":
                return self._edited()
            case "\\watch":
                self._watch(argument or "2")
            case "\\follow":
                self.follow(argument)
            case _:
                print(f"there is no {word}; \\? lists what there is")
        return ""

    def _output(self, name: str) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        if name:
            try:
                self._file = Path(name).open("wb")  # noqa: SIM115 - open until the next \o
            except OSError as error:
                print(f"{name}: {error.strerror}")

    def _file_of(self, name: str) -> None:
        try:
            text = Path(name).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            print(f"{name}: {getattr(error, 'strerror', None) or error}")
            return
        self.run(text)

    def _edited(self) -> str:
        import subprocess
        import tempfile

        with tempfile.NamedTemporaryFile("w+", suffix=".sql", encoding="utf-8") as file:
            file.write(self._last)
            file.flush()
            editor = os.environ.get("EDITOR", "vi").split()
            try:
                subprocess.run([*editor, file.name], check=False)
            except OSError as error:
                print(f"{editor[0]}: {error.strerror}; EDITOR in the environment names another")
                return ""
            return Path(file.name).read_text(encoding="utf-8").rstrip("\n")

    def _watch(self, seconds: str) -> None:
        """Run the last statement again and again, until Ctrl-C."""
        if not self._last or not re.fullmatch(r"\d+(\.\d+)?", seconds):
            print("\\watch [SECONDS] runs the last statement again" + ("" if self._last else ": there is none"))
            return
        while True:
            print(time.strftime("%H:%M:%S"))
            if self.run(self._last, page=False) != OK:
                return
            time.sleep(float(seconds))

    def follow(self, table: str) -> None:
        """Show the panes of a streaming table as they come, until Ctrl-C; a withdrawal is marked with a minus."""
        if not self._talk.rows(f"DESCRIBE STREAMING TABLE {meta.quoted(table)}"):
            return
        print(f"panes of {table}, until Ctrl-C", file=sys.stderr)
        seen = -1
        while True:
            for row in self._talk.rows(f"SELECT * FROM panes({meta.literal(table)}) WHERE _step > {seen}"):
                seen = max(seen, row["_step"])
                print(pane(row), flush=True)
            time.sleep(1)

    # ------------------------------------------------------------------ the terminal

    def _terminal(self) -> PromptSession[str]:
        keys = KeyBindings()
        whole = Condition(lambda: is_whole(self._session.default_buffer.text))

        @keys.add("enter", filter=whole)
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.validate_and_handle()

        home = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "warehouse"
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        history = home / "history"
        history.touch(mode=0o600)
        return PromptSession(
            "warehouse> ", multiline=True, key_bindings=keys, history=FileHistory(str(history)),
            lexer=PygmentsLexer(Lexer), completer=self._names, complete_while_typing=False,
            style=style_from_pygments_cls(get_style_by_name("default")), include_default_pygments_style=False,
            prompt_continuation=lambda width, number, wrapped: "->".rjust(width - 1) + " ",
            bottom_toolbar=self._status, enable_history_search=False, refresh_interval=0.5,
            vi_mode="vi" in os.environ.get("EDITOR", ""),
        )  # fmt: skip

    def _status(self) -> str:
        if self._talk.trouble is not None:
            return self._talk.trouble.splitlines()[0]
        return f" {self._folder}" if self._talk.ready else " starting the engine …"


def pane(row: dict[str, Any]) -> str:
    """Return a pane as one line.

    Example:
        >>> pane({"team": "red", "total": None, "_change_type": "delete", "_pane_timing": "LATE", "_step": 3})
        '- LATE     team=red  total=NULL  (step 3)'
    """
    mark = "-" if row["_change_type"] == "delete" else "+"
    shown = "  ".join(f"{k}={'NULL' if v is None else v}" for k, v in row.items() if not k.startswith("_"))
    return f"{mark} {row.get('_pane_timing') or '':<8} {shown}  (step {row['_step']})"
