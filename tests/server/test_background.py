"""An engine in the background: found, asked by many, ended; and the prompt on a terminal in front of it."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from tests.server.terminal import Terminal
from warehouse.catalog.udfs import Udfs
from warehouse.cli import frames, remote
from warehouse.cli.prompt.talk import Talk
from warehouse.engine import Engine
from warehouse.server import background
from warehouse.server.background import Local

ROOT = Path(__file__).parents[2]


@pytest.fixture
def runtime() -> Iterator[str]:
    """Return an empty folder for sockets, whose paths must be short."""
    with tempfile.TemporaryDirectory(prefix="w-") as folder:
        yield folder


@pytest.fixture(scope="module")
def local(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Let the shared engine answer the command line; return the environment in which it is found."""
    home = tmp_path_factory.mktemp("runtime")
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(home)
    listening = Local(engine)
    found = {k: v for k, v in os.environ.items() if k != "WAREHOUSE_ENGINE"}
    yield found | {"PYTHONPATH": str(ROOT), "HOME": str(home), "TERM": "xterm", "PAGER": "cat"}
    listening.close()
    if before is None:
        del os.environ["XDG_RUNTIME_DIR"]
    else:
        os.environ["XDG_RUNTIME_DIR"] = before


def command(engine: Engine, *words: str) -> list[str]:
    return [sys.executable, "-m", "warehouse.cli.main", "--warehouse", str(engine.folder), *words]


def run(engine: Engine, env: dict[str, str], *words: str, **given: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(engine, *words), env=env, capture_output=True, text=True, timeout=300, **given)  # type: ignore[call-overload, no-any-return]


def test_results_errors_and_codes(engine: Engine, local: dict[str, str]) -> None:
    done = run(engine, local, "-e", "SELECT 1 AS a; SELECT 'ü' AS b")
    assert (done.returncode, done.stdout, done.stderr) == (0, "a\n1\nb\nü\n", "")
    done = run(engine, local, "-e", "SELECT nope", "-e", "SELECT 2")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.splitlines()[-1].strip() == "|        ^^^^"
    done = run(
        engine, local, "--keep-going", "--format", "jsonl", "-e", "SELECT nope; SELECT :x AS x", "--param", "x=3"
    )
    assert done.returncode == 1 and json.loads(done.stdout) == {"x": 3}
    done = run(engine, local, "-", input="SELECT 3 AS c")
    assert done.stdout == "c\n3\n"


def test_code_that_exits_ends_neither_the_engine_nor_the_wait(
    engine: Engine, local: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "exits.py").write_text("import sys\nsys.exit(3)")
    monkeypatch.setattr(engine._shared, "udfs", Udfs(tmp_path))
    assert run(engine, local, "-e", "SHOW GENERATORS LIKE 'exits'").returncode == 0
    query = "SELECT count(*) FROM VALUES (now()) AS t(at) WINDOW exits (at)"
    done = run(engine, local, "-e", query)
    assert done.returncode == 1 and "[WAREHOUSE_UDF_BROKEN] exits.py" in done.stderr and "SystemExit: 3" in done.stderr

    def leave(*_: object) -> int:
        raise SystemExit(4)

    monkeypatch.setattr(background._Client, "_carried_out", leave)
    done = run(engine, local, "-e", "SELECT 1")
    assert done.returncode == 2 and done.stderr == "internal error: SystemExit: 4\n"


def test_commands_are_sessions(engine: Engine, local: dict[str, str]) -> None:
    assert run(engine, local, "-e", "CREATE TEMPORARY VIEW own AS SELECT 1 AS x; SELECT * FROM own").stdout == "x\n1\n"
    assert run(engine, local, "-e", "SELECT * FROM own").returncode == 1


def test_paths_start_where_the_command_is_given(engine: Engine, local: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "1.json").write_text('{"a": 7}\n')
    made = "CREATE STREAM told_where (a INT) USING json OPTIONS (path 'here'); SELECT * FROM STREAM told_where"
    done = run(engine, local, "-e", made, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "a\n7\n"), done.stderr
    (tmp_path / "here" / "marks.csv").write_text("processing_time,watermark\n1970-01-01 00:00:30,1970-01-01 00:00:10\n")
    (tmp_path / "here" / "recorded.csv").write_text("a,at\n7,1970-01-01 00:00:30\n")
    options = "path 'here/recorded.csv', header 'true', arrival 'at', watermark 'here/marks.csv'"
    recorded = f"CREATE STREAM recorded_where (a INT, at TIMESTAMP) USING replay OPTIONS ({options})"
    made = f"{recorded}; SELECT a FROM STREAM recorded_where"
    done = run(engine, local, "-e", made, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "a\n7\n"), done.stderr


