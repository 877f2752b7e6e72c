"""The command line as a process, on the real engine: few, because each one starts a JVM."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def start(folder: Path, *words: str, **kwargs: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "warehouse.cli.main", *words]
    pipes: dict[str, object] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, cwd=folder, env=environment, **{**pipes, **kwargs})  # type: ignore[call-overload]


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    process = start(folder, *words)
    out, err = process.communicate(timeout=120)
    return process.returncode, out.decode(), err.decode()


@pytest.mark.soak
def test_what_one_process_makes_another_one_reads(tmp_path: Path) -> None:
    (tmp_path / "make.sql").write_text(
        "CREATE TABLE t (n INT, s STRING, d DECIMAL(9,2), at TIMESTAMP);\n"
        "INSERT INTO t VALUES (1, 'a;\"b\"', 1.50, TIMESTAMP '2013-01-01 05:00:00'), (2, '', NULL, NULL);\n"
        "SELECT * FROM t WHERE n >= :least ORDER BY n;\n"
    )
    made = run(tmp_path, "-f", "make.sql", "--param", "least=1")
    assert made == (0, 'n,s,d,at\n1,"a;""b""",1.50,2013-01-01 05:00:00\n2,"",,\n', "")
    code, out, err = run(
        tmp_path, "-e", "SELECT * FROM t ORDER BY n", "-e", "SELECT\n  nothing FROM t", "--format", "jsonl"
    )
    assert [json.loads(line) for line in out.splitlines()] == [
        {"n": 1, "s": 'a;"b"', "d": 1.5, "at": "2013-01-01T05:00:00Z"},
        {"n": 2, "s": "", "d": None, "at": None},
    ]
    assert code == 1 and "UNRESOLVED_COLUMN" in err and "2 |   nothing FROM t\n  |   ^^^^^^^" in err


@pytest.mark.soak
def test_control_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    first_row = "java_method('java.io.File', 'createTempFile', 'begun', '.txt') IS NOT NULL"  # says that it runs
    slow = f"SELECT count(*) FROM range(1000000000000000) WHERE id > 0 OR {first_row}"
    process = start(tmp_path, "-e", "SELECT 1 AS n", "-e", slow)
    try:
        assert process.stdout is not None and [process.stdout.readline() for _ in "ab"] == [b"n\n", b"1\n"]
        until = time.monotonic() + 120
        while not list((tmp_path / "tmp").rglob("begun*.txt")):
            assert time.monotonic() < until
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out, err.decode()) == (130, b"", "cancelled\n")
        assert time.monotonic() - begun < 60
    finally:
        process.kill()
        process.wait()


@pytest.mark.soak
def test_a_reader_that_leaves(tmp_path: Path) -> None:
    process = start(tmp_path, "-e", "SELECT id FROM range(50000000)")
    assert process.stdout is not None and process.stdout.readline() == b"id\n"
    process.stdout.close()
    assert process.wait(120) == 0
    assert process.stderr is not None and process.stderr.read() == b""


@pytest.mark.soak
def test_a_project_twice(tmp_path: Path) -> None:
    (tmp_path / "p" / "landing").mkdir(parents=True)
    (tmp_path / "p" / "landing" / "1.json").write_text('{"k":"a","at":"2013-01-01T05:00:00Z"}\n')
    (tmp_path / "p" / "s.sql").write_text(
        "CREATE STREAM IF NOT EXISTS s (k STRING, at TIMESTAMP) USING json OPTIONS (path 'p/landing') "
        "WATERMARK at DELAY OF INTERVAL 1 MINUTE"
    )
    (tmp_path / "p" / "hourly.sql").write_text(
        "CREATE STREAMING TABLE IF NOT EXISTS hourly AS SELECT k, count(*) AS n FROM STREAM {{ ref('s') }}\n"
        "GROUP BY k WINDOW FIXED (at, SIZE INTERVAL 1 HOUR) TRIGGER EVERY 1 ROWS ACCUMULATING"
    )
    (tmp_path / "p" / "total.sql").write_text("SELECT sum(n) AS n FROM hourly")
    code, out, err = run(tmp_path, "run", "--project", "p")
    assert (code, out) == (0, ""), err
    assert [line.split(" (")[0] for line in err.splitlines()] == [
        "1 of 3 OK created stream s",
        "2 of 3 OK created streaming table hourly",
        "3 of 3 OK created view total",
        "p: 3 files, 3 OK, 0 failed, 0 skipped",
    ]
    (tmp_path / "p" / "landing" / "2.json").write_text('{"k":"b","at":"2013-01-01T06:00:00Z"}\n')
    code, _, err = run(tmp_path, "run", "--project", "p")
    assert code == 0 and "2 of 3 OK refreshed streaming table hourly" in err
    assert run(tmp_path, "-e", "SELECT n FROM total") == (0, "n\n2\n", "")