def test_projects_run_there_too(engine: Engine, local: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "p" / "tests").mkdir(parents=True)
    (tmp_path / "p" / "told_there.sql").write_text("SELECT explode(array(1, 2, 3)) AS n")
    (tmp_path / "p" / "tests" / "above_two.sql").write_text("SELECT n FROM told_there WHERE n > :most")
    done = run(engine, local, "run", "--project", "p", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "1 of 1 OK created view told_there" in done.stderr
    assert run(engine, local, "-e", "SELECT sum(n) AS n FROM told_there").stdout == "n\n6\n"
    done = run(engine, local, "test", "--project", "p", "--param", "most=2", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "n\n3\n"), done.stderr
    assert "FAIL above_two: 1 row wrong" in done.stderr
    assert run(engine, local, "docs", "--project", "p", "--select", "told_there", cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "p" / "target" / "manifest.json").read_text())["nodes"]

    (tmp_path / "p" / "warehouse.toml").write_text("[settings]\nmemory = '2g'\n")
    assert "without the project's settings memory" in run(engine, local, "run", "--project", "p", cwd=tmp_path).stderr
    (tmp_path / "p" / "told_there.sql").write_text("SELECT nope")
    done = run(engine, local, "run", "--project", "p", cwd=tmp_path)
    assert done.returncode == 1 and "p/told_there.sql" in done.stderr and str(tmp_path) not in done.stderr
    assert run(engine, local, "run", "--project", "none", cwd=tmp_path).returncode == 2


def test_it_gives_way_when_nobody_needs_it(
    engine: Engine, local: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = threading.Event()
    monkeypatch.setattr(Local, "end", lambda _: ended.set())

    def asked() -> str:
        """Return what comes of the question, of which there is one at a time: an answer, or the end."""
        ended.clear()
        connection = frames.connect(engine.folder)
        assert connection is not None
        with connection:
            frames.send(connection, b"Y")
            while not select.select([connection], [], [], 0.05)[0]:
                if ended.is_set():
                    return "it ends"
            return frames.receive(connection)[0].decode()

    def until(answer: str) -> bool:
        """Say whether it comes to that; who came or went is noticed a moment later."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            if asked() == answer:
                return True
        return False

    other = frames.connect(engine.folder)
    assert other is not None and until("N")
    other.close()
    assert until("it ends")


def test_one_that_serves_others_answers_and_stays(
    engine: Engine, local: dict[str, str], runtime: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = local | {"XDG_RUNTIME_DIR": runtime}
    with monkeypatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", runtime)
        serving = Local(engine, lasting=True)
    assert run(engine, env, "-e", "SELECT 5 AS e").stdout == "e\n5\n"
    done = run(engine, env, "stop")
    assert done.returncode == 2 and "warehouse-sql serve" in done.stderr
    assert run(engine, env, "-e", "SELECT 6 AS f").stdout == "f\n6\n"
    serving.close()


def test_no_session_is_being_made_once_it_is_closed(
    engine: Engine, runtime: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    began, may_end, made = threading.Event(), threading.Event(), list[Local]()

    def slow(local: Local) -> None:
        began.set()
        may_end.wait(120)
        made.append(local)

    monkeypatch.setattr(Local, "_session", slow)
    serving = Local(engine)
    assert began.wait(120)
    threading.Timer(0.3, may_end.set).start()
    serving.close()
    assert made == [serving]
    serving._make_spare()
    assert made == [serving]


def test_engines_of_other_folders_give_way_but_for_the_last(
    runtime: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    remote.make_room()
    listening = []
    for number in range(remote.MOST_IDLE + 2):
        path = frames.address(tmp_path / str(number))
        listening.append(socket.socket(socket.AF_UNIX))
        listening[-1].bind(str(path))
        listening[-1].listen()
        os.utime(path, (0, 100 - number))
    (frames.home() / "left over.sock").touch()
    os.utime(frames.home() / "left over.sock", (0, 0))
    remote.make_room()
    asked = []
    for number, each in enumerate(listening):
        each.settimeout(0.2)
        with suppress(TimeoutError), each.accept()[0] as connection:
            assert frames.receive(connection) == (b"Y", b"")
            asked.append(number)
        each.close()
    assert asked == [remote.MOST_IDLE, remote.MOST_IDLE + 1]  # those used before the others


def test_a_reader_that_leaves(engine: Engine, local: dict[str, str]) -> None:
    piped = " ".join(command(engine, "-e", "'SELECT id FROM range(300000)'"))
    done = subprocess.run(
        ["bash", "-c", f"{piped} | head -2; echo ${{PIPESTATUS[0]}}"], env=local, capture_output=True, text=True
    )
    assert done.stdout == "id\n0\n0\n"


def test_another_version_is_refused(engine: Engine, local: dict[str, str], capfd: pytest.CaptureFixture[str]) -> None:
    connection = frames.connect(engine.folder)
    assert connection is not None
    asked = remote.Request(("-e", "SELECT 1"), (("SELECT 1", None),), "/", None, None, "0.0.0")
    assert remote.run(connection, asked) == 2
    assert "warehouse-sql stop" in capfd.readouterr().err
    connection.close()


def test_a_place_that_others_may_enter_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    (tmp_path / f"warehouse-{os.getuid()}").mkdir()
    (tmp_path / f"warehouse-{os.getuid()}").chmod(0o755)
    with pytest.raises(PermissionError):
        frames.address(tmp_path)


SLOW = "SELECT count(*) FROM range(0, 40000000000, 1, 4000) WHERE hash(id) = 7;"


def test_the_prompt(engine: Engine, local: dict[str, str]) -> None:
    prompt = Terminal(command(engine), local)
    prompt.until("warehouse>")
    prompt.types("SELECT 40 +\r", "->")
    prompt.types("2 AS answer;\r", r"answer(.|\n)*42(.|\n)*\(\d+\.\d\d s\)")
    prompt.types("SELECT nope;\r", r"\^\^\^\^")
    prompt.types("\\x\r", "one field per line: on")
    prompt.types("SELECT NULL AS n;\r", r"n \| NULL")
    prompt.types(f"{SLOW}\r", "running")
    prompt.types("\x03", "cancelled")
    prompt.types("\\h STREAMING TABLE\r", "CREATE STREAMING TABLE totals")
    prompt.types("\\nothing\r", "there is no")
    assert prompt.leaves("exit\r") == 0


@pytest.mark.soak
def test_what_goes_on_until_somebody_has_seen_enough(
    engine: Engine, local: dict[str, str], schema: str, tmp_path: Path
) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "1.json").write_text('{"k": "a", "n": 1, "at": "2024-05-01T12:00:00Z"}\n')
    made = f"""CREATE STREAM s (k STRING, n INT, at TIMESTAMP) USING json OPTIONS (path '{tmp_path / "s"}')
            WATERMARK at DELAY OF INTERVAL 1 HOUR;
        CREATE STREAMING TABLE t AS SELECT k, sum(n) AS total FROM STREAM s GROUP BY k
            WINDOW FIXED (at, SIZE INTERVAL 1 DAY) TRIGGER EVERY 1 ROW RETRACTING"""
    for result in engine.run(made):
        list(result.batches)
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\ncat "$1" > $0.given; echo "SELECT 6 * 7 AS edited;" > "$1"\n')
    editor.chmod(0o700)
    prompt = Terminal(command(engine), local | {"EDITOR": str(editor)})
    prompt.until("warehouse>")
    prompt.types("\\watch\r", "there is none")
    prompt.types("\\follow\r", "takes a name")
    prompt.types("SET VAR x = 1; -- nothing like it\r", "UNRESOLVED_VARIABLE|VARIABLE_NOT_FOUND")
    prompt.types("CREATE TEMPORARY VIEW own AS SELECT 11 AS mine;\r", r"\(\d+\.\d\d s\)")

    prompt.types("SELECT current_timestamp() IS NOT NULL AS there;\r", r"there(.|\n)*true(.|\n)*s\)")
    twice = prompt.types("\\watch 0.1\r", r"(there(.|\n)*true(.|\n)*){3}")
    assert re.search(r"\d\d:\d\d:\d\d", twice)
    prompt.breaks_off()

    shown = prompt.types(f"\\follow {schema}.t\r", r"\(step 1\)")
    assert re.search(r"\+ EARLY    k=a  total=1  \(step 1\)", shown)
    (tmp_path / "s" / "2.json").write_text('{"k": "a", "n": 4, "at": "2024-05-01T13:00:00Z"}\n')
    for result in engine.run(f"REFRESH STREAMING TABLE {schema}.t"):
        list(result.batches)
    changed = prompt.until(r"total=5  \(step 2\)")
    assert re.search(r"- EARLY    k=a  total=1  \(step 2\)(.|\n)*\+ EARLY    k=a  total=5", changed)
    prompt.breaks_off()
    prompt.types("\\follow nowhere\r", "WAREHOUSE_STREAMING_TABLE_NOT_FOUND")

    prompt.types(f"\\o {tmp_path}/out.txt\r", "warehouse>")
    prompt.types("SELECT mine FROM own;\r", r"s\)")
    assert "mine" not in prompt.seen.replace("SELECT mine FROM own", "")
    prompt.types("\\o\r", "warehouse>")
    assert re.search(r"mine(.|\n)*11", (tmp_path / "out.txt").read_text())
    prompt.types(f"\\o {tmp_path}/no/where\r", "No such file or directory")

    prompt.types("\\e\r", "6 [*] 7 AS edited")
    assert (tmp_path / "editor.given").read_text() == "SELECT mine FROM own;"
    prompt.types("\r", r"edited(.|\n)*42(.|\n)*s\)(.|\n)*warehouse>")
    assert prompt.leaves("\x04") == 0  # only a prompt that shows reads it; before, it would end a line of the terminal


def test_what_a_statement_says_that_nobody_waits_for_is_not_the_next_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    (ours, first), (ours_again, second) = socket.socketpair(), socket.socketpair()
    connections = iter((ours, ours_again))
    monkeypatch.setattr(remote, "engine", lambda folder: next(connections))
    here = threading.main_thread().ident
    assert here

    def press() -> None:
        """Press Ctrl-C. Python sees a signal that comes just before a wait only after it: have it end that."""
        signal.pthread_kill(here, signal.SIGINT)
        with suppress(OSError):  # it has gone
            frames.send(first, b"E")

    def never_ends() -> None:
        assert frames.receive(first)[0] == b"R"
        press()
        assert frames.receive(first)[0] == b"C"
        press()

    def ends() -> None:
        assert frames.receive(second)[0] == b"R"
        frames.send(second, b"X", b"0")

    with ThreadPoolExecutor() as threads, first, second:
        talk = Talk(Path("nowhere"), embedded=False)
        ended = threads.submit(never_ends)
        with pytest.raises(KeyboardInterrupt):
            talk.run([], "SELECT 1", print)
        ended.result()
        ended = threads.submit(ends)
        assert talk.run([], "SELECT 2", print) == 0
        ended.result()
        talk.close()


def test_an_engine_of_the_prompts_own_is_opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(frames, "connect", lambda folder: socket.socketpair()[0])
    monkeypatch.setattr(Talk, "_here", lambda talk: opened.append("engine") or (socket.socket(), socket.socket()))
    talk = Talk(Path("nowhere"), embedded=True)
    talk.wait()
    talk.again()
    talk.wait()
    assert opened == ["engine"]
    talk.close()


@pytest.mark.slow
@pytest.mark.soak
def test_started_found_resumed_and_ended(tmp_path: Path) -> None:
    env = {k: v for k, v in os.environ.items() if k != "WAREHOUSE_ENGINE"} | {"PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "warehouse.cli.main", "--warehouse", str(tmp_path / "w")]

    def asked(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*words, *more], env=env, capture_output=True, text=True, timeout=120, cwd=tmp_path)

    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "1.json").write_text('{"a": 1}\n')
    beside = subprocess.Popen([*words, "-e", "SELECT 1 AS x"], env=env, stdout=subprocess.PIPE, text=True)
    made = asked(
        "-e",
        "CREATE STREAM s (a INT) USING json OPTIONS (path 's'); CREATE STREAMING TABLE t AS SELECT a FROM STREAM s; "
        "START STREAMING TABLE t EVERY INTERVAL 1 SECOND",
    )
    assert made.returncode == 0, made.stderr
    assert beside.communicate() == ("x\n1\n", None), "one of them starts the engine, and both are served"
    refused = asked("--embedded", "-e", "SELECT 1")
    assert refused.returncode == 2 and "WAREHOUSE_FOLDER_IN_USE" in refused.stderr
    holder = json.loads((tmp_path / "w" / "engine.lock").read_text())
    os.kill(holder["pid"], 9)
    (tmp_path / "s" / "2.json").write_text('{"a": 2}\n')
    for _ in range(40):
        if asked("-e", "SELECT sum(a) AS n FROM t").stdout == "n\n3\n":
            break
        time.sleep(1)
    assert asked("-e", "SELECT sum(a) AS n FROM t").stdout == "n\n3\n"
    assert "running" in asked("-e", "SHOW STREAMING TABLES").stdout
    assert asked("stop").returncode == 0
    assert asked("--embedded", "-e", "SELECT 1 AS x").stdout == "x\n1\n"  # it has given the folder back
    assert asked("stop").stderr.startswith("no engine runs in the background")
